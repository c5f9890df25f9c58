//! Material page: stock, waiting jobs, spools, deliveries and counts, and the ledger.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::decision::also_tracked_in;
use super::list::{level_bar, level_state, reorder_cell};
use super::spool::of_material;
use super::{StockHandles, bin_path, decision, ledger, material_path};
use crate::form::Form;
use crate::staff::filled_form::field;
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden, hidden_once};
use crate::staff::swatch::material_swatch;
use crate::staff::{ORDERS_PATH, STOCK_PATH};
use crate::times::message_in;
use domain::amount::Amount;
use domain::id::Id;
use domain::material::{DELIVERY, Material, exact_stock_amount, stock_amount, unit};
use domain::parts_sync::StockLink;
use domain::unit_cost;
use http::access::Caller;
use http::command_request::find_present;
use http::error::ApiError;
use http::page::OpenQuery;
use http::path_id::PathId;
use words::Language;
use words::staff::stock as texts;

/// Maximum number of waiting jobs listed.
const MAX_WAITING: usize = 20;

/// Query parameters of the ledger on a material's page.
#[derive(Request, Debug)]
pub(super) struct LedgerQuery {
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Serves the page of a material.
pub(super) async fn show(
    State(app): State<StockHandles>,
    PathId(id): PathId,
    who: Caller,
    OpenQuery(query): OpenQuery<LedgerQuery>,
) -> Result<Response, ApiError> {
    page(&app, &who, id, query.from.into(), &Form::default()).await
}

/// Returns a material with its version; fails with 404 if the material has been deleted.
pub(super) async fn material_of(app: &StockHandles, id: Id) -> Result<(i64, Material), ApiError> {
    find_present(&app.materials.materials, id).await
}

/// Renders a material's page; `tried` is the rejected form on it, if any.
pub(super) async fn page(
    app: &StockHandles,
    who: &Caller,
    id: Id,
    from: u64,
    tried: &Form,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.config)?;
    let language = viewer.language();
    let (_, material) = material_of(app, id).await?;
    let ledger = ledger::render(language, app, &material, from).await?;
    let (tone, words) = level_state(language, &material);
    let name = &material.fields.name;
    let content = html! {
        p { a href=(STOCK_PATH) { (texts::all_stock(language)) } }
        h1 id="material-title" data-fresh="" { (material_swatch(&material.fields)) " " (name) " " span class=(tone.class()) { (words) } }
        (FormSheet::new("agree", tried).faults())
        div id="stock-now" data-fresh="" {
            (glance(language, app, &material))
            (waiting(language, &material))
            (of_material(language, app, &material))
        }
        (receive(language, &material, tried))
        (corrections(language, &material, tried))
        div id="ledger" data-fresh="" { (ledger) }
        (removal(language, &material, tried))
    };
    Ok(viewer.page(StaffSection::Stock, name, &app.board.view(), &content))
}

fn glance(language: Language, app: &StockHandles, material: &Material) -> Markup {
    let fields = &material.fields;
    let amount = |amount| stock_amount(language, amount, fields.kind);
    html! {
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { (texts::glance(language)) }
            (level_bar(material))
            dl class="left" {
                dt { (texts::on_hand(language)) } dd { (amount(material.quantity)) }
                dt { (texts::reserved(language)) } dd { (amount(material.reserved)) }
                dt { (texts::available(language)) } dd { (amount(material.available())) }
                dt { (texts::reorder_at(language)) } dd { (reorder_cell(language, fields, &amount(fields.reorder_point))) }
                @if material.runs_low() {
                    dt { (texts::to_order(language)) } dd { strong { (amount(material.to_order())) } }
                }
                @if let Some(place) = &fields.location {
                    dt { (texts::bin(language)) } dd { a href=(bin_path(place)) { (place) } }
                }
                @if let Some(brand) = &fields.brand { dt { (texts::brand(language)) } dd { (brand) } }
                @if let Some(variant) = &fields.variant { dt { (texts::variant(language)) } dd { (variant) } }
                @if let Some(code) = &fields.vendor_code { dt { (texts::vendor_code(language)) } dd { (code) } }
                @if let Some(cost) = fields.unit_cost_cents {
                    dt { (texts::cost_per(language, fields.kind.priced_quantity())) }
                    dd { (unit_cost::format_cost(language, cost, fields.kind, &app.config.orders.currency)) }
                }
                @for link in material.links.values() { (linked(language, material, link)) }
            }
            p { a class="button second" href={ (material_path(material.id)) "/edit" } { (texts::edit(language)) } }
        }
    }
}

/// Renders the external system that counts the material as well, with the decision if there is a conflict.
fn linked(language: Language, material: &Material, link: &StockLink) -> Markup {
    html! {
        dt { (also_tracked_in(language, link.system)) }
        dd {
            (link.name)
            @if let Some(conflict) = &link.conflict {
                " " span class=(Tone::Attention.class()) { (texts::needs_decision(language)) }
                " " (message_in(language, &conflict.message))
                (decision(language, material, link, None))
            }
        }
    }
}

