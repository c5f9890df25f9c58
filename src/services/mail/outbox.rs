//! Directory that replaces a mail server: each message becomes an `.eml` file, which any mail program can open.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use lettre::message::Mailbox;

use super::{MailError, Mailer, Message, compose, sender};

/// Mailer that writes messages to a directory. If a message is written again, its file is replaced.
pub struct FileOutbox {
    folder: PathBuf,
    from: Mailbox,
    writes: AtomicU64,
}

impl FileOutbox {
    /// Creates an outbox in `folder`, which is created when it is first used. `from` is the sender of every message.
    pub fn new(folder: impl Into<PathBuf>, from: &str) -> Result<Self, MailError> {
        Ok(Self { folder: folder.into(), from: sender(from)?, writes: AtomicU64::new(0) })
    }
}

impl Mailer for FileOutbox {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let bytes = compose(message, &self.from)?.formatted();
            // Two writers of the same message must not share a temporary file.
            let write = self.writes.fetch_add(1, Ordering::Relaxed);
            let temporary = self.folder.join(format!(".{}.{write}.tmp", message.id));
            let file = self.folder.join(format!("{}.eml", message.id));
            let folder = self.folder.clone();
            tokio::task::spawn_blocking(move || write_whole(&folder, &temporary, &file, &bytes))
                .await
                .map_err(io::Error::other)
                .flatten()
                .map_err(|error| MailError::transient(format!("the outbox directory is not writable: {error}")))
        })
    }
}

/// Writes the file atomically and durably: after a crash, either the whole file exists or none.
fn write_whole(folder: &Path, temporary: &Path, file: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let written = File::create(temporary)
        .and_then(|mut out| {
            out.write_all(bytes)?;
            out.sync_all()
        })
        .and_then(|()| fs::rename(temporary, file))
        .and_then(|()| sync_folder(folder));
    if written.is_err() {
        // Nothing to be done if this fails as well.
        let _ = fs::remove_file(temporary);
    }
    written
}

/// Makes the new directory entry durable, if the system supports syncing directories.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
