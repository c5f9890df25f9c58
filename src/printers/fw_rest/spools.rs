//! Spool to which Moonraker itself attributes filament: its component `[spoolman]` reports extruded filament to
//! Spoolman as consumption from the active spool.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{FwRest, components};
use crate::adapter::PrinterError;
use domain::printer_status::SpoolBooking;

/// Time for which the active spool is reused; changes are also pushed.
const ANSWER_LIFETIME: Duration = Duration::from_secs(5);
/// Time for which the component's absence is remembered; adding the component requires a restart of Moonraker.
const ABSENCE_LIFETIME: Duration = Duration::from_secs(60);

/// Spool that Moonraker last reported as active.
#[derive(Debug, Default)]
pub(super) struct BookingCache(Mutex<LastBooking>);

#[derive(Debug, Default)]
struct LastBooking {
    booking: Option<SpoolBooking>,
    stands_until: Option<Instant>,
}

impl BookingCache {
    /// Invalidates the cached spool, because it may have changed.
    pub(super) fn doubt(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).stands_until = None;
    }

    /// Returns the last reported spool and whether it is still valid.
    fn last(&self) -> (Option<SpoolBooking>, bool) {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (cached.booking, cached.stands_until.is_some_and(|until| Instant::now() < until))
    }

    fn note(&self, booking: Option<SpoolBooking>, lifetime: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            LastBooking { booking, stands_until: Some(Instant::now() + lifetime) };
    }
}

/// Returns the spool to which Moonraker currently attributes filament. If the active spool cannot be read, the last
/// known one is returned.
pub(super) async fn booking(printer: &FwRest) -> Option<SpoolBooking> {
    let (last, stands) = printer.spools.last();
    if stands {
        return last;
    }
    match components::has(printer, "spoolman").await {
        Some(true) => {}
        Some(false) => {
            printer.spools.note(None, ABSENCE_LIFETIME);
            return None;
        }
        None => return last,
    }
    let (booking, lifetime) = match printer.get("server/spoolman/status", &[]).await {
        Ok(status) => (read(&status), ANSWER_LIFETIME),
        Err(PrinterError::NotFound(_)) => (None, ABSENCE_LIFETIME),
        Err(_) => (last, ANSWER_LIFETIME),
    };
    printer.spools.note(booking, lifetime);
    booking
}

fn read(status: &Value) -> Option<SpoolBooking> {
    let spool = status.get("spool_id")?.as_i64()?;
    let connected = status.get("spoolman_connected").and_then(Value::as_bool).unwrap_or(true);
    // While it reaches it, reports wait for some seconds at most.
    let waits = status.get("pending_reports").and_then(Value::as_array).is_some_and(|reports| !reports.is_empty());
    Some(SpoolBooking { spool, connected, unreported: waits && !connected })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn moonraker_books_only_while_a_spool_is_active() {
        let read_booking = |connected: bool, spool: Value, pending: Value| {
            read(&json!({"spoolman_connected": connected, "pending_reports": pending, "spool_id": spool}))
        };
        let waits = || json!([{"spool_id": 7, "filament_used": 12.5}]);
        let booking = |connected: bool, unreported: bool| Some(SpoolBooking { spool: 7, connected, unreported });
        assert_eq!(read_booking(true, json!(7), waits()), booking(true, false));
        assert_eq!(read_booking(false, json!(7), json!([])), booking(false, false));
        assert_eq!(read_booking(false, json!(7), waits()), booking(false, true));
        assert_eq!((read_booking(true, Value::Null, json!([])), read(&json!({}))), (None, None));
    }

    #[test]
    fn what_was_told_stands_for_a_while_unless_it_is_doubted() {
        let spools = BookingCache::default();
        let booking = Some(SpoolBooking { spool: 7, connected: true, unreported: false });
        assert_eq!(spools.last(), (None, false), "nothing was told");
        spools.note(booking, ABSENCE_LIFETIME);
        assert_eq!(spools.last(), (booking, true));
        spools.doubt();
        assert_eq!(spools.last(), (booking, false));
    }
}
