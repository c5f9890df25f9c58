//! Projects (3MF): the slicer receives their shapes and arrangement, but none of their settings.
//!
//! A project contains its author's settings, for the whole print, for individual parts and for height ranges, and
//! possibly inserted G-code. Only the shop's own profile may have an effect. The archive is therefore rewritten to
//! contain only the entries that the shapes need. The description of the parts is reduced to the information that
//! distinguishes shapes, such as whether a part is a modifier, which is not printed.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::SliceError;
use domain::gcode::open_archive;

/// Archive entry with the slicer's own description of the parts; its name is compared case-insensitively.
const DESCRIPTION: &str = "Metadata/Slic3r_PE_model.config";
/// Maximum size of the description of the parts, in bytes.
const MAX_DESCRIPTION_BYTES: u64 = 8 << 20;
/// Maximum total size of all copied entries when unpacked, in bytes.
const MAX_SHAPES_BYTES: u64 = 1 << 30;
/// Metadata keys that belong to the shape of a part.
const SHAPE_KEYS: [&str; 3] = ["modifier", "volume_type", "matrix"];
/// Start of an element that contains one metadata value of a part.
const ELEMENT: &str = "<metadata";

/// Copies a project without its settings.
///
/// # Errors
///
/// Returns an error if the project is damaged, cannot be interpreted, or cannot be written.
pub(super) fn copy_shapes(project: &Path, to: &Path) -> Result<(), SliceError> {
    let mut archive = open_archive(File::open(project)?).map_err(|damage| SliceError::Refused(damage.to_string()))?;
    let mut shapes = ZipWriter::new(File::create(to)?);
    let options = SimpleFileOptions::default().compression_level(Some(1));
    let mut left = MAX_SHAPES_BYTES;
    for number in 0..archive.len() {
        let mut entry = archive.by_index(number).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        if name.ends_with('/') || !is_shape(&name) {
            continue;
        }
        shapes.start_file(name, options).map_err(damaged)?;
        let copied = io::copy(&mut Read::by_ref(&mut entry).take(left + 1), &mut shapes).map_err(unreadable)?;
        left = left.checked_sub(copied).ok_or_else(|| refused("its shapes are too large"))?;
    }
    if let Some(description) = description(&mut archive)? {
        shapes.start_file(DESCRIPTION, options).map_err(damaged)?;
        shapes.write_all(description.as_bytes())?;
    }
    shapes.finish().map_err(damaged)?;
    Ok(())
}

/// Returns whether an archive entry is a shape or refers to one.
fn is_shape(name: &str) -> bool {
    name == "[Content_Types].xml" || name.starts_with("_rels/") || name.starts_with("3D/")
}

/// Returns the project's description of its parts, if any, without settings.
fn description(archive: &mut ZipArchive<File>) -> Result<Option<String>, SliceError> {
    let name = {
        let mut names = archive.file_names().filter_map(Result::ok);
        names.find(|name| name.eq_ignore_ascii_case(DESCRIPTION)).map(Cow::into_owned)
    };
    let Some(name) = name else { return Ok(None) };
    let mut text = String::new();
    let entry = archive.by_name(&name).map_err(damaged)?;
    let read = entry.take(MAX_DESCRIPTION_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if read as u64 > MAX_DESCRIPTION_BYTES {
        return Err(refused(&format!("{DESCRIPTION} inside the archive is too large")));
    }
    without_settings(&text).map(Some).ok_or_else(|| refused(&format!("{DESCRIPTION} inside the archive is invalid")))
}

/// Returns the description reduced to the information about shapes; `None` if it cannot be interpreted.
fn without_settings(text: &str) -> Option<String> {
    // Definitions of entities and the like could stand for settings.
    if text.contains("<!") {
        return None;
    }
    let (mut output, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(ELEMENT) {
        output.push_str(&rest[..at]);
        let length = extent(&rest[at..])?;
        let element = &rest[at..at + length];
        if key(element).is_some_and(|key| SHAPE_KEYS.contains(&key)) {
            output.push_str(element);
        }
        rest = &rest[at + length..];
    }
    output.push_str(rest);
    Some(output)
}

/// Returns the length, in bytes, of the empty element at the start of the text.
fn extent(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (b'>', None) => return text[..at].ends_with('/').then_some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the metadata key of an element; `None` if the key contains escapes.
fn key(element: &str) -> Option<&str> {
    let mut rest = element.strip_prefix(ELEMENT)?;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let quote = behind.trim_start().chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, behind) = behind.trim_start()[1..].split_once(quote)?;
        if name.trim() == "key" {
            return Some(value);
        }
        rest = behind;
    }
}

fn refused(words: &str) -> SliceError {
    SliceError::Refused(format!("the project cannot be used: {words}"))
}

fn damaged(error: ZipError) -> SliceError {
    match error {
        ZipError::Io(error) => unreadable(error),
        error => refused(&format!("the archive is damaged ({error})")),
    }
}

/// Converts an error from reading the archive: a damaged archive is rejected, unless the disk itself has failed.
fn unreadable(error: io::Error) -> SliceError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            refused(&format!("the archive is damaged ({error})"))
        }
        _ => SliceError::Disk(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_description_only_the_shape_is_left() {
        let part = |more: &str| {
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<config>\n <object id=\"1\">\n  {more}<volume firstid=\"0\" lastid=\"11\">\n   \
                 <metadata type=\"volume\" key=\"volume_type\" value=\"ParameterModifier\"/>{more}</volume>\n </object>\n</config>\n"
            )
        };
        let settings = [
            "<metadata type=\"object\" key=\"fill_density\" value=\"5%\"/>",
            "<metadata value=\"a > b\" type=\"volume\"\n key='perimeters' />",
            "<metadata type=\"volume\" key=\"&#112;erimeters\" value=\"key=volume_type\"/>",
            "<metadata type=\"object\"/>",
        ];
        assert_eq!(without_settings(&part(&settings.concat())), Some(part("")));
        assert_eq!(without_settings("<!DOCTYPE x [<!ENTITY e \"\">]><config>&e;</config>"), None);
        assert_eq!(without_settings("<config><metadata key=\"perimeters\">1</metadata></config>"), None);
        assert_eq!(without_settings("<config><metadata key=\"perimeters"), None);
    }

    #[test]
    fn shapes_are_known_by_where_they_stand() {
        for shape in ["[Content_Types].xml", "_rels/.rels", "3D/3dmodel.model", "3D/Objects/object_1.model"] {
            assert!(is_shape(shape), "{shape}");
        }
        for other in
            ["Metadata/Slic3r_PE.config", "Metadata\\Slic3r_PE.config", "metadata/plate_1.gcode", "Auxiliaries/a.txt"]
        {
            assert!(!is_shape(other), "{other}");
        }
    }
}
