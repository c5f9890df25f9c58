//! Oracle of webhooks, based on what their receivers got: each event that an endpoint subscribes to arrives unchanged
//! and signed, or is held for a reason that the API shows. Nothing else is sent. The server promises no order of
//! delivery, so none is checked.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::demand;
use crate::clock::WorldClock;
use crate::endpoints::EndpointStep;
use crate::error::SimError;
use crate::people::People;
use crate::receivers::{Arrival, url_of};
use crate::settings::RETRY_SECONDS;
use crate::subscribers::SimSubscriber;
use crate::world::World;
use domain::endpoint::{Delivery, DeliveryState};
use domain::event::NumberedEvent;
use domain::id::Id;
use store::memory::Tables;

/// Maximum time until an event is sent to an endpoint whose receiver has always worked, whatever other receivers do, in
/// milliseconds.
const SENT_WITHIN_MS: i64 = 1_000;

/// Endpoint with everything known about it at the end.
struct SubscribedDeliveries<'a> {
    subscriber: &'a SimSubscriber,
    /// Endpoint as the API shows it; null if it has been deleted.
    endpoint: &'a Value,
    arrivals: &'a [Arrival],
    deliveries: Vec<&'a Delivery>,
    /// Times of the first arrivals of events, by their IDs.
    first_ms: BTreeMap<&'a str, i64>,
    /// IDs of the events that were accepted.
    accepted: BTreeSet<&'a str>,
    /// Deliveries by their events.
    of_events: BTreeMap<Id, &'a Delivery>,
}

/// Returns a description of a pending delivery; `None` if there is none.
pub fn unrest(world: &World, people: &People) -> Option<String> {
    let tables = world.disk.tables();
    for subscriber in &people.subscribers {
        let number = subscriber.plan.number;
        let is_failed = match subscriber.last_switch() {
            Some(EndpointStep::Disable) | None => continue,
            switch => switch == Some(&EndpointStep::Fail),
        };
        if is_failed && !world.receivers.is_gone(number) {
            return Some(format!("endpoint {number} is disabled, although its receiver works"));
        }
        let pending = deliveries_of(&tables, subscriber).find(|one| one.state == DeliveryState::Pending);
        if let Some(delivery) = pending.filter(|_| !is_failed) {
            let Delivery { event, attempts, last_error, .. } = delivery;
            return Some(format!("endpoint {number} waits for {event} after {attempts} attempts: {last_error:?}"));
        }
    }
    None
}

/// Checks all endpoints.
pub fn are_as_promised(world: &World, people: &People, endpoints: &[Value]) -> Result<(), SimError> {
    let tables = world.disk.tables();
    let events: BTreeMap<String, NumberedEvent> =
        tables.events_after(0).map(|numbered| (numbered.event.id.to_string(), numbered)).collect();
    for (subscriber, endpoint) in people.subscribers.iter().zip(endpoints) {
        let arrivals = world.receivers.arrivals(subscriber.plan.number);
        let deliveries = deliveries_of(&tables, subscriber).collect();
        let subscription = SubscribedDeliveries::new(subscriber, endpoint, &arrivals, deliveries);
        subscription.arrivals_are_genuine(&events)?;
        subscription.nothing_is_sent_while_disabled()?;
        subscription.moves_are_followed()?;
        subscription.failures_are_visible()?;
        for event in events.values() {
            subscription.is_delivered(event)?;
            if !world.house_rules.were_changed() {
                subscription.is_prompt(event)?;
            }
        }
    }
    Ok(())
}

/// Returns an endpoint's deliveries on the disk.
fn deliveries_of<'a>(tables: &'a Tables, subscriber: &SimSubscriber) -> impl Iterator<Item = &'a Delivery> {
    let id: Option<Id> = subscriber.id.as_ref().and_then(|id| id.parse().ok());
    id.into_iter().flat_map(move |id| tables.deliveries(id))
}

