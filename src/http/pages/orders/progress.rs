//! Live part of an order page, rendered both as part of the page and for its event stream.

use maud::{Markup, html};

use super::stages::{OrderStage, PRINTING_STAGE, READY_STAGE, StageState, parts_made, stages};
use crate::design::{Icon, Tone, chip, icon};
use crate::frame::{Viewer, day, money, time};
use crate::{invoices, pictures};
use domain::event::NumberedEvent;
use domain::job::JobState;
use domain::order::{Order, OrderLine, OrderStatus, PICKUP, SentShipment};
use domain::time::Timestamp;
use domain::tracking::{TrackingPage, tracking_url};

/// Order, with the related data shown in the live part of its page.
pub(super) struct LivePart<'a> {
    pub(super) order: &'a Order,
    /// Time by which the entire order is expected to be printed.
    pub(super) expected: Option<Timestamp>,
    /// History of the order, oldest first.
    pub(super) steps: &'a [NumberedEvent],
    /// Tracking pages of the parcels.
    pub(super) tracking: &'a [TrackingPage],
    /// Viewer of the page, for the payment form.
    pub(super) viewer: &'a Viewer,
}

/// Number of parts of an order that are produced individually: in total, good, and being printed.
struct PartCounts {
    all: u64,
    good: u64,
    printing: u64,
}

impl PartCounts {
    fn of(order: &Order) -> Self {
        let parts = order.parts();
        let printed_lines = order.lines.iter().zip(&parts).filter(|(line, _)| !line.is_kit());
        let (mut all, mut good) = (0, 0);
        for (line, parts) in printed_lines {
            all += u64::from(line.quantity);
            good += parts.good.min(u64::from(line.quantity));
        }
        let prints = |state: JobState| matches!(state, JobState::Dispatching | JobState::Printing | JobState::Paused);
        let on_printers = order.jobs.values().filter(|job| prints(job.state)).map(|job| u64::from(order.plate_of(job)));
        let printing = on_printers.sum::<u64>().min(all - good);
        Self { all, good, printing }
    }
}

/// Returns the order status as text for customers.
pub(super) fn status_words(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Draft => "Draft",
        OrderStatus::Created => "To be paid",
        OrderStatus::PaymentFailed => "Payment failed",
        OrderStatus::Paid => "Paid",
        OrderStatus::Printing => "Printing",
        OrderStatus::Ready => "Ready",
        OrderStatus::Shipped => "Shipped",
        OrderStatus::Cancelled => "Cancelled",
        OrderStatus::Refunded => "Refunded",
    }
}

/// Returns the severity of the order status for customers.
pub(super) fn tone(status: OrderStatus) -> Tone {
    match status {
        OrderStatus::PaymentFailed => Tone::Error,
        OrderStatus::Created => Tone::Attention,
        OrderStatus::Paid | OrderStatus::Printing | OrderStatus::Ready | OrderStatus::Shipped => Tone::Working,
        OrderStatus::Draft | OrderStatus::Cancelled | OrderStatus::Refunded => Tone::Idle,
    }
}

/// Returns whether parts of the order may still have to be printed.
pub(super) fn is_open(status: OrderStatus) -> bool {
    matches!(status, OrderStatus::Paid | OrderStatus::Printing)
}

/// Returns a customer-friendly description of an event.
fn step_words(event: &str) -> &'static str {
    match event {
        "order.draft" => "Drafted",
        "order.created" => "Ordered",
        "order.payment_failed" => "Payment failed",
        "order.paid" => "Paid",
        "order.printing" => "Printing started",
        "order.ready" => "All parts are made",
        "order.part_shipped" => "Some parts were shipped",
        "order.shipped" => "Shipped",
        "order.cancelled" => "Cancelled",
        "order.refunded" => "Refunded",
        "job.completed" => "A plate was printed",
        _ => "Note added",
    }
}

/// Returns the class of an event in the history.
fn step_class(event: &str) -> Option<&'static str> {
    match event {
        "order.payment_failed" | "order.cancelled" => Some("warn"),
        "order.paid" | "order.ready" | "order.shipped" => Some("ok"),
        _ => None,
    }
}

