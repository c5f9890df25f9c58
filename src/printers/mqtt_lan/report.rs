//! Converts a printer's merged report to one status. Depending on the model, numbers arrive as numbers or as strings.
//! Pure except for the times passed in.
//!
//! `gcode_state` outlives its print: after a start, the old `FINISH` remains for minutes alongside the ID of the new
//! print. The end of a print is therefore accepted only if the same print was previously seen in progress, or if the
//! state changed to an end while the connection was open.

mod members;
mod print;

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use self::members::drop_unread;
use self::print::Print;
use super::{slots, words};
use domain::heaters::{Heat, Heaters};
use domain::printer_status::{Activity, Connection, PrintEnd, PrintedLayer, ReportedSlot, Status};
use domain::time::Timestamp;

/// File name extension of every file sent to these printers.
pub(super) const ENDING: &str = ".gcode.3mf";
/// Time to wait before reporting a print as failed, because its cancellation may be reported a moment later.
const CANCEL_DELAY: Duration = Duration::from_secs(2);
/// Time that a printer may take to act on a stop command. If the print continues after that, the command is sent again.
const STOP_RETRY_DELAY: Duration = Duration::from_secs(15);
/// Bit of `fun` that indicates that commands must be signed, which gives third-party programs read-only access.
const SIGNED_ONLY: u64 = 0x2000_0000;

/// Parses an integer, which may be in a string.
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64().or_else(|| other.as_f64().filter(|n| n.is_finite()).map(|n| n as i64)),
    }
}

/// Parses a non-negative integer, which may be in a string.
pub(super) fn unsigned(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    }
}

/// Parses a number, which may be in a string.
pub(super) fn number(value: &Value) -> Option<f64> {
    let read = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    read.filter(|n: &f64| n.is_finite())
}

/// Print state, as reported by the printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MqttPrintState {
    Idle,
    /// The printer is preparing a print; the reported progress is still that of the previous print.
    Preparing,
    Printing,
    Paused,
    Finished,
    Failed,
    /// The printer is starting up or reports an unknown state.
    Unknown,
}

impl MqttPrintState {
    fn of(report: &Map<String, Value>) -> Self {
        match report.get("gcode_state").and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase().as_str() {
            "IDLE" => Self::Idle,
            "PREPARE" | "SLICING" => Self::Preparing,
            "RUNNING" => Self::Printing,
            "PAUSE" => Self::Paused,
            "FINISH" => Self::Finished,
            "FAILED" => Self::Failed,
            _ => Self::Unknown,
        }
    }

    fn active(self) -> bool {
        matches!(self, Self::Preparing | Self::Printing | Self::Paused)
    }
}

/// Information about a printer from its reports, across all connections of one adapter.
#[derive(Default)]
pub(super) struct PrinterKnowledge {
    report: Map<String, Value>,
    state: Option<MqttPrintState>,
    /// Print last seen in progress.
    under_way: Option<Print>,
    /// Number of successive prints of the same file that were seen in progress.
    runs: u32,
    /// Print that ended while the connection was open, and its outcome.
    ended: Option<(Print, PrintEnd)>,
    /// Print that the printer reported as cancelled.
    cancelled: Option<Print>,
    /// Print that this server asked to cancel, and the number of its cancel commands that may have been carried out.
    cancel_attempts: Option<(Print, u32)>,
    /// Print affected by the last cancel command, and the time of that command, whatever its outcome.
    cancel_sent: Option<(Print, Instant)>,
    /// Print that failed while the connection was open, and the time of the failure.
    failed: Option<(Print, Instant)>,
    /// ID and file from the last start command.
    started: Option<(String, String)>,
    /// `true` if a reply reported that commands from this server are rejected.
    pub(super) refuses: bool,
    /// `true` once a full report has been received over this connection; each new connection needs one.
    pub(super) full: bool,
}

impl PrinterKnowledge {
    /// Starts a new connection, for which the report is rebuilt from its first full report.
    pub(super) fn begin(&mut self) {
        (self.full, self.refuses) = (false, false);
        self.report.clear();
        // What it was before proves nothing of what came meanwhile.
        self.state = None;
    }

    /// Records that the given start command is about to be sent.
    pub(super) fn starts(&mut self, subtask: String, file: String) {
        self.started = Some((subtask, file));
    }

