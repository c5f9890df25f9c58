//! The rules of the attempt in hand: accepted, uploaded, started at most once, judged, ended and acknowledged.
//!
//! The verdict on a start that was not confirmed in time goes by this rule. The printer shows or remembers the file:
//! the print began, and its state or history says how it stands. The printer is reachable, neither shows nor
//! remembers the file, and the file is gone from it: the print did not start and cannot start later, so that the job
//! may go to another printer. Anything else proves nothing: the attempt is [`Phase::Unverified`] and stays so until
//! the printer gives evidence or an operator decides. The start itself is never sent a second time.

use super::{Evidence, InHand, ManualFailure, ManualPhase, Phase, Printer, PrinterAnswer, StartFailure};
use crate::domain::aggregate::{Decision, DecisionContext};
use crate::domain::id::Id;
use crate::domain::order::Resolution;
use crate::domain::printer_status::{Activity, Connection, PastPrint, PrintEnd};

/// Reason of an attempt that the order has given up.
const GIVEN_UP_REASON: &str = "given up by an operator";
/// Reason of an attempt that an emergency stop ended.
const STOPPED_REASON: &str = "emergency stop";

impl Printer {
    /// Offers an attempt to the printer. One that is not accepted is never accepted later, so that the order may rely
    /// on the refusal and give the job to another printer, even if it learns of it much later.
    pub(super) fn take(mut self, new: InHand, fits: Result<(), String>, cx: &DecisionContext<'_>) -> Decision<Self> {
        if self.holds(new.attempt) {
            return Decision::unchanged(PrinterAnswer::Done);
        }
        if self.past.contains(&new.attempt) {
            return Decision::unchanged(PrinterAnswer::NotTaken("the attempt is over".to_owned()));
        }
        // The order claimed the printer before the stop: the job fails with the stop and is not given to another
        // printer unnoticed.
        if self.needs_home && self.stopped_at.is_some_and(|at| new.taken_at <= at) {
            self.forget(new.attempt);
            return Decision::to(self, PrinterAnswer::Stopped(STOPPED_REASON.to_owned()));
        }
        if let Err(why) = self.free().map_err(|why| format!("the printer is {why}")).and(fits) {
            self.forget(new.attempt);
            return Decision::to(self, PrinterAnswer::NotTaken(why));
        }
        self.in_hand = Some(InHand { taken_at: cx.now, ..new });
        self.updated_at = cx.now;
        Decision::to(self, PrinterAnswer::Done)
    }

    /// Changes the attempt in hand if it is this one; a message about any other attempt changes nothing. A change
    /// that returns `None` frees the printer.
    fn of(
        mut self,
        attempt: Id,
        cx: &DecisionContext<'_>,
        change: impl FnOnce(&mut Self, InHand) -> Option<InHand>,
    ) -> Decision<Self> {
        match self.in_hand.take() {
            Some(in_hand) if in_hand.attempt == attempt => {
                let before = in_hand.clone();
                self.in_hand = change(&mut self, in_hand);
                self.give_up();
                if self.in_hand.as_ref() == Some(&before) {
                    return Decision::unchanged(PrinterAnswer::Done);
                }
                if self.in_hand.is_none() {
                    self.forget(attempt);
                    self.idle_since = cx.now;
                }
                self.updated_at = cx.now;
                Decision::to(self, PrinterAnswer::Done)
            }
            _ => Decision::unchanged(PrinterAnswer::Done),
        }
    }

    /// The file is uploaded. Records that the start is sent and answers [`PrinterAnswer::Go`] to this caller alone; a
    /// printer that cannot start any more ends the attempt instead.
    pub(super) fn uploaded(self, attempt: Id, remote_name: &str, cx: &DecisionContext<'_>) -> Decision<Self> {
        let could = self.could_start();
        let mut answer = PrinterAnswer::Done;
        let mut decision = self.of(attempt, cx, |_, mut in_hand| {
            if matches!(in_hand.phase, Phase::Taken) {
                in_hand.remote_name = Some(remote_name.to_owned());
                in_hand.enter(match could {
                    Ok(()) => Phase::StartSent { at: cx.now },
                    // Something came in between (a person, another print): no fault of the job or of the printer.
                    Err(why) => not_started(false, false, format!("not started: the printer is {why}")),
                });
                if matches!(in_hand.phase, Phase::StartSent { .. }) {
                    answer = PrinterAnswer::Go;
                }
            }
            Some(in_hand)
        });
        decision.answer = answer;
        decision
    }

