//! Header of the order page: number, status, timing, and the steps of the order.

use maud::{Markup, html};

use crate::design::{Icon, icon};
use crate::frame::time;
use crate::staff::ORDERS_PATH;
use crate::staff::orders::{flag_words, order_state};
use crate::staff::shell::{Tone, clock};
use crate::staff::timing::{timing_state, timing_words};
use domain::order::{Order, OrderStatus};
use domain::timing::Timing;
use http_api::production::orders::OrderOutlook;
use words::Language;

/// Renders the page heading with the status and, below it, any issues that need attention.
pub(super) fn head(order: &Order, title: &str, outlook: OrderOutlook) -> Markup {
    let (tone, words) = order_state(order.status);
    let urgent = outlook.timing.filter(|timing| *timing != Timing::OnTime);
    html! {
        div class="head" {
            a class="btn quiet square" href=(ORDERS_PATH) aria-label="All orders" { (icon(Icon::ArrowLeft)) }
            h1 { (title) }
            span class=(tone.class()) { (words) }
            span class="muted order-customer" { (order.customer_email.as_deref().unwrap_or("No customer")) }
        }
        @if let Some((tone, words)) = urgent.map(|timing| timing_state(Language::English, timing)) {
            p id="timing" { span class=(tone.class()) { (words) } ": " (timing_words(Language::English, order, outlook)) }
        }
        @for flag in &order.flags { p { span class=(Tone::Attention.class()) { (flag_words(flag)) } } }
    }
}

/// Step of an order with a note, such as its time.
struct OrderStep {
    label: &'static str,
    is_done: bool,
    note: Markup,
}

/// Renders the steps that an order goes through; they are omitted for an order that ended early.
pub(super) fn steps(order: &Order, outlook: OrderOutlook) -> Markup {
    if matches!(order.status, OrderStatus::Cancelled | OrderStatus::Refunded) {
        return html! {};
    }
    let all = order_steps(order, outlook);
    let current = all.iter().position(|step| !step.is_done);
    html! {
        section class="panel pad" aria-label="Progress" {
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

fn order_steps(order: &Order, outlook: OrderOutlook) -> [OrderStep; 5] {
    use OrderStatus as S;
    let is_past = |statuses: &[S]| statuses.contains(&order.status);
    let printing = is_past(&[S::Printing, S::Ready, S::Shipped]);
    let ready = is_past(&[S::Ready, S::Shipped]);
    let (good, ordered) = good_parts(order);
    let promise = order.promise.as_ref();
    let ready_note = html! {
        @if let Some(at) = promise.and_then(|promise| promise.met_at) { (time(at)) }
        @else if let Some(at) = outlook.expected_at { "expected " (clock(at)) }
    };
    let shipped_note = html! {
        @if let Some(at) = order.shipments.iter().map(|sent| sent.shipped_at).max() { (time(at)) }
        @else if let Some(promise) = promise { "promised " (clock(promise.promised_at)) }
    };
    let step = |label, is_done, note| OrderStep { label, is_done, note };
    [
        step("Paid", printing || order.status == S::Paid, html! { @if let Some(at) = order.paid_at { (time(at)) } }),
        step("Stock reserved", printing, html! {}),
        step("Printed", ready, html! { @if !order.jobs.is_empty() { (good) " of " (ordered) " good" } }),
        step("Ready", ready, ready_note),
        step("Shipped", order.status == S::Shipped, shipped_note),
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
        let outlook = OrderOutlook { expected_at: None, timing: None };
        let mut order = desk.o().clone();
        for (status, done) in
            [(OrderStatus::Paid, 1), (OrderStatus::Printing, 2), (OrderStatus::Ready, 4), (OrderStatus::Shipped, 5)]
        {
            order.status = status;
            let html = steps(&order, outlook).into_string();
            assert_eq!(html.matches("class=\"done\"").count(), done, "{status}: {html}");
            assert_eq!(html.matches("aria-current=\"step\"").count(), usize::from(done < 5), "{status}: {html}");
        }
        order.status = OrderStatus::Cancelled;
        assert_eq!(steps(&order, outlook).into_string(), "", "what ended has no next step");
    }
}
