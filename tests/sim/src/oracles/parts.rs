//! Oracle of parts: the number of parts in each line of an order, based on what the printers did and what the staff
//! signed off.

use serde_json::Value;

use super::demand;
use crate::catalogue::ExpectedLine;
use crate::error::SimError;
use crate::people::People;
use crate::prints::{PhysicalPrint, physical_print};
use crate::world::World;

/// Numbers of parts and plates in a line.
#[derive(Default, Debug)]
pub struct LineCount {
    /// Parts per plate.
    plate: u64,
    /// Parts that are good according to the latest sign-off, or that have no sign-off.
    good: u64,
    /// Parts that were good according to any sign-off, or before the first one.
    pub most: u64,
    /// Physically finished plates.
    plates: u64,
    /// Plates with parts rejected by any sign-off, and plates that were repeated.
    scrapped: u64,
    /// Parts that were rejected by one sign-off and accepted by a later one. They may have been printed again in
    /// between.
    regained: u64,
    /// Parts of plates that were repeated.
    remade: u64,
}

/// Checks that an order has the lines that were `ordered`, and, if it is ready or shipped, as many good parts and sets;
/// and that no more plates were printed than were ordered, rejected and repeated. Returns the counts of the lines.
pub fn are_as_ordered(
    world: &World,
    people: &People,
    ordered: &[(usize, u64)],
    (order, jobs): (&Value, &[Value]),
) -> Result<Vec<LineCount>, SimError> {
    let lines = order["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
    let expected = people.catalogue.lines(ordered);
    demand(lines.len() == expected.len(), || format!("not the lines of {expected:?}: {order}"))?;
    let of_line = |number: usize| jobs.iter().filter(move |job| job["line"].as_u64() == Some(number as u64));
    let count = |number| of_line(number).fold(LineCount::default(), |count, job| add(count, world, people, job));
    let counts: Vec<LineCount> = (0..lines.len()).map(count).collect();
    let is_made = order["status"] == "ready" || order["status"] == "shipped";
    for (number, (line, expected_line)) in lines.iter().zip(&expected).enumerate() {
        let count = &counts[number];
        let words = || format!("line {number}: {expected_line:?} ordered, {count:?}; {order}");
        let ExpectedLine { quantity, of_kit, is_kit } = expected_line;
        demand(line["quantity"].as_u64() == Some(*quantity), words)?;
        demand(line["kitLine"].as_u64() == of_kit.map(|(kit, _)| kit as u64), words)?;
        if *is_kit {
            let sets = sets_of(number, &expected, &counts);
            demand(!is_made || sets >= *quantity, words)?;
            demand(!is_made || line["completeSets"].as_u64() == Some(sets), words)?;
            continue;
        }
        if is_made {
            demand(count.good >= *quantity, words)?;
            demand(count.good < quantity + count.plate + count.regained + count.remade, words)?;
            demand(line["good"].as_u64() == Some(count.good), words)?;
        }
        let needed = quantity.div_ceil(count.plate.max(1));
        demand(count.plates <= needed + count.scrapped, words)?;
    }
    Ok(counts)
}

/// Returns the number of complete sets of the kit in a line.
fn sets_of(kit: usize, expected: &[ExpectedLine], counts: &[LineCount]) -> u64 {
    let in_set = |line: &ExpectedLine| line.of_kit.filter(|(of, _)| *of == kit).map(|(_, in_set)| in_set);
    let parts = expected.iter().zip(counts).filter_map(|(line, count)| Some((in_set(line)?, count)));
    parts.map(|(in_set, count)| count.good / in_set.max(1)).min().unwrap_or_default()
}

/// Adds the prints of a job.
fn add(mut count: LineCount, world: &World, people: &People, job: &Value) -> LineCount {
    let plate = job["plateParts"].as_u64().unwrap_or_default();
    count.plate = plate;
    for attempt in job["attempts"].as_array().into_iter().flatten() {
        let id = attempt["id"].as_str().unwrap_or_default();
        let is_finished = physical_print(world, id) == PhysicalPrint::Finished;
        let is_remade = people.staff.office.records.remakes.contains_key(id);
        let by_itself = if is_finished { plate } else { 0 };
        let verdict = people.staff.inspections.of(id);
        let good = verdict.map_or(by_itself, |verdict| verdict.good);
        count.plates += u64::from(is_finished);
        count.most += if world.house_rules.was_always_required() {
            verdict.map_or(0, |verdict| verdict.most)
        } else {
            verdict.map_or(by_itself, |verdict| verdict.most.max(by_itself))
        };
        if let Some(verdict) = verdict {
            count.scrapped += u64::from(is_finished && verdict.least < plate);
            count.regained += verdict.good - verdict.least;
        }
        if is_remade {
            count.scrapped += 1;
            count.remade += plate;
        } else {
            count.good += good;
        }
    }
    count
}
