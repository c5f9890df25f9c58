//! Telling the other shop what has left: for each shipment once, however often it has to be tried.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ChannelOrder;
use crate::domain::aggregate::DecisionContext;
use crate::domain::mail::Mail;
use crate::domain::mail::alert::AlertKind;
use crate::domain::refusal::shortened;
use crate::domain::schedule::Delays;
use crate::domain::time::{DAY_MS, Timestamp};

/// Pauses between the tries of telling one shipment.
const RETRY_DELAYS: Delays = Delays { first: Duration::from_secs(5), longest: Duration::from_hours(1) };
/// How many days a shipment is tried to be told.
const TRIED_DAYS: i64 = 30;
/// Most characters of what the other side said that are kept.
const MAX_WORDS_CHARS: usize = 300;

/// A shipment as the other shop is told of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShipmentThere {
    /// Counts from 1 within our order.
    pub number: u32,
    /// Name of the carrier.
    pub carrier: String,
    /// The carrier's tracking number; empty for what is picked up.
    pub tracking_number: String,
    /// How many of each of the shop's lines it completes, in their order.
    pub units: Vec<u32>,
    /// Whether nothing more will leave.
    pub last: bool,
}

/// How far the telling of a shipment is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrackingState {
    /// The shop is to be told.
    Pending,
    /// The shop knows it.
    Told,
    /// The shop refused it, or did not answer for a month: a person has to look.
    Failed,
    /// Such a channel is told nothing.
    NotWanted,
}

/// A shipment, and how far the shop knows of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tracking {
    /// What the shop is told.
    pub shipment: ShipmentThere,
    /// How far that is.
    pub state: TrackingState,
    /// Tries that failed.
    pub tries: u32,
    /// When the next try is due.
    pub next_at: Timestamp,
    /// What was wrong with the last try, in words for people.
    pub error: Option<String>,
    /// When it left.
    pub created_at: Timestamp,
}

/// How telling the shop went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrackingOutcome {
    /// The shop knows it, by this try or an earlier one.
    Told,
    /// It may go better later; with what was wrong.
    Again(String),
    /// It will never be taken as it is; with the shop's words.
    Refused(String),
    /// There is nobody to tell.
    NotWanted,
}

impl ChannelOrder {
    /// Takes over what has left. Shipments that are known already stay as they are.
    pub(super) fn ship(&mut self, cx: &DecisionContext<'_>, shipments: &[ShipmentThere]) {
        for shipment in shipments {
            match self.trackings.iter_mut().find(|known| known.shipment.number == shipment.number) {
                // Only the next shipment, or its absence, tells whether it was the last one.
                Some(known) => known.shipment.last |= shipment.last,
                None => self.trackings.push(Tracking {
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

    /// Notes how a try went; a mail where a person has to look.
    pub(super) fn tracked(&mut self, cx: &DecisionContext<'_>, number: u32, outcome: &TrackingOutcome) -> Vec<Mail> {
        let (shown, order_id) = (self.name(), self.order_id);
        let Some(tracking) = self.trackings.iter_mut().find(|one| one.shipment.number == number) else {
            return Vec::new();
        };
        if tracking.state != TrackingState::Pending {
            return Vec::new();
        }
        let said = |words: &str| Some(shortened(words.to_owned(), MAX_WORDS_CHARS));
        match outcome {
            TrackingOutcome::Told => (tracking.state, tracking.error) = (TrackingState::Told, None),
            TrackingOutcome::NotWanted => tracking.state = TrackingState::NotWanted,
            TrackingOutcome::Refused(words) => {
                (tracking.state, tracking.error) = (TrackingState::Failed, said(words));
            }
            TrackingOutcome::Again(words) => {
                tracking.error = said(words);
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
        let subject = format!("A shipment of {shown} could not be told");
        let text = format!(
            "The other shop does not know of shipment {number} of {shown} (order {order_id} here): {why}\nEnter it there \
             by hand, or have it tried once more.\n"
        );
        Mail::alert(cx, AlertKind::Order, &subject, &text)
    }

    /// Has what failed tried once more.
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
