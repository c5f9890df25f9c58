//! Oracle of growth: a server that has worked and is idle is no larger than one that has just started on the same data,
//! and has only as many rows as the story explains.

use super::demand;
use crate::day::Ending;
use crate::error::SimError;
use crate::people::People;
use crate::size::Size;
use crate::world::World;

/// Number of tasks by which two idle servers may differ: timers of the forecaster and the dispatcher, each of which is
/// a task, a forecast in progress, and the commits of polls of the printers.
const MORE_TASKS: usize = 8;
/// Maximum number of printers in a story. Each further one may also be polled.
const FEW_PRINTERS: usize = 2;
/// Tables with records of what happened. A start adds rows to them; all other tables stay unchanged.
const LINES: [&str; 2] = ["audit", "events"];
/// Tables whose expired rows are deleted at a start, which can happen after a day.
const EXPIRING: [&str; 1] = ["idempotency"];
/// Maximum number of rows that a start adds for each printer, which reconnects.
const LINES_OF_A_START: usize = 20;
/// Maximum number of rows in one table for each request, event, message and delivery of the story.
const ROWS_PER_ACT: usize = 20;

/// Checks that all growth is explained by the story.
pub fn nothing_grows(world: &World, people: &People, ending: &Ending, read_back: &Ending) -> Result<(), SimError> {
    for one in [ending, read_back] {
        let (before, after) = &one.sizes;
        demand(before.rows == after.rows, || {
            format!("rows were written while nothing happened: {:?} became {:?}", before.rows, after.rows)
        })?;
        // Of each printer, a look may be on its way.
        let is_idle = after.waiting <= world.machines.len() as u64;
        demand(is_idle, || format!("{} commands wait while nothing happens", after.waiting))?;
        demand(after.followers.1 == 0, || format!("an endpoint has not read {} events", after.followers.1))?;
    }
    is_no_larger(world, ending, read_back)?;
    rows_stay(world, ending, read_back)?;
    rows_are_explained(world, people, ending)
}

/// Checks that the server that has worked holds no more in memory than the one that has just started.
fn is_no_larger(world: &World, ending: &Ending, read_back: &Ending) -> Result<(), SimError> {
    let (worked, fresh) = (&ending.sizes.1, &read_back.sizes.1);
    for (kind, count) in &worked.actors {
        let needed = fresh.actors.get(kind).copied().unwrap_or_default();
        demand(*count <= needed, || format!("{count} of {kind} are in memory, of which a new server needs {needed}"))?;
    }
    let (count, needed) = (worked.followers.0, fresh.followers.0);
    demand(count == needed, || format!("{count} endpoints follow the events, and {needed} at a new server"))?;
    let (count, needed) = (worked.tasks, fresh.tasks);
    let most = needed + MORE_TASKS + world.machines.len().saturating_sub(FEW_PRINTERS);
    demand(count <= most, || format!("{count} tasks are left, of which a new server needs {needed}"))
}

/// Checks that a server that starts and does nothing leaves the data unchanged.
fn rows_stay(world: &World, ending: &Ending, read_back: &Ending) -> Result<(), SimError> {
    let (worked, fresh) = (&ending.sizes.1.rows, &read_back.sizes.1.rows);
    for (table, after) in fresh {
        let before = worked.get(table).copied().unwrap_or_default();
        let more = if LINES.contains(table) { LINES_OF_A_START * world.machines.len() } else { 0 };
        let least = if world.size == Size::Day && EXPIRING.contains(table) { 0 } else { before };
        let stays = (least..=before + more).contains(after);
        demand(stays, || format!("{before} rows of {table} became {after} by a start"))?;
    }
    Ok(())
}

/// Checks that no table has more rows than the story explains.
fn rows_are_explained(world: &World, people: &People, ending: &Ending) -> Result<(), SimError> {
    let rows = &ending.sizes.1.rows;
    let count = |table: &str| rows.get(table).copied().unwrap_or_default();
    let (keys, events) = (world.acknowledgements.key_count(), count("events"));
    let endpoints = people.subscribers.iter().filter(|subscriber| subscriber.id.is_some()).count();
    for (table, most) in [("idempotency", keys), ("endpoints", endpoints), ("deliveries", endpoints * events)] {
        demand(count(table) <= most, || format!("{} rows of {table}, of which {most} are explained", count(table)))?;
    }
    let acts = keys + events + world.receivers.count();
    for (table, count) in rows {
        let most = acts * ROWS_PER_ACT;
        demand(*count <= most, || format!("{count} rows of {table} after {acts} acts"))?;
    }
    Ok(())
}
