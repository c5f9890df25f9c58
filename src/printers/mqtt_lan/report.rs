//! From a printer's merged report to one status. Numbers come as numbers or as strings, depending on the model. Pure
//! but for the moments that are handed in.
//!
//! `gcode_state` outlives its print: after a start the old `FINISH` stays for minutes, beside the id of the new print.
//! So the end of a print counts only if the same print was seen under way before, or if the state changed to an end
//! while we listened.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{slots, words};
use crate::domain::heaters::{Heat, Heaters};
use crate::domain::printer_status::{Activity, Connection, PrintEnd, PrintedLayer, ReportedSlot, Status};
use crate::domain::time::Timestamp;

/// The ending that every file for such a printer has.
pub(super) const ENDING: &str = ".gcode.3mf";
/// A failed print is called so after this time: that it was cancelled may be said a moment later.
const CANCEL_DELAY: Duration = Duration::from_secs(2);
/// How long a printer may take to act on a stop before it is told again, if it prints on.
const STOP_RETRY_DELAY: Duration = Duration::from_secs(15);
/// The bit of `fun` that says that commands must be signed, so that other programs can only read.
const SIGNED_ONLY: u64 = 0x2000_0000;
/// Most characters that are kept of the name of a file.
const MAX_NAME_CHARS: usize = 200;

/// A whole number, also one in quotes.
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64().or_else(|| other.as_f64().filter(|n| n.is_finite()).map(|n| n as i64)),
    }
}

/// A whole number that is not negative, also one in quotes.
pub(super) fn unsigned(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    }
}

/// A number, also one in quotes.
pub(super) fn number(value: &Value) -> Option<f64> {
    let read = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    read.filter(|n: &f64| n.is_finite())
}

fn ends(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
}

/// What the printer does, in its own words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PrintState {
    Idle,
    /// It prepares a print: what it says of progress is still that of the last one.
    Preparing,
    Printing,
    Paused,
    Finished,
    Failed,
    /// It starts up, or says nothing that is known.
    Unknown,
}

impl PrintState {
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

/// Which print a report is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Print {
    subtask: String,
    file: Option<String>,
}

impl Print {
    fn of(report: &Map<String, Value>) -> Self {
        let text = |name: &str| match report.get(name) {
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let path = text("gcode_file");
        let base = path.rsplit('/').next().unwrap_or_default();
        let subtask = text("subtask_name");
        let whole = |name: &str| {
            if ends(name, "3mf") || ends(name, "gcode") { name.to_owned() } else { format!("{name}{ENDING}") }
        };
        // A print from a package is told by the plate inside it on some models.
        let in_package = base.is_empty() || base.starts_with("plate_") && ends(base, "gcode");
        let file = if in_package && !subtask.is_empty() { whole(&subtask) } else { base.to_owned() };
        let file: String = file.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect();
        Self { subtask: text("subtask_id"), file: Some(file).filter(|name| !name.is_empty()) }
    }
}

/// What is known of a printer from its reports, over all connections of one adapter.
#[derive(Default)]
pub(super) struct Track {
    report: Map<String, Value>,
    state: Option<PrintState>,
    /// The print that was seen under way last.
    under_way: Option<Print>,
    /// The print that ended while we listened, and how.
    ended: Option<(Print, PrintEnd)>,
    /// The print that somebody cancelled, as the printer said.
    cancelled: Option<Print>,
    /// The print that we asked to cancel, and how many of those commands may have been carried out.
    asked: Option<(Print, u32)>,
    /// When we asked for that last, whatever came of it, and of which print.
    cancel_sent: Option<(Print, Instant)>,
    /// The print that failed while we listened, and since when that is so.
    failed: Option<(Print, Instant)>,
    /// The start that we sent last: its id and its file.
    started: Option<(String, String)>,
    /// Commands of this server are refused, as a reply said.
    pub(super) refuses: bool,
    /// Since the report of the printer begins anew, a full one is needed.
    pub(super) full: bool,
}

impl Track {
    /// A new connection: what it reports is put together from its first full report.
    pub(super) fn begin(&mut self) {
        (self.full, self.refuses) = (false, false);
        self.report.clear();
        // What it was before proves nothing of what came meanwhile.
        self.state = None;
    }

    /// We are about to send this start.
    pub(super) fn starts(&mut self, subtask: String, file: String) {
        self.started = Some((subtask, file));
    }

