//! Printer page: its card, actions that need confirmation, and the emergency stop.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

use super::acts::DONE_LABEL;
use super::board::BoardHandles;
use super::card::{act_path, attention_words, printed};
use super::card_heat::chart;
use super::card_picture::{camera_path, may_have_camera};
use super::card_print::{PrintedJob, printer_path};
use super::floor::FloorHandles;
use super::labels::printer_label_path;
use super::log::LogHandles;
use super::printer_print::upload_path;
use super::settings::history_path;
use super::shell::{StaffSection, StaffViewer, act, clock, hidden};
use super::sign_off::{SignOffSubject, sign_off_form};
use super::{FLOOR_PATH, ORDERS_PATH};
use domain::audit::AuditedKind;
use domain::forecast::QueuedJob;
use domain::id::Id;
use domain::principal::Role;
use domain::printer::{Clearing, Printer};
use domain::printer_status::Activity;
use domain::refusal::Refusal;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::production::printers::{GENTLE, PrinterHandles, activity, gentle, last_answer};
use words::Language;

/// Maximum number of queued jobs listed individually; further jobs are only counted.
const QUEUE_SHOWN: usize = 20;

handles! {
    /// Dependencies of the printer page.
    pub(crate) struct PrinterPageHandles {
        floor: FloorHandles,
        log: LogHandles,
    }
}

/// Query parameters of the printer page.
#[derive(Request, Debug)]
pub(super) struct PrinterPageQuery {
    /// Any value unfolds the form for signing off the parts on the bed.
    parts: Option<String>,
}

/// Returns the path of a printer's page with the form for signing off the parts on its bed unfolded.
pub(super) fn sign_off_path(printer: Id) -> String {
    format!("{}?parts=open#parts", printer_path(printer))
}

/// Serves the page of a printer.
pub(super) async fn show(
    State(PrinterPageHandles { floor: app, log }): State<PrinterPageHandles>,
    PathId(id): PathId,
    OpenQuery(query): OpenQuery<PrinterPageQuery>,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let shop = &app.board.shop;
    let (_, state) = find_existing(&shop.printers, id).await?;
    let printer = state_of(&state)?;
    if printer.archived {
        return Err(Refusal::not_found("printer").into());
    }
    let notes = log.notes(printer).await?;
    let queue = queue(&app.board, id);
    let log = log.render(viewer.language(), Some(id)).await?;
    let view = app.board.view();
    let content = html! {
        p { a href=(FLOOR_PATH) { "All printers" } }
        // Its state stands in the card, and only there: that is read again all the time, this is not.
        h1 { (printer.fields.name) }
        p class="acts" {
            a class="button second" href=(upload_path(id)) { "Manual print…" }
            a class="button second" href={ (FLOOR_PATH) "/printers/" (id) "/edit" } { "Edit or remove" }
            @if who.has(Role::Admin) { a class="button second" href=(history_path(AuditedKind::Printer, id)) { "History" } }
        }
        @if let Some(parts) = view.printers.get(&id) {
            section aria-labelledby="now" {
                h2 class="hidden-words" id="now" { "Now" }
                ul class="list alone" aria-labelledby="now" { (PreEscaped(parts.whole())) }
            }
        }
        // Outside of what is read again: the script has its own way to the picture.
        @if may_have_camera(printer) {
            noscript {
                img class="camera" src=(camera_path(id)) alt={ "Camera view of " (printer.fields.name) };
            }
        }
        div id="printer" data-fresh="" {
            (cancel(shop, printer))
            (parts(&app.board, printer, &app.config.quality.reasons, query.parts.is_some()))
            (queue)
            (chart(Language::English, shop, id))
            (stop(shop, printer))
            (service(printer))
            (notes)
            (about(shop, printer))
            (log)
        }
    };
    Ok(viewer.page(StaffSection::Floor, &printer.fields.name, &view, &content))
}

/// Renders the confirmation for cancelling a print; it includes the printer and the print.
fn cancel(shop: &PrinterHandles, printer: &Printer) -> Markup {
    let on = matches!(activity(shop, printer), Activity::Printing | Activity::Paused);
    let what = printed(Language::English, printer);
    let name = &printer.fields.name;
    html! {
        @if on {
            section class="card" id="cancel" aria-labelledby="cancel-title" {
                h2 id="cancel-title" { "Cancel " (what) " on " (name) "?" }
                p { "The print stops and its parts are lost. If it belongs to a job, the job must be printed again." }
                @if let Some(in_hand) = &printer.in_hand {
                    p { a href={ (ORDERS_PATH) "/" (in_hand.order) "#job-" (in_hand.job) } { "View job" } }
                }
                (act(&act_path(printer.id, "cancel"), "cancel-now", "", &format!("Cancel {what} on {name}"), None))
            }
        }
    }
}

