//! Tests with random commands, late refills and restarts: the window stays bounded, nothing is lost, and no ended
//! delivery restarts.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Follow(i64),
    Tried(usize, bool),
    Query,
    Refilled,
    Enable,
    Disable,
    Test,
    Replay(i64),
    Part,
    Archive,
    Later(i64),
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1i64..20).prop_map(Step::Follow),
        8 => (any::<usize>(), proptest::bool::weighted(0.3)).prop_map(|(n, ok)| Step::Tried(n, ok)),
        3 => Just(Step::Query),
        3 => Just(Step::Refilled),
        1 => Just(Step::Enable),
        1 => Just(Step::Disable),
        1 => Just(Step::Test),
        1 => (0i64..10_000_000).prop_map(Step::Replay),
        2 => Just(Step::Part),
        1 => Just(Step::Archive),
        3 => (1i64..10_000_000).prop_map(Step::Later),
        1 => Just(Step::Restart),
    ]
}

/// State before a step, compared with the state after it.
struct StateBefore {
    rows: BTreeMap<Id, Delivery>,
    cursor: i64,
    disabled_by: Option<Id>,
    /// Deliveries that were attempted before the step, or could have been.
    under_way: Vec<Id>,
}

impl StateBefore {
    fn of(target: &Target) -> Self {
        let now = target.bench.now;
        let due = |d: &&Delivery| d.attempts == 0 || d.next_at <= now;
        Self {
            rows: target.rows.clone(),
            cursor: target.now().cursor,
            disabled_by: target.now().disabled_by.as_ref().map(|failed| failed.id),
            under_way: target.now().window.values().filter(due).map(|d| d.id).collect(),
        }
    }
}

/// Executes a step. At most one refill is in progress; it is read in one step and delivered in a later one.
fn take(step: Step, target: &mut Target, refill: &mut Option<EndpointNews>) -> Result<(), TestCaseError> {
    match step {
        Step::Follow(count) => target.follow(count),
        Step::Tried(n, ok) => try_delivery(target, n, ok)?,
        Step::Query if target.refill().is_some() && refill.is_none() => *refill = Some(target.query()),
        Step::Query => {}
        Step::Refilled => {
            if let Some(refill) = refill.take() {
                target.tell(&refill).unwrap();
            }
        }
        Step::Enable => drop(target.tell(&EndpointCommand::Enable).unwrap()),
        Step::Disable => drop(target.tell(&EndpointCommand::Disable).unwrap()),
        Step::Test => {
            let event_id = id(5000 + target.rows.len() as u32);
            let due = DueEvent { event_id, seq: 0, event: "webhook.test".into(), body: "{}".into() };
            target.tell(&DeliveryCommand::Test(due)).unwrap();
        }
        Step::Replay(back) => {
            let since = target.bench.now.plus_ms(-back);
            let count = target.rows.values().filter(|d| d.is_past() && d.created_at >= since).count() as u32;
            let running = target.now().replaying.is_some();
            prop_assert_eq!(target.tell(&ReplayEvents { since, count }).is_err(), running);
        }
        Step::Part => {
            if let Some(part) = target.next_part(3) {
                target.tell(&part).unwrap();
            }
        }
        Step::Archive => archive_copy(target)?,
        Step::Later(ms) => target.bench.now = target.bench.now.plus_ms(ms),
        Step::Restart => {
            *refill = None;
            restart(target);
        }
    }
    Ok(())
}

/// Records an attempt of a delivery in the window, and checks that its row counts the attempt and waits as long as the
/// schedule requires.
fn try_delivery(target: &mut Target, n: usize, ok: bool) -> Result<(), TestCaseError> {
    let sent: Vec<Id> = target.now().window.keys().copied().collect();
    if let Some(sent) = (!sent.is_empty()).then(|| sent[n % sent.len()]) {
        // In the window attempts may count anew before the row says so; the row is written with the next attempt.
        let was = target.now().window.get(&sent).unwrap().attempts as usize;
        target.tried(sent, ok);
        let row = &target.rows[&sent];
        prop_assert_eq!(row.attempts as usize, was + 1);
        let disabled = target.now().state == EndpointState::Disabled;
        if row.state == DeliveryState::Pending && !(disabled && was >= 5) {
            let wait = row.next_at.since(target.bench.now);
            let delay = target.bench.rules.webhook_schedule_ms[was];
            prop_assert!(wait >= delay && wait <= delay + target.bench.rules.webhook_jitter_ms);
        }
    }
    Ok(())
}

