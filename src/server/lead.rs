//! Lead of the database: the thread that renews this server's lease.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use tokio_util::sync::CancellationToken;

use crate::store::lease::{Leadership, Lease, LeaseEnd};
use platform::watch::WatchSender;

/// Reason that this server no longer leads, and must end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LeadLoss {
    /// Another server is active, or the database has lost changes.
    #[error("another server has taken over the database, or it has lost changes; the last error in the log says which")]
    TakenOver,
    /// The lease is no longer renewed, so anything that waits for it would never begin.
    #[error("the thread that renews the lease of the database has panicked")]
    Panicked,
}

/// Lead of the database, until another server takes it or this one gives it back.
pub(crate) struct Lead {
    leadership: Leadership,
    /// Marker that this server writes to its folders; `None` if no other server can use the database.
    mark: Option<String>,
    /// Reason why the lead was lost; `None` as long as it is held.
    loss: WatchSender<Option<LeadLoss>>,
    leaving: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Lead {
    /// Creates the lead for a server whose database no other server can use.
    pub(super) fn undisputed() -> Self {
        Self {
            leadership: Leadership::default(),
            mark: None,
            loss: WatchSender::new(None),
            leaving: CancellationToken::new(),
            thread: None,
        }
    }

    /// Starts to renew the lease on a separate thread, so that a busy server still leads.
    pub(super) fn renew(lease: Lease) -> io::Result<Self> {
        let mut lead = Self::undisputed();
        (lead.leadership, lead.mark) = (lease.leadership(), Some(lease.mark().to_owned()));
        let leaving = lead.leaving.clone();
        lead.start(move || lease.keep(leaving.cancelled_owned()))?;
        Ok(lead)
    }

    /// Starts the thread, which keeps the lease as long as it can.
    fn start<F>(&mut self, keep: impl FnOnce() -> F + Send + 'static) -> io::Result<()>
    where
        F: Future<Output = LeaseEnd> + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let loss = self.loss.clone();
        let run = move || match catch_unwind(AssertUnwindSafe(move || runtime.block_on(keep()))) {
            Ok(LeaseEnd::Released) => {}
            Ok(LeaseEnd::Lost) => record(&loss, LeadLoss::TakenOver),
            Err(_) => record(&loss, LeadLoss::Panicked),
        };
        self.thread = Some(Builder::new().name("lease".to_owned()).spawn(run)?);
        Ok(())
    }

    /// Returns the certainty of this process that it leads.
    pub(super) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Returns the text with which this server marks its folders; `None` if no other server can use the database.
    pub(super) fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// Waits until this server no longer leads; returns the reason.
    pub(super) async fn lost(&self) -> LeadLoss {
        wait_for_loss(&self.loss).await
    }

    /// Does work for as long as this server leads; fails if it loses the lead meanwhile.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> Result<T, LeadLoss> {
        tokio::select! {
            biased; // what another server may be doing by now is not done here
            loss = self.lost() => Err(loss),
            done = work => Ok(done),
        }
    }

    /// Begins work in the background, which ends when this server loses the lead or gives it back.
    pub(super) fn spawn_during(&self, work: impl Future<Output = ()> + Send + 'static) {
        let (loss, leaving) = (self.loss.clone(), self.leaving.clone());
        tokio::spawn(async move {
            tokio::select! {
                biased; // what another server may be doing by now is not done here
                _ = wait_for_loss(&loss) => {}
                () = leaving.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Returns the function that reports that another server writes to the database.
    pub(super) fn on_fenced(&self) -> Arc<dyn Fn() + Send + Sync> {
        let loss = self.loss.clone();
        Arc::new(move || record(&loss, LeadLoss::TakenOver))
    }

    /// Releases the lead, so that the next server takes it at once. Must be called only once nothing more is written.
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

/// Waits until the lead is lost; returns the reason.
async fn wait_for_loss(loss: &WatchSender<Option<LeadLoss>>) -> LeadLoss {
    let mut losses = loss.subscribe();
    // The sender is here, so there is no error.
    let loss = losses.wait_for(Option::is_some).await.ok().and_then(|loss| *loss);
    loss.unwrap_or(LeadLoss::TakenOver)
}

/// Records the reason, unless there is an earlier one.
fn record(loss: &WatchSender<Option<LeadLoss>>, reason: LeadLoss) {
    loss.send_if_modified(|recorded| {
        let is_first = recorded.is_none();
        recorded.get_or_insert(reason);
        is_first
    });
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::future::{Ready, pending, ready};

    use tokio::sync::oneshot;

    use super::*;

    async fn loss_of<F: Future<Output = LeaseEnd> + 'static>(keep: impl FnOnce() -> F + Send + 'static) -> LeadLoss {
        let mut lead = Lead::undisputed();
        lead.start(keep).unwrap();
        lead.lost().await
    }

    #[tokio::test]
    async fn a_renewal_that_panics_ends_the_lead() {
        assert_eq!(loss_of(|| -> Ready<LeaseEnd> { panic!("a fault of the program") }).await, LeadLoss::Panicked);
        assert_eq!(loss_of(|| ready(LeaseEnd::Lost)).await, LeadLoss::TakenOver);
    }

    #[tokio::test]
    async fn work_ends_with_the_lead() {
        let lead = Lead::undisputed();
        assert_eq!(lead.during(ready(7)).await, Ok(7));
        lead.on_fenced()();
        assert_eq!(lead.during(pending::<()>()).await, Err(LeadLoss::TakenOver));
        assert_eq!(lead.during(ready(7)).await, Err(LeadLoss::TakenOver));
    }

    #[tokio::test]
    async fn work_in_the_background_ends_with_the_lead_as_well() {
        let ends: [fn(&Lead); 2] = [|lead| lead.on_fenced()(), |lead| lead.leaving.cancel()];
        for end in ends {
            let lead = Lead::undisputed();
            let (sender, end_of_work) = oneshot::channel::<()>();
            lead.spawn_during(async move {
                let _sender = sender;
                pending::<()>().await;
            });
            end(&lead);
            assert!(end_of_work.await.is_err(), "it was dropped");
        }
    }

    #[tokio::test]
    async fn the_first_reason_counts() {
        let lead = Lead::undisputed();
        lead.on_fenced()();
        record(&lead.loss, LeadLoss::Panicked);
        assert_eq!(lead.lost().await, LeadLoss::TakenOver);
    }
}
