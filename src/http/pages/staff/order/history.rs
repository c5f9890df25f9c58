//! History of an order, newest entry first.

use maud::{Markup, html};
use serde_json::Value;

use crate::frame::{NEXT_SLOT, SLOT, time, with_parts};
use crate::staff::FLOOR_PATH;
use crate::staff::board::BoardHandles;
use crate::staff::names::ActorNames;
use domain::event::{Event, NumberedEvent};
use domain::id::Id;
use domain::order::Order;
use words::Language;
use words::staff::{jobs, orders as texts};

/// Name of the printer in a message about a print whose printer is not known.
const NO_PRINTER: &str = "none";

/// Message about an event, by the records it names.
enum EventText {
    /// Message about the order itself.
    Order(fn(Language) -> String),
    /// Message that names the job.
    Job(fn(Language, &str) -> String),
    /// Message that names the job and the printer that prints it.
    Print(fn(Language, &str, &str) -> String),
    /// Message that names the printer.
    Printer(fn(Language, &str) -> String),
}

/// Renders what happened to an order and its jobs, on which printer, and who did it.
pub(super) fn history(
    language: Language,
    app: &BoardHandles,
    order: &Order,
    steps: &[NumberedEvent],
    names: &ActorNames,
) -> Markup {
    html! {
        section class="panel pad" aria-labelledby="happened" {
            h2 id="happened" { (texts::history(language)) }
            ol class="timeline" {
                @for NumberedEvent { event, .. } in steps.iter().rev() {
                    li class=[entry_class(&event.event)] {
                        (sentence(language, app, order, event))
                        div class="faint small" { (time(language, event.timestamp)) ", " (names.name(&event.actor).text) }
                    }
                }
            }
        }
    }
}

/// Renders the sentence about an event, with links to the job and the printer that it names.
fn sentence(language: Language, app: &BoardHandles, order: &Order, event: &Event) -> Markup {
    let Some(text) = event_text(&event.event, &event.data) else { return html! { (texts::event_unknown(language)) } };
    let job = || job_name(language, order, event.subject_id);
    match text {
        EventText::Order(text) => html! { (text(language)) },
        EventText::Job(text) => with_parts(&text(language, SLOT), &[&job()]),
        EventText::Print(text) => match printer_of(event) {
            Some(printer) => {
                let printer = printer_name(language, app, printer, None);
                with_parts(&text(language, SLOT, NEXT_SLOT), &[&job(), &printer])
            }
            None => with_parts(&text(language, SLOT, NO_PRINTER), &[&job()]),
        },
        EventText::Printer(text) => {
            let name = event.data.get("name").and_then(Value::as_str);
            with_parts(&text(language, SLOT), &[&printer_name(language, app, event.subject_id, name)])
        }
    }
}

/// Returns the printer of the print that an event is about.
fn printer_of(event: &Event) -> Option<Id> {
    event.data.get("printerId")?.as_str()?.parse().ok()
}

/// Renders a job's number with a link to its row.
fn job_name(language: Language, order: &Order, id: Id) -> Markup {
    html! {
        @match order.jobs.get(&id) {
            Some(job) => { a href={ "#job-" (id) } { (job.number_text()) } },
            None => { (texts::event_some_job(language)) },
        }
    }
}

/// Renders a printer's name with a link to its page. A removed printer has the name at the time of the event, if that
/// is known.
fn printer_name(language: Language, app: &BoardHandles, printer: Id, name_then: Option<&str>) -> Markup {
    let versioned = app.shop.printers.resident(printer).map(|handle| handle.read());
    let name = versioned.as_ref().and_then(|versioned| Some(versioned.present()?.fields.name.as_str()));
    html! {
        @match (name, name_then) {
            (Some(name), _) => { a href={ (FLOOR_PATH) "/printers/" (printer) } { (name) } },
            (None, Some(name)) => { (name) },
            (None, None) => { (jobs::removed_printer(language)) },
        }
    }
}

/// Returns the message about an event with its payload; `None` if no order's history has such events.
fn event_text(event: &str, data: &Value) -> Option<EventText> {
    order_text(event)
        .map(EventText::Order)
        .or_else(|| job_text(event))
        .or_else(|| printer_text(event, data).map(EventText::Printer))
}

