//! Verdict on a start that was not confirmed in time. It follows these rules: if the printer's status or history
//! contains the file, the print started, and the status or history determines the phase. If the printer is reachable,
//! neither its status nor its history contains the file, and the file is no longer on the printer, the print cannot
//! start later. It cannot have run and ended unobserved, either, if the history covers the time since the start, or if
//! the printer was never unobserved for half of the print time; in that case, the job may go to a different printer.
//! Anything else proves nothing: the attempt is [`AttemptPhase::Unverified`] and remains unverified until the printer
//! provides evidence or an operator decides. The start itself is never sent a second time.
//!
//! A print that was observed and has vanished without a report of its end ended as stated in the printer's history. If
//! the history breaks off, an operator decides. If no history contains the print, the print has failed if the printer
//! indicates so, or if it was observed so closely that it cannot have finished ([`LostPrint`]). In any other case, an
//! operator decides, because the part may be lying on the bed. The same applies to firmware that stays disconnected
//! from its server.

use super::attempt::{ended, not_started};
use super::lost::LostPrint;
use super::observation::AGAIN_REASON;
use super::{AttemptPhase, CurrentAttempt, Evidence, Printer, StartFailure};
use crate::aggregate::{Decision, DecisionContext};
use crate::id::Id;
use crate::printer_status::{PastPrint, PrintEnd, ServerRun};

/// Print time, in seconds, that is assumed if the file states none, when deciding whether a print can have run
/// unobserved. No print takes less time.
pub(super) const MIN_PRINT_SECONDS: i64 = 10;
/// Reason why the end of a print is unknown after the printer's server lost the connection to its firmware during the
/// print.
const AWAY_REASON: &str = "the printer's server lost the connection to its firmware during the print";
/// Reason why the end of a print is unknown after the printer's server was restarted.
const CUT_OFF_REASON: &str =
    "the printer's server restarted during the print, so its history does not show how the print ended";
/// Reason for doubting a start on a printer that keeps no history and reports the file as its last print.
const NAMES_LAST_REASON: &str = "the printer names the file as its last print, but the print was not observed";

impl Printer {
    /// Applies the evidence about an unconfirmed start or a vanished print, according to the rules in the module
    /// documentation.
    pub(super) fn judged(self, attempt: Id, evidence: &Evidence, cx: &DecisionContext<'_>) -> Decision<Self> {
        let auto_clear = self.fields.auto_clear;
        self.of(attempt, cx, |printer, mut in_hand| {
            let open = matches!(
                in_hand.phase,
                AttemptPhase::StartSent { .. }
                    | AttemptPhase::Unverified { .. }
                    | AttemptPhase::Printing { .. }
                    | AttemptPhase::Paused { .. }
            );
            if !open {
                return Some(in_hand);
            }
            let began = in_hand.began();
            if began.is_none() && matches!(evidence, Evidence::Remembers(_)) {
                printer.start_confirmed(in_hand.job, cx.now);
            }
            match evidence {
                Evidence::Shows(status) => {
                    printer.in_hand = Some(in_hand);
                    if let Some(after) = printer.after(status, cx.now) {
                        *printer = after;
                    }
                    in_hand = printer.in_hand.take()?;
                    unverified(&mut in_hand, "the printer shows the file, but not whether it was printed");
                }
                Evidence::Remembers(past) => match past.ended {
                    Some(end) => {
                        in_hand.book_on(past.booked_on.iter().copied());
                        let lost = printer.firmware_stays_away().then_some(AWAY_REASON);
                        in_hand.enter(remembered(&in_hand, past, end, lost));
                        printer.print_over(end, auto_clear);
                    }
                    // It began, which the order is told first; the next verdict is that nobody knows how it ended.
                    None if began.is_none() => {
                        let at = past.started_at.filter(|at| *at <= cx.now).unwrap_or(cx.now);
                        in_hand.began_at = Some(at);
                        in_hand.gone = past.cut_off.then(|| CUT_OFF_REASON.to_owned());
                        in_hand.enter(AttemptPhase::Printing { at });
                    }
                    None if past.cut_off => doubt(&mut in_hand, CUT_OFF_REASON),
                    // The history is a moment behind the state.
                    None => {}
                },
                Evidence::Forgets { server, stopped, unseen_ms } => {
                    let lost = LostPrint { server: *server, stopped: *stopped, unseen_ms: *unseen_ms };
                    match in_hand.gone.clone().map(|looked_like| lost.judge(&in_hand, looked_like)) {
                        Some(Ok(reason)) => {
                            in_hand.enter(ended(PrintEnd::Failed, in_hand.progress, Some(reason)));
                            printer.print_over(PrintEnd::Failed, auto_clear);
                        }
                        Some(Err(reason)) => doubt(&mut in_hand, &reason),
                        None => {}
                    }
                }
                Evidence::Away if printer.firmware_stays_away() && began.is_some() => doubt(&mut in_hand, AWAY_REASON),
                Evidence::Revoked { server, unwatched_ms } if began.is_none() => {
                    match may_have_run(&in_hand, *server, *unwatched_ms) {
                        Some(why) => doubt(&mut in_hand, &why),
                        None => {
                            let reason = "the start was not confirmed, and the file was removed";
                            in_hand.enter(not_started(true, true, reason.to_owned()));
                            printer.start_failed(in_hand.job, StartFailure::Refused, reason, cx.now);
                        }
                    }
                }
                Evidence::NamesLast if began.is_none() => doubt(&mut in_hand, NAMES_LAST_REASON),
                Evidence::Unclear(reason) => unverified(&mut in_hand, reason),
                Evidence::NamesLast | Evidence::Revoked { .. } | Evidence::Away => {}
            }
            Some(in_hand)
        })
    }
}

