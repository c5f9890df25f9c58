//! Totals of the floor, which all pages for the staff show. They are rendered once for all viewers, in each language.

use maud::{Markup, html};

use super::board::BoardHandles;
use super::card::CardState;
use super::card_gauge::percent;
use super::floor_group::FloorGroup;
use crate::frame::{SLOT, with_parts};
use crate::times::{TimeForm, mark_in};
use domain::notation;
use domain::printer::Printer;
use domain::time::Timestamp;
use http_api::production::dashboard::free_at;
use words::Language;
use words::staff::shell;

/// ID of the element with the totals.
pub(super) const SUMMARY_ID: &str = "summary";
/// Step, in percent, in which the progress of the most advanced print is shown in the tab title, so that the title does
/// not change constantly.
const TITLE_STEP: u32 = 5;
/// Minute to which the time of the next free printer is rounded down, in milliseconds.
const MINUTE_MS: i64 = 60_000;

/// Numbers of printers by activity, and the time at which the next one becomes free.
pub(super) struct FloorTotals {
    printing: usize,
    ready: usize,
    troubled: usize,
    offline: usize,
    /// Number of open tasks, which the script shows in the navigation; `None` if they have not been counted yet.
    tasks: Option<u64>,
    /// Progress of the most advanced print, in steps of [`TITLE_STEP`] percent.
    furthest: Option<u32>,
    /// Time, in the future, at which the next printer is free.
    next_free_at: Option<Timestamp>,
}

impl FloorTotals {
    /// Counts the printers, each with its state.
    pub(super) fn of(app: &BoardHandles, all: &[(CardState, &Printer)], tasks: Option<u64>, now: Timestamp) -> Self {
        let count = |group: FloorGroup| all.iter().filter(|(state, _)| state.group == group).count();
        let furthest = all.iter().filter_map(|(_, printer)| percent(app, printer)).max();
        let next = all.iter().filter_map(|(_, printer)| free_at(printer, &app.shop.printer_connections, now)).min();
        Self {
            printing: count(FloorGroup::Printing),
            ready: count(FloorGroup::Ready),
            troubled: count(FloorGroup::NeedsYou),
            offline: count(FloorGroup::Offline),
            tasks,
            furthest: furthest.map(|most| most / TITLE_STEP * TITLE_STEP),
            next_free_at: next.filter(|at| *at > now),
        }
    }

    /// Renders the totals. On a phone they are shorter and stand on one line, which scrolls, by the keyboard too.
    pub(super) fn render(&self, language: Language) -> Markup {
        let furthest =
            self.furthest.map(|most| format!(", {}", notation::percentage(language, most))).unwrap_or_default();
        let troubles = if self.troubled > 0 { format!("{}! ", self.troubled) } else { String::new() };
        let title = format!("{troubles}{}{furthest}", shell::count_printing(language, &self.printing.to_string()));
        let number = |message: &str, count: usize| with_parts(message, &[&html! { b { (count) } }]);
        let counted = |message: fn(Language, &str) -> String, count: usize| number(&message(language, SLOT), count);
        let (printing, troubled) = (self.printing, self.troubled);
        // A phone has no room for what is zero.
        let class = |count: usize, class: &'static str| if count > 0 { class } else { "hide-s" };
        html! {
            section id=(SUMMARY_ID) class="summary" tabindex="0" aria-label=(shell::floor_summary(language))
                data-title=(title) data-troubled=(troubled) data-tasks=[self.tasks] {
                span {
                    span class="hide-s" { (number(&shell::printers_printing(language, printing, SLOT), printing)) }
                    span class="only-s" { (counted(shell::count_printing, printing)) }
                }
                span { (counted(shell::count_ready, self.ready)) }
                span class=(class(troubled, "warn")) { (counted(shell::count_needing_attention, troubled)) }
                span class=(class(self.offline, "bad")) { (counted(shell::count_offline, self.offline)) }
                @if let Some(at) = self.next_free_at {
                    @let time = mark_in(language, TimeForm::TimeOfDay, Timestamp(at.0 / MINUTE_MS * MINUTE_MS));
                    span { (with_parts(&shell::next_free(language, SLOT), &[&time])) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_in_each_language() {
        let at = Some(Timestamp(1_795_884_005_000));
        let totals = FloorTotals {
            printing: 12,
            ready: 3,
            troubled: 1,
            offline: 0,
            tasks: None,
            furthest: Some(45),
            next_free_at: at,
        };
        let [english, german] = Language::ALL.map(|language| totals.render(language).0);
        let begin = "<section id=\"summary\" class=\"summary\" tabindex=\"0\" aria-label=\"Floor summary\" \
                     data-title=\"1! 12 printing, 45%\" data-troubled=\"1\"><span>\
                     <span class=\"hide-s\"><b>12</b> printers printing</span>\
                     <span class=\"only-s\"><b>12</b> printing</span></span><span><b>3</b> ready</span>\
                     <span class=\"warn\"><b>1</b> needing attention</span>\
                     <span class=\"hide-s\"><b>0</b> offline</span>\
                     <span>Next free <shop-time near 1795884000000></span></section>";
        assert_eq!(english, begin);
        for part in [
            "data-title=\"1! 12 im Druck, 45\u{a0}%\"",
            "<b>12</b> Drucker im Druck",
            "<span class=\"warn\"><b>1</b> mit Handlungsbedarf</span>",
            "<b>3</b> bereit",
            "Als Nächster frei: <shop-time near 1795884000000 de>",
        ] {
            assert!(german.contains(part), "{part} in {german}");
        }
        let one = FloorTotals { printing: 1, ..totals }.render(Language::English).0;
        assert!(one.contains("<b>1</b> printer printing</span>"), "{one}");
        let counted = FloorTotals { tasks: Some(4), ..totals }.render(Language::English).0;
        assert!(counted.contains(" data-troubled=\"1\" data-tasks=\"4\">"), "{counted}");
    }
}
