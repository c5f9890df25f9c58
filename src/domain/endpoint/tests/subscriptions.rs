//! Tests of event types that are added while the cursor is behind the outbox.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

/// Number of the latest event when the endpoint is created.
const FIRST_CURSOR: i64 = 10;
/// Number of events after which the cursor is saved although none was for the endpoint.
const MAX_UNWRITTEN: i64 = 15;
const KINDS: [&str; 3] = ["order.paid", "order.created", "job.failed"];

fn change(events: &[&str], newest: i64) -> EndpointCommand {
    let events = Some(events.iter().map(|&event| event.to_owned()).collect());
    EndpointCommand::Update { if_version: None, url: None, events, newest }
}

/// Returns the numbers of the events that are due.
fn due_numbers(target: &Target, events: &[NumberedEvent]) -> Vec<i64> {
    due(target.now(), events).iter().map(|due| due.seq).collect()
}

/// Reloads the endpoint from the stored document.
fn reload(target: &mut Target) {
    let document = serde_json::to_string(target.now()).unwrap();
    target.endpoint = Some(serde_json::from_str(&document).unwrap());
}

#[test]
fn an_added_event_type_starts_after_the_newest_event_and_loses_no_other() {
    let mut target = target();
    target.tell(&change(&["order.paid", "job.failed"], 20)).unwrap();
    reload(&mut target);
    let events = [
        happened(15, "job.failed"),
        happened(16, "order.paid"),
        happened(20, "job.failed"),
        happened(21, "job.failed"),
    ];
    assert_eq!(due_numbers(&target, &events), [16, 21]);
}

#[test]
fn a_later_change_moves_no_start_unless_the_type_was_removed() {
    let mut target = target();
    target.tell(&change(&["order.paid", "job.failed"], 20)).unwrap();
    target.tell(&change(&["job.failed", "order.created"], 30)).unwrap();
    let events = [
        happened(21, "job.failed"),
        happened(25, "order.created"),
        happened(31, "order.created"),
        happened(32, "order.paid"),
    ];
    assert_eq!(due_numbers(&target, &events), [21, 31]);
    target.tell(&change(&["order.paid"], 40)).unwrap();
    target.tell(&change(&["order.paid", "job.failed"], 50)).unwrap();
    let events = [
        happened(21, "job.failed"),
        happened(41, "order.paid"),
        happened(45, "job.failed"),
        happened(51, "job.failed"),
    ];
    assert_eq!(due_numbers(&target, &events), [41, 51]);
}

#[test]
fn a_start_is_stored_only_until_the_cursor_has_passed_it() {
    let mut target = target();
    let has_starts = |target: &Target| serde_json::to_value(target.now()).unwrap().get("subscribedAfter").is_some();
    target.tell(&change(&["order.paid", "order.created"], FIRST_CURSOR)).unwrap();
    assert!(!has_starts(&target), "the cursor is at the newest event");
    target.tell(&change(&["order.paid", "order.created", "job.failed"], 20)).unwrap();
    target.tell(&EndpointNews::Follow { upto: 19, due: Vec::new() }).unwrap();
    assert!(has_starts(&target));
    target.tell(&EndpointNews::Follow { upto: 20, due: Vec::new() }).unwrap();
    assert!(!has_starts(&target));
    assert_eq!(due_numbers(&target, &[happened(21, "job.failed")]), [21]);
}

#[derive(Clone, Debug)]
enum Step {
    Publish(&'static str),
    Subscribe(Vec<&'static str>),
    Read(usize),
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => select(KINDS.to_vec()).prop_map(Step::Publish),
        2 => subsequence(KINDS.to_vec(), 1..=KINDS.len()).prop_map(Step::Subscribe),
        4 => (1usize..8).prop_map(Step::Read),
        1 => Just(Step::Restart),
    ]
}

/// Endpoint that follows an outbox.
struct Follower {
    target: Target,
    events: Vec<NumberedEvent>,
    /// Number of the last event read since the last restart.
    position: i64,
    /// Numbers of the events that the endpoint was subscribed to from their publication until they were read.
    expected: BTreeSet<i64>,
}

impl Follower {
    fn new() -> Self {
        Self { target: target(), events: Vec::new(), position: FIRST_CURSOR, expected: BTreeSet::new() }
    }

    fn newest(&self) -> i64 {
        self.events.last().map_or(FIRST_CURSOR, |event| event.seq)
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Publish(kind) => {
                let seq = self.newest() + 1;
                self.events.push(happened(seq, kind));
                if self.target.now().events.iter().any(|event| event == kind) {
                    self.expected.insert(seq);
                }
            }
            Step::Subscribe(events) => self.subscribe(&events),
            Step::Read(count) => self.read(count),
            Step::Restart => {
                reload(&mut self.target);
                self.position = self.target.now().cursor;
            }
        }
    }

    /// Changes the event types. Events that were not read yet are given up if their type is removed.
    fn subscribe(&mut self, events: &[&str]) {
        let cursor = self.target.now().cursor;
        let is_removed = |one: &&NumberedEvent| one.seq > cursor && !events.contains(&one.event.event.as_str());
        for one in self.events.iter().filter(is_removed) {
            self.expected.remove(&one.seq);
        }
        let newest = self.newest();
        self.target.tell(&change(events, newest)).unwrap();
    }

    /// Reads at most `count` events and reports them, as the effect [`EndpointEffect::Follow`] does.
    fn read(&mut self, count: usize) {
        let position = self.position;
        let read: Vec<_> = self.events.iter().filter(|event| event.seq > position).take(count).cloned().collect();
        let Some(upto) = read.last().map(|event| event.seq) else { return };
        self.position = upto;
        let due = due(self.target.now(), &read);
        if !due.is_empty() || upto - self.target.now().cursor >= MAX_UNWRITTEN {
            self.target.tell(&EndpointNews::Follow { upto, due }).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn exactly_the_events_after_their_subscription_are_delivered_whatever_is_read_again(
        steps in proptest::collection::vec(any_step(), 1..100),
    ) {
        let mut follower = Follower::new();
        for step in steps {
            follower.take(step);
        }
        follower.take(Step::Restart);
        follower.read(usize::MAX);
        let delivered: Vec<i64> = follower.target.rows.values().map(|delivery| delivery.event_seq).collect();
        let numbers: BTreeSet<i64> = delivered.iter().copied().collect();
        prop_assert_eq!(numbers.len(), delivered.len(), "an event is delivered twice");
        prop_assert_eq!(numbers, follower.expected);
    }
}
