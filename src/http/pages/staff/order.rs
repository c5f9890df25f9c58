//! Order page for the staff: the action that the order is waiting for, its steps, the progress of each line, jobs,
//! payments, shipments, and the history with its actors.

mod head;
mod history;
mod leaving;
mod lines;
mod money;

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use self::head::head;
use self::history::history;
use self::lines::lines;
use super::ORDERS_PATH;
use super::acts::{CLEARS_FIELD, DAY_SHOWN_FIELD, NOTES_LABEL, STAFF_NOTES_LABEL, TICKED_WORD, WANTED_LABEL};
use super::address_fields::{address_fields, address_known};
use super::form::{FieldControl, Form};
use super::job::{JOBS_PATH, JobCard};
use super::orders::StaffOrderHandles;
use super::sheet::{address_line, day};
use super::shell::{StaffSection, StaffViewer, act, clock, hidden};
use crate::design::{Icon, icon};
use crate::frame::time;
use domain::event::NumberedEvent;
use domain::id::Id;
use domain::job::{Job, JobState};
use domain::order::{Order, OrderStatus, ShipmentSuggestion};
use domain::shop_clock::ShopClock;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::orders::OrderOutlook;
use store::queries::Page;

/// Maximum number of history entries shown; older ones are omitted.
const STEPS_SHOWN: u64 = 200;
/// Maximum number of jobs shown; open and failed jobs come first.
const JOBS_SHOWN: usize = 100;

/// Serves the page of an order.
pub(super) async fn show(
    State(app): State<StaffOrderHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let (_, state) = find_existing(&app.orders.orders, id).await?;
    let order = state_of(&state)?;
    let steps = steps(&app, id).await?;
    let actors: BTreeSet<&str> = steps.iter().map(|step| step.event.actor.as_str()).collect();
    let names = app.log.names.actors(words::Language::English, &actors).await?;
    let suggestion = leaving::suggest_shipment(&app, order).await;
    let view = app.board.view();
    let forecast = app.orders.forecaster.latest();
    let mut jobs: Vec<&Job> = order.jobs.values().map(|job| &**job).collect();
    jobs.sort_by_key(|job| (matches!(job.state, JobState::Completed | JobState::Cancelled), job.number));
    let more_jobs = jobs.len().saturating_sub(JOBS_SHOWN);
    let title = format!("Order {}", order.number_text());
    let outlook = app.orders.outlook(order);
    let reasons = &app.config.quality.reasons;
    let content = html! {
        div class="order-top" {
            div id="order-head" data-fresh="" { (head(order, &title, outlook)) }
            div id="order-acts" data-fresh="" { (acts(order, &app.config.shop.time_zone, &suggestion)) }
        }
        div id="order-ship" data-fresh="" { (leaving::ship_ready(order, &suggestion)) }
        div id="order" data-fresh="" {
            div class="two" {
                div class="stack" {
                    (head::steps(order, outlook))
                    (lines(order))
                    @if !jobs.is_empty() {
                        section class="panel" aria-labelledby="jobs" {
                            h2 id="jobs" class="pad" { "Jobs" }
                            div class="rows" {
                                @for job in jobs.iter().copied().take(JOBS_SHOWN) {
                                    (JobCard { app: &app.jobs, job, expected: forecast.jobs.get(&job.id).copied(), reasons }.html())
                                }
                            }
                            @if more_jobs > 0 {
                                p class="pad" { (more_jobs) " more. " a href={ (JOBS_PATH) "?order=" (id) } { "View all jobs" } }
                            }
                        }
                    }
                }
                div class="stack" {
                    (glance(order, outlook))
                    (money::payments(order))
                    @for sent in &order.shipments { (leaving::parcel(order, sent)) }
                    (history(order, &steps, &names))
                }
            }
        }
    };
    Ok(viewer.page(StaffSection::Orders, &title, &view, &content))
}

/// Returns the newest entries in an order's history, newest last.
async fn steps(app: &StaffOrderHandles, id: Id) -> Result<Vec<NumberedEvent>, ApiError> {
    let part = |offset: u64| Page { limit: STEPS_SHOWN, offset };
    let (steps, total) = app.orders.queries.timeline(id, None, part(0)).await?;
    if total <= STEPS_SHOWN {
        return Ok(steps);
    }
    Ok(app.orders.queries.timeline(id, None, part(total - STEPS_SHOWN)).await?.0)
}

/// Renders the order's customer, and when the order is due, promised and expected.
fn glance(order: &Order, outlook: OrderOutlook) -> Markup {
    html! {
        section class="panel pad" aria-labelledby="glance" {
            h2 id="glance" { "At a glance" }
            dl class="left" {
                dt { "Customer" } dd { (order.customer_email.as_deref().unwrap_or("No customer")) }
                dt { "Placed" } dd { (time(order.created_at)) }
                @if let Some(at) = order.paid_at { dt { "Paid" } dd { (time(at)) } }
                @if let Some(at) = order.due_at { dt { "Due date" } dd { (time(at)) } }
                @if let Some(promise) = &order.promise {
                    dt { "Promised" } dd { (time(promise.promised_at)) }
                    @if let Some(met) = promise.met_at { dt { "Ready" } dd { (time(met)) } }
                }
                @if let Some(at) = outlook.expected_at { dt { "Expected" } dd { (clock(at)) } }
                dt { "Priority" } dd { (order.priority) }
                @if let Some(address) = &order.shipping_address {
                    dt { "Ship to" }
                    dd { (address_line(words::Language::English, address)) }
                }
                @if let Some(notes) = &order.notes { dt { "Notes" } dd { (notes) } }
                @if let Some(notes) = &order.internal_notes { dt { "Internal notes" } dd { (notes) } }
            }
        }
    }
}

