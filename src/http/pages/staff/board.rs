//! The floor as it is now, made once for all who look at it: a part for each printer, small ones in it for its state
//! and for what changes all the time, and the summary. Each part has the version at which it last changed.
//!
//! Everything is read where it is kept in memory; nothing is asked of the database or of a printer. However many pages
//! are open, the parts are made no more often than [`LOOK_EVERY`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use maud::PreEscaped;

use super::card;
use crate::actors::forecaster::Forecaster;
use crate::actors::kernel::directory::Directory;
use crate::domain::id::Id;
use crate::domain::order::Order;
use crate::domain::printer::Printer;
use crate::http::handles::handles;
use crate::http::production::printers::{PrinterHandles, present_all};

/// Time between two looks at what is in memory.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(400);
/// What changes all the time is made anew at each look of this many, by turns of the printers: a page of many printers
/// gets a steady trickle and not all at once.
const GAUGE_TURNS: u64 = 10;
/// Stands in a printer's part for its gauge. No text of others can say it: what they write is escaped.
pub(super) const GAUGE_MARK: PreEscaped<&str> = PreEscaped("<gauge>");
/// Stands in a printer's part for its state.
pub(super) const STATE_MARK: PreEscaped<&str> = PreEscaped("<state>");

handles! {
    /// What the floor is read from.
    pub(crate) struct BoardHandles {
        shop: PrinterHandles,
        orders: Directory<Order>,
        forecaster: Forecaster,
        board: Arc<Board>,
    }
}

impl BoardHandles {
    /// The floor as it is now, or was a moment ago.
    pub(super) fn view(&self) -> Arc<BoardView> {
        self.board.view(self)
    }
}

/// A piece of HTML whose outermost element has the part's id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BoardPart {
    /// The id of its element in the page.
    pub(super) id: String,
    /// When it last changed.
    pub(super) version: i64,
    /// Made for nobody in particular: the token of forms and, in a card, state and gauge are still to be put in.
    pub(super) html: String,
}

/// What a printer shows.
#[derive(Clone, Debug, Default)]
pub(super) struct PrinterParts {
    /// All of it but the state and the gauge.
    pub(super) card: BoardPart,
    /// Its state, which other pages than the floor show too.
    pub(super) state: BoardPart,
    /// Progress, times and temperatures.
    pub(super) gauge: BoardPart,
}

impl PrinterParts {
    /// The whole card.
    pub(super) fn whole(&self) -> String {
        self.card.html.replace(STATE_MARK.0, &self.state.html).replace(GAUGE_MARK.0, &self.gauge.html)
    }
}

/// The floor at a version.
#[derive(Clone, Debug, Default)]
pub(super) struct BoardView {
    /// The highest version of its parts. It goes on growing when the server starts anew.
    pub(super) version: i64,
    /// The printers in the order in which they are shown: problems first.
    pub(super) order: Vec<Id>,
    /// When that order last changed.
    pub(super) order_version: i64,
    /// By the printer.
    pub(super) printers: BTreeMap<Id, Arc<PrinterParts>>,
    /// Numbers of the whole floor.
    pub(super) summary: BoardPart,
}

/// What was seen last, and when.
#[derive(Default)]
struct LastLook {
    at: Option<Instant>,
    turn: u64,
    view: Arc<BoardView>,
}

/// Keeps the last look at the floor for all who ask within a moment.
#[derive(Default)]
pub(crate) struct Board(Mutex<LastLook>);

impl Board {
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

/// Sets what changed against the last look, with a new version.
fn renewed(part: &BoardPart, id: String, html: String, version: i64) -> BoardPart {
    if part.version > 0 && part.html == html { part.clone() } else { BoardPart { id, version, html } }
}

fn looked(app: &BoardHandles, last: &BoardView, turn: u64) -> BoardView {
    let now = app.shop.environment.now();
    // Greater than any version before a restart: a version lasts longer than a millisecond.
    let version = if last.version == 0 { now.0.max(1) } else { last.version + 1 };
    let all = present_all(&app.shop);
    let all: Vec<&Printer> = all.iter().filter_map(|known| known.state.as_ref()).collect();
    let mut ranked: Vec<(_, &Printer)> = all.iter().map(|printer| (card::rank(&app.shop, printer), *printer)).collect();
    ranked.sort_by(|(a, _), (b, _)| a.cmp(b));
    let order: Vec<Id> = ranked.iter().map(|(_, printer)| printer.id).collect();
    let mut printers = BTreeMap::new();
    for (n, (_, printer)) in (0u64..).zip(&ranked) {
        let known = last.printers.get(&printer.id);
        let none = PrinterParts::default();
        let before = known.map_or(&none, |known| &**known);
        let html = card::card(app, printer).into_string();
        let card = renewed(&before.card, card::card_id(printer.id), html, version);
        let state = card::live_state(&app.shop, printer).into_string();
        let state = renewed(&before.state, card::state_id(printer.id), state, version);
        // The state and the progress below it are of one look.
        let changed = card.version == version || state.version == version;
        let gauge = if changed || n.wrapping_add(turn).is_multiple_of(GAUGE_TURNS) {
            renewed(&before.gauge, card::gauge_id(printer.id), card::gauge(app, printer).into_string(), version)
        } else {
            before.gauge.clone()
        };
        let same = known.filter(|known| known.card == card && known.state == state && known.gauge == gauge);
        printers.insert(printer.id, same.cloned().unwrap_or_else(|| Arc::new(PrinterParts { card, state, gauge })));
    }
    let summary = card::summary(app, &all, now).into_string();
    let summary = renewed(&last.summary, card::SUMMARY_ID.to_owned(), summary, version);
    let order_version = if order == last.order && last.version > 0 { last.order_version } else { version };
    BoardView { version, order, order_version, printers, summary }
}
