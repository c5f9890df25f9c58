//! Live part of an order page, rendered both with the page and for its event stream.

use maud::{Markup, html};

use crate::frame::{Viewer, money, time};
use crate::invoices;
use domain::event::NumberedEvent;
use domain::job::JobState;
use domain::order::{Order, OrderLine, OrderStatus, PICKUP, SentShipment};
use domain::time::Timestamp;
use domain::tracking::{TrackingPage, tracking_url};

/// Order, with the related data shown in the live part of its page.
pub(super) struct LivePart<'a> {
    pub(super) order: &'a Order,
    /// Time at which the entire order is expected to be printed.
    pub(super) expected: Option<Timestamp>,
    /// History of the order, oldest first.
    pub(super) steps: &'a [NumberedEvent],
    /// Tracking pages of the parcels.
    pub(super) tracking: &'a [TrackingPage],
    /// Viewer of the page, for the payment form.
    pub(super) viewer: &'a Viewer,
}

/// Numbers of an order's individually produced parts: total, good, and printing.
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

    fn to_do(&self) -> u64 {
        self.all - self.good - self.printing
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
        OrderStatus::Ready => "Made",
        OrderStatus::Shipped => "Sent",
        OrderStatus::Cancelled => "Cancelled",
        OrderStatus::Refunded => "Refunded",
    }
}

/// Returns a description of the event for customers.
fn step_words(event: &str) -> &'static str {
    match event {
        "order.draft" => "Drafted",
        "order.created" => "Placed",
        "order.payment_failed" => "A payment failed",
        "order.paid" => "Paid",
        "order.printing" => "Printing began",
        "order.ready" => "All parts are made",
        "order.part_shipped" => "Some parts were shipped",
        "order.shipped" => "Sent",
        "order.cancelled" => "Cancelled",
        "order.refunded" => "Refunded",
        "job.completed" => "A plate was printed",
        _ => "Note added",
    }
}

