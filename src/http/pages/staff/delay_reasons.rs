//! Reasons why orders are late, shared by all viewers. Finding a job's reason means comparing the job with all
//! printers. This is done once per forecast, because any change that affects the reason leads to a new forecast.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use maud::Markup;

use actors::app::App;
use config::Config;
use domain::id::Id;
use domain::time::Timestamp;
use http::resource_state::ResourceState;
use words::Language;

/// Reasons that belong to the same forecast.
#[derive(Default)]
struct ForecastReasons {
    forecast_at: Timestamp,
    /// Reasons by language and order; `None` if there is nothing to say.
    reasons: HashMap<(Language, Id), Option<Markup>>,
}

/// Cache for the reasons why orders are late.
#[derive(Default)]
pub(crate) struct DelayReasons(Mutex<ForecastReasons>);

impl ResourceState for DelayReasons {
    fn create(_: &App, _: &Config) -> Self {
        Self::default()
    }
}

impl DelayReasons {
    /// Returns the reason why an order is late according to the forecast of the given time, in the given language.
    /// Calls `explain` if the reason is not cached.
    pub(super) fn reason(
        &self,
        forecast_at: Timestamp,
        key: (Language, Id),
        explain: impl FnOnce() -> Option<Markup>,
    ) -> Option<Markup> {
        if let Some(reason) = self.existing(forecast_at, &key) {
            return reason;
        }
        // Other viewers can read the cache in the meantime.
        let reason = explain();
        let mut current = self.lock();
        if current.forecast_at != forecast_at {
            *current = ForecastReasons { forecast_at, reasons: HashMap::new() };
        }
        current.reasons.insert(key, reason.clone());
        reason
    }

    fn existing(&self, forecast_at: Timestamp, key: &(Language, Id)) -> Option<Option<Markup>> {
        let current = self.lock();
        current.reasons.get(key).filter(|_| current.forecast_at == forecast_at).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, ForecastReasons> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn a_reason_is_found_out_once_for_each_forecast_language_and_order() {
        let cache = DelayReasons::default();
        let mut count = 0;
        let mut reason = |forecast_at: i64, language: Language| {
            let explain = || {
                count += 1;
                Some(html! { (count) })
            };
            cache.reason(Timestamp(forecast_at), (language, Id::ONLY), explain).map(Markup::into_string)
        };
        assert_eq!(reason(1, Language::English).as_deref(), Some("1"));
        assert_eq!(reason(1, Language::English).as_deref(), Some("1"), "nothing has changed");
        assert_eq!(reason(1, Language::German).as_deref(), Some("2"));
        assert_eq!(reason(2, Language::English).as_deref(), Some("3"), "the next forecast");
        assert_eq!(cache.lock().reasons.len(), 1, "those of the previous one are gone");
    }

    #[test]
    fn nothing_to_say_is_found_out_once_too() {
        let cache = DelayReasons::default();
        let key = (Language::English, Id::ONLY);
        assert_eq!(cache.reason(Timestamp(1), key, || None).map(Markup::into_string), None);
        let again = cache.reason(Timestamp(1), key, || Some(html! { "a reason" }));
        assert!(again.is_none());
    }
}