fn waiting(language: Language, material: &Material) -> Markup {
    let count = material.waiting().count();
    html! {
        @if count > 0 {
            section class="card tone-attention" aria-labelledby="waiting" {
                h2 id="waiting" { (texts::waiting_jobs(language, count)) }
                ul class="rows" {
                    @for claim in material.waiting().take(MAX_WAITING) {
                        li {
                            span { (material.words(language, claim).unwrap_or_default()) }
                            a href={ (ORDERS_PATH) "/" (claim.order_id) "#job-" (claim.id.job) } {
                                (texts::view_job(language))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders an amount field.
fn amount(tried: &Form, (act, name): (&str, &str), label: &str) -> Markup {
    let id = format!("{act}-{name}");
    field(
        &id,
        label,
        &html! {
            input id=(id) name=(name) data-member=[(name == "taken").then_some("delta")] inputmode="decimal"
                autocomplete="off" required maxlength="20" value=(FormSheet::new(act, tried).value_of(name, ""));
        },
    )
}

/// Renders the field for the reason for a stock change, which appears in the ledger.
fn reason(language: Language, tried: &Form, act: &str, usual: &str) -> Markup {
    let id = format!("{act}-reason");
    let value = FormSheet::new(act, tried).value_of("reason", usual);
    let input = html! { input id=(id) name="reason" required maxlength="500" value=(value); };
    field(&id, &texts::reason(language), &input)
}

/// Renders a button that receives the amount to order in one press; nothing if there is no such amount. A second press
/// on the same page does not receive it again.
pub(super) fn receive_order(language: Language, material: &Material, back: Option<&str>) -> Markup {
    let (amount, fields) = (material.to_order(), &material.fields);
    let words = exact_stock_amount(language, amount, fields.kind);
    html! {
        @if amount > Amount::ZERO {
            form method="post" action={ (material_path(material.id)) "/receive" } {
                (hidden_once())
                @if let Some(back) = back { input type="hidden" name="back" value=(back); }
                input type="hidden" name="delta" value=(amount);
                input type="hidden" name="reason" value=(DELIVERY);
                button id={ "receive-" (material.id) } class="second" type="submit"
                    aria-label=(texts::receive_amount_of(language, &words, &fields.name)) {
                    (texts::receive_amount(language, &words))
                }
            }
        }
    }
}

fn receive(language: Language, material: &Material, tried: &Form) -> Markup {
    let unit = unit(language, material.fields.kind);
    html! {
        section class="card" id="receive" aria-labelledby="receive-title" {
            h2 id="receive-title" { (texts::receive_heading(language)) }
            (FormSheet::new("receive", tried).faults())
            form class="tools" method="post" action={ (material_path(material.id)) "/receive" } {
                (hidden_once())
                (amount(tried, ("receive", "delta"), &texts::received_field(language, unit)))
                (reason(language, tried, "receive", &texts::delivery(language)))
                button type="submit" { (texts::receive(language)) }
            }
            (receive_order(language, material, None))
        }
    }
}

fn corrections(language: Language, material: &Material, tried: &Form) -> Markup {
    let (unit, path) = (unit(language, material.fields.kind), material_path(material.id));
    html! {
        section class="card" aria-labelledby="corrections" {
            h2 id="corrections" { (texts::adjust_heading(language)) }
            details open[tried.is_refusal_of("count")] {
                summary { (texts::count_stock(language)) }
                p { (texts::count_note(language)) }
                (FormSheet::new("count", tried).faults())
                form class="tools" method="post" action={ (path) "/count" } {
                    (hidden())
                    (amount(tried, ("count", "quantity"), &texts::counted_field(language, unit)))
                    button class="second" type="submit" { (texts::save_count(language)) }
                }
            }
            details open[tried.is_refusal_of("write-off")] {
                summary { (texts::write_off_stock(language)) }
                (FormSheet::new("write-off", tried).faults())
                form class="tools" method="post" action={ (path) "/write-off" } {
                    (hidden_once())
                    (amount(tried, ("write-off", "taken"), &texts::lost_field(language, unit)))
                    (reason(language, tried, "write-off", ""))
                    button class="second" type="submit" { (texts::write_off(language)) }
                }
            }
        }
    }
}

fn removal(language: Language, material: &Material, tried: &Form) -> Markup {
    let name = &material.fields.name;
    html! {
        section class="card" aria-labelledby="removal" {
            h2 id="removal" { (texts::remove_heading(language)) }
            (FormSheet::new("remove", tried).faults())
            details open[tried.is_refusal_of("remove")] {
                summary { (texts::remove_summary(language)) }
                p { (texts::remove_note(language)) }
                form method="post" action={ (material_path(material.id)) "/remove" } {
                    (hidden())
                    button class="second" type="submit" { (texts::remove(language, name)) }
                }
            }
        }
    }
}
