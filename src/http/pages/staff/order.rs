//! Order page for the staff: customer, progress of each line, jobs, payments, shipments, and the history with its
//! actors.

mod leaving;
mod money;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::ORDERS_PATH;
use super::acts::{CLEARS_FIELD, DAY_SHOWN_FIELD, TICKED_WORD};
use super::address_fields::{address_fields, address_known};
use super::entry::{FieldControl, FormEntry};
use super::job::{JOBS_PATH, JobCard};
use super::orders::{StaffOrderHandles, flag_words, order_state};
use super::sheet::{address_line, day};
use super::shell::{StaffSection, StaffViewer, Tone, act, clock, hidden};
use super::timing::{timing_state, timing_words};
use crate::frame::{money as amount, time};
use domain::event::NumberedEvent;
use domain::id::Id;
use domain::job::{Job, JobState};
use domain::order::{Order, OrderStatus};
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use domain::timing::Timing;
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
    let view = app.board.view();
    let forecast = app.orders.forecaster.latest();
    let mut jobs: Vec<&Job> = order.jobs.values().map(|job| &**job).collect();
    jobs.sort_by_key(|job| (matches!(job.state, JobState::Completed | JobState::Cancelled), job.number));
    let more_jobs = jobs.len().saturating_sub(JOBS_SHOWN);
    let title = format!("Order {}", order.number_text());
    let content = html! {
        p { a href=(ORDERS_PATH) { "All orders" } }
        div id="order" data-fresh="" {
            (head(order, &title, app.orders.outlook(order)))
            (lines(order))
            @if !jobs.is_empty() {
                h2 { "Jobs" }
                @for job in jobs.iter().copied().take(JOBS_SHOWN) {
                    (JobCard { app: &app.jobs, job, expected: forecast.jobs.get(&job.id).copied(), reasons: &app.config.quality.reasons }.html())
                }
                @if more_jobs > 0 {
                    p { (more_jobs) " more of its jobs: " a href={ (JOBS_PATH) "?order=" (id) } { "all jobs of the order" } }
                }
            }
            (money::payments(order))
            @for sent in &order.shipments { (leaving::parcel(order, sent)) }
            (timeline(&app, order, &steps))
        }
        div id="order-acts" data-fresh="" { (acts(order, &app.config.shop.time_zone)) }
    };
    Ok(viewer.page(StaffSection::Orders, &title, &view, &content))
}

/// Returns the newest entries of an order's history, newest last.
async fn steps(app: &StaffOrderHandles, id: Id) -> Result<Vec<NumberedEvent>, ApiError> {
    let part = |offset: u64| Page { limit: STEPS_SHOWN, offset };
    let (steps, total) = app.orders.queries.timeline(id, None, part(0)).await?;
    if total <= STEPS_SHOWN {
        return Ok(steps);
    }
    Ok(app.orders.queries.timeline(id, None, part(total - STEPS_SHOWN)).await?.0)
}

fn head(order: &Order, title: &str, outlook: OrderOutlook) -> Markup {
    let (tone, words) = order_state(order.status);
    let urgent = outlook.timing.filter(|timing| *timing != Timing::OnTime);
    html! {
        h1 { (title) " " span class=(tone.class()) { (words) } }
        section class="card" aria-labelledby="glance" {
            h2 id="glance" { "At a glance" }
            @if let Some((tone, words)) = urgent.map(timing_state) {
                p id="timing" { span class=(tone.class()) { (words) } ": " (timing_words(order, outlook)) }
            }
            @for flag in &order.flags { p { span class=(Tone::Attention.class()) { (flag_words(flag)) } } }
            dl class="left" {
                dt { "Customer" } dd { (order.customer_email.as_deref().unwrap_or("nobody named")) }
                dt { "Placed" } dd { (time(order.created_at)) }
                @if let Some(at) = order.paid_at { dt { "Paid" } dd { (time(at)) } }
                @if let Some(at) = order.due_at { dt { "Wanted" } dd { (time(at)) } }
                @if let Some(promise) = &order.promise {
                    dt { "Promised" } dd { (time(promise.promised_at)) }
                    @if let Some(met) = promise.met_at { dt { "Made" } dd { (time(met)) } }
                }
                @if let Some(at) = outlook.expected_at { dt { "Expected" } dd { (clock(at)) } }
                dt { "Priority" } dd { (order.priority) }
                @if let Some(address) = &order.shipping_address {
                    dt { "Goes to" }
                    dd { (address_line(address)) }
                }
                @if let Some(notes) = &order.notes { dt { "Notes of the customer" } dd { (notes) } }
                @if let Some(notes) = &order.internal_notes { dt { "Notes of the staff" } dd { (notes) } }
            }
        }
    }
}

