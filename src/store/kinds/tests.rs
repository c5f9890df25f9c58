//! What can be read is written so that it reads back as the same: every kind, with numbers, times and texts at and beyond
//! the ends of what is taken.
#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use proptest::sample::select;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::domain::time::{EARLIEST, LATEST};
use crate::store::StoredAggregate;
use crate::store::rows::samples::{
    attempt, claim, delivery, endpoint, file, id, inbound, job, mail, material, movement, order, payment, printer, sku,
};
use crate::store::rows::{Doc, ModelOf, Part, read_doc};

/// Values of members that are at the ends of something.
fn extreme() -> impl Strategy<Value = Value> {
    prop_oneof![
        select(vec![0_i64, 1, -1, i64::MAX, i64::MIN, 9_000_000_000_000_000, 1_000_000_000, 4_294_967_295])
            .prop_map(Value::from),
        select(vec![0.001, -0.5, 1e9, 1e12, 999_999_999.999, 0.1, 9e12]).prop_map(Value::from),
        select(vec![
            EARLIEST.to_string(),
            LATEST.to_string(),
            "9999-12-30T22:00:00.001Z".to_owned(),
            "1e300".to_owned()
        ])
        .prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        Just(json!("a\0b\u{7f}\u{2028}")),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
    ]
}

/// A value in the place of any one member, however deep; `at` says which.
fn spoil(doc: &mut Value, at: &mut usize, value: &Value) -> bool {
    let members: Vec<&mut Value> = match doc {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    for member in members {
        if *at == 0 {
            *member = value.clone();
            return true;
        }
        *at -= 1;
        if spoil(member, at, value) {
            return true;
        }
    }
    false
}

/// What is read of a spoilt document, if it can be read at all.
fn spoilt<T: DeserializeOwned>(doc: &Value, changes: &[(usize, Value)]) -> Option<T> {
    let mut doc = doc.clone();
    for (at, value) in changes {
        spoil(&mut doc, &mut { *at }, value);
    }
    serde_json::from_value(doc).ok()
}

fn aggregate_reads_back<T: StoredAggregate + PartialEq>(whole: &T, changes: &[(usize, Value)]) {
    let doc = serde_json::to_value(whole).unwrap();
    let Some(state) = spoilt::<T>(&doc, changes) else { return };
    let row = state.snapshot(id(1), 1, false).unwrap();
    let facts = row.facts();
    let read: T = read_doc(facts.schema, facts.doc).unwrap_or_else(|error| panic!("{error}: {}", facts.doc));
    assert_eq!(read, state);
}

fn part_reads_back<P: Part + PartialEq + std::fmt::Debug>(whole: &P, changes: &[(usize, Value)]) {
    let doc = serde_json::to_value(whole).unwrap();
    let Some(part) = spoilt::<P>(&doc, changes) else { return };
    let row: ModelOf<P> = part.row().unwrap();
    let read: P = row.read().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read, part);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn what_can_be_read_reads_back_as_it_was_written(changes in prop::collection::vec((0_usize..60, extreme()), 1..4)) {
        let changes = &changes[..];
        aggregate_reads_back(&order(1), changes);
        aggregate_reads_back(&material(1), changes);
        aggregate_reads_back(&sku(1, "A"), changes);
        aggregate_reads_back(&file(1), changes);
        aggregate_reads_back(&printer(1), changes);
        aggregate_reads_back(&endpoint(1), changes);
        aggregate_reads_back(&mail(1), changes);
        aggregate_reads_back(&inbound(1), changes);
        part_reads_back(&job(1, 1), changes);
        part_reads_back(&attempt(1, 1, 1, 1), changes);
        part_reads_back(&payment(1, 1), changes);
        part_reads_back(&movement(1, 1, 1), changes);
        part_reads_back(&claim(1, 1), changes);
        part_reads_back(&delivery(1, 1, 1), changes);
    }
}
