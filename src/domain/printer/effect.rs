//! Effects through which a printer interacts with the machine and with orders.

#[cfg(doc)]
use super::Printer;
use crate::id::Id;

/// External work required by the printer's state. Each effect is retried, even after a restart, until the state no
/// longer requires it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PrinterEffect {
    /// Keeps the printer connected and monitors it. With a different address or key, it is a different effect, so that
    /// the printer is reconnected.
    Watch {
        /// Adapter type of the printer.
        kind: String,
        /// Base URL of the printer's API.
        base_url: String,
        /// The printer's API key, encrypted; empty if it has none.
        encrypted_api_key: String,
        /// Serial number, for adapter types that need one.
        serial: Option<String>,
    },
    /// Advances the attempt to a print or a verdict: uploads the file in phase `Taken`, then sends the start once, then
    /// determines the outcome. In the phases `StartSent` and `Unverified`, only the outcome is determined; the same
    /// applies to a print that was observed and has vanished. The effect stays the same through these phases, so that
    /// the task that recorded the start also sends it.
    Run {
        /// Attempt in hand.
        attempt: Id,
    },
    /// Advances a manual print to its start: uploads the file, then starts the print once. If the start was already
    /// sent, only its outcome is awaited.
    Manual {
        /// Identifier of the manual print.
        id: Id,
    },
    /// Cancels the attempt's print on the printer: reads the status first, and cancels once per status that shows the
    /// attempt's file. The effect ends when the print ends or the printer reports anything else.
    CancelPrint {
        /// Attempt in hand.
        attempt: Id,
    },
    /// Reports the attempt's progress to the order until the order has acknowledged the step.
    Report {
        /// Attempt in hand.
        attempt: Id,
        /// Step to report.
        step: u32,
    },
    /// Reports the sign-off of the attempt's parts to the order until the order has acknowledged it.
    TellSignOff {
        /// Signed-off attempt, from [`Printer::signed_prints`].
        attempt: Id,
    },
    /// Takes a photo of the end of the attempt, stores it and notifies the order, or abandons the photo.
    Photograph {
        /// Attempt whose print is photographed, from [`Printer::photo_due`].
        attempt: Id,
    },
}
