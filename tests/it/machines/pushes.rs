//! A printer that pushes what changes is hardly asked, and what is shown of it is fresh all the same.

use serde_json::Value;

use super::{Floor, JUDGE_LATE, PrinterKind, SLOW};

/// The interval of the shipped settings; the tests' own is shorter.
const AS_SHIPPED: (&str, &str) = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "2");

/// When a status was read, in milliseconds.
fn read_at(status: &Value) -> i64 {
    let text = status["updatedAt"].as_str().unwrap();
    text.parse::<printfloor::domain::time::Timestamp>().unwrap().0
}

each_kind! {
    async fn a_printer_that_pushes_is_hardly_asked_and_shown_as_it_is(kind: PrinterKind) {
        if kind == PrinterKind::PrusaLink {
            return; // it has no push
        }
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE, AS_SHIPPED]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        if kind == PrinterKind::MqttLan {
            // It tells whole percents: one more is to be seen in 20 s.
            floor.sim(0).handle.set_speed(10.0);
        }
        let first = floor.status_until("some progress", 0, |s| s["progress"].as_f64().unwrap() > 0.0).await;
        let before = floor.sim(0).handle.requests();
        // At a poll each 2 s it would be asked at least ten times.
        let last = floor.status_until("20 s later", 0, |s| read_at(s) > read_at(&first) + 20_000).await;
        let asked = floor.sim(0).handle.requests() - before;
        assert!(asked <= 4, "{asked} requests in 20 s");
        assert!(last["progress"].as_f64() > first["progress"].as_f64(), "{first} then {last}");
        assert_ne!(last["temperatures"], first["temperatures"], "heaters warm up");
        // A change of state is seen at once, not at the next look.
        floor.hurry(0);
        floor.app.job_is(&job, "COMPLETED").await;
    }
}
