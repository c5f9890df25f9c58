//! Readings of a linked entry, outcomes of stock changes, and decisions by a person, each separately.

use super::*;
use crate::amount::MAX_AMOUNT;

#[test]
fn their_change_comes_in_and_ours_is_recorded_there() {
    let step = look(&link(&[(1, 100)]), &reading(&[(1, 70)]), 100);
    assert_eq!((step.delta, step.link.agreed, step.link.pending), (Amount::units(-30), Some(grams(&[(1, 70)])), None));
    assert_eq!((step.link.round, step.link.last_amounts), (4, None));
    let same = look(&link(&[(1, 100)]), &reading(&[(1, 100)]), 100);
    assert_eq!((same.delta, same.link), (Amount::ZERO, link(&[(1, 100)])), "nothing moved");
    // Both sides took 50: theirs comes in, and ours is recorded on what is left there.
    let both = look(&link(&[(1, 100)]), &reading(&[(1, 50)]), 50);
    let ours = Booking { before: Amount::units(50), ..booking(BOOKING, -50) };
    assert_eq!((both.delta, both.link.pending, both.link.round), (Amount::units(-50), Some(ours), 5));
    let more = look(&link(&[(1, 100)]), &reading(&[(1, 100)]), 120);
    assert_eq!((more.delta, more.link.pending), (Amount::ZERO, Some(booking(BOOKING, 20))));
    // Until it is settled, nothing else is read.
    let pending = StockLink { pending: Some(booking(BOOKING, -1)), ..link(&[(1, 100)]) };
    assert_eq!(look(&pending, &reading(&[(1, 70)]), 100).link, pending);
}

#[test]
fn what_cannot_be_merged_is_a_conflict_with_its_figures() {
    let agreed = || link(&[(1, 100), (2, 0)]);
    let of = |all: &[(i64, i64)], quantity: i64| look(&agreed(), &reading(all), quantity).link;
    assert_eq!(conflict(&of(&[(1, 50), (2, 0)], 50)), None, "nothing is left");
    let negative = of(&[(1, 40), (2, 0)], 50);
    let words = "the changes of -60 g in the other system and -50 g in this shop since both agreed on 100 g would make \
                 the stock negative: count the stock and decide which side is correct";
    let expected = SyncConflict { kind: ConflictKind::Negative, message: words.to_owned() };
    assert_eq!((negative.conflict, negative.last_amounts), (Some(expected), Some(grams(&[(1, 40), (2, 0)]))));
    let more_here = of(&[(1, -130), (2, 0)], 120).conflict.unwrap();
    assert!(more_here.message.starts_with("the changes of -230 g in the other system and +20 g in this shop"));
    assert_eq!(conflict(&of(&[(1, 100)], 100)), None, "an item that held nothing is gone");
    assert_eq!(conflict(&of(&[(3, 100), (2, 0)], 100)), None, "its stock was merged into another");
    let gone = of(&[(3, 90), (2, 0)], 100).conflict.unwrap();
    let words = "items with stock were deleted in the other system (1), -10 g in all: decide which side is correct";
    assert_eq!((gone.kind, gone.message.as_str()), (ConflictKind::ItemsGone, words));
    let most = MAX_AMOUNT.0 / 1000;
    assert_eq!(conflict(&of(&[(1, most), (2, 0)], 100)), None);
    assert_eq!(conflict(&of(&[(1, most), (2, 1)], 100)), Some(ConflictKind::TooMuch));
    let fixed = |quantity| {
        let mut full = reading(&[(1, 100)]);
        full.items.get_mut(&1).unwrap().fixed = true;
        look(&link(&[(1, 100)]), &full, quantity).link.conflict.unwrap()
    };
    assert!(fixed(120).message.starts_with("this shop counts 20 g more than the other system"));
    assert!(fixed(80).message.starts_with("this shop counts 20 g less than the other system"));
    assert_eq!(fixed(80).kind, ConflictKind::NoRoom);
    let printing = look_in_use(&link(&[(1, 100)]), &reading(&[(1, 100)]), Amount::units(80), &items(&[1])).link;
    assert_eq!((printing.pending, printing.conflict), (None, None), "it is recorded after the print");
}

