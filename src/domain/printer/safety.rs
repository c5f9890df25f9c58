//! Firmware errors and closed connections, which only an operator may clear.
//!
//! A print that ended in a firmware error may have left the machine hot, jammed or crashed. Nothing that the server can
//! read proves that the machine is safe again, so the error blocks the printer until an operator acknowledges it
//! ([`super::PrinterCommand::ClearAttention`]); restarting the firmware, homing or clearing the bed is not enough. For
//! the same reason, a connection that the printer's own server closed on an error, or that a user closed at the
//! printer, is reopened only by a person.

use serde::{Deserialize, Serialize};

use super::{Printer, PrinterAnswer};
use crate::aggregate::{Decision, DecisionContext};
use crate::event::data::PrinterActData;
use crate::printer_status::{Activity, Connection, Status};
use crate::refusal::{Refusal, first_sentence};
use crate::time::Timestamp;

/// Maximum stored length of a printer's message, in characters, chosen to keep the snapshot row small.
const MAX_WORDS_CHARS: usize = 300;

/// Firmware error, shutdown or thermal error that no operator has acknowledged yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FirmwareFault {
    /// Time at which the printer was last observed entering an error state.
    pub at: Timestamp,
    /// The printer's message about the first error.
    pub words: String,
}

/// Returns the first sentence of a printer's own message, truncated to [`MAX_WORDS_CHARS`] characters.
pub(super) fn kept_words(words: &str) -> String {
    first_sentence(words).0.chars().take(MAX_WORDS_CHARS).collect()
}

impl Printer {
    /// Records the information in a status about the firmware and the connection to it. `before` is the printer's
    /// previous state.
    pub(super) fn firmware_seen(&mut self, before: &Self, status: &Status, now: Timestamp) {
        let error = status.state == Activity::Error;
        if status.connection == Connection::Connected && !error {
            // A status from before an emergency stop does not prove that the firmware is back. A stop in the future was
            // recorded before the clock was set back.
            self.kept_closed &= self.stopped_at.is_some_and(|at| status.updated_at <= at && at <= now);
            return;
        }
        let closed = status.connection == Connection::FirmwareDisconnected;
        self.kept_closed |= error || (closed && before.connection == Connection::Connected);
        // Until the axes are homed after an emergency stop of ours, an error is taken for what the stop does.
        let ours = before.needs_home && before.stopped_at.is_some();
        if error && !ours && (before.fault.is_none() || before.activity != Activity::Error) {
            let words = status.message.as_deref().unwrap_or("the printer reports no reason");
            let words = self.fault.take().map_or_else(|| kept_words(words), |fault| fault.words);
            self.fault = Some(FirmwareFault { at: status.updated_at, words });
            // The motors lost their power or their position, as after an emergency stop.
            (self.needs_home, self.stopped_at) = (true, None);
        }
    }

    /// Returns whether the printer is considered offline because its server responds but the firmware behind the server
    /// does not.
    pub fn firmware_stays_away(&self) -> bool {
        self.outage && self.connection == Connection::FirmwareDisconnected && !self.disconnected
    }

    /// Returns the earliest read time of a status that proves that the axes are homed.
    pub(super) fn unhomed_since(&self) -> Option<Timestamp> {
        self.stopped_at.max(self.fault.as_ref().map(|fault| fault.at))
    }

    /// Returns whether the server may ask the printer's own server to open a closed connection to the firmware.
    pub fn may_open_connection(&self) -> bool {
        !self.kept_closed
    }

    /// Records that all axes were homed. The event is published even if homing was not needed, because the machine has
    /// moved.
    pub(super) fn homed(mut self, cx: &DecisionContext<'_>) -> Decision<Self, PrinterAnswer> {
        self.needs_home = false;
        self.changed(cx);
        let data = |printer| PrinterActData { printer, note: self.maintenance.clone() };
        let event = self.event_with(cx, "printer.homed", None, data);
        Decision::to(self.clone(), PrinterAnswer { printer: Box::new(self) }).events([event])
    }

    /// Clears a firmware error and the rejected starts after an operator has inspected the printer. Rejected while the
    /// firmware still reports an error, because the same error would be recorded again, and if others have come than
    /// those with the mark that the operator inspected.
    pub(super) fn clear_attention(
        self,
        mark: Option<&str>,
        cx: &DecisionContext<'_>,
    ) -> Result<Decision<Self, PrinterAnswer>, Refusal> {
        if let Some(mark) = mark {
            self.check_troubles(mark)?;
        }
        if self.fault.is_some() && self.activity == Activity::Error && !self.disconnected {
            return Err(Refusal::conflict(
                "printer_in_error",
                "the printer still reports an error; restart its firmware or reconnect it first",
            ));
        }
        if self.fault.is_none() && self.refusals.is_none() {
            return Ok(Decision::unchanged(PrinterAnswer { printer: Box::new(self) }));
        }
        let clear = |printer: &mut Self| {
            printer.fault = None;
            // A start that was confirmed since says that earlier rejections had another reason.
            if printer.refusals.is_some() {
                printer.forgive_refusals(cx.now);
            }
        };
        Ok(self.say(cx, clear, Some("printer.attention_cleared")))
    }
}

#[cfg(test)]
mod tests;
