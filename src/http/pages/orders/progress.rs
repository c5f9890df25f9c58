//! Live part of an order page, rendered both as part of the page and for its event stream.

use maud::{Markup, html};

use super::stages::{OrderStage, PRINTING_STAGE, READY_STAGE, StageState, stages};
use crate::design::{Icon, Tone, chip, icon};
use crate::frame::{NEXT_SLOT, SLOT, Viewer, day_in, time, with_parts};
use crate::paths::{INVOICES, ORDERS};
use crate::pictures;
use domain::event::NumberedEvent;
use domain::job::JobState;
use domain::notation;
use domain::order::{Order, OrderLine, OrderStatus, PICKUP, SentShipment};
use domain::promise::Promise;
use domain::time::Timestamp;
use domain::tracking::{TrackingPage, tracking_url};
use words::{Language, pages};

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
pub(super) fn status_words(language: Language, status: OrderStatus) -> String {
    match status {
        OrderStatus::Draft => pages::order_draft(language),
        OrderStatus::Created => pages::order_created(language),
        OrderStatus::PaymentFailed => pages::order_payment_failed(language),
        OrderStatus::Paid => pages::order_paid(language),
        OrderStatus::Printing => pages::order_printing(language),
        OrderStatus::Ready => pages::order_ready(language),
        OrderStatus::Shipped => pages::order_shipped(language),
        OrderStatus::Cancelled => pages::order_cancelled(language),
        OrderStatus::Refunded => pages::order_refunded(language),
    }
}

/// Returns the severity of the order status for customers.
pub(super) fn tone(status: OrderStatus) -> Tone {
    match status {
        OrderStatus::PaymentFailed => Tone::Error,
        OrderStatus::Created => Tone::Attention,
        OrderStatus::Printing => Tone::Running,
        OrderStatus::Paid | OrderStatus::Ready | OrderStatus::Shipped => Tone::Working,
        OrderStatus::Draft | OrderStatus::Cancelled | OrderStatus::Refunded => Tone::Idle,
    }
}

/// Returns whether parts of the order may still have to be printed.
pub(super) fn is_open(status: OrderStatus) -> bool {
    matches!(status, OrderStatus::Paid | OrderStatus::Printing)
}

