//! Filters of the list of orders by status, timing, text and attention, and its sort order. All of them are in the URL
//! of the page.

use api_derive::Request;
use maud::{Markup, html};

use super::{StaffOrderHandles, order_state};
use crate::staff::ORDERS_PATH;
use crate::staff::filled_form::address;
use crate::staff::sheet::{ListFilter, ListPart, list_filters, non_empty};
use crate::staff::timing::timing_state;
use domain::order::OrderStatus;
use domain::timing::Timing;
use http_api::production::orders::{OrderSort, TimingSelection};
use store::queries::OrderFilter;
use words::Language;
use words::staff::orders as texts;

/// Statuses by which the list can be filtered, in the order in which they occur.
const STATUSES: [OrderStatus; 9] = [
    OrderStatus::Draft,
    OrderStatus::Created,
    OrderStatus::PaymentFailed,
    OrderStatus::Paid,
    OrderStatus::Printing,
    OrderStatus::Ready,
    OrderStatus::Shipped,
    OrderStatus::Cancelled,
    OrderStatus::Refunded,
];
/// Statuses of orders in production; only these can be late, at risk or on time.
const IN_PRODUCTION: [OrderStatus; 2] = [OrderStatus::Paid, OrderStatus::Printing];
/// Value of `sort` in the address that lists the newest orders first.
const NEWEST: &str = "newest";

/// Query parameters of the order list. Unknown values are ignored.
#[derive(Request, Debug)]
pub(in crate::staff) struct OrderListQuery {
    /// Only orders with the given status, as spelled in the API.
    status: Option<String>,
    /// Order number, or part of the customer's email address.
    q: Option<String>,
    /// Any value selects only orders that need an operator's attention.
    flagged: Option<String>,
    /// Only orders with the given timing, as spelled in the API.
    timing: Option<String>,
    /// `newest` for the newest orders first; by default, the most urgent ones are first.
    sort: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

impl OrderListQuery {
    fn status(&self) -> Option<OrderStatus> {
        let status_word = self.status.as_deref()?;
        STATUSES.into_iter().find(|status| status.to_string() == status_word)
    }

    /// Returns the timing that the list is filtered by.
    pub(super) fn timing(&self) -> Option<Timing> {
        let timing_word = self.timing.as_deref()?;
        Timing::ALL.into_iter().find(|timing| timing.word() == timing_word)
    }

    fn is_newest_first(&self) -> bool {
        self.sort.as_deref() == Some(NEWEST)
    }

    /// Returns whether the list may have orders in production, which are sorted by urgency.
    fn can_be_urgent(&self) -> bool {
        self.status().is_none_or(|status| IN_PRODUCTION.contains(&status))
    }

    /// Returns the selection and sort order by timing. A list of orders with one timing is always sorted by it.
    pub(super) fn selection(&self) -> TimingSelection {
        let timing = self.timing();
        let is_by_urgency = timing.is_some() || (self.can_be_urgent() && !self.is_newest_first());
        TimingSelection { timing, sort: is_by_urgency.then_some(OrderSort::Timing) }
    }

    /// Returns whether the list is unfiltered and starts at its first entry.
    pub(super) fn is_open(&self) -> bool {
        let is_filtered = self.status().is_some() || self.flagged.is_some() || self.timing().is_some();
        !is_filtered && non_empty(self.q.as_ref()).is_none() && self.from == 0
    }

    /// Returns the filter for orders.
    pub(super) fn filter(&self) -> OrderFilter {
        OrderFilter {
            status: self.status(),
            q: non_empty(self.q.as_ref()).map(str::to_owned),
            flagged: self.flagged.as_ref().map(|_| true),
            ..OrderFilter::default()
        }
    }

    /// Returns the page of the list.
    pub(super) fn part(&self) -> ListPart<'_> {
        let filters = [
            ("status", &self.status),
            ("q", &self.q),
            ("flagged", &self.flagged),
            ("timing", &self.timing),
            ("sort", &self.sort),
        ];
        let narrowed = filters.into_iter().map(|(name, value)| (name, non_empty(value.as_ref()))).collect();
        ListPart { path: ORDERS_PATH, narrowed, from: self.from }
    }

    /// Returns the URL of the list with another status and sort order, keeping all other parameters except the timing.
    fn path(&self, status: &str, sort: &str) -> String {
        self.address(&[("status", status)], sort)
    }

