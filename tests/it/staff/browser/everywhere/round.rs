//! A crawl through linked pages in a browser.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::api::with_cookie;
use crate::support::browser::{Browser, DESK, LayoutFaults, Tab};
use crate::support::drawing::draw;
use crate::support::{App, Client};

const PHONE_WIDTH: u32 = 360;
/// Language of the labels by which tests find the elements to press.
pub const ENGLISH: &str = "en";
/// Widths of a tablet and a small desktop, in pixels, at which the long profile also checks words in tables.
const WIDER_WIDTHS: [u32; 2] = [768, 1280];
/// Limit above the number of pages, which stops an endless crawl.
const MAX_PAGES: usize = 150;
/// Number of pages visited per pattern, because pages of the same kind show different things.
const SOME: usize = 2;
/// Of the pages that present the content of a pattern's first page differently, a run selects one in this many.
const ONE_OF: u64 = 3;
/// Script that lists the states on a staff page that are not kept up to date, that is, outside the parts that are
/// reloaded and the printers' states that the stream updates.
const STALE_STATES: &str = "[...document.querySelectorAll('#content[data-stream] .state')]\
    .filter(at => !at.closest('[data-fresh], [data-of]')).map(at => at.textContent)";
/// Script that applies the text spacing that readers may choose; no text may be cut off.
const WIDE_TEXT: &str = "(() => { const sheet = new CSSStyleSheet(); \
    sheet.replaceSync('*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}'); \
    document.adoptedStyleSheets = [sheet]; })()";

/// Pages for which a crawl checks the accessibility rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LookScope {
    /// Each pattern without a query in one variant, and a selection of the others.
    Drawn,
    /// A selection from all patterns, because another crawl covers them.
    DrawnOfAll,
    /// Every page in every variant.
    Full,
}

/// Variants in which a page is checked against the accessibility rules.
#[derive(Clone, Copy)]
struct Looks {
    light_on_desk: bool,
    dark_on_desk: bool,
    dark_on_phone: bool,
}

const EVERY_LOOK: Looks = Looks { light_on_desk: true, dark_on_desk: true, dark_on_phone: true };
const NO_LOOK: Looks = Looks { light_on_desk: false, dark_on_desk: false, dark_on_phone: false };

/// A crawl through pages.
pub struct Round<'a> {
    pub browser: &'a mut Browser,
    pub tab: Tab,
    base: String,
    /// Client that resolves a link before the browser opens it.
    asker: Client,
    /// Visited pages, as [`pattern`]s.
    visits: BTreeSet<String>,
    wrong: Vec<String>,
    scope: LookScope,
    /// Number of visited pages.
    count: usize,
}

/// Returns a page's path with placeholders for IDs and the names of its parameters. Further pages of a list have the
/// same pattern.
pub fn pattern(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_name = |part: &str| part.len() <= 30 && !part.contains(|c: char| c.is_ascii_digit());
    let parts: Vec<&str> = path.split('/').map(|part| if is_name(part) { part } else { "{id}" }).collect();
    let names: BTreeSet<&str> = query.split('&').filter_map(|pair| pair.split('=').next()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !["", "from"].contains(name)).collect();
    let asks = if names.is_empty() { String::new() } else { format!("?{}", names.join("&")) };
    format!("{}{asks}", parts.join("/"))
}

impl<'a> Round<'a> {
    /// Begins a crawl in a browser that prefers the given language, at the page with the path `first`.
    pub async fn new(
        browser: &'a mut Browser,
        app: &App,
        (cookie, first): (&str, &str),
        scope: LookScope,
        language: &str,
    ) -> Self {
        browser.hold_by_hand();
        let tab = browser.open(&app.base, first, Some(cookie)).await;
        browser.language(&tab, language).await;
        browser.dark(&tab, false).await;
        let (visits, wrong) = (BTreeSet::new(), Vec::new());
        let (base, asker) = (app.base.clone(), with_cookie(app, cookie));
        Self { browser, tab, base, asker, visits, wrong, scope, count: 0 }
    }

    /// Returns the variants in which the next page is checked against the accessibility rules.
    fn looks(&self, name: &str, is_first: bool) -> Looks {
        // What all pages share is seen in every look on the first one.
        if self.scope == LookScope::Full || self.count == 0 {
            return EVERY_LOOK;
        }
        let is_own = is_first && !name.contains('?') && self.scope == LookScope::Drawn;
        if !is_own && draw((name, self.count), ONE_OF) != 0 {
            return NO_LOOK;
        }
        let on_phone = is_first && draw(("phone", name, self.count), 2) == 0;
        Looks { light_on_desk: !on_phone, dark_on_desk: false, dark_on_phone: on_phone }
    }

    /// Checks the open page as it is, with everything expanded.
    async fn glance(&mut self, name: &str, looks: Looks) {
        self.count += 1;
        let tab = self.tab.clone();
        let stale = self.browser.eval(&tab, STALE_STATES).await;
        if stale.as_array().is_none_or(|stale| !stale.is_empty()) {
            self.wrong.push(format!("{name} shows states that are not kept up to date: {stale}"));
        }
        self.browser.eval(&tab, "document.querySelectorAll('details').forEach(at => { at.open = true; })").await;
        if looks.light_on_desk {
            self.browser.hold(&tab).await;
        }
    }

