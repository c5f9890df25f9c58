//! The printer as an aggregate: the effects required by its state, and the rules common to several commands.

use super::readiness::report_of;
use super::{AttemptPhase, CurrentAttempt, FirmwareFault, Printer, PrinterAnswer, PrinterEffect, PrinterRow};
use crate::aggregate::{Aggregate, Confirmation, Decision, DecisionContext};
use crate::event::Event;
use crate::event::data::{EventData, PrinterActData, PrinterData, PrinterFaultData, PrinterOfflineData};
use crate::id::Id;
use crate::mail::Mail;
use crate::printer_status::{Activity, Connection, Status};
use crate::time::Timestamp;

impl Aggregate for Printer {
    const KIND: &'static str = "printer";
    type Row = PrinterRow;
    type Created = Mail;
    type Effect = PrinterEffect;

    fn is_archived(&self) -> bool {
        self.archived
    }

    fn revision(&self) -> Option<i64> {
        // A printer that was stored before changes were counted has 0.
        Some(self.revision.max(1))
    }

    fn effects(&self) -> Vec<PrinterEffect> {
        let mut effects = Vec::new();
        if self.archived {
            return effects;
        }
        if !self.disconnected {
            effects.push(PrinterEffect::Watch {
                kind: self.fields.kind.clone(),
                base_url: self.fields.base_url.clone(),
                encrypted_api_key: self.fields.encrypted_api_key.clone(),
                serial: self.fields.serial.clone(),
            });
        }
        if let Some(manual) = &self.manual {
            effects.push(PrinterEffect::Manual { id: manual.id });
        }
        if let Some(in_hand) = &self.in_hand {
            let attempt = in_hand.attempt;
            match in_hand.phase {
                AttemptPhase::Taken | AttemptPhase::StartSent { .. } | AttemptPhase::Unverified { .. } => {
                    effects.push(PrinterEffect::Run { attempt });
                }
                AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. }
                    if in_hand.gone.is_some() || self.firmware_stays_away() =>
                {
                    effects.push(PrinterEffect::Run { attempt });
                }
                AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. } if in_hand.cancel => {
                    effects.push(PrinterEffect::CancelPrint { attempt });
                }
                _ => {}
            }
            if in_hand.acknowledged_step < in_hand.step {
                effects.push(PrinterEffect::Report { attempt, step: in_hand.step });
            }
        }
        effects.extend(self.sign_offs_to_tell());
        effects.extend(self.photo_due.iter().map(|due| PrinterEffect::Photograph { attempt: due.attempt }));
        effects
    }

    fn at_rest(&self) -> bool {
        self.archived
    }
}

impl Printer {
    /// Applies an operator's command and publishes the event. Returns an unchanged decision if the command changes
    /// nothing.
    pub(super) fn say(
        self,
        cx: &DecisionContext<'_>,
        change: impl FnOnce(&mut Self),
        event: Option<&str>,
    ) -> Decision<Self, PrinterAnswer> {
        let mut next = self.clone();
        change(&mut next);
        if next == self {
            return Decision::unchanged(PrinterAnswer { printer: Box::new(next) });
        }
        next.changed(cx);
        let event = event.map(|event| {
            next.event_with(cx, event, None, |printer| PrinterActData { printer, note: next.maintenance.clone() })
        });
        Decision::to(next.clone(), PrinterAnswer { printer: Box::new(next) }).events(event)
    }

    /// Records a visible change. Changes by the server itself do not increment the version.
    pub(super) fn changed(&mut self, cx: &DecisionContext<'_>) {
        self.updated_at = cx.now;
        self.revision = (self.revision + i64::from(cx.by.is_person())).max(1);
    }

    pub(super) fn observe(self, status: &Status, cx: &DecisionContext<'_>) -> Decision<Self> {
        let Some(mut next) = self.after(status, cx.now) else {
            return Decision::unchanged(Confirmation::Done);
        };
        next.give_up();
        let back = (self.outage && !next.outage)
            .then(|| next.event_with(cx, "printer.online", next.last_seen_at, |printer| printer));
        let fault = next.fault.as_ref().filter(|_| self.fault.is_none());
        let fault = fault.map(|FirmwareFault { words, .. }| {
            let data = |printer| PrinterFaultData { printer, error: words.clone() };
            next.event_with(cx, "printer.firmware_error", next.last_seen_at, data)
        });
        let alert = fault.as_ref().and(next.fault.as_ref()).map(|fault| next.fault_alert(cx, &fault.words));
        let left = |printer: &Self| printer.shows.clone().filter(|file| printer.is_leftover(file));
        let left = left(&next).filter(|_| left(&self).is_none()).map(|file| next.leftover_alert(cx, &file));
        Decision::to(next, Confirmation::Done)
            .events(back.into_iter().chain(fault))
            .created(alert.into_iter().chain(left).flatten())
    }

    /// Records that the printer, or the firmware behind its server, has not responded for too long. `printer.offline`
    /// is published once per outage.
    pub(super) fn silent(
        self,
        connection: Connection,
        reason: &str,
        last_seen: Option<Timestamp>,
        cx: &DecisionContext<'_>,
    ) -> Decision<Self> {
        if self.disconnected || connection == Connection::Connected {
            return Decision::unchanged(Confirmation::Done);
        }
        let mut next = self.clone();
        next.connection = connection;
        // Of a firmware that does not answer the printer's server may know more: that it is in error.
        if (self.connection, connection) != (Connection::FirmwareDisconnected, Connection::FirmwareDisconnected) {
            next.activity = Activity::Offline;
        }
        next.outage = true;
        if let Some(in_hand) = next.in_hand.as_mut().filter(|in_hand| !in_hand.over()) {
            in_hand.out_of_sight = true;
        }
        // Not the later of the two: the clock may have been set back.
        next.last_seen_at = last_seen.or(self.last_seen_at);
        next.give_up();
        if (next.connection, next.activity, next.outage) == (self.connection, self.activity, self.outage)
            && next.in_hand == self.in_hand
        {
            return Decision::unchanged(Confirmation::Done);
        }
        next.updated_at = cx.now;
        let offline = |printer| PrinterOfflineData { printer, error: reason.to_owned() };
        if self.outage {
            return Decision::to(next, Confirmation::Done);
        }
        let event = next.event_with(cx, "printer.offline", next.last_seen_at, offline);
        let alert = next.lost_alert(cx, reason);
        Decision::to(next, Confirmation::Done).events([event]).created(alert)
    }

    /// Builds an event about the printer, which also appears on the timeline of the order whose attempt the printer has
    /// in hand.
    pub(super) fn event_with<D: EventData>(
        &self,
        cx: &DecisionContext<'_>,
        name: &str,
        last_seen_at: Option<Timestamp>,
        data: impl FnOnce(PrinterData) -> D,
    ) -> Event {
        let data = data(PrinterData {
            printer_id: self.id,
            name: self.fields.name.clone(),
            last_seen_at,
            job_id: self.in_hand.as_ref().map(|in_hand| in_hand.job),
        });
        Event::new(cx, name, ("printer", self.id), self.in_hand.as_ref().map(|in_hand| in_hand.order), &data)
    }

    /// Returns the attempt in hand with its [`report_of`], if the attempt has the given ID.
    pub fn report(&self, attempt: Id) -> Option<(&CurrentAttempt, crate::order::Report)> {
        self.in_hand.as_ref().filter(|in_hand| in_hand.attempt == attempt).map(|in_hand| (in_hand, report_of(in_hand)))
    }
}
