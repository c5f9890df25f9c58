//! Shipment reports to the other shop: each takes effect only once, no matter how often it is attempted.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ChannelOrder;
use crate::aggregate::DecisionContext;
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::refusal::shortened;
use crate::schedule::Delays;
use crate::time::{DAY_MS, Timestamp};
use words::staff::alerts as texts;

/// Backoff between attempts to report a shipment.
const RETRY_DELAYS: Delays = Delays { first: Duration::from_secs(5), longest: Duration::from_hours(1) };
/// Number of days during which a shipment report is retried.
const TRIED_DAYS: i64 = 30;
/// Maximum length of a stored error message from the other shop, in characters.
const MAX_WORDS_CHARS: usize = 300;

/// Shipment as reported to the other shop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedShipment {
    /// Shipment number, starting at 1 within our order.
    pub number: u32,
    /// Name of the carrier.
    pub carrier: String,
    /// The carrier's tracking number; empty for a pickup.
    pub tracking_number: String,
    /// Units that the shipment completes for each of the shop's lines, in line order.
    pub units: Vec<u32>,
    /// `true` if no further shipment will follow.
    pub last: bool,
}

/// State of a shipment report.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrackingState {
    /// The report has not been sent yet.
    Pending,
    /// The shop has recorded the shipment.
    Told,
    /// The shop rejected the report or did not respond for a month; an operator must act.
    Failed,
    /// No report is needed: the channel has no shop to report to.
    NotWanted,
}

/// Shipment with the state of its report to the shop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShipmentTracking {
    /// Shipment as reported.
    pub shipment: ReportedShipment,
    /// State of the report.
    pub state: TrackingState,
    /// Number of failed attempts.
    pub tries: u32,
    /// Time at which the next attempt is due.
    pub next_at: Timestamp,
    /// Human-readable error of the last attempt.
    pub error: Option<String>,
    /// Time at which the shipment was added.
    pub created_at: Timestamp,
}

/// Outcome of an attempt to report a shipment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrackingOutcome {
    /// The shop has recorded the shipment, as a result of this attempt or an earlier one.
    Told,
    /// Temporary failure, with its error message; the report is retried.
    Again(String),
    /// Permanent rejection, with the shop's error message.
    Refused(String),
    /// No report is needed: the channel has no shop to report to.
    NotWanted,
}

impl ChannelOrder {
    /// Adds the given shipments that are not in the list yet; existing ones are left unchanged.
    pub(super) fn ship(&mut self, cx: &DecisionContext<'_>, shipments: &[ReportedShipment]) {
        for shipment in shipments {
            match self.trackings.iter_mut().find(|existing| existing.shipment.number == shipment.number) {
                // Only the next shipment, or its absence, tells whether it was the last one.
                Some(existing) => existing.shipment.last |= shipment.last,
                None => self.trackings.push(ShipmentTracking {
                    shipment: shipment.clone(),
                    state: TrackingState::Pending,
                    tries: 0,
                    next_at: cx.now,
                    error: None,
                    created_at: cx.now,
                }),
            }
        }
    }

    /// Records the outcome of an attempt. Returns an email if an operator must act.
    pub(super) fn tracked(&mut self, cx: &DecisionContext<'_>, number: u32, outcome: &TrackingOutcome) -> Vec<Mail> {
        let (order_number, order_id) = (self.number.clone(), self.order_id);
        let Some(tracking) = self.trackings.iter_mut().find(|one| one.shipment.number == number) else {
            return Vec::new();
        };
        if tracking.state != TrackingState::Pending {
            return Vec::new();
        }
        let as_error = |words: &str| Some(shortened(words.to_owned(), MAX_WORDS_CHARS));
        match outcome {
            TrackingOutcome::Told => (tracking.state, tracking.error) = (TrackingState::Told, None),
            TrackingOutcome::NotWanted => tracking.state = TrackingState::NotWanted,
            TrackingOutcome::Refused(words) => {
                (tracking.state, tracking.error) = (TrackingState::Failed, as_error(words));
            }
            TrackingOutcome::Again(words) => {
                tracking.error = as_error(words);
                let pause = RETRY_DELAYS.next(tracking.tries, cx.ids.chance());
                tracking.tries = tracking.tries.saturating_add(1);
                tracking.next_at = cx.now.plus_ms(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
                if cx.now.since(tracking.created_at) >= TRIED_DAYS * DAY_MS {
                    tracking.state = TrackingState::Failed;
                }
            }
        }
        if tracking.state != TrackingState::Failed {
            return Vec::new();
        }
        let why = tracking.error.clone().unwrap_or_default();
        Mail::alert(cx, AlertKind::Order, |language| {
            let (shipment, order) = (number.to_string(), order_id.to_string());
            let text = texts::unreported_shipment(language, &shipment, &order_number, &order, &why);
            (texts::unreported_shipment_subject(language, &order_number), text)
        })
    }

    /// Resets failed reports so that they are attempted again.
    pub(super) fn retry(&mut self, cx: &DecisionContext<'_>) {
        for tracking in self.trackings.iter_mut().filter(|one| one.state == TrackingState::Failed) {
            (tracking.state, tracking.tries) = (TrackingState::Pending, 0);
            (tracking.next_at, tracking.created_at) = (cx.now, cx.now);
        }
        for tracking in self.trackings.iter_mut().filter(|one| one.state == TrackingState::Pending) {
            tracking.next_at = cx.now;
        }
    }
}
