//! Deletes expired pictures of finished prints.

use std::sync::Weak;
use std::time::Duration;

use tokio::time::sleep;

use super::App;
use domain::file::{File, FileCommand};
use domain::order::OrderNews;
use domain::time::Timestamp;
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;
use store::rows::LoadError;

/// Interval between searches for old pictures.
const LOOK_INTERVAL: Duration = Duration::from_secs(3600);
/// Maximum number of pictures deleted per search.
const MAX_DELETED: u64 = 1_000;

/// Deletes pictures older than `keep`, at startup and then hourly for as long as the app exists.
pub(super) async fn run(app: Weak<App>, keep: Duration) {
    let keep_ms = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
    loop {
        {
            let Some(app) = app.upgrade() else { return };
            match app.delete_old_photos(app.environment.now().plus_ms(-keep_ms)).await {
                Ok(0) => {}
                Ok(deleted) => tracing::info!(deleted, "deleted old pictures of finished prints"),
                Err(error) => tracing::warn!(%error, "cannot search for old pictures of finished prints"),
            }
        }
        sleep(LOOK_INTERVAL).await;
    }
}

impl App {
    /// Deletes pictures taken before the given time; returns the number of pictures deleted.
    async fn delete_old_photos(&self, before: Timestamp) -> Result<usize, LoadError> {
        let mut deleted = 0;
        for photo in self.queries.photos_before(before, MAX_DELETED).await? {
            match self.delete_photo(&photo).await {
                Ok(()) => deleted += 1,
                // A person's sign-off names it, or somebody uses it otherwise: it is kept.
                Err(AskError::Refused(_)) => {}
                Err(error) => tracing::debug!(file = %photo.id, %error, "cannot delete an old picture; retrying later"),
            }
        }
        Ok(deleted)
    }

    /// Deletes a picture after removing the reference to it from its order, so that no order refers to a missing
    /// picture.
    async fn delete_photo(&self, photo: &File) -> Result<(), AskError> {
        if let Some(of) = photo.photo_of {
            let forget = OrderNews::Photographed { job: of.job, attempt: of.attempt, file: None };
            self.orders.ask(of.order, CommandOrigin::system(), forget).await?;
        }
        self.files.ask(photo.id, CommandOrigin::system(), FileCommand::Archive).await?;
        let (leadership, contents) = (self.environment.leadership(), [photo.sha256.clone()]);
        if let Err(error) = self.content_sweep.remove(leadership, contents).await {
            tracing::warn!(file = %photo.id, %error, "cannot remove the content of an old picture from disk");
        }
        Ok(())
    }
}
