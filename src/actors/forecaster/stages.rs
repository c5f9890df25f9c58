//! Stages of a forecast: first the times at which jobs and orders are ready, then the ways to get late orders ready on
//! time.

use std::collections::HashMap;
use std::sync::Arc;

use domain::forecast::Forecast;
use domain::id::Id;
use domain::remedy::OrderRecovery;

/// Ways to get late orders ready on time, by order.
type Recoveries = HashMap<Id, Arc<OrderRecovery>>;

/// Passes a forecast to `publish`, then adds the results of `search`.
pub(super) fn in_stages(
    forecast: Forecast,
    publish: impl FnOnce(Forecast),
    search: impl FnOnce(&Forecast) -> Recoveries,
) -> Forecast {
    publish(forecast.clone());
    let recoveries = search(&forecast);
    Forecast { recoveries, ..forecast }
}

/// Returns the forecast with the recoveries of the latest one. They are kept until the next search has finished, so
/// that they do not disappear in between.
pub(super) fn with_earlier_recoveries(forecast: Forecast, latest: &Forecast) -> Forecast {
    Forecast { recoveries: latest.recoveries.clone(), ..forecast }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use domain::time::Timestamp;

    fn forecast(at: i64, recoveries: Recoveries) -> Forecast {
        Forecast { at: Timestamp(at), recoveries, ..Forecast::default() }
    }

    fn remedies() -> Recoveries {
        let nothing = OrderRecovery { remedies: Vec::new(), quickest: None, earliest_at: Some(Timestamp(9)) };
        HashMap::from([(Id::ONLY, Arc::new(nothing))])
    }

    #[test]
    fn a_forecast_is_published_before_remedies_are_searched_for() {
        let stages = RefCell::new(Vec::new());
        let publish = |forecast: Forecast| stages.borrow_mut().push(("published", forecast));
        let search = |forecast: &Forecast| {
            stages.borrow_mut().push(("searched", forecast.clone()));
            remedies()
        };
        let whole = in_stages(forecast(7, HashMap::new()), publish, search);
        assert_eq!(whole, forecast(7, remedies()));
        let first = forecast(7, HashMap::new());
        assert_eq!(stages.into_inner(), [("published", first.clone()), ("searched", first)]);
    }

    #[test]
    fn earlier_remedies_stand_until_new_ones_have_been_remedies() {
        let interim = with_earlier_recoveries(forecast(8, HashMap::new()), &forecast(7, remedies()));
        assert_eq!(interim, forecast(8, remedies()));
    }
}
