//! Directories and buckets for files, exported tables, documents and backups, as named in the settings.
//!
//! All buckets belong to one service and share its keys.

use std::time::Duration;

use super::ShopStartError;
use config::Config;
use config::bucket_address::BucketAddress;
use files::blobs::{Blobs, CopyLimits};
use files::exports::ExportFiles;
use platform::http::{LanSettings, lan};
use services::object_storage::{BucketSettings, ObjectStorage, StorageError};

/// Maximum time to send or receive one part of a backup.
const MAX_PART_TIME: Duration = Duration::from_secs(600);
/// Folders in the bucket for files. Backups have their files in a folder of the same name.
const FILES_FOLDER: &str = "files";
const EXPORTS_FOLDER: &str = "exports";
/// URL path at which the server serves PDFs.
const PUBLIC_PATH: &str = "/documents";

/// Returns the public bucket for documents, if the settings name one.
pub fn bucket(config: &Config) -> Result<Option<ObjectStorage>, ShopStartError> {
    let settings = &config.object_storage;
    if settings.bucket.is_empty() {
        return Ok(None);
    }
    let timeout = settings.timeout_seconds.duration();
    open_bucket(config, &settings.bucket, timeout, &LanSettings { timeout, ..LanSettings::default() }).map(Some)
}

/// Returns a bucket for backups.
pub fn backup_bucket(config: &Config, name: &str) -> Result<ObjectStorage, ShopStartError> {
    open_bucket(config, name, MAX_PART_TIME, &part_limits())
}

/// Returns the place in a bucket for files with as much time as for backups, for a restore into it; `None` if files are
/// in a directory.
pub fn restore_storage(config: &Config) -> Result<Option<ObjectStorage>, ShopStartError> {
    let Some(place) = config.files_bucket() else { return Ok(None) };
    Ok(Some(backup_bucket(config, &place.bucket)?.below(&place.path)))
}

/// Returns the place in a bucket for files and their associated data; `None` if files are in a directory.
pub fn files_storage(config: &Config) -> Result<Option<ObjectStorage>, ShopStartError> {
    config.files_bucket().map(|place| open_place(config, &place)).transpose()
}

/// Checks that the bucket for files responds and that its access key may store, read and delete objects. Does nothing
/// if files are in a directory.
pub async fn check_files_storage(config: &Config) -> Result<(), ShopStartError> {
    let (Some(place), Some(storage)) = (config.files_bucket(), files_storage(config)?) else { return Ok(()) };
    let listed = match storage.check_writable().await {
        // The sweep and backups list the contents.
        Ok(()) => storage.below("printfloor-check").keys_below("").await.map(drop),
        Err(error) => Err(error),
    };
    listed.map_err(|source| files_error(&place, source))
}

/// Opens the contents of files.
pub fn open_blobs(config: &Config) -> Result<Blobs, ShopStartError> {
    Ok(match files_storage(config)? {
        None => Blobs::open(config.files_dir())?,
        Some(storage) => {
            let limits = CopyLimits {
                max_bytes: config.files.cache_max_bytes,
                // Twice what must remain, so that copies alone never keep customers from sending files.
                min_free_bytes: config.files.reserved_bytes.saturating_mul(2),
            };
            Blobs::in_bucket(storage.below(FILES_FOLDER), config.files_dir(), limits)?
        }
    })
}

/// Opens the exported tables.
pub(super) fn open_exports(config: &Config) -> Result<ExportFiles, ShopStartError> {
    Ok(match files_storage(config)? {
        None => ExportFiles::open(config.exports_dir())?,
        Some(storage) => ExportFiles::in_bucket(storage.below(EXPORTS_FOLDER)),
    })
}

/// Opens the rendered documents.
pub(super) fn open_documents(config: &Config) -> Result<ObjectStorage, ShopStartError> {
    if let Some(bucket) = bucket(config)? {
        return Ok(bucket);
    }
    let url = format!("{}{PUBLIC_PATH}", config.public_url());
    match own_documents(config)? {
        Some(storage) => Ok(storage.served_at(url)),
        None => Ok(ObjectStorage::folder(&config.documents_dir(), url)?),
    }
}

/// Returns the documents in the bucket for files; `None` if documents are elsewhere.
pub(super) fn own_documents(config: &Config) -> Result<Option<ObjectStorage>, ShopStartError> {
    config.documents_bucket().map(|place| open_place(config, &place)).transpose()
}

/// Returns the error from the file bucket.
pub fn files_error(place: &BucketAddress, source: StorageError) -> ShopStartError {
    ShopStartError::FilesBucket { address: place.to_string(), source }
}

fn open_place(config: &Config, place: &BucketAddress) -> Result<ObjectStorage, ShopStartError> {
    let timeout = config.object_storage.timeout_seconds.duration();
    Ok(open_bucket(config, &place.bucket, timeout, &part_limits())?.below(&place.path))
}

/// Returns the limits for a client that sends and receives parts: the service answers when a part has arrived.
fn part_limits() -> LanSettings {
    LanSettings { timeout: MAX_PART_TIME, read_timeout: MAX_PART_TIME, ..LanSettings::default() }
}

/// Opens a bucket. `timeout` is the time limit for a request, in addition to the time in which contents are sent or
/// received.
fn open_bucket(
    config: &Config,
    name: &str,
    timeout: Duration,
    limits: &LanSettings,
) -> Result<ObjectStorage, ShopStartError> {
    let settings = &config.object_storage;
    let bucket = BucketSettings {
        bucket: name.to_owned(),
        endpoint: settings.endpoint.clone(),
        region: settings.region.clone(),
        access_key_id: settings.access_key_id.clone(),
        secret_access_key: settings.secret_access_key.expose().to_owned(),
        public_url: settings.public_url.clone(),
        timeout,
    };
    Ok(ObjectStorage::bucket(&bucket, lan(limits)?)?)
}
