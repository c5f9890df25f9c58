//! Panel of the next hours: beds to clear, spools to change and orders due today, beside the tasks. Rendered once for
//! all viewers, after each forecast, from data in memory. The number and height of its lines never change, so that
//! nothing moves when their contents do.

use maud::{Markup, html};

use crate::frame::{NEXT_SLOT, SLOT, THIRD_SLOT, with_parts};
use crate::staff::board::BoardHandles;
use crate::staff::card_print::printer_path;
use crate::staff::floor_group::FloorGroup;
use crate::staff::shell::time_of_day;
use crate::staff::stock::slot_form_path;
use crate::staff::timing::timing_path;
use crate::staff::{FLOOR_PATH, ORDERS_PATH, STOCK_PATH};
use domain::forecast::{Forecast, OrderAhead, end_of_next_hours};
use domain::order::Order;
use domain::printer::Printer;
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use domain::timing::Timing;
use http_api::production::printers::present_all;
use words::Language;
use words::staff::to_do;

/// ID of the HTML element with the panel.
pub(in crate::staff) const NEXT_HOURS_ID: &str = "next-hours";
/// Maximum number of printers, spools or orders that are named; the others are counted. They fit into the three lines
/// of text that the style allows for each, so that no link is cut off.
const MAX_NAMED: usize = 2;
/// Length of a minute, in milliseconds. From one forecast to the next, expected times change by less than this.
const MINUTE_MS: i64 = 60_000;

/// Line of the panel.
struct AheadLine {
    label: Markup,
    count: usize,
    /// Page that lists the counted records.
    path: String,
    /// Markup after the number.
    note: Option<Markup>,
    /// First few of the counted records.
    named: Vec<Markup>,
    /// Text shown if there are none.
    nothing: String,
}

impl AheadLine {
    fn html(&self, language: Language) -> Markup {
        let others = self.count.saturating_sub(self.named.len());
        html! {
            li {
                span { (self.label) }
                b class="num" {
                    @if self.count > 0 { a href=(self.path) { (self.count) } } @else { (self.count) }
                    @if let Some(note) = &self.note { ", " (note) }
                }
                p class="small muted" {
                    @if self.named.is_empty() { (self.nothing) }
                    @for (n, name) in self.named.iter().enumerate() { @if n > 0 { ", " } (name) }
                    @if others > 0 && !self.named.is_empty() { " " (to_do::further(language, others)) }
                }
            }
        }
    }
}

/// Renders the panel.
pub(in crate::staff) fn next_hours(language: Language, app: &BoardHandles, forecast: &Forecast) -> Markup {
    let environment = &app.shop.environment;
    let (now, clock) = (environment.now(), &environment.rules.clock);
    let until = end_of_next_hours(clock, now);
    let all = present_all(&app.shop);
    let printers: Vec<&Printer> = all.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let resident = app.orders.all_resident();
    let orders: Vec<&Order> = resident.iter().filter_map(|(_, versioned)| versioned.state.as_ref()).collect();
    let lines = [
        beds(language, forecast, &printers, (clock, until)),
        spools(language, app, (forecast, orders.as_slice()), &printers, until),
        due(language, &orders, &forecast.orders_ahead(orders.iter().copied(), clock, now)),
    ];
    panel(language, &lines)
}

fn panel(language: Language, lines: &[AheadLine]) -> Markup {
    html! {
        section id=(NEXT_HOURS_ID) class="panel pad ahead" aria-labelledby="next-hours-title" {
            h2 id="next-hours-title" { (to_do::next_hours(language)) }
            ul { @for line in lines { (line.html(language)) } }
        }
    }
}

/// Returns the minute of an expected time.
fn minute(at: Timestamp) -> Timestamp {
    Timestamp(at.0.div_euclid(MINUTE_MS) * MINUTE_MS)
}

/// Counts the beds to clear, and names the printers whose prints end first.
fn beds(
    language: Language,
    forecast: &Forecast,
    printers: &[&Printer],
    (clock, until): (&ShopClock, Timestamp),
) -> AheadLine {
    let beds = forecast.beds_ahead(printers, until);
    let named = beds.iter().take(MAX_NAMED).filter_map(|bed| {
        let printer = printers.iter().find(|printer| printer.id == bed.printer)?;
        Some(html! {
            a href=(printer_path(printer.id)) { (printer.fields.name) } " " (time_of_day(language, minute(bed.at)))
        })
    });
    AheadLine {
        label: beds_label(language, clock, until),
        count: beds.len(),
        path: format!("{FLOOR_PATH}?state={}", FloorGroup::Printing.word()),
        note: None,
        named: named.collect(),
        nothing: to_do::no_beds(language),
    }
}

/// Renders until when beds are counted. The end of the shop's day is not called 00:00 of the next one.
fn beds_label(language: Language, clock: &ShopClock, until: Timestamp) -> Markup {
    if clock.day_start_before(until, 0) == until {
        return html! { (to_do::beds_until_midnight(language)) };
    }
    with_parts(&to_do::beds_until(language, SLOT), &[&time_of_day(language, until)])
}

