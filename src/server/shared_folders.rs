//! Folders that servers on the same database share. A mark in them with the shop's ID shows that both servers see the
//! same folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{StartError, absolute};
use crate::app::documents;
use crate::config::Config;
use crate::services::object_storage::StorageError;

/// File with the shop's ID.
const MARK: &str = "shop-id";

/// Returns the folders that a server needs to go on with another one's shop, each with its setting.
fn folders(config: &Config) -> Vec<(&'static str, PathBuf)> {
    let mut folders = vec![("files.dir", config.files_dir())];
    if config.object_storage.bucket.is_empty() {
        folders.push(("files.documents_dir", config.documents_dir()));
    }
    folders
}

/// Marks the folders as those of the shop, for servers that stand by. Must be called by the server that leads.
pub(super) fn mark(config: &Config, shop: &str) -> Result<(), StartError> {
    for (_, folder) in folders(config) {
        let marked = mark_folder(&folder, shop);
        marked.map_err(|source| StartError::Data { path: absolute(&folder), source })?;
    }
    Ok(())
}

fn mark_folder(folder: &Path, shop: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    if has_mark(folder, shop) { Ok(()) } else { fs::write(folder.join(MARK), format!("{shop}\n")) }
}

fn has_mark(folder: &Path, shop: &str) -> bool {
    fs::read_to_string(folder.join(MARK)).is_ok_and(|text| text.trim() == shop)
}

/// Checks that this server sees the folders of the server that leads, and reaches the bucket for documents.
pub(super) async fn check(config: &Config, shop: &str) -> Result<(), StartError> {
    for (setting, folder) in folders(config) {
        if !has_mark(&folder, shop) {
            return Err(StartError::NotShared { setting, path: absolute(&folder) });
        }
    }
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
    fn a_folder_is_shared_if_it_has_the_mark_of_the_shop() {
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("shared");
        assert!(!has_mark(&shared, "a"));
        mark_folder(&shared, "a").unwrap();
        assert!(has_mark(&shared, "a") && !has_mark(&shared, "b"));
        mark_folder(&shared, "b").unwrap();
        assert!(has_mark(&shared, "b"));
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