#[test]
fn an_entry_that_cannot_be_counted_is_a_conflict() {
    let of = |change: fn(&mut StockReading)| {
        let mut odd = reading(&[(1, 70)]);
        change(&mut odd);
        let step = look(&link(&[(1, 100)]), &odd, 100);
        assert_eq!(
            (step.delta, step.link.agreed, step.link.last_amounts),
            (Amount::ZERO, Some(grams(&[(1, 100)])), None)
        );
        step.link.conflict.unwrap()
    };
    assert_eq!(of(|odd| odd.name = None).kind, ConflictKind::EntryGone);
    let unit = of(|odd| odd.unit = StockUnit::Piece);
    assert!(unit.kind == ConflictKind::WrongUnit && unit.message.contains("in g,"), "{unit:?}");
    let unknown = of(|odd| odd.items.get_mut(&1).unwrap().quantity = None);
    assert!(unknown.kind == ConflictKind::UnknownQuantity && unknown.message.contains("item 1;"), "{unknown:?}");
    let many = |count: i64| {
        let all: Vec<(i64, i64)> = (1..=count).map(|item| (item, 1)).collect();
        conflict(&look(&link(&[]), &reading(&all), 0).link)
    };
    assert_eq!((many(200), many(201)), (None, Some(ConflictKind::TooManyItems)));
    // A person decides whether it took effect, based on the amounts read in the meantime.
    let unclear = StockLink { pending: Some(booking(BOOKING, -1)), ..conflicting(ConflictKind::Unclear) };
    let read = look(&unclear, &reading(&[(1, 70)]), 100).link;
    assert_eq!(read, StockLink { last_amounts: Some(grams(&[(1, 70)])), ..unclear });
    let named = StockReading { name: Some("PLA black".to_owned()), ..reading(&[(1, 100)]) };
    assert_eq!(look(&link(&[(1, 100)]), &named, 100).link.name, "PLA black");
}

#[test]
fn an_outcome_moves_what_was_agreed_on_by_what_was_recorded() {
    let pending = StockLink { pending: Some(booking(BOOKING, -5)), ..link(&[(1, 100)]) };
    let settled = |verdict: BookingVerdict| pending.settled(id(BOOKING), &verdict).unwrap();
    let table = [
        (BookingVerdict::Booked, 95),
        (BookingVerdict::Partly(Amount::units(-2)), 98),
        (BookingVerdict::NotBooked, 100),
        (BookingVerdict::GivenUp, 100),
    ];
    for (verdict, agreed) in table {
        let next = settled(verdict.clone());
        assert_eq!((next.agreed, next.pending, next.round), (Some(grams(&[(1, agreed)])), None, 4), "{verdict:?}");
        assert!(next.given_up.is_empty() && next.conflict.is_none());
    }
    let refused = settled(BookingVerdict::Refused("no".to_owned()));
    let words = "the other system refused to record -5 on item 1: no";
    assert_eq!(refused.conflict, Some(SyncConflict { kind: ConflictKind::Refused, message: words.to_owned() }));
    let unclear = settled(BookingVerdict::Unclear("it is silent".to_owned()));
    assert_eq!((conflict(&unclear), unclear.pending.clone()), (Some(ConflictKind::Unclear), pending.pending.clone()));
    assert_eq!(unclear.settled(id(BOOKING), &BookingVerdict::Unclear("it is silent".to_owned())), None, "once");
    assert!(unclear.settled(id(BOOKING), &BookingVerdict::Booked).is_some_and(|next| next.conflict.is_none()));
    assert_eq!(pending.settled(id(99), &BookingVerdict::Booked), None, "another one");
    let addition = StockLink { pending: Some(booking(BOOKING, 5)), ..link(&[(1, 100)]) };
    let refused = addition.settled(id(BOOKING), &BookingVerdict::Refused("no".to_owned())).unwrap();
    assert!(refused.conflict.unwrap().message.contains("record +5 on"));
}

