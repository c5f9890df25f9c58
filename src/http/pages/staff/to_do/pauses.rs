//! Paused prints: who or what paused each, since when, for whom it is printed, and how to continue.

use maud::{Markup, html};

use super::row::TaskRow;
use super::{TaskKind, ToDoHandles, back, printer_link};
use crate::design::{Icon, icon};
use crate::frame::{SLOT, with_parts};
use crate::staff::card::{act_path, file_words, printed};
use crate::staff::card_gauge::{waiting, waiting_words};
use crate::staff::card_print::{PrintedJob, job_path_of, printer_path};
use crate::staff::shell::hidden;
use crate::staff::subject::{mark_at_printer, print_field};
use crate::times::message_in;
use domain::printer::{OpenPause, PauseOrigin, PauseReason, Printer};
use domain::printer_status::Status;
use words::Language;
use words::staff::{cards, to_do};

/// Lists the paused prints, longest-paused first.
pub(super) fn pauses(language: Language, app: &ToDoHandles, printers: &[&Printer]) -> TaskKind {
    let connections = &app.board.shop.printer_connections;
    let mut paused: Vec<(&Printer, OpenPause, Option<Status>)> = Vec::new();
    for printer in printers.iter().copied() {
        let status = connections.status(printer.id);
        if let Some(pause) = printer.open_pause(status.as_ref()) {
            paused.push((printer, pause, status));
        }
    }
    paused.sort_by_key(|(printer, pause, _)| (pause.since.is_none(), pause.since, printer.id));
    let rows = paused.iter().map(|(printer, pause, status)| row(language, app, printer, pause, status.as_ref()));
    TaskKind::new(language, "paused", to_do::kind_paused, rows.collect())
}

/// Renders a paused print with the actions that end the pause. To cancel it is confirmed on the printer's page.
fn row(
    language: Language,
    app: &ToDoHandles,
    printer: &Printer,
    pause: &OpenPause,
    status: Option<&Status>,
) -> TaskRow {
    let in_hand = printer.in_hand.as_ref();
    let job = in_hand.and_then(|own| PrintedJob::find(language, &app.board, own.order, own.job));
    let parts = job.as_ref().map(|job| job.parts.clone()).or_else(|| file_words(printer, status));
    let whole = parts.as_ref().map(|parts| format!("{} · {parts}", printer.fields.name));
    let title = html! {
        b title=[whole] { (printer_link(printer)) @if let Some(parts) = &parts { " · " (parts) } }
    };
    let order = in_hand.map(|own| {
        let words = job.as_ref().map_or_else(|| to_do::view_job(language), |job| job.order.clone());
        html! { a href=(job_path_of(own.order, own.job)) { (words) } }
    });
    let detail = html! {
        (reason(language, &pause.reason))
        @if let Some(job) = &job { " · " (job.customer) }
        @if let Some(words) = waiting_words(language, waiting(&app.board, printer)) { " · " (words) }
    };
    let (name, print) = (&printer.fields.name, printed(language, printer));
    let acts = html! {
        form method="post" action=(act_path(printer.id, "resume")) data-quiet="" {
            (hidden())
            (print_field(mark_at_printer(printer, "resume").as_deref()))
            (back())
            button id={ "resume-" (printer.id) } class="btn primary" type="submit"
                aria-label=(cards::resume_on(language, &print, name)) { (icon(Icon::Play)) (cards::resume(language)) }
        }
        a class="btn" href={ (printer_path(printer.id)) "#cancel" } aria-label=(cards::cancel_on(language, &print, name)) {
            (cards::cancel(language))
        }
    };
    let picture = in_hand.map(|own| own.file_id);
    let row = TaskRow::new(Icon::Pause, title).lead(order).since(language, pause.since).picture(picture).acts(acts);
    // The printer's own message may be long.
    match &pause.reason {
        PauseReason::AtPrinter(Some(_)) => row.detail(detail),
        _ => row.facts(detail),
    }
}

/// Renders the reason for a pause. The printer's own message is in English.
fn reason(language: Language, reason: &PauseReason) -> Markup {
    match reason {
        PauseReason::Requested(PauseOrigin::Person) => html! { (to_do::paused_by_person(language)) },
        PauseReason::Requested(PauseOrigin::FailureDetection) => html! { (to_do::paused_by_detection(language)) },
        PauseReason::AtPrinter(None) => html! { (to_do::paused_at_printer(language)) },
        PauseReason::AtPrinter(Some(text)) => {
            with_parts(&to_do::paused_by_printer(language, SLOT), &[&message_in(language, text)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_says_who_or_what_paused_the_print() {
        let all = [
            PauseReason::Requested(PauseOrigin::Person),
            PauseReason::Requested(PauseOrigin::FailureDetection),
            PauseReason::AtPrinter(None),
            PauseReason::AtPrinter(Some("the filament ran out".to_owned())),
        ];
        let words = |language| all.each_ref().map(|one| reason(language, one).into_string());
        assert_eq!(
            words(Language::English),
            [
                "Paused by a person",
                "Paused by failure detection",
                "Paused at the printer",
                "Paused by the printer: the filament ran out"
            ]
        );
        let german = words(Language::German);
        assert_eq!(german[0], "Manuell pausiert");
        assert_eq!(german[3], "Vom Drucker pausiert: <span lang=\"en\">the filament ran out</span>");
    }
}
