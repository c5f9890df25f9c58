#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;

const OURS: &str = "JOB-000001_a.gcode.3mf";

/// Reports from a simulated printer, received on a simulated clock.
struct Heard {
    track: PrinterKnowledge,
    now: Instant,
}

impl Heard {
    fn new() -> Self {
        Self { track: PrinterKnowledge::default(), now: Instant::now() }
    }

    /// Receives a report a short time after the previous one.
    fn hear(&mut self, report: Value) -> Status {
        let Value::Object(members) = report else { panic!("an object") };
        self.now += Duration::from_millis(100);
        self.track.hear(members, self.now).unwrap();
        self.track.status(Timestamp(7))
    }

    fn wait(&mut self, time: Duration) -> Status {
        self.now += time;
        self.hear(json!({}))
    }

    fn connected_anew(&mut self) {
        self.track.begin();
    }

    /// Builds the state in which a print started by this server is in progress.
    fn printing() -> Self {
        let mut printer = Self::new();
        printer.hear(json!({"gcode_state": "IDLE", "subtask_id": "0", "gcode_file": ""}));
        printer.track.starts("77".to_owned(), OURS.to_owned());
        let on =
            printer.hear(json!({"gcode_state": "RUNNING", "subtask_id": "77", "gcode_file": OURS, "mc_percent": 40}));
        assert_eq!((on.state, on.file.as_deref(), on.ended), (Activity::Printing, Some(OURS), None));
        printer
    }
}

#[test]
fn states_and_numbers_are_read_as_each_model_writes_them() {
    let mut printer = Heard::new();
    let status = printer.hear(json!({
        "gcode_state": "RUNNING", "gcode_file": "/data/Metadata/plate_1.gcode", "subtask_name": "vase", "subtask_id": 5,
        "mc_percent": "42", "mc_remaining_time": "12", "nozzle_temper": "219.5", "bed_temper": 60, "layer_num": "3",
        "total_layer_num": 120, "print_error": 0, "hms": [],
    }));
    assert_eq!((status.state, status.connection), (Activity::Printing, Connection::Connected));
    assert_eq!(status.file.as_deref(), Some("vase.gcode.3mf"), "by the name of the print, not of the plate in it");
    assert_eq!((status.progress, status.remaining_seconds), (42.0, Some(720)), "minutes become seconds");
    assert_eq!((status.nozzle, status.bed, status.updated_at), (219.5, 60.0, Timestamp(7)));
    assert_eq!(status.message.as_deref(), Some("layer 3 of 120"));
    assert_eq!(status.layer, PrintedLayer::from_numbers(Some(3.0), Some(120.0)));
    let packed = printer.hear(json!({"bed_temper": (60 << 16) + 57}));
    assert!((packed.bed - 57.0).abs() < 0.01, "the target is packed above");
    let paused = printer.hear(json!({"gcode_state": "PAUSE"}));
    assert_eq!(paused.message, None, "the layer is no reason for a pause");
    for (word, state, connection) in [
        ("PAUSE", Activity::Paused, Connection::Connected),
        ("SLICING", Activity::Printing, Connection::Connected),
        ("INIT", Activity::Offline, Connection::FirmwareDisconnected),
        ("surprise", Activity::Offline, Connection::FirmwareDisconnected),
        ("idle", Activity::Idle, Connection::Connected),
    ] {
        let status = printer.hear(json!({"gcode_state": word}));
        assert_eq!((status.state, status.connection), (state, connection), "{word}");
    }
}

#[test]
fn what_is_found_when_first_connected_is_history() {
    for word in ["FINISH", "FAILED"] {
        let mut printer = Heard::new();
        let status = printer.hear(json!({"gcode_state": word, "gcode_file": OURS, "subtask_id": "77"}));
        assert_eq!((status.state, status.ended), (Activity::Idle, None), "{word}");
        assert_eq!(printer.wait(Duration::from_secs(60)).ended, None, "{word} stays history");
    }
}