    /// Returns the URL of the list with another timing, retaining all other filters except the status.
    fn timing_path(&self, timing: Timing) -> String {
        self.address(&[("timing", timing.word())], if self.is_newest_first() { NEWEST } else { "" })
    }

    /// Returns the URL of the list with the search and the filter by attention, another filter and a sort order.
    fn address(&self, chosen: &[(&str, &str)], sort: &str) -> String {
        let [q, flagged] = [&self.q, &self.flagged].map(|value| non_empty(value.as_ref()).unwrap_or_default());
        address(ORDERS_PATH, &[chosen, &[("q", q), ("flagged", flagged), ("sort", sort)]].concat())
    }

    /// Returns whether the counts of all orders apply to the list: there is no search, and no filter by attention.
    fn is_counted(&self) -> bool {
        non_empty(self.q.as_ref()).is_none() && self.flagged.is_none()
    }
}

/// Renders the links that filter the list by status, with the number of orders in each unless other filters are set.
/// Statuses without any are left out.
pub(super) fn statuses(language: Language, query: &OrderListQuery, counts: &[(OrderStatus, u64)]) -> Markup {
    let chosen = query.status();
    let sort = if query.is_newest_first() { NEWEST } else { "" };
    let count = |number: u64| usize::try_from(number).ok().filter(|_| query.is_counted());
    let count_of = |status| counts.iter().find(|(own, _)| *own == status).map_or(0, |(_, number)| *number);
    let all = texts::all_filter(language);
    let every = ListFilter {
        label: &all,
        path: query.path("", sort),
        count: count(counts.iter().map(|(_, number)| number).sum()),
        is_current: chosen.is_none() && query.timing().is_none(),
    };
    let labels = STATUSES.map(|status| order_state(language, status).1);
    let there = STATUSES.into_iter().zip(&labels);
    let there = there.filter(|(status, _)| count_of(*status) > 0 || chosen == Some(*status));
    let filters = there.map(|(status, label)| ListFilter {
        label,
        path: query.path(&status.to_string(), sort),
        count: count(count_of(status)),
        is_current: chosen == Some(status),
    });
    list_filters(&texts::status_filters(language), &[every].into_iter().chain(filters).collect::<Vec<_>>())
}

/// Renders the links that filter the list by timing, with the number of orders for each unless other filters are set.
pub(super) fn timings(language: Language, app: &StaffOrderHandles, query: &OrderListQuery) -> Markup {
    let (all, forecast) = (app.board.orders.all_resident(), app.board.forecaster.latest());
    let now = app.orders.environment.now();
    let orders = all.iter().filter_map(|(_, versioned)| versioned.state.as_ref());
    let timings: Vec<Timing> =
        orders.filter_map(|order| order.timing(forecast.orders.get(&order.id).copied(), now)).collect();
    timing_links(language, query, &timings)
}

fn timing_links(language: Language, query: &OrderListQuery, timings: &[Timing]) -> Markup {
    let labels = Timing::ALL.map(|timing| timing_state(language, timing).1);
    let filters = Timing::ALL.into_iter().zip(&labels).map(|(timing, label)| ListFilter {
        label,
        path: query.timing_path(timing),
        count: query.is_counted().then(|| timings.iter().filter(|one| **one == timing).count()),
        is_current: query.timing() == Some(timing),
    });
    list_filters(&texts::timing_filters(language), &filters.collect::<Vec<_>>())
}

/// Renders the links that sort the list; nothing for a list with only one sort order.
pub(super) fn sorts(language: Language, query: &OrderListQuery) -> Markup {
    if query.timing().is_some() || !query.can_be_urgent() {
        return Markup::default();
    }
    let status = query.status().map(|status| status.to_string()).unwrap_or_default();
    let labels = [texts::sort_urgent(language), texts::sort_newest(language)];
    let filters = ["", NEWEST].into_iter().zip(&labels).map(|(sort, label)| ListFilter {
        label,
        path: query.path(&status, sort),
        count: None,
        is_current: query.is_newest_first() == (sort == NEWEST),
    });
    list_filters(&texts::sort_links(language), &filters.collect::<Vec<_>>())
}