/// Counts the spools to change, and names the first of them.
fn spools(
    language: Language,
    app: &BoardHandles,
    (forecast, orders): (&Forecast, &[&Order]),
    printers: &[&Printer],
    until: Timestamp,
) -> AheadLine {
    let spools = forecast.spools_ahead(printers, orders, until);
    let named = spools.iter().take(MAX_NAMED).filter_map(|spool| {
        let printer = printers.iter().find(|printer| printer.id == spool.printer)?;
        let material = app.shop.materials.resident(spool.material)?.read();
        let material = material.state.as_ref()?;
        let material = html! { a href=(slot_form_path(printer, material.id)) { (material.fields.name) } };
        let (name, at) = (html! { (printer.fields.name) }, time_of_day(language, minute(spool.at)));
        let sentence = to_do::spool_by(language, SLOT, NEXT_SLOT, THIRD_SLOT);
        Some(with_parts(&sentence, &[&material, &name, &at]))
    });
    AheadLine {
        label: html! { (to_do::spools_to_change(language)) },
        count: spools.len(),
        path: STOCK_PATH.to_owned(),
        note: None,
        named: named.collect(),
        nothing: to_do::no_spools(language),
    }
}

/// Counts the orders due today and how many of these will be late, and names the first of the late ones.
fn due(language: Language, orders: &[&Order], ahead: &[OrderAhead]) -> AheadLine {
    let late = ahead.iter().filter(|one| one.is_late).count();
    let named = ahead.iter().take(MAX_NAMED).filter_map(|one| {
        let order = orders.iter().find(|order| order.id == one.order)?;
        Some(html! {
            a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } " " (time_of_day(language, one.deadline))
        })
    });
    let note = html! { a href=(timing_path(Timing::Late)) { (to_do::late_among(language, late)) } };
    AheadLine {
        label: html! { (to_do::orders_today(language)) },
        count: ahead.len(),
        path: ORDERS_PATH.to_owned(),
        note: (late > 0).then_some(note),
        named: named.collect(),
        nothing: to_do::no_orders(language),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::Id;
    use domain::testing::orders::pair;

    fn line(count: usize, named: Vec<Markup>) -> AheadLine {
        AheadLine {
            label: html! { (to_do::orders_today(Language::English)) },
            count,
            path: ORDERS_PATH.to_owned(),
            note: None,
            named,
            nothing: to_do::no_orders(Language::English),
        }
    }

    #[test]
    fn a_line_has_its_number_as_a_link_and_names_the_first_few() {
        let named = ["Ada", "Curie"].map(|name| html! { (name) }).to_vec();
        let many = line(5, named).html(Language::English).into_string();
        for text in ["<a href=\"/shop/orders\">5</a>", ">Ada, Curie and 3 more</p>"] {
            assert!(many.contains(text), "{text} in {many}");
        }
        let none = line(0, Vec::new()).html(Language::English).into_string();
        assert!(none.contains(">0</b>") && none.contains(">No order is due today.</p>"), "{none}");
        assert!(!none.contains("<a "), "{none}");
    }

    #[test]
    fn orders_due_today_say_how_many_of_them_are_late() {
        let ahead = |is_late| OrderAhead { order: Id::ONLY, deadline: Timestamp(0), is_late };
        let words = |ahead: &[OrderAhead]| due(Language::English, &[], ahead).html(Language::English).into_string();
        let late = words(&[ahead(true), ahead(false)]);
        assert!(late.contains(">2</a>, <a href=\"/shop/orders?timing=late\">1 of them late</a></b>"), "{late}");
        assert!(!words(&[ahead(false)]).contains("late"), "{}", words(&[ahead(false)]));
    }

    #[test]
    fn two_of_many_are_named() {
        let (desk, _) = pair();
        let ahead = OrderAhead { order: desk.o().id, deadline: Timestamp(0), is_late: false };
        let html = due(Language::English, &[desk.o()], &[ahead; 3]).html(Language::English).into_string();
        assert_eq!(html.matches("href=\"/shop/orders/").count(), 2, "{html}");
        assert!(html.contains(" and 1 more</p>"), "{html}");
    }

    #[test]
    fn the_end_of_the_day_is_midnight() {
        let clock = ShopClock::parse("CET-1CEST,M3.5.0,M10.5.0/3").unwrap_or_default();
        // 2026-11-28T23:00:00Z, when Sunday begins in Berlin.
        let midnight = Timestamp(1_795_906_800_000);
        let label = |language: Language, until: Timestamp| beds_label(language, &clock, until).into_string();
        assert_eq!(label(Language::English, midnight), "Beds to clear by midnight");
        assert_eq!(label(Language::German, midnight), "Abzuräumende Druckbetten bis Mitternacht");
        let before = label(Language::English, midnight.plus_ms(-60 * MINUTE_MS));
        assert_eq!(before, "Beds to clear by <shop-time near 1795903200000>");
    }

    #[test]
    fn times_are_told_to_the_minute() {
        assert_eq!(minute(Timestamp(119_999)), Timestamp(60_000));
    }
}