#[test]
fn a_change_that_was_given_up_is_looked_for_and_counts_when_it_arrives() {
    let given_up: Vec<Booking> = (100..132).map(|number| booking(number, -5)).collect();
    let pending = StockLink {
        system: StockSystem::Parts,
        pending: Some(booking(BOOKING, -5)),
        given_up: given_up.clone(),
        ..link(&[(1, 100)])
    };
    let full = pending.settled(id(BOOKING), &BookingVerdict::GivenUp).unwrap();
    assert_eq!((full.given_up.len(), full.given_up[0].id, full.given_up[31].id), (32, id(101), id(BOOKING)));
    let short = StockLink { given_up: given_up[1..].to_vec(), ..pending };
    let open = short.settled(id(BOOKING), &BookingVerdict::GivenUp).unwrap();
    assert_eq!((open.given_up.len(), open.given_up[0].id), (32, id(101)));
    for (verdict, agreed) in [(BookingVerdict::Booked, 95), (BookingVerdict::Partly(Amount::units(-2)), 98)] {
        let late = open.settled(id(110), &verdict).unwrap();
        assert_eq!((late.agreed, late.given_up.len(), late.round), (Some(grams(&[(1, agreed)])), 31, 5));
        assert!(late.given_up.iter().all(|lost| lost.id != id(110)));
    }
    assert_eq!(open.settled(id(110), &BookingVerdict::NotBooked), None);
    // It is looked up for one day.
    let lost = |age_ms: i64| Booking { at: NOW.plus_ms(-age_ms), ..booking(100, -5) };
    let day = 24 * 60 * 60 * 1000;
    let old = StockLink { given_up: vec![lost(day), lost(day - 1)], ..link(&[(1, 100)]) };
    assert_eq!(look(&old, &reading(&[(1, 100)]), 100).link.given_up, [lost(day - 1)]);
}

#[test]
fn use_that_a_printer_records_there_is_agreed_on_at_once() {
    let own = link(&[(1, 100), (2, 50)]);
    let five = Amount::units(5);
    assert_eq!((own.used_there(Amount::ZERO, &[1], NOW), own.used_there(five, &[], NOW)), (None, None));
    let used = own.used_there(five, &[1, 2, 9], NOW).unwrap();
    assert_eq!((used.agreed, used.round), (Some(grams(&[(1, 100), (2, 45)])), 4));
    let awaited = AwaitedUse { spools: items(&[1, 2]), due: five, missing: Amount::ZERO, at: NOW };
    assert_eq!((used.awaited, used.unread_uses), (vec![awaited], Vec::new()));
    let mut unread = own.clone();
    for n in 0..33 {
        unread = unread.used_there(five, &[100 + n], NOW).unwrap();
    }
    assert_eq!((unread.unread_uses.len(), &unread.unread_uses[0].spools[..]), (32, &[101][..]));
    assert_eq!(unread.agreed, own.agreed, "nobody knows what they hold");
    let read = look(
        &StockLink { unread_uses: vec![UnreadUse { spools: vec![3, 9], used: five }], ..own },
        &reading(&[(1, 100), (2, 50), (3, 45)]),
        195,
    );
    assert_eq!((read.delta, read.link.agreed), (Amount::units(50), Some(grams(&[(1, 100), (2, 50), (3, 45)]))));
    assert!(read.link.unread_uses.is_empty());
}

#[test]
fn a_person_decides_by_what_was_read_last() {
    use RightSide as R;
    let read =
        |units: i64| StockLink { last_amounts: Some(grams(&[(1, units)])), ..conflicting(ConflictKind::Negative) };
    let theirs = read(70).agree(R::Theirs, Amount::units(100)).unwrap();
    assert_eq!((theirs.delta, theirs.link.agreed), (Amount::units(-30), Some(grams(&[(1, 70)]))));
    assert_eq!((theirs.link.conflict, theirs.link.last_amounts, theirs.link.round), (None, None, 4));
    let ours = read(70).agree(R::Ours, Amount::units(100)).unwrap();
    assert_eq!((ours.delta, ours.link.agreed), (Amount::ZERO, Some(grams(&[(1, 70)]))));
    assert_eq!(link(&[(1, 100)]).agree(R::Ours, Amount::units(100)), None, "nothing was read");
    let pending = StockLink { pending: Some(booking(BOOKING, -1)), ..read(70) };
    assert_eq!(pending.agree(R::Ours, Amount::units(100)), None, "it is under way");
    let unclear = StockLink { conflict: conflicting(ConflictKind::Unclear).conflict, ..pending };
    assert_eq!(unclear.agree(R::Ours, Amount::units(100)).unwrap().link.pending, None);
    let most = MAX_AMOUNT.0 / 1000;
    for (units, right, quantity, may) in [
        (most, R::Theirs, 0, true),
        (most + 1, R::Theirs, 0, false),
        (0, R::Theirs, 5, true),
        (-1, R::Theirs, 5, false),
        (5, R::Ours, 0, true),
        (5, R::Ours, -1, false),
        (5, R::Ours, most, true),
        (5, R::Ours, most + 1, false),
    ] {
        let agreed = read(units).agree(right, Amount::units(quantity));
        assert_eq!(agreed.is_some(), may, "{units} {right:?} {quantity}");
    }
}
