//! Certainty of this process that it still leads, by a clock that also counts while the process or the machine stands
//! still.

use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::LEASE_TIME;
use platform::watch::WatchSender;

/// Clock that counts while the machine is suspended, where the system has one.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

/// Time after a renewal for which no other server can lead. Shorter than [`super::LEASE_TIME`] by the time that a
/// command may spend in transit.
const CONFIRMED_TIME: Duration = Duration::from_millis(2000);

/// Certainty of this process that it leads at the moment. Cheap to clone.
///
/// A process that was stopped, or whose machine was suspended, wakes up in the middle of whatever it was doing, while
/// another server may lead. Any code that is about to act on the outside world therefore asks first.
#[derive(Clone, Debug, Default)]
pub struct Leadership(Option<Arc<WatchSender<Duration>>>);

impl Leadership {
    /// Creates the leadership of a server that took its lease at the given time since boot. (The default is the
    /// leadership of a server whose database no other server can use.)
    pub(super) fn of_lease(renewed_at: Duration) -> Self {
        Self(Some(Arc::new(WatchSender::new(renewed_at))))
    }

    /// Records a renewal sent at the given time since boot.
    pub(super) fn renew(&self, sent_at: Duration) {
        if let Some(renewals) = &self.0 {
            renewals.send_replace(sent_at);
        }
    }

    /// Returns whether no other server can lead. Code that acts on the outside world
    /// [waits](Self::wait_until_confirmed) until this is the case.
    pub fn is_confirmed(&self) -> bool {
        self.0.as_ref().is_none_or(|renewals| is_recent(*renewals.borrow()))
    }

    /// Waits until no other server can lead. If another one does lead, the process ends meanwhile.
    pub async fn wait_until_confirmed(&self) {
        let Some(renewals) = &self.0 else { return };
        let mut renewals = renewals.subscribe();
        // The sender is here, so there is no error.
        drop(renewals.wait_for(|renewed_at| is_recent(*renewed_at)).await);
    }

    /// Waits until no other server can lead for the given time, within which a request to an outside system takes
    /// effect. The time must be shorter than the lease's; the longer it is, the more recent a renewal is waited for.
    pub async fn wait_until_confirmed_for(&self, time: Duration) {
        let Some(renewals) = &self.0 else { return };
        let mut renewals = renewals.subscribe();
        // The sender is here, so there is no error.
        drop(renewals.wait_for(|renewed_at| lasts(*renewed_at, time)).await);
    }
}

/// Returns whether no other server can lead for so long from now on.
fn lasts(renewed_at: Duration, time: Duration) -> bool {
    since_boot().saturating_sub(renewed_at) + time < LEASE_TIME
}

fn is_recent(renewed_at: Duration) -> bool {
    since_boot().saturating_sub(renewed_at) < CONFIRMED_TIME
}

/// Returns the time since the machine was started.
pub(super) fn since_boot() -> Duration {
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn a_leader_is_certain_only_for_a_while_after_a_renewal() {
        let is_certain = |leadership: &Leadership| {
            let is_certain = leadership.wait_until_confirmed().now_or_never().is_some();
            assert_eq!(leadership.is_confirmed(), is_certain);
            is_certain
        };
        assert!(is_certain(&Leadership::default()));
        let leadership = Leadership::of_lease(since_boot().saturating_sub(CONFIRMED_TIME));
        assert!(!is_certain(&leadership));
        leadership.clone().renew(since_boot());
        assert!(is_certain(&leadership));
        assert!(CONFIRMED_TIME < LEASE_TIME);
    }

    #[test]
    fn a_request_that_takes_long_needs_a_recent_renewal() {
        let is_certain_for = |leadership: &Leadership, time: Duration| {
            leadership.wait_until_confirmed_for(time).now_or_never().is_some()
        };
        let second = Duration::from_secs(1);
        assert!(is_certain_for(&Leadership::default(), LEASE_TIME));
        let leadership = Leadership::of_lease(
            since_boot().saturating_sub(CONFIRMED_TIME.saturating_sub(Duration::from_millis(200))),
        );
        assert!(!is_certain_for(&leadership, second), "another server may lead before it takes effect");
        leadership.renew(since_boot());
        assert!(is_certain_for(&leadership, second) && !is_certain_for(&leadership, LEASE_TIME));
    }
}
