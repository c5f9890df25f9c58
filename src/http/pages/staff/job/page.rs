//! Job page: the job's state, the materials it needs, and its compatibility with each printer.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{JOBS_PATH, JobCard, job_state};
use crate::staff::orders::StaffOrderHandles;
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::{FLOOR_PATH, ORDERS_PATH, PRODUCTS_PATH};
use crate::times::message;
use domain::amount::Amount;
use domain::id::Id;
use domain::job::{ClaimStatus, Job};
use http::access::Caller;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::jobs::{self, JobHandles};
use printers::slot_label;

/// Serves the page of a job.
pub(super) async fn show(
    State(app): State<StaffOrderHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let job = jobs::find(&app.jobs, id).await?;
    let forecast = app.jobs.forecaster.latest();
    let (tone, words) = job_state(&job);
    let title = format!("Job {}", job.number_text());
    let reasons = &app.config.quality.reasons;
    let card = JobCard { app: &app.jobs, job: &job, expected: forecast.jobs.get(&id).copied(), reasons };
    let content = html! {
        p class="acts" {
            a href={ (ORDERS_PATH) "/" (job.order_id) } { "Order" }
            a href=(JOBS_PATH) { "All jobs" }
            a href={ (PRODUCTS_PATH) "/" (job.sku_id) } { "SKU" }
            @if let Some(file) = job.file_id { a href={ (PRODUCTS_PATH) "/files/" (file) } { "File" } }
        }
        div id="job" data-fresh="" {
            h1 { (title) " " span class=(tone.class()) { (words) } }
            h2 { "Status" }
            div class="panel rows" { (card.html()) }
            (needs(&app.jobs, &job))
            @if !job.over() { (printers(&app, &job)) }
        }
    };
    Ok(viewer.page(StaffSection::Queue, &title, &app.board.view(), &content))
}

/// Formats an amount of a material, with the material's name.
fn material_words(app: &JobHandles, material: Id, amount: Amount) -> String {
    let versioned = app.materials.resident(material).map(|handle| handle.read());
    let fields = versioned.as_ref().and_then(|versioned| versioned.state.as_ref()).map(|record| &record.fields);
    fields.map_or_else(
        || format!("{amount} of a deleted material"),
        |fields| format!("{amount} {} {}", fields.kind.unit(), fields.name),
    )
}

fn needs(app: &JobHandles, job: &Job) -> Markup {
    html! {
        section class="card" aria-labelledby="takes" {
            h2 id="takes" { "Materials" }
            ul class="rows" {
                @for claim in &job.claims() {
                    li {
                        span { (material_words(app, claim.material_id, claim.need)) }
                        span {
                            @match claim.stock {
                                ClaimStatus::Held => { "reserved" },
                                ClaimStatus::InLine => { span class=(Tone::Attention.class()) { "waiting for stock" } },
                                ClaimStatus::Asked => { "requested" },
                                ClaimStatus::None | ClaimStatus::Settling { .. } => { "not reserved" },
                            }
                        }
                        @if claim.consumed > Amount::ZERO { span class="soft" { (claim.consumed) " used so far" } }
                    }
                }
            }
        }
    }
}

/// Returns the label of a printer's slot, as a title.
fn slot_title(app: &StaffOrderHandles, printer: Id, slot: u32) -> String {
    let versioned = app.board.shop.printers.resident(printer).map(|handle| handle.read());
    let printer = versioned.as_ref().and_then(|versioned| versioned.state.as_ref());
    printer.map_or_else(|| "Slot".to_owned(), |printer| slot_label(printer, slot).title())
}

/// Renders each printer with the requirements of the job that it does not meet, in the dispatcher's order of
/// preference.
fn printers(app: &StaffOrderHandles, job: &Job) -> Markup {
    let matched = app.jobs.compare_printers(job);
    html! {
        section class="card" aria-labelledby="match" {
            h2 id="match" { "Printer compatibility" }
            @if matched.printers.is_empty() {
                p { "No printers yet. " a href=(FLOOR_PATH) { "Open the floor" } }
            } @else {
                div class="table" tabindex="0" role="region" aria-label="Printers" {
                    table {
                        thead { tr { th scope="col" { "Printer" } th scope="col" { "Can print" } th scope="col" { "Missing" } th scope="col" { "Slots" } } }
                        tbody {
                            @for one in &matched.printers {
                                tr {
                                    th scope="row" { a href={ (FLOOR_PATH) "/printers/" (one.printer_id) } { (one.name) } }
                                    td {
                                        @let (tone, words) = match (one.possible, one.fits, one.ready) {
                                            (true, ..) => (Tone::Working, "Now"),
                                            (false, true, _) => (Tone::Attention, "Later"),
                                            (false, false, true) => (Tone::Idle, "No (printer is free)"),
                                            (false, false, false) => (Tone::Idle, "No"),
                                        };
                                        span class=(tone.class()) { (words) }
                                    }
                                    td { @for (n, missing) in one.missing.iter().enumerate() { @if n > 0 { "; " } (message(missing)) } }
                                    td {
                                        @for slot in &one.slots {
                                            div {
                                                (slot_title(app, one.printer_id, slot.slot)) ": " (material_words(&app.jobs, slot.material_id, slot.need))
                                                @if !slot.loaded { " (not confirmed as loaded)" }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
