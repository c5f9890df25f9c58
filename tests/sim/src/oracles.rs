//! Judgement of a run by what happened in the world. The oracles read logs of machines, rows of the disk and responses
//! of the API, and call none of the rules that they judge.

use std::collections::BTreeMap;

use serde_json::Value;
use simulator::printer::PhysicalEvent;

use crate::error::SimError;
use crate::world::World;
use store::memory::Tables;

fn demand(is_so: bool, otherwise: impl FnOnce() -> String) -> Result<(), SimError> {
    if is_so { Ok(()) } else { Err(SimError::Broken(otherwise())) }
}

/// Demands that no file was started twice. The name of a file contains the attempt that it is printed for, so this
/// means that each attempt was physically started at most once.
pub fn no_attempt_starts_twice(world: &World) -> Result<(), SimError> {
    let mut starts: BTreeMap<String, u32> = BTreeMap::new();
    for machine in world.machines.values() {
        for entry in machine.log() {
            if let PhysicalEvent::Started { filename } = entry.what {
                *starts.entry(filename).or_default() += 1;
            }
        }
    }
    let twice = starts.iter().find(|(_, count)| **count > 1);
    demand(twice.is_none(), || format!("printed more than once: {twice:?}"))
}

/// Demands that as many prints were finished as parts were ordered. Valid where no print is rejected or repeated, and
/// each print makes one part.
pub fn exactly_the_ordered_parts_are_printed(world: &World, ordered: u32) -> Result<(), SimError> {
    let logs = world.machines.values().flat_map(|machine| machine.log());
    let finished = logs.filter(|entry| matches!(entry.what, PhysicalEvent::Finished { .. })).count();
    demand(finished == ordered as usize, || format!("{ordered} parts were ordered, and {finished} printed"))
}

/// Demands that the events on the disk are numbered without a hole.
pub fn the_outbox_has_no_hole(tables: &Tables) -> Result<(), SimError> {
    for (event, expected) in tables.events_after(0).zip(1..) {
        demand(event.seq == expected, || format!("event {expected} is missing: the next one is {}", event.seq))?;
    }
    Ok(())
}

/// Demands that an order that is ready was announced once, and was paid in full, once.
pub fn the_order_is_paid_and_announced(tables: &Tables, order: &Value) -> Result<(), SimError> {
    let id = order["id"].as_str().unwrap_or_default();
    for announced in ["order.created", "order.paid", "order.ready"] {
        let is_it = |event: &str, subject: String| event == announced && subject == id;
        let count =
            tables.events_after(0).filter(|one| is_it(&one.event.event, one.event.subject_id.to_string())).count();
        demand(count == 1, || format!("{announced} was published {count} times"))?;
    }
    let amounts = order["payments"].as_array().into_iter().flatten().map(|payment| payment["amountCents"].as_i64());
    let sum: i64 = amounts.map(Option::unwrap_or_default).sum();
    demand(Some(sum) == order["totalCents"].as_i64(), || format!("{sum} cents were paid for {order}"))
}
