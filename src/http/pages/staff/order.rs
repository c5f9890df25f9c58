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

pub(super) use self::head::customer;
use self::head::head;
use self::history::history;
use self::lines::lines;
pub(super) use self::lines::order_file;
use super::ORDERS_PATH;
use super::acts::{DAY_SHOWN_FIELD, NOTES_LABEL, STAFF_NOTES_LABEL, WANTED_LABEL};
use super::address_fields::{address_fields, address_known};
use super::job::{JOBS_PATH, JobCard};
use super::orders::StaffOrderHandles;
use super::sheet::{address_line, day};
use super::shell::{StaffSection, StaffViewer, act, hidden};
use super::undelivered::undelivered_about;
use crate::design::{Icon, icon};
use crate::form::{FieldControl, Form};
use crate::frame::time;
use domain::event::NumberedEvent;
use domain::id::Id;
use domain::job::{Job, JobState};
use domain::order::{Order, OrderStatus, ShipmentSuggestion};
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use http::access::Caller;
use http::command_request::{find_existing, state_of};
use http::error::ApiError;
use http::path_id::PathId;
use http::wire::TICKED_WORD;
use http_api::production::orders::OrderOutlook;
use store::queries::Page;
use words::Language;
use words::staff::orders as texts;

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
    let language = viewer.language();
    let reasons = app.delays.at_present();
    let (_, state) = find_existing(&app.orders.orders, id).await?;
    let order = state_of(&state)?;
    let steps = steps(&app, id).await?;
    let actors: BTreeSet<&str> = steps.iter().map(|step| step.event.actor.as_str()).collect();
    let names = app.log.names.actors(language, &actors).await?;
    let suggestion = leaving::suggest_shipment(&app, order).await;
    let (now, own_page) = (app.board.shop.environment.now(), format!("{ORDERS_PATH}/{id}"));
    let undelivered = undelivered_about(language, &app.orders.queries, (id, now), &own_page).await?;
    let view = app.board.view();
    let mut jobs: Vec<&Job> = order.jobs.values().map(|job| &**job).collect();
    jobs.sort_by_key(|job| (matches!(job.state, JobState::Completed | JobState::Cancelled), job.number));
    let title = texts::order_title(language, &order.number_text());
    let outlook = app.orders.outlook(order);
    let jobs = html! {
        @if !jobs.is_empty() { (job_rows(language, &app, order, &jobs)) }
    };
    let content = html! {
        div class="lead" {
            div id="order-head" class="lead-text" data-fresh="" { (head(language, &app, order, &title, &outlook, &reasons)) }
            div id="order-acts" class="lead-acts" data-fresh="" { (acts(language, order, &app.config.shop.time_zone, &suggestion)) }
        }
        div id="order-emails" data-fresh="" { (undelivered) }
        div id="order-ship" data-fresh="" { (leaving::ship_ready(language, order, &suggestion)) }
        div id="order" data-fresh="" {
            div class="two" {
                div class="stack" {
                    (head::steps(language, order, &outlook))
                    (lines(language, order))
                    (jobs)
                }
                div class="stack" {
                    (glance(language, order, &outlook))
                    (money::payments(language, order))
                    @for sent in &order.shipments { (leaving::parcel(language, order, sent)) }
                    (history(language, &app.board, order, &steps, &names))
                }
            }
        }
    };
    Ok(viewer.page(StaffSection::Orders, &title, &view, &content))
}

/// Renders the jobs of an order.
fn job_rows(language: Language, app: &StaffOrderHandles, order: &Order, jobs: &[&Job]) -> Markup {
    let (forecast, reasons) = (app.orders.forecaster.latest(), &app.config.quality.reasons);
    let more_jobs = jobs.len().saturating_sub(JOBS_SHOWN);
    html! {
        section class="panel" aria-labelledby="jobs" {
            h2 id="jobs" class="pad" { (texts::jobs(language)) }
            div class="rows" {
                @for job in jobs.iter().copied().take(JOBS_SHOWN) {
                    @let expected = forecast.jobs.get(&job.id).copied();
                    (JobCard { language, app: &app.jobs, shop: &app.board.shop, job, expected, reasons }.html())
                }
            }
            @if more_jobs > 0 {
                p class="pad" {
                    (texts::more_jobs(language, more_jobs)) " "
                    a href={ (JOBS_PATH) "?order=" (order.id) } { (texts::view_all_jobs(language)) }
                }
            }
        }
    }
}

/// Returns the latest entries in an order's history, latest last.
async fn steps(app: &StaffOrderHandles, id: Id) -> Result<Vec<NumberedEvent>, ApiError> {
    let part = |offset: u64| Page { limit: STEPS_SHOWN, offset };
    let (steps, total) = app.orders.queries.timeline(id, None, part(0)).await?;
    if total <= STEPS_SHOWN {
        return Ok(steps);
    }
    Ok(app.orders.queries.timeline(id, None, part(total - STEPS_SHOWN)).await?.0)
}

