#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use super::envelope::{due, envelope};
use super::*;
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext};
use crate::event::{self, Event, NumberedEvent};
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::testing::{Bench, id};

mod random;
mod subscriptions;
mod window;

const IT: u32 = 3;

/// Endpoint with its rows as held by the store.
struct Target {
    bench: Bench,
    endpoint: Option<Endpoint>,
    rows: BTreeMap<Id, Delivery>,
}

fn target() -> Target {
    let mut target = Target { bench: Bench::new(), endpoint: None, rows: BTreeMap::new() };
    target.tell(&create(&["order.paid"])).unwrap();
    target
}

fn create(events: &[&str]) -> EndpointCommand {
    EndpointCommand::Create {
        url: "https://example.com/hook".to_owned(),
        events: events.iter().map(|&event| event.to_owned()).collect(),
        encrypted_secret: "sealed".to_owned(),
        cursor: 10,
    }
}

fn happened(seq: i64, event: &str) -> NumberedEvent {
    let event = Event {
        id: id(1000 + seq as u32),
        event: event.to_owned(),
        timestamp: Timestamp(1_700_000_000_000),
        subject_kind: "order".to_owned(),
        subject_id: id(1),
        order_id: None,
        actor: "system".to_owned(),
        data: serde_json::json!({"status": "paid", "orderId": "o1", "nested": {"b": 1, "a": [{"z": 0, "y": "ü\""}]}}),
    };
    NumberedEvent { seq, event }
}

impl Target {
    fn tell<C: Command<Endpoint>>(&mut self, command: &C) -> Result<Decision<Endpoint, C::Answer>, Refusal> {
        let decision = self.bench.tell(&mut self.endpoint, id(IT), command)?;
        for row in &decision.rows {
            let delivery = row;
            self.rows.insert(delivery.id, delivery.clone());
        }
        Ok(decision)
    }
    fn now(&self) -> &Endpoint {
        self.endpoint.as_ref().unwrap()
    }
    /// Follows `count` more events of the subscribed type.
    fn follow(&mut self, count: i64) {
        let cursor = self.now().cursor;
        let events: Vec<_> = (1..=count).map(|n| happened(cursor + n, "order.paid")).collect();
        let due = due(self.now(), &events);
        self.tell(&EndpointNews::Follow { upto: cursor + count, due }).unwrap();
    }
    fn tried(&mut self, delivery: Id, ok: bool) -> Decision<Endpoint> {
        let number = self.now().window.get(&delivery).unwrap().attempts + 1;
        let status = Some(if ok { 204 } else { 500 });
        let (error, excerpt) = (None, Some("words".to_owned()));
        self.tell(&DeliveryAttempt { delivery, number, ok, status, error, excerpt, duration_ms: 12 }).unwrap()
    }
    /// Returns the command with the rows that the store finds for a refill.
    fn query(&self) -> EndpointNews {
        let mut rows: Vec<_> = self.rows.values().filter(|d| d.state == DeliveryState::Pending).cloned().collect();
        rows.sort_by_key(|d| (d.next_at, d.id));
        let more = rows.len() > 2 * DELIVERY_WINDOW;
        rows.truncate(2 * DELIVERY_WINDOW);
        EndpointNews::Refilled { number: self.refill().unwrap_or_default(), rows, more }
    }
    /// Returns the number of the refill that the state requires.
    fn refill(&self) -> Option<u32> {
        self.now().effects().into_iter().find_map(|effect| match effect {
            EndpointEffect::Refill { number } => Some(number),
            _ => None,
        })
    }
    /// Returns the command with the rows that the store finds for the replay in progress.
    fn next_part(&self, limit: usize) -> Option<EndpointNews> {
        let replaying = self.now().replaying.as_ref()?;
        let within = |d: &&Delivery| d.created_at >= replaying.since && d.created_at <= replaying.upto;
        let mut past: Vec<Delivery> = self.rows.values().filter(|d| d.is_past()).filter(within).cloned().collect();
        past.sort_by_key(|d| (d.created_at, d.id));
        past.retain(|d| replaying.after.is_none_or(|after| (d.created_at, d.id) > after));
        past.truncate(limit);
        let end = past.len() < limit;
        Some(EndpointNews::Replayed { after: replaying.after, past, end })
    }
    fn deliveries(&self) -> Vec<(Id, u32, Timestamp)> {
        let of = |want| match want {
            EndpointEffect::Deliver { delivery, number, at } => Some((delivery, number, at)),
            _ => None,
        };
        self.now().effects().into_iter().filter_map(of).collect()
    }
    fn count(&self, state: DeliveryState) -> usize {
        self.rows.values().filter(|d| d.state == state).count()
    }
}

