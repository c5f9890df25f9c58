//! Determines the kind of an uploaded file.

use super::ContentType;
use crate::file::FileKind;
use crate::refusal::Refusal;

/// Determines a file's kind from its declared kind and its content, or from the content alone if no kind is declared.
/// Recognized content must not contradict the declared kind.
pub fn decide_kind(stated: Option<FileKind>, content: Option<ContentType>) -> Result<FileKind, Refusal> {
    match (stated, content.map(ContentType::kind)) {
        (None, Some(detected)) => Ok(detected),
        (Some(stated), Some(detected)) if stated == detected => Ok(stated),
        // Text that is not known is G-code or a model of some other program when the caller says so; pictures are
        // known.
        (Some(stated @ (FileKind::Gcode | FileKind::Model)), None) => Ok(stated),
        (Some(_), _) => Err(Refusal::field("kind", "does not match the content of the file")),
        (None, None) => {
            Err(Refusal::field("file", "is not recognised as G-code, a model or an image; send its `kind`"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::refusal::Class;

    #[test]
    fn the_content_decides_what_a_file_is() {
        assert_eq!(decide_kind(None, Some(ContentType::Png)).unwrap(), FileKind::Image);
        assert_eq!(decide_kind(Some(FileKind::Model), None).unwrap(), FileKind::Model);
        assert_eq!(decide_kind(Some(FileKind::Image), Some(ContentType::Png)).unwrap(), FileKind::Image);
        for (stated, content, path) in [
            (Some(FileKind::Gcode), Some(ContentType::Png), "kind"),
            (Some(FileKind::Image), None, "kind"),
            (None, None, "file"),
        ] {
            let refusal = decide_kind(stated, content).unwrap_err();
            assert_eq!((refusal.class, refusal.faults[0].path.as_str()), (Class::Invalid, path));
        }
    }
}
