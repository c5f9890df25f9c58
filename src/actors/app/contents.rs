//! Deletes file contents that no file refers to any more.

mod mark;
mod sweep;

use std::time::Duration;

use tokio::time::{sleep, timeout};

pub use self::sweep::ContentSweep;
use files::blobs::{Blobs, ContentRemoval, is_outcome_unknown};
use services::object_storage::StorageError;
use services::object_storage::large::SINGLE_TIME;
use store::lease::Leadership;
use store::queries::Queries;
use store::rows::LoadError;

/// Maximum time that a removal of contents waits for the lead. Meanwhile, the same contents are not stored.
const LEAD_TIME: Duration = Duration::from_secs(2);

/// Time after which a removal whose answer was lost is undone. By then, the bucket is asked again.
const UNDO_DELAY: Duration = Duration::from_secs(3);

/// Reason that file contents could not be deleted.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// The list of contents in use could not be read from the database.
    #[error(transparent)]
    Query(#[from] LoadError),
    /// Listing or deleting contents failed.
    #[error(transparent)]
    Disk(#[from] std::io::Error),
    /// The mark in the bucket could not be read or written.
    #[error(transparent)]
    Mark(#[from] StorageError),
    /// Another server may lead, and may have stored the same contents.
    #[error("another server may lead")]
    InDoubt,
}

/// Deletes contents, unless a file refers to them or will do so in a moment; returns whether they were deleted.
///
/// A server that was overtaken must not remove what its successor has stored since. The lead is therefore confirmed for
/// as long as the removal may take, and the removal is not repeated. A bucket or a network may hold it back all the
/// same; that is why it is undone if a file refers to the contents afterwards.
async fn remove_unnamed(
    blobs: &Blobs,
    queries: &Queries,
    leadership: &Leadership,
    sha256: &str,
) -> Result<bool, RemoveError> {
    let Some(removal) = blobs.removal(sha256) else { return Ok(false) };
    if queries.is_content_named(sha256).await? {
        return Ok(false);
    }
    // The process may have been stopped since the query: another server may have stored the same contents since.
    let confirmed = leadership.wait_until_confirmed_for(SINGLE_TIME);
    timeout(LEAD_TIME, confirmed).await.map_err(|_| RemoveError::InDoubt)?;
    remove_or_undo(removal, queries, sha256).await
}

/// Deletes contents, and stores them again if a file refers to them by now; returns whether they stay deleted.
async fn remove_or_undo(removal: ContentRemoval<'_>, queries: &Queries, sha256: &str) -> Result<bool, RemoveError> {
    let removed = removal.remove().await;
    match removed {
        Err(error) if is_outcome_unknown(&error) => {
            // It may have taken effect all the same, or may do so late.
            let undone = undo_if_named(&removal, queries, sha256, UNDO_DELAY).await;
            removal.hold();
            return undone.and(Err(error.into()));
        }
        outcome => outcome?,
    }
    if undo_if_named(&removal, queries, sha256, Duration::ZERO).await? {
        return Ok(false);
    }
    removal.clear().await?;
    Ok(true)
}

/// Stores removed contents again if a file refers to them; returns whether one does.
async fn undo_if_named(
    removal: &ContentRemoval<'_>,
    queries: &Queries,
    sha256: &str,
    delay: Duration,
) -> Result<bool, RemoveError> {
    if !queries.is_content_named(sha256).await? {
        return Ok(false);
    }
    sleep(delay).await;
    let stored_again = removal.undo().await?;
    tracing::error!(sha256, stored_again, "removed contents that another server had recorded in the meantime");
    Ok(true)
}
