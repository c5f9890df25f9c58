//! Determines the kind of an uploaded file.

use domain::file::FileKind;
use domain::gcode::ContentType;
use domain::refusal::Refusal;
use http::error::ApiError;

/// Determines a file's kind from its declared kind and its content, or from the content alone if no kind is declared.
/// Recognized content must not contradict the declared kind.
pub(super) fn decide_kind(stated: Option<FileKind>, content: Option<ContentType>) -> Result<FileKind, ApiError> {
    match (stated, content.map(ContentType::kind)) {
        (None, Some(detected)) => Ok(detected),
        (Some(stated), Some(detected)) if stated == detected => Ok(stated),
        // Text that is not known is G-code or a model of some other program when the caller says so; pictures are
        // known.
        (Some(stated @ (FileKind::Gcode | FileKind::Model)), None) => Ok(stated),
        (Some(_), _) => Err(Refusal::field("kind", "does not match the content of the file").into()),
        (None, None) => {
            Err(Refusal::field("file", "is not recognized as G-code, a model or an image; send its `kind`").into())
        }
    }
}