    /// We are about to cancel the print that is on, which it answers; `None` where none is.
    pub(super) fn cancels(&mut self, now: Instant) -> Option<Print> {
        self.state.filter(|state| state.active())?;
        let print = self.print();
        let before = self.asked.take().filter(|(asked, _)| asked.same(&print)).map_or(0, |(_, times)| times);
        self.asked = Some((print.clone(), before.saturating_add(1)));
        self.cancel_sent = Some((print.clone(), now));
        Some(print)
    }

    /// One of our commands to cancel this print was certainly not carried out: what ends the print is not that. When
    /// it was sent stays known, so that the next is not sent at once.
    pub(super) fn cancel_failed(&mut self, print: &Print) {
        if let Some((asked, times)) = &mut self.asked
            && asked.same(print)
        {
            *times = times.saturating_sub(1);
        }
    }

    /// Takes a report over. One that makes the whole too large is an error, after which nothing is known.
    pub(super) fn hear(&mut self, delta: Map<String, Value>, now: Instant) -> Result<(), super::merge::TooLarge> {
        if let Err(error) = super::merge::merge(&mut self.report, delta) {
            self.begin();
            return Err(error);
        }
        if !self.report.contains_key("gcode_state") {
            return Ok(());
        }
        self.full = true;
        let (state, print) = (PrintState::of(&self.report), self.print());
        let before = self.state.replace(state);
        if state.active() {
            let known = self.under_way.as_ref().is_some_and(|known| known.same(&print));
            if !known || before.is_some_and(|before| !before.active()) {
                (self.cancelled, self.asked, self.cancel_sent) = (None, None, None);
            }
            self.under_way = Some(print.clone());
            (self.ended, self.failed) = (None, None);
        }
        let error = self.print_error();
        if words::is_cancel(error) {
            // Told while the print is on, or after its end.
            self.cancelled = Some(self.under_way.clone().unwrap_or_else(|| print.clone()));
        }
        // It changed to this state while we listened, so the print has ended now, however fast it was.
        let changed = before == Some(PrintState::Idle) && state != PrintState::Idle;
        let seen = self.under_way.as_ref().is_some_and(|known| known.same(&print)) && self.ended.is_none();
        match state {
            PrintState::Finished if changed || seen => self.ended = Some((print, PrintEnd::Finished)),
            PrintState::Failed => self.failed(print, changed || seen, error, now),
            // Some printers forget a cancelled print at once.
            PrintState::Idle if self.ended.is_none() => {
                let gone = self.under_way.clone();
                self.ended = gone.filter(|gone| self.was_cancelled(gone)).map(|gone| (gone, PrintEnd::Cancelled));
            }
            _ => {}
        }
        Ok(())
    }

    /// The state is a failure. Whether somebody cancelled the print may be said a moment later.
    fn failed(&mut self, print: Print, now_it_did: bool, error: u32, now: Instant) {
        let known = self.failed.as_ref().filter(|(failed, _)| failed.same(&print)).map(|(_, since)| *since);
        let Some(since) = known.or_else(|| now_it_did.then_some(now)) else { return };
        self.failed = Some((print.clone(), since));
        if self.was_cancelled(&print) {
            self.ended = Some((print, PrintEnd::Cancelled));
        } else if error != 0 || words::is_fault(&self.notices()) || now.duration_since(since) >= CANCEL_DELAY {
            self.ended = Some((print, PrintEnd::Failed));
        }
    }

    fn was_cancelled(&self, print: &Print) -> bool {
        let asked = self.asked.as_ref().filter(|(_, times)| *times > 0).map(|(asked, _)| asked);
        self.cancelled.iter().chain(asked).any(|known| known.same(print))
    }

    /// When the state should be read again although nothing was heard.
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

    /// `print_error` of the report; 0 is none.
    pub(super) fn print_error(&self) -> u32 {
        let error = self.report.get("print_error").and_then(integer).unwrap_or_default();
        u32::try_from(error).unwrap_or_default()
    }

    fn notices(&self) -> Vec<u64> {
        words::notices(self.report.get("hms"))
    }

    /// Whether the printer only lets itself be read.
    fn read_only(&self, notices: &[u64]) -> bool {
        let fun = match self.report.get("fun") {
            Some(Value::String(hex)) => u64::from_str_radix(hex.trim().trim_start_matches("0x"), 16).ok(),
            _ => None,
        };
        self.refuses || fun.is_some_and(|bits| bits & SIGNED_ONLY != 0) || words::refuses_commands(notices)
    }

    /// Whether a print is on, and its file.
    pub(super) fn busy(&self) -> Option<String> {
        self.state.filter(|state| state.active())?;
        Some(self.print().file.unwrap_or_else(|| "a print is on".to_owned()))
    }

