//! Deletes file contents on disk that no file refers to any more.

use super::App;
use files::blobs::Blobs;
use store::queries::Queries;
use store::rows::LoadError;

/// Reason that file contents could not be deleted.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// The list of contents in use could not be read from the database.
    #[error(transparent)]
    Query(#[from] LoadError),
    /// Listing or deleting contents on disk failed.
    #[error(transparent)]
    Disk(#[from] std::io::Error),
}

impl App {
    /// Deletes all contents that no file refers to and returns how many were deleted.
    pub async fn remove_unnamed_contents(&self) -> Result<usize, RemoveError> {
        let removing = self.blobs.removing().await;
        let named = self.queries.named_contents().await?;
        // The process may have been stopped since the query: what another server has stored since is not among these.
        self.environment.leadership().wait_until_confirmed().await;
        Ok(removing.keep_only(&named).await?)
    }
}

/// Deletes the given contents, except those that a file still refers to.
pub async fn remove_contents(
    blobs: &Blobs,
    queries: &Queries,
    contents: impl IntoIterator<Item = String>,
) -> Result<(), RemoveError> {
    let removing = blobs.removing().await;
    for sha256 in contents {
        if !queries.is_content_named(&sha256).await? {
            removing.remove(&sha256).await?;
        }
    }
    Ok(())
}