/// Renders the form for signing off the parts on the bed. The script goes on refreshing the page while the form is
/// unfolded as in `is_open`.
fn parts(app: &BoardHandles, printer: &Printer, reasons: &[String], is_open: bool) -> Markup {
    let on = matches!(activity(&app.shop, printer), Activity::Printing | Activity::Paused);
    let plate_parts = PrintedJob::on_bed(Language::English, app, printer).map(|job| job.plate_parts);
    html! {
        @if printer.bed_not_cleared && printer.last_print.is_some() && !on {
            section class="card" aria-labelledby="parts" {
                h2 id="parts" { "Parts on the bed" }
                details id="some-bad" open[is_open] data-unfolded[is_open] {
                    summary { "Some parts are bad" }
                    (sign_off_form(words::Language::English, SignOffSubject::Bed(printer.id, plate_parts), reasons, None))
                }
            }
        }
    }
}

/// Renders the emergency stop with an explanation of its effect. As on the card, the button must be held down; without
/// the script, a single press is enough.
fn stop(shop: &PrinterHandles, printer: &Printer) -> Markup {
    html! {
        section class="card" aria-labelledby="stop-title" {
            h2 id="stop-title" { "Emergency stop" }
            p {
                @if gentle(shop, printer.id) { (GENTLE) "." } @else {
                    "This immediately cuts power to the motors and heaters. Afterwards, home the printer and clear its bed."
                }
            }
            p { strong { "Software is not a safety device: in an emergency, switch the printer off at the mains." } }
            form method="post" action=(act_path(printer.id, "emergency-stop"))
                data-hold={ "/api/printers/" (printer.id) "/emergency-stop" } {
                (hidden())
                button class="stop" type="submit" data-says={ "emergency stop of " (printer.fields.name) } aria-describedby="stop-how" {
                    "Stop " (printer.fields.name) " now"
                }
            }
            p class="hint" id="stop-how" { "Hold for one second. Without JavaScript, a single press is enough." }
        }
    }
}

fn service(printer: &Printer) -> Markup {
    let out = printer.maintenance.is_some();
    let more = html! {
        @if out {
            div class="field" {
                label for="done" { (DONE_LABEL(words::Language::English)) }
                input id="done" name="done" maxlength="200" aria-describedby="about-done";
                p class="hint" id="about-done" { "Saved in the maintenance log." }
            }
        } @else {
            input type="hidden" name="on" value="true";
            div class="field" {
                label for="note" { "Reason" }
                input id="note" name="note" maxlength="500";
            }
        }
    };
    let (word, words) = if out { ("back", "Put back into service") } else { ("maintenance", "Take out of service") };
    html! {
        section class="card" aria-labelledby="service" {
            h2 id="service" { "Service" }
            @if let Some(note) = printer.maintenance.as_ref().filter(|note| !note.is_empty()) { p { (note) } }
            (act(&act_path(printer.id, word), "maintenance", "second", words, Some(&more)))
            @if printer.disconnected {
                (act(&act_path(printer.id, "connect"), "connect", "second", "Connect", None))
            } @else {
                (act(&act_path(printer.id, "disconnect"), "disconnect", "second", "Disconnect", None))
            }
        }
    }
}

/// Renders the jobs that the printer is expected to print next.
fn queue(app: &BoardHandles, printer: Id) -> Markup {
    let forecast = app.forecaster.latest();
    let queued = forecast.queues.get(&printer).map(Vec::as_slice).unwrap_or_default();
    let names = |one: &QueuedJob| {
        let order = app.orders.resident(one.order)?.read();
        let job = order.state.as_ref()?.jobs.get(&one.job)?.clone();
        Some((job.number_text(), job.sku_name.clone()))
    };
    html! {
        @if !queued.is_empty() {
            section class="card" aria-labelledby="queue" {
                h2 id="queue" { "Up next" }
                ol class="rows" {
                    @for (one, (number, sku)) in queued.iter().take(QUEUE_SHOWN).filter_map(|one| Some((one, names(one)?))) {
                        li {
                            a href={ (ORDERS_PATH) "/" (one.order) "#job-" (one.job) } { (number) }
                            span { (sku) }
                            span class="soft" { "ends " (clock(one.done_at)) }
                        }
                    }
                }
                @if queued.len() > QUEUE_SHOWN { p class="soft" { "and " (queued.len() - QUEUE_SHOWN) " more" } }
                p class="soft" { "A job is assigned to a printer when it starts, so another printer may take it first." }
            }
        }
    }
}

fn about(shop: &PrinterHandles, printer: &Printer) -> Markup {
    let fields = &printer.fields;
    html! {
        section class="card" aria-labelledby="about" {
            h2 id="about" { "Details" }
            dl class="left" {
                dt { "Type" } dd { (fields.kind) @if let Some(model) = &fields.model { ", " (model) } }
                dt { "Address" } dd { (fields.base_url) }
                @if let Some(location) = &fields.location { dt { "Location" } dd { (location) } }
                @if let Some(at) = fields.position { dt { "Position" } dd { "row " (at.row) ", column " (at.column) } }
                @if !fields.tags.is_empty() { dt { "Tags" } dd { (fields.tags.join(", ")) } }
                @if let Some(at) = last_answer(shop, printer) { dt { "Last response" } dd { (clock(at)) } }
                @for one in printer.attention() { dt { "Attention" } dd { (attention_words(Language::English, one)) } }
                @for Clearing { to, .. } in printer.clearings.iter().rev().take(3) {
                    dt { "Bed cleared" } dd { (clock(*to)) }
                }
            }
            p { a href=(printer_label_path(printer.id)) { "QR code label" } }
        }
    }
}