fn order_text(event: &str) -> Option<fn(Language) -> String> {
    Some(match event {
        "order.cancelled" => texts::event_order_cancelled,
        "order.created" => texts::event_order_created,
        "order.draft" => texts::event_order_draft,
        "order.flagged" => texts::event_order_flagged,
        "order.late" => texts::event_order_late,
        "order.paid" => texts::event_order_paid,
        "order.part_shipped" => texts::event_order_part_shipped,
        "order.payment_failed" | "invoice.payment_failed" => texts::event_order_payment_failed,
        "order.payment_recorded" | "invoice.payment_recorded" => texts::event_order_payment_recorded,
        "order.printing" => texts::event_order_printing,
        "order.ready" => texts::event_order_ready,
        "order.refund_recorded" | "invoice.refund_recorded" => texts::event_order_refund_recorded,
        "order.refunded" => texts::event_order_refunded,
        "order.shipped" => texts::event_order_shipped,
        "credit_note.issued" => texts::event_credit_note_issued,
        "invoice.flagged" => texts::event_invoice_flagged,
        "invoice.issued" => texts::event_invoice_issued,
        "invoice.paid" => texts::event_invoice_paid,
        "invoice.refunded" => texts::event_invoice_refunded,
        "invoice.voided" => texts::event_invoice_voided,
        _ => return None,
    })
}

fn job_text(event: &str) -> Option<EventText> {
    Some(match event {
        "job.added" => EventText::Job(texts::event_job_added),
        "job.blocked" => EventText::Job(texts::event_job_blocked),
        "job.cancelled" => EventText::Print(texts::event_job_cancelled),
        "job.completed" => EventText::Print(texts::event_job_completed),
        "job.created" => EventText::Job(texts::event_job_created),
        "job.dispatching" => EventText::Print(texts::event_job_dispatching),
        "job.failed" => EventText::Print(texts::event_job_failed),
        "job.not_started" => EventText::Print(texts::event_job_not_started),
        "job.paused" => EventText::Print(texts::event_job_paused),
        "job.printing" => EventText::Print(texts::event_job_printing),
        "job.released" => EventText::Job(texts::event_job_released),
        "job.resumed" => EventText::Print(texts::event_job_resumed),
        "job.retried" => EventText::Job(texts::event_job_retried),
        "job.signed_off" => EventText::Job(texts::event_job_signed_off),
        "job.sliced" => EventText::Job(texts::event_job_sliced),
        "job.unverified" => EventText::Print(texts::event_job_unverified),
        "job.validated" => EventText::Job(texts::event_job_validated),
        _ => return None,
    })
}

/// Returns the message about an event from a printer that had one of the order's jobs in hand.
fn printer_text(event: &str, data: &Value) -> Option<fn(Language, &str) -> String> {
    Some(match event {
        "printer.attention_cleared" => texts::event_printer_attention_cleared,
        "printer.bed_cleared" => texts::event_printer_bed_cleared,
        "printer.commanded" => texts::event_printer_commanded,
        "printer.connected" => texts::event_printer_connected,
        "printer.created" => texts::event_printer_created,
        "printer.deleted" => texts::event_printer_deleted,
        "printer.disconnected" => texts::event_printer_disconnected,
        "printer.emergency_stopped" => texts::event_printer_emergency_stopped,
        "printer.failure_suspected" => texts::event_printer_failure_suspected,
        "printer.firmware_error" => texts::event_printer_firmware_error,
        "printer.homed" => texts::event_printer_homed,
        // A printer that is out of service has a note, which may be empty.
        "printer.maintenance" if data.get("note").is_some_and(|note| !note.is_null()) => {
            texts::event_printer_out_of_service
        }
        "printer.maintenance" => texts::event_printer_in_service,
        "printer.maintenance_due" => texts::event_printer_maintenance_due,
        "printer.maintenance_logged" => texts::event_printer_maintenance_logged,
        "printer.offline" => texts::event_printer_offline,
        "printer.online" => texts::event_printer_online,
        "printer.updated" => texts::event_printer_updated,
        _ => return None,
    })
}