/// Renders the form with the search and the filter by attention. It keeps the other filters.
pub(super) fn tools(language: Language, query: &OrderListQuery) -> Markup {
    let status = query.status().map(|status| status.to_string());
    let timing = query.timing().map(|timing| timing.word().to_owned());
    let sort = query.is_newest_first().then(|| NEWEST.to_owned());
    html! {
        form class="tools" method="get" action=(ORDERS_PATH) role="search" {
            div class="field" {
                label for="q" { (texts::search_field(language)) }
                input id="q" name="q" type="search" maxlength="200" value=[query.q.as_deref()];
            }
            div class="field" {
                label for="flagged" { (texts::flagged_field(language)) }
                input id="flagged" name="flagged" type="checkbox" value="true" checked[query.flagged.is_some()];
            }
            @for (name, value) in [("status", &status), ("timing", &timing), ("sort", &sort)] {
                @if let Some(value) = value { input type="hidden" name=(name) value=(value); }
            }
            button class="second" type="submit" { (texts::show(language)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(status: Option<&str>, timing: Option<&str>, sort: Option<&str>) -> OrderListQuery {
        let [status, timing, sort] = [status, timing, sort].map(|text| text.map(str::to_owned));
        OrderListQuery { status, q: None, flagged: None, timing, sort, from: 0 }
    }

    #[test]
    fn the_most_urgent_orders_are_first_unless_asked_otherwise() {
        let sort = |status, timing, sort| query(status, timing, sort).selection().sort;
        let urgent = Some(OrderSort::Timing);
        assert_eq!([sort(None, None, None), sort(Some("paid"), None, None)], [urgent, urgent]);
        assert_eq!(sort(None, None, Some(NEWEST)), None);
        assert_eq!(sort(None, None, Some("unheard-of")), urgent);
        assert_eq!(sort(Some("shipped"), None, None), None, "nothing that is shipped is urgent");
        assert_eq!(sort(None, Some("late"), Some(NEWEST)), urgent);
        assert_eq!(sorts(Language::English, &query(Some("shipped"), None, None)).into_string(), "");
    }

    #[test]
    fn statuses_are_chips_with_their_counts() {
        let counts = [(OrderStatus::Paid, 2), (OrderStatus::Shipped, 1_200)];
        let html = |query: &OrderListQuery| statuses(Language::English, query, &counts).into_string();
        let all = html(&query(None, None, None));
        for part in [
            "<a class=\"filter\" href=\"/shop/orders\" aria-current=\"true\"><b>1202</b> All</a>",
            "<a class=\"filter\" href=\"/shop/orders?status=paid\"><b>2</b> Paid</a>",
            "<a class=\"filter\" href=\"/shop/orders?status=shipped\"><b>1200</b> Shipped</a>",
        ] {
            assert!(all.contains(part), "{part} in {all}");
        }
        assert!(!all.contains("Unpaid"), "{all}");
        let ready = html(&query(Some("ready"), None, Some(NEWEST)));
        assert!(
            ready.contains("status=ready&amp;sort=newest\" aria-current=\"true\"><b>0</b> Ready to ship"),
            "{ready}"
        );
        let searched = html(&OrderListQuery { q: Some("ann".to_owned()), ..query(None, None, None) });
        assert!(searched.contains("?status=paid&amp;q=ann\">Paid</a>"), "a search is not counted: {searched}");
        let late = html(&query(Some("paid"), Some("late"), None));
        assert!(late.contains("?status=paid\" aria-current=\"true\">"), "both filters are set: {late}");
        assert_eq!(late.matches("aria-current").count(), 1, "{late}");
    }

    #[test]
    fn timings_keep_the_search_and_the_sort_order() {
        let timings = [Timing::Late, Timing::OnTime, Timing::Late];
        let html = |query: &OrderListQuery| timing_links(Language::English, query, &timings).into_string();
        let all = html(&query(None, Some("late"), None));
        assert!(all.contains("href=\"/shop/orders?timing=late\" aria-current=\"true\"><b>2</b> "), "{all}");
        let newest = OrderListQuery { q: Some("ann".to_owned()), ..query(None, None, Some(NEWEST)) };
        let searched = html(&OrderListQuery { flagged: Some("true".to_owned()), ..newest });
        let path = "?timing=late&amp;q=ann&amp;flagged=true&amp;sort=newest\">";
        assert!(searched.contains(path) && !searched.contains("<b>"), "a search is not counted: {searched}");
    }
}