/// Deletes a copy of the endpoint, and checks that it comes to rest once refills have cancelled its backlog.
fn archive_copy(target: &Target) -> Result<(), TestCaseError> {
    let mut gone = Target { bench: Bench::new(), endpoint: target.endpoint.clone(), rows: target.rows.clone() };
    gone.tell(&EndpointCommand::Archive).unwrap();
    while gone.refill().is_some() {
        let refill = gone.query();
        gone.tell(&refill).unwrap();
    }
    prop_assert!(gone.count(DeliveryState::Pending) == 0 && gone.now().at_rest() && gone.now().effects().is_empty());
    prop_assert!(gone.tell(&EndpointCommand::Enable).is_err());
    Ok(())
}

/// Reloads the endpoint and its window from the stored data.
fn restart(target: &mut Target) {
    let head: Endpoint = serde_json::from_str(&serde_json::to_string(target.now()).unwrap()).unwrap();
    let EndpointNews::Refilled { mut rows, more, .. } = target.query() else { unreachable!() };
    let more = more || rows.len() > DELIVERY_WINDOW;
    rows.truncate(DELIVERY_WINDOW);
    target.endpoint = Some(head.hydrate(rows, more));
}

/// Checks the state after a step. `may_end` states whether deliveries in progress may have left the window.
fn check(target: &Target, before: &StateBefore, may_end: bool) -> Result<(), TestCaseError> {
    let now = target.now();
    prop_assert!(now.window.size() <= DELIVERY_WINDOW);
    prop_assert!(now.cursor >= before.cursor);
    prop_assert!(now.state == EndpointState::Disabled || now.disabled_reason.is_none());
    if now.state == EndpointState::Disabled {
        let sends = now.effects().iter().any(|want| matches!(want, EndpointEffect::Deliver { .. }));
        prop_assert!(!sends, "a disabled one is sent to");
    }
    for (id, was) in before.rows.iter().filter(|(_, was)| was.state != DeliveryState::Pending) {
        if before.disabled_by == Some(*id) && now.state == EndpointState::Active {
            prop_assert_eq!(target.rows[id].state, DeliveryState::Pending, "enabling sends it too");
        } else {
            prop_assert_eq!(&target.rows[id], was);
        }
    }
    for id in before.under_way.iter().filter(|_| !may_end) {
        prop_assert!(now.window.contains_key(id), "what is under way is pushed out, and sent twice");
    }
    for held in now.window.values() {
        let row = &target.rows[&held.id];
        prop_assert_eq!((row.state, &row.body), (DeliveryState::Pending, &held.body));
    }
    let outside = |d: &&Delivery| d.state == DeliveryState::Pending && !now.window.contains_key(&d.id);
    prop_assert!(now.backlog || target.rows.values().find(outside).is_none(), "a delivery is forgotten");
    let mut unique: Vec<_> = target.rows.values().map(|d| (d.event_id, d.replay)).collect();
    unique.sort_unstable();
    unique.dedup();
    prop_assert_eq!(unique.len(), target.rows.len());
    Ok(())
}

/// Lets the endpoint answer again until everything pending is delivered.
fn deliver_everything(target: &mut Target) {
    target.tell(&EndpointCommand::Enable).unwrap();
    for _ in 0..10_000 {
        if let Some((sent, ..)) = target.deliveries().first().copied() {
            target.tried(sent, true);
        } else if let Some(part) = target.next_part(3) {
            target.tell(&part).unwrap();
        } else if target.refill().is_some() {
            let refill = target.query();
            target.tell(&refill).unwrap();
        } else {
            break;
        }
    }
}

proptest! {
    #[test]
    fn the_window_is_bounded_nothing_is_lost_and_nothing_that_ended_begins_again(
        steps in proptest::collection::vec(any_step(), 1..100),
    ) {
        let mut target = target();
        let mut refill: Option<EndpointNews> = None;
        for step in steps {
            let before = StateBefore::of(&target);
            let may_end = matches!(step, Step::Tried(..) | Step::Restart);
            take(step, &mut target, &mut refill)?;
            check(&target, &before, may_end)?;
        }
        deliver_everything(&mut target);
        prop_assert_eq!(target.count(DeliveryState::Pending), 0);
    }
}
