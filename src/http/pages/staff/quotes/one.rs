//! Quote page for the staff: the offer, the customer, the shop's costs, the margin, and the available actions.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::line::LineChoices;
use super::{StaffQuoteHandles, draft, quote_state};
use crate::frame::{money, time};
use crate::staff::form::Form;
use crate::staff::sheet::{address_line, astray, customer_link, page_of, span};
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::{ORDERS_PATH, QUOTES_PATH, REQUESTS_PATH};
use domain::id::Id;
use domain::quote::{LineMargin, Quote, QuoteLine, QuoteModel, QuoteStatus};
use domain::tax::percent_text;
use http::access::Caller;
use http::command_request::find_present;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::quotes::{ModelSlicing, margins_of};

/// Names of materials, by ID.
type MaterialNames = BTreeMap<Id, String>;

/// Serves the page of a quote.
pub(super) async fn show(
    State(app): State<StaffQuoteHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    page(&app, &viewer, id, &Form::default()).await
}

/// Renders a quote's page; `refused` is its rejected form, if any.
pub(super) async fn page(
    app: &StaffQuoteHandles,
    viewer: &StaffViewer,
    id: Id,
    refused: &Form,
) -> Result<Response, ApiError> {
    let (_, quote) = find_present(&app.quotes.quotes, id).await?;
    let status = quote.shown_status(app.quotes.environment.now());
    let margins = margins_of(&app.quotes, &quote).await?;
    let names = names(app, &quote).await?;
    let choices = if status == QuoteStatus::Draft { Some(LineChoices::read(app).await?) } else { None };
    let forms = draft::acts(&quote, status, choices.as_ref(), &app.config.shop.time_zone, refused);
    let title = format!("Quote {}", quote.number_text());
    let content = html! {
        p { a href=(QUOTES_PATH) { "All quotes" } }
        (astray(refused, &forms))
        div id="quote" data-fresh="" {
            (head(&quote, status, &title))
            (lines(&quote, &names))
            (costs(&quote, &margins))
        }
        div id="quote-acts" data-fresh="" { (forms) }
    };
    Ok(viewer.page(StaffSection::Quotes, &title, &app.board.view(), &content))
}

async fn names(app: &StaffQuoteHandles, quote: &Quote) -> Result<MaterialNames, ApiError> {
    let ids: Vec<Id> = quote.lines.iter().filter_map(|line| line.model.as_ref()?.material_id).collect();
    let mut names = MaterialNames::new();
    for id in ids {
        let state = app.quotes.materials.read(id).await?;
        let name = state.as_ref().and_then(|state| Some(state.state.as_ref()?.fields.name.clone()));
        names.extend(name.map(|name| (id, name)));
    }
    Ok(names)
}

fn head(quote: &Quote, status: QuoteStatus, title: &str) -> Markup {
    let (tone, words) = quote_state(status);
    html! {
        h1 { (title) " " span class=(tone.class()) { (words) } }
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { "At a glance" }
            @if let Some(error) = &quote.order_error {
                p { span class=(Tone::Error.class()) { "The order can't be created" } " " (error) }
            }
            dl class="left" {
                dt { "Customer" }
                dd { @match &quote.customer_email { Some(email) => { (customer_link(email)) }, None => { "not set" } } }
                @if let Some(request) = quote.custom_request_id {
                    dt { "Custom request" } dd { a href=(page_of(REQUESTS_PATH, request)) { "View request" } }
                }
                @if let Some(order) = quote.order_id.filter(|_| quote.order_made) {
                    dt { "Order" } dd { a href=(page_of(ORDERS_PATH, order)) { "View order" } }
                }
                dt { "Created" } dd { (time(quote.created_at)) }
                @if let Some(at) = quote.sent_at { dt { "Sent" } dd { (time(at)) } }
                @if let Some(at) = quote.answered_at { dt { "Answered" } dd { (time(at)) } }
                @if let Some(reason) = &quote.declined_reason { dt { "Decline reason" } dd { (reason) } }
                @if let Some(until) = quote.valid_until { dt { "Valid until" } dd { (time(until)) } }
                @if let Some(address) = &quote.shipping_address { dt { "Shipping address" } dd { (address_line(words::Language::English, address)) } }
                @if let Some(notes) = &quote.notes { dt { "Notes" } dd class="as-written" { (notes) } }
            }
        }
    }
}

