//! Spools to load so that waiting jobs can be printed: material, printer and jobs.

use maud::{Markup, html};

use super::{TaskKind, ToDoHandles, printer_link};
use crate::staff::shell::act;
use crate::staff::stock::{SLOTS_PATH, first_slot_path, material_path, shown_spool};
use crate::staff::{ORDERS_PATH, TO_DO_PATH};
use domain::dispatch::SpoolToLoad;
use domain::job::Job;

/// Maximum number of jobs named per spool.
const JOBS_NAMED: usize = 3;

/// Lists the spools that the given jobs are waiting for, each spool once, in the order of the longest-waiting jobs.
pub(super) fn spools(app: &ToDoHandles, waiting: &[Job]) -> TaskKind {
    let mut to_load: Vec<(SpoolToLoad, Vec<&Job>)> = Vec::new();
    for job in waiting {
        for spool in app.jobs.spools_to_load(job) {
            match to_load.iter_mut().find(|(existing, _)| *existing == spool) {
                Some((_, jobs)) => jobs.push(job),
                None => to_load.push((spool, vec![job])),
            }
        }
    }
    let rows = to_load.iter().filter_map(|(spool, jobs)| row(app, *spool, jobs)).collect();
    TaskKind::new("spools", "Spools to load", rows)
}

/// Renders one spool to load; `None` if its printer or material no longer exists.
fn row(app: &ToDoHandles, spool: SpoolToLoad, jobs: &[&Job]) -> Option<Markup> {
    let shop = &app.board.shop;
    let (printer, material) =
        (shop.printers.resident(spool.printer)?.read(), shop.materials.resident(spool.material)?.read());
    let (printer, material) = (printer.state.as_ref()?, material.state.as_ref()?);
    let more = jobs.len().saturating_sub(JOBS_NAMED);
    Some(html! {
        span { a href=(material_path(material.id)) { (material.fields.name) } " into " (printer_link(printer)) }
        span {
            "for "
            @for (n, job) in jobs.iter().take(JOBS_NAMED).enumerate() {
                @if n > 0 { ", " }
                a href={ (ORDERS_PATH) "/" (job.order_id) "#job-" (job.id) } { (job.number_text()) } " " (job.sku_name)
            }
            @if more > 0 { " and " (more) " more" }
        }
        @if let Some(offer) = printer.spool_offer(material) {
            span class="full" { "Slot " (offer.slot + 1) " holds " (offer.spool) ", which belongs to no material yet." }
            (act(SLOTS_PATH, &format!("bind-{}-{}", printer.id, offer.slot), "", &format!("It is {}", material.fields.name), Some(&html! {
                input type="hidden" name="place" value={ (printer.id) "/" (offer.slot) };
                input type="hidden" name="materialId" value=(material.id);
                @for slot in printer.slots().iter().filter(|one| one.slot == offer.slot) { (shown_spool(slot)) }
                input type="hidden" name="back" value=(TO_DO_PATH);
            })))
        }
        a class="button second" href=(first_slot_path(printer.id)) aria-label={ "Say what is loaded in " (printer.fields.name) } {
            "Say what is loaded"
        }
    })
}
