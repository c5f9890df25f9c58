//! Orders that will not be ready in time.

use maud::html;

use super::row::TaskRow;
use super::{ROWS_PER_KIND, TaskKind, ToDoHandles, customer};
use crate::design::Icon;
use crate::staff::ORDERS_PATH;
use crate::staff::timing::{timing_path, timing_words};
use domain::order::Order;
use domain::time::Timestamp;
use domain::timing::Timing;
use http_api::production::orders::OrderOutlook;
use words::Language;
use words::staff::to_do;

/// Lists the late orders, earliest deadline first.
pub(super) fn late(language: Language, app: &ToDoHandles) -> TaskKind {
    let (all, forecast) = (app.board.orders.all_resident(), app.board.forecaster.latest());
    let now = app.board.shop.environment.now();
    let expected_at = |order: &Order| forecast.orders.get(&order.id).copied();
    let is_late = |order: &&Order| order.timing(expected_at(order), now) == Some(Timing::Late);
    let deadline = |order: &Order| order.deadline().unwrap_or(Timestamp(i64::MAX));
    let mut orders: Vec<&Order> = all.iter().filter_map(|(_, state)| state.state.as_ref()).filter(is_late).collect();
    orders.sort_by_key(|order| (deadline(order), order.id));
    let total = orders.len() as u64;
    let rows = orders.iter().take(ROWS_PER_KIND as usize).map(|order| {
        let outlook = OrderOutlook { expected_at: expected_at(order), timing: Some(Timing::Late) };
        let title = html! { b { a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } } };
        let detail = html! {
            (customer(language, order)) " · "
            (timing_words(language, order, outlook))
        };
        TaskRow::new(Icon::Clock, title).detail(detail)
    });
    let below = html! {
        div class="choice" {
            a href=(timing_path(Timing::Late)) { (to_do::late_orders(language, total)) }
        }
    };
    TaskKind { total, below: Some(below), ..TaskKind::new(language, "late", to_do::kind_late, rows.collect()) }
}
