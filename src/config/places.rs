//! Paths of what the server stores beside its database.

use std::path::PathBuf;

use super::Config;

impl Config {
    /// Returns the directory of uploaded files.
    pub fn files_dir(&self) -> PathBuf {
        if self.files.dir.as_os_str().is_empty() { self.server.data_dir.join("files") } else { self.files.dir.clone() }
    }

    /// Returns the directory to which mails are written if no mail server or service is configured.
    pub fn outbox_dir(&self) -> PathBuf {
        self.server.data_dir.join("outbox")
    }

    /// Returns the directory of a backup in progress; it does not exist at other times. Every start removes it, so it
    /// has a name that an operator would not give to a folder.
    pub fn backup_dir(&self) -> PathBuf {
        self.server.data_dir.join("backup.unfinished")
    }

    /// Returns the path of the file that exists in the data folder while a backup is restored into it. A server does
    /// not start while it exists.
    pub fn restore_mark(&self) -> PathBuf {
        self.server.data_dir.join("restore.unfinished")
    }

    /// Returns the folder of rendered documents, for servers without a bucket.
    pub fn documents_dir(&self) -> PathBuf {
        self.server.data_dir.join("documents")
    }
}