impl<'a> SubscribedDeliveries<'a> {
    fn new(
        subscriber: &'a SimSubscriber,
        endpoint: &'a Value,
        arrivals: &'a [Arrival],
        deliveries: Vec<&'a Delivery>,
    ) -> Self {
        let mut first_ms = BTreeMap::new();
        for arrival in arrivals {
            first_ms.entry(arrival.event_id.as_str()).or_insert(arrival.at_ms);
        }
        let accepted = arrivals.iter().filter(|arrival| arrival.is_accepted);
        let accepted = accepted.map(|arrival| arrival.event_id.as_str()).collect();
        let mut of_events = BTreeMap::new();
        for delivery in &deliveries {
            of_events.entry(delivery.event_id).or_insert(*delivery);
        }
        Self { subscriber, endpoint, arrivals, deliveries, first_ms, accepted, of_events }
    }

    fn fault(&self, words: &str) -> String {
        format!("endpoint {}: {words}", self.subscriber.plan.number)
    }

    /// Returns the subscriptions that may have applied when the server processed an event: the one at its publication
    /// and, because the server may have processed it late, all later ones that were requested before event number
    /// `before`.
    fn possible_events(&self, seq: i64, before: i64) -> Vec<&[&'static str]> {
        let mut possible: Vec<&[&'static str]> = Vec::new();
        for entry in &self.subscriber.history {
            if let EndpointStep::Create(events) | EndpointStep::Subscribe(events) = &entry.step {
                // It was published after this was acknowledged, so nothing before applies.
                if entry.to.seq < seq {
                    possible.clear();
                }
                if entry.from.seq < before {
                    possible.push(events);
                }
            }
        }
        possible
    }

    /// Checks that everything that arrived is an event from the outbox to which the endpoint subscribes, with its own
    /// ID, in one delivery, with valid signatures.
    fn arrivals_are_genuine(&self, events: &BTreeMap<String, NumberedEvent>) -> Result<(), SimError> {
        let mut deliveries: BTreeMap<&str, &str> = BTreeMap::new();
        let beginning = self.subscriber.history.first().map_or(0, |created| created.from.seq);
        for arrival in self.arrivals {
            let Arrival { event_id, event, delivery_id, body, .. } = arrival;
            demand(arrival.is_signed, || self.fault(&format!("a wrong signature: {arrival:?}")))?;
            let origin = events.get(event_id).filter(|origin| origin.event.event == *event);
            let is_same = body["id"] == event_id.as_str() && body["event"] == event.as_str();
            demand(origin.is_some() && is_same, || self.fault(&format!("no such event: {arrival:?}")))?;
            let first = *deliveries.entry(event_id).or_insert(delivery_id);
            let is_one = first == delivery_id.as_str();
            demand(is_one, || self.fault(&format!("{event} has a delivery besides {first}: {arrival:?}")))?;
            let seq = origin.map_or(0, |origin| origin.seq);
            // A later subscription may end an earlier one, but brings nothing that was published before it.
            let possible = self.possible_events(seq, seq);
            let is_wanted = seq > beginning && possible.iter().any(|events| events.contains(&event.as_str()));
            demand(is_wanted, || self.fault(&format!("nobody subscribes to event {seq}: {arrival:?}")))?;
        }
        Ok(())
    }

    /// Checks that nothing is sent between the disabling or deletion of the endpoint and the request to enable it
    /// again.
    fn nothing_is_sent_while_disabled(&self) -> Result<(), SimError> {
        let mut silent_from = None;
        for entry in &self.subscriber.history {
            match entry.step {
                EndpointStep::Enable => {
                    if let Some(from) = silent_from.take() {
                        self.is_silent(from, entry.from.ms)?;
                    }
                }
                EndpointStep::Disable | EndpointStep::Delete | EndpointStep::Fail => {
                    silent_from.get_or_insert(entry.to.ms);
                }
                EndpointStep::Create(_)
                | EndpointStep::Subscribe(_)
                | EndpointStep::Move(_)
                | EndpointStep::Rotate(_) => {}
            }
        }
        silent_from.map_or(Ok(()), |from| self.is_silent(from, i64::MAX))
    }

    fn is_silent(&self, from_ms: i64, until_ms: i64) -> Result<(), SimError> {
        let arrival = self.arrivals.iter().find(|arrival| arrival.at_ms > from_ms && arrival.at_ms < until_ms);
        demand(arrival.is_none(), || self.fault(&format!("sent while it is disabled: {arrival:?}")))
    }

    /// Checks that nothing is sent to a URL that has been replaced.
    fn moves_are_followed(&self) -> Result<(), SimError> {
        for entry in &self.subscriber.history {
            let EndpointStep::Move(to) = entry.step else { continue };
            let former: BTreeSet<String> = (0..to).map(|number| url_of(self.subscriber.plan.number, number)).collect();
            let late = |arrival: &&Arrival| arrival.at_ms > entry.to.ms && former.contains(&arrival.url);
            let arrival = self.arrivals.iter().find(late);
            demand(arrival.is_none(), || self.fault(&format!("sent to a URL that was replaced: {arrival:?}")))?;
        }
        Ok(())
    }

    /// Checks that a failed delivery was attempted as often as promised, and that the API states why it is not retried.
    fn failures_are_visible(&self) -> Result<(), SimError> {
        let failed = self.deliveries.iter().filter(|delivery| delivery.state == DeliveryState::Failed);
        for delivery in failed {
            let id = delivery.id.to_string();
            let count = self.arrivals.iter().filter(|arrival| arrival.delivery_id == id).count();
            let is_tried = count > RETRY_SECONDS.len() && delivery.attempts as usize == RETRY_SECONDS.len() + 1;
            demand(is_tried, || self.fault(&format!("given up after {count} attempts: {delivery:?}")))?;
            let is_explained = delivery.last_error.as_ref().is_some_and(|error| !error.is_empty());
            demand(is_explained, || self.fault(&format!("given up without a reason: {delivery:?}")))?;
            if self.subscriber.is_deleted() {
                continue;
            }
            let is_shown = self.endpoint["disabledReason"].as_str().is_some_and(|reason| !reason.is_empty());
            let is_disabled = self.endpoint["state"] == "disabled" && is_shown;
            demand(is_disabled, || self.fault(&format!("shown as {}, although {delivery:?}", self.endpoint)))?;
        }
        Ok(())
    }

    /// Checks that an event to which the endpoint certainly subscribes has arrived, or is held while the endpoint is
    /// disabled.
    fn is_delivered(&self, numbered: &NumberedEvent) -> Result<(), SimError> {
        let NumberedEvent { seq, event } = numbered;
        if !self.is_certain(numbered) || self.subscriber.is_deleted() {
            return Ok(());
        }
        let id = event.id.to_string();
        let has_arrived = self.accepted.contains(id.as_str());
        let row = self.of_events.get(&event.id);
        let is_held = self.endpoint["state"] == "disabled"
            && row.is_some_and(|row| matches!(row.state, DeliveryState::Pending | DeliveryState::Failed));
        demand(has_arrived || is_held, || {
            self.fault(&format!("event {seq}, {}, did not arrive; its delivery is {row:?}", event.event))
        })
    }

    /// Returns whether the endpoint certainly subscribes to an event.
    fn is_certain(&self, numbered: &NumberedEvent) -> bool {
        let is_later = self.subscriber.history.first().is_some_and(|created| created.to.seq < numbered.seq);
        let possible = self.possible_events(numbered.seq, i64::MAX);
        is_later && possible.iter().all(|events| events.contains(&numbered.event.event.as_str()))
    }

    /// Checks that an event is sent immediately to a receiver that has always worked, in a story in which nothing
    /// delays or restarts the server.
    fn is_prompt(&self, numbered: &NumberedEvent) -> Result<(), SimError> {
        use EndpointStep::{Delete, Disable, Fail};
        let plan = &self.subscriber.plan;
        let is_steady = self.subscriber.history.iter().all(|entry| !matches!(entry.step, Delete | Disable | Fail));
        if !plan.is_undisturbed || !plan.spells.is_empty() || !is_steady || !self.is_certain(numbered) {
            return Ok(());
        }
        let (id, published_ms) = (numbered.event.id.to_string(), WorldClock::ms_of(numbered.event.timestamp));
        let first = self.first_ms.get(id.as_str()).copied();
        let is_prompt = first.is_some_and(|at_ms| at_ms - published_ms <= SENT_WITHIN_MS);
        demand(is_prompt, || {
            self.fault(&format!("{} of {published_ms} ms was sent at {first:?}", numbered.event.event))
        })
    }
}