#[test]
fn the_state_of_the_last_print_beside_the_new_one_is_no_end() {
    let mut printer = Heard::new();
    printer.hear(json!({"gcode_state": "FINISH", "gcode_file": "old.gcode.3mf", "subtask_id": "1", "mc_percent": 100}));
    printer.track.starts("77".to_owned(), OURS.to_owned());
    let landed = printer.hear(json!({"gcode_file": OURS, "subtask_id": "77"}));
    assert_eq!(
        (landed.state, landed.ended, landed.progress),
        (Activity::Idle, None, 0.0),
        "landed, and does not print"
    );
    let prepares = printer.hear(json!({"gcode_state": "PREPARE"}));
    assert_eq!((prepares.state, prepares.progress), (Activity::Printing, 0.0), "the percents are still the old ones");
    let ended = printer.hear(json!({"gcode_state": "FINISH"}));
    assert_eq!((ended.state, ended.ended, ended.progress), (Activity::Idle, Some(PrintEnd::Finished), 100.0));
}

#[test]
fn a_failure_of_the_last_print_is_not_that_of_the_new_one() {
    let mut printer = Heard::printing();
    let failed = printer.hear(json!({"gcode_state": "FAILED", "print_error": 0x0300_8008}));
    assert_eq!(failed.ended, Some(PrintEnd::Failed));
    assert_eq!(failed.message.as_deref(), Some("the nozzle's temperature is abnormal (0300-8008)"));
    printer.track.starts("78".to_owned(), "next.gcode.3mf".to_owned());
    printer.hear(json!({"subtask_id": "78", "gcode_file": "next.gcode.3mf"}));
    let waits = printer.wait(Duration::from_secs(10));
    assert_eq!((waits.state, waits.file.as_deref(), waits.ended), (Activity::Idle, Some("next.gcode.3mf"), None));
}

#[test]
fn very_fast_prints_are_seen_to_end() {
    let mut printer = Heard::new();
    printer.hear(json!({"gcode_state": "IDLE", "subtask_id": "0"}));
    printer.track.starts("77".to_owned(), OURS.to_owned());
    let ended = printer.hear(json!({"gcode_state": "FINISH", "subtask_id": "77", "gcode_file": OURS}));
    assert_eq!((ended.file.as_deref(), ended.ended), (Some(OURS), Some(PrintEnd::Finished)));
}

#[test]
fn the_end_of_a_print_that_was_seen_counts_after_a_lost_connection_too() {
    let mut printer = Heard::printing();
    printer.connected_anew();
    let ended = printer.hear(json!({"gcode_state": "FINISH", "subtask_id": "77", "gcode_file": OURS}));
    assert_eq!(ended.ended, Some(PrintEnd::Finished));
    let mut printer = Heard::printing();
    printer.connected_anew();
    let other = printer.hear(json!({"gcode_state": "FINISH", "subtask_id": "0", "gcode_file": "other.gcode.3mf"}));
    assert_eq!((other.file.as_deref(), other.ended), (Some("other.gcode.3mf"), None), "another print came meanwhile");
}

