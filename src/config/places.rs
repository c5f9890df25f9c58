//! Paths of the files and directories that the server keeps alongside its database.

use std::path::PathBuf;

use super::Config;
use super::bucket_address::BucketAddress;

/// Name of the folder with documents in the bucket of the uploaded files.
const DOCUMENTS_FOLDER: &str = "documents";

impl Config {
    /// Returns the place in a bucket for uploaded files and their associated data; `None` if they are in a directory.
    pub fn files_bucket(&self) -> Option<BucketAddress> {
        self.files.dir.to_str().and_then(BucketAddress::parse)
    }

    /// Returns whether a place is in the bucket for rendered documents, whose objects anyone can read.
    pub fn is_public(&self, place: &BucketAddress) -> bool {
        !place.bucket.is_empty() && place.bucket == self.object_storage.bucket
    }

    /// Returns the directory for uploaded files or, if they are in a bucket, for copies of them.
    pub fn files_dir(&self) -> PathBuf {
        if self.files_bucket().is_some() {
            self.server.data_dir.join("file-cache")
        } else if self.files.dir.as_os_str().is_empty() {
            self.server.data_dir.join("files")
        } else {
            self.files.dir.clone()
        }
    }

    /// Returns the directory for exported tables, unless files are in a bucket. It is next to the uploaded files if
    /// they have their own directory, which an active server and its standby share.
    pub fn exports_dir(&self) -> PathBuf {
        let dir = if self.files.dir.as_os_str().is_empty() { &self.server.data_dir } else { &self.files.dir };
        dir.join("exports")
    }

    /// Returns the directory to which emails are written if neither a mail server nor an email service is configured.
    pub fn outbox_dir(&self) -> PathBuf {
        self.server.data_dir.join("outbox")
    }

    /// Returns the directory for a backup in progress, which does not exist at other times. The directory is deleted at
    /// every start, so its name is one that an operator would not choose.
    pub fn backup_dir(&self) -> PathBuf {
        self.server.data_dir.join("backup.unfinished")
    }

    /// Returns the path of the marker file for a data directory that a backup is being restored into. The server does
    /// not start while this file exists.
    pub fn restore_mark(&self) -> PathBuf {
        self.server.data_dir.join("restore.unfinished")
    }

    /// Returns the place in the bucket of the uploaded files for rendered documents; `None` if documents are elsewhere.
    pub fn documents_bucket(&self) -> Option<BucketAddress> {
        let has_own_place = !self.files.documents_dir.as_os_str().is_empty() || !self.object_storage.bucket.is_empty();
        self.files_bucket().filter(|_| !has_own_place).map(|place| place.join(DOCUMENTS_FOLDER))
    }

    /// Returns the directory for rendered documents, which is used if they are in no bucket.
    pub fn documents_dir(&self) -> PathBuf {
        let dir = &self.files.documents_dir;
        if dir.as_os_str().is_empty() { self.server.data_dir.join("documents") } else { dir.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_a_bucket_leave_copies_in_the_data_directory() {
        let mut config = Config::default();
        assert_eq!((config.files_bucket(), config.documents_bucket()), (None, None));
        config.files.dir = "s3://shop/files/".into();
        let address = |place: Option<BucketAddress>| place.map(|place| place.to_string());
        assert_eq!(address(config.files_bucket()).as_deref(), Some("s3://shop/files"));
        assert_eq!(address(config.documents_bucket()).as_deref(), Some("s3://shop/files/documents"));
        assert_eq!(config.files_dir(), config.server.data_dir.join("file-cache"));
        config.object_storage.bucket = "documents".to_owned();
        assert_eq!(config.documents_bucket(), None);
        config.object_storage.bucket = String::new();
        config.files.documents_dir = "documents".into();
        assert_eq!(config.documents_bucket(), None);
    }
}
