//! Material page: stock, waiting jobs, spools, deliveries and counts, and the ledger.

use api_derive::Request;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::list::{level_bar, level_state};
use super::spool::of_material;
use super::{StockHandles, bin_path, decision, ledger, material_path, swatch};
use crate::staff::filled_form::field;
use crate::staff::form::Form;
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden, hidden_once};
use crate::staff::{ORDERS_PATH, STOCK_PATH};
use domain::amount::Amount;
use domain::id::Id;
use domain::material::Material;
use domain::unit_cost;
use http::access::Caller;
use http::command_request::find_present;
use http::error::ApiError;
use http::page::OpenQuery;
use http::path_id::PathId;
use words::Language;

/// Maximum number of waiting jobs listed.
const MAX_WAITING: usize = 20;
/// Usual reason for receiving stock.
const DELIVERY_WORD: &str = "delivery";

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
    let (_, material) = material_of(app, id).await?;
    let ledger = ledger::render(app, &material, from).await?;
    let (tone, words) = level_state(&material);
    let name = &material.fields.name;
    let content = html! {
        p { a href=(STOCK_PATH) { "All stock" } }
        h1 id="material-title" data-fresh="" { (swatch(material.fields.color.as_deref())) (name) " " span class=(tone.class()) { (words) } }
        (FormSheet::new("agree", tried).faults())
        div id="stock-now" data-fresh="" {
            (glance(app, &material))
            (waiting(&material))
            (of_material(app, &material))
        }
        (receive(&material, tried))
        (corrections(&material, tried))
        div id="ledger" data-fresh="" { (ledger) }
        (removal(&material, tried))
    };
    Ok(viewer.page(StaffSection::Stock, name, &app.board.view(), &content))
}

fn glance(app: &StockHandles, material: &Material) -> Markup {
    let (fields, unit) = (&material.fields, material.fields.kind.unit());
    html! {
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { "At a glance" }
            (level_bar(material))
            dl class="left" {
                dt { "On hand" } dd { (material.quantity) " " (unit) }
                dt { "Reserved" } dd { (material.reserved) " " (unit) }
                dt { "Available" } dd { (material.available()) " " (unit) }
                dt { "Reorder at" } dd { (fields.reorder_point) " " (unit) }
                @if material.runs_low() { dt { "To order" } dd { strong { (material.to_order()) " " (unit) } } }
                @if let Some(place) = &fields.location { dt { "Bin" } dd { a href=(bin_path(place)) { (place) } } }
                @if let Some(brand) = &fields.brand { dt { "Brand" } dd { (brand) } }
                @if let Some(variant) = &fields.variant { dt { "Variant" } dd { (variant) } }
                @if let Some(code) = &fields.vendor_code { dt { "Vendor code" } dd { (code) } }
                @if let Some(cost) = fields.unit_cost_cents {
                    dt { "Cost per " (fields.kind.priced_quantity()) }
                    dd { (unit_cost::format_cost(cost, fields.kind, &app.config.orders.currency)) }
                }
                @for link in material.links.values() {
                    dt { "Also tracked in " (link.system.words()) }
                    dd {
                        (link.name)
                        @if let Some(conflict) = &link.conflict {
                            " " span class=(Tone::Attention.class()) { "needs a decision" } " " (conflict.message)
                            (decision(material, link, None))
                        }
                    }
                }
            }
            p { a class="button second" href={ (material_path(material.id)) "/edit" } { "Edit" } }
        }
    }
}

fn waiting(material: &Material) -> Markup {
    let count = material.waiting().count();
    html! {
        @if count > 0 {
            section class="card tone-attention" aria-labelledby="waiting" {
                h2 id="waiting" { "Waiting jobs (" (count) ")" }
                ul class="rows" {
                    @for claim in material.waiting().take(MAX_WAITING) {
                        li {
                            span { (material.words(Language::English, claim).unwrap_or_default()) }
                            a href={ (ORDERS_PATH) "/" (claim.order_id) "#job-" (claim.id.job) } { "View job" }
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
fn reason(tried: &Form, act: &str, usual: &str) -> Markup {
    let id = format!("{act}-reason");
    let value = FormSheet::new(act, tried).value_of("reason", usual);
    field(&id, "Reason", &html! { input id=(id) name="reason" required maxlength="500" value=(value); })
}

/// Renders a button with which to receive the amount to order, with one press; nothing if there is no such amount. A
/// second press on the same page does not receive it again.
pub(super) fn receive_order(material: &Material, back: Option<&str>) -> Markup {
    let (amount, unit) = (material.to_order(), material.fields.kind.unit());
    html! {
        @if amount > Amount::ZERO {
            form method="post" action={ (material_path(material.id)) "/receive" } {
                (hidden_once())
                @if let Some(back) = back { input type="hidden" name="back" value=(back); }
                input type="hidden" name="delta" value=(amount);
                input type="hidden" name="reason" value=(DELIVERY_WORD);
                button id={ "receive-" (material.id) } class="second" type="submit"
                    aria-label={ "Receive " (amount) " " (unit) " of " (material.fields.name) } { "Receive " (amount) " " (unit) }
            }
        }
    }
}

fn receive(material: &Material, tried: &Form) -> Markup {
    let unit = material.fields.kind.unit();
    html! {
        section class="card" id="receive" aria-labelledby="receive-title" {
            h2 id="receive-title" { "Receive" }
            (FormSheet::new("receive", tried).faults())
            form class="tools" method="post" action={ (material_path(material.id)) "/receive" } {
                (hidden())
                (amount(tried, ("receive", "delta"), &format!("Amount received ({unit})")))
                (reason(tried, "receive", DELIVERY_WORD))
                button type="submit" { "Receive" }
            }
            (receive_order(material, None))
        }
    }
}

fn corrections(material: &Material, tried: &Form) -> Markup {
    let (unit, path) = (material.fields.kind.unit(), material_path(material.id));
    html! {
        section class="card" aria-labelledby="corrections" {
            h2 id="corrections" { "Adjust stock" }
            details open[tried.is_refusal_of("count")] {
                summary { "Count stock" }
                p { "The count replaces the stock on hand. If jobs have reserved more than that, the latest reservations are released." }
                (FormSheet::new("count", tried).faults())
                form class="tools" method="post" action={ (path) "/count" } {
                    (hidden())
                    (amount(tried, ("count", "quantity"), &format!("Counted amount ({unit})")))
                    button class="second" type="submit" { "Save count" }
                }
            }
            details open[tried.is_refusal_of("write-off")] {
                summary { "Write off stock" }
                (FormSheet::new("write-off", tried).faults())
                form class="tools" method="post" action={ (path) "/write-off" } {
                    (hidden())
                    (amount(tried, ("write-off", "taken"), &format!("Amount lost ({unit})")))
                    (reason(tried, "write-off", ""))
                    button class="second" type="submit" { "Write off" }
                }
            }
        }
    }
}

fn removal(material: &Material, tried: &Form) -> Markup {
    let name = &material.fields.name;
    html! {
        section class="card" aria-labelledby="removal" {
            h2 id="removal" { "Remove" }
            (FormSheet::new("remove", tried).faults())
            details open[tried.is_refusal_of("remove")] {
                summary { "Remove material" }
                p { "The material and its stock are no longer listed. The ledger is kept. You can't remove a material that a SKU, job or slot uses." }
                form method="post" action={ (material_path(material.id)) "/remove" } {
                    (hidden())
                    button class="second" type="submit" { "Remove " (name) }
                }
            }
        }
    }
}
