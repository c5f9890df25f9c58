//! Current view of the floor, rendered once for all viewers. It consists of a summary and a part for each printer,
//! which contains smaller parts for its state and its fast-changing values. Each part has the version in which it last
//! changed.
//!
//! Everything is read from memory; neither the database nor a printer is queried. No matter how many pages are open,
//! the parts are rendered at most once per [`LOOK_EVERY`] in each language, and only in languages in which they are
//! being viewed: the summary is on all pages and is short, unlike the parts of the printers.

mod cache;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use maud::PreEscaped;

use self::cache::{BoardCache, FloorOutlook};
use super::card::CardState;
use super::floor_group::FloorGroup;
use super::floor_next::UP_NEXT_ID;
use super::floor_totals::{FloorTotals, SUMMARY_ID};
use super::task_counter::TaskCounter;
use super::to_do::NEXT_HOURS_ID;
use super::{card, card_gauge};
use actors::dispatcher::Dispatcher;
use actors::forecaster::Forecaster;
use actors::mails::MailMeter;
use domain::id::Id;
use domain::order::Order;
use domain::printer::Printer;
use domain::time::Timestamp;
use http::handles::handles;
use http_api::production::printers::{PrinterHandles, present_all};
use kernel::directory::Directory;
use words::Language;

/// Minimum time between two renderings of the floor.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(400);
/// Number of renderings between two updates of a printer's gauge. The updates are staggered across printers, so that a
/// page with many printers receives a steady trickle instead of bursts.
const GAUGE_TURNS: u64 = 10;
/// Placeholder for the gauge in a printer's part. Text entered by users cannot contain it, because such text is
/// escaped.
pub(super) const GAUGE_MARK: PreEscaped<&str> = PreEscaped("<gauge>");
/// Placeholder for the state in a printer's part.
pub(super) const STATE_MARK: PreEscaped<&str> = PreEscaped("<state>");
/// Placeholder for the next job in a printer's part.
pub(super) const NEXT_MARK: PreEscaped<&str> = PreEscaped("<next>");

handles! {
    /// Dependencies of the floor's cached view.
    pub(crate) struct BoardHandles {
        shop: PrinterHandles,
        orders: Directory<Order>,
        forecaster: Forecaster,
        dispatcher: Dispatcher,
        mail_meter: Arc<MailMeter>,
        board: Arc<BoardCache>,
        tasks: Arc<TaskCounter>,
    }
}

impl BoardHandles {
    /// Returns the view of the floor, rendered at most [`LOOK_EVERY`] ago. Only its summaries are sure to be current.
    pub(super) fn view(&self) -> Arc<BoardView> {
        self.view_for(None)
    }

    /// Records the number of open tasks that was just counted, for the next view.
    pub(super) fn record_tasks(&self, tasks: u64) {
        if self.tasks.record(tasks) {
            self.board.expire();
        }
    }

    /// Returns the view of the floor as [`Self::view`] does, with the current parts of the printers in a language.
    pub(super) fn view_in(&self, language: Language) -> Arc<BoardView> {
        self.view_for(Some(language))
    }

    fn view_for(&self, language: Option<Language>) -> Arc<BoardView> {
        let outlook = |language| self.board.outlook(self, language);
        self.board.view(language, outlook, |last, turn, outlooks| render(self, last, turn, outlooks))
    }

    /// Returns the number of commits of the stock. They are seldom among the shop's events.
    pub(super) fn stock_commits(&self) -> i64 {
        let materials = self.shop.materials.all_resident();
        materials.iter().map(|(_, versioned)| versioned.version).fold(0, i64::wrapping_add)
    }
}

/// HTML fragment whose outermost element has the part's ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BoardPart {
    /// ID of the part's element on the page.
    pub(super) id: String,
    /// Version in which the part last changed.
    pub(super) version: i64,
    /// HTML common to all viewers. CSRF tokens and, in a card, the state and gauge are inserted later.
    pub(super) html: String,
}

/// Rendered parts for one printer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PrinterParts {
    /// Printer's card, without the smaller parts.
    pub(super) card: BoardPart,
    /// Printer's state, which is also shown on pages other than the floor.
    pub(super) state: BoardPart,
    /// Progress, times and temperatures of the printer.
    pub(super) gauge: BoardPart,
    /// Next job on the printer, or the number of jobs that wait for it.
    pub(super) next: BoardPart,
}

impl PrinterParts {
    /// Returns the complete card, including its smaller parts.
    pub(super) fn whole(&self) -> String {
        let parts = [(STATE_MARK, &self.state), (GAUGE_MARK, &self.gauge), (NEXT_MARK, &self.next)];
        parts.into_iter().fold(self.card.html.clone(), |html, (mark, part)| html.replace(mark.0, &part.html))
    }
}