/// Returns the CSS class for an event that is good or bad; `None` for all other events.
fn entry_class(event: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| event.contains(word));
    if has(&["error", "failed", "failure", "late", "mismatch", "offline", "rejected", "stopped", "unverified"]) {
        Some("warn")
    } else if has(&["paid", "completed", "ready", "shipped"]) {
        Some("ok")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use http::openapi::catalogue::{self, Entry};

    #[test]
    fn what_went_well_and_what_did_not_look_different() {
        let classes =
            ["order.payment_failed", "order.paid", "job.completed", "order.late", "job.dispatched"].map(entry_class);
        assert_eq!(classes, [Some("warn"), Some("ok"), Some("ok"), Some("warn"), None]);
    }

    /// Events that are never about an order, by the start of their names.
    const ELSEWHERE: [&str; 8] =
        ["LOW_STOCK", "custom_request.", "endpoint.", "inventory.", "payment.", "quote.", "shop.", "webhook."];

    fn written(language: Language, text: EventText) -> Vec<String> {
        match text {
            EventText::Order(text) => vec![text(language)],
            EventText::Job(text) => vec![text(language, "JOB-1")],
            EventText::Print(text) => vec![text(language, "JOB-1", "Ada"), text(language, "JOB-1", NO_PRINTER)],
            EventText::Printer(text) => vec![text(language, "Ada")],
        }
    }

    #[test]
    fn each_event_of_an_order_has_a_message_in_each_language() {
        for Entry { kind, .. } in catalogue::all() {
            let is_elsewhere = ELSEWHERE.iter().any(|start| kind.name.starts_with(start));
            assert_eq!(event_text(kind.name, &Value::Null).is_none(), is_elsewhere, "{}", kind.name);
            for language in Language::ALL {
                let sentences =
                    event_text(kind.name, &Value::Null).map(|text| written(language, text)).unwrap_or_default();
                for sentence in sentences {
                    assert!(!sentence.contains(['_', '.']), "{}: {sentence}", kind.name);
                    assert_ne!(sentence, texts::event_unknown(language), "{}", kind.name);
                }
            }
        }
    }

    /// Returns the sentences about an event with a payload in each language, one after the other.
    fn described_with(event: &str, data: &Value) -> [String; 2] {
        let sentences = |language| event_text(event, data).map(|text| written(language, text)).unwrap_or_default();
        Language::ALL.map(|language| sentences(language).concat())
    }

    #[test]
    fn an_event_is_described_in_each_language() {
        let described = |event| described_with(event, &Value::Null);
        assert_eq!(described("order.part_shipped"), ["Part of the order shipped", "Teillieferung versendet"]);
        assert_eq!(described("printer.offline"), ["Ada went offline", "Ada ist nicht mehr erreichbar"]);
        assert_eq!(
            described("job.printing"),
            [
                "JOB-1 started printing on AdaJOB-1 started printing",
                "Der Druck von JOB-1 hat auf Ada begonnenDer Druck von JOB-1 hat begonnen",
            ]
        );
        // Its file is not uploaded yet.
        assert_eq!(
            described("job.dispatching"),
            [
                "JOB-1 was assigned to AdaJOB-1 was assigned to a printer",
                "JOB-1 wurde Ada zugewiesenJOB-1 wurde einem Drucker zugewiesen",
            ]
        );
        assert_eq!(described("job.unheard_of"), [const { String::new() }; 2]);
    }

    #[test]
    fn a_printer_is_taken_out_of_service_or_returned_to_it() {
        let described = |note: &Value| described_with("printer.maintenance", &json!({"name": "Ada", "note": note}));
        for note in [json!("belts"), json!("")] {
            let out = ["Ada was taken out of service", "Ada wurde außer Betrieb genommen"];
            assert_eq!(described(&note), out, "{note}");
        }
        let back = ["Ada was returned to service", "Ada wurde wieder in Betrieb genommen"];
        assert_eq!(described(&Value::Null), back);
    }
}
