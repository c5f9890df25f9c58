//! Pauses of prints: since when a print is paused, who paused it, and whether a person has to act.
//!
//! A pause that was requested through the server is recorded when the printer has accepted it, which may be shortly
//! before or after the printer is observed paused.

use serde::{Deserialize, Serialize};

use super::{ActRecord, AttemptPhase, DirectAction, Printer};
use crate::principal::Principal;
use crate::printer_status::{Activity, Status};
use crate::time::Timestamp;

/// Maximum time, in milliseconds, between a pause request and the observed pause. A pause that is observed later, or
/// was observed earlier, has a different reason.
const MAX_PAUSE_DELAY_MS: i64 = 120_000;

/// Origin of a pause that was requested through the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseOrigin {
    /// A person, or a program on a person's behalf.
    Person,
    /// The failure detection, which took the print for a failure.
    FailureDetection,
}

/// Pause requested through the server and accepted by the printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseRequest {
    /// Origin of the request.
    pub by: PauseOrigin,
    /// Time at which the printer accepted it.
    pub at: Timestamp,
}

/// Reason why a print is paused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PauseReason {
    /// The pause was requested through the server.
    Requested(PauseOrigin),
    /// The printer paused by itself, or someone paused it at its screen. Contains the printer's own message, such as an
    /// empty spool, if it has one.
    AtPrinter(Option<String>),
}

/// Pause that a person has to end, by resuming or cancelling the print.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenPause {
    /// Time at which the printer was first observed paused; `None` if that was not recorded.
    pub since: Option<Timestamp>,
    /// Reason for the pause.
    pub reason: PauseReason,
}

impl Printer {
    /// Returns the pause that a person has to end; `None` if the printer is not paused, or cannot receive commands at
    /// the moment, or if a person is asked about its print anyway. `status` is the printer's latest status, if any.
    pub fn open_pause(&self, status: Option<&Status>) -> Option<OpenPause> {
        let is_unverified =
            self.in_hand.as_ref().is_some_and(|in_hand| matches!(in_hand.phase, AttemptPhase::Unverified { .. }));
        let is_out = self.disconnected || self.outage || !self.connection.is_answering();
        if self.activity != Activity::Paused || is_unverified || is_out {
            return None;
        }
        let message = status.filter(|status| status.state == Activity::Paused).and_then(|one| one.message.as_deref());
        let message = message.map(str::trim).filter(|text| !text.is_empty());
        let reason = match self.requested_pause() {
            Some(by) => PauseReason::Requested(by),
            None => PauseReason::AtPrinter(message.map(str::to_owned)),
        };
        Some(OpenPause { since: self.paused_since, reason })
    }

    /// Returns the origin of the request that led to the present pause; `None` if it was not requested through the
    /// server.
    fn requested_pause(&self) -> Option<PauseOrigin> {
        let (request, since) = (self.pause_request?, self.paused_since?);
        let gap = since.0.abs_diff(request.at.0);
        (gap <= MAX_PAUSE_DELAY_MS.unsigned_abs()).then_some(request.by)
    }

    /// Records since when the printer is observed paused. Silence changes nothing.
    pub(super) fn pause_seen(&mut self, status: &Status, now: Timestamp) {
        match status.state {
            Activity::Paused => {
                self.paused_since.get_or_insert(now);
            }
            Activity::Offline => {}
            Activity::Idle | Activity::Printing | Activity::Error => {
                // Until the pause is observed, its request stands.
                if self.paused_since.take().is_some() {
                    self.pause_request = None;
                }
            }
        }
    }

