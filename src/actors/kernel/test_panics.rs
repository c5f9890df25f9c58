//! Deliberate panics that let end-to-end tests observe a crash in each aggregate kind. Not part of release builds.
//!
//! `PRINTFLOOR_TEST_PANICS` specifies a directory. A file in it named after a kind and a point (`order.decide`) causes
//! a panic in the next actor of that kind that reaches the point. The file is removed first, so it causes only one
//! panic.

use std::path::PathBuf;
use std::sync::LazyLock;

static FOLDER: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os("PRINTFLOOR_TEST_PANICS").map(PathBuf::from));

/// Point at which an actor can be made to panic.
#[derive(Clone, Copy, Debug)]
pub(super) enum Point {
    /// In the rules, while a command is being decided.
    Decide,
    /// After a commit is on disk, before the callers get their responses.
    Settle,
    /// In the task that runs an effect.
    Effect,
}

/// Panics if a test has requested a panic at the given point.
pub(super) fn reached(kind: &str, point: Point) {
    let Some(folder) = &*FOLDER else { return };
    let word = match point {
        Point::Decide => "decide",
        Point::Settle => "settle",
        Point::Effect => "effect",
    };
    // Of several that arrive at once, only the one that removes the file panics.
    let is_requested = std::fs::remove_file(folder.join(format!("{kind}.{word}"))).is_ok();
    assert!(!is_requested, "{kind} panics at {word}, as requested by a test");
}
