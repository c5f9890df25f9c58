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

/// Returns the forecast with the remedies of the latest one, which remain until they have been searched for again.
/// Remedies whose time has passed, or is no earlier than the order's current expected time, are omitted.
pub(super) fn with_earlier_recoveries(forecast: Forecast, latest: &Forecast) -> Forecast {
    let stays = |id: &Id, recovery: &OrderRecovery| {
        let Some(stated_at) = recovery.stated_at() else { return true };
        stated_at >= forecast.at && forecast.orders.get(id).is_none_or(|expected_at| stated_at < *expected_at)
    };
    let recoveries = latest.recoveries.iter().filter(|(id, recovery)| stays(id, recovery));
    let recoveries = recoveries.map(|(id, recovery)| (*id, recovery.clone())).collect();
    Forecast { recoveries, ..forecast }
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
    fn earlier_remedies_stay_until_new_ones_are_found_or_they_no_longer_help() {
        let interim = |at: i64, expected_at: Option<i64>| {
            let orders = expected_at.map(|expected_at| (Id::ONLY, Timestamp(expected_at))).into_iter().collect();
            let new = Forecast { orders, ..forecast(at, HashMap::new()) };
            with_earlier_recoveries(new, &forecast(7, remedies())).recoveries
        };
        for (at, expected_at) in [(8, None), (9, None), (8, Some(10))] {
            assert_eq!(interim(at, expected_at), remedies(), "{at} {expected_at:?}");
        }
        for (at, expected_at) in [(10, None), (8, Some(9)), (8, Some(8))] {
            assert_eq!(interim(at, expected_at), Recoveries::new(), "{at} {expected_at:?}");
        }
    }
}
