//! Header of the order page: number, status, timing, and the steps of the order.

use maud::{Markup, html};

use crate::design::{Icon, icon};
use crate::frame::{SLOT, time, with_parts};
use crate::staff::ORDERS_PATH;
use crate::staff::delay_reasons::PresentReasons;
use crate::staff::orders::{StaffOrderHandles, flag_words};
use crate::staff::outage::live_order_state;
use crate::staff::remedy::{recovery_words, remedy_act};
use crate::staff::shell::Tone;
use crate::staff::timing::{timing_state, timing_words};
use domain::order::{Order, OrderStatus};
use domain::time::Timestamp;
use domain::timing::Timing;
use http_api::production::orders::OrderOutlook;
use words::Language;
use words::staff::orders as texts;

/// Renders the page heading with the status and, below it, any issues that need attention.
pub(super) fn head(
    language: Language,
    app: &StaffOrderHandles,
    order: &Order,
    title: &str,
    outlook: &OrderOutlook,
    reasons: &PresentReasons<'_>,
) -> Markup {
    let urgent = outlook.timing.filter(|timing| *timing != Timing::OnTime);
    html! {
        div class="head" {
            a class="btn quiet square" href=(ORDERS_PATH) aria-label=(texts::all_orders(language)) { (icon(Icon::ArrowLeft)) }
            h1 { (title) }
            (live_order_state(language, &app.board.shop, order))
            span class="muted lead-name" { (customer(language, order)) }
        }
        @if let Some((tone, label)) = urgent.map(|timing| timing_state(language, timing)) {
            div id="timing" {
                p { span class=(tone.class()) { (label) } ": " (timing_words(language, order, outlook)) }
                @if let Some(reason) = reasons.of(language, order) { p class="muted" { (reason) } }
                @if let Some(recovery) = outlook.recovery.as_deref() {
                    div class="choice" {
                        p { (recovery_words(language, recovery)) }
                        (remedy_act(language, &app.board.shop, order, recovery, &format!("{ORDERS_PATH}/{}", order.id)))
                    }
                }
            }
        }
        @for flag in &order.flags { p { span class=(Tone::Attention.class()) { (flag_words(language, flag)) } } }
    }
}

/// Returns the email address of an order's customer, or that it has none.
pub(in crate::staff) fn customer(language: Language, order: &Order) -> String {
    order.customer_email.clone().unwrap_or_else(|| texts::no_customer(language))
}

/// Step of an order with a note, such as its time.
struct OrderStep {
    label: String,
    is_done: bool,
    note: Markup,
}

/// Renders the steps that an order goes through; they are omitted for an order that ended early.
pub(super) fn steps(language: Language, order: &Order, outlook: &OrderOutlook) -> Markup {
    if matches!(order.status, OrderStatus::Cancelled | OrderStatus::Refunded) {
        return html! {};
    }
    let all = order_steps(language, order, outlook);
    let current = all.iter().position(|step| !step.is_done);
    html! {
        section class="panel pad" aria-label=(texts::progress(language)) {
            ol class="steps course" {
                @for (n, step) in all.iter().enumerate() {
                    li class=[step.is_done.then_some("done")] aria-current=[(Some(n) == current).then_some("step")] {
                        (step.label)
                        div class="faint" { (step.note) }
                    }
                }
            }
        }
    }
}

fn order_steps(language: Language, order: &Order, outlook: &OrderOutlook) -> [OrderStep; 5] {
    use OrderStatus as S;
    let is_past = |statuses: &[S]| statuses.contains(&order.status);
    let printing = is_past(&[S::Printing, S::Ready, S::Shipped]);
    let ready = is_past(&[S::Ready, S::Shipped]);
    let (good, ordered) = good_parts(order);
    let promise = order.promise.as_ref();
    let time = |at: Timestamp| time(language, at);
    let ready_note = html! {
        @if let Some(at) = promise.and_then(|promise| promise.met_at) { (time(at)) }
        @else if let Some(at) = outlook.expected_at { (with_parts(&texts::expected_at(language, SLOT), &[&time(at)])) }
    };
    let shipped_note = html! {
        @if let Some(at) = order.shipments.iter().map(|sent| sent.shipped_at).max() { (time(at)) }
        @else if let Some(promise) = promise {
            (with_parts(&texts::promised_at(language, SLOT), &[&time(promise.promised_at)]))
        }
    };
    let step = |label, is_done, note| OrderStep { label, is_done, note };
    let paid_note = html! { @if let Some(at) = order.paid_at { (time(at)) } };
    // While it is the current step, it says what is happening.
    let printed = if order.status == S::Printing { texts::step_printing } else { texts::step_printed };
    let printed_note = html! { @if !order.jobs.is_empty() { (texts::parts_good(language, good, ordered)) } };
    [
        step(texts::step_paid(language), printing || order.status == S::Paid, paid_note),
        step(texts::step_reserved(language), printing, html! {}),
        step(printed(language), ready, printed_note),
        step(texts::step_ready(language), ready, ready_note),
        step(texts::step_shipped(language), order.status == S::Shipped, shipped_note),
    ]
}

/// Returns the number of good parts and the number of parts ordered. For a kit, its parts are counted, but not the
/// kit's own line.
fn good_parts(order: &Order) -> (u64, u64) {
    let parts = order.parts();
    let lines = order.lines.iter().zip(&parts).filter(|(line, _)| !line.is_kit() && !line.is_service());
    lines.fold((0, 0), |(good, ordered), (line, parts)| {
        let quantity = u64::from(line.quantity);
        (good + parts.good.min(quantity), ordered + quantity)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::orders::pair;

    #[test]
    fn the_first_step_that_is_not_done_is_the_current_one() {
        let (desk, _) = pair();
        let outlook = OrderOutlook::default();
        let mut order = desk.o().clone();
        for (status, done) in
            [(OrderStatus::Paid, 1), (OrderStatus::Printing, 2), (OrderStatus::Ready, 4), (OrderStatus::Shipped, 5)]
        {
            order.status = status;
            let html = steps(Language::English, &order, &outlook).into_string();
            assert_eq!(html.matches("class=\"done\"").count(), done, "{status}: {html}");
            assert_eq!(html.matches("aria-current=\"step\"").count(), usize::from(done < 5), "{status}: {html}");
        }
        let printing = |language, status| {
            let mut order = order.clone();
            order.status = status;
            order_steps(language, &order, &outlook).into_iter().nth(2).map(|step| step.label)
        };
        for (language, status, label) in [
            (Language::English, OrderStatus::Paid, "Printed"),
            (Language::English, OrderStatus::Printing, "Printing"),
            (Language::German, OrderStatus::Printing, "Im Druck"),
            (Language::German, OrderStatus::Ready, "Gedruckt"),
        ] {
            assert_eq!(printing(language, status).as_deref(), Some(label), "{status}");
        }
        order.status = OrderStatus::Cancelled;
        assert_eq!(steps(Language::English, &order, &outlook).into_string(), "", "what ended has no next step");
    }
}