#[test]
fn a_cancelled_print_is_told_from_a_failed_one() {
    let failure = json!({"gcode_state": "FAILED"});
    // The number of the cancel comes before the end, with it, or a moment after it, and is soon taken back.
    let mut printer = Heard::printing();
    printer.hear(json!({"print_error": 50_348_044}));
    printer.hear(json!({"print_error": 0}));
    assert_eq!(printer.hear(failure.clone()).ended, Some(PrintEnd::Cancelled));
    let mut printer = Heard::printing();
    let ending = printer.hear(failure.clone());
    assert_eq!((ending.state, ending.cancelling, ending.ended), (Activity::Printing, true, None), "not known yet");
    assert!(printer.track.due().is_some());
    assert_eq!(printer.hear(json!({"print_error": "83902478"})).ended, Some(PrintEnd::Cancelled), "0500-400E");
    // Nobody says that it was cancelled.
    let mut printer = Heard::printing();
    printer.hear(failure.clone());
    assert_eq!(printer.wait(Duration::from_secs(3)).ended, Some(PrintEnd::Failed));
    assert_eq!(printer.track.due(), None);
    // We cancelled it; it prints on until it acts on that.
    let mut printer = Heard::printing();
    printer.track.cancels(Instant::now());
    assert!(printer.hear(json!({"mc_percent": 41})).cancelling);
    assert_eq!(printer.hear(failure.clone()).ended, Some(PrintEnd::Cancelled));
    // What it certainly did not carry out is no reason, and is not sent again at once all the same.
    let mut printer = Heard::printing();
    let of = printer.track.cancels(Instant::now()).unwrap();
    printer.track.cancel_failed(&of);
    assert!(printer.hear(json!({"mc_percent": 41})).cancelling);
    printer.hear(failure.clone());
    assert_eq!(printer.wait(Duration::from_secs(3)).ended, Some(PrintEnd::Failed));
    // One that it may have carried out counts, whatever came of another.
    let mut printer = Heard::printing();
    printer.track.cancels(Instant::now());
    let of = printer.track.cancels(Instant::now()).unwrap();
    printer.track.cancel_failed(&of);
    assert_eq!(printer.hear(failure.clone()).ended, Some(PrintEnd::Cancelled));
    // So does what the printer says of it.
    let mut printer = Heard::printing();
    let of = printer.track.cancels(Instant::now()).unwrap();
    printer.hear(json!({"print_error": 50_348_044}));
    printer.track.cancel_failed(&of);
    assert_eq!(printer.hear(failure.clone()).ended, Some(PrintEnd::Cancelled));
    // A printer that forgets it at once.
    let mut printer = Heard::printing();
    printer.track.cancels(Instant::now());
    let idle = printer.hear(json!({"gcode_state": "IDLE", "subtask_id": "0", "gcode_file": "", "subtask_name": ""}));
    assert_eq!((idle.file.as_deref(), idle.ended), (Some(OURS), Some(PrintEnd::Cancelled)));
    // The next print has nothing of it.
    printer.hear(json!({"gcode_state": "RUNNING", "subtask_id": "0", "gcode_file": OURS}));
    printer.hear(json!({"gcode_state": "FAILED"}));
    assert_eq!(printer.wait(Duration::from_secs(3)).ended, Some(PrintEnd::Failed));
}

#[test]
fn a_file_is_printed_again_if_its_end_was_reported_before_or_another_id_is() {
    let runs = |reports: &[Value]| {
        let mut printer = Heard::printing();
        reports.iter().fold(None, |_, report| printer.hear(report.clone()).runs)
    };
    let on = |state: &str, id: &str| json!({"gcode_state": state, "subtask_id": id, "gcode_file": OURS});
    let state = |state: &str| json!({ "gcode_state": state });
    assert_eq!(runs(&[on("RUNNING", "77"), on("PAUSE", "77"), on("RUNNING", "77")]), Some(1));
    assert_eq!(runs(&[state("FINISH")]), Some(1), "the end of the only one");
    assert_eq!(runs(&[state("FINISH"), state("PREPARE")]), Some(2));
    assert_eq!(runs(&[state("FINISH"), on("PREPARE", "0"), on("RUNNING", "0")]), Some(2), "started at the printer");
    assert_eq!(runs(&[state("FAILED"), state("RUNNING"), state("FINISH")]), Some(2), "whether it was cancelled or not");
    let finished = json!({"gcode_state": "FINISH", "mc_percent": 100});
    assert_eq!(runs(&[finished.clone(), state("RUNNING")]), Some(1), "an echo of the end");
    assert_eq!(runs(&[finished, state("PREPARE")]), Some(2), "the percents are still the old ones");
    assert_eq!(runs(&[on("RUNNING", "78")]), Some(2));
    assert_eq!(runs(&[on("RUNNING", "0")]), Some(1), "an id that is left out is no other");
    let other = json!({"gcode_state": "RUNNING", "subtask_id": "78", "gcode_file": "other.gcode.3mf"});
    assert_eq!(runs(&[state("FINISH"), other]), Some(1), "another file");
    let mut printer = Heard::printing();
    printer.connected_anew();
    assert_eq!(printer.hear(on("RUNNING", "78")).runs, Some(1), "it may have been resumed after a power loss");
}

