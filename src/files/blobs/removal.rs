//! Removal of contents, in steps: the contents themselves, right after the lead was confirmed; then, once it is certain
//! that no one needs them, what remains of them on the disk.

use std::io;
use std::sync::OnceLock;

use tokio::fs;
use tokio::time::Instant;

use super::uses::Removal;
use super::{Blobs, is_gone, is_hash};

/// Removal of contents, which are not stored until this is dropped. Their copy on the disk is removed last, because it
/// is needed to undo a removal.
#[derive(Debug)]
pub struct ContentRemoval<'a> {
    blobs: &'a Blobs,
    sha256: &'a str,
    removal: Removal,
    /// Time at which the bucket was first asked to remove the contents.
    sent_at: OnceLock<Instant>,
}

impl<'a> ContentRemoval<'a> {
    pub(super) fn new(blobs: &'a Blobs, sha256: &'a str, removal: Removal) -> Self {
        Self { blobs, sha256, removal, sent_at: OnceLock::new() }
    }

    /// Removes the contents. Does nothing if they do not exist. Nothing else is done first, because the caller has just
    /// confirmed the lead.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or the bucket fails.
    pub async fn remove(&self) -> io::Result<()> {
        match &self.blobs.bucket {
            Some(_) if !is_hash(self.sha256) => Ok(()),
            Some(bucket) => {
                bucket.admit()?;
                self.sent_at.get_or_init(Instant::now);
                bucket.remove(self.sha256).await
            }
            None => is_gone(fs::remove_file(self.blobs.path(self.sha256)).await),
        }
    }

    /// Stores removed contents in the bucket again, and returns whether there was a copy of them. On a disk, there is
    /// none.
    ///
    /// # Errors
    ///
    /// Returns an error if the bucket does not respond.
    pub async fn undo(&self) -> io::Result<bool> {
        match &self.blobs.bucket {
            Some(bucket) => bucket.send_copy(self.sha256).await,
            None => Ok(false),
        }
    }

    /// Ends a removal whose answer was lost: the contents are not stored until it is certain that they are gone, or
    /// longer than any request takes, because the removal may take effect late.
    pub fn hold(self) {
        let Self { blobs, sha256, removal, sent_at } = self;
        // A request that was not sent takes no effect.
        let (Some(bucket), Some(sent_at)) = (blobs.bucket.clone(), sent_at.into_inner()) else { return };
        let sha256 = sha256.to_owned();
        tokio::spawn(async move {
            bucket.outlast_removal(&sha256, sent_at).await;
            drop(removal);
        });
    }

    /// Removes what remains of removed contents on the disk: their drawings, and their copy.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk fails.
    pub async fn clear(self) -> io::Result<()> {
        if let Some(bucket) = &self.blobs.bucket {
            bucket.copies.remove(self.sha256).await;
        }
        self.blobs.remove_drawings(self.sha256).await
    }
}
