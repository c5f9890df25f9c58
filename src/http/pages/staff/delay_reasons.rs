//! Reasons why orders are late, for all viewers. To find out a job's reason, it is compared with all printers; this is
//! done once for each state of the shop: a forecast, the events and commits of the stock since, and whether jobs are on
//! hold.

use std::sync::{Arc, OnceLock};

use maud::Markup;

use super::board::BoardHandles;
use super::memo::Memo;
use super::remedy::delay_reason;
use actors::app::App;
use actors::restores::DispatchHold;
use config::Config;
use domain::forecast::Forecast;
use domain::id::Id;
use domain::order::Order;
use domain::time::Timestamp;
use http::handles::handles;
use http::resource_state::ResourceState;
use http_api::production::jobs::JobHandles;
use store::outbox::Outbox;
use words::Language;

/// Maximum number of reasons that are remembered for a state of the shop.
const MAX_REASONS: usize = 2_000;

/// State of the shop that reasons belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct ReasonMark {
    /// Number of the shop's last event.
    last_event: i64,
    forecast_at: Timestamp,
    /// Number of commits of the stock, which are seldom events.
    stock_commits: i64,
    is_on_hold: bool,
}

/// Reasons why orders are late, by language and order; `None` if there is nothing to say.
pub(crate) struct DelayReasons(Memo<ReasonMark, (Language, Id), OnceLock<Option<Markup>>>);

impl ResourceState for DelayReasons {
    fn create(_: &App, _: &Config) -> Self {
        Self::new()
    }
}

impl DelayReasons {
    fn new() -> Self {
        Self(Memo::new(MAX_REASONS))
    }

    /// Returns the reason why an order is late in a state of the shop, in a language. `explain` finds it out if nobody
    /// has before.
    fn reason(
        &self,
        mark: ReasonMark,
        key: (Language, Id),
        explain: impl FnOnce() -> Option<Markup>,
    ) -> Option<Markup> {
        self.0.cell(mark, key).get_or_init(explain).clone()
    }
}

handles! {
    /// Dependencies of the reasons why orders are late.
    pub(crate) struct DelayHandles {
        board: BoardHandles,
        jobs: JobHandles,
        hold: DispatchHold,
        outbox: Arc<Outbox>,
        cache: Arc<DelayReasons>,
    }
}

impl DelayHandles {
    /// Returns the reasons for one page, in the present state of the shop. The orders that it is asked about must be
    /// read afterwards, so that what changes meanwhile has their reasons found out again.
    pub(super) fn at_present(&self) -> PresentReasons<'_> {
        let (last_event, is_on_hold) = (*self.outbox.last().borrow(), self.hold.is_on());
        let stock_commits = self.board.stock_commits();
        let forecast = self.board.forecaster.latest();
        let mark = ReasonMark { last_event, forecast_at: forecast.at, stock_commits, is_on_hold };
        PresentReasons { app: self, forecast, mark }
    }
}

/// Reasons why orders are late, in one state of the shop.
pub(super) struct PresentReasons<'a> {
    app: &'a DelayHandles,
    forecast: Arc<Forecast>,
    mark: ReasonMark,
}

impl PresentReasons<'_> {
    /// Returns the reason why an order is late; `None` if there is nothing to say.
    pub(super) fn of(&self, language: Language, order: &Order) -> Option<Markup> {
        let explain = || delay_reason(language, &self.app.jobs, &self.forecast, order);
        self.app.cache.reason(self.mark, (language, order.id), explain)
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    /// Returns the state of a shop with a forecast and a last event.
    fn mark(forecast_at: i64, last_event: i64) -> ReasonMark {
        ReasonMark { last_event, forecast_at: Timestamp(forecast_at), ..ReasonMark::default() }
    }

    #[test]
    fn a_reason_is_found_out_once_for_each_state_language_and_order() {
        let cache = DelayReasons::new();
        let mut count = 0;
        let mut reason = |mark: ReasonMark, language: Language| {
            let explain = || {
                count += 1;
                Some(html! { (count) })
            };
            cache.reason(mark, (language, Id::ONLY), explain).map(Markup::into_string)
        };
        assert_eq!(reason(mark(1, 1), Language::English).as_deref(), Some("1"));
        assert_eq!(reason(mark(1, 1), Language::English).as_deref(), Some("1"), "nothing has changed");
        assert_eq!(reason(mark(1, 1), Language::German).as_deref(), Some("2"));
        assert_eq!(reason(mark(2, 1), Language::English).as_deref(), Some("3"), "the next forecast");
        assert_eq!(reason(mark(2, 2), Language::English).as_deref(), Some("4"), "same forecast, new event");
        let stocked = ReasonMark { stock_commits: 1, ..mark(2, 2) };
        assert_eq!(reason(stocked, Language::English).as_deref(), Some("5"), "a material was changed");
        let held = ReasonMark { is_on_hold: true, ..stocked };
        assert_eq!(reason(held, Language::English).as_deref(), Some("6"), "jobs are on hold");
    }

    #[test]
    fn a_slow_reader_does_not_replace_newer_reasons() {
        let cache = DelayReasons::new();
        let key = (Language::English, Id::ONLY);
        let reason =
            |mark: ReasonMark, text: &str| cache.reason(mark, key, || Some(html! { (text) })).map(Markup::into_string);
        assert_eq!(reason(mark(5, 2), "newer").as_deref(), Some("newer"));
        assert_eq!(reason(mark(5, 1), "older event").as_deref(), Some("older event"));
        assert_eq!(reason(mark(4, 2), "older forecast").as_deref(), Some("older forecast"));
        assert_eq!(reason(mark(5, 2), "again").as_deref(), Some("newer"), "it was kept");
        assert_eq!(reason(mark(3, 3), "clock").as_deref(), Some("clock"), "the clock was set back");
        assert_eq!(reason(mark(3, 3), "again").as_deref(), Some("clock"));
    }

    #[test]
    fn nothing_to_say_is_found_out_once_too() {
        let cache = DelayReasons::new();
        let key = (Language::English, Id::ONLY);
        assert_eq!(cache.reason(mark(1, 1), key, || None).map(Markup::into_string), None);
        let again = cache.reason(mark(1, 1), key, || Some(html! { "a reason" }));
        assert!(again.is_none());
    }
}
