//! Reasons why orders are late, for all viewers. To find out a job's reason, it is compared with all printers; this is
//! done once for each state of the shop: a forecast, the events and quiet commits since, and whether jobs are on hold.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use maud::Markup;

use super::board::BoardHandles;
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

/// State of the shop that reasons belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct ReasonMark {
    /// Number of the shop's last event.
    last_event: i64,
    forecast_at: Timestamp,
    /// Number of commits that are hardly events.
    quiet_commits: i64,
    is_on_hold: bool,
}

impl ReasonMark {
    /// Returns whether this state is older than another one. Events are numbered, so that a clock that is set back does
    /// not matter once something happens.
    fn is_before(&self, other: &Self) -> bool {
        (self.last_event, self.forecast_at) < (other.last_event, other.forecast_at)
    }
}

/// Reasons that belong to the same state of the shop.
#[derive(Default)]
struct MarkedReasons {
    mark: ReasonMark,
    /// Reasons by language and order; `None` if there is nothing to say.
    reasons: HashMap<(Language, Id), Option<Markup>>,
}

/// Cache for the reasons why orders are late.
#[derive(Default)]
pub(crate) struct DelayReasons(Mutex<MarkedReasons>);

impl ResourceState for DelayReasons {
    fn create(_: &App, _: &Config) -> Self {
        Self::default()
    }
}

impl DelayReasons {
    /// Returns the reason why an order is late in the given state of the shop, in a language. `explain` determines it
    /// if this has not been done before.
    fn reason(
        &self,
        mark: ReasonMark,
        key: (Language, Id),
        explain: impl FnOnce() -> Option<Markup>,
    ) -> Option<Markup> {
        if let Some(reason) = self.existing(mark, &key) {
            return reason;
        }
        // Other viewers can read the cache in the meantime.
        let reason = explain();
        let mut current = self.lock();
        // A slow reader does not take from others what they found out since.
        if mark.is_before(&current.mark) {
            return reason;
        }
        if current.mark != mark {
            *current = MarkedReasons { mark, reasons: HashMap::new() };
        }
        current.reasons.insert(key, reason.clone());
        reason
    }

    fn existing(&self, mark: ReasonMark, key: &(Language, Id)) -> Option<Option<Markup>> {
        let current = self.lock();
        current.reasons.get(key).filter(|_| current.mark == mark).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, MarkedReasons> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// Returns the reasons for one page, in the present state of the shop.
    pub(super) fn at_present(&self) -> PresentReasons<'_> {
        // The state is noted before the reasons are found out, so what changes meanwhile has them found out again.
        let (last_event, is_on_hold) = (*self.outbox.last().borrow(), self.hold.is_on());
        let quiet_commits = self.board.view().quiet_commits;
        let forecast = self.board.forecaster.latest();
        let mark = ReasonMark { last_event, forecast_at: forecast.at, quiet_commits, is_on_hold };
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
        let cache = DelayReasons::default();
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
        let stocked = ReasonMark { quiet_commits: 1, ..mark(2, 2) };
        assert_eq!(reason(stocked, Language::English).as_deref(), Some("5"), "a material was changed");
        let held = ReasonMark { is_on_hold: true, ..stocked };
        assert_eq!(reason(held, Language::English).as_deref(), Some("6"), "jobs are on hold");
        assert_eq!(cache.lock().reasons.len(), 1, "those of the previous states are gone");
    }

    #[test]
    fn a_slow_reader_does_not_replace_newer_reasons() {
        let cache = DelayReasons::default();
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
        let cache = DelayReasons::default();
        let key = (Language::English, Id::ONLY);
        assert_eq!(cache.reason(mark(1, 1), key, || None).map(Markup::into_string), None);
        let again = cache.reason(mark(1, 1), key, || Some(html! { "a reason" }));
        assert!(again.is_none());
    }
}
