//! Oracle of parts: how many an order has of each line, by what the printers did and what the staff found.

use serde_json::Value;

use super::demand;
use crate::error::SimError;
use crate::inspections::{PhysicalPrint, physical_print};
use crate::people::People;
use crate::world::World;

/// Parts and plates of a line.
#[derive(Default, Debug)]
struct LineCount {
    /// Parts of a plate.
    plate: u64,
    /// Parts that are good by the last verdict, or were not judged.
    good: u64,
    /// Plates that were physically finished.
    plates: u64,
    /// Plates of which parts were rejected by any verdict.
    scrapped: u64,
    /// Parts that were rejected by one verdict and accepted by a later one. They may have been made again meanwhile.
    regained: u64,
}

/// Demands that an order has as many good parts as were ordered, if it is ready, and that no more plates were printed
/// than were ordered and rejected.
pub fn are_as_ordered(world: &World, people: &People, order: &Value, jobs: &[Value]) -> Result<(), SimError> {
    let lines = order["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (number, line) in lines.iter().enumerate() {
        let quantity = line["quantity"].as_u64().unwrap_or_default();
        let of_line = jobs.iter().filter(|job| job["line"].as_u64() == Some(number as u64));
        let count = of_line.fold(LineCount::default(), |count, job| add(count, world, people, job));
        let words = || format!("line {number}: {quantity} ordered, {count:?}; {order}");
        if order["status"] == "ready" {
            demand(count.good >= quantity, words)?;
            demand(count.good < quantity + count.plate + count.regained, words)?;
            demand(line["good"].as_u64() == Some(count.good), words)?;
        }
        let needed = quantity.div_ceil(count.plate.max(1));
        demand(count.plates <= needed + count.scrapped, words)?;
    }
    Ok(())
}

/// Adds the prints of a job.
fn add(mut count: LineCount, world: &World, people: &People, job: &Value) -> LineCount {
    let plate = job["plateParts"].as_u64().unwrap_or_default();
    count.plate = plate;
    for attempt in job["attempts"].as_array().into_iter().flatten() {
        let id = attempt["id"].as_str().unwrap_or_default();
        let is_finished = physical_print(world, id) == PhysicalPrint::Finished;
        let by_itself = if is_finished { plate } else { 0 };
        count.plates += u64::from(is_finished);
        match people.staff.inspections.of(id) {
            Some(verdict) => {
                count.good += verdict.good;
                count.scrapped += u64::from(is_finished && verdict.least < plate);
                count.regained += verdict.good - verdict.least;
            }
            None => count.good += by_itself,
        }
    }
    count
}
