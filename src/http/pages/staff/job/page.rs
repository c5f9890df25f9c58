//! Job page: the job's state, the materials it needs, and its compatibility with each printer.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{JOBS_PATH, JobCard};
use crate::staff::orders::StaffOrderHandles;
use crate::staff::outage::live_job_state;
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::{FLOOR_PATH, ORDERS_PATH, PRODUCTS_PATH};
use crate::times::translated_message;
use domain::amount::Amount;
use domain::id::Id;
use domain::job::{ClaimStatus, Job};
use domain::material;
use domain::notation;
use http::access::Caller;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::jobs::{self, JobHandles, PrinterMatchView};
use printers::slot_label;
use words::Language;
use words::staff::jobs as texts;

/// Serves the page of a job.
pub(super) async fn show(
    State(app): State<StaffOrderHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let job = jobs::find(&app.jobs, id).await?;
    let forecast = app.jobs.forecaster.latest();
    let language = viewer.language();
    let title = texts::job_title(language, &job.number_text());
    let reasons = &app.config.quality.reasons;
    let (shop, expected) = (&app.board.shop, forecast.jobs.get(&id).copied());
    let card = JobCard { language, app: &app.jobs, shop, job: &job, expected, reasons };
    let content = html! {
        p class="acts" {
            a href={ (ORDERS_PATH) "/" (job.order_id) } { (texts::order_link(language)) }
            a href=(JOBS_PATH) { (texts::all_jobs(language)) }
            a href={ (PRODUCTS_PATH) "/" (job.sku_id) } { (texts::product_link(language)) }
            @if let Some(file) = job.file_id { a href={ (PRODUCTS_PATH) "/files/" (file) } { (texts::file_link(language)) } }
        }
        div id="job" data-fresh="" {
            h1 { (title) " " (live_job_state(language, shop, &job)) }
            h2 { (texts::status(language)) }
            div class="panel rows" { (card.html()) }
            (needs(language, &app.jobs, &job))
            @if !job.over() { (printers(language, &app, &job)) }
        }
    };
    Ok(viewer.page(StaffSection::Queue, &title, &app.board.view(), &content))
}

/// Formats an amount of a material, with the material's name.
fn material_words(language: Language, app: &JobHandles, material: Id, amount: Amount) -> String {
    let versioned = app.materials.resident(material).map(|handle| handle.read());
    let fields = versioned.as_ref().and_then(|versioned| versioned.state.as_ref()).map(|record| &record.fields);
    fields.map_or_else(
        || texts::amount_of_deleted(language, &notation::decimal(language, amount)),
        |fields| {
            let amount = material::exact_stock_amount(language, amount, fields.kind);
            texts::amount_of(language, &amount, &fields.name)
        },
    )
}

/// Formats an amount of a material with its unit; the number alone if the material was deleted.
fn amount_words(language: Language, app: &JobHandles, material: Id, amount: Amount) -> String {
    let versioned = app.materials.resident(material).map(|handle| handle.read());
    let kind = versioned.as_ref().and_then(|versioned| Some(versioned.state.as_ref()?.fields.kind));
    kind.map_or_else(
        || notation::decimal(language, amount),
        |kind| material::exact_stock_amount(language, amount, kind),
    )
}

fn needs(language: Language, app: &JobHandles, job: &Job) -> Markup {
    html! {
        section class="card" aria-labelledby="takes" {
            h2 id="takes" { (texts::materials(language)) }
            ul class="rows" {
                @for claim in &job.claims() {
                    li {
                        span { (material_words(language, app, claim.material_id, claim.need)) }
                        span {
                            @match claim.stock {
                                ClaimStatus::Held => { (texts::claim_held(language)) },
                                ClaimStatus::InLine => {
                                    span class=(Tone::Attention.class()) { (texts::claim_in_line(language)) }
                                },
                                ClaimStatus::Asked => { (texts::claim_requested(language)) },
                                ClaimStatus::None | ClaimStatus::Settling { .. } => { (texts::claim_none(language)) },
                            }
                        }
                        @if claim.consumed > Amount::ZERO {
                            @let consumed = amount_words(language, app, claim.material_id, claim.consumed);
                            span class="soft" { (texts::used_so_far(language, &consumed)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the title of a printer's slot, such as "Slot A1".
fn slot_title(language: Language, app: &StaffOrderHandles, printer: Id, slot: u32) -> String {
    let versioned = app.board.shop.printers.resident(printer).map(|handle| handle.read());
    let printer = versioned.as_ref().and_then(|versioned| versioned.state.as_ref());
    printer.map_or_else(|| texts::slot(language), |printer| slot_label(printer, slot).title(language))
}

/// Renders each printer with the requirements of the job that it does not meet, in the dispatcher's order of
/// preference.
fn printers(language: Language, app: &StaffOrderHandles, job: &Job) -> Markup {
    let matched = app.jobs.compare_printers(language, job);
    let columns: [fn(Language) -> String; 4] =
        [texts::printer_column, texts::can_print_column, texts::missing_column, texts::slots_column];
    html! {
        section class="card" aria-labelledby="match" {
            h2 id="match" { (texts::compatibility(language)) }
            @if matched.printers.is_empty() {
                p { (texts::no_printers(language)) " " a href=(FLOOR_PATH) { (texts::open_floor(language)) } }
            } @else {
                div class="table list" tabindex="0" role="region" aria-label=(texts::printers(language)) {
                    table {
                        thead { tr { @for column in columns { th scope="col" { (column(language)) } } } }
                        tbody {
                            @for one in &matched.printers { (printer_row(language, app, one)) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders a printer with the requirements of the job that it does not meet.
fn printer_row(language: Language, app: &StaffOrderHandles, one: &PrinterMatchView) -> Markup {
    let (tone, label): (_, fn(Language) -> String) = match (one.possible, one.fits, one.ready) {
        (true, ..) => (Tone::Working, texts::can_now),
        (false, true, _) => (Tone::Attention, texts::can_later),
        (false, false, true) => (Tone::Idle, texts::cannot_but_free),
        (false, false, false) => (Tone::Idle, texts::cannot),
    };
    html! {
        tr {
            th scope="row" class="grow" { a href={ (FLOOR_PATH) "/printers/" (one.printer_id) } { (one.name) } }
            td { span class=(tone.class()) { (label(language)) } }
            td class="wide unfolds" {
                @for (n, missing) in one.missing.iter().enumerate() {
                    @if n > 0 { "; " }
                    (translated_message(language, missing))
                }
            }
            td class="wide unfolds joined" {
                @for slot in &one.slots {
                    @let title = slot_title(language, app, one.printer_id, slot.slot);
                    @let amount = material_words(language, &app.jobs, slot.material_id, slot.need);
                    div {
                        (texts::slot_content(language, &title, &amount))
                        @if !slot.loaded { " " (texts::not_confirmed(language)) }
                    }
                }
            }
        }
    }
}
