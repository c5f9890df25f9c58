//! Orders that will not be ready on time, followed by those at risk, each with the reason and a remedy.

use std::cmp::Reverse;

use maud::{Markup, html};

use super::row::{TaskDetail, TaskRow};
use super::{ROWS_PER_KIND, TaskKind, ToDoHandles, customer};
use crate::design::{Icon, chip};
use crate::staff::remedy::{recovery_words, remedy_act};
use crate::staff::timing::{timing_path, timing_state, timing_words};
use crate::staff::{ORDERS_PATH, TO_DO_PATH};
use domain::forecast::last_job;
use domain::order::Order;
use domain::time::Timestamp;
use domain::timing::Timing;
use http_api::production::orders::OrderOutlook;
use words::Language;
use words::staff::{timing, to_do};

/// Lists the late orders and then those at risk, earliest deadline first.
pub(super) fn late(language: Language, app: &ToDoHandles, detail: TaskDetail) -> TaskKind {
    let reasons = app.delays.at_present();
    let (all, forecast) = (app.board.orders.all_resident(), app.board.forecaster.latest());
    let now = app.board.shop.environment.now();
    let expected_at = |order: &Order| forecast.orders.get(&order.id).copied();
    let urgent_orders = all.iter().filter_map(|(_, state)| {
        let order = state.state.as_ref()?;
        let timing = order.timing(expected_at(order), now)?;
        (timing != Timing::OnTime).then_some((timing, order.deadline()?, order))
    });
    let mut urgent_orders: Vec<(Timing, Timestamp, &Order)> = urgent_orders.collect();
    urgent_orders.sort_by_key(|(timing, deadline, order)| (Reverse(*timing), *deadline, order.id));
    let total = urgent_orders.len();
    let late = urgent_orders.iter().filter(|(timing, ..)| *timing == Timing::Late).count();
    let first_orders = urgent_orders.iter().take(ROWS_PER_KIND as usize);
    let rows = detail.rows(first_orders, |(_, _, order)| {
        let file = last_job(order, &forecast).and_then(|job| job.file_id);
        let reason = reasons.of(language, order);
        row(language, app, order, &OrderOutlook::of(order, &forecast, now), reason).picture(file)
    });
    let title = if late == total { to_do::kind_late } else { timing::kind_late_or_at_risk };
    let kind = TaskKind::new(language, "late", title, rows);
    TaskKind { total: total as u64, below: Some(lists(language, late, total - late)), ..kind }
}

/// Renders an order with the reason why it is late or at risk, and the act that would get it ready on time.
fn row(
    language: Language,
    app: &ToDoHandles,
    order: &Order,
    outlook: &OrderOutlook,
    reason: Option<Markup>,
) -> TaskRow {
    let recovery = outlook.recovery.as_deref();
    let at_risk = outlook.timing.filter(|timing| *timing == Timing::AtRisk);
    let title = html! {
        b { a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } }
        @if let Some((tone, label)) = at_risk.map(|timing| timing_state(language, timing)) { " " (chip(tone, &label)) }
    };
    let detail = html! {
        (customer(language, order)) " · "
        (timing_words(language, order, outlook))
        @if let Some(reason) = reason { div { (reason) } }
        @if let Some(recovery) = recovery { div { (recovery_words(language, recovery)) } }
    };
    let acts = recovery.map(|recovery| remedy_act(language, &app.board.shop, order, recovery, TO_DO_PATH));
    TaskRow::new(Icon::Clock, title).detail(detail).acts(acts.unwrap_or_default())
}

/// Renders links to the lists of late orders and of those at risk.
fn lists(language: Language, late: usize, at_risk: usize) -> Markup {
    html! {
        div class="choice" {
            @if late > 0 { a href=(timing_path(Timing::Late)) { (to_do::late_orders(language, late as u64)) } }
            @if at_risk > 0 { a href=(timing_path(Timing::AtRisk)) { (timing::orders_at_risk(language, at_risk)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_rendered_only_if_they_are_needed() {
        let mut orders = Vec::new();
        let mut row = |order: u32| {
            orders.push(order);
            TaskRow::new(Icon::Clock, html! { (order) })
        };
        assert!(TaskDetail::Number.rows([1, 2].into_iter(), &mut row).is_empty());
        assert_eq!(TaskDetail::Rows.rows([3, 4].into_iter(), &mut row).len(), 2);
        assert_eq!(orders, [3, 4]);
    }

    #[test]
    fn only_lists_with_orders_are_linked() {
        let html = |late, at_risk| lists(Language::English, late, at_risk).into_string();
        assert!(html(1, 0).contains(">View 1 late order</a>") && !html(1, 0).contains("at_risk"), "{}", html(1, 0));
        assert!(html(0, 2).contains("?timing=at_risk\">View 2 orders at risk</a>"), "{}", html(0, 2));
        assert!(!html(0, 2).contains("timing=late"), "{}", html(0, 2));
    }
}