/// Action that is emphasized on an order's page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PrimaryAct {
    Confirm,
    Pay,
    Ship,
}

/// Returns the action that the order is waiting for; `None` if it is not waiting for anyone.
fn primary_act(order: &Order) -> Option<PrimaryAct> {
    match order.status {
        OrderStatus::Draft => Some(PrimaryAct::Confirm),
        OrderStatus::Ready => Some(PrimaryAct::Ship),
        OrderStatus::Cancelled | OrderStatus::Refunded => None,
        _ => (order.due_cents() > 0).then_some(PrimaryAct::Pay),
    }
}

/// Renders the actions on the order as a whole: the one that it is waiting for, unless that is its shipment, whose form
/// has a place of its own; a partial shipment; all others in a menu. The part refreshes itself, except while one of its
/// forms is open.
fn acts(order: &Order, clock: &ShopClock, suggestion: &ShipmentSuggestion) -> Markup {
    let path = |act: &str| order_path(order.id, act);
    let over = matches!(order.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
    let primary = primary_act(order);
    let may_refund = order.ledger.kept_cents > 0;
    let may_pay = order.due_cents() > 0 && primary != Some(PrimaryAct::Pay);
    html! {
        @match primary {
            Some(PrimaryAct::Confirm) => { (act(&path("confirm"), "confirm", "", "Confirm draft", None)) },
            Some(PrimaryAct::Pay) => { (money::pay(order, Some("btn primary"))) },
            Some(PrimaryAct::Ship) | None => {},
        }
        (leaving::ship_some(order, suggestion))
        @if !over || may_refund || may_pay {
            details class="order-more" {
                summary class="btn" { (icon(Icon::Ellipsis)) " More" }
                div class="panel pad" {
                    @if may_pay { (money::pay(order, None)) }
                    @if !over { (change(order, clock)) }
                    @if may_refund { (money::refunds(order)) }
                    @if !over {
                        details {
                            summary { "Cancel" }
                            p { "This cancels the order's open jobs and stops prints in progress." }
                            (act(&path("cancel"), "cancel-order", "second", &format!("Cancel {}", order.number_text()), Some(&given_up())))
                        }
                    }
                }
            }
        }
    }
}

/// Renders the checkbox for cancelling without waiting for printers; a printer that is switched off never confirms that
/// it has stopped.
fn given_up() -> Markup {
    html! {
        p {
            input id="f-force" name="force" type="checkbox" value=(TICKED_WORD);
            " " label for="f-force" class="inline" { "Don't wait for printers that don't respond" }
        }
    }
}

/// Returns the path to which the form for the action `act` on an order is posted.
fn order_path(order: Id, act: &str) -> String {
    format!("{ORDERS_PATH}/{order}/{act}")
}

/// Renders the form for changing an order. The shipping address can be edited only until the order is paid, because the
/// tax depends on it.
fn change(order: &Order, clock: &ShopClock) -> Markup {
    let notes = [("notes", &order.notes), ("internalNotes", &order.internal_notes)];
    let current_notes = notes.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?)));
    let usual = [("priority".to_owned(), order.priority.to_string()), ("dueAt".to_owned(), day(order.due_at, clock))];
    let address = order.shipping_address.as_ref().map(address_known).unwrap_or_default();
    let form = Form::prefilled(current_notes.chain(usual).chain(address));
    let unpaid = matches!(order.status, OrderStatus::Draft | OrderStatus::Created | OrderStatus::PaymentFailed);
    html! {
        details {
            summary { "Edit priority, date, notes" @if unpaid { ", address" } }
            form class="sheet" method="post" action=(order_path(order.id, "change")) data-quiet="" {
                (hidden())
                input type="hidden" name=(CLEARS_FIELD) value="dueAt notes internalNotes";
                input type="hidden" name=(DAY_SHOWN_FIELD) value=(day(order.due_at, clock));
                div class="grid" {
                    (form.field("priority", "Priority", "9 prints first.", FieldControl::Whole(0, 9)))
                    (form.field("dueAt", &WANTED_LABEL(words::Language::English), "End of that day.", FieldControl::Day))
                }
                (form.field("notes", &NOTES_LABEL(words::Language::English), "", FieldControl::Lines(1_000)))
                (form.field("internalNotes", &STAFF_NOTES_LABEL(words::Language::English), "", FieldControl::Lines(1_000)))
                @if unpaid { (address_fields(words::Language::English, &form, "Shipping address. Tax may depend on it.")) }
                button class="second" type="submit" { "Save" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::orders::pair;

    #[test]
    fn an_order_waits_for_one_act_at_most() {
        let (desk, _) = pair();
        let mut order = desk.o().clone();
        let mut primary = |status| {
            order.status = status;
            primary_act(&order)
        };
        assert_eq!(primary(OrderStatus::Draft), Some(PrimaryAct::Confirm));
        assert_eq!(primary(OrderStatus::Ready), Some(PrimaryAct::Ship));
        assert_eq!(primary(OrderStatus::Cancelled), None);
        assert_eq!(primary(OrderStatus::Printing), None, "all is paid");
        order.status = OrderStatus::Printing;
        let suggestion = ShipmentSuggestion::default();
        let html = |order: &Order| {
            let parts = [acts(order, &ShopClock::default(), &suggestion), leaving::ship_ready(order, &suggestion)];
            parts.map(Markup::into_string).concat()
        };
        assert_eq!(html(&order).matches("btn primary").count(), 0, "{}", html(&order));
        order.status = OrderStatus::Ready;
        assert_eq!(html(&order).matches("btn primary").count(), 1, "{}", html(&order));
    }
}