/// Rendered parts of the printers in one language.
#[derive(Clone, Debug, Default)]
pub(super) struct LanguageParts {
    /// Version of the view in which the parts were last rendered. Until they are rendered again, they are as of then.
    rendered_at: i64,
    /// Rendered parts, by printer.
    pub(super) printers: BTreeMap<Id, Arc<PrinterParts>>,
    /// Printer that will be the next to be free for a job.
    pub(super) next_free: BoardPart,
    /// First few jobs that wait for a printer.
    pub(super) up_next: BoardPart,
    /// Beds to clear, spools to change and orders to finish in the next hours.
    pub(super) next_hours: BoardPart,
}

/// View of the floor at a given version.
#[derive(Clone, Debug, Default)]
pub(super) struct BoardView {
    /// Highest version among the parts. It keeps increasing across restarts of the server.
    pub(super) version: i64,
    /// Printers and their groups in display order: problems first.
    pub(super) order: Vec<(FloorGroup, Id)>,
    /// Version in which the display order or a printer's group last changed.
    pub(super) order_version: i64,
    /// Parts of the printers, in each language.
    parts: Vec<(Language, Arc<LanguageParts>)>,
    /// Totals for the entire floor, in each language.
    summaries: Vec<(Language, BoardPart)>,
    /// Number of printers that need an operator.
    pub(super) troubled: usize,
    /// Number of open tasks; `None` if they have not been counted yet.
    pub(super) tasks: Option<u64>,
    /// Number of commits that seldom or never appear among the shop's events: commits to materials, and commits that
    /// change which emails are undelivered.
    pub(super) quiet_commits: i64,
}

impl BoardView {
    /// Returns the totals for the entire floor in a language.
    pub(super) fn summary(&self, language: Language) -> &str {
        self.summary_part(language).map_or("", |part| &part.html)
    }

    /// Returns the part with the totals in a language.
    pub(super) fn summary_part(&self, language: Language) -> Option<&BoardPart> {
        self.summaries.iter().find(|(one, _)| *one == language).map(|(_, part)| part)
    }

    /// Returns the parts of the printers in a language. They are current only in a view of
    /// [`BoardHandles::view_in`] with this language.
    pub(super) fn parts(&self, language: Language) -> Arc<LanguageParts> {
        self.parts.iter().find(|(one, _)| *one == language).map(|(_, parts)| parts.clone()).unwrap_or_default()
    }

    /// Returns whether the parts of the printers in a language were rendered with this view.
    fn has_current_parts(&self, language: Language) -> bool {
        self.version > 0 && self.parts(language).rendered_at == self.version
    }
}

/// Returns the part unchanged if its HTML is the same; otherwise, returns a part with the new HTML and version.
fn renewed(part: &BoardPart, id: String, html: String, version: i64) -> BoardPart {
    if part.version > 0 && part.html == html { part.clone() } else { BoardPart { id, version, html } }
}

/// Printers to render, and the version of the view that they are rendered for.
struct BoardRendering<'a> {
    app: &'a BoardHandles,
    now: Timestamp,
    turn: u64,
    version: i64,
    /// Version of the last view.
    last_version: i64,
    /// Printers and their states in display order.
    printers: Vec<(CardState, &'a Printer)>,
}

