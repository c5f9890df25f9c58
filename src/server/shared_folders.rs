//! Folders, or the place in a bucket, that servers on the same database share. The active server leaves a random
//! mark in them, which shows that another server sees the same ones, and not copies of them.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::lead::Lead;
use super::{StartError, absolute};
use crate::app::ShopStartError;
use crate::app::storage::{self, check_files_storage, files_error, files_storage};
use crate::config::Config;
use crate::services::object_storage::StorageError;
use crate::services::object_storage::large::SINGLE_TIME;
use crate::services::object_storage::mark::{MarkOwner, PlaceMark};
use crate::store::lease::Leadership;

/// File or object with the mark of the active server. Backups leave out files whose names contain `#`.
const MARK_FILE: &str = "leader#mark";
/// Maximum time that a server that can start without the bucket waits for it.
const MAX_BUCKET_WAIT: Duration = Duration::from_secs(2);
/// Interval between two attempts to mark a bucket that does not respond.
const MARK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which an active server checks whether the bucket still has its mark.
const CHECK_INTERVAL: Duration = Duration::from_secs(3 * 60);

/// Returns the folders that a server needs to go on with another one's shop, each with its setting.
fn folders(config: &Config) -> Vec<(&'static str, PathBuf)> {
    let mut folders = Vec::new();
    if config.files_bucket().is_none() {
        folders.push(("files.dir", config.files_dir()));
    }
    if config.object_storage.bucket.is_empty() && config.documents_bucket().is_none() {
        folders.push(("files.documents_dir", config.documents_dir()));
    }
    folders
}

/// Checks at a start that the bucket for files can be used, if there is one. `may_lack_files` states whether a server
/// starts even if the bucket does not respond, as one does that takes over: most work needs no files.
pub(super) async fn check_files(config: &Config, may_lack_files: bool) -> Result<(), StartError> {
    if !may_lack_files {
        return check_files_storage(config).await.map_err(StartError::App);
    }
    match timeout(MAX_BUCKET_WAIT, check_files_storage(config)).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) if !is_silent(&error) => return Err(StartError::App(error)),
        Ok(Err(_)) | Err(_) => {}
    }
    tracing::warn!("starting although the bucket for files does not respond");
    Ok(())
}

/// Returns whether the bucket for files does not respond or fails, which may be over in a moment.
pub(super) fn is_silent(error: &ShopStartError) -> bool {
    matches!(error, ShopStartError::FilesBucket { source, .. } if source.is_transient())
}

/// Marks what is shared with standby servers, with a text from the active server. A bucket is marked later if it does
/// not respond, and again if it has lost the mark, for as long as this server leads.
pub(super) async fn mark(config: &Config, lead: &Lead, mark: &str) -> Result<(), StartError> {
    for (_, folder) in folders(config) {
        let marked = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(MARK_FILE), mark));
        marked.map_err(|source| StartError::Data { path: absolute(&folder), source })?;
    }
    let leadership = lead.leadership();
    let is_marked = match timeout(MAX_BUCKET_WAIT, mark_bucket(config, &leadership, mark)).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) if !is_silent(&error) => return Err(StartError::App(error)),
        Ok(Err(_)) | Err(_) => false,
    };
    if config.files_bucket().is_some() {
        lead.spawn_during(keep_marked(config.clone(), leadership, mark.to_owned(), is_marked));
    }
    Ok(())
}

/// Tries to mark the bucket until it succeeds, and then keeps checking the mark, because an overtaken server may have
/// put its own there late.
async fn keep_marked(config: Config, leadership: Leadership, mark: String, mut is_marked: bool) {
    let mut is_logged = false;
    loop {
        sleep(if is_marked { CHECK_INTERVAL } else { MARK_INTERVAL }).await;
        match mark_bucket(&config, &leadership, &mark).await {
            Ok(()) if mem::replace(&mut is_marked, true) => {}
            Ok(()) => tracing::info!("marked the bucket for files; standby servers can use it"),
            Err(error) if !is_silent(&error) && !mem::replace(&mut is_logged, true) => {
                tracing::error!(%error, "cannot mark the bucket for files, so no standby server can use it");
            }
            Err(_) => {}
        }
    }
}

/// Marks the bucket for files, if there is one and it does not have the mark.
async fn mark_bucket(config: &Config, leadership: &Leadership, mark: &str) -> Result<(), ShopStartError> {
    let (Some(place), Some(storage)) = (config.files_bucket(), files_storage(config)?) else { return Ok(()) };
    let renewed = renew(&PlaceMark::new(storage, MARK_FILE), leadership, mark).await;
    renewed.map_err(|source| files_error(&place, source))
}

/// Puts a mark into its place if it is not there, and reads it back. A server that may have been overtaken waits,
/// because its successor has marked the same place.
async fn renew(place: &PlaceMark, leadership: &Leadership, mark: &str) -> Result<(), StorageError> {
    if place.owner(mark).await? == MarkOwner::Own {
        return Ok(());
    }
    leadership.wait_until_confirmed_for(SINGLE_TIME).await;
    place.write_once(mark).await?;
    match place.owner(mark).await? {
        MarkOwner::Own => Ok(()),
        MarkOwner::Nobody | MarkOwner::Other => {
            Err(StorageError::Unavailable("the mark of the active server was not stored".to_owned()))
        }
    }
}

