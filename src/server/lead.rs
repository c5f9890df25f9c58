//! Lead of the database: the thread that renews this server's lease.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use tokio_util::sync::CancellationToken;

use crate::store::lease::{Leadership, Lease, LeaseEnd};

/// Lead of the database, until another server takes it or this one gives it back.
pub(crate) struct Lead {
    leadership: Leadership,
    /// Text with which this server marks its folders; `None` if no other server can use the database.
    mark: Option<String>,
    fenced: CancellationToken,
    leaving: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Lead {
    /// Creates the lead of a server whose database no other server can use.
    pub(super) fn undisputed() -> Self {
        Self {
            leadership: Leadership::default(),
            mark: None,
            fenced: CancellationToken::new(),
            leaving: CancellationToken::new(),
            thread: None,
        }
    }

    /// Starts to renew the lease, on a thread of its own: a server that is busy still leads.
    pub(super) fn renew(lease: Lease) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut lead = Self::undisputed();
        (lead.leadership, lead.mark) = (lease.leadership(), Some(lease.mark().to_owned()));
        let (fenced, leaving) = (lead.fenced.clone(), lead.leaving.clone());
        let run = move || {
            if runtime.block_on(lease.keep(leaving.cancelled_owned())) == LeaseEnd::Lost {
                fenced.cancel();
            }
        };
        lead.thread = Some(Builder::new().name("lease".to_owned()).spawn(run)?);
        Ok(lead)
    }

    /// Returns the certainty of this process that it leads.
    pub(super) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Returns the text with which this server marks its folders; `None` if no other server can use the database.
    pub(super) fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// Returns the token that is cancelled when another server has taken the lead.
    pub(super) fn fenced(&self) -> &CancellationToken {
        &self.fenced
    }

    /// Returns the function that reports that another server writes to the database.
    pub(super) fn on_fenced(&self) -> Arc<dyn Fn() + Send + Sync> {
        let fenced = self.fenced.clone();
        Arc::new(move || fenced.cancel())
    }

    /// Gives the lead back, so that the next server takes it at once. Must be called when nothing is written any more.
    pub(crate) async fn release(mut self) {
        self.leaving.cancel();
        if let Some(thread) = self.thread.take() {
            // Whether the thread has panicked no longer matters.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.leaving.cancel();
    }
}
