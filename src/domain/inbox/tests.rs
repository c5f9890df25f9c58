#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::domain::testing::{Bench, id};

#[test]
fn tried_hourly_until_matched_and_given_up_aloud_after_thirty_days() {
    let mut bench = Bench::new();
    let mut kept: Option<Inbound> = None;
    let keep = InboundCommand::Keep { event_id: "evt_1".to_owned(), body: "{}".to_owned() };
    let missed = InboundCommand::Tried { matched: false };
    assert!(bench.tell(&mut kept, id(1), &missed).is_err());
    bench.tell(&mut kept, id(1), &keep).unwrap();
    assert!(bench.tell(&mut kept, id(1), &keep).unwrap().next.is_none(), "a repeat is the same thing");
    assert_eq!(kept.as_ref().unwrap().wants(), [Match { at: bench.now }], "at once");
    bench.tell(&mut kept, id(1), &missed).unwrap();
    assert_eq!(kept.as_ref().unwrap().wants(), [Match { at: bench.now.plus_ms(HOURLY_MS) }]);
    let mut matched = kept.clone();
    bench.tell(&mut matched, id(1), &InboundCommand::Tried { matched: true }).unwrap();
    assert!(matched.as_ref().unwrap().at_rest() && matched.unwrap().wants().is_empty());
    bench.now = bench.now.plus_ms(KEPT_DAYS * 24 * HOURLY_MS);
    let given_up = bench.tell(&mut kept, id(1), &missed).unwrap();
    assert_eq!(given_up.events[0].event, "payment.unmatched");
    assert_eq!(given_up.created.len(), 1);
    assert!(kept.unwrap().at_rest());
}
