//! Deletes file contents that no file refers to any more.

use std::time::Duration;

use tokio::time::timeout;

use super::App;
use files::blobs::Blobs;
use store::lease::Leadership;
use store::queries::Queries;
use store::rows::LoadError;

/// Maximum time that whoever removes a single file waits for the lead. Meanwhile, no file is stored.
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
        // Listed before, so that nobody who stores contents waits for it.
        let stored = self.blobs.hashes().await?;
        let removing = self.blobs.removing().await;
        let named = self.queries.named_contents().await?;
        // The process may have been stopped since the query: what another server has stored since is not among these.
        self.environment.leadership().wait_until_confirmed().await;
        Ok(removing.keep_only(stored, &named).await?)
    }
}

/// Deletes the given contents, except those that a file still refers to. If another server may lead for longer than a
/// moment, they stay.
pub async fn remove_contents(
    blobs: &Blobs,
    queries: &Queries,
    leadership: &Leadership,
    contents: impl IntoIterator<Item = String>,
) -> Result<(), RemoveError> {
    let removing = blobs.removing().await;
    for sha256 in contents {
        if !queries.is_content_named(&sha256).await? {
            // The process may have been stopped since the query, as in the sweep.
            timeout(LEAD_TIME, leadership.wait_until_confirmed()).await.map_err(|_| RemoveError::InDoubt)?;
            removing.remove(&sha256).await?;
        }
    }
    Ok(())
}