fn unverified(in_hand: &mut CurrentAttempt, reason: &str) {
    if matches!(in_hand.phase, AttemptPhase::StartSent { .. }) {
        in_hand.enter(AttemptPhase::Unverified { reason: reason.to_owned() });
    }
}

/// Marks the attempt as unverified for a reason that will not resolve itself, regardless of its previous phase.
fn doubt(in_hand: &mut CurrentAttempt, reason: &str) {
    let is_known = matches!(&in_hand.phase, AttemptPhase::Unverified { reason: previous } if previous == reason);
    if !is_known {
        in_hand.enter(AttemptPhase::Unverified { reason: reason.to_owned() });
    }
}

/// Returns the human-readable reason why a print that left no trace may have run and ended unobserved; `None` if it
/// cannot have. Only half of the stated print time is assumed, because a machine may print faster than stated in the
/// file.
fn may_have_run(in_hand: &CurrentAttempt, server: ServerRun, unwatched_ms: Option<i64>) -> Option<String> {
    let print_ms = in_hand.estimated_seconds.unwrap_or(MIN_PRINT_SECONDS).saturating_mul(1000);
    match (server, unwatched_ms) {
        (ServerRun::Unbroken, _) => None,
        (ServerRun::Restarted, _) => {
            Some("the printer's server restarted after the start was sent and does not know the print".to_owned())
        }
        (ServerRun::Unknown, Some(unwatched)) if unwatched < print_ms / 2 => None,
        (ServerRun::Unknown, Some(unwatched)) => Some(format!(
            "the printer could not be checked for {} s after the start was sent, long enough for the whole print",
            unwatched / 1000
        )),
        (ServerRun::Unknown, None) => Some(
            "the printer was not checked after the start was sent, possibly long enough for the whole print".to_owned(),
        ),
    }
}

/// Returns the end of a print that the printer's history contains. `lost` is the reason why the print was not observed,
/// which is used if no more specific reason is known.
fn remembered(in_hand: &CurrentAttempt, past: &PastPrint, end: PrintEnd, lost: Option<&str>) -> AttemptPhase {
    let progress = if end == PrintEnd::Finished { 1.0 } else { in_hand.progress };
    // That its file was printed again says nothing of its end.
    let gone = in_hand.gone.as_deref().filter(|gone| *gone != AGAIN_REASON);
    let reason = gone.or(lost).filter(|_| end == PrintEnd::Failed).map(str::to_owned);
    let unseen = in_hand.out_of_sight;
    AttemptPhase::Ended { end, filament_mm: past.filament_mm, progress, reason, unseen }
}
