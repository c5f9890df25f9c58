//! Printer page: its card with the current print, its readings, what it prints next, its history, and the actions that
//! need confirmation.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

use super::acts::DONE_LABEL;
use super::board::BoardHandles;
use super::card::{act_path, attention_words, printed};
use super::card_gauge::print_time;
use super::card_picture::{camera_path, may_have_camera};
use super::card_print::{PrintedJob, plate, printer_path};
use super::floor::FloorHandles;
use super::labels::printer_label_path;
use super::log::LogHandles;
use super::printer_print::upload_path;
use super::printer_readings::readings;
use super::settings::history_path;
use super::shell::{StaffSection, StaffViewer, act, hidden, once_field};
use super::sign_off::{Defects, SignOffSubject, sign_off_form, usual_defect};
use super::subject::{mark_at_printer, print_field};
use super::{FLOOR_PATH, ORDERS_PATH};
use crate::design::{Icon, icon};
use crate::frame::{SLOT, time, with_parts};
use crate::printer_fields::type_name;
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
use http_api::production::printers::{PrinterHandles, activity, gentle, last_answer};
use words::Language;
use words::staff::{common, printer_page as texts};

/// ID of the page's content, to which a question leads back.
const CONTENT_ID: &str = "content";
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
    let language = viewer.language();
    let notes = log.notes(language, printer).await?;
    let queue = queue(language, &app.board, id);
    let usual = usual_defect(&shop.queries, &app.config).await;
    let defects = Defects { reasons: &app.config.quality.reasons, preset: usual.as_deref() };
    let log = log.render(language, Some(id)).await?;
    let view = app.board.view_in(language);
    let content = html! {
        (head(language, printer, who.has(Role::Admin)))
        div class="printer-page" {
            section aria-labelledby="now" {
                h2 class="hidden-words" id="now" { (texts::now(language)) }
                @if let Some(parts) = view.parts(language).printers.get(&id) {
                    ul class="list alone" aria-labelledby="now" { (PreEscaped(parts.whole())) }
                }
                // Outside of what is read again: the script has its own way to the picture.
                @if may_have_camera(printer) {
                    @let camera = texts::camera_view(language, &printer.fields.name);
                    noscript { img class="camera" src=(camera_path(id)) alt=(camera); }
                }
            }
            div id="printer-readings" data-fresh="" { (readings(language, shop, printer)) }
            div id="printer" data-fresh="" {
                (cancel(language, shop, printer))
                (parts(language, &app.board, printer, defects, query.parts.is_some()))
                (queue)
                (notes)
                (log)
            }
            div id="printer-side" data-fresh="" {
                (service(language, printer))
                (stop(language, shop, printer))
                (about(language, shop, printer))
            }
        }
    };
    Ok(viewer.page(StaffSection::Floor, &printer.fields.name, &view, &content))
}

/// Renders the heading of the page. The printer's state is shown only in the card, which is refreshed continuously; the
/// heading is not.
fn head(language: Language, printer: &Printer, is_admin: bool) -> Markup {
    let (id, all_printers) = (printer.id, texts::all_printers(language));
    html! {
        div class="head" {
            a class="btn quiet square" href=(FLOOR_PATH) aria-label=(all_printers) title=(all_printers) {
                (icon(Icon::ArrowLeft))
            }
            h1 { (printer.fields.name) }
            @if let Some(model) = &printer.fields.model { span class="muted" { (model) } }
            span class="push" {}
            a class="btn" href=(upload_path(id)) { (texts::manual_print(language)) }
            a class="btn" href={ (FLOOR_PATH) "/printers/" (id) "/edit" } { (texts::edit_or_remove(language)) }
            @if is_admin {
                a class="btn" href=(history_path(AuditedKind::Printer, id)) { (texts::history(language)) }
            }
        }
    }
}

/// Renders the question whether a print is to be cancelled, which names the print and the printer. It is shown while
/// the page's address ends in its ID, so that a link opens it without the script, on this page as on others. It cancels
/// no other print, however long it stays open.
fn cancel(language: Language, shop: &PrinterHandles, printer: &Printer) -> Markup {
    let on = matches!(activity(shop, printer), Activity::Printing | Activity::Paused);
    let what = printed(language, printer);
    let name = &printer.fields.name;
    let subject = print_field(mark_at_printer(printer, "cancel").as_deref());
    html! {
        @if on {
            section class="ask" id="cancel" role="alertdialog" aria-labelledby="cancel-title" tabindex="-1" {
                h2 id="cancel-title" { (texts::cancel_question(language, &what, name)) }
                p { (texts::cancel_text(language)) }
                div class="acts" {
                    a class="btn" href={ "#" (CONTENT_ID) } { (texts::keep_printing(language)) }
                    @let label = texts::cancel(language, &what, name);
                    (act(&act_path(printer.id, "cancel"), "cancel-now", "btn bad", &label, Some(&subject)))
                }
            }
        }
    }
}

/// Renders the form for signing off the parts on the bed. The script goes on refreshing the page while the form is
/// unfolded as in `is_open`.
fn parts(language: Language, app: &BoardHandles, printer: &Printer, defects: Defects<'_>, is_open: bool) -> Markup {
    let on = matches!(activity(&app.shop, printer), Activity::Printing | Activity::Paused);
    let plate_parts = PrintedJob::on_bed(language, app, printer).map(|job| job.plate_parts);
    html! {
        @if printer.bed_not_cleared && printer.last_print.is_some() && !on {
            section class="card" aria-labelledby="parts" {
                h2 id="parts" { (texts::parts_heading(language)) }
                details id="some-bad" open[is_open] data-unfolded[is_open] {
                    summary { (common::report_bad_parts(language)) }
                    (sign_off_form(language, &SignOffSubject::on_bed(printer, plate_parts), defects, None))
                }
            }
        }
    }
}