    /// What is in the slots of the filament changers and beside them, and what feeds the nozzle now.
    pub(super) fn changer(&self) -> slots::Changer {
        slots::Changer::of(self.report.get("ams"), self.report.get("vt_tray"))
    }

    /// Whether this print of ours is under way.
    pub(super) fn prints(&self, subtask: &str) -> bool {
        self.state.is_some_and(PrintState::active) && self.print().subtask == subtask
    }

    /// The printer's status, as of `at`.
    pub(super) fn status(&self, at: Timestamp) -> Status {
        let read = |name: &str| self.report.get(name).and_then(number);
        let notices = self.notices();
        let read_only = self.read_only(&notices);
        let state = self.state.unwrap_or(PrintState::Unknown);
        let ending = self.failed.is_some() && self.ended.is_none();
        let print = self.print();
        let told = |(of, sent): &(Print, Instant)| of.same(&print) && sent.elapsed() < STOP_RETRY_DELAY;
        let stopping = self.cancel_sent.as_ref().is_some_and(told);
        let ended = self.ended.as_ref().filter(|(ended, _)| state == PrintState::Idle || ended.same(&print));
        let activity = match state {
            PrintState::Preparing | PrintState::Printing => Activity::Printing,
            PrintState::Paused => Activity::Paused,
            PrintState::Failed if ending => Activity::Printing,
            PrintState::Idle | PrintState::Finished | PrintState::Failed if words::is_fault(&notices) => {
                Activity::Error
            }
            PrintState::Idle | PrintState::Finished | PrintState::Failed => Activity::Idle,
            PrintState::Unknown => Activity::Offline,
        };
        let connection = match state {
            PrintState::Unknown => Connection::FirmwareDisconnected,
            _ if read_only => Connection::ReadOnly,
            _ => Connection::Connected,
        };
        let active = matches!(activity, Activity::Printing | Activity::Paused);
        // An idle printer may name a file that it was told to print and did not begin.
        let named = print.file.clone().filter(|_| state != PrintState::Idle);
        let file = ended.map_or(named, |(ended, _)| ended.file.clone());
        // What the last print reached must not count for the one that was started after it.
        let begins = self.started.as_ref().is_some_and(|(subtask, _)| *subtask == print.subtask)
            && self.under_way.as_ref().is_none_or(|known| !known.same(&print))
            && self.ended.as_ref().is_none_or(|(known, _)| !known.same(&print));
        // A print that is being prepared has no time yet: what is told is 0, or was left by the last one.
        let tells_time = state != PrintState::Preparing && !begins;
        let percent = match state {
            PrintState::Preparing => 0.0,
            _ if begins => 0.0,
            PrintState::Finished => 100.0,
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
            layer: PrintedLayer::told(read("layer_num"), read("total_layer_num")).filter(|_| active),
            books_on: None,
            runs: None,
            file,
            updated_at: at,
        }
    }

    fn slots(&self) -> Vec<ReportedSlot> {
        slots::reported(self.report.get("ams"))
    }

    /// What is wrong, in the printer's numbers and our words.
    pub(super) fn trouble(&self) -> Option<String> {
        let notices = self.notices();
        let read_only = self.read_only(&notices).then(|| words::READ_ONLY.to_owned());
        let all = [read_only, words::print_error(self.print_error()), words::told(&notices)];
        let all: Vec<String> = all.into_iter().flatten().collect();
        Some(all.join("; ")).filter(|text| !text.is_empty())
    }

    /// The layer that is being printed, in words.
    fn layers(&self) -> Option<String> {
        self.state.filter(|state| state.active())?;
        let told = |name: &str| self.report.get(name).and_then(integer).filter(|n| *n > 0);
        told("layer_num").zip(told("total_layer_num")).map(|(now, all)| format!("layer {now} of {all}"))
    }
}

impl Print {
    /// Whether both are the same print; the end of one may be told without its id.
    fn same(&self, other: &Self) -> bool {
        let known = |id: &str| !id.is_empty() && id != "0";
        if known(&self.subtask) && known(&other.subtask) {
            self.subtask == other.subtask
        } else {
            self.file == other.file
        }
    }
}

/// Newer families tell a temperature and its target in one number: the target above 16 bits, what is measured below.
fn packed(told: f64) -> f64 {
    if told >= 65_536.0 { (told as u64 & 0xFFFF) as f64 } else { told }
}

/// A heater, whose target may be told in the same number.
fn heat(told: Option<f64>, target: Option<f64>) -> Heat {
    let within = told.filter(|told| *told >= 65_536.0).map(|told| (told as u64 >> 16) as f64);
    Heat::new(told.map(packed), within.or(target))
}

#[cfg(test)]
mod tests;