    /// The upload failed for good, so nothing was started.
    pub(super) fn upload_failed(
        self,
        attempt: Id,
        why: StartFailure,
        reason: &str,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self> {
        self.of(attempt, cx, |printer, mut in_hand| {
            if matches!(in_hand.phase, Phase::Taken) {
                in_hand.enter(not_started(false, why.counts(), reason.to_owned()));
                printer.start_failed(in_hand.job, why, reason, cx.now);
            }
            Some(in_hand)
        })
    }

    /// The printer certainly refused the start.
    pub(super) fn start_refused(self, attempt: Id, reason: &str, cx: &DecisionContext<'_>) -> Decision<Self> {
        self.of(attempt, cx, |printer, mut in_hand| {
            if matches!(in_hand.phase, Phase::StartSent { .. } | Phase::Unverified { .. }) {
                in_hand.enter(not_started(true, true, reason.to_owned()));
                printer.start_failed(in_hand.job, StartFailure::Refused, reason, cx.now);
            }
            Some(in_hand)
        })
    }

    /// Applies the evidence on a start that was not confirmed; the rule is in the module's documentation. What the
    /// printer remembers also ends a print whose end was missed while it was unreachable.
    pub(super) fn judged(self, attempt: Id, evidence: &Evidence, cx: &DecisionContext<'_>) -> Decision<Self> {
        let auto_clear = self.fields.auto_clear;
        self.of(attempt, cx, |printer, mut in_hand| {
            let waits = matches!(in_hand.phase, Phase::StartSent { .. } | Phase::Unverified { .. });
            if !waits && !matches!(in_hand.phase, Phase::Printing { .. } | Phase::Paused { .. }) {
                return Some(in_hand);
            }
            if waits && matches!(evidence, Evidence::Remembers(_)) {
                printer.start_confirmed(in_hand.job, cx.now);
            }
            match evidence {
                Evidence::Shows(status) => {
                    printer.in_hand = Some(in_hand);
                    if let Some(after) = printer.after(status, cx.now) {
                        *printer = after;
                    }
                    in_hand = printer.in_hand.take()?;
                    unverified(&mut in_hand, "the printer shows the file, but not whether it printed it");
                }
                Evidence::Remembers(past) => match past.ended {
                    Some(end) => {
                        in_hand.enter(remembered(&in_hand, past, end));
                        printer.print_over(end, auto_clear);
                    }
                    None if waits => in_hand.enter(Phase::Printing { at: past.started_at.unwrap_or(cx.now) }),
                    None => {}
                },
                Evidence::Revoked if waits => {
                    let reason = "the start was not confirmed and its file was removed";
                    in_hand.enter(not_started(true, true, reason.to_owned()));
                    printer.start_failed(in_hand.job, StartFailure::Refused, reason, cx.now);
                }
                Evidence::Unclear(reason) => unverified(&mut in_hand, reason),
                Evidence::Revoked => {}
            }
            Some(in_hand)
        })
    }

    /// The order asks to cancel. Before the start the attempt ends at once; afterwards the print is cancelled once
    /// the printer shows it.
    pub(super) fn cancel_attempt(self, attempt: Id, cx: &DecisionContext<'_>) -> Decision<Self> {
        if !self.holds(attempt) {
            return self.never(attempt);
        }
        self.of(attempt, cx, |_, mut in_hand| {
            if !in_hand.over() {
                in_hand.cancel = true;
            }
            if matches!(in_hand.phase, Phase::Taken) {
                in_hand.enter(not_started(false, false, "cancelled before it began".to_owned()));
            }
            Some(in_hand)
        })
    }

    /// An operator's decision, on which the order has acted already. It ends an attempt whose start is unverified. A
    /// print that is seen all the same is cancelled, because the order no longer waits for it.
    pub(super) fn resolved(self, attempt: Id, outcome: Resolution, cx: &DecisionContext<'_>) -> Decision<Self> {
        if !self.holds(attempt) {
            return self.never(attempt);
        }
        let auto_clear = self.fields.auto_clear;
        self.of(attempt, cx, |printer, mut in_hand| {
            match in_hand.phase {
                Phase::Taken => in_hand.enter(not_started(false, false, GIVEN_UP_REASON.to_owned())),
                Phase::Unverified { .. } => match outcome {
                    Resolution::NotStarted => {
                        let reason = "an operator says that it did not start";
                        in_hand.enter(not_started(true, true, reason.to_owned()));
                        printer.start_failed(in_hand.job, StartFailure::Refused, reason, cx.now);
                    }
                    Resolution::Finished => in_hand.enter(ended(PrintEnd::Finished, 1.0, None)),
                    Resolution::Failed => {
                        let reason = Some("an operator says that the print failed".to_owned());
                        in_hand.enter(ended(PrintEnd::Failed, in_hand.progress, reason));
                    }
                },
                Phase::StartSent { .. } | Phase::Printing { .. } | Phase::Paused { .. } => {
                    (in_hand.cancel, in_hand.unwanted) = (true, true);
                }
                Phase::Ended { .. } | Phase::NotStarted { .. } | Phase::Stopped { .. } => {}
            }
            if let Phase::Ended { end, .. } = in_hand.phase {
                printer.print_over(end, auto_clear);
            }
            Some(in_hand)
        })
    }

    /// The order has processed the report of a step. Once it has the final one, the printer is free. `wanted: false`
    /// means that the order has ended the attempt: it ends here too, or is cancelled if its print is on.
    pub(super) fn heard(self, attempt: Id, step: u32, wanted: bool, cx: &DecisionContext<'_>) -> Decision<Self> {
        self.of(attempt, cx, |_, mut in_hand| {
            in_hand.heard = in_hand.heard.max(step.min(in_hand.step));
            if in_hand.over() {
                return (in_hand.heard < in_hand.step).then_some(in_hand);
            }
            if !wanted {
                if matches!(in_hand.phase, Phase::Taken) {
                    return None;
                }
                (in_hand.cancel, in_hand.unwanted) = (true, true);
            }
            Some(in_hand)
        })
    }

    /// Emergency stop: whatever was printing has failed, and the printer must be homed and its bed be looked at.
    pub(super) fn stopped(&mut self, cx: &DecisionContext<'_>) {
        let mut on = matches!(self.activity, Activity::Printing | Activity::Paused);
        if let Some(in_hand) = self.in_hand.as_mut().filter(|in_hand| !in_hand.over()) {
            let reason = STOPPED_REASON.to_owned();
            match in_hand.phase {
                Phase::Printing { .. } | Phase::Paused { .. } => {
                    on = true;
                    in_hand.enter(ended(PrintEnd::Failed, in_hand.progress, Some(reason)));
                }
                // The print may have begun; the stop has ended it either way, but the bed must be looked at.
                Phase::StartSent { .. } | Phase::Unverified { .. } => {
                    on = true;
                    in_hand.enter(Phase::Stopped { reason });
                }
                _ => in_hand.enter(Phase::Stopped { reason }),
            }
            self.print_failed |= on;
        }
        if let Some(manual) = &self.manual {
            on |= manual.phase != ManualPhase::Taken;
            self.manual_ends(Some(ManualFailure::Busy(STOPPED_REASON.to_owned())));
        }
        // Nothing prints any more; the next status tells what state the printer is in.
        self.shows = None;
        if matches!(self.activity, Activity::Printing | Activity::Paused) {
            self.activity = Activity::Error;
        }
        (self.needs_home, self.kept_closed) = (true, true);
        self.bed_not_cleared |= on;
        self.stopped_at = Some(cx.now);
        self.updated_at = cx.now;
    }

    /// Ends an attempt that the order has given up and whose end cannot be observed. The bed must be looked at before
    /// the next print.
    pub(super) fn give_up(&mut self) {
        let away = self.connection != Connection::Connected;
        let auto_clear = self.fields.auto_clear;
        let Some(in_hand) = &mut self.in_hand else {
            return;
        };
        let hopeless = match in_hand.phase {
            Phase::Unverified { .. } => true,
            Phase::StartSent { .. } | Phase::Printing { .. } | Phase::Paused { .. } => away,
            Phase::Taken | Phase::Ended { .. } | Phase::NotStarted { .. } | Phase::Stopped { .. } => false,
        };
        if in_hand.unwanted && hopeless {
            in_hand.enter(ended(PrintEnd::Failed, in_hand.progress, Some(GIVEN_UP_REASON.to_owned())));
            self.print_over(PrintEnd::Failed, auto_clear);
        }
    }

    fn holds(&self, attempt: Id) -> bool {
        self.in_hand.as_ref().is_some_and(|in_hand| in_hand.attempt == attempt)
    }

    /// Refuses the attempt for ever, also if the message that offers it is still under way.
    fn never(mut self, attempt: Id) -> Decision<Self> {
        if self.past.contains(&attempt) {
            return Decision::unchanged(PrinterAnswer::NotInHand);
        }
        self.forget(attempt);
        Decision::to(self, PrinterAnswer::NotInHand)
    }
}

fn unverified(in_hand: &mut InHand, reason: &str) {
    if matches!(in_hand.phase, Phase::StartSent { .. }) {
        in_hand.enter(Phase::Unverified { reason: reason.to_owned() });
    }
}

fn not_started(start_sent: bool, counts: bool, reason: String) -> Phase {
    Phase::NotStarted { start_sent, counts, reason }
}

fn ended(end: PrintEnd, progress: f64, reason: Option<String>) -> Phase {
    Phase::Ended { end, filament_mm: None, progress, reason }
}

fn remembered(in_hand: &InHand, past: &PastPrint, end: PrintEnd) -> Phase {
    let progress = if end == PrintEnd::Finished { 1.0 } else { in_hand.progress };
    Phase::Ended { end, filament_mm: past.filament_mm, progress, reason: None }
}
