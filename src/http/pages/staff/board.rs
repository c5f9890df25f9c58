//! Current view of the floor, rendered once for all viewers. It consists of a summary and a part for each printer,
//! which contains smaller parts for its state and its fast-changing values. Each part has the version in which it last
//! changed.
//!
//! Everything is read from memory; neither the database nor a printer is queried. No matter how many pages are open,
//! the parts are rendered at most once per [`LOOK_EVERY`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use maud::PreEscaped;

use super::floor_group::FloorGroup;
use super::floor_totals::FloorTotals;
use super::{card, card_gauge};
use actors::app::App;
use actors::forecaster::Forecaster;
use config::Config;
use domain::id::Id;
use domain::order::Order;
use domain::printer::Printer;
use http::handles::handles;
use http::resource_state::ResourceState;
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
        board: Arc<BoardCache>,
    }
}

impl BoardHandles {
    /// Returns the view of the floor, rendered at most [`LOOK_EVERY`] ago.
    pub(super) fn view(&self) -> Arc<BoardView> {
        self.board.view(self)
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

/// View of the floor at a given version.
#[derive(Clone, Debug, Default)]
pub(super) struct BoardView {
    /// Highest version among the parts. It keeps increasing across restarts of the server.
    pub(super) version: i64,
    /// Printers and their groups in display order: problems first.
    pub(super) order: Vec<(FloorGroup, Id)>,
    /// Version in which the display order or a printer's group last changed.
    pub(super) order_version: i64,
    /// Rendered parts, by printer.
    pub(super) printers: BTreeMap<Id, Arc<PrinterParts>>,
    /// Totals for the entire floor, in each language.
    pub(super) summaries: Vec<(Language, BoardPart)>,
    /// Printer that will be the next to be free for a job.
    pub(super) next_free: BoardPart,
    /// Number of printers that need an operator.
    pub(super) troubled: usize,
    /// Total number of material commits, few of which appear among the shop's events.
    pub(super) stock_commits: i64,
}

impl BoardView {
    /// Returns the totals for the entire floor in a language.
    pub(super) fn summary(&self, language: Language) -> &str {
        self.summaries.iter().find(|(one, _)| *one == language).map_or("", |(_, part)| &part.html)
    }
}

/// Last rendering and the time at which it was made.
#[derive(Default)]
struct LastRendering {
    at: Option<Instant>,
    turn: u64,
    view: Arc<BoardView>,
}

/// Cache for the last rendering of the floor, shared by all viewers.
#[derive(Default)]
pub(crate) struct BoardCache(Mutex<LastRendering>);

impl ResourceState for BoardCache {
    fn create(_: &App, _: &Config) -> Self {
        Self::default()
    }
}

impl BoardCache {
    fn view(&self, app: &BoardHandles) -> Arc<BoardView> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.at.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return last.view.clone();
        }
        last.turn = last.turn.wrapping_add(1);
        last.view = Arc::new(looked(app, &last.view, last.turn));
        last.at = Some(Instant::now());
        last.view.clone()
    }
}

/// Returns the part unchanged if its HTML is the same; otherwise, returns a part with the new HTML and version.
fn renewed(part: &BoardPart, id: String, html: String, version: i64) -> BoardPart {
    if part.version > 0 && part.html == html { part.clone() } else { BoardPart { id, version, html } }
}

/// Renders those parts of a printer that may have changed. The gauge and the next job are rendered if `is_due`, or if
/// the card or the state has changed, so that all parts of a card are consistent.
fn printer_parts(
    app: &BoardHandles,
    printer: &Printer,
    group: FloorGroup,
    previous: Option<&Arc<PrinterParts>>,
    version: i64,
    is_due: bool,
) -> Arc<PrinterParts> {
    let none = PrinterParts::default();
    let before = previous.map_or(&none, |parts| &**parts);
    let html = card::card(app, printer).into_string();
    let card = renewed(&before.card, card::card_id(printer.id), html, version);
    let state = card::live_state(&app.shop, printer).into_string();
    let state = renewed(&before.state, card::state_id(printer.id), state, version);
    let (gauge, next) = if is_due || card.version == version || state.version == version {
        let gauge = card_gauge::gauge(app, printer).into_string();
        let next = card_gauge::next(app, printer, group).into_string();
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

fn looked(app: &BoardHandles, last: &BoardView, turn: u64) -> BoardView {
    let now = app.shop.environment.now();
    // Greater than any version before a restart: a version lasts longer than a millisecond.
    let version = if last.version == 0 { now.0.max(1) } else { last.version + 1 };
    let all = present_all(&app.shop);
    let all: Vec<&Printer> = all.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let mut ranked: Vec<(_, &Printer)> = all.iter().map(|printer| (card::rank(&app.shop, printer), *printer)).collect();
    ranked.sort_by(|(a, _), (b, _)| a.cmp(b));
    let order: Vec<(FloorGroup, Id)> = ranked.iter().map(|((group, ..), printer)| (*group, printer.id)).collect();
    let troubled = order.iter().filter(|(group, _)| *group == FloorGroup::NeedsYou).count();
    let mut printers = BTreeMap::new();
    for (n, ((group, ..), printer)) in (0u64..).zip(&ranked) {
        let is_due = n.wrapping_add(turn).is_multiple_of(GAUGE_TURNS);
        let parts = printer_parts(app, printer, *group, last.printers.get(&printer.id), version, is_due);
        printers.insert(printer.id, parts);
    }
    let totals = FloorTotals::of(app, &all, now);
    let summaries = Language::ALL.into_iter().map(|language| {
        let previous = last.summaries.iter().find(|(one, _)| *one == language).map(|(_, part)| part.clone());
        let html = totals.render(language).into_string();
        (language, renewed(&previous.unwrap_or_default(), FloorTotals::id(language), html, version))
    });
    let summaries = summaries.collect();
    let next_free = card::next_free(app, &all, now).into_string();
    let next_free = renewed(&last.next_free, card::NEXT_FREE_ID.to_owned(), next_free, version);
    let order_version = if order == last.order && last.version > 0 { last.order_version } else { version };
    let materials = app.shop.materials.all_resident();
    let stock_commits = materials.iter().map(|(_, versioned)| versioned.version).fold(0, i64::wrapping_add);
    BoardView { version, order, order_version, printers, summaries, next_free, troubled, stock_commits }
}
