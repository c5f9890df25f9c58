//! Tests of late refills, and of clocks that are set back.

use super::*;

#[test]
fn a_refill_never_pushes_out_a_delivery_that_is_due() {
    let mut target = target();
    target.follow(3 * DELIVERY_WINDOW as i64);
    for sent in target.now().window.keys().copied().take(DELIVERY_WINDOW / 2).collect::<Vec<_>>() {
        target.tried(sent, true);
    }
    let refill = target.query();
    // More events come while the refill is read, and fill the window again.
    target.follow(DELIVERY_WINDOW as i64);
    let under_way: Vec<Id> = target.now().window.keys().copied().collect();
    target.tell(&refill).unwrap();
    assert!(under_way.iter().all(|id| target.now().window.contains_key(id)), "each would be sent twice");
}

#[test]
fn a_refill_that_more_overtook_than_are_remembered_brings_nothing_back() {
    let mut target = target();
    target.follow(2 * DELIVERY_WINDOW as i64);
    for sent in target.now().window.keys().copied().take(DELIVERY_WINDOW / 2).collect::<Vec<_>>() {
        target.tried(sent, true);
    }
    let slow = target.query();
    for _ in 0..40 {
        target.follow(16);
        for sent in target.now().window.keys().copied().collect::<Vec<_>>() {
            target.tried(sent, true);
        }
    }
    target.tell(&slow).unwrap();
    let again = target.now().window.keys().find(|id| target.rows[id].state != DeliveryState::Pending);
    assert_eq!(again, None, "delivered, and sent again");
    assert!(target.refill().is_some(), "read again");
    assert!(target.tell(&slow).unwrap().next.is_none(), "a late refill changes nothing");
}

#[test]
fn a_clock_that_is_set_back_delays_no_retry_and_forgets_no_count() {
    let mut target = target();
    target.follow(DELIVERY_WINDOW as i64 + 1);
    let first = *target.now().window.keys().next().unwrap();
    target.tried(first, false);
    let (retries, jitter) = (target.bench.rules.webhook_schedule_ms.clone(), target.bench.rules.webhook_jitter_ms);
    let waits = target.rows[&first].longest_wait(&retries, jitter);
    assert_eq!(waits, Duration::from_millis(90_000), "one minute and its jitter, whatever the clock says");
    let disabled = Endpoint { state: EndpointState::Disabled, ..target.endpoint.clone().unwrap() };
    target.endpoint = Some(disabled);
    target.bench.now = target.bench.now.plus_ms(-3_600_000);
    target.tell(&EndpointCommand::Enable).unwrap();
    for sent in target.now().window.keys().copied().collect::<Vec<_>>() {
        target.tried(sent, true);
    }
    // The first refill passes over what left the window before; the next one brings it.
    while target.refill().is_some() {
        let refill = target.query();
        target.tell(&refill).unwrap();
    }
    assert_eq!(target.now().window.get(&first).unwrap().attempts, 0, "tried before it was enabled");
    assert_eq!(target.rows[&first].longest_wait(&retries, jitter), Duration::ZERO);
    // A failure after enabling still counts after a restart.
    target.tried(first, false);
    let head: Endpoint = serde_json::from_str(&serde_json::to_string(target.now()).unwrap()).unwrap();
    target.endpoint = Some(head.hydrate([target.rows[&first].clone()], false));
    assert_eq!(target.now().window.get(&first).unwrap().attempts, 1);
}

#[test]
fn a_loaded_endpoint_has_what_is_pending_and_knows_whether_there_is_more() {
    let mut target = target();
    target.follow(1);
    let pending = target.rows.values().next().unwrap().clone();
    let ended = Delivery { id: id(77), state: DeliveryState::Delivered, ..pending.clone() };
    for (backlog, more, expected) in
        [(false, false, false), (true, false, true), (false, true, true), (true, true, true)]
    {
        let stored = Endpoint { backlog, window: Default::default(), ..target.endpoint.clone().unwrap() };
        let loaded = stored.hydrate([pending.clone(), ended.clone()], more);
        assert_eq!((loaded.backlog, loaded.window.size()), (expected, 1), "{backlog} {more}");
    }
}

#[test]
fn only_attempts_before_the_endpoint_was_enabled_are_forgotten() {
    let mut target = target();
    target.follow(1);
    let fresh = target.rows.values().next().unwrap().clone();
    let enabled_at = target.bench.now.plus_ms(10);
    for (anew_at, attempted_ms, attempts, is_forgotten) in [
        (Some(enabled_at), Some(9), 1, true),
        (Some(enabled_at), Some(9), 0, false),
        (Some(enabled_at), Some(10), 1, false),
        (Some(enabled_at), None, 1, false),
        (None, Some(9), 1, false),
    ] {
        let attempted_at = attempted_ms.map(|ms| target.bench.now.plus_ms(ms));
        let row = Delivery { attempts, attempted_at, ..fresh.clone() };
        let endpoint = Endpoint { anew_at, ..target.endpoint.clone().unwrap() };
        let now = enabled_at.plus_ms(5);
        let reset = Delivery { attempts: 0, next_at: now, ..row.clone() };
        assert_eq!(endpoint.anew(row.clone(), now), if is_forgotten { reset } else { row });
    }
}
