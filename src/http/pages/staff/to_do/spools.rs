//! Spools to load so that waiting jobs can be printed: the material, the printers, and the jobs that can then start.

use maud::{Markup, html};

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles, printer_link};
use crate::design::Icon;
use crate::frame::{NEXT_SLOT, SLOT, with_parts};
use crate::staff::TO_DO_PATH;
use crate::staff::card_print::job_path_of;
use crate::staff::job::JOBS_PATH;
use crate::staff::shell::act;
use crate::staff::stock::{SLOTS_PATH, material_path, shown_spool, slot_form_path};
use domain::dispatch::{GatheredAct, SpoolTask, SpoolToLoad, spool_tasks};
use domain::id::Id;
use domain::job::Job;
use domain::material::Material;
use domain::printer::Printer;
use printers::slot_label;
use words::Language;
use words::staff::{common, to_do};

/// Maximum number of jobs listed per material.
const JOBS_NAMED: usize = 3;
/// Maximum number of printers named per material.
const PRINTERS_NAMED: usize = 3;

/// Lists the spools to load, each material once, starting with those that let the most jobs start. `waiting` are the
/// jobs that can be listed by name.
pub(super) fn spools(language: Language, app: &ToDoHandles, acts: &[GatheredAct], waiting: &[Job]) -> TaskKind {
    let lacking: Vec<(&Job, Vec<SpoolToLoad>)> =
        waiting.iter().map(|job| (job, app.jobs.spools_to_load(job))).collect();
    let row_of = |task: &SpoolTask| {
        let named = lacking.iter().filter(|(_, spools)| task.is_lacked_with(spools)).map(|(job, _)| *job);
        row(language, app, task, &named.take(JOBS_NAMED).collect::<Vec<_>>())
    };
    let rows = spool_tasks(acts).iter().filter_map(row_of).collect();
    TaskKind::new(language, "spools", to_do::kind_spools, rows)
}

/// Renders a material to load; `None` if it or all of the printers no longer exist.
fn row(language: Language, app: &ToDoHandles, task: &SpoolTask, named: &[&Job]) -> Option<TaskRow> {
    let shop = &app.board.shop;
    let material = shop.materials.resident(task.material)?.read();
    let material = material.state.as_ref()?;
    let resident = task.printers.iter().filter_map(|id| Some(shop.printers.resident(*id)?.read()));
    let resident: Vec<_> = resident.collect();
    let printers: Vec<&Printer> = resident.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let links = printer_links(language, &printers)?;
    let link = html! { a href=(material_path(material.id)) { (material.fields.name) } };
    let title = with_parts(&to_do::load(language, SLOT, NEXT_SLOT), &[&link, &links]);
    let title = html! { b { (title) } };
    let first = printers.iter().copied().take(PRINTERS_NAMED);
    let offers: Vec<Markup> = first.clone().filter_map(|printer| offer(language, printer, material)).collect();
    let acts = html! {
        @for (n, printer) in first.enumerate() {
            // If a printer may have the spool already, confirming that is the primary act.
            @let class = if n == 0 && offers.is_empty() { "btn primary" } else { "btn" };
            @let name = &printer.fields.name;
            @let label = to_do::load_spool_into(language, name);
            a class=(class) href=(slot_form_path(printer, material.id)) aria-label=(label) {
                @if printers.len() == 1 {
                    (to_do::load_spool(language))
                } @else {
                    (to_do::into_printer(language, name))
                }
            }
        }
    };
    let row = TaskRow::new(Icon::Layers, title).swatch(&material.fields);
    let offers = (!offers.is_empty()).then(|| html! { @for offer in &offers { (offer) } });
    Some(row.facts(facts(language, task, named)).acts(acts).more(offers))
}

/// Renders the names of printers with links, and the number of those that are not named; `None` if there are none.
fn printer_links(language: Language, printers: &[&Printer]) -> Option<Markup> {
    let mut links: Vec<Markup> = printers.iter().take(PRINTERS_NAMED).map(|printer| printer_link(printer)).collect();
    let unnamed = printers.len().saturating_sub(links.len());
    if unnamed > 0 {
        links.push(html! { (to_do::more_printers(language, unnamed)) });
    }
    let last = links.pop()?;
    if links.is_empty() {
        return Some(last);
    }
    let first = html! { @for (n, link) in links.iter().enumerate() { @if n > 0 { ", " } (link) } };
    Some(with_parts(&common::list_end(language, SLOT, NEXT_SLOT), &[&first, &last]))
}

/// Renders the number of jobs waiting for a material, and lists the first of them.
fn facts(language: Language, task: &SpoolTask, named: &[&Job]) -> Markup {
    let more = (task.jobs + task.further_jobs).saturating_sub(named.len());
    html! {
        @if task.jobs > 0 {
            (waiting_jobs(&to_do::jobs_can_start(language, task.jobs), Some(task.material)))
        }
        @if task.further_jobs > 0 {
            @if task.jobs > 0 { ", " }
            (to_do::jobs_need_more(language, task.further_jobs))
        }
        @for (n, job) in named.iter().enumerate() {
            @if n == 0 { ": " } @else { ", " }
            a href=(job_path_of(job.order_id, job.id)) { (job.number_text()) } " " (job.sku_name)
        }
        @if more > 0 && !named.is_empty() { " " (to_do::more_jobs(language, more)) }
    }
}

/// Renders a text about jobs as a link to the jobs that wait for a printer and use the given material.
pub(super) fn waiting_jobs(words: &str, material: Option<Id>) -> Markup {
    let of_material = material.map(|id| format!("&material={id}")).unwrap_or_default();
    html! {
        a href={ (JOBS_PATH) "?state=SLICED" (of_material) } { (words) }
    }
}

/// Renders a button to confirm that a spool reported by the printer is of the given material; `None` if there is no
/// such spool.
fn offer(language: Language, printer: &Printer, material: &Material) -> Option<Markup> {
    let offer = printer.spool_offer(material)?;
    let fields = html! {
        input type="hidden" name="place" value={ (printer.id) "/" (offer.slot) };
        input type="hidden" name="materialId" value=(material.id);
        @for slot in printer.slots().iter().filter(|one| one.slot == offer.slot) { (shown_spool(slot)) }
        input type="hidden" name="back" value=(TO_DO_PATH);
    };
    let words = to_do::confirm(language, &material.fields.name);
    let slot = slot_label(printer, offer.slot).title(language);
    Some(html! {
        div class="choice" {
            span { (to_do::unlinked_spool(language, &slot, &offer.spool)) }
            (act(SLOTS_PATH, &format!("bind-{}-{}", printer.id, offer.slot), "btn primary", &words, Some(&fields)))
        }
    })
}
