//! Tests of the exact steps of a link: each reading, outcome and decision by itself. The tests of materials show that
//! together they neither lose nor repeat anything.
#![expect(clippy::unwrap_used, reason = "tests")]

mod merging;

use super::choose::choose;
use super::*;
use crate::testing::id;

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const BOOKING: u32 = 50;

fn grams(all: &[(i64, i64)]) -> Quantities {
    all.iter().map(|(item, units)| (*item, Amount::units(*units))).collect()
}

fn items(all: &[i64]) -> BTreeSet<i64> {
    all.iter().copied().collect()
}

/// Builds a link to spools with the given agreed amounts.
fn link(agreed: &[(i64, i64)]) -> StockLink {
    StockLink {
        id: id(1),
        material_id: id(2),
        system: StockSystem::Spools,
        entry: 5,
        name: "PLA".to_owned(),
        server: "http://spools".to_owned(),
        agreed: Some(grams(agreed)),
        last_amounts: None,
        pending: None,
        given_up: Vec::new(),
        unread_uses: Vec::new(),
        awaited: Vec::new(),
        owed: Quantities::new(),
        conflict: None,
        round: 3,
        created_at: NOW,
    }
}

/// Builds a reading of the linked entry with the given amounts.
fn reading(all: &[(i64, i64)]) -> StockReading {
    let item = |(number, units): &(i64, i64)| {
        let (quantity, mark) = (Some(Amount::units(*units)), Amount::units(7));
        (*number, ItemReading { quantity, room: None, mark, trace: Some("trace".to_owned()), fixed: false })
    };
    StockReading {
        server: "http://spools".to_owned(),
        name: Some("PLA".to_owned()),
        unit: StockUnit::Gram,
        items: all.iter().map(item).collect(),
    }
}

/// Merges a reading while the shop holds the given amount and printers deduct from the given spools.
fn look_in_use(link: &StockLink, reading: &StockReading, quantity: Amount, in_use: &BTreeSet<i64>) -> SyncStep {
    let (drawn, overdue) = (Quantities::new(), BTreeSet::new());
    let ours = OurSide {
        quantity,
        unit: StockUnit::Gram,
        unit_name: "g",
        drawn: &drawn,
        in_use,
        overdue: &overdue,
        booking: id(BOOKING),
        now: NOW,
    };
    link.merge_reading(reading, &ours)
}

fn look(link: &StockLink, reading: &StockReading, quantity: i64) -> SyncStep {
    look_in_use(link, reading, Amount::units(quantity), &BTreeSet::new())
}

fn booking(number: u32, delta: i64) -> Booking {
    Booking {
        id: id(number),
        item: 1,
        delta: Amount::units(delta),
        before: Amount::units(100),
        mark: Amount::units(7),
        trace: Some("trace".to_owned()),
        at: NOW,
    }
}

fn conflict(link: &StockLink) -> Option<ConflictKind> {
    link.conflict.as_ref().map(|conflict| conflict.kind)
}

fn conflicting(kind: ConflictKind) -> StockLink {
    StockLink { conflict: Some(SyncConflict { kind, message: "look".to_owned() }), ..link(&[(1, 100)]) }
}

#[test]
fn some_conflicts_stop_everything_and_others_only_what_they_are_about() {
    use ConflictKind as K;
    let table = [
        (K::EntryGone, true),
        (K::ItemsGone, true),
        (K::WrongUnit, true),
        (K::UnknownQuantity, true),
        (K::TooManyItems, true),
        (K::Negative, true),
        (K::TooMuch, true),
        (K::NoRoom, false),
        (K::Refused, false),
        (K::Unclear, true),
        (K::PrintNotBooked, false),
    ];
    for (kind, stops) in table {
        assert_eq!((kind.stops(), conflicting(kind).rests()), (stops, stops), "{kind:?}");
        assert_eq!(conflicting(kind).is_unclear(), kind == K::Unclear);
    }
    assert!(!link(&[]).rests() && !link(&[]).is_unclear());
    assert_eq!(StockSystem::ALL.map(StockSystem::words), ["the parts system", "the spool system"]);
}