    /// Checks the page as [`Self::glance`] does, and also in dark mode, on a phone, and with wider text spacing.
    pub async fn look(&mut self, name: &str) {
        let looks = self.looks(name, true);
        self.glance(name, looks).await;
        let tab = self.tab.clone();
        // Colours are all that differs in the dark, so only the rules are held against a dark page.
        let is_dark = looks.dark_on_desk || looks.dark_on_phone;
        if is_dark {
            self.browser.dark(&tab, true).await;
        }
        // The colours of a page are the same on a phone.
        if looks.dark_on_desk {
            self.browser.hold(&tab).await;
        }
        let wider_widths: &[u32] = if self.scope == LookScope::Full { &WIDER_WIDTHS } else { &[] };
        for width in wider_widths {
            self.browser.width(&tab, *width).await;
            let faults = self.browser.layout_faults(&tab).await;
            self.note_words(&format!("{name} at {width} px"), &faults);
        }
        self.browser.width(&tab, PHONE_WIDTH).await;
        if looks.dark_on_phone {
            self.browser.hold(&tab).await;
        }
        for (how, script) in [("", "0"), (" with more space in its text", WIDE_TEXT)] {
            self.browser.eval(&tab, script).await;
            let faults = self.browser.layout_faults(&tab).await;
            self.note_words(&format!("{name} at {PHONE_WIDTH} px{how}"), &faults);
            if !faults.wide.is_empty() {
                self.wrong.push(format!("{name} is wider than {PHONE_WIDTH} px{how}: {:?}", faults.wide));
            }
        }
        if is_dark {
            self.browser.dark(&tab, false).await;
        }
        self.browser.window(&tab, DESK.0, DESK.1, false).await;
    }

    /// Checks a page as [`Self::look`] does, and in another language by loading it again. Afterwards it is in English
    /// again, because English labels lead to the next page.
    pub async fn look_in(&mut self, language: &str, name: &str) {
        self.look(name).await;
        if language != ENGLISH {
            let tab = self.tab.clone();
            let path = self.browser.path(&tab).await;
            self.browser.language(&tab, language).await;
            self.load(&path).await;
            self.look(&format!("{name} in {language}")).await;
            self.browser.language(&tab, ENGLISH).await;
            self.load(&path).await;
        }
    }

    /// Records words that break inside table cells or do not fit into them.
    fn note_words(&mut self, name: &str, faults: &LayoutFaults) {
        if !faults.broken.is_empty() {
            self.wrong.push(format!("{name} breaks words in its tables: {:?}", faults.broken));
        }
        if !faults.narrow.is_empty() {
            self.wrong.push(format!("{name} has cells that are narrower than a word: {:?}", faults.narrow));
        }
    }

    /// Returns whether a link leads to a page rather than to a file, a stream or another site.
    async fn is_page(&self, path: &str) -> bool {
        let answer = self.asker.open(self.asker.request("GET", path)).await;
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        !answer.status().is_redirection() && kind.is_some_and(|kind| kind.starts_with("text/html"))
    }

    /// Visits linked pages with these first path segments, up to [`SOME`] for each pattern.
    pub async fn walk(&mut self, begin: &[&str], sorts: &[&str]) {
        let mut to_see: VecDeque<String> = begin.iter().map(|path| (*path).to_owned()).collect();
        let mut queued: BTreeSet<String> = to_see.iter().cloned().collect();
        let mut passed: BTreeMap<String, usize> = BTreeMap::new();
        while let Some(path) = to_see.pop_front() {
            let name = pattern(&path);
            let times = passed.entry(name.clone()).or_default();
            // Of lists that are narrowed one is enough.
            let enough = if name.contains('?') { 1 } else { SOME };
            if *times >= enough || !self.is_page(&path).await {
                continue;
            }
            *times += 1;
            let is_first = *times == 1;
            assert!(passed.len() < MAX_PAGES, "there is no end of pages: {passed:?}");
            let links = self.load(&path).await;
            if is_first || self.scope == LookScope::Full {
                self.look(&name).await;
            } else {
                let looks = self.looks(&name, false);
                self.glance(&name, looks).await;
            }
            let own = |path: &&String| path.split(['/', '?']).nth(1).is_some_and(|first| sorts.contains(&first));
            let new: Vec<String> = links.iter().filter(own).filter(|path| !queued.contains(*path)).cloned().collect();
            queued.extend(new.iter().cloned());
            to_see.extend(new);
            self.visits.insert(name);
        }
    }

    /// Opens a page; returns the targets of its links.
    async fn load(&mut self, path: &str) -> Vec<String> {
        let tab = self.tab.clone();
        self.browser.load(&tab, &format!("{}{path}", self.base)).await;
        let links = self.browser.eval(&tab, "seen.links()").await;
        links.as_array().into_iter().flatten().filter_map(|link| Some(link.as_str()?.to_owned())).collect()
    }

    /// Opens a page and checks it.
    pub async fn visit(&mut self, path: &str, name: &str) {
        self.load(path).await;
        self.look(name).await;
    }

    /// Ends the crawl: fails with all distinct faults, or returns the visited patterns.
    pub fn end(self) -> BTreeSet<String> {
        let all: BTreeSet<String> = self.browser.faults(&self.base).into_iter().chain(self.wrong).collect();
        let faults: Vec<String> = all.into_iter().collect();
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
        self.visits
    }
}