    /// Records who requested a pause that the printer has accepted.
    pub(super) fn pause_requested(&mut self, record: &ActRecord, by: &Principal, now: Timestamp) {
        if record.act != DirectAction::Pause || record.error.is_some() {
            return;
        }
        let by = match by {
            Principal::System => PauseOrigin::FailureDetection,
            _ => PauseOrigin::Person,
        };
        self.pause_request = Some(PauseRequest { by, at: now });
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::super::tests::{OURS, PrinterFixture};
    use super::*;
    use crate::printer::PrinterNews;
    use crate::printer_status::Connection;

    fn pause(error: Option<(String, String)>) -> PrinterNews {
        PrinterNews::Acted(Box::new(ActRecord { act: DirectAction::Pause, detail: None, of: None, error }))
    }

    /// Lets the printer report that it is paused, with its own message. Returns the status.
    fn paused(shop: &mut PrinterFixture, message: Option<&str>) -> Status {
        let status = shop.status(Activity::Paused, Some(OURS), None);
        let status = Status { message: message.map(str::to_owned), ..status };
        shop.tell(status.clone());
        status
    }

    #[test]
    fn a_print_that_the_printer_paused_says_since_when_and_why() {
        let mut shop = PrinterFixture::printing();
        assert_eq!(shop.p().open_pause(None), None);
        let status = paused(&mut shop, Some(" the filament ran out "));
        let since = Some(shop.now());
        let reason = PauseReason::AtPrinter(Some("the filament ran out".to_owned()));
        assert_eq!(shop.p().open_pause(Some(&status)), Some(OpenPause { since, reason }));
        let unexplained = paused(&mut shop, Some("  "));
        let open = shop.p().open_pause(Some(&unexplained)).unwrap();
        assert_eq!((open.since, open.reason), (since, PauseReason::AtPrinter(None)), "the pause began before");
        shop.sees(Activity::Printing, Some(OURS), None);
        assert_eq!((shop.p().open_pause(None), shop.p().paused_since), (None, None), "it goes on");
    }

    #[test]
    fn a_pause_names_who_requested_it_whether_it_is_recorded_before_or_after_it_is_seen() {
        let by_system = PauseReason::Requested(PauseOrigin::FailureDetection);
        let reason = |shop: &PrinterFixture| shop.p().open_pause(None).map(|open| open.reason);
        let mut shop = PrinterFixture::printing();
        shop.ask(pause(None)).unwrap();
        shop.sees(Activity::Printing, Some(OURS), None);
        paused(&mut shop, None);
        assert_eq!(reason(&shop), Some(by_system.clone()), "printers take their time");
        shop.sees(Activity::Printing, Some(OURS), None);
        paused(&mut shop, None);
        assert_eq!(reason(&shop), Some(PauseReason::AtPrinter(None)), "another pause has another reason");
        shop.ask(pause(None)).unwrap();
        assert_eq!(reason(&shop), Some(by_system), "seen first");

        let mut shop = PrinterFixture::printing();
        shop.ask(pause(Some(("printer_refused".to_owned(), "not now".to_owned())))).unwrap();
        paused(&mut shop, None);
        assert_eq!(reason(&shop), Some(PauseReason::AtPrinter(None)), "the request was refused");
        for _ in 0..=MAX_PAUSE_DELAY_MS / 1000 {
            paused(&mut shop, None);
        }
        shop.ask(pause(None)).unwrap();
        assert_eq!(reason(&shop), Some(PauseReason::AtPrinter(None)), "it was paused long before");
    }

    #[test]
    fn people_and_the_failure_detection_are_told_apart() {
        let mut shop = PrinterFixture::printing();
        let record = ActRecord { act: DirectAction::Pause, detail: None, of: None, error: None };
        let mut origin = |by: &Principal| {
            let printer = shop.printer.as_mut().unwrap();
            printer.pause_requested(&record, by, Timestamp(5));
            printer.pause_request.map(|request| request.by)
        };
        assert_eq!(origin(&Principal::Machine), Some(PauseOrigin::Person));
        assert_eq!(origin(&Principal::System), Some(PauseOrigin::FailureDetection));
    }

    #[test]
    fn nobody_is_asked_to_end_a_pause_at_a_printer_that_does_not_answer_or_is_disconnected() {
        let mut shop = PrinterFixture::printing();
        paused(&mut shop, None);
        let open = |change: fn(&mut Printer)| {
            let mut printer = shop.p().clone();
            change(&mut printer);
            printer.open_pause(None).is_some()
        };
        assert!(open(|_| {}));
        assert!(!open(|printer| printer.outage = true));
        assert!(!open(|printer| printer.disconnected = true));
        assert!(!open(|printer| printer.connection = Connection::Unreachable));
        let unverified = AttemptPhase::Unverified { reason: "no answer".to_owned() };
        let mut unclear = shop.p().clone();
        unclear.in_hand.as_mut().unwrap().phase = unverified;
        assert_eq!(unclear.open_pause(None), None, "a person is asked about the print already");
    }
}