/// Renders the order's customer, and when the order is due, promised and expected.
fn glance(language: Language, order: &Order, outlook: &OrderOutlook) -> Markup {
    let time = |at: Timestamp| time(language, at);
    html! {
        section class="panel pad" aria-labelledby="glance" {
            h2 id="glance" { (texts::glance(language)) }
            dl class="left" {
                dt { (texts::customer(language)) } dd { (customer(language, order)) }
                dt { (texts::placed(language)) } dd { (time(order.created_at)) }
                @if let Some(at) = order.paid_at { dt { (texts::paid(language)) } dd { (time(at)) } }
                @if let Some(at) = order.due_at { dt { (texts::due_date(language)) } dd { (time(at)) } }
                @if let Some(promise) = &order.promise {
                    dt { (texts::promised(language)) } dd { (time(promise.promised_at)) }
                    @if let Some(met) = promise.met_at { dt { (texts::ready(language)) } dd { (time(met)) } }
                }
                @if let Some(at) = outlook.expected_at { dt { (texts::expected(language)) } dd { (time(at)) } }
                dt { (texts::priority(language)) } dd { (order.priority) }
                @if let Some(address) = &order.shipping_address {
                    dt { (texts::ship_to(language)) }
                    dd { (address_line(language, address)) }
                }
                @if let Some(notes) = &order.notes { dt { (texts::notes(language)) } dd { (notes) } }
                @if let Some(notes) = &order.internal_notes { dt { (texts::internal_notes(language)) } dd { (notes) } }
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
/// has its own place; a partial shipment; all others in a menu. The part refreshes itself, except while one of its
/// forms is open.
fn acts(language: Language, order: &Order, clock: &ShopClock, suggestion: &ShipmentSuggestion) -> Markup {
    let path = |act: &str| order_path(order.id, act);
    let over = matches!(order.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
    let primary = primary_act(order);
    let may_refund = order.ledger.kept_cents > 0;
    let may_pay = order.due_cents() > 0 && primary != Some(PrimaryAct::Pay);
    html! {
        @match primary {
            Some(PrimaryAct::Confirm) => { (act(&path("confirm"), "confirm", "", &texts::confirm_draft(language), None)) },
            Some(PrimaryAct::Pay) => { (money::pay(language, order, Some("btn primary"))) },
            Some(PrimaryAct::Ship) | None => {},
        }
        (leaving::ship_some(language, order, suggestion))
        @if !over || may_refund || may_pay {
            details class="more-acts" {
                summary class="btn" { (icon(Icon::Ellipsis)) " " (texts::more(language)) }
                div class="panel pad" {
                    @if may_pay { (money::pay(language, order, None)) }
                    @if !over { (change(language, order, clock)) }
                    @if may_refund { (money::refunds(language, order)) }
                    @if !over {
                        details {
                            @let label = texts::cancel_order(language, &order.number_text());
                            summary { (texts::cancel(language)) }
                            p { (texts::cancel_text(language)) }
                            (act(&path("cancel"), "cancel-order", "second", &label, Some(&given_up(language))))
                        }
                    }
                }
            }
        }
    }
}

/// Renders the checkbox for cancelling without waiting for printers; a printer that is switched off never confirms that
/// it has stopped.
fn given_up(language: Language) -> Markup {
    html! {
        p {
            input id="f-force" name="force" type="checkbox" value=(TICKED_WORD);
            " " label for="f-force" class="inline" { (texts::no_waiting_field(language)) }
        }
    }
}

/// Returns the path to which the form for the action `act` on an order is posted.
pub(super) fn order_path(order: Id, act: &str) -> String {
    format!("{ORDERS_PATH}/{order}/{act}")
}

/// Renders the form for changing an order. The shipping address can be edited only until the order is paid, because the
/// tax depends on it.
fn change(language: Language, order: &Order, clock: &ShopClock) -> Markup {
    let notes = [("notes", &order.notes), ("internalNotes", &order.internal_notes)];
    let current_notes = notes.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?)));
    let usual = [("priority".to_owned(), order.priority.to_string()), ("dueAt".to_owned(), day(order.due_at, clock))];
    let address = order.shipping_address.as_ref().map(address_known).unwrap_or_default();
    let form = Form::prefilled(current_notes.chain(usual).chain(address));
    let unpaid = matches!(order.status, OrderStatus::Draft | OrderStatus::Created | OrderStatus::PaymentFailed);
    let summary = if unpaid { texts::edit_with_address(language) } else { texts::edit(language) };
    let (priority, priority_hint) = (texts::priority(language), texts::priority_hint(language));
    let (due_date, due_date_hint) = (WANTED_LABEL(language), texts::due_date_hint(language));
    html! {
        details {
            summary { (summary) }
            form class="sheet" method="post" action=(order_path(order.id, "change")) data-quiet="" {
                (hidden())
                input type="hidden" name=(DAY_SHOWN_FIELD) value=(day(order.due_at, clock));
                div class="grid" {
                    (form.field("priority", &priority, &priority_hint, FieldControl::Whole(0, 9)))
                    (form.field("dueAt", &due_date, &due_date_hint, FieldControl::Day))
                }
                (form.field("notes", &NOTES_LABEL(language), "", FieldControl::Lines(1_000)))
                (form.field("internalNotes", &STAFF_NOTES_LABEL(language), "", FieldControl::Lines(1_000)))
                @if unpaid { (address_fields(language, &form, &texts::address_hint(language))) }
                button class="second" type="submit" { (texts::save(language)) }
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
            let english = Language::English;
            let acts = acts(english, order, &ShopClock::default(), &suggestion);
            [acts, leaving::ship_ready(english, order, &suggestion)].map(Markup::into_string).concat()
        };
        assert_eq!(html(&order).matches("btn primary").count(), 0, "{}", html(&order));
        order.status = OrderStatus::Ready;
        assert_eq!(html(&order).matches("btn primary").count(), 1, "{}", html(&order));
    }
}
