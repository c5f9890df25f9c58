//! Cache of the floor's view: the last rendering, and what follows from the latest forecasts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::{BoardHandles, BoardView, LOOK_EVERY};
use crate::staff::floor_next::up_next;
use crate::staff::memo::Memo;
use crate::staff::to_do::next_hours;
use actors::app::App;
use config::Config;
use domain::time::Timestamp;
use http::resource_state::ResourceState;
use words::Language;

/// Time for which the printers are rendered in a language after somebody has looked at them in it. Open streams look
/// every [`LOOK_EVERY`]; a browser that goes from one page to the next is back sooner.
const RENDERED_FOR: Duration = Duration::from_secs(10);

/// HTML of the parts that follow from a forecast, in one language.
pub(super) struct FloorOutlook {
    pub(super) up_next: String,
    pub(super) next_hours: String,
}

/// Last rendering and the time at which it was made.
#[derive(Default)]
struct LastRendering {
    at: Option<Instant>,
    turn: u64,
    /// Times at which somebody last looked at the printers, by language.
    looks: HashMap<Language, Instant>,
    view: Arc<BoardView>,
}

impl LastRendering {
    /// Returns the languages in which the printers are rendered now.
    fn languages(&self, now: Instant) -> Vec<Language> {
        let is_in_use = |at: &Instant| now.saturating_duration_since(*at) < RENDERED_FOR;
        Language::ALL.into_iter().filter(|language| self.looks.get(language).is_some_and(is_in_use)).collect()
    }

    /// Returns the view, unless it is too old or lacks the parts of the printers in `language`.
    fn recent(&self, now: Instant, language: Option<Language>) -> Option<Arc<BoardView>> {
        let is_complete = language.is_none_or(|language| self.view.has_current_parts(language));
        let is_recent = self.at.is_some_and(|at| now.saturating_duration_since(at) < LOOK_EVERY);
        (is_complete && is_recent).then(|| self.view.clone())
    }
}

/// Cache for the last rendering of the floor, shared by all viewers.
pub(crate) struct BoardCache {
    last: Mutex<LastRendering>,
    /// Parts that follow from a forecast, by its time.
    outlooks: Memo<Timestamp, Language, OnceLock<Arc<FloorOutlook>>>,
}

impl ResourceState for BoardCache {
    fn create(_: &App, _: &Config) -> Self {
        Self::new()
    }
}

impl BoardCache {
    fn new() -> Self {
        Self { last: Mutex::default(), outlooks: Memo::new(Language::ALL.len()) }
    }

    /// Discards the last view, so that the next one is rendered anew.
    pub(super) fn expire(&self) {
        self.lock().at = None;
    }

    /// Returns the parts that follow from the latest forecast. Why a job waits is found out once for each forecast,
    /// which follows whatever changes it.
    pub(super) fn outlook(&self, app: &BoardHandles, language: Language) -> Arc<FloorOutlook> {
        let forecast = app.forecaster.latest();
        let outlook = self.outlooks.cell(forecast.at, language);
        let render = || {
            let up_next = up_next(language, app, &forecast).into_string();
            Arc::new(FloorOutlook { up_next, next_hours: next_hours(language, app, &forecast).into_string() })
        };
        outlook.get_or_init(render).clone()
    }

    /// Returns the last view, or a new one if it is too old or lacks the parts of the printers in `language`. These get
    /// a new version: pages that have the version of the last view do not have them. `outlook` returns what follows
    /// from the forecast, before others have to wait for the view.
    pub(super) fn view(
        &self,
        language: Option<Language>,
        outlook: impl Fn(Language) -> Arc<FloorOutlook>,
        render: impl FnOnce(&BoardView, u64, &[(Language, Arc<FloorOutlook>)]) -> BoardView,
    ) -> Arc<BoardView> {
        let now = Instant::now();
        let languages = {
            let mut last = self.lock();
            last.looks.extend(language.map(|language| (language, now)));
            if let Some(view) = last.recent(now, language) {
                return view;
            }
            last.languages(now)
        };
        let outlooks: Vec<_> = languages.into_iter().map(|language| (language, outlook(language))).collect();
        let mut last = self.lock();
        // Another viewer may have rendered it meanwhile.
        if let Some(view) = last.recent(now, language) {
            return view;
        }
        last.turn = last.turn.wrapping_add(1);
        last.view = Arc::new(render(&last.view, last.turn, &outlooks));
        last.at = Some(Instant::now());
        last.view.clone()
    }

    fn lock(&self) -> MutexGuard<'_, LastRendering> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::staff::board::LanguageParts;

    #[test]
    fn printers_are_rendered_in_the_languages_in_which_somebody_looks() {
        let begin = Instant::now();
        let mut last = LastRendering::default();
        assert!(last.languages(begin).is_empty(), "nobody looks");
        last.looks.insert(Language::German, begin);
        let almost = begin + RENDERED_FOR.saturating_sub(Duration::from_millis(1));
        assert_eq!(last.languages(almost), [Language::German]);
        last.looks.insert(Language::English, almost);
        assert_eq!(last.languages(almost), Language::ALL);
        assert_eq!(last.languages(begin + RENDERED_FOR), [Language::English], "a page in German was left");
    }

    #[test]
    fn what_follows_from_the_forecast_is_rendered_while_others_read_the_view() {
        let (cache, outlooks) = (BoardCache::new(), Cell::new(0));
        let outlook = |_: Language| {
            assert!(cache.last.try_lock().is_ok(), "nobody else can read the view");
            outlooks.set(outlooks.get() + 1);
            Arc::new(FloorOutlook { up_next: String::new(), next_hours: String::new() })
        };
        let render = |_: &BoardView, turn: u64, outlooks: &[(Language, Arc<FloorOutlook>)]| {
            let version = turn as i64;
            let parts = Arc::new(LanguageParts { rendered_at: version, ..LanguageParts::default() });
            let parts = outlooks.iter().map(|(language, _)| (*language, parts.clone())).collect();
            BoardView { version, parts, ..BoardView::default() }
        };
        let english = cache.view(Some(Language::English), outlook, render);
        assert!(english.has_current_parts(Language::English) && !english.has_current_parts(Language::German));
        cache.expire();
        let both = cache.view(Some(Language::German), outlook, render);
        assert!(Language::ALL.into_iter().all(|language| both.has_current_parts(language)), "English is still read");
        assert_eq!((both.version, outlooks.get()), (2, 3));
    }
}