#[test]
fn what_was_drawn_from_a_slot_is_what_it_lacks_of_the_agreed_amount() {
    let slots = || [(1, Some(Amount::units(80))), (2, None), (3, Some(Amount::units(60))), (9, Some(Amount::units(1)))];
    let spools = link(&[(1, 100), (2, 50), (3, 50)]);
    assert_eq!(drawn(&spools, slots()), grams(&[(1, 20), (2, 0), (3, 0)]));
    for other in
        [StockLink { system: StockSystem::Parts, ..spools.clone() }, StockLink { agreed: None, ..spools.clone() }]
    {
        assert!(drawn(&other, slots()).is_empty());
        assert_eq!(other.knows(1, Amount::units(200)), None);
    }
    let settled = |units| Some(SpoolRemainder::Settled(Amount::units(units)));
    assert_eq!(spools.knows(1, Amount::units(200)), settled(100));
    assert_eq!(link(&[(1, -5), (2, 5)]).knows(1, Amount::ZERO), settled(0), "less than nothing is left");
    assert_eq!(spools.knows(9, Amount::units(200)), None);
    let open = [
        (spools.clone(), 199),
        (StockLink { pending: Some(booking(BOOKING, -1)), ..spools.clone() }, 200),
        (StockLink { conflict: conflicting(ConflictKind::Refused).conflict, ..spools }, 200),
    ];
    for (link, quantity) in open {
        assert_eq!(link.knows(1, Amount::units(quantity)), Some(SpoolRemainder::Unsettled), "{link:?}");
    }
}

#[test]
fn a_removal_takes_what_is_owed_then_what_was_drawn_then_the_oldest() {
    let none: &[(i64, i64)] = &[];
    let cases = [
        // Amount due; amounts owed, drawn and in use, by item; the chosen item with its share.
        (-30, none, none, &[][..], Some((1, -30))),
        (-30, none, &[(2, 20)][..], &[][..], Some((2, -20))),
        (-30, none, &[(2, 40)][..], &[][..], Some((2, -30))),
        (-30, none, &[(2, 0)][..], &[][..], Some((2, -30))),
        (-30, &[(1, 10)][..], &[(2, 20)][..], &[][..], Some((1, -10))),
        (-30, none, none, &[1][..], Some((2, -30))),
        (-30, none, &[(1, 5)][..], &[1][..], Some((2, -30))),
        (-130, none, none, &[][..], Some((1, -100))),
        (-130, none, &[(3, 130)][..], &[][..], Some((1, -100))),
        (-30, none, none, &[1, 2][..], None),
        (30, none, none, &[][..], Some((2, 30))),
        (30, none, none, &[2][..], Some((1, 30))),
        (30, none, none, &[1, 2][..], None),
    ];
    let mut look = reading(&[(1, 100), (2, 50), (3, 0)]);
    look.items.get_mut(&3).unwrap().fixed = true;
    for (due, owed, used, in_use, expected) in cases {
        let chosen = choose(Amount::units(due), &look, &grams(owed), &grams(used), &items(in_use));
        let expected = expected.map(|(item, units)| (item, Amount::units(units)));
        assert_eq!(chosen, expected, "{due} {owed:?} {used:?} {in_use:?}");
    }
    for (room, expected) in [(Some(40), (2, 30)), (Some(10), (2, 10)), (Some(0), (1, 30)), (None, (2, 30))] {
        look.items.get_mut(&2).unwrap().room = room.map(Amount::units);
        let chosen = choose(Amount::units(30), &look, &grams(none), &grams(none), &items(&[]));
        assert_eq!(chosen, Some((expected.0, Amount::units(expected.1))), "{room:?}");
    }
    look.items.get_mut(&1).unwrap().fixed = true;
    let chosen = choose(Amount::units(-30), &look, &grams(none), &grams(none), &items(&[]));
    assert_eq!(chosen, Some((2, Amount::units(-30))), "the other cannot be changed from here");
}

#[test]
fn what_printers_did_not_record_is_named_with_its_spools() {
    let use_of = |spools: &[i64], missing| AwaitedUse {
        spools: items(spools),
        due: Amount::ZERO,
        missing: Amount::units(missing),
        at: NOW,
    };
    let missing =
        StockLink { awaited: vec![use_of(&[1], 5), use_of(&[2, 3], 7), use_of(&[4], 0)], ..link(&[(1, 100)]) };
    let conflict = missing.missing_use("g").unwrap();
    assert_eq!(conflict.kind, ConflictKind::PrintNotBooked);
    assert!(
        conflict.message.starts_with("prints used 5 g of spool 1 and 7 g of spools 2, 3, but"),
        "{}",
        conflict.message
    );
    assert_eq!(link(&[(1, 100)]).missing_use("g"), None);
    let of = |spool| missing.missing_from(spool);
    assert_eq!([of(1), of(3), of(4), of(9)], [Some(Amount::units(5)), Some(Amount::units(7)), None, None]);
    let mut ours = missing.clone();
    ours.decide_missing(RightSide::Ours);
    assert_eq!((&ours.owed, ours.awaited.len()), (&grams(&[(1, 5), (3, 7)]), 0));
    ours.pay_owed(3, Amount::units(-2));
    ours.pay_owed(1, Amount::units(5));
    assert_eq!(ours.owed, grams(&[(1, 5), (3, 5)]), "only a removal pays it");
    ours.pay_owed(1, Amount::units(-5));
    assert_eq!(ours.owed, grams(&[(3, 5)]));
    let mut theirs = missing;
    theirs.decide_missing(RightSide::Theirs);
    assert!(theirs.owed.is_empty() && theirs.awaited.is_empty());
}

