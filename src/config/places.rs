//! Where the server keeps what it writes beside its database.

use std::path::PathBuf;

use super::Config;

impl Config {
    /// The directory of uploaded files.
    pub fn files_dir(&self) -> PathBuf {
        if self.files.dir.as_os_str().is_empty() { self.server.data_dir.join("files") } else { self.files.dir.clone() }
    }

    /// The directory that mails are written to if no mail server or service is configured.
    pub fn outbox_dir(&self) -> PathBuf {
        self.server.data_dir.join("outbox")
    }

    /// The directory of a backup that is being made; there is none at other times. Every start removes it, so its
    /// name is none that people would give to a folder of theirs.
    pub fn backup_dir(&self) -> PathBuf {
        self.server.data_dir.join("backup.unfinished")
    }

    /// The file that is in the data folder while a backup is restored into it; there is none at other times. No
    /// server starts beside it.
    pub fn restore_mark(&self) -> PathBuf {
        self.server.data_dir.join("restore.unfinished")
    }

    /// The folder of rendered documents, where no bucket is configured.
    pub fn documents_dir(&self) -> PathBuf {
        self.server.data_dir.join("documents")
    }
}
