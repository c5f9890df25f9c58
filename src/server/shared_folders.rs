//! Folders that servers on the same database share. The server that leads leaves a random mark in them, which shows
//! that another server sees the same folders, and not copies of them.

use std::fs;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::{StartError, absolute};
use crate::app::documents;
use crate::config::Config;
use crate::services::object_storage::StorageError;

/// File with the mark of the server that leads. Backups leave out files whose names contain `#`.
const MARK_FILE: &str = "leader#mark";

/// Returns the folders that a server needs to go on with another one's shop, each with its setting.
fn folders(config: &Config) -> Vec<(&'static str, PathBuf)> {
    let mut folders = vec![("files.dir", config.files_dir())];
    if config.object_storage.bucket.is_empty() {
        folders.push(("files.documents_dir", config.documents_dir()));
    }
    folders
}

/// Marks the folders for servers that stand by. Must be called by the server that leads.
pub(super) fn mark(config: &Config, mark: &str) -> Result<(), StartError> {
    for (_, folder) in folders(config) {
        let marked = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(MARK_FILE), mark));
        marked.map_err(|source| StartError::Data { path: absolute(&folder), source })?;
    }
    Ok(())
}

fn has_mark(folder: &Path, mark: &str) -> bool {
    fs::read_to_string(folder.join(MARK_FILE)).is_ok_and(|text| text == mark)
}

/// Checks that this server sees the folders of the server that leads, and reaches the bucket for documents.
pub(crate) async fn check(config: &Config, mark: &str) -> Result<(), StartError> {
    check_marks(config, mark).await?;
    check_bucket(config).await
}

/// Checks that this server sees the folders of the server that leads.
pub(super) async fn check_marks(config: &Config, mark: &str) -> Result<(), StartError> {
    for (setting, folder) in folders(config) {
        let (place, mark) = (folder.clone(), mark.to_owned());
        // A folder on another machine may keep whoever reads it waiting for long.
        if !spawn_blocking(move || has_mark(&place, &mark)).await.unwrap_or_default() {
            return Err(StartError::NotShared { setting, path: absolute(&folder) });
        }
    }
    Ok(())
}

/// Checks that this server reaches the bucket for documents, if there is one.
pub(super) async fn check_bucket(config: &Config) -> Result<(), StartError> {
    let Some(bucket) = documents::bucket(config).map_err(StartError::App)? else { return Ok(()) };
    match bucket.probe().await {
        // A key may store objects without the right to ask for one that does not exist.
        Ok(()) | Err(StorageError::Denied(_)) => Ok(()),
        Err(error) => Err(StartError::App(error.into())),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_folder_is_shared_if_it_has_the_mark_of_the_leader() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.server.data_dir = folder.path().to_owned();
        let is_shared = |by: &str| folders(&config).iter().all(|(_, folder)| has_mark(folder, by));
        assert!(!is_shared("a"));
        mark(&config, "a").unwrap();
        assert!(is_shared("a") && !is_shared("b"));
        mark(&config, "b").unwrap();
        assert!(is_shared("b") && !is_shared("a"));
    }

    #[test]
    fn documents_in_a_bucket_need_no_folder() {
        let mut config = Config::default();
        let settings = |config: &Config| folders(config).into_iter().map(|(setting, _)| setting).collect::<Vec<_>>();
        assert_eq!(settings(&config), ["files.dir", "files.documents_dir"]);
        config.object_storage.bucket = "documents".to_owned();
        assert_eq!(settings(&config), ["files.dir"]);
    }
}
