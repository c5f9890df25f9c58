//! Deletes file contents that no file refers to any more.

mod mark;
mod sweep;

use std::time::Duration;

use tokio::time::timeout;

pub use self::sweep::ContentSweep;
use files::blobs::Blobs;
use services::object_storage::StorageError;
use store::lease::Leadership;
use store::queries::Queries;
use store::rows::LoadError;

/// Maximum time that whoever removes contents waits for the lead. Meanwhile, the same contents are not stored.
const LEAD_TIME: Duration = Duration::from_secs(2);

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
    timeout(LEAD_TIME, leadership.wait_until_confirmed()).await.map_err(|_| RemoveError::InDoubt)?;
    removal.remove().await?;
    Ok(true)
}
