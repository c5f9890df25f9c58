//! Orders to pack, to review, or to be paid.

use maud::html;

use super::{ROWS_PER_KIND, TaskKind, TaskRow, ToDoHandles, customer, longest_waiting};
use crate::design::Icon;
use crate::staff::ORDERS_PATH;
use crate::staff::orders::flag_words;
use domain::order::Order;
use http::error::ApiError;
use store::queries::OrderFilter;
use words::Language;
use words::staff::to_do;

/// Lists the orders that match the filter, longest-waiting first.
pub(super) async fn orders(
    language: Language,
    app: &ToDoHandles,
    filter: &OrderFilter,
    id: &'static str,
    title: fn(Language) -> String,
) -> Result<TaskKind, ApiError> {
    let (mut some, total) = app.jobs.queries.orders(filter, longest_waiting(0)).await?;
    if total > ROWS_PER_KIND {
        (some, _) = app.jobs.queries.orders(filter, longest_waiting(total)).await?;
    }
    let mut some: Vec<&Order> = some.iter().filter_map(|order| order.state.as_ref()).collect();
    some.sort_by_key(|order| (order.updated_at, order.id));
    let rows = some.iter().map(|order| {
        let title = html! { b { a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } } };
        let detail = html! {
            (customer(language, order))
            @for flag in &order.flags { " · " (flag_words(language, flag)) }
        };
        let label = to_do::open_order(language, &order.number_text());
        let acts = html! {
            a class="btn primary" href={ (ORDERS_PATH) "/" (order.id) } aria-label=(label) { (to_do::open(language)) }
        };
        let row = TaskRow::new(Icon::PackageCheck, title).since(language, order.updated_at).acts(acts);
        if order.flags.is_empty() { row.facts(detail) } else { row.detail(detail) }
    });
    let rows = rows.collect();
    Ok(TaskKind { total, ..TaskKind::new(language, id, title, rows) })
}
