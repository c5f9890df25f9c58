//! Beds to clear: one at a time, with a sign-off of the parts on them, or several at once.

use maud::{Markup, html};

use super::row::{TaskRow, dotted};
use super::spools::waiting_jobs;
use super::{TaskKind, ToDoHandles, back, bad_parts, printer_link};
use crate::design::{Icon, chip, icon};
use crate::frame::{SLOT, time, with_parts};
use crate::staff::acts::BED_PREFIX;
use crate::staff::card::act_path;
use crate::staff::card_gauge::{waiting, waiting_words};
use crate::staff::card_print::{PrintedJob, job_path_of};
use crate::staff::shell::{Tone, hidden};
use crate::staff::sign_off::{Defects, SignOffSubject};
use crate::staff::subject::{mark_at_printer, print_field};
use domain::dispatch::{GatheredAct, jobs_waiting_for_bed};
use domain::printer::Printer;
use domain::printer_status::Activity;
use http_api::production::printers::activity;
use words::Language;
use words::staff::to_do;

/// Action that clears a bed.
const CLEAR_ACT: &str = "bed-cleared";

/// Returns the printers whose beds need clearing, longest-waiting first.
pub(super) fn beds_waiting<'a>(app: &ToDoHandles, printers: &[&'a Printer]) -> Vec<&'a Printer> {
    let over = |printer: &Printer| !matches!(activity(&app.board.shop, printer), Activity::Printing | Activity::Paused);
    let waits = |printer: &&Printer| printer.bed_not_cleared && over(printer);
    let mut waiting: Vec<&Printer> = printers.iter().copied().filter(waits).collect();
    waiting.sort_by_key(|printer| (printer.bed_since, printer.id));
    waiting
}

/// Describes the benefit of clearing the beds; `jobs` is the number of jobs waiting for their printers.
fn cost_words(language: Language, beds: usize, jobs: usize) -> String {
    let printers = to_do::printers_freed(language, beds);
    if jobs == 0 {
        return printers;
    }
    to_do::freed_and_waiting(language, &printers, &to_do::jobs_waiting(language, jobs))
}

/// Lists the beds to clear, each with the number of jobs waiting for it.
pub(super) fn beds(
    language: Language,
    app: &ToDoHandles,
    printers: &[&Printer],
    acts: &[GatheredAct],
    defects: Defects<'_>,
) -> TaskKind {
    let several = printers.len() > 1;
    let row =
        |printer: &&Printer| bed(language, app, printer, (several, defects), jobs_waiting_for_bed(acts, printer.id));
    let rows = printers.iter().map(row).collect();
    let jobs: usize = printers.iter().map(|printer| waiting(&app.board, printer)).sum();
    let below = html! {
        form class="choice" id="beds" method="post" action="/to-do/beds" data-quiet="" {
            (hidden())
            // It does nothing without the script, which shows it.
            label hidden data-scripted="" { input type="checkbox" id="beds-all" data-chooses="beds"; " " (to_do::select_all(language)) }
            button type="submit" class="btn" id="beds-clear" { (icon(Icon::Check)) (to_do::beds_clear(language)) }
        }
    };
    let note = (!printers.is_empty()).then(|| cost_words(language, printers.len(), jobs));
    TaskKind { below: several.then_some(below), note, ..TaskKind::new(language, "beds", to_do::kind_beds, rows) }
}

/// Describes the number of jobs waiting for a bed; `None` if there are none.
fn bed_words(language: Language, jobs: usize) -> Option<String> {
    (jobs > 0).then(|| to_do::jobs_waiting_for_bed(language, jobs))
}

/// Renders a bed to clear, with a checkbox if `several` is set. `jobs` is the number of jobs waiting for the bed.
fn bed(
    language: Language,
    app: &ToDoHandles,
    printer: &Printer,
    (several, defects): (bool, Defects<'_>),
    jobs: usize,
) -> TaskRow {
    let id = printer.id;
    let job = PrintedJob::on_bed(language, &app.board, printer);
    let print = mark_at_printer(printer, CLEAR_ACT);
    let name = job.as_ref().map(|job| format!("{} · {}", printer.fields.name, job.parts));
    let choice = several.then(|| {
        html! {
            input type="checkbox" form="beds" id={ (BED_PREFIX) (id) } name={ (BED_PREFIX) (id) } value=[print.as_deref()]
                aria-label=(to_do::select(language, &printer.fields.name));
        }
    });
    let title = html! {
        b title=[name] { (printer_link(printer)) @if let Some(job) = &job { " · " (job.parts) } }
        @if printer.print_failed { " " (chip(Tone::Attention, &to_do::print_failed(language))) }
    };
    let acts = html! {
        form method="post" action=(act_path(id, CLEAR_ACT)) data-quiet="" {
            (hidden())
            (print_field(print.as_deref()))
            (back())
            button id={ "clear-" (id) } class="btn primary" type="submit" { (icon(Icon::Check)) (to_do::bed_clear(language)) }
        }
        @if printer.last_print.is_some() {
            @let plate_parts = job.as_ref().map(|job| job.plate_parts);
            (bad_parts(language, &SignOffSubject::on_bed(printer, plate_parts), defects))
        }
    };
    let order = printer.last_print.map(|last| {
        let words = job.as_ref().map_or_else(|| to_do::view_job(language), |job| job.order.clone());
        html! { a href=(job_path_of(last.order, last.job)) { (words) } }
    });
    let facts = facts(language, app, printer, job.as_ref(), jobs);
    let row = TaskRow::new(Icon::PackageCheck, title).choice(choice).lead(order).facts(facts).acts(acts);
    row.since(language, printer.bed_since).picture(job.and_then(|job| job.file))
}

/// Renders whom the parts on a bed are for, the number of jobs waiting for the bed, and the promised time.
fn facts(language: Language, app: &ToDoHandles, printer: &Printer, job: Option<&PrintedJob>, jobs: usize) -> Markup {
    let customer = job.map(|job| html! { (job.customer) });
    let for_bed = bed_words(language, jobs).map(|words| waiting_jobs(&words, None));
    let queued = || waiting_words(language, waiting(&app.board, printer)).map(|words| html! { (words) });
    let deadline = job.and_then(|job| job.deadline);
    let promised = deadline.map(|at| with_parts(&to_do::promised_for(language, SLOT), &[&time(language, at)]));
    dotted([customer.as_ref(), for_bed.or_else(queued).as_ref(), promised.as_ref()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beds_say_how_many_printers_they_free_and_how_many_jobs_wait() {
        let words = |beds, jobs| cost_words(Language::English, beds, jobs);
        assert_eq!(words(1, 0), "Frees 1 printer");
        assert_eq!(words(1, 1), "Frees 1 printer; 1 job is waiting");
        assert_eq!(words(4, 9), "Frees 4 printers; 9 jobs are waiting");
        assert_eq!(cost_words(Language::German, 4, 1), "Macht 4 Drucker frei; 1 Druckauftrag wartet");
    }

    #[test]
    fn a_bed_promises_no_start_to_all_jobs_that_wait_for_it() {
        let words = |jobs| bed_words(Language::English, jobs);
        assert_eq!(words(0), None);
        assert_eq!(words(1).as_deref(), Some("1 job waiting for this bed"));
        assert_eq!(words(6).as_deref(), Some("6 jobs waiting for this bed"));
    }
}
