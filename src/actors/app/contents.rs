//! Deletes file contents that no file refers to any more.

use std::time::Duration;

use tokio::time::timeout;

use super::App;
use files::blobs::Blobs;
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
    /// Another server may lead, and may have stored the same contents.
    #[error("another server may lead")]
    InDoubt,
}

impl App {
    /// Deletes all contents that no file refers to and returns how many were deleted.
    pub async fn remove_unnamed_contents(&self) -> Result<usize, RemoveError> {
        // Listed before: what is stored and recorded meanwhile is named then.
        let stored = self.blobs.contents().await?;
        let named = self.queries.named_contents().await?;
        let mut removed = 0;
        for content in stored.iter().filter(|content| !named.contains(&content.sha256)) {
            let leadership = self.environment.leadership();
            removed += usize::from(remove_unnamed(&self.blobs, &self.queries, leadership, &content.sha256).await?);
        }
        self.blobs.keep_only_drawings(&named).await?;
        Ok(removed)
    }
}

/// Deletes the given contents, except those that a file still refers to, and those that are being recorded. If another
/// server may lead for longer than a moment, they stay.
pub async fn remove_contents(
    blobs: &Blobs,
    queries: &Queries,
    leadership: &Leadership,
    contents: impl IntoIterator<Item = String>,
) -> Result<(), RemoveError> {
    for sha256 in contents {
        remove_unnamed(blobs, queries, leadership, &sha256).await?;
    }
    Ok(())
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
