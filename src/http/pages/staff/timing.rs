//! Order timing on the staff pages: a state label and a sentence.

use maud::{Markup, html};

use super::ORDERS_PATH;
use super::shell::{Tone, clock};
use domain::order::Order;
use domain::timing::Timing;
use http_api::production::orders::OrderOutlook;

/// Returns the tone and label for a timing.
pub(super) fn timing_state(timing: Timing) -> (Tone, &'static str) {
    match timing {
        Timing::OnTime => (Tone::Working, "On time"),
        Timing::AtRisk => (Tone::Attention, "At risk"),
        Timing::Late => (Tone::Error, "Late"),
    }
}

/// Returns the path of the list of orders with the given timing.
pub(super) fn timing_path(timing: Timing) -> String {
    format!("{ORDERS_PATH}?timing={}", timing.word())
}

/// Renders the label of an order that is late or at risk; renders nothing for other orders.
pub(super) fn timing_label(outlook: OrderOutlook) -> Markup {
    let urgent = outlook.timing.filter(|timing| *timing != Timing::OnTime);
    html! {
        @if let Some((tone, words)) = urgent.map(timing_state) { " " span class=(tone.class()) { (words) } }
    }
}

/// Renders when an order has to be ready and when it is expected to be, as in "promised Tue 17:00, now expected Thu
/// 10:00"; renders nothing before a promise is made.
pub(super) fn timing_words(order: &Order, outlook: OrderOutlook) -> Markup {
    let deadline = order.deadline();
    let is_due_first = deadline.is_some() && deadline == order.due_at;
    html! {
        @if let Some(at) = deadline {
            @if is_due_first { "due " } @else { "promised " } (clock(at)) ", "
            @match outlook.expected_at {
                Some(at) => { "now expected " (clock(at)) },
                None => { "no forecast available" },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use domain::testing::orders::{OrderDecider, pair};
    use domain::time::Timestamp;

    fn words(desk: &OrderDecider, expected_at: Option<Timestamp>) -> String {
        let timing = desk.o().timing(expected_at, desk.bench.now);
        timing_words(desk.o(), OrderOutlook { expected_at, timing }).into_string()
    }

    #[test]
    fn the_earlier_of_promise_and_due_date_is_shown() {
        use domain::order::OrderNews;
        use domain::promise::Promise;
        let (mut desk, _) = pair();
        assert_eq!(words(&desk, None), "", "nothing is promised yet");
        let now = desk.bench.now;
        let promise = Promise { made_at: now, expected_at: now, promised_at: now.plus_ms(3_600_000), met_at: None };
        desk.ask(&OrderNews::Promise(promise)).unwrap();
        assert!(words(&desk, Some(now)).starts_with("promised <shop-time"), "{}", words(&desk, Some(now)));
        assert!(words(&desk, Some(now)).contains(", now expected <shop-time"));
        assert!(words(&desk, None).ends_with(", no forecast available"));
        desk.order.as_mut().unwrap().due_at = Some(now);
        assert!(words(&desk, None).starts_with("due <shop-time"));
    }

    #[test]
    fn only_what_needs_attention_has_a_label() {
        let label = |timing| timing_label(OrderOutlook { expected_at: None, timing }).into_string();
        assert_eq!((label(None), label(Some(Timing::OnTime))), (String::new(), String::new()));
        assert_eq!(label(Some(Timing::Late)), " <span class=\"state error\">Late</span>");
        assert_eq!(label(Some(Timing::AtRisk)), " <span class=\"state attention\">At risk</span>");
    }
}
