//! Random commands, late refills and restarts: the window stays bounded, nothing is lost, and no ended delivery
//! restarts.

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

proptest! {
    #[test]
    fn the_window_is_bounded_nothing_is_lost_and_nothing_that_ended_begins_again(
        steps in proptest::collection::vec(any_step(), 1..100),
    ) {
        let mut target = target();
        // At most one refill is under way; it is read at one time and delivered at a later one.
        let mut under_way: Option<EndpointCommand> = None;
        for step in steps {
            let (before, cursor) = (target.rows.clone(), target.now().cursor);
            let disabled_by = target.now().disabled_by.as_ref().map(|failed| failed.id);
            let now = target.bench.now;
            let due = |d: &&Delivery| d.attempts == 0 || d.next_at <= now;
            let under_way_before: Vec<Id> = target.now().window.values().filter(due).map(|d| d.id).collect();
            let may_end = matches!(step, Step::Tried(..) | Step::Restart);
            match step {
                Step::Follow(count) => target.follow(count),
                Step::Tried(n, ok) => {
                    let sent: Vec<Id> = target.now().window.keys().copied().collect();
                    if let Some(sent) = (!sent.is_empty()).then(|| sent[n % sent.len()]) {
                        // In the window attempts may count anew before the row says so; the row is written with the
                        // next attempt.
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
                }
                Step::Query => if target.refill().is_some() && under_way.is_none() {
                    under_way = Some(target.query());
                },
                Step::Refilled => if let Some(refill) = under_way.take() {
                    target.tell(&refill).unwrap();
                },
                Step::Enable => { target.tell(&EndpointCommand::Enable).unwrap(); }
                Step::Disable => { target.tell(&EndpointCommand::Disable).unwrap(); }
                Step::Test => {
                    let due = DueEvent { event_id: id(5000 + before.len() as u32), seq: 0, event: "webhook.test".into(), body: "{}".into() };
                    target.tell(&EndpointCommand::Test(due)).unwrap();
                }
                Step::Replay(back) => {
                    let since = target.bench.now.plus_ms(-back);
                    let count = before.values().filter(|d| d.is_past() && d.created_at >= since).count() as u32;
                    let running = target.now().replaying.is_some();
                    prop_assert_eq!(target.tell(&EndpointCommand::Replay { since, count }).is_err(), running);
                }
                Step::Part => if let Some(part) = target.next_part(3) {
                    target.tell(&part).unwrap();
                },
                Step::Archive => {
                    // A deleted endpoint comes to rest once refills have cancelled its backlog.
                    let mut gone = Target { bench: Bench::new(), endpoint: target.endpoint.clone(), rows: target.rows.clone() };
                    gone.tell(&EndpointCommand::Archive).unwrap();
                    while gone.refill().is_some() {
                        let refill = gone.query();
                        gone.tell(&refill).unwrap();
                    }
                    prop_assert!(gone.count(DeliveryState::Pending) == 0 && gone.now().at_rest() && gone.now().effects().is_empty());
                    prop_assert!(gone.tell(&EndpointCommand::Enable).is_err());
                }
                Step::Later(ms) => target.bench.now = target.bench.now.plus_ms(ms),
                Step::Restart => {
                    under_way = None;
                    let head: Endpoint = serde_json::from_str(&serde_json::to_string(target.now()).unwrap()).unwrap();
                    let EndpointCommand::Refilled { mut rows, more, .. } = target.query() else { unreachable!() };
                    let more = more || rows.len() > DELIVERY_WINDOW;
                    rows.truncate(DELIVERY_WINDOW);
                    target.endpoint = Some(head.hydrate(rows, more));
                }
            }
            let now = target.now();
            prop_assert!(now.window.size() <= DELIVERY_WINDOW);
            prop_assert!(now.cursor >= cursor);
            prop_assert!(now.state == EndpointState::Disabled || now.disabled_reason.is_none());
            if now.state == EndpointState::Disabled {
                prop_assert!(!now.effects().iter().any(|want| matches!(want, EndpointEffect::Deliver { .. })), "a disabled one is sent to");
            }
            for (id, was) in before.iter().filter(|(_, was)| was.state != DeliveryState::Pending) {
                if disabled_by == Some(*id) && now.state == EndpointState::Active {
                    prop_assert_eq!(target.rows[id].state, DeliveryState::Pending, "enabling sends it too");
                } else {
                    prop_assert_eq!(&target.rows[id], was);
                }
            }
            for id in under_way_before.iter().filter(|_| !may_end) {
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
        }
        // Once the endpoint answers again, everything pending is delivered.
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
        prop_assert_eq!(target.count(DeliveryState::Pending), 0);
    }
}