impl LivePart<'_> {
    /// Summarizes the progress of the order in one sentence.
    pub(super) fn status_text(&self) -> String {
        let PartCounts { all, good, .. } = PartCounts::of(self.order);
        match self.order.status {
            OrderStatus::Draft => "This is a draft. It will be placed when you pay for it.".to_owned(),
            OrderStatus::Created => "We will start as soon as it is paid.".to_owned(),
            OrderStatus::PaymentFailed => "The last payment did not go through. You can try again.".to_owned(),
            OrderStatus::Paid => "It has been paid and is queued for printing.".to_owned(),
            OrderStatus::Printing => format!("It is being printed: {}.", parts_made(good, all)),
            OrderStatus::Ready => "All parts are made. It will be shipped soon.".to_owned(),
            OrderStatus::Shipped => match &self.order.shipment {
                Some(shipment) if shipment.carrier == PICKUP => "It was picked up.".to_owned(),
                _ => "It is on its way to you.".to_owned(),
            },
            OrderStatus::Cancelled if self.order.ledger.kept_cents > 0 => {
                format!("It was cancelled; no payment is due. {}", invoices::GIVEN_BACK_WORDS)
            }
            OrderStatus::Cancelled => "It was cancelled.".to_owned(),
            OrderStatus::Refunded => "Your payment was refunded.".to_owned(),
        }
    }

    /// Renders the live part of the order page.
    pub(super) fn html(&self) -> Markup {
        html! {
            (self.to_pay())
            (self.progress())
            (self.lines())
            @for shipment in &self.order.shipments { (self.parcel(shipment)) }
            (self.links())
            section class="panel pad" aria-labelledby="happened" {
                h2 id="happened" { "History" }
                ol class="timeline" {
                    @for step in self.steps {
                        li class=[step_class(&step.event.event)] {
                            (step_words(&step.event.event)) " " span class="small muted" { (time(step.event.timestamp)) }
                        }
                    }
                }
            }
        }
    }

    fn to_pay(&self) -> Markup {
        let (order, due) = (self.order, self.order.due_cents());
        html! {
            @if due > 0 {
                section class="panel pad" aria-labelledby="pay" {
                    h2 id="pay" { "To be paid: " (money(due, &order.currency)) }
                    form method="post" action={ (super::PATH) "/" (order.id) "/pay" } {
                        (self.viewer.hidden())
                        button type="submit" { "Pay " (money(due, &order.currency)) }
                    }
                }
            }
        }
    }

    fn progress(&self) -> Markup {
        let (order, counts) = (self.order, PartCounts::of(self.order));
        let is_open = is_open(order.status);
        html! {
            section class="panel pad" aria-labelledby="progress" {
                div class="head" {
                    h2 id="progress" { "Progress" }
                    (chip(tone(order.status), status_words(order.status)))
                }
                @if let Some(stages) = stages(order, self.steps) { (self.stages(&stages, &counts)) }
                @if !order.jobs.is_empty() {
                    progress aria-labelledby="progress" max=(counts.all.max(1)) value=(counts.good) { (counts.good) " of " (counts.all) }
                    p class="small muted" {
                        (parts_made(counts.good, counts.all))
                        @if is_open && counts.printing > 0 { ", " (counts.printing) " being printed" }
                    }
                }
                (self.times(is_open))
            }
        }
    }

    fn stages(&self, stages: &[OrderStage], counts: &PartCounts) -> Markup {
        let expected = self.expected.filter(|_| is_open(self.order.status));
        html! {
            ol class="steps course" aria-label="Stages" {
                @for (n, stage) in stages.iter().enumerate() {
                    li class=[(stage.state == StageState::Done).then_some("done")]
                        aria-current=[(stage.state == StageState::Current).then_some("step")] {
                        (stage.label)
                        span class="faint" {
                            @if n == PRINTING_STAGE && stage.state == StageState::Current && counts.all > 0 { (counts.good) " of " (counts.all) }
                            @else if let Some(at) = stage.reached_at { (day(at)) }
                            @else if let Some(at) = expected.filter(|_| n == READY_STAGE) { (day(at)) }
                        }
                    }
                }
            }
        }
    }

    /// Renders when the order is expected to be ready, and when it was promised.
    fn times(&self, is_open: bool) -> Markup {
        html! {
            @if let Some(expected) = self.expected.filter(|_| is_open) {
                p class="expected" { strong { "Expected to be ready " (day(expected)) } }
            }
            @if let Some(promise) = &self.order.promise {
                p class="small muted" {
                    "Promised for " (time(promise.promised_at))
                    @if let Some(met) = promise.met_at {
                        ", ready " (time(met))
                        @if met > promise.promised_at { ". We apologise for the delay." }
                    }
                }
            }
        }
    }

    fn lines(&self) -> Markup {
        let order = self.order;
        let (parts, shipped) = (order.parts(), order.shipped_parts());
        let all = order.lines.iter().zip(&parts).zip(&shipped).enumerate();
        let amount = |line: &OrderLine| line.unit_price_cents.saturating_mul(line.quantity.into());
        let sum = |label: &'static str, cents: i64| {
            html! { @if cents != 0 { dt { (label) } dd { (money(cents, &order.currency)) } } }
        };
        html! {
            section class="panel" aria-labelledby="ordered" {
                h2 id="ordered" class="pad" { "Items" }
                ul class="rows" {
                    @for (n, ((line, parts), shipped)) in all {
                        li class="row" {
                            (pictures::order_line(order, n))
                            div {
                                b { (line.quantity) " × " (line.description) }
                                @if line.kit_line.is_some() { " (part of a set)" }
                                @if !order.jobs.is_empty() && !line.is_service() { (line_progress(line, parts.good, *shipped)) }
                            }
                            @if line.kit_line.is_none() { span class="num" { (money(amount(line), &order.currency)) } }
                        }
                    }
                }
                dl class="pad" {
                    (sum("Shipping", order.shipping_cents))
                    (sum("Discount", -order.discount_cents))
                    (sum("Tax", order.tax_cents))
                    dt class="sum" { "Total" } dd class="sum" { (money(order.total_cents, &order.currency)) }
                }
                @if let Some(notes) = &order.notes { p class="pad small muted" { "Your notes: " (notes) } }
            }
        }
    }

    fn parcel(&self, sent: &SentShipment) -> Markup {
        let (shipment, picked_up) = (&sent.shipment, sent.shipment.carrier == PICKUP);
        let url = tracking_url(self.tracking, &shipment.carrier, &shipment.tracking_number).filter(|_| !picked_up);
        let inside = sent.lines.iter().filter_map(|one| Some((one.quantity, self.order.lines.get(one.line as usize)?)));
        let name = format!("parcel-{}", sent.number);
        html! {
            section class="panel pad" aria-labelledby=(name) {
                h2 id=(name) { @if picked_up { "Picked up" } @else { "Parcel " (sent.number) } }
                ul class="rows" {
                    @for (quantity, line) in inside { li { (quantity) " × " (line.description) } }
                }
                dl {
                    dt { @if picked_up { "Picked up" } @else { "Shipped" } } dd { (time(sent.shipped_at)) }
                    @if !picked_up {
                        dt { "Carrier" } dd { (shipment.carrier) }
                        dt { "Tracking number" } dd { (shipment.tracking_number) }
                        dt { "Expected delivery" } dd { (shipment.estimated_delivery) }
                    }
                }
                @if let Some(url) = url {
                    a class="btn" href=(url) rel="noreferrer noopener" { (icon(Icon::Truck)) "Track the parcel" }
                }
            }
        }
    }

    /// Renders links to the invoice and for contacting the shop.
    fn links(&self) -> Markup {
        html! {
            p class="acts" {
                @if let Some(invoice) = &self.order.invoice {
                    a class="btn" href={ (invoices::PATH) "/" (invoice.id) } { (icon(Icon::FileText)) "Invoice" }
                }
                (self.viewer.brand.ask(&self.order.number_text()))
            }
        }
    }
}

/// Renders how much of a line has been made and shipped.
fn line_progress(line: &OrderLine, good: u64, shipped: u64) -> Markup {
    let (good, all) = (good.min(line.quantity.into()), u64::from(line.quantity));
    html! {
        div class="small muted" {
            @if line.is_kit() { (good) " of " (all) @if all == 1 { " set" } @else { " sets" } " complete" }
            @else { (good) " of " (all) " made" }
            @if shipped > 0 { ", " (shipped) " shipped" }
        }
    }
}