impl BoardRendering<'_> {
    /// Renders the parts of all printers in a language. Gauges are staggered only if the last view had all of them.
    fn parts(&self, language: Language, previous: &LanguageParts, outlook: &FloorOutlook) -> LanguageParts {
        let is_behind = previous.rendered_at != self.last_version;
        let mut printers = BTreeMap::new();
        for (n, (state, printer)) in (0u64..).zip(&self.printers) {
            let is_due = is_behind || n.wrapping_add(self.turn).is_multiple_of(GAUGE_TURNS);
            let parts = self.printer(language, (*state, *printer), previous.printers.get(&printer.id), is_due);
            printers.insert(printer.id, parts);
        }
        let next_free = card::next_free(language, self.app, &self.printers, self.now).into_string();
        let next_free = renewed(&previous.next_free, card::NEXT_FREE_ID.to_owned(), next_free, self.version);
        let up_next = outlook.up_next.clone();
        let up_next = renewed(&previous.up_next, UP_NEXT_ID.to_owned(), up_next, self.version);
        let next_hours = outlook.next_hours.clone();
        let next_hours = renewed(&previous.next_hours, NEXT_HOURS_ID.to_owned(), next_hours, self.version);
        LanguageParts { rendered_at: self.version, printers, next_free, up_next, next_hours }
    }

    /// Renders those parts of a printer that may have changed. The gauge and the next job are rendered if `is_due`, or
    /// if the card or the state has changed, so that all parts of a card are consistent.
    fn printer(
        &self,
        language: Language,
        (current, printer): (CardState, &Printer),
        previous: Option<&Arc<PrinterParts>>,
        is_due: bool,
    ) -> Arc<PrinterParts> {
        let (app, version) = (self.app, self.version);
        let none = PrinterParts::default();
        let before = previous.map_or(&none, |parts| &**parts);
        let html = card::card(language, app, printer, current).into_string();
        let card = renewed(&before.card, card::card_id(printer.id), html, version);
        let state = current.part(language, printer.id).into_string();
        let state = renewed(&before.state, card::state_id(printer.id), state, version);
        let (gauge, next) = if is_due || card.version == version || state.version == version {
            let gauge = card_gauge::gauge(language, app, printer).into_string();
            let next = card_gauge::next(language, app, printer, current.group).into_string();
            (
                renewed(&before.gauge, card::gauge_id(printer.id), gauge, version),
                renewed(&before.next, card::next_id(printer.id), next, version),
            )
        } else {
            (before.gauge.clone(), before.next.clone())
        };
        let parts = PrinterParts { card, state, gauge, next };
        previous.filter(|previous| ***previous == parts).cloned().unwrap_or_else(|| Arc::new(parts))
    }
}

/// Renders the floor; the parts of the printers only in the languages of `outlooks`. In the others they stay as they
/// were.
fn render(app: &BoardHandles, last: &BoardView, turn: u64, outlooks: &[(Language, Arc<FloorOutlook>)]) -> BoardView {
    let now = app.shop.environment.now();
    // Greater than any version before a restart: a version lasts longer than a millisecond.
    let version = if last.version == 0 { now.0.max(1) } else { last.version + 1 };
    let all = present_all(&app.shop);
    let all = all.iter().filter_map(|versioned| versioned.state.as_ref());
    let mut printers: Vec<(CardState, &Printer)> =
        all.map(|printer| (CardState::of(&app.shop, printer), printer)).collect();
    printers.sort_by_cached_key(|(state, printer)| state.rank(printer));
    let order: Vec<(FloorGroup, Id)> = printers.iter().map(|(state, printer)| (state.group, printer.id)).collect();
    let troubled = order.iter().filter(|(group, _)| *group == FloorGroup::NeedsYou).count();
    let tasks = app.tasks.latest();
    let totals = FloorTotals::of(app, &printers, tasks, now);
    let summaries = Language::ALL.into_iter().map(|language| {
        let previous = last.summary_part(language).cloned().unwrap_or_default();
        (language, renewed(&previous, SUMMARY_ID.to_owned(), totals.render(language).into_string(), version))
    });
    let summaries = summaries.collect();
    let rendering = BoardRendering { app, now, turn, version, last_version: last.version, printers };
    let parts = Language::ALL.into_iter().map(|language| {
        let previous = last.parts(language);
        let outlook = outlooks.iter().find(|(one, _)| *one == language);
        let parts = outlook.map(|(_, outlook)| Arc::new(rendering.parts(language, &previous, outlook)));
        (language, parts.unwrap_or(previous))
    });
    let parts = parts.collect();
    let order_version = if order == last.order && last.version > 0 { last.order_version } else { version };
    let quiet_commits = app.stock_commits().wrapping_add(app.mail_meter.undelivered_commits());
    BoardView { version, order, order_version, parts, summaries, troubled, tasks, quiet_commits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_current_only_in_the_view_with_which_they_were_rendered() {
        let german = LanguageParts { rendered_at: 7, ..LanguageParts::default() };
        let parts = vec![(Language::German, Arc::new(german))];
        let view = |version| BoardView { version, parts: parts.clone(), ..BoardView::default() };
        assert!(view(7).has_current_parts(Language::German) && !view(8).has_current_parts(Language::German));
        assert!(!view(7).has_current_parts(Language::English));
        assert!(!BoardView::default().has_current_parts(Language::English), "nothing has been rendered");
    }

    #[test]
    fn a_part_gets_a_new_version_only_if_it_changes() {
        let part = renewed(&BoardPart::default(), "state-1".to_owned(), "Ready".to_owned(), 5);
        assert_eq!(part, BoardPart { id: "state-1".to_owned(), version: 5, html: "Ready".to_owned() });
        assert_eq!(renewed(&part, part.id.clone(), "Ready".to_owned(), 6), part);
        assert_eq!(renewed(&part, part.id.clone(), "Printing".to_owned(), 6).version, 6);
    }
}