    /// Records that the current print is about to be cancelled, and returns it; `None` if none is in progress.
    pub(super) fn cancels(&mut self, now: Instant) -> Option<Print> {
        self.state.filter(|state| state.active())?;
        let print = self.print();
        let before = self.cancel_attempts.take().filter(|(last, _)| last.same(&print)).map_or(0, |(_, times)| times);
        self.cancel_attempts = Some((print.clone(), before.saturating_add(1)));
        self.cancel_sent = Some((print.clone(), now));
        Some(print)
    }

    /// Records that one of the cancel commands for the given print was definitely not carried out, so that the end of
    /// the print is not attributed to it. The time at which it was sent is kept, so that the next command is not sent
    /// immediately.
    pub(super) fn cancel_failed(&mut self, print: &Print) {
        if let Some((last, times)) = &mut self.cancel_attempts
            && last.same(print)
        {
            *times = times.saturating_sub(1);
        }
    }

    /// Merges a report. If the result is too large, fails and discards all reported data.
    pub(super) fn hear(&mut self, mut delta: Map<String, Value>, now: Instant) -> Result<(), super::merge::TooLarge> {
        drop_unread(&mut delta);
        if let Err(error) = super::merge::merge(&mut self.report, delta) {
            self.begin();
            return Err(error);
        }
        if !self.report.contains_key("gcode_state") {
            return Ok(());
        }
        self.full = true;
        let (state, print) = (MqttPrintState::of(&self.report), self.print());
        let before = self.state.replace(state);
        if state.active() {
            let is_known = self.under_way.as_ref().is_some_and(|current| current.same(&print));
            if !is_known || before.is_some_and(|before| !before.active()) {
                (self.cancelled, self.cancel_attempts, self.cancel_sent) = (None, None, None);
            }
            self.runs = self.count_runs(&print, state, before.is_some());
            self.under_way = Some(print.clone());
            (self.ended, self.failed) = (None, None);
        }
        let error = self.print_error();
        if words::is_cancel(error) {
            // Told while the print is on, or after its end.
            self.cancelled = Some(self.under_way.clone().unwrap_or_else(|| print.clone()));
        }
        // It changed to this state while we listened, so the print has ended now, however fast it was.
        let changed = before == Some(MqttPrintState::Idle) && state != MqttPrintState::Idle;
        let was_seen = self.under_way.as_ref().is_some_and(|current| current.same(&print)) && self.ended.is_none();
        match state {
            MqttPrintState::Finished if changed || was_seen => self.ended = Some((print, PrintEnd::Finished)),
            MqttPrintState::Failed => self.failed(print, changed || was_seen, error, now),
            // Some printers forget a cancelled print at once.
            MqttPrintState::Idle if self.ended.is_none() => {
                let gone = self.under_way.clone();
                self.ended = gone.filter(|gone| self.was_cancelled(gone)).map(|gone| (gone, PrintEnd::Cancelled));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns how many times the file of `print`, which is now in progress, has been printed so far. A new print has
    /// started if the previous one was reported as over, or if both have an ID and the IDs differ. A print that is
    /// reported as running at 100 percent is an echo of the previous print.
    ///
    /// Neither criterion is valid across two connections, because a print resumed after a power failure may have a
    /// different ID. No other criterion is reliable: a print started at the printer has no ID, reports about prints
    /// from this server may lack theirs, and newer firmware no longer reports when a print started
    /// (`gcode_start_time`). If a file is printed again without a report that its previous print has ended, the two
    /// prints therefore look like one.
    fn count_runs(&self, print: &Print, state: MqttPrintState, is_same_connection: bool) -> u32 {
        let Some(current) = self.under_way.as_ref().filter(|current| current.file == print.file) else { return 1 };
        let ended = self.ended.as_ref().map(|(ended, _)| ended);
        let failed = self.failed.as_ref().map(|(failed, _)| failed);
        let percent = self.report.get("mc_percent").and_then(number);
        let is_echo = state != MqttPrintState::Preparing && percent.is_some_and(|percent| percent >= 100.0);
        let is_over = !is_echo && ended.into_iter().chain(failed).any(|over| over.same(current));
        let is_another = is_same_connection && (is_over || !current.same(print));
        self.runs.saturating_add(u32::from(is_another))
    }

    /// Handles a reported failure, which may be followed a moment later by a report of the print's cancellation.
    fn failed(&mut self, print: Print, now_it_did: bool, error: u32, now: Instant) {
        let known_since = self.failed.as_ref().filter(|(failed, _)| failed.same(&print)).map(|(_, since)| *since);
        let Some(since) = known_since.or_else(|| now_it_did.then_some(now)) else { return };
        self.failed = Some((print.clone(), since));
        if self.was_cancelled(&print) {
            self.ended = Some((print, PrintEnd::Cancelled));
        } else if error != 0 || words::is_fault(&self.notices()) || now.duration_since(since) >= CANCEL_DELAY {
            self.ended = Some((print, PrintEnd::Failed));
        }
    }

    fn was_cancelled(&self, print: &Print) -> bool {
        let attempted = self.cancel_attempts.as_ref().filter(|(_, times)| *times > 0).map(|(attempted, _)| attempted);
        self.cancelled.iter().chain(attempted).any(|cancelled| cancelled.same(print))
    }

    /// Returns the time, if any, at which the state should be read again even if no report arrives before then.
    pub(super) fn due(&self) -> Option<Instant> {
        self.failed.as_ref().filter(|_| self.ended.is_none()).map(|(_, since)| *since + CANCEL_DELAY)
    }

    fn print(&self) -> Print {
        let mut print = Print::of(&self.report);
        if let Some((subtask, file)) = &self.started
            && *subtask == print.subtask
        {
            print.file = Some(file.clone());
        }
        print
    }

    /// Returns `print_error` from the report; 0 means no error.
    pub(super) fn print_error(&self) -> u32 {
        let error = self.report.get("print_error").and_then(integer).unwrap_or_default();
        u32::try_from(error).unwrap_or_default()
    }

    fn notices(&self) -> Vec<u64> {
        words::notices(self.report.get("hms"))
    }

    /// Returns whether the printer rejects all commands from this server.
    fn read_only(&self, notices: &[u64]) -> bool {
        let fun = match self.report.get("fun") {
            Some(Value::String(hex)) => u64::from_str_radix(hex.trim().trim_start_matches("0x"), 16).ok(),
            _ => None,
        };
        self.refuses || fun.is_some_and(|bits| bits & SIGNED_ONLY != 0) || words::refuses_commands(notices)
    }

    /// Returns whether the printer should be probed to find out whether it still rejects commands: it has rejected one
    /// before, and is neither starting up nor preparing a print.
    pub(super) fn calls_for_probe(&self) -> bool {
        self.refuses && !matches!(self.state, None | Some(MqttPrintState::Preparing | MqttPrintState::Unknown))
    }

    /// Returns the file of the print in progress; `None` if no print is in progress.
    pub(super) fn busy(&self) -> Option<String> {
        self.state.filter(|state| state.active())?;
        Some(self.print().file.unwrap_or_else(|| "a print is running".to_owned()))
    }

    /// Returns the contents of the changers' slots and of the external spool, and the source that feeds the nozzle.
    pub(super) fn changer(&self) -> slots::Changer {
        slots::Changer::of(self.report.get("ams"), self.report.get("vt_tray"))
    }

    /// Returns whether the print with the given ID, which this server started, is in progress.
    pub(super) fn prints(&self, subtask: &str) -> bool {
        self.state.is_some_and(MqttPrintState::active) && self.print().subtask == subtask
    }

    /// Returns the printer's status as of `at`.
    pub(super) fn status(&self, at: Timestamp) -> Status {
        let read = |name: &str| self.report.get(name).and_then(number);
        let notices = self.notices();
        let read_only = self.read_only(&notices);
        let state = self.state.unwrap_or(MqttPrintState::Unknown);
        let ending = self.failed.is_some() && self.ended.is_none();
        let print = self.print();
        let sent_recently = |(of, sent): &(Print, Instant)| of.same(&print) && sent.elapsed() < STOP_RETRY_DELAY;
        let stopping = self.cancel_sent.as_ref().is_some_and(sent_recently);
        let ended = self.ended.as_ref().filter(|(ended, _)| state == MqttPrintState::Idle || ended.same(&print));
        let activity = match state {
            MqttPrintState::Preparing | MqttPrintState::Printing => Activity::Printing,
            MqttPrintState::Paused => Activity::Paused,
            MqttPrintState::Failed if ending => Activity::Printing,
            MqttPrintState::Idle | MqttPrintState::Finished | MqttPrintState::Failed if words::is_fault(&notices) => {
                Activity::Error
            }
            MqttPrintState::Idle | MqttPrintState::Finished | MqttPrintState::Failed => Activity::Idle,
            MqttPrintState::Unknown => Activity::Offline,
        };
        let connection = match state {
            MqttPrintState::Unknown => Connection::FirmwareDisconnected,
            _ if read_only => Connection::ReadOnly,
            _ => Connection::Connected,
        };
        let active = matches!(activity, Activity::Printing | Activity::Paused);
        // An idle printer may name a file that it was told to print and did not begin.
        let named = print.file.clone().filter(|_| state != MqttPrintState::Idle);
        let file = ended.map_or(named, |(ended, _)| ended.file.clone());
        let runs = self.under_way.as_ref().filter(|print| file.is_some() && print.file == file).map(|_| self.runs);
        // What the last print reached must not count for the one that was started after it.
        let begins = self.started.as_ref().is_some_and(|(subtask, _)| *subtask == print.subtask)
            && self.under_way.as_ref().is_none_or(|current| !current.same(&print))
            && self.ended.as_ref().is_none_or(|(ended, _)| !ended.same(&print));
        // A print that is being prepared has no time yet: what is told is 0, or was left by the last one.
        let tells_time = state != MqttPrintState::Preparing && !begins;
        let percent = match state {
            MqttPrintState::Preparing => 0.0,
            _ if begins => 0.0,
            MqttPrintState::Finished => 100.0,
            _ => read("mc_percent").unwrap_or_default(),
        };
        Status {
            state: activity,
            connection,
            ended: ended.map(|(_, end)| *end).filter(|_| file.is_some()),
            progress: if file.is_some() { percent.clamp(0.0, 100.0) } else { 0.0 },
            cancelling: ending || (active && stopping),
            remaining_seconds: read("mc_remaining_time").filter(|_| active && tells_time).map(|m| (m * 60.0) as i64),
            filament_mm: None,
            nozzle: read("nozzle_temper").map_or(0.0, packed),
            bed: read("bed_temper").map_or(0.0, packed),
            heaters: Heaters::of(
                heat(read("nozzle_temper"), read("nozzle_target_temper")),
                heat(read("bed_temper"), read("bed_target_temper")),
                heat(read("chamber_temper"), None),
            ),
            homed: None,
            message: self.trouble().or_else(|| self.layers()),
            slots: self.slots(),
            layer: PrintedLayer::from_numbers(read("layer_num"), read("total_layer_num")).filter(|_| active),
            books_on: None,
            runs,
            file,
            updated_at: at,
        }
    }

    fn slots(&self) -> Vec<ReportedSlot> {
        slots::reported(self.report.get("ams"))
    }

    /// Describes the current errors with the printer's error codes and this server's descriptions.
    pub(super) fn trouble(&self) -> Option<String> {
        let notices = self.notices();
        let read_only = self.read_only(&notices).then(|| words::READ_ONLY.to_owned());
        let all = [read_only, words::print_error(self.print_error()), words::describe(&notices)];
        let all: Vec<String> = all.into_iter().flatten().collect();
        Some(all.join("; ")).filter(|text| !text.is_empty())
    }

    /// Describes the layer being printed. A paused printer's message is the reason for its pause, if there is one.
    fn layers(&self) -> Option<String> {
        self.state.filter(|state| state.active() && *state != MqttPrintState::Paused)?;
        let count = |name: &str| self.report.get(name).and_then(integer).filter(|n| *n > 0);
        count("layer_num").zip(count("total_layer_num")).map(|(now, all)| format!("layer {now} of {all}"))
    }
}

/// Extracts the measured temperature. Newer models combine a temperature and its target in one number: the target in
/// the bits above the lowest 16, the measurement in the lowest 16 bits.
fn packed(value: f64) -> f64 {
    if value >= 65_536.0 { (value as u64 & 0xFFFF) as f64 } else { value }
}

/// Builds a heater reading; the target may be contained in the reported number.
fn heat(reported: Option<f64>, target: Option<f64>) -> Heat {
    let within = reported.filter(|value| *value >= 65_536.0).map(|value| (value as u64 >> 16) as f64);
    Heat::new(reported.map(packed), within.or(target))
}

#[cfg(test)]
mod tests;