#[test]
fn a_printer_that_rejects_commands_is_probed_also_while_it_prints_but_not_while_it_prepares() {
    let mut printer = Heard::printing();
    assert!(!printer.track.calls_for_probe(), "it has rejected none");
    printer.track.refuses = true;
    for (state, calls) in [("RUNNING", true), ("PREPARE", false), ("PAUSE", true), ("FINISH", true), ("INIT", false)] {
        printer.hear(json!({ "gcode_state": state }));
        assert_eq!(printer.track.calls_for_probe(), calls, "{state}");
    }
}

#[test]
fn a_print_that_is_refused_while_it_is_prepared_has_failed() {
    let mut printer = Heard::new();
    printer.hear(json!({"gcode_state": "IDLE"}));
    printer.hear(json!({"gcode_state": "PREPARE", "subtask_id": "77", "gcode_file": OURS}));
    let failed = printer.hear(json!({"gcode_state": "FAILED", "print_error": 0x0700_8012}));
    assert_eq!(failed.ended, Some(PrintEnd::Failed));
    assert!(failed.message.unwrap().starts_with("the AMS mapping is wrong"));
}

#[test]
fn printers_that_only_let_themselves_be_read_are_told() {
    let read_only = |report: Value| {
        let mut printer = Heard::new();
        printer.hear(json!({"gcode_state": "IDLE"}));
        printer.hear(report).connection == Connection::ReadOnly
    };
    assert!(read_only(json!({"fun": "3EC1AFFF9CFF"})));
    assert!(!read_only(json!({"fun": "3EC18FFF9CFF"})), "the bit is clear");
    assert!(!read_only(json!({"fun": "no number"})) && !read_only(json!({})), "older models do not tell");
    assert!(read_only(json!({"hms": [{"attr": 0x0500_0500, "code": 0x0001_0007}]})));
    let mut printer = Heard::printing();
    printer.track.refuses = true;
    let status = printer.hear(json!({}));
    assert_eq!((status.connection, status.state), (Connection::ReadOnly, Activity::Printing));
    assert!(status.message.unwrap().starts_with("connected, but read-only"));
    printer.connected_anew();
    assert_eq!(
        printer.hear(json!({"gcode_state": "IDLE"})).connection,
        Connection::Connected,
        "perhaps allowed by now"
    );
}

#[test]
fn a_report_counts_once_it_is_full() {
    let mut printer = Heard::new();
    printer.hear(json!({"wifi_signal": "-45dBm"}));
    assert!(!printer.track.full);
    printer.hear(json!({"gcode_state": "IDLE"}));
    assert!(printer.track.full);
    printer.connected_anew();
    assert!(!printer.track.full);
}

#[test]
fn a_fault_of_heaters_or_motors_is_an_error_of_the_printer() {
    let mut printer = Heard::printing();
    let hms = json!([{"attr": 0x0300_0100, "code": 0x0001_0001}]);
    let failed = printer.hear(json!({"gcode_state": "FAILED", "hms": hms}));
    assert_eq!((failed.state, failed.ended), (Activity::Error, Some(PrintEnd::Failed)));
    assert!(failed.message.unwrap().contains("short circuit (HMS 0300-0100-0001-0001)"));
    assert_eq!(printer.hear(json!({"hms": []})).state, Activity::Idle, "once somebody has mended it");
}
