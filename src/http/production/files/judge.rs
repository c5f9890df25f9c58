//! What an upload is taken for, and what it is called.

use crate::domain::file::FileKind;
use crate::domain::gcode::Content;
use crate::domain::refusal::Refusal;
use crate::http::error::ApiError;

/// Longest name of a file, in characters; the rest of a longer one is cut off.
const MAX_NAME_CHARS: usize = 200;

/// What the content says wins over nothing, and must not be contradicted.
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

/// The last part of a path, without what other programs might stumble over.
pub(crate) fn clean_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect();
    let clean = clean.trim().trim_start_matches('.').to_owned();
    if clean.is_empty() { "file".to_owned() } else { clean }
}
