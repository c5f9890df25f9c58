//! Rules for the attempt in hand, which is accepted, uploaded, started at most once, ended and acknowledged. `verdict`
//! decides the outcome of an unconfirmed start.

use super::{
    AttemptAnswer, AttemptPhase, CurrentAttempt, ManualFailure, ManualPhase, Printer, StartFailure, TakeAnswer,
    UploadAnswer,
};
use crate::aggregate::{Confirmation, Decision, DecisionContext};
use crate::id::Id;
use crate::launch::ChosenSlot;
use crate::order::Resolution;
use crate::printer_status::{Activity, Connection, PrintEnd};

/// End reason for an attempt that the order abandoned.
const GIVEN_UP_REASON: &str = "abandoned by an operator";
/// End reason for an attempt ended by an emergency stop.
const STOPPED_REASON: &str = "emergency stop";
/// Maximum stored length, in characters, of the token that identifies a run of the printer's server.
const MAX_SERVER_MARK_CHARS: usize = 64;

impl Printer {
    /// Offers an attempt to the printer. A rejected attempt is never accepted later, so that the order can rely on the
    /// rejection and assign the job to a different printer, no matter how late it learns of the rejection.
    pub(super) fn take(
        mut self,
        new: CurrentAttempt,
        slots: Result<Vec<ChosenSlot>, String>,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self, TakeAnswer> {
        if self.holds(new.attempt) {
            return Decision::unchanged(TakeAnswer::Accepted);
        }
        if self.past.contains(&new.attempt) {
            return Decision::unchanged(TakeAnswer::NotTaken("the attempt has ended".to_owned()));
        }
        // The order claimed the printer before the stop: the job fails with the stop and is not given to another
        // printer unnoticed.
        if self.needs_home && self.stopped_at.is_some_and(|at| new.taken_at <= at && at <= cx.now) {
            self.forget(new.attempt);
            return Decision::to(self, TakeAnswer::Stopped(STOPPED_REASON.to_owned()));
        }
        let used_slots = match self.free().map_err(|why| format!("the printer is {why}")).and(slots) {
            Ok(slots) => slots,
            Err(why) => {
                self.forget(new.attempt);
                return Decision::to(self, TakeAnswer::NotTaken(why));
            }
        };
        self.in_hand = Some(CurrentAttempt { taken_at: cx.now, used_slots, pardons: Some(self.pardons), ..new });
        self.updated_at = cx.now;
        Decision::to(self, TakeAnswer::Accepted)
    }

    /// Applies a change to the attempt in hand if it has the given ID; messages about any other attempt change nothing.
    /// If the change returns `None`, the printer is freed.
    pub(super) fn of(
        mut self,
        attempt: Id,
        cx: &DecisionContext<'_>,
        change: impl FnOnce(&mut Self, CurrentAttempt) -> Option<CurrentAttempt>,
    ) -> Decision<Self> {
        match self.in_hand.take() {
            Some(in_hand) if in_hand.attempt == attempt => {
                let before = in_hand.clone();
                self.in_hand = change(&mut self, in_hand);
                self.give_up();
                if self.in_hand.as_ref() == Some(&before) {
                    return Decision::unchanged(Confirmation::Done);
                }
                if self.in_hand.is_none() {
                    self.forget(attempt);
                    self.idle_since = cx.now;
                }
                self.updated_at = cx.now;
                Decision::to(self, Confirmation::Done)
            }
            _ => Decision::unchanged(Confirmation::Done),
        }
    }

    /// Processes a finished upload: records that the start is being sent, and returns [`UploadAnswer::Go`] only to this
    /// caller. If the printer can no longer start, the attempt ends instead.
    pub(super) fn uploaded(
        self,
        attempt: Id,
        remote_name: &str,
        server_mark: Option<&str>,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self, UploadAnswer> {
        let could = self.could_start().map_err(|why| format!("the printer is {why}"));
        let chosen = self.in_hand.iter().flat_map(|in_hand| in_hand.used_slots.clone()).collect::<Vec<_>>();
        let labels = self.in_hand.as_ref().map(|in_hand| in_hand.slot_labels).unwrap_or_default();
        let could = could.and_then(|()| self.still_holds(&chosen, labels));
        let mut answer = UploadAnswer::Done;
        let decision = self.of(attempt, cx, |_, mut in_hand| {
            if matches!(in_hand.phase, AttemptPhase::Taken) {
                in_hand.remote_name = Some(remote_name.to_owned());
                // A token that is cut would not be recognised, so one that is too long is not kept.
                let mark = server_mark.filter(|mark| mark.chars().count() <= MAX_SERVER_MARK_CHARS);
                in_hand.server_mark = mark.map(str::to_owned);
                in_hand.enter(match could {
                    Ok(()) => AttemptPhase::StartSent { at: cx.now },
                    // Something came in between (a person, another print, another spool): no fault of the job or of the
                    // printer.
                    Err(why) => not_started(false, false, format!("not started: {why}")),
                });
                if matches!(in_hand.phase, AttemptPhase::StartSent { .. }) {
                    answer = UploadAnswer::Go;
                }
            }
            Some(in_hand)
        });
        decision.map_answer(|_| answer)
    }

    /// Ends an attempt whose upload failed permanently. Nothing was started.
    pub(super) fn upload_failed(
        self,
        attempt: Id,
        why: StartFailure,
        reason: &str,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self> {
        self.of(attempt, cx, |printer, mut in_hand| {
            if matches!(in_hand.phase, AttemptPhase::Taken) {
                in_hand.enter(not_started(false, why.counts(), reason.to_owned()));
                printer.start_failed(in_hand.job, why, reason, cx.now);
            }
            Some(in_hand)
        })
    }

    /// Ends an attempt whose start was definitely rejected by the printer.
    pub(super) fn start_refused(self, attempt: Id, reason: &str, cx: &DecisionContext<'_>) -> Decision<Self> {
        self.of(attempt, cx, |printer, mut in_hand| {
            if matches!(in_hand.phase, AttemptPhase::StartSent { .. } | AttemptPhase::Unverified { .. }) {
                in_hand.enter(not_started(true, true, reason.to_owned()));
                printer.start_failed(in_hand.job, StartFailure::Refused, reason, cx.now);
            }
            Some(in_hand)
        })
    }

    /// Records the latest observed progress, which never decreases.
    pub(super) fn progressed(self, attempt: Id, progress: f64, cx: &DecisionContext<'_>) -> Decision<Self> {
        self.of(attempt, cx, |_, mut in_hand| {
            if !in_hand.over() && in_hand.began().is_some() && progress > in_hand.progress {
                in_hand.progress = progress.min(1.0);
            }
            Some(in_hand)
        })
    }

    /// Cancels the attempt at the order's request. Before the start, the attempt ends immediately; after the start, the
    /// print is cancelled once the printer reports it.
    pub(super) fn cancel_attempt(self, attempt: Id, cx: &DecisionContext<'_>) -> Decision<Self, AttemptAnswer> {
        if !self.holds(attempt) {
            return self.never(attempt);
        }
        let decision = self.of(attempt, cx, |_, mut in_hand| {
            if !in_hand.over() {
                in_hand.cancel = true;
            }
            if matches!(in_hand.phase, AttemptPhase::Taken) {
                in_hand.enter(not_started(false, false, "cancelled before it started".to_owned()));
            }
            Some(in_hand)
        });
        decision.map_answer(|_| AttemptAnswer::Done)
    }

    /// Applies an operator's resolution, which the order has already applied. The attempt ends, unless the printer
    /// still reports its print or may do so later: such a print is cancelled, because the order no longer waits for it.
    pub(super) fn resolved(
        self,
        attempt: Id,
        outcome: Resolution,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self, AttemptAnswer> {
        if !self.holds(attempt) {
            return self.never(attempt);
        }
        let shows_it = self.shows_own();
        let decision = self.of(attempt, cx, |printer, mut in_hand| {
            match in_hand.phase {
                AttemptPhase::Taken => in_hand.enter(not_started(false, false, GIVEN_UP_REASON.to_owned())),
                AttemptPhase::Ended { .. } | AttemptPhase::NotStarted { .. } | AttemptPhase::Stopped { .. } => {}
                AttemptPhase::StartSent { .. } => (in_hand.cancel, in_hand.unwanted) = (true, true),
                _ if shows_it => (in_hand.cancel, in_hand.unwanted) = (true, true),
                AttemptPhase::Unverified { .. } | AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. } => {
                    match outcome {
                        Resolution::NotStarted if in_hand.began().is_none() => {
                            let reason = "an operator stated that it did not start";
                            in_hand.enter(not_started(true, true, reason.to_owned()));
                            printer.start_failed(in_hand.job, StartFailure::Refused, reason, cx.now);
                        }
                        Resolution::Finished => in_hand.enter(untimed(ended(PrintEnd::Finished, 1.0, None))),
                        Resolution::NotStarted | Resolution::Failed => {
                            let reason = Some("an operator stated that the print failed".to_owned());
                            in_hand.enter(untimed(ended(PrintEnd::Failed, in_hand.progress, reason)));
                        }
                    }
                    if let AttemptPhase::Ended { end, .. } = in_hand.phase {
                        printer.left_on_the_bed(end);
                    }
                }
            }
            Some(in_hand)
        });
        decision.map_answer(|_| AttemptAnswer::Done)
    }

    /// Records that the order has processed a report on the attempt; the final report frees the printer.
    /// `wanted: false` means that the order has ended the attempt, which then ends on the printer too, or is cancelled
    /// if its print has started.
    pub(super) fn acknowledge(
        self,
        attempt: Id,
        step: u32,
        is_wanted: bool,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self> {
        self.of(attempt, cx, |_, mut in_hand| {
            in_hand.acknowledged_step = in_hand.acknowledged_step.max(step.min(in_hand.step));
            if in_hand.over() {
                return (in_hand.acknowledged_step < in_hand.step).then_some(in_hand);
            }
            if !is_wanted {
                if matches!(in_hand.phase, AttemptPhase::Taken) {
                    return None;
                }
                (in_hand.cancel, in_hand.unwanted) = (true, true);
            }
            Some(in_hand)
        })
    }

    /// Applies an emergency stop: the running print has failed, the printer must be homed, and its bed must be
    /// inspected.
    pub(super) fn stopped(&mut self, cx: &DecisionContext<'_>) {
        let mut on = matches!(self.activity, Activity::Printing | Activity::Paused);
        if let Some(in_hand) = self.in_hand.as_mut().filter(|in_hand| !in_hand.over()) {
            let reason = STOPPED_REASON.to_owned();
            match in_hand.phase {
                _ if in_hand.began().is_some() => {
                    on = true;
                    in_hand.enter(ended(PrintEnd::Failed, in_hand.progress, Some(reason)));
                }
                // The print may have begun; the stop has ended it either way, but the bed must be looked at.
                AttemptPhase::StartSent { .. } | AttemptPhase::Unverified { .. } => {
                    on = true;
                    in_hand.enter(AttemptPhase::Stopped { reason });
                }
                _ => in_hand.enter(AttemptPhase::Stopped { reason }),
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
        // The stop also ended any print that is out of sight, so it will not reappear.
        if on || self.unseen_print.is_some() {
            self.occupy_bed();
        }
        self.stopped_at = Some(cx.now);
        self.updated_at = cx.now;
    }

    /// Ends an attempt that the order has abandoned and whose end cannot be observed. The bed must be inspected before
    /// the next print.
    pub(super) fn give_up(&mut self) {
        let unreachable = self.connection != Connection::Connected;
        let Some(in_hand) = &mut self.in_hand else {
            return;
        };
        let hopeless = match in_hand.phase {
            AttemptPhase::Unverified { .. } => true,
            AttemptPhase::StartSent { .. } | AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. } => unreachable,
            AttemptPhase::Taken
            | AttemptPhase::Ended { .. }
            | AttemptPhase::NotStarted { .. }
            | AttemptPhase::Stopped { .. } => false,
        };
        if in_hand.unwanted && hopeless {
            let reason = Some(GIVEN_UP_REASON.to_owned());
            in_hand.enter(untimed(ended(PrintEnd::Failed, in_hand.progress, reason)));
            self.left_on_the_bed(PrintEnd::Failed);
        }
    }

    /// Marks the bed as occupied after a print whose end was not observed, following an operator's decision. The bed
    /// must be inspected before the next print, even on a printer that clears its bed automatically.
    fn left_on_the_bed(&mut self, end: PrintEnd) {
        self.occupy_bed();
        self.print_failed |= end == PrintEnd::Failed;
    }

    fn holds(&self, attempt: Id) -> bool {
        self.in_hand.as_ref().is_some_and(|in_hand| in_hand.attempt == attempt)
    }

    /// Rejects the attempt permanently, even if the message that offers it is still in flight.
    fn never(mut self, attempt: Id) -> Decision<Self, AttemptAnswer> {
        if self.past.contains(&attempt) {
            return Decision::unchanged(AttemptAnswer::NotInHand);
        }
        self.forget(attempt);
        Decision::to(self, AttemptAnswer::NotInHand)
    }
}

pub(super) fn not_started(start_sent: bool, counts: bool, reason: String) -> AttemptPhase {
    AttemptPhase::NotStarted { start_sent, counts, reason }
}

/// Returns the same end marked as unobserved, so that its time is treated as unknown.
fn untimed(phase: AttemptPhase) -> AttemptPhase {
    match phase {
        AttemptPhase::Ended { end, filament_mm, progress, reason, .. } => {
            AttemptPhase::Ended { end, filament_mm, progress, reason, unseen: true }
        }
        other => other,
    }
}

pub(super) fn ended(end: PrintEnd, progress: f64, reason: Option<String>) -> AttemptPhase {
    AttemptPhase::Ended { end, filament_mm: None, progress, reason, unseen: false }
}
