//! History of an order, newest entry first.

use maud::{Markup, html};

use crate::frame::{NEXT_SLOT, SLOT, time, with_parts};
use crate::staff::FLOOR_PATH;
use crate::staff::board::BoardHandles;
use crate::staff::names::ActorNames;
use domain::event::{Event, NumberedEvent};
use domain::id::Id;
use domain::order::Order;
use words::Language;
use words::staff::{jobs, orders as texts};

/// Events about a print, with which the history names the printer.
const PRINT_EVENTS: [&str; 9] = [
    "job.cancelled",
    "job.completed",
    "job.dispatching",
    "job.failed",
    "job.not_started",
    "job.paused",
    "job.printing",
    "job.resumed",
    "job.unverified",
];

/// Renders what happened to an order and its jobs, on which printer, and who did it.
pub(super) fn history(
    language: Language,
    app: &BoardHandles,
    order: &Order,
    steps: &[NumberedEvent],
    names: &ActorNames,
) -> Markup {
    let number = |job: Id| order.jobs.get(&job).map(|job| job.number_text());
    html! {
        section class="panel pad" aria-labelledby="happened" {
            h2 id="happened" { (texts::history(language)) }
            ol class="timeline" {
                @for NumberedEvent { event, .. } in steps.iter().rev() {
                    li class=[entry_class(&event.event)] {
                        @let label = event_label(language, &event.event);
                        @match number(event.subject_id) {
                            Some(number) => {
                                @let link = html! { a href={ "#job-" (event.subject_id) } { (number) } };
                                @match printer_of(event) {
                                    Some(printer) => {
                                        @let printer = printer_name(language, app, printer);
                                        (with_parts(&texts::event_of_print(language, &label, SLOT, NEXT_SLOT), &[&link, &printer]))
                                    },
                                    None => { (with_parts(&texts::event_of_job(language, &label, SLOT), &[&link])) },
                                }
                            },
                            None => { (label) },
                        }
                        div class="faint small" { (time(language, event.timestamp)) ", " (names.name(&event.actor).text) }
                    }
                }
            }
        }
    }
}

/// Returns the printer of the print that an event is about; `None` if it is about no print.
fn printer_of(event: &Event) -> Option<Id> {
    let is_of_print = PRINT_EVENTS.contains(&event.event.as_str());
    is_of_print.then(|| event.data.get("printerId")?.as_str()?.parse().ok()).flatten()
}

/// Renders a printer's name with a link to its page.
fn printer_name(language: Language, app: &BoardHandles, printer: Id) -> Markup {
    let versioned = app.shop.printers.resident(printer).map(|handle| handle.read());
    let name = versioned.as_ref().and_then(|versioned| Some(versioned.present()?.fields.name.as_str()));
    html! {
        @match name {
            Some(name) => { a href={ (FLOOR_PATH) "/printers/" (printer) } { (name) } },
            None => { (jobs::removed_printer(language)) },
        }
    }
}

/// Returns the description of an event; that of an event without one is its name.
fn event_label(language: Language, event: &str) -> String {
    let text = match event {
        "order.cancelled" => texts::event_order_cancelled,
        "order.created" => texts::event_order_created,
        "order.draft" => texts::event_order_draft,
        "order.flagged" => texts::event_order_flagged,
        "order.late" => texts::event_order_late,
        "order.paid" => texts::event_order_paid,
        "order.part_shipped" => texts::event_order_part_shipped,
        "order.payment_failed" => texts::event_order_payment_failed,
        "order.payment_recorded" => texts::event_order_payment_recorded,
        "order.printing" => texts::event_order_printing,
        "order.ready" => texts::event_order_ready,
        "order.refund_recorded" => texts::event_order_refund_recorded,
        "order.refunded" => texts::event_order_refunded,
        "order.shipped" => texts::event_order_shipped,
        "job.added" => texts::event_job_added,
        "job.blocked" => texts::event_job_blocked,
        "job.cancelled" => texts::event_job_cancelled,
        "job.completed" => texts::event_job_completed,
        "job.created" => texts::event_job_created,
        "job.dispatching" => texts::event_job_dispatching,
        "job.failed" => texts::event_job_failed,
        "job.not_started" => texts::event_job_not_started,
        "job.paused" => texts::event_job_paused,
        "job.printing" => texts::event_job_printing,
        "job.released" => texts::event_job_released,
        "job.resumed" => texts::event_job_resumed,
        "job.retried" => texts::event_job_retried,
        "job.signed_off" => texts::event_job_signed_off,
        "job.sliced" => texts::event_job_sliced,
        "job.unverified" => texts::event_job_unverified,
        "job.validated" => texts::event_job_validated,
        other => return other.replace(['.', '_'], " "),
    };
    text(language)
}

/// Returns the CSS class for an event that is good or bad; `None` for all other events.
fn entry_class(event: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| event.contains(word));
    if has(&["failed", "late", "rejected", "mismatch"]) {
        Some("warn")
    } else if has(&["paid", "completed", "ready", "shipped"]) {
        Some("ok")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_well_and_what_did_not_look_different() {
        let classes =
            ["order.payment_failed", "order.paid", "job.completed", "order.late", "job.dispatched"].map(entry_class);
        assert_eq!(classes, [Some("warn"), Some("ok"), Some("ok"), Some("warn"), None]);
    }

    #[test]
    fn an_event_is_described_in_each_language() {
        let described = |event| Language::ALL.map(|language| event_label(language, event));
        assert_eq!(described("order.part_shipped"), ["Part of the order shipped", "Teillieferung versendet"]);
        assert_eq!(described("job.not_started"), ["Job not started", "Druckauftrag nicht gestartet"]);
        assert_eq!(described("job.unheard_of"), ["job unheard of"; 2]);
    }
}
