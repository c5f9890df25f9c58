//! Files that customers and staff upload, and files from which a shop is restored.

use std::io::{Cursor, Write as _};

use tempfile::NamedTempFile;

use actors::app::backups::reading;
use domain::gcode::{ContentType, Extents, GcodeReader, ToolpathReader, read_package, read_toolpath};
use domain::mesh::measure;
use domain::time::Timestamp;
use files::picture::PictureCleaner;
use services::sales_channels::TableReader;

/// Splits an input in the middle, because it may arrive in two pieces.
fn pieces(data: &[u8]) -> [&[u8]; 2] {
    let (first, second) = data.split_at(data.len() / 2);
    [first, second]
}

/// Parses G-code, as text or binary: its metadata, its extents and its moves.
pub(crate) fn gcode(data: &[u8]) {
    let (mut contents, mut extents, mut moves) = (GcodeReader::new(), Extents::default(), ToolpathReader::default());
    for piece in pieces(data) {
        contents.push(piece);
        extents.push(piece);
        moves.push(piece);
    }
    let _ = contents.finish();
    let _ = (extents.size(), extents.beyond_bed());
    let _ = moves.finish();
    let _ = read_toolpath(Cursor::new(data), 1);
}

/// Parses a 3MF package with sliced plates.
pub(crate) fn gcode_package(data: &[u8]) {
    let _ = read_package(Cursor::new(data));
    let _ = read_toolpath(Cursor::new(data), 1);
}

/// Measures a model in each format.
pub(crate) fn mesh(data: &[u8]) {
    for content in [ContentType::BinaryStl, ContentType::AsciiStl, ContentType::ThreeMf] {
        let _ = measure(Cursor::new(data), content, &mut || true);
    }
}

/// Removes the metadata of a picture.
pub(crate) fn picture(data: &[u8]) {
    let (mut cleaner, mut output) = (PictureCleaner::new(), Vec::new());
    if pieces(data).into_iter().all(|piece| cleaner.push(piece, &mut output).is_ok()) {
        let _ = cleaner.finish();
    }
}

/// Parses a table of orders.
pub(crate) fn order_table(data: &[u8]) {
    let mut reader = TableReader::new("usd", Timestamp(1_700_000_000_000));
    if pieces(data).into_iter().all(|piece| reader.push(piece).is_ok()) {
        let _ = reader.finish();
    }
}

/// Parses a backup and verifies it.
pub(crate) fn backup(data: &[u8]) {
    let Ok(mut file) = NamedTempFile::new() else { return };
    if file.write_all(data).is_ok() {
        let _ = reading::verify(file.path(), |_| ());
    }
}