fn lines(quote: &Quote, names: &MaterialNames) -> Markup {
    let currency = &quote.currency;
    html! {
        section class="card" aria-labelledby="lines" {
            h2 id="lines" { "Lines" }
            div class="table" tabindex="0" role="region" aria-label="Quote lines" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Description" } th scope="col" class="number" { "Quantity" }
                            th scope="col" class="number" { "Price" } th scope="col" class="number" { "Amount" }
                        }
                    }
                    tbody {
                        @for line in &quote.lines {
                            tr {
                                th scope="row" { (line.description) (about(line, names)) }
                                td class="number" { (line.quantity) }
                                td class="number" { (money(line.unit_price_cents, currency)) }
                                td class="number" { (money(line.amount_cents(), currency)) }
                            }
                        }
                    }
                }
            }
            dl class="sums" {
                dt { "Subtotal" } dd { (money(quote.subtotal_cents, currency)) }
                dt { "Shipping" } dd { (money(quote.shipping_cents, currency)) }
                dt { "Tax, " (percent_text(quote.tax_rate_bps)) " %" } dd { (money(quote.tax_cents, currency)) }
                dt class="sum" { "Total" } dd class="sum" { (money(quote.total_cents, currency)) }
            }
        }
    }
}

/// Renders a description of the printed parts for a quote line, to be shown below its description.
fn about(line: &QuoteLine, names: &MaterialNames) -> Markup {
    html! {
        span class="below soft" {
            @match (&line.model, line.sku_id) {
                (Some(model), _) => { (of_model(model, names)) },
                (None, Some(_)) => { "Printed from a SKU" },
                (None, None) if line.printed => { "Printed, SKU not set yet" },
                (None, None) => { "Not printed" },
            }
        }
    }
}

fn of_model(model: &QuoteModel, names: &MaterialNames) -> Markup {
    let material = model.material_id.and_then(|id| names.get(&id));
    html! {
        (model.size.x) " × " (model.size.y) " × " (model.size.z) " mm each, "
        @match material { Some(name) => { (name) }, None => { "material not set yet" } }
        ", " (model.machine_type.word().replace('_', " "))
        ". Total: " (model.work.grams) " g in " (span(words::Language::English, model.work.seconds))
        @match ModelSlicing::of(model) {
            ModelSlicing::Done => { ", from the G-code." },
            ModelSlicing::Pending => { ", estimated from the volume until the model is sliced." },
            ModelSlicing::None => { ", estimated from the volume." },
            ModelSlicing::Failed => { ", estimated from the volume because slicing failed." },
        }
        @if let Some(error) = &model.slicing_error { " " (error) }
        @if model.priced_by_hand { " Price set manually." }
    }
}

/// Renders the shop's costs for a quote's models, by category, and the margin on each price.
fn costs(quote: &Quote, margins: &[LineMargin]) -> Markup {
    let currency = &quote.currency;
    let models = || quote.lines.iter().enumerate().filter_map(|(at, line)| Some((at, line, line.model.as_ref()?)));
    let cell = |cents: i64| html! { td class="number" { (money(cents, currency)) } };
    html! {
        @if models().next().is_some() {
            section class="card" aria-labelledby="costs" {
                h2 id="costs" { "Costs and margin (internal)" }
                div class="table" tabindex="0" role="region" aria-label="Costs" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Line" }
                                @for class in ["Material", "Energy", "Wear", "Labour", "Failures", "Costs", "Price", "Margin"] {
                                    th scope="col" class="number" { (class) }
                                }
                            }
                        }
                        tbody {
                            @for (at, line, model) in models() {
                                tr {
                                    th scope="row" { (line.description) }
                                    (cell(model.costs.material_cents)) (cell(model.costs.energy_cents))
                                    (cell(model.costs.wear_cents)) (cell(model.costs.labour_cents))
                                    (cell(model.costs.failure_cents)) (cell(model.costs.sum_cents()))
                                    (cell(line.amount_cents())) (cell(line.margin_cents().unwrap_or(0)))
                                }
                                @if let Some(real) = margins.iter().find(|real| real.line == at) {
                                    tr {
                                        th scope="row" {
                                            span class="soft" {
                                                @if real.is_final { "Actual" } @else { "Actual so far" }
                                                ": " (real.work.grams) " g in " (span(words::Language::English, real.work.seconds))
                                            }
                                        }
                                        (cell(real.actual.material_cents)) (cell(real.actual.energy_cents))
                                        (cell(real.actual.wear_cents)) (cell(real.actual.labour_cents))
                                        (cell(real.actual.failure_cents)) (cell(real.actual.sum_cents()))
                                        (cell(real.price_cents)) (cell(real.actual_margin_cents()))
                                    }
                                }
                            }
                        }
                    }
                }
                p class="soft" { "Excludes tax and shipping. Actual costs include failed prints." }
            }
        }
    }
}
