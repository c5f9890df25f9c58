//! Effects by which a printer works with the machine and with orders.

#[cfg(doc)]
use super::Printer;
use crate::id::Id;

/// Work outside the printer's state that the state calls for. Each effect is repeated, also after a restart, until the
/// state no longer calls for it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PrinterEffect {
    /// Keep a connection to the printer and monitor it. A change of address or key makes it a different effect, so that
    /// the printer is reconnected.
    Watch {
        /// Adapter type of the printer.
        kind: String,
        /// Base URL of the printer's API.
        base_url: String,
        /// The printer's API key, encrypted; empty if none.
        encrypted_api_key: String,
        /// Serial number, for adapter types that need one.
        serial: Option<String>,
    },
    /// Drive the attempt to a print or a verdict: upload in phase `Taken`, then send the start once, then determine the
    /// outcome. From the phases `StartSent` and `Unverified` on, only the last step runs; the same holds for a print
    /// that was seen and has vanished. It stays the same effect through these phases, so that the task that recorded
    /// the start goes on to send it.
    Run {
        /// Attempt in hand.
        attempt: Id,
    },
    /// Drive a manual print to its start: upload, then start once. A start that was sent is only awaited.
    Manual {
        /// Identifier of the manual print.
        id: Id,
    },
    /// Cancel this attempt's print at the printer: read the status first, and cancel once per status that shows the
    /// attempt's file. It ends with the print, and when the printer shows anything else.
    CancelPrint {
        /// Attempt in hand.
        attempt: Id,
    },
    /// Report the attempt's progress to the order until it has acknowledged this step.
    Report {
        /// Attempt in hand.
        attempt: Id,
        /// Step to report.
        step: u32,
    },
    /// Report the sign-off of this attempt's parts to the order until it has acknowledged it.
    TellSignOff {
        /// Signed-off attempt, one of [`Printer::signed_prints`].
        attempt: Id,
    },
    /// Take a picture of this attempt's end, store it and notify the order, or give it up.
    Photograph {
        /// Attempt of [`Printer::photo_due`].
        attempt: Id,
    },
}
