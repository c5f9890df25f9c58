//! Quote page for the staff: the offer, the customer, the shop's costs, the margin, and the available actions.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::line::LineChoices;
use super::{StaffQuoteHandles, draft, quote_state};
use crate::form::Form;
use crate::frame::time;
use crate::staff::products::machine_label;
use crate::staff::sheet::{address_line, astray, customer_link, number_class, page_of, span};
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use crate::staff::undelivered::undelivered_about;
use crate::staff::{ORDERS_PATH, QUOTES_PATH, REQUESTS_PATH};
use crate::times::message_in;
use domain::id::Id;
use domain::notation::{amount, decimal, percent, size};
use domain::pricing::{Costs, PrintWork};
use domain::quote::{LineMargin, Quote, QuoteLine, QuoteModel, QuoteStatus};
use http::access::Caller;
use http::command_request::find_present;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::quotes::{ModelSlicing, margins_of};
use words::Language;
use words::staff::quotes as texts;

/// Columns of costs that phones leave out: energy, wear and failures.
const SMALL_COSTS: [usize; 3] = [1, 2, 4];

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
    let language = viewer.language();
    let (_, quote) = find_present(&app.quotes.quotes, id).await?;
    let now = app.quotes.environment.now();
    let status = quote.shown_status(now);
    let margins = margins_of(&app.quotes, &quote).await?;
    let names = names(app, &quote).await?;
    let choices = if status == QuoteStatus::Draft { Some(LineChoices::read(app, language).await?) } else { None };
    let forms = draft::acts(language, &quote, status, choices.as_ref(), &app.config.shop.time_zone, refused);
    let own_page = page_of(QUOTES_PATH, id);
    let undelivered = undelivered_about(language, &app.quotes.queries, (id, now), &own_page).await?;
    let title = texts::quote_title(language, &quote.number_text());
    let content = html! {
        p { a href=(QUOTES_PATH) { (texts::all_quotes(language)) } }
        (astray(refused, &forms))
        div id="quote" data-fresh="" {
            (head(language, &quote, status, &title))
            (undelivered)
            (lines(language, &quote, &names))
            (costs(language, &quote, &margins))
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

fn head(language: Language, quote: &Quote, status: QuoteStatus, title: &str) -> Markup {
    let (tone, words) = quote_state(language, status);
    html! {
        h1 { (title) " " span class=(tone.class()) { (words) } }
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { (texts::glance(language)) }
            @if let Some(error) = &quote.order_error {
                p { span class=(Tone::Error.class()) { (texts::order_failed(language)) } " " (message_in(language, error)) }
            }
            dl class="left" {
                dt { (texts::customer(language)) }
                dd { @match &quote.customer_email { Some(email) => { (customer_link(email)) }, None => { (texts::no_customer(language)) } } }
                @if let Some(request) = quote.custom_request_id {
                    dt { (texts::request(language)) } dd { a href=(page_of(REQUESTS_PATH, request)) { (texts::view_request(language)) } }
                }
                @if let Some(order) = quote.order_id.filter(|_| quote.order_made) {
                    dt { (texts::order(language)) } dd { a href=(page_of(ORDERS_PATH, order)) { (texts::view_order(language)) } }
                }
                dt { (texts::created(language)) } dd { (time(language, quote.created_at)) }
                @if let Some(at) = quote.sent_at { dt { (texts::sent_at(language)) } dd { (time(language, at)) } }
                @if let Some(at) = quote.answered_at { dt { (texts::answered_at(language)) } dd { (time(language, at)) } }
                @if let Some(reason) = &quote.declined_reason { dt { (texts::decline_reason(language)) } dd { (reason) } }
                @if let Some(until) = quote.valid_until { dt { (texts::valid_until(language)) } dd { (time(language, until)) } }
                @if let Some(address) = &quote.shipping_address {
                    dt { (texts::shipping_address(language)) } dd { (address_line(language, address)) }
                }
                @if let Some(notes) = &quote.notes { dt { (texts::notes(language)) } dd class="as-written" { (notes) } }
            }
        }
    }
}

fn lines(language: Language, quote: &Quote, names: &MaterialNames) -> Markup {
    let money = |cents: i64| amount(language, cents, &quote.currency);
    let [quantity, price, line_amount] =
        [texts::quantity_column(language), texts::price_column(language), texts::amount_column(language)];
    html! {
        section class="card" aria-labelledby="lines" {
            h2 id="lines" { (texts::lines(language)) }
            div class="table list" tabindex="0" role="region" aria-label=(texts::lines_label(language)) {
                table {
                    thead {
                        tr {
                            th scope="col" { (texts::description_column(language)) }
                            @for column in [&quantity, &price, &line_amount] { th scope="col" class="number" { (column) } }
                        }
                    }
                    tbody {
                        @for line in &quote.lines {
                            tr {
                                th scope="row" class="wide" { (line.description) (about(language, line, names)) }
                                td class="number start" data-label=(quantity) { (line.quantity) }
                                td class="number spare" { (money(line.unit_price_cents)) }
                                td class="number start" data-label=(line_amount) { (money(line.amount_cents())) }
                            }
                        }
                    }
                }
            }
            dl class="sums" {
                dt { (texts::subtotal(language)) } dd { (money(quote.subtotal_cents)) }
                dt { (texts::shipping(language)) } dd { (money(quote.shipping_cents)) }
                dt { (texts::tax(language, &percent(language, quote.tax_rate_bps))) } dd { (money(quote.tax_cents)) }
                dt class="sum" { (texts::total(language)) } dd class="sum" { (money(quote.total_cents)) }
            }
        }
    }
}

/// Renders a description of the printed parts for a quote line, to be shown below its description.
fn about(language: Language, line: &QuoteLine, names: &MaterialNames) -> Markup {
    html! {
        span class="below soft clamp" {
            @match (&line.model, line.sku_id) {
                (Some(model), _) => { (of_model(language, model, names)) },
                (None, Some(_)) => { (texts::from_sku(language)) },
                (None, None) if line.printed => { (texts::printed_without_sku(language)) },
                (None, None) => { (texts::not_printed(language)) },
            }
        }
    }
}

fn of_model(language: Language, model: &QuoteModel, names: &MaterialNames) -> Markup {
    let material = model.material_id.and_then(|id| names.get(&id));
    let material = material.cloned().unwrap_or_else(|| texts::no_material(language));
    let machine = machine_label(language, model.machine_type);
    let (grams, span) = work(language, &model.work);
    let work = match ModelSlicing::of(model) {
        ModelSlicing::Done => texts::work_sliced(language, &grams, &span),
        ModelSlicing::Pending => texts::work_before_slicing(language, &grams, &span),
        ModelSlicing::None => texts::work_of_volume(language, &grams, &span),
        ModelSlicing::Failed => texts::work_slicing_failed(language, &grams, &span),
    };
    html! {
        (texts::model(language, &size(language, model.size), &material, &machine)) " " (work)
        @if let Some(error) = &model.slicing_error { " " (message_in(language, error)) }
        @if model.priced_by_hand { " " (texts::priced_by_hand(language)) }
    }
}

/// Returns the grams and the time of the work.
fn work(language: Language, work: &PrintWork) -> (String, String) {
    (decimal(language, work.grams), span(language, work.seconds))
}

/// Renders the shop's costs for a quote's models, by category, and the margin on each price.
fn costs(language: Language, quote: &Quote, margins: &[LineMargin]) -> Markup {
    let models = || quote.lines.iter().enumerate().filter_map(|(at, line)| Some((at, line, line.model.as_ref()?)));
    let columns = [
        texts::material_column(language),
        texts::energy_column(language),
        texts::wear_column(language),
        texts::labour_column(language),
        texts::failures_column(language),
        texts::costs_column(language),
        texts::price_column(language),
        texts::margin_column(language),
    ];
    html! {
        @if models().next().is_some() {
            section class="card" aria-labelledby="costs" {
                h2 id="costs" { (texts::costs(language)) }
                div class="table list" tabindex="0" role="region" aria-label=(texts::costs_label(language)) {
                    table {
                        thead {
                            tr {
                                th scope="col" { (texts::line_column(language)) }
                                @for column in &columns { th scope="col" class="number" { (column) } }
                            }
                        }
                        tbody {
                            @for (at, line, model) in models() {
                                tr {
                                    th scope="row" class="wide" { (line.description) }
                                    @let results = [line.amount_cents(), line.margin_cents().unwrap_or(0)];
                                    (cells(language, &columns, &model.costs, results, &quote.currency))
                                }
                                @if let Some(real) = margins.iter().find(|real| real.line == at) {
                                    tr {
                                        th scope="row" class="wide" { span class="soft" { (actual_work(language, real)) } }
                                        @let results = [real.price_cents, real.actual_margin_cents()];
                                        (cells(language, &columns, &real.actual, results, &quote.currency))
                                    }
                                }
                            }
                        }
                    }
                }
                p class="soft" { (texts::costs_note(language)) }
            }
        }
    }
}

/// Returns the sentence about the work for a line so far.
fn actual_work(language: Language, real: &LineMargin) -> String {
    let (grams, span) = work(language, &real.work);
    if real.is_final { texts::actual(language, &grams, &span) } else { texts::actual_so_far(language, &grams, &span) }
}

/// Renders the cells of a line's costs, followed by its price and margin; `columns` are their headings. A phone only
/// has room for the largest costs.
fn cells(language: Language, columns: &[String; 8], costs: &Costs, results: [i64; 2], currency: &str) -> Markup {
    let Costs { material_cents, energy_cents, wear_cents, labour_cents, failure_cents } = *costs;
    let classes = [material_cents, energy_cents, wear_cents, labour_cents, failure_cents, costs.sum_cents()];
    let is_spare = |n: usize, cents: i64| cents == 0 || SMALL_COSTS.contains(&n);
    html! {
        @for (n, (column, cents)) in columns.iter().zip(classes.into_iter().chain(results)).enumerate() {
            td class=(number_class(is_spare(n, cents))) data-label=(column) { (amount(language, cents, currency)) }
        }
    }
}
