//! Checks of a run based on what happened in the world. The oracles read the machines' logs, rows on the disk and API
//! responses, and call none of the rules that they check.

mod books;
mod channels;
mod deliveries;
mod growth;
mod invoices;
mod mails;
mod orders;
mod parts;
mod settings;
mod shipping;
mod spools;
mod stock;

use std::collections::BTreeMap;

pub use deliveries::unrest as unrest_of_deliveries;
pub use spools::unrest as unrest_of_spools;

use simulator::printer::PhysicalEvent;

use crate::acknowledgements::{AcknowledgedErrand, ShopReply};
use crate::day::Ending;
use crate::error::SimError;
use crate::faults::FaultPlan;
use crate::machine::OWN_PRINT;
use crate::people::People;
use crate::shop::Shop;
use crate::world::World;
use invoices::StoredInvoices;
use orders::PublishedEvents;
use store::memory::Tables;

/// Age up to which the server promises to recognise a repeated command, in milliseconds, less the time that the oracles
/// take.
const REPEATED_WITHIN_MS: i64 = 23 * 3_600_000;

/// Fails with the given words unless a condition holds.
pub fn demand(is_so: bool, otherwise: impl FnOnce() -> String) -> Result<(), SimError> {
    if is_so { Ok(()) } else { Err(SimError::Broken(otherwise())) }
}

/// Checks a story by its final state, and by that of a server started on its disk afterwards.
pub fn judge(
    world: &World,
    plan: &FaultPlan,
    people: &People,
    ending: &Ending,
    read_back: &Ending,
) -> Result<(), SimError> {
    let tables = world.disk.tables();
    no_attempt_starts_twice(world)?;
    the_outbox_has_no_hole(&tables)?;
    let (published, stored) = (PublishedEvents::read(&tables), StoredInvoices::read(&tables)?);
    for (customer, (order, jobs)) in people.customers.iter().zip(&ending.orders) {
        let counts = parts::are_as_ordered(world, people, &customer.plan.lines, (order, jobs.as_slice()))?;
        orders::money_adds_up(customer, order)?;
        orders::is_as_planned(people, customer, order)?;
        orders::each_step_is_published(&published, people, Some(customer), (order, jobs.as_slice()))?;
        shipping::is_as_packed(people, customer, order, &counts)?;
        settings::are_as_acknowledged(people, customer, order)?;
        books::agree(world, customer, order)?;
        invoices::follow(&tables, &stored, order)?;
    }
    settings::sign_offs_are_required(world, people, &tables, &published)?;
    stock::adds_up(world, &tables, people, ending)?;
    spools::agree(world, &tables, people)?;
    demand(ending.materials == read_back.materials, || "another server reads other stocks".to_owned())?;
    invoices::are_numbered(&tables)?;
    invoices::of_clerk(world, &tables, &stored, &people.clerk)?;
    mails::arrive(world, plan, people, ending, &stored)?;
    channels::are_made_once(world, people, &ending.sales, (&tables, &published))?;
    for (then, now) in ending.orders.iter().zip(&read_back.orders) {
        orders::is_read_back(then, now)?;
    }
    for (then, now) in ending.sales.iter().zip(&read_back.sales) {
        orders::is_read_back(&then.ours, &now.ours)?;
    }
    for one in [ending, read_back] {
        let (before, after) = one.events;
        demand(before == after, || format!("{} events while nothing happened", after - before))?;
    }
    deliveries::are_as_promised(world, people, &ending.endpoints)?;
    growth::nothing_grows(world, people, ending, read_back)
}

/// Checks that no file was started twice. The file name contains the attempt, so this means that each attempt was
/// physically started at most once.
pub fn no_attempt_starts_twice(world: &World) -> Result<(), SimError> {
    let mut starts: BTreeMap<String, u32> = BTreeMap::new();
    for machine in world.machines.values() {
        for entry in machine.log() {
            if let PhysicalEvent::Started { filename } = entry.what
                && !filename.starts_with(OWN_PRINT)
            {
                *starts.entry(filename).or_default() += 1;
            }
        }
    }
    let twice = starts.iter().find(|(_, count)| **count > 1);
    demand(twice.is_none(), || format!("printed more than once: {twice:?}"))
}

/// Checks that none of the shop's files is left on a printer, where someone could print it by mistake.
pub fn nothing_stays_on_printers(world: &World) -> Result<(), SimError> {
    for machine in world.machines.values() {
        let is_ours = |name: &&String| !name.starts_with(OWN_PRINT);
        let file = machine.with(|machine| machine.files().iter().map(|(name, _)| name).find(is_ours).cloned());
        demand(file.is_none(), || format!("{file:?} is left on {}", machine.name))?;
    }
    Ok(())
}

/// Checks that the events on the disk are numbered without gaps.
fn the_outbox_has_no_hole(tables: &Tables) -> Result<(), SimError> {
    for (event, expected) in tables.events_after(0).zip(1..) {
        demand(event.seq == expected, || format!("event {expected} is missing: the next one is {}", event.seq))?;
    }
    Ok(())
}

/// Repeats every acknowledged command on a server started after the last crash. Each must still be done, and must not
/// be done again.
pub async fn acknowledged_is_done(world: &World, shop: &Shop) -> Result<(), SimError> {
    for one in world.acknowledgements.since(world.clock.elapsed_ms() - REPEATED_WITHIN_MS) {
        let lost = |how: String| {
            let AcknowledgedErrand { errand, id, version } = &one;
            SimError::Broken(format!("{} was acknowledged as version {version} of {id}, and then: {how}", errand.path))
        };
        let again = match shop.ask(&one.errand).await? {
            ShopReply::Done(body) => AcknowledgedErrand::new(&one.errand, &body),
            ShopReply::Refused(code) => return Err(lost(code)),
            ShopReply::Unanswered => return Err(lost("no answer".to_owned())),
        };
        if (&again.id, &again.version) != (&one.id, &one.version) {
            return Err(lost(format!("version {} of {}", again.version, again.id)));
        }
    }
    Ok(())
}
