//! Order timing on the staff pages: a state label, and a sentence on when the order has to be ready.

use maud::{Markup, html};

use super::ORDERS_PATH;
use super::shell::Tone;
use crate::frame::{NEXT_SLOT, SLOT, time, with_parts};
use domain::order::Order;
use domain::timing::Timing;
use http_api::production::orders::OrderOutlook;
use words::Language;
use words::staff::timing as texts;

/// Returns the tone and label for a timing.
pub(super) fn timing_state(language: Language, timing: Timing) -> (Tone, String) {
    match timing {
        Timing::OnTime => (Tone::Working, texts::on_time(language)),
        Timing::AtRisk => (Tone::Attention, texts::at_risk(language)),
        Timing::Late => (Tone::Error, texts::late(language)),
    }
}

/// Returns the path of the list of orders with the given timing.
pub(super) fn timing_path(timing: Timing) -> String {
    format!("{ORDERS_PATH}?timing={}", timing.word())
}

/// Renders the label of an order that is late or at risk; renders nothing for other orders.
pub(super) fn timing_label(language: Language, outlook: &OrderOutlook) -> Markup {
    let urgent = outlook.timing.filter(|timing| *timing != Timing::OnTime);
    html! {
        @if let Some((tone, words)) = urgent.map(|timing| timing_state(language, timing)) {
            " " span class=(tone.class()) { (words) }
        }
    }
}

/// Renders when an order has to be ready and when it is expected to be, as in "promised for Tue 17:00, now expected Thu
/// 10:00"; renders nothing before a promise is made.
pub(super) fn timing_words(language: Language, order: &Order, outlook: &OrderOutlook) -> Markup {
    let Some(deadline) = order.deadline() else { return html! {} };
    let is_due_first = order.due_at == Some(deadline);
    let sentence = match (is_due_first, outlook.expected_at.is_some()) {
        (true, true) => texts::due_expected(language, SLOT, NEXT_SLOT),
        (true, false) => texts::due_unknown(language, SLOT),
        (false, true) => texts::promised_expected(language, SLOT, NEXT_SLOT),
        (false, false) => texts::promised_unknown(language, SLOT),
    };
    let expected = html! { @if let Some(at) = outlook.expected_at { (time(language, at)) } };
    with_parts(&sentence, &[&time(language, deadline), &expected])
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use domain::testing::orders::{OrderDecider, pair};
    use domain::time::Timestamp;

    fn words(desk: &OrderDecider, expected_at: Option<Timestamp>) -> String {
        let timing = desk.o().timing(expected_at, desk.bench.now);
        timing_words(Language::English, desk.o(), &OrderOutlook { expected_at, timing, recovery: None }).into_string()
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
        assert!(words(&desk, Some(now)).starts_with("promised for <shop-time"), "{}", words(&desk, Some(now)));
        assert!(words(&desk, Some(now)).contains(", now expected <shop-time"));
        assert!(words(&desk, None).ends_with(", no forecast available"));
        desk.order.as_mut().unwrap().due_at = Some(now);
        assert!(words(&desk, None).starts_with("due <shop-time"));
    }

    #[test]
    fn only_what_needs_attention_has_a_label() {
        let label_in = |language, timing| {
            timing_label(language, &OrderOutlook { timing, ..OrderOutlook::default() }).into_string()
        };
        let label = |timing| label_in(Language::English, timing);
        assert_eq!((label(None), label(Some(Timing::OnTime))), (String::new(), String::new()));
        assert_eq!(label(Some(Timing::Late)), " <span class=\"state error\">Late</span>");
        assert_eq!(label(Some(Timing::AtRisk)), " <span class=\"state attention\">At risk</span>");
        let german = label_in(Language::German, Some(Timing::Late));
        assert_eq!(german, " <span class=\"state error\">Verspätet</span>");
    }
}