/// Returns a customer-friendly description of an event.
fn step_words(language: Language, event: &str) -> String {
    match event {
        "order.draft" => pages::step_draft(language),
        "order.created" => pages::step_created(language),
        "order.payment_failed" => pages::step_payment_failed(language),
        "order.paid" => pages::step_paid(language),
        "order.printing" => pages::step_printing(language),
        "order.ready" => pages::step_ready(language),
        "order.part_shipped" => pages::step_part_shipped(language),
        "order.shipped" => pages::step_shipped(language),
        "order.cancelled" => pages::step_cancelled(language),
        "order.refunded" => pages::step_refunded(language),
        "job.completed" => pages::step_plate(language),
        _ => pages::step_note(language),
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
    fn language(&self) -> Language {
        self.viewer.language()
    }

    /// Formats an amount of the order.
    fn money(&self, cents: i64) -> String {
        notation::amount(self.language(), cents, &self.order.currency)
    }

    /// Summarizes the progress of the order in one sentence.
    pub(super) fn status_text(&self) -> String {
        let (PartCounts { all, good, .. }, language) = (PartCounts::of(self.order), self.language());
        match self.order.status {
            OrderStatus::Draft => pages::order_draft_text(language),
            OrderStatus::Created => pages::order_created_text(language),
            OrderStatus::PaymentFailed => pages::order_payment_failed_text(language),
            OrderStatus::Paid => pages::order_paid_text(language),
            OrderStatus::Printing => pages::order_printing_text(language, &pages::parts_made(language, good, all)),
            OrderStatus::Ready => pages::order_ready_text(language),
            OrderStatus::Shipped => match &self.order.shipment {
                Some(shipment) if shipment.carrier == PICKUP => pages::order_picked_up_text(language),
                _ => pages::order_shipped_text(language),
            },
            OrderStatus::Cancelled if self.order.ledger.kept_cents > 0 => pages::order_cancelled_paid_text(language),
            OrderStatus::Cancelled => pages::order_cancelled_text(language),
            OrderStatus::Refunded => pages::order_refunded_text(language),
        }
    }

    /// Renders the live part of the order page.
    pub(super) fn html(&self) -> Markup {
        let language = self.language();
        html! {
            (self.to_pay())
            (self.progress())
            (self.lines())
            @for shipment in &self.order.shipments { (self.parcel(shipment)) }
            (self.links())
            section class="panel pad" aria-labelledby="happened" {
                h2 id="happened" { (pages::history(language)) }
                ol class="timeline" {
                    @for step in self.steps {
                        li class=[step_class(&step.event.event)] {
                            (step_words(language, &step.event.event)) " "
                            span class="small muted" { (time(language, step.event.timestamp)) }
                        }
                    }
                }
            }
        }
    }

    fn to_pay(&self) -> Markup {
        let (order, due, language) = (self.order, self.order.due_cents(), self.language());
        let amount = self.money(due);
        html! {
            @if due > 0 {
                section class="panel pad" aria-labelledby="pay" {
                    h2 id="pay" { (pages::to_pay_heading(language, &amount)) }
                    form method="post" action={ (ORDERS) "/" (order.id) "/pay" } {
                        (self.viewer.hidden())
                        button type="submit" { (pages::pay_amount(language, &amount)) }
                    }
                }
            }
        }
    }

    fn progress(&self) -> Markup {
        let (order, counts, language) = (self.order, PartCounts::of(self.order), self.language());
        let is_open = is_open(order.status);
        let parts = pages::parts_made(language, counts.good, counts.all);
        html! {
            section class="panel pad" aria-labelledby="progress" {
                div class="head" {
                    h2 id="progress" { (pages::progress(language)) }
                    (chip(tone(order.status), &status_words(language, order.status)))
                }
                @if let Some(stages) = stages(language, order, self.steps) { (self.stages(&stages, &counts)) }
                @if !order.jobs.is_empty() {
                    progress aria-labelledby="progress" max=(counts.all.max(1)) value=(counts.good) {
                        (pages::progress_value(language, counts.good, counts.all))
                    }
                    p class="small muted" {
                        @if is_open && counts.printing > 0 { (pages::parts_printing(language, &parts, counts.printing)) }
                        @else { (parts) }
                    }
                }
                (self.times(is_open))
            }
        }
    }

    fn stages(&self, stages: &[OrderStage], counts: &PartCounts) -> Markup {
        let (expected, language) = (self.expected.filter(|_| is_open(self.order.status)), self.language());
        html! {
            ol class="steps course" aria-label=(pages::stages(language)) {
                @for (n, stage) in stages.iter().enumerate() {
                    li class=[(stage.state == StageState::Done).then_some("done")]
                        aria-current=[(stage.state == StageState::Current).then_some("step")] {
                        (stage.label)
                        span class="faint" {
                            @if n == PRINTING_STAGE && stage.state == StageState::Current && counts.all > 0 {
                                (pages::progress_value(language, counts.good, counts.all))
                            }
                            @else if let Some(at) = stage.reached_at { (day_in(language, at)) }
                            @else if let Some(at) = expected.filter(|_| n == READY_STAGE) { (day_in(language, at)) }
                        }
                    }
                }
            }
        }
    }

    /// Renders when the order is expected to be ready, and when it was promised.
    fn times(&self, is_open: bool) -> Markup {
        let language = self.language();
        html! {
            @if let Some(expected) = self.expected.filter(|_| is_open) {
                p class="expected" {
                    strong { (with_parts(&pages::expected_ready(language, SLOT), &[&day_in(language, expected)])) }
                }
            }
            @if let Some(promise) = &self.order.promise { p class="small muted" { (promise_words(language, promise)) } }
        }
    }

    fn lines(&self) -> Markup {
        let order = self.order;
        let (parts, shipped) = (order.parts(), order.shipped_parts());
        let all = order.lines.iter().zip(&parts).zip(&shipped).enumerate();
        let amount = |line: &OrderLine| line.unit_price_cents.saturating_mul(line.quantity.into());
        let language = self.language();
        let sum = |label: String, cents: i64| {
            html! { @if cents != 0 { dt { (label) } dd { (self.money(cents)) } } }
        };
        html! {
            section class="panel" aria-labelledby="ordered" {
                h2 id="ordered" class="pad" { (pages::items(language)) }
                ul class="rows" {
                    @for (n, ((line, parts), shipped)) in all {
                        li class="row" {
                            (pictures::order_line(order, n))
                            div {
                                b { (line.quantity) " × " (line.description) }
                                @if line.kit_line.is_some() { " " (pages::part_of_set(language)) }
                                @if !order.jobs.is_empty() && !line.is_service() {
                                    (line_progress(language, line, parts.good, *shipped))
                                }
                            }
                            @if line.kit_line.is_none() { span class="num" { (self.money(amount(line))) } }
                        }
                    }
                }
                dl class="pad" {
                    (sum(pages::shipping(language), order.shipping_cents))
                    (sum(pages::discount(language), -order.discount_cents))
                    (sum(pages::tax(language), order.tax_cents))
                    dt class="sum" { (pages::total(language)) } dd class="sum" { (self.money(order.total_cents)) }
                }
                @if let Some(notes) = &order.notes {
                    p class="pad small muted" { (pages::your_notes(language, notes)) }
                }
            }
        }
    }

    fn parcel(&self, sent: &SentShipment) -> Markup {
        let (shipment, picked_up) = (&sent.shipment, sent.shipment.carrier == PICKUP);
        let url = tracking_url(self.tracking, &shipment.carrier, &shipment.tracking_number).filter(|_| !picked_up);
        let inside = sent.lines.iter().filter_map(|one| Some((one.quantity, self.order.lines.get(one.line as usize)?)));
        let (name, language) = (format!("parcel-{}", sent.number), self.language());
        let title =
            if picked_up { pages::picked_up(language) } else { pages::parcel(language, &sent.number.to_string()) };
        html! {
            section class="panel pad" aria-labelledby=(name) {
                h2 id=(name) { (title) }
                ul class="rows" {
                    @for (quantity, line) in inside { li { (quantity) " × " (line.description) } }
                }
                dl {
                    dt { @if picked_up { (title) } @else { (pages::shipped(language)) } }
                    dd { (time(language, sent.shipped_at)) }
                    @if !picked_up {
                        dt { (pages::carrier(language)) } dd { (shipment.carrier) }
                        dt { (pages::tracking_number(language)) } dd { (shipment.tracking_number) }
                        dt { (pages::expected_delivery(language)) }
                        dd { (notation::typed_date(language, &shipment.estimated_delivery)) }
                    }
                }
                @if let Some(url) = url {
                    a class="btn" href=(url) rel="noreferrer noopener" { (icon(Icon::Truck)) (pages::track_parcel(language)) }
                }
            }
        }
    }

    /// Renders links to the invoice and for contacting the shop.
    fn links(&self) -> Markup {
        html! {
            p class="acts" {
                @if let Some(invoice) = &self.order.invoice {
                    a class="btn" href={ (INVOICES) "/" (invoice.id) } { (icon(Icon::FileText)) (pages::invoice_link(self.language())) }
                }
                (self.viewer.brand.ask(&self.order.number_text()))
            }
        }
    }
}

/// Renders when the order was promised, and when it was ready.
fn promise_words(language: Language, promise: &Promise) -> Markup {
    let promised = time(language, promise.promised_at);
    let Some(met) = promise.met_at else {
        return with_parts(&pages::promised(language, SLOT), &[&promised]);
    };
    let message = if met > promise.promised_at {
        pages::promised_ready_late(language, SLOT, NEXT_SLOT)
    } else {
        pages::promised_ready(language, SLOT, NEXT_SLOT)
    };
    with_parts(&message, &[&promised, &time(language, met)])
}

/// Renders how much of a line has been made and shipped.
fn line_progress(language: Language, line: &OrderLine, good: u64, shipped: u64) -> Markup {
    let (good, all) = (good.min(line.quantity.into()), u64::from(line.quantity));
    let made_parts =
        if line.is_kit() { pages::sets_complete(language, good, all) } else { pages::line_made(language, good, all) };
    html! {
        div class="small muted" {
            @if shipped > 0 { (pages::line_shipped(language, &made_parts, shipped)) }
            @else { (made_parts) }
        }
    }
}