fn lines(order: &Order) -> Markup {
    let (parts, shipped) = (order.parts(), order.shipped_parts());
    html! {
        section class="card" aria-labelledby="lines" {
            h2 id="lines" { "Lines" }
            div class="table" tabindex="0" role="region" aria-label="Table of lines" {
                table {
                    thead {
                        tr {
                            th scope="col" { "What" } th scope="col" class="number" { "Ordered" }
                            th scope="col" class="number" { "Good" } th scope="col" class="number" { "Under way" }
                            th scope="col" class="number" { "Missing" } th scope="col" class="number" { "Left" }
                            th scope="col" class="number" { "Price" }
                        }
                    }
                    tbody {
                        @for ((line, parts), shipped) in order.lines.iter().zip(&parts).zip(&shipped) {
                            tr {
                                th scope="row" {
                                    (line.description)
                                    @if line.is_kit() { " (a kit: " (parts.good) " of " (line.quantity) " sets complete)" }
                                    @if line.kit_line.is_some() { " (of a kit)" }
                                }
                                td class="number" { (line.quantity) }
                                td class="number" { (parts.good) }
                                td class="number" { (parts.running) }
                                td class="number" {
                                    @let missing = if order.jobs.is_empty() { 0 } else { parts.missing(line.quantity) };
                                    @if missing > 0 { span class=(Tone::Attention.class()) { (missing) } } @else { "0" }
                                }
                                td class="number" {
                                    (shipped)
                                    @if parts.rejected_after_shipping > 0 {
                                        " " span class=(Tone::Attention.class()) { (parts.rejected_after_shipping) " rejected" }
                                    }
                                }
                                td class="number" { (amount(line.unit_price_cents.saturating_mul(line.quantity.into()), &order.currency)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn timeline(app: &StaffOrderHandles, order: &Order, steps: &[NumberedEvent]) -> Markup {
    let number = |job: Id| order.jobs.get(&job).map(|job| job.number_text());
    html! {
        section class="card" aria-labelledby="happened" {
            h2 id="happened" { "What happened" }
            ol class="rows steps" {
                @for NumberedEvent { event, .. } in steps {
                    li {
                        span {
                            (event.event.replace(['.', '_'], " "))
                            @if let Some(number) = number(event.subject_id) { " " a href={ "#job-" (event.subject_id) } { (number) } }
                        }
                        span class="soft" { (app.log.who(&event.actor)) }
                        span class="soft" { (time(event.timestamp)) }
                    }
                }
            }
        }
    }
}

/// Renders the actions on the order as a whole. The section refreshes itself, except while one of its forms is open.
fn acts(order: &Order, clock: &ShopClock) -> Markup {
    let path = |act: &str| order_path(order.id, act);
    let over = matches!(order.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
    html! {
        section class="card" aria-labelledby="acts" {
            h2 id="acts" { "What to do with it" }
            @if order.status == OrderStatus::Draft { (act(&path("confirm"), "confirm", "", "Confirm the draft", None)) }
            @if order.due_cents() > 0 { (money::pay(order)) }
            @if matches!(order.status, OrderStatus::Printing | OrderStatus::Ready) { (leaving::ship(order)) }
            @if !over {
                (change(order, clock))
                details {
                    summary { "Cancel" }
                    p { "Its jobs end. What is being printed is cancelled at its printers." }
                    (act(&path("cancel"), "cancel-order", "second", &format!("Cancel {}", order.number_text()), Some(&given_up())))
                }
            }
            @if order.ledger.kept_cents > 0 { (money::refunds(order)) }
        }
    }
}

/// Renders the checkbox for cancelling without waiting for printers: one that is switched off never confirms that it
/// has stopped.
fn given_up() -> Markup {
    html! {
        p {
            input id="f-force" name="force" type="checkbox" value=(TICKED_WORD);
            " " label for="f-force" class="inline" { "Do not wait for printers that do not answer" }
        }
    }
}

/// Returns the path to which the form for action `act` on an order is posted.
fn order_path(order: Id, act: &str) -> String {
    format!("{ORDERS_PATH}/{order}/{act}")
}

/// Renders the form that changes an order. The shipping address can be edited only until the order is paid, because the
/// tax depends on it.
fn change(order: &Order, clock: &ShopClock) -> Markup {
    let notes = [("notes", &order.notes), ("internalNotes", &order.internal_notes)];
    let current_notes = notes.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?)));
    let usual = [("priority".to_owned(), order.priority.to_string()), ("dueAt".to_owned(), day(order.due_at, clock))];
    let address = order.shipping_address.as_ref().map(address_known).unwrap_or_default();
    let form = FormEntry::prefilled(current_notes.chain(usual).chain(address));
    let unpaid = matches!(order.status, OrderStatus::Draft | OrderStatus::Created | OrderStatus::PaymentFailed);
    html! {
        details {
            summary { "Change priority, date, notes" @if unpaid { ", address" } }
            form class="sheet" method="post" action=(order_path(order.id, "change")) data-quiet="" {
                (hidden())
                input type="hidden" name=(CLEARS_FIELD) value="dueAt notes internalNotes";
                input type="hidden" name=(DAY_SHOWN_FIELD) value=(day(order.due_at, clock));
                div class="grid" {
                    (form.field("priority", "Priority", "9 is printed first.", FieldControl::Whole(0, 9)))
                    (form.field("dueAt", "Wanted by", "The end of that day.", FieldControl::Day))
                }
                (form.field("notes", "Notes that the customer reads", "", FieldControl::Lines(1_000)))
                (form.field("internalNotes", "Notes of the staff", "", FieldControl::Lines(1_000)))
                @if unpaid { (address_fields(&form, "Where it goes; tax may depend on it.")) }
                button class="second" type="submit" { "Change" }
            }
        }
    }
}