/// Renders the emergency stop with an explanation of its effect. As on the card, the button must be held down; without
/// the script, a single press is enough.
fn stop(language: Language, shop: &PrinterHandles, printer: &Printer) -> Markup {
    html! {
        section class="card" aria-labelledby="stop-title" {
            h2 id="stop-title" { (texts::stop_heading(language)) }
            p {
                @if gentle(shop, printer.id) { (texts::stop_gentle(language)) } @else { (texts::stop_text(language)) }
            }
            p { strong { (texts::stop_warning(language)) } }
            form method="post" action=(act_path(printer.id, "emergency-stop"))
                data-hold={ "/api/printers/" (printer.id) "/emergency-stop" } {
                (hidden())
                button class="stop" type="submit" data-says=(texts::stop_name(language, &printer.fields.name)) aria-describedby="stop-how" {
                    (texts::stop(language, &printer.fields.name))
                }
            }
            p class="hint" id="stop-how" { (texts::stop_hint(language)) }
        }
    }
}

fn service(language: Language, printer: &Printer) -> Markup {
    let out = printer.maintenance.is_some();
    let more = html! {
        @if out {
            (once_field())
            div class="field" {
                label for="done" { (DONE_LABEL(language)) }
                input id="done" name="done" maxlength="200" aria-describedby="about-done";
                p class="hint" id="about-done" { (texts::done_hint(language)) }
            }
        } @else {
            input type="hidden" name="on" value="true";
            div class="field" {
                label for="note" { (texts::reason_field(language)) }
                input id="note" name="note" maxlength="500";
            }
        }
    };
    let (word, words) =
        if out { ("back", texts::put_back(language)) } else { ("maintenance", texts::take_out(language)) };
    html! {
        section class="card" aria-labelledby="service" {
            h2 id="service" { (texts::service_heading(language)) }
            @if let Some(note) = printer.maintenance.as_ref().filter(|note| !note.is_empty()) { p { (note) } }
            (act(&act_path(printer.id, word), "maintenance", "second", &words, Some(&more)))
            @if printer.disconnected {
                (act(&act_path(printer.id, "connect"), "connect", "second", &texts::connect(language), None))
            } @else {
                (act(&act_path(printer.id, "disconnect"), "disconnect", "second", &texts::disconnect(language), None))
            }
        }
    }
}

/// Renders the jobs that the printer is expected to print next.
fn queue(language: Language, app: &BoardHandles, printer: Id) -> Markup {
    let forecast = app.forecaster.latest();
    let queued = forecast.queues.get(&printer).map(Vec::as_slice).unwrap_or_default();
    let names = |one: &QueuedJob| {
        let order = app.orders.resident(one.order)?.read();
        let job = order.state.as_ref()?.jobs.get(&one.job)?.clone();
        Some((job.number_text(), plate(&job.sku_name, job.plate_parts)))
    };
    html! {
        @if !queued.is_empty() {
            section class="card" aria-labelledby="queue" {
                h2 id="queue" { (texts::queue_heading(language)) }
                ol class="rows" {
                    @for (one, (number, part)) in queued.iter().take(QUEUE_SHOWN).filter_map(|one| Some((one, names(one)?))) {
                        li {
                            a href={ (ORDERS_PATH) "/" (one.order) "#job-" (one.job) } { (number) }
                            span { (part) }
                            span class="soft" { (print_time(language, one)) " · " (with_parts(&texts::ends(language, SLOT), &[&time(language, one.done_at)])) }
                        }
                    }
                }
                @if queued.len() > QUEUE_SHOWN { p class="soft" { (texts::more_jobs(language, queued.len() - QUEUE_SHOWN)) } }
                p class="soft" { (texts::queue_note(language)) }
            }
        }
    }
}

fn about(language: Language, shop: &PrinterHandles, printer: &Printer) -> Markup {
    let fields = &printer.fields;
    html! {
        section class="card" aria-labelledby="about" {
            h2 id="about" { (texts::details_heading(language)) }
            dl class="left" {
                dt { (texts::printer_type(language)) }
                dd { (type_name(&fields.kind)) @if let Some(model) = &fields.model { ", " (model) } }
                dt { (texts::address(language)) } dd { (fields.base_url) }
                @if let Some(location) = &fields.location { dt { (texts::location(language)) } dd { (location) } }
                @if let Some(at) = fields.position { dt { (texts::position(language)) } dd { (texts::row_and_column(language, at.row, at.column)) } }
                @if !fields.tags.is_empty() { dt { (texts::tags(language)) } dd { (fields.tags.join(", ")) } }
                @if let Some(at) = last_answer(shop, printer) { dt { (texts::last_response(language)) } dd { (time(language, at)) } }
                @for one in printer.attention() { dt { (texts::attention(language)) } dd { (attention_words(language, one)) } }
                @for Clearing { to, .. } in printer.clearings.iter().rev().take(3) {
                    dt { (texts::bed_cleared(language)) } dd { (time(language, *to)) }
                }
            }
            p { a href=(printer_label_path(printer.id)) { (texts::code_label(language)) } }
        }
    }
}
