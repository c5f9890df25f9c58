#![expect(clippy::unwrap_used, reason = "tests")]
use proptest::prelude::*;

use super::*;

fn rule(limit: u32, period_ms: i64) -> LimitRule {
    LimitRule { limit, period_ms }
}

proptest! {
    /// Checks that no window admits more requests than the limit, and that no request is rejected before the limit is
    /// reached.
    #[test]
    fn a_window_lets_through_its_limit_and_no_more(
        limit in 0_u32..20, period in 1_i64..500, steps in prop::collection::vec(0_i64..200, 1..200),
    ) {
        let (rule, mut window, mut now) = (rule(limit, period), Window::default(), Timestamp(1_000_000));
        let mut passed = std::collections::BTreeMap::<i64, u32>::new();
        for step in steps {
            now = now.plus_ms(step);
            let before = *passed.get(&rule.index(now)).unwrap_or(&0);
            // A limit of nothing is seen when the window begins.
            let full = rule.is_full(window, now);
            let standing = rule.count(&mut window, now);
            prop_assert_eq!(standing.refused, before == limit);
            prop_assert!(full == standing.refused || limit == 0);
            let after = before + u32::from(!standing.refused);
            passed.insert(rule.index(now), after);
            prop_assert_eq!((standing.limit, standing.remaining), (limit, limit - after));
            prop_assert!(0 < standing.ends_in_ms && standing.ends_in_ms <= period);
            prop_assert_eq!(rule.index(now.plus_ms(standing.ends_in_ms)), rule.index(now) + 1);
            prop_assert!(i64::from(standing.retry_after()) * 1000 >= standing.ends_in_ms);
        }
    }

    /// Checks that counting a request and reversing it leaves the window unchanged.
    #[test]
    fn a_request_taken_back_was_never_there(limit in 1_u32..20, before in 0_u32..19, at in 0_i64..10_000) {
        let (rule, mut window, now) = (rule(limit, 777), Window::default(), Timestamp(at));
        for _ in 0..before.min(limit - 1) {
            rule.count(&mut window, now);
        }
        let was = rule.count(&mut window.clone(), now);
        rule.count(&mut window, now);
        rule.take_back(&mut window, now);
        prop_assert_eq!(rule.count(&mut window, now), was);
    }

    /// Checks that requests whose timestamps arrive out of order around the boundary between two windows get no second
    /// allowance.
    #[test]
    fn the_turn_of_a_window_gives_nothing_twice(early in prop::collection::vec(any::<bool>(), 1..100)) {
        let (rule, mut window) = (rule(5, 1000), Window::default());
        rule.count(&mut window, Timestamp(10_000));
        let passed = early.iter().filter(|early| {
            let now = Timestamp(if **early { 9_999 } else { 10_000 });
            !rule.count(&mut window, now).refused
        });
        prop_assert!(passed.count() <= 4);
    }

    #[test]
    fn the_tightest_is_one_of_both_whatever_the_order(
        a in (0_u32..9, 1_i64..99, any::<bool>()), b in (0_u32..9, 1_i64..99, any::<bool>()),
    ) {
        let [a, b] = [a, b].map(|(remaining, ends_in_ms, refused)| RateLimitStatus { limit: 9, remaining, ends_in_ms, refused });
        let tight = a.tighter(b);
        prop_assert!(tight == a || tight == b);
        prop_assert_eq!(tight.refused, a.refused || b.refused);
        let (swapped, other) = (b.tighter(a), tight);
        prop_assert_eq!((swapped.refused, swapped.ends_in_ms), (other.refused, other.ends_in_ms));
        if !tight.refused {
            prop_assert_eq!(tight.remaining, a.remaining.min(b.remaining));
        }
    }
}

#[test]
fn a_window_may_be_forgotten_when_it_is_over() {
    let (rule, mut window) = (rule(5, 1000), Window::default());
    rule.count(&mut window, Timestamp(1500));
    assert!(!rule.over(window, Timestamp(1999)));
    assert!(rule.over(window, Timestamp(2000)));
}

#[test]
fn a_clock_set_far_back_begins_anew() {
    let (rule, mut window) = (rule(1, 1000), Window::default());
    rule.count(&mut window, Timestamp(1_000_000));
    assert!(rule.count(&mut window, Timestamp(1_000_000)).refused);
    assert!(!rule.count(&mut window, Timestamp(5_000)).refused);
}

#[test]
fn names_and_their_order_are_fixed() {
    let places = LimitKind::ALL.iter().enumerate().map(|(place, named)| (place, *named as usize));
    assert!(places.into_iter().all(|(place, number)| place == number));
    let mut words = LimitKind::ALL.map(LimitKind::word).to_vec();
    words.dedup();
    assert_eq!(words.len(), LimitKind::ALL.len());
    assert!(LimitKind::ALL.iter().all(|named| named.period_ms() > 0));
    assert_eq!(*LimitKind::ALL.first().unwrap(), LimitKind::Staff);
}

#[test]
fn each_limit_has_a_period_and_words() {
    use LimitKind as L;
    for (kind, word, minutes, words) in [
        (L::Staff, "staff", 1, ("requests", "a minute")),
        (L::Customer, "customer", 1, ("requests", "a minute")),
        (L::Anonymous, "anonymous", 1, ("requests", "a minute")),
        (L::Login, "login", 15, ("sign-in attempts", "15 minutes")),
        (L::Account, "account", 15, ("sign-in attempts", "15 minutes")),
        (L::Agent, "agent", 1, ("commands", "a minute")),
        (L::LinkOfEmail, "link_of_email", 15, ("sign-in links", "15 minutes")),
        (L::LinkOfAddress, "link_of_address", 15, ("sign-in links", "15 minutes")),
        (L::DraftOrder, "draft_order", 60, ("draft orders", "an hour")),
        (L::OrderCheckout, "order_checkout", 60, ("checkouts", "an hour")),
        (L::Intake, "intake", 60, ("custom requests", "an hour")),
        (L::Export, "export", 60, ("exports", "an hour")),
    ] {
        assert_eq!((kind.word(), kind.period_ms(), kind.words()), (word, minutes * 60_000, words));
    }
}

#[test]
fn whoever_is_refused_waits_whole_seconds_and_at_least_one() {
    let wait = |ends_in_ms| RateLimitStatus { limit: 1, remaining: 0, ends_in_ms, refused: true }.retry_after();
    assert_eq!([-5_000, 0, 1, 1_000, 1_001, 2_000, 2_001].map(wait), [1, 1, 1, 1, 2, 2, 3]);
}

#[test]
fn windows_are_compared_by_their_index() {
    let rule = rule(2, 1_000);
    let window = Window { index: 5, count: 2 };
    for (ms, is_full, is_over) in
        [(3_999, false, false), (4_000, true, false), (5_000, true, false), (5_999, true, false), (6_000, false, true)]
    {
        let now = Timestamp(ms);
        assert_eq!((rule.is_full(window, now), rule.over(window, now)), (is_full, is_over), "{ms}");
        let (mut counted, mut taken_back) = (window, window);
        assert_eq!(rule.count(&mut counted, now).refused, is_full, "{ms}");
        rule.take_back(&mut taken_back, now);
        assert_eq!(taken_back.count, if is_full { 1 } else { 2 }, "{ms}");
    }
    assert!(!rule.is_full(Window { index: 5, count: 1 }, Timestamp(5_000)));
    let status = rule.standing(3, false, Timestamp(5_250));
    assert_eq!(status, RateLimitStatus { limit: 2, remaining: 0, ends_in_ms: 750, refused: false });
}
