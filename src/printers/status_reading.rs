//! Last status of a printer, as shown in API responses: without the values that only the rules need.

use domain::printer_status::{Activity, Connection, Status};
use domain::time::Timestamp;

/// Last status of a printer as responses show it.
#[derive(Clone, Debug)]
pub struct StatusReading {
    /// Current activity.
    pub state: Activity,
    /// Reachability of the printer.
    pub connection: Connection,
    /// File that is printing, is paused, or was printed last.
    pub file: Option<String>,
    /// Progress of the print in percent, from 0 to 100.
    pub progress: f64,
    /// Remaining print time in seconds, as estimated by the printer.
    pub remaining_seconds: Option<i64>,
    /// Temperature of the nozzle in degrees Celsius; 0 if unknown.
    pub nozzle: f64,
    /// Temperature of the bed in degrees Celsius; 0 if unknown.
    pub bed: f64,
    /// The printer's own message about its error or state.
    pub message: Option<String>,
    /// Time at which the status was polled or, if that is later, at which the printer pushed values of it.
    pub updated_at: Timestamp,
}

impl StatusReading {
    /// Copies the values of a status that was polled or updated by a push at the given time.
    pub(super) fn new(status: &Status, updated_at: Timestamp) -> Self {
        Self {
            state: status.state,
            connection: status.connection,
            file: status.file.clone(),
            progress: status.progress,
            remaining_seconds: status.remaining_seconds,
            nozzle: status.nozzle,
            bed: status.bed,
            message: status.message.clone(),
            updated_at,
        }
    }

    /// Returns whether responses show the given status exactly as this one.
    pub(super) fn is_of(&self, status: &Status, at: Timestamp) -> bool {
        let Self { state, connection, file, progress, remaining_seconds, nozzle, bed, message, updated_at } = self;
        // Two numbers can be equal and written differently (0 and -0), or be written alike and not equal (NaN).
        let is_same = |own: f64, other: f64| own.to_bits() == other.to_bits();
        *updated_at == at
            && *state == status.state
            && *connection == status.connection
            && is_same(*progress, status.progress)
            && is_same(*nozzle, status.nozzle)
            && is_same(*bed, status.bed)
            && *remaining_seconds == status.remaining_seconds
            && *file == status.file
            && *message == status.message
    }

    /// Returns the bytes that it has on the heap.
    pub fn heap_bytes(&self) -> usize {
        [&self.file, &self.message].into_iter().flatten().map(String::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use domain::heaters::Heat;
    use domain::printer_status::{PrintEnd, PrintedLayer, ReportedSlot, SpoolBooking};

    const AT: Timestamp = Timestamp(1000);

    fn status() -> Status {
        Status {
            state: Activity::Printing,
            connection: Connection::Connected,
            file: Some("vase.gcode".to_owned()),
            progress: 42.5,
            remaining_seconds: Some(3100),
            nozzle: 214.8,
            bed: 60.0,
            updated_at: AT,
            ..Status::default()
        }
    }

    /// Returns statuses of few different values, so that two of them are often equal in all or most of them.
    fn statuses() -> impl Strategy<Value = Status> {
        let numbers = || select(vec![0.0, -0.0, 42.5, f64::NAN]);
        let texts = || select(vec![None, Some(String::new()), Some("vase.gcode".to_owned())]);
        let states = select(vec![Activity::Printing, Activity::Offline]);
        let connections = select(vec![Connection::Connected, Connection::Unreachable]);
        let remaining = select(vec![None, Some(0), Some(60)]);
        (states, connections, texts(), numbers(), remaining, numbers(), numbers(), texts(), any::<bool>()).prop_map(
            |(state, connection, file, progress, remaining_seconds, nozzle, bed, message, cancelling)| Status {
                state,
                connection,
                file,
                progress,
                remaining_seconds,
                nozzle,
                bed,
                message,
                cancelling,
                ..Status::default()
            },
        )
    }

    #[test]
    fn each_value_that_is_shown_makes_another_reading() {
        let reading = StatusReading::new(&status(), AT);
        assert!(reading.is_of(&status(), AT));
        assert!(!reading.is_of(&status(), Timestamp(1001)));
        let changes: [fn(&mut Status); 10] = [
            |status| status.state = Activity::Paused,
            |status| status.connection = Connection::Unreachable,
            |status| status.file = Some("other.gcode".to_owned()),
            |status| status.file = None,
            |status| status.progress = 42.6,
            |status| status.remaining_seconds = Some(3099),
            |status| status.remaining_seconds = None,
            |status| status.nozzle = 214.9,
            |status| status.bed = 60.1,
            |status| status.message = Some("filament runout".to_owned()),
        ];
        for change in changes {
            let mut changed = status();
            change(&mut changed);
            assert!(!reading.is_of(&changed, AT), "{changed:?}");
        }
    }

    #[test]
    fn values_that_only_the_rules_need_make_no_other_reading() {
        let reading = StatusReading::new(&status(), AT);
        let changes: [fn(&mut Status); 9] = [
            |status| status.ended = Some(PrintEnd::Finished),
            |status| status.runs = Some(2),
            |status| status.cancelling = true,
            |status| status.layer = Some(PrintedLayer { number: 1, of: 2 }),
            |status| status.filament_mm = Some(1.0),
            |status| status.heaters.bed = Heat::new(Some(60.0), Some(60.0)),
            |status| status.homed = Some(true),
            |status| status.slots = vec![ReportedSlot::default()],
            |status| status.books_on = Some(SpoolBooking { spool: 1, connected: true, unreported: false }),
        ];
        for change in changes {
            let mut changed = status();
            change(&mut changed);
            assert!(reading.is_of(&changed, AT), "{changed:?}");
        }
    }

    proptest! {
        #[test]
        fn a_reading_is_of_another_status_only_if_nothing_of_it_would_be_written_differently(
            one in statuses(),
            other in statuses(),
            at in 0_i64..2,
            later in 0_i64..2,
        ) {
            let [at, later] = [at, later].map(Timestamp);
            let reading = StatusReading::new(&one, at);
            let is_alike = format!("{reading:?}") == format!("{:?}", StatusReading::new(&other, later));
            prop_assert_eq!(reading.is_of(&other, later), is_alike);
        }
    }
}
