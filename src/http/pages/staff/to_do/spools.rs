//! Spools to load so that waiting jobs can be printed: material, printer and jobs.

use maud::{Markup, html};

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles, printer_link};
use crate::design::Icon;
use crate::staff::TO_DO_PATH;
use crate::staff::card_print::job_path_of;
use crate::staff::floor_group::counted;
use crate::staff::shell::act;
use crate::staff::stock::{SLOTS_PATH, first_slot_path, material_path, shown_spool};
use domain::dispatch::SpoolToLoad;
use domain::job::Job;
use domain::material::Material;
use domain::printer::Printer;
use printers::slot_label;

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
fn row(app: &ToDoHandles, spool: SpoolToLoad, jobs: &[&Job]) -> Option<TaskRow> {
    let shop = &app.board.shop;
    let (printer, material) =
        (shop.printers.resident(spool.printer)?.read(), shop.materials.resident(spool.material)?.read());
    let (printer, material) = (printer.state.as_ref()?, material.state.as_ref()?);
    let title = html! {
        b { "Load " a href=(material_path(material.id)) { (material.fields.name) } " into " (printer_link(printer)) }
    };
    let acts = html! {
        a class="btn" href=(first_slot_path(printer.id)) aria-label={ "Set the spool in " (printer.fields.name) } { "Set the spool" }
    };
    let row = TaskRow::new(Icon::Layers, title).swatch(material.fields.color.as_deref());
    Some(row.detail(named(jobs)).acts(acts).more(offer(printer, material)))
}

/// Renders the jobs that need a spool, the first of them by name.
fn named(jobs: &[&Job]) -> Markup {
    let more = jobs.len().saturating_sub(JOBS_NAMED);
    html! {
        (counted(jobs.len(), "job needs it", "jobs need it")) ": "
        @for (n, job) in jobs.iter().take(JOBS_NAMED).enumerate() {
            @if n > 0 { ", " }
            a href=(job_path_of(job.order_id, job.id)) { (job.number_text()) } " " (job.sku_name)
        }
        @if more > 0 { " and " (more) " more" }
    }
}

/// Renders the confirmation that a spool which the printer reports is of the material; `None` if there is none.
fn offer(printer: &Printer, material: &Material) -> Option<Markup> {
    let offer = printer.spool_offer(material)?;
    let fields = html! {
        input type="hidden" name="place" value={ (printer.id) "/" (offer.slot) };
        input type="hidden" name="materialId" value=(material.id);
        @for slot in printer.slots().iter().filter(|one| one.slot == offer.slot) { (shown_spool(slot)) }
        input type="hidden" name="back" value=(TO_DO_PATH);
    };
    let words = format!("It is {}", material.fields.name);
    Some(html! {
        div class="choice" {
            span { (slot_label(printer, offer.slot).title()) " holds " (offer.spool) ", which belongs to no material yet." }
            (act(SLOTS_PATH, &format!("bind-{}-{}", printer.id, offer.slot), "btn primary", &words, Some(&fields)))
        }
    })
}