fn has_mark(folder: &Path, mark: &str) -> bool {
    fs::read_to_string(folder.join(MARK_FILE)).is_ok_and(|text| text == mark)
}

/// Checks that this server sees the marks of the active server, and reaches the bucket for documents.
pub(crate) async fn check(config: &Config, mark: &str) -> Result<(), StartError> {
    check_marks(config, mark).await?;
    check_bucket(config).await
}

/// Checks that this server sees the marks of the active server.
pub(super) async fn check_marks(config: &Config, mark: &str) -> Result<(), StartError> {
    for (setting, folder) in folders(config) {
        let (place, mark) = (folder.clone(), mark.to_owned());
        // A folder on another machine may keep whoever reads it waiting for long.
        if !spawn_blocking(move || has_mark(&place, &mark)).await.unwrap_or_default() {
            return Err(StartError::NotShared { setting, path: absolute(&folder) });
        }
    }
    let storage = files_storage(config).map_err(StartError::App)?;
    let (Some(place), Some(storage)) = (config.files_bucket(), storage) else { return Ok(()) };
    match PlaceMark::new(storage, MARK_FILE).owner(mark).await {
        Ok(MarkOwner::Own) => Ok(()),
        Ok(MarkOwner::Nobody | MarkOwner::Other) => {
            Err(StartError::NotShared { setting: "files.dir", path: place.to_string().into() })
        }
        Err(source) => Err(StartError::App(files_error(&place, source))),
    }
}

/// Checks that this server reaches the bucket for documents, if there is one.
pub(super) async fn check_bucket(config: &Config) -> Result<(), StartError> {
    let Some(bucket) = storage::bucket(config).map_err(StartError::App)? else { return Ok(()) };
    match bucket.probe().await {
        // A key may store objects without the right to ask for one that does not exist.
        Ok(()) | Err(StorageError::Denied(_)) => Ok(()),
        Err(error) => Err(StartError::App(error.into())),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use simulator::peers::bucket::{BucketFault, SimBucket};

    use super::*;
    use crate::config::values::Secret;
    use crate::services::object_storage::ObjectStorage;

    /// Time within which a bucket that did not keep its mark is marked again.
    const SOON: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_leader_reads_its_first_mark_back_and_puts_it_there_again_if_it_was_not_kept() {
        let (bucket, folder) = (SimBucket::start().await.unwrap(), tempfile::tempdir().unwrap());
        let mut config = Config::default();
        config.server.data_dir = folder.path().to_owned();
        config.files.dir = format!("s3://{}/files", SimBucket::NAME).into();
        config.object_storage.endpoint = bucket.url();
        config.object_storage.access_key_id = "id".to_owned();
        config.object_storage.secret_access_key = Secret::new("secret");
        bucket.fail("PUT", "leader", BucketFault::Forgotten);
        let lead = Lead::undisputed();
        mark(&config, &lead, "a").await.unwrap();
        assert!(bucket.keys().is_empty(), "it was not kept");
        let marked = async {
            while check_marks(&config, "a").await.is_err() {
                sleep(MARK_INTERVAL).await;
            }
        };
        timeout(SOON, marked).await.unwrap();
    }

    #[tokio::test]
    async fn a_leader_puts_its_mark_back_that_another_server_has_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let place = PlaceMark::new(ObjectStorage::folder(folder.path(), String::new()).unwrap(), MARK_FILE);
        let renew = async || renew(&place, &Leadership::default(), "a").await.unwrap();
        renew().await;
        assert_eq!(place.owner("a").await.unwrap(), MarkOwner::Own);
        place.write("overtaken").await.unwrap();
        renew().await;
        assert_eq!(place.owner("a").await.unwrap(), MarkOwner::Own);
    }

    #[tokio::test]
    async fn a_folder_is_shared_if_it_has_the_mark_of_the_leader() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.server.data_dir = folder.path().to_owned();
        let is_shared = |by: &str| folders(&config).iter().all(|(_, folder)| has_mark(folder, by));
        assert!(!is_shared("a"));
        let lead = Lead::undisputed();
        mark(&config, &lead, "a").await.unwrap();
        assert!(is_shared("a") && !is_shared("b"));
        mark(&config, &lead, "b").await.unwrap();
        assert!(is_shared("b") && !is_shared("a"));
    }

    #[test]
    fn documents_in_a_bucket_need_no_folder() {
        let mut config = Config::default();
        let settings = |config: &Config| folders(config).into_iter().map(|(setting, _)| setting).collect::<Vec<_>>();
        assert_eq!(settings(&config), ["files.dir", "files.documents_dir"]);
        config.object_storage.bucket = "documents".to_owned();
        assert_eq!(settings(&config), ["files.dir"]);
        config.files.dir = "s3://shop/files".into();
        assert_eq!(settings(&config), [""; 0]);
        config.object_storage.bucket = String::new();
        assert_eq!(settings(&config), [""; 0]);
        config.files.documents_dir = "documents".into();
        assert_eq!(settings(&config), ["files.documents_dir"]);
    }
}