#[test]
fn a_round_looks_sends_once_and_looks_again_until_nothing_is_left() {
    let (calm, sending) = (link(&[(1, 100)]), StockLink { pending: Some(booking(BOOKING, -1)), ..link(&[(1, 100)]) });
    let mut round = LinkRound::default();
    assert_eq!([round.next(&calm), round.next(&calm)], [SyncMove::Look, SyncMove::Rest(false)]);
    let mut round = LinkRound::default();
    for _ in 0..50 {
        assert_eq!((round.next(&calm), round.next(&sending)), (SyncMove::Look, SyncMove::Send(booking(BOOKING, -1))));
        assert_eq!(round.sent(SendOutcome::Answered(BookingVerdict::Booked)), Some(BookingVerdict::Booked));
    }
    assert_eq!(round.next(&calm), SyncMove::Rest(false), "enough for one round");
    // Changes that were sent before or given up are looked up first.
    let mut round = LinkRound::default();
    assert_eq!(round.next(&sending), SyncMove::Seek(booking(BOOKING, -1)));
    let lost = StockLink { given_up: vec![booking(100, 1), booking(101, 1)], ..calm };
    let mut round = LinkRound::default();
    assert_eq!(round.next(&lost), SyncMove::Seek(booking(100, 1)));
    let verdict = round.sought(&lost, &booking(100, 1), BookingVerdict::Booked, false);
    assert_eq!(verdict, Some(BookingVerdict::Booked));
    let rest = StockLink { given_up: vec![booking(101, 1)], ..lost };
    assert_eq!(round.next(&rest), SyncMove::Seek(booking(101, 1)));
    assert_eq!(round.sought(&rest, &booking(101, 1), BookingVerdict::NotBooked, true), None);
    assert_eq!([round.next(&rest), round.next(&rest)], [SyncMove::Look, SyncMove::Rest(false)]);
    let unclear = StockLink { pending: Some(booking(BOOKING, -1)), ..conflicting(ConflictKind::Unclear) };
    let mut round = LinkRound::default();
    assert_eq!([round.next(&unclear), round.next(&unclear)], [SyncMove::Look, SyncMove::Rest(false)]);
}

#[test]
fn a_round_ends_with_what_cannot_be_known_yet() {
    use BookingVerdict as V;
    let sending = StockLink { pending: Some(booking(BOOKING, -1)), ..link(&[(1, 100)]) };
    let (refused, no) = (|| V::Refused("no".to_owned()), || "no".to_owned());
    let outcomes = [
        (SendOutcome::Answered(V::Booked), Some(V::Booked), None),
        (SendOutcome::Refused(no()), Some(refused()), Some(false)),
        (SendOutcome::NeverLeft, Some(V::NotBooked), Some(false)),
        (SendOutcome::Unknown, None, Some(true)),
    ];
    for (outcome, verdict, over) in outcomes {
        let mut round = LinkRound::default();
        assert_eq!(round.sent(outcome.clone()), verdict, "{outcome:?}");
        let expected = over.map_or(SyncMove::Seek(booking(BOOKING, -1)), SyncMove::Rest);
        assert_eq!(round.next(&sending), expected, "{outcome:?}");
    }
    let own = booking(BOOKING, -1);
    for (verdict, long_enough, reported, is_over) in [
        (V::NotBooked, false, None, true),
        (V::NotBooked, true, Some(V::GivenUp), false),
        (V::Booked, false, Some(V::Booked), false),
        (V::Unclear(no()), false, Some(V::Unclear(no())), false),
    ] {
        let mut round = LinkRound::default();
        assert_eq!(round.sought(&sending, &own, verdict.clone(), long_enough), reported, "{verdict:?} {long_enough}");
        assert_eq!(round.next(&sending) == SyncMove::Rest(true), is_over, "{verdict:?} {long_enough}");
    }
}

#[test]
fn a_command_is_for_the_system_that_it_names() {
    for system in StockSystem::ALL {
        let commands = [
            LinkCommand::Link { system, entry: 1, name: "PLA".to_owned() },
            LinkCommand::Agree { system, right: RightSide::Ours, theirs: None },
            LinkCommand::Settled { system, booking: id(1), verdict: BookingVerdict::Booked },
        ];
        assert!(commands.iter().all(|command| command.system() == system));
    }
}
