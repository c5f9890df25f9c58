//! Decision on the kind of an uploaded file.

use crate::domain::file::FileKind;
use crate::domain::gcode::Content;
use crate::domain::refusal::Refusal;
use crate::http::error::ApiError;

/// Decides the kind of a file from the declared kind and the content. A recognized content decides if no kind is
/// declared, and must not contradict a declared one.
pub(super) fn decide_kind(said: Option<FileKind>, content: Option<Content>) -> Result<FileKind, ApiError> {
    match (said, content.map(Content::kind)) {
        (None, Some(found)) => Ok(found),
        (Some(said), Some(found)) if said == found => Ok(said),
        // Text that is not known is G-code or a model of some other program when the caller says so; pictures are
        // known.
        (Some(said @ (FileKind::Gcode | FileKind::Model)), None) => Ok(said),
        (Some(_), _) => Err(Refusal::field("kind", "is not what the content is").into()),
        (None, None) => {
            Err(Refusal::field("file", "its content is not G-code, a model or a picture; say its kind").into())
        }
    }
}