impl LivePart<'_> {
    /// Summarizes the progress of the order in one sentence.
    pub(super) fn status_text(&self) -> String {
        let PartCounts { all, good, .. } = PartCounts::of(self.order);
        match self.order.status {
            OrderStatus::Draft => "This is a draft. It will be placed when you pay for it.".to_owned(),
            OrderStatus::Created => "We will start as soon as it is paid.".to_owned(),
            OrderStatus::PaymentFailed => "The last payment did not work. You can try again.".to_owned(),
            OrderStatus::Paid => "It has been paid and is queued for printing.".to_owned(),
            OrderStatus::Printing => format!("It is being printed: {good} of {all} parts are good."),
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
            @if !self.order.jobs.is_empty() { (self.progress()) }
            (self.lines())
            @for shipment in &self.order.shipments { (self.parcel(shipment)) }
            section class="card" aria-labelledby="happened" {
                h2 id="happened" { "What happened" }
                ol class="rows" {
                    @for step in self.steps {
                        li { span { (step_words(&step.event.event)) } span class="soft" { (time(step.event.timestamp)) } }
                    }
                }
            }
        }
    }

    fn to_pay(&self) -> Markup {
        let (order, due) = (self.order, self.order.due_cents());
        html! {
            @if due > 0 {
                section class="card" aria-labelledby="pay" {
                    h2 id="pay" { "To be paid: " (money(due, &order.currency)) }
                    form method="post" action={ (super::PATH) "/" (order.id) "/pay" } {
                        (self.viewer.hidden())
                        button type="submit" { "Pay now" }
                    }
                }
            }
            @if let Some(invoice) = &order.invoice {
                p { a href={ (invoices::PATH) "/" (invoice.id) } { "The invoice of this order" } }
            }
        }
    }

    fn progress(&self) -> Markup {
        let (order, counts) = (self.order, PartCounts::of(self.order));
        let open = !matches!(order.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
        html! {
            section class="card" aria-labelledby="progress" {
                h2 id="progress" { "Progress" }
                progress aria-labelledby="progress" max=(counts.all.max(1)) value=(counts.good) { (counts.good) " of " (counts.all) }
                dl {
                    dt { "Good" } dd { (counts.good) " of " (counts.all) " parts" }
                    @if open {
                        dt { "Being printed" } dd { (counts.printing) }
                        dt { "To do" } dd { (counts.to_do()) }
                    }
                    @if let Some(expected) = self.expected.filter(|_| open) {
                        dt { "Expected to be printed" } dd { (time(expected)) }
                    }
                    @if let Some(promise) = &order.promise {
                        dt { "Promised" } dd { (time(promise.promised_at)) }
                        @if let Some(met) = promise.met_at {
                            dt { "Made" }
                            dd {
                                (time(met))
                                @if met <= promise.promised_at { ", as promised" }
                                @else { ", later than promised; we apologise for the delay" }
                            }
                        }
                    }
                }
            }
        }
    }

    fn lines(&self) -> Markup {
        let order = self.order;
        let has_jobs = !order.jobs.is_empty();
        let (parts, shipped) = (order.parts(), order.shipped_parts());
        let all = order.lines.iter().zip(&parts).zip(&shipped);
        let amount = |line: &OrderLine| line.unit_price_cents.saturating_mul(line.quantity.into());
        let sum = |words: &'static str, cents: i64| {
            html! { @if cents != 0 { dt { (words) } dd { (money(cents, &order.currency)) } } }
        };
        html! {
            section class="card" aria-labelledby="ordered" {
                h2 id="ordered" { "What you ordered" }
                ul class="rows" {
                    @for ((line, parts), shipped) in all {
                        li {
                            span { (line.quantity) " × " (line.description) @if line.kit_line.is_some() { " (of a set)" } }
                            @if line.kit_line.is_none() { span { (money(amount(line), &order.currency)) } }
                            @if has_jobs {
                                span class="soft full" {
                                    (parts.good.min(line.quantity.into())) " of " (line.quantity)
                                    @if line.is_kit() { " sets are complete" } @else { " are good" }
                                    @if *shipped > 0 { ", " (shipped) " sent" }
                                }
                            }
                        }
                    }
                }
                dl {
                    (sum("Shipping", order.shipping_cents))
                    (sum("Discount", -order.discount_cents))
                    (sum("Tax", order.tax_cents))
                    dt class="sum" { "Total" } dd class="sum" { (money(order.total_cents, &order.currency)) }
                }
                @if let Some(notes) = &order.notes { p class="soft" { "Your notes: " (notes) } }
            }
        }
    }

    fn parcel(&self, sent: &SentShipment) -> Markup {
        let (shipment, picked_up) = (&sent.shipment, sent.shipment.carrier == PICKUP);
        let url = tracking_url(self.tracking, &shipment.carrier, &shipment.tracking_number).filter(|_| !picked_up);
        let inside = sent.lines.iter().filter_map(|one| Some((one.quantity, self.order.lines.get(one.line as usize)?)));
        let name = format!("parcel-{}", sent.number);
        html! {
            section class="card" aria-labelledby=(name) {
                h2 id=(name) { @if picked_up { "Picked up" } @else { "Parcel " (sent.number) } }
                ul class="rows" {
                    @for (quantity, line) in inside { li { (quantity) " × " (line.description) } }
                }
                dl {
                    dt { "Left" } dd { (time(sent.shipped_at)) }
                    @if !picked_up {
                        dt { "Carrier" } dd { (shipment.carrier) }
                        dt { "Tracking number" } dd { (shipment.tracking_number) }
                        dt { "Expected delivery" } dd { (shipment.estimated_delivery) }
                    }
                }
                @if let Some(url) = url {
                    a class="button second" href=(url) rel="noreferrer noopener" { "Track the parcel" }
                }
            }
        }
    }
}