#[test]
fn the_envelope_has_its_members_in_order() {
    let one = happened(11, "order.paid");
    let expected = format!(
        r#"{{"id":"{}","event":"order.paid","timestamp":"2023-11-14T22:13:20.000Z","data":{}}}"#,
        one.event.id, r#"{"nested":{"a":[{"y":"ü\"","z":0}],"b":1},"orderId":"o1","status":"paid"}"#
    );
    assert_eq!(envelope(&one.event), expected);
}

#[test]
fn only_subscribed_events_beyond_the_cursor_are_due() {
    let target = target();
    let events = [happened(10, "order.paid"), happened(11, "job.failed"), happened(12, "order.paid")];
    let due = due(target.now(), &events);
    assert_eq!(due.iter().map(|due| due.seq).collect::<Vec<_>>(), [12]);
}

#[test]
fn kinds_are_checked() {
    let mut target = Target { bench: Bench::new(), endpoint: None, rows: BTreeMap::new() };
    for wrong in [&[][..], &["*"], &["order.paid", "order.paid"], &["webhook.test"], &["LOW_STOCK"]] {
        assert!(target.tell(&create(wrong)).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_followed_event_is_sent_at_once_and_a_repeat_is_nothing() {
    let mut target = target();
    let due = due(target.now(), &[happened(11, "order.paid")]);
    let follow = EndpointNews::Follow { upto: 12, due };
    target.tell(&follow).unwrap();
    assert!(target.tell(&follow).unwrap().next.is_none());
    let now = target.bench.now;
    assert!(matches!(target.deliveries()[..], [(_, 1, at)] if at == now));
    assert!(target.now().effects().contains(&EndpointEffect::Follow { cursor: 12 }));
    let (sent, ..) = target.deliveries()[0];
    target.tried(sent, true);
    assert_eq!(target.rows[&sent].state, DeliveryState::Delivered);
    assert!(target.deliveries().is_empty());
}

#[test]
fn five_retries_on_schedule_then_disabled_and_told_and_enabled_anew() {
    let mut target = target();
    target.follow(2);
    let both: Vec<Id> = target.now().window.keys().copied().collect();
    let (one, other) = (both[0], both[1]);
    for delay in target.bench.rules.webhook_schedule_ms.clone() {
        target.tried(one, false);
        let wait = target.rows[&one].next_at.since(target.bench.now);
        assert!((delay..=delay + target.bench.rules.webhook_jitter_ms).contains(&wait), "{wait} after {delay}");
        target.bench.now = target.rows[&one].next_at;
    }
    let last = target.tried(one, false);
    assert_eq!(target.rows[&one].state, DeliveryState::Failed);
    assert_eq!(last.events[0].event, "endpoint.disabled");
    assert!(matches!(&last.created[..], [_]));
    assert_eq!(
        target.now().disabled_reason.as_deref(),
        Some("order.paid was attempted 6 times: it responded with 500")
    );
    target.tried(other, false);
    target.follow(1);
    assert!(target.deliveries().is_empty(), "holds");
    assert_eq!(target.count(DeliveryState::Pending), 2);
    target.bench.now = target.bench.now.plus_ms(5);
    target.tell(&EndpointCommand::Enable).unwrap();
    let now = target.bench.now;
    assert!(target.deliveries().iter().all(|(_, number, at)| *number == 1 && *at == now));
    assert_eq!(target.deliveries().len(), 3);
    assert_eq!(
        (target.rows[&one].state, target.rows[&one].attempts),
        (DeliveryState::Pending, 0),
        "the one that disabled it"
    );
    assert!(target.now().disabled_by.is_none());
}

#[test]
fn an_attempt_under_way_when_the_endpoint_is_disabled_is_held_too() {
    let mut target = target();
    target.follow(2);
    let both: Vec<Id> = target.now().window.keys().copied().collect();
    for _ in 0..5 {
        target.tried(both[0], false);
        target.tried(both[1], false);
    }
    target.tried(both[0], false);
    assert_eq!(target.now().state, EndpointState::Disabled);
    target.tried(both[1], false);
    assert_eq!(target.rows[&both[1]].state, DeliveryState::Pending, "nothing that disabling cut is given up");
    target.tell(&EndpointCommand::Enable).unwrap();
    assert_eq!(target.deliveries().len(), 2);
}

#[test]
fn a_paused_endpoint_is_sent_nothing_and_then_everything() {
    let mut target = target();
    target.follow(1);
    let paused = target.tell(&EndpointCommand::Disable).unwrap();
    assert!(paused.events.is_empty() && paused.created.is_empty(), "whoever paused it knows");
    assert_eq!(target.now().disabled_reason.as_deref(), Some("disabled manually"));
    assert!(target.now().disabled_by.is_none());
    target.follow(2);
    assert!(target.deliveries().is_empty());
    assert!(target.tell(&EndpointCommand::Disable).unwrap().next.is_none(), "it is paused already");
    target.tell(&EndpointCommand::Enable).unwrap();
    assert_eq!(target.deliveries().len(), 3);
    assert!(target.now().disabled_reason.is_none());
}

#[test]
fn the_backlog_counts_anew_after_enabling_too() {
    let mut target = target();
    target.follow(DELIVERY_WINDOW as i64 + 1);
    assert!(target.now().backlog);
    let first = *target.now().window.keys().next().unwrap();
    target.tried(first, false);
    assert!(!target.now().window.contains_key(&first), "waits in its row while there is a backlog");
    let refill = target.query();
    target.tell(&refill).unwrap();
    let mut disabled = target.endpoint.clone().unwrap();
    disabled.state = EndpointState::Disabled;
    target.endpoint = Some(disabled);
    target.bench.now = target.bench.now.plus_ms(1);
    target.tell(&EndpointCommand::Enable).unwrap();
    for sent in target.now().window.keys().copied().collect::<Vec<_>>() {
        target.tried(sent, true);
    }
    let refill = target.query();
    target.tell(&refill).unwrap();
    let now = target.bench.now;
    assert_eq!(target.deliveries(), [(first, 1, now)]);
    assert_eq!(target.rows[&first].attempts, 0);
}

#[test]
fn the_former_secret_signs_for_a_day() {
    let mut target = target();
    target.tell(&EndpointCommand::Rotate { encrypted_secret: "new".to_owned() }).unwrap();
    let until = target.bench.now.plus_ms(24 * 3_600_000);
    assert_eq!(target.now().former, Some(("sealed".to_owned(), until)));
    assert_eq!(target.now().encrypted_secret, "new");
}

#[test]
fn redelivery_and_replay_are_new_deliveries_of_the_same_bytes() {
    let mut target = target();
    target.follow(2);
    let past: Vec<Delivery> = target.rows.values().cloned().collect();
    let pending = DeliveryCommand::Redeliver(Box::new(past[0].clone()));
    assert_eq!(target.tell(&pending).unwrap_err().code, "delivery_pending");
    for one in &past {
        target.tried(one.id, true);
    }
    let past: Vec<Delivery> = target.rows.values().cloned().collect();
    for _ in 0..2 {
        target.tell(&DeliveryCommand::Redeliver(Box::new(past[0].clone()))).unwrap();
    }
    let since = Timestamp(0);
    let none = target.tell(&ReplayEvents { since, count: 0 }).unwrap();
    assert!(none.next.is_none() && none.answer.count == 0);
    let replayed = target.tell(&ReplayEvents { since, count: 2 }).unwrap();
    assert_eq!(replayed.answer.count, 2);
    assert_eq!(target.tell(&ReplayEvents { since, count: 2 }).unwrap_err().code, "replay_running");
    while let Some(part) = target.next_part(1) {
        target.tell(&part).unwrap();
        // The same part twice changes nothing.
        assert!(target.tell(&part).unwrap().next.is_none());
    }
    let mut unique: Vec<_> = target.rows.values().map(|d| (d.event_id, d.replay)).collect();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), 6);
    assert!(target.rows.values().all(|d| past.iter().any(|p| p.event_id == d.event_id && p.body == d.body)));
    let strange = Delivery { endpoint_id: id(99), ..past[0].clone() };
    assert_eq!(target.tell(&DeliveryCommand::Redeliver(Box::new(strange))).unwrap_err().code, "delivery_not_found");
}

#[test]
fn deleting_cancels_the_window_at_once_and_the_backlog_by_refills() {
    let mut target = target();
    target.follow(3 * DELIVERY_WINDOW as i64);
    target.tell(&EndpointCommand::Archive).unwrap();
    assert_eq!(target.count(DeliveryState::Cancelled), DELIVERY_WINDOW);
    let mut refills = 0;
    while target.refill().is_some() {
        assert_eq!(target.now().effects().len(), 1);
        let refill = target.query();
        target.tell(&refill).unwrap();
        refills += 1;
        assert!(refills < 5);
    }
    assert_eq!(target.count(DeliveryState::Cancelled), 3 * DELIVERY_WINDOW);
    assert!(target.now().at_rest() && target.now().effects().is_empty());
    assert!(target.tell(&EndpointCommand::Enable).is_err());
}

#[test]
fn only_changes_by_people_count_as_revisions() {
    let mut target = target();
    assert_eq!(target.now().revision(), Some(1));
    let url = Some("https://example.com/other".to_owned());
    let update = EndpointCommand::Update { if_version: Some(3), url, events: None, newest: 10 };
    assert_eq!((update.if_version(), EndpointCommand::Enable.if_version()), (Some(3), None));
    target.tell(&update).unwrap();
    assert_eq!((target.now().revision(), target.now().is_archived()), (Some(1), false));
    let cx = DecisionContext { by: &Principal::Machine, ..target.bench.cx() };
    let next = update.decide(target.endpoint.as_ref(), id(IT), &cx).unwrap().next.unwrap();
    assert_eq!((next.revision(), next.url.as_str()), (Some(2), "https://example.com/other"));
    assert_eq!(Endpoint { revision: 0, ..next }.revision(), Some(1), "stored before changes were counted");
    assert!(target.tell(&EndpointCommand::Enable).unwrap().next.is_none(), "it is active already");
    target.tell(&EndpointCommand::Archive).unwrap();
    assert!(target.now().is_archived());
}

#[test]
fn a_disabled_endpoint_says_what_its_last_attempt_met() {
    for (status, error, words) in [
        (None, Some("connection refused"), "connection refused"),
        (Some(500), Some("the response took too long"), "the response took too long"),
        (Some(404), None, "it responded with 404"),
        (None, None, "it did not respond"),
    ] {
        let mut target = target();
        target.follow(1);
        let delivery = *target.now().window.keys().next().unwrap();
        for number in 1..=6 {
            let (ok, error, excerpt) = (false, error.map(str::to_owned), None);
            target.tell(&DeliveryAttempt { delivery, number, ok, status, error, excerpt, duration_ms: 12 }).unwrap();
        }
        let reason = format!("order.paid was attempted 6 times: {words}");
        assert_eq!(target.now().disabled_reason.as_deref(), Some(reason.as_str()));
        let row = &target.rows[&delivery];
        assert_eq!((row.attempts, row.last_status, row.last_error.as_deref()), (6, status, error));
        assert_eq!((row.last_duration_ms, row.attempted_at), (Some(12), Some(target.bench.now)));
    }
}

#[test]
fn a_wait_is_that_of_the_schedule_and_only_first_deliveries_are_replayed() {
    let mut target = target();
    target.follow(1);
    let first = target.rows.values().next().unwrap().clone();
    let wait = |attempts, retries: &[i64]| Delivery { attempts, ..first.clone() }.longest_wait(retries, 5).as_millis();
    assert_eq!([0, 1, 2, 3, 9].map(|attempts| wait(attempts, &[10, 30, 20])), [0, 15, 35, 25, 35]);
    assert_eq!(wait(1, &[]), 5);
    let done = Delivery { state: DeliveryState::Delivered, ..first.clone() };
    let test = Delivery { event: event::TEST.to_owned(), ..done.clone() };
    let again = Delivery { replay: 1, ..done.clone() };
    assert_eq!([first, done, test, again].map(|one| one.is_past()), [false, true, false, false]);
}
