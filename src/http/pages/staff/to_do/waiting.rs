//! Acts after which jobs that wait for a printer can begin.

use maud::{Markup, html};

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles, printer_link};
use crate::design::Icon;
use crate::staff::job::JOBS_PATH;
use crate::staff::stock::{first_slot_path, material_path};
use domain::dispatch::{GatheredAct, WaitingAct};
use domain::id::Id;

/// Lists the acts after which waiting jobs can begin, those that most jobs wait for first. They are computed from what
/// is in memory.
pub(super) fn waiting(app: &ToDoHandles) -> TaskKind {
    let rows = app.jobs.dispatcher.waiting_acts().iter().filter_map(|gathered| row(app, gathered)).collect();
    TaskKind::new("begin", "Jobs can begin", rows)
}

/// Builds the row of one act; `None` if its printer or a material no longer exists.
fn row(app: &ToDoHandles, gathered: &GatheredAct) -> Option<TaskRow> {
    let GatheredAct { act, jobs } = gathered;
    match act {
        WaitingAct::Load { materials, printer } => {
            let printer = app.board.shop.printers.resident(*printer)?.read();
            let printer = printer.state.as_ref()?;
            let names: Option<Vec<(Id, String)>> = materials.iter().map(|id| Some((*id, name(app, *id)?))).collect();
            let names = names?;
            let title = html! {
                "Load "
                @for (n, (id, name)) in names.iter().enumerate() {
                    @if n > 0 { @if n + 1 == names.len() { " and " } @else { ", " } }
                    a href=(material_path(*id)) { (name) }
                }
            };
            let detail = html! {
                (waiting_jobs(*jobs, "can begin", materials.first().copied())) " · "
                a href=(first_slot_path(printer.id)) { "For example on " (printer.fields.name) }
            };
            Some(TaskRow::new(Icon::Layers, title).detail(detail))
        }
        WaitingAct::ClearBed { printer } => {
            let printer = app.board.shop.printers.resident(*printer)?.read();
            let printer = printer.state.as_ref()?;
            let words = if *jobs == 1 { "waits for it" } else { "wait for it" };
            let title = html! { "Clear the bed of " (printer_link(printer)) };
            Some(TaskRow::new(Icon::PackageCheck, title).detail(waiting_jobs(*jobs, words, None)))
        }
    }
}

/// Renders the number of jobs, as a link to those that wait for a printer and use the given material.
fn waiting_jobs(jobs: usize, verb: &str, material: Option<Id>) -> Markup {
    let of_material = material.map(|id| format!("&material={id}")).unwrap_or_default();
    html! {
        a href={ (JOBS_PATH) "?state=SLICED" (of_material) } {
            (jobs) @if jobs == 1 { " job " } @else { " jobs " } (verb)
        }
    }
}

fn name(app: &ToDoHandles, material: Id) -> Option<String> {
    let material = app.board.shop.materials.resident(material)?.read();
    Some(material.state.as_ref()?.fields.name.clone())
}
