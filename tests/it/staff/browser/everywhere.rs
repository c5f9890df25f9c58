//! Rules of every page, with a shop in which much happens and with an empty one: nothing breaks the rules of
//! accessibility, light and dark, nothing is wider than a phone, no script fails, nothing is requested from another
//! server, and every state stands in a part that is kept up to date. The pages are found by the links on them, and
//! named in the kept report: one that no link leads to any more is missed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::json;

use super::shop::{ANN, admin, filled};
use super::stored_report::{part_is, part_was};
use crate::api::{NOTHING, PASSWORD, some_sku, with_cookie};
use crate::billing::cookie_of;
use crate::support::browser::{Browser, DESK, Tab};
use crate::support::{App, Client, Db};

const PHONE_WIDTH: u32 = 360;
/// Widths of a tablet and a small desk, at which the long profile looks at words in tables as well.
const WIDER_WIDTHS: [u32; 2] = [768, 1280];
/// More pages than there are: links that lead on and on would end here.
const MAX_PAGES: usize = 150;
/// Pages of one pattern that are looked at: what is shown of one thing is not all that is shown of another.
const SOME: usize = 2;
/// Beginnings of the paths of pages for the staff.
const OF_STAFF: [&str; 5] = ["login", "floor", "to-do", "shop", "design"];
const OF_CUSTOMERS: [&str; 7] = ["sign-in", "orders", "invoices", "quotes", "models", "profile", "pay"];
/// The page of restores.
const RESTORES: &str = "/shop/settings/restore";
/// The states on a page of the staff that stand outside of what is kept up to date: parts that are read again, and
/// marks of printers, which the stream renews.
const STALE_STATES: &str = "[...document.querySelectorAll('#content[data-stream] .state')]\
    .filter(at => !at.closest('[data-fresh], [data-of]')).map(at => at.textContent)";
/// Script with the text spacing that readers may set: it must cut nothing off.
const WIDE_TEXT: &str = "(() => { const sheet = new CSSStyleSheet(); \
    sheet.replaceSync('*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}'); \
    document.adoptedStyleSheets = [sheet]; })()";

/// A round through pages.
struct Round<'a> {
    browser: &'a mut Browser,
    tab: Tab,
    base: String,
    /// Client that follows a link before the browser goes there.
    asker: Client,
    /// The pages that were looked at, as [`pattern`]s.
    visits: BTreeSet<String>,
    wrong: Vec<String>,
    /// Also the further pages of a pattern are looked at dark and on a phone, and not only as they are; and all at
    /// further widths.
    looks_at_all: bool,
}

/// Returns the path of a page for all resources of its kind, with the names of its parameters. A further part of a list
/// is no page of its own.
fn pattern(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_name = |part: &str| part.len() <= 30 && !part.contains(|c: char| c.is_ascii_digit());
    let parts: Vec<&str> = path.split('/').map(|part| if is_name(part) { part } else { "{id}" }).collect();
    let names: BTreeSet<&str> = query.split('&').filter_map(|pair| pair.split('=').next()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !["", "from"].contains(name)).collect();
    let asks = if names.is_empty() { String::new() } else { format!("?{}", names.join("&")) };
    format!("{}{asks}", parts.join("/"))
}

impl<'a> Round<'a> {
    async fn new(browser: &'a mut Browser, app: &App, cookie: &str, first: &str) -> Self {
        let tab = browser.open(&app.base, first, Some(cookie)).await;
        let (visits, wrong) = (BTreeSet::new(), Vec::new());
        let (base, asker) = (app.base.clone(), with_cookie(app, cookie));
        Self { browser, tab, base, asker, visits, wrong, looks_at_all: false }
    }

    /// Looks at the page that is open, unfolded, as it is.
    async fn glance(&mut self, name: &str) {
        let tab = self.tab.clone();
        let stale = self.browser.eval(&tab, STALE_STATES).await;
        if stale.as_array().is_none_or(|stale| !stale.is_empty()) {
            self.wrong.push(format!("{name} shows states that are not kept up to date: {stale}"));
        }
        self.browser.eval(&tab, "document.querySelectorAll('details').forEach(at => { at.open = true; })").await;
        self.browser.dark(&tab, false).await;
        self.browser.hold(&tab).await;
    }

    /// As [`Self::glance`], and dark on a phone, and with more space in its text.
    async fn look(&mut self, name: &str) {
        self.glance(name).await;
        let tab = self.tab.clone();
        self.browser.dark(&tab, true).await;
        // What all pages share is seen dark on the first one; the rest of each has the same colours on a phone.
        if self.visits.is_empty() || self.looks_at_all {
            self.browser.hold(&tab).await;
        }
        let wider_widths: &[u32] = if self.looks_at_all { &WIDER_WIDTHS } else { &[] };
        for width in wider_widths {
            self.browser.width(&tab, *width).await;
            self.look_at_words(&format!("{name} at {width} px")).await;
        }
        self.browser.width(&tab, PHONE_WIDTH).await;
        self.browser.hold(&tab).await;
        for (how, script) in [("", "0"), (" with more space in its text", WIDE_TEXT)] {
            self.browser.eval(&tab, script).await;
            self.look_at_words(&format!("{name} at {PHONE_WIDTH} px{how}")).await;
            let wider = self.browser.wider(&tab).await;
            if !wider.is_empty() {
                self.wrong.push(format!("{name} is wider than {PHONE_WIDTH} px{how}: {wider:?}"));
            }
        }
        self.browser.dark(&tab, false).await;
        self.browser.window(&tab, DESK.0, DESK.1, false).await;
    }

    /// Notes words that break in cells of tables, or do not fit into them.
    async fn look_at_words(&mut self, name: &str) {
        let tab = self.tab.clone();
        let (broken, narrow) = (self.browser.broken_words(&tab).await, self.browser.narrow_cells(&tab).await);
        if !broken.is_empty() {
            self.wrong.push(format!("{name} breaks words in its tables: {broken:?}"));
        }
        if !narrow.is_empty() {
            self.wrong.push(format!("{name} has cells that are narrower than a word: {narrow:?}"));
        }
    }

    /// Returns whether a link leads to a page, and not to a file, a stream or elsewhere.
    async fn is_page(&self, path: &str) -> bool {
        let answer = self.asker.open(self.asker.request("GET", path)).await;
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        !answer.status().is_redirection() && kind.is_some_and(|kind| kind.starts_with("text/html"))
    }

    /// Looks at the pages of these sorts that links lead to, at some of each pattern.
    async fn walk(&mut self, begin: &[&str], sorts: &[&str]) {
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
            if is_first || self.looks_at_all {
                self.look(&name).await;
            } else {
                self.glance(&name).await;
            }
            let own = |path: &&String| path.split(['/', '?']).nth(1).is_some_and(|first| sorts.contains(&first));
            let new: Vec<String> = links.iter().filter(own).filter(|path| !queued.contains(*path)).cloned().collect();
            queued.extend(new.iter().cloned());
            to_see.extend(new);
            self.visits.insert(name);
        }
    }

    /// Opens a page; returns where its links lead.
    async fn load(&mut self, path: &str) -> Vec<String> {
        let tab = self.tab.clone();
        self.browser.load(&tab, &format!("{}{path}", self.base)).await;
        let links = self.browser.eval(&tab, "seen.links()").await;
        links.as_array().into_iter().flatten().filter_map(|link| Some(link.as_str()?.to_owned())).collect()
    }

    /// Opens a page and looks at it.
    async fn visit(&mut self, path: &str, name: &str) {
        self.load(path).await;
        self.look(name).await;
    }

    /// Ends the round: fails with all that was wrong, each once.
    fn end(self) -> BTreeSet<String> {
        let all: BTreeSet<String> = self.browser.faults(&self.base).into_iter().chain(self.wrong).collect();
        let faults: Vec<String> = all.into_iter().collect();
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
        self.visits
    }
}

fn list(pages: &BTreeSet<String>) -> String {
    let lines: Vec<String> = pages.iter().map(|page| format!("- `{page}`")).collect();
    lines.join("\n")
}

#[test]
fn pages_of_one_sort_have_one_pattern() {
    let order = format!("/shop/orders/{NOTHING}");
    for (path, is) in [
        (order.as_str(), "/shop/orders/{id}"),
        ("/shop/orders?status=paid&q=&from=50", "/shop/orders?q&status"),
        ("/floor?", "/floor"),
        ("/pay/abcdefghijklmnopqrstuvwxyzabcdefgh", "/pay/{id}"),
    ] {
        assert_eq!(pattern(path), is);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_the_staff_is_accessible() {
    look_at_pages_of_the_staff(false).await;
}

mod long {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_page_of_the_staff_is_accessible_in_every_look() {
        super::look_at_pages_of_the_staff(true).await;
    }
}

async fn look_at_pages_of_the_staff(looks_at_all: bool) {
    let Some(mut browser) = Browser::start().await else { return };
    let shop = filled().await;
    let mut round = Round::new(&mut browser, &shop.floor.app, &shop.admin, "/floor").await;
    round.looks_at_all = looks_at_all;
    round.walk(&["/floor", "/floor?wall=1", "/floor?view=plan", "/to-do", "/login"], &OF_STAFF).await;
    round.visit(&format!("/shop/orders/{NOTHING}"), "an order that is not there").await;
    let visits = round.end();
    let sections = ["/floor", "/to-do", "/shop/orders", "/shop/stock", "/shop/insights", "/shop/settings"];
    for section in sections.into_iter().chain([RESTORES, "/design"]) {
        assert!(visits.contains(section), "{section} is not among {visits:?}");
    }
    // Which pages those of a living shop lead to depends on the moment.
    part_was("Pages of the staff", &list(&visits));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_an_empty_shop_is_accessible() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    let cookie = admin(&app).await;
    let mut round = Round::new(&mut browser, &app, &cookie, "/floor").await;
    round.walk(&["/floor", "/floor?wall=1", "/to-do"], &OF_STAFF).await;
    let visits = round.end();
    assert!(visits.contains("/shop/stock") && visits.contains("/shop/orders"), "{visits:?}");
    let cookie = cookie_of(&app, ANN).await;
    let mut round = Round::new(&mut browser, &app, &cookie, "/orders").await;
    round.walk(&["/orders"], &OF_CUSTOMERS).await;
    round.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_review_of_a_restore_is_accessible() {
    let Some(mut browser) = Browser::start().await else { return };
    let mut app = App::new(Db::sqlite()).await;
    let cookie = admin(&app).await;
    let sku = some_sku(&app).await;
    app.paid_order(&sku, 1).await;
    app.stop().await;
    // What is left of a backup that was unpacked by hand makes this a restored shop.
    let manifest = json!({"product": "Printfloor", "madeAt": "2026-01-02T03:04:05.000Z"});
    std::fs::write(app.data().join("manifest.json"), manifest.to_string()).unwrap();
    app.start().await;
    let mut round = Round::new(&mut browser, &app, &cookie, "/to-do").await;
    let tab = round.tab.clone();
    round.look("/to-do of a restored shop").await;
    round.browser.press(&tab, "An admin reviews the restore").await;
    assert_eq!(round.browser.path(&tab).await, RESTORES);
    round.browser.sees(&tab, "waits for your review").await;
    round.browser.sees(&tab, "Jobs that may have been printed since (1)").await;
    round.look(RESTORES).await;
    // Numbers of orders only go up; then the shop goes on.
    for (next, words) in [("50", "because lower numbers may have been issued"), ("500", "reviewed by")] {
        round.browser.fill(&tab, "ORD: the last of the backup is 1", next).await;
        round.browser.press(&tab, "Everything is reviewed: start jobs again").await;
        round.browser.sees(&tab, words).await;
        round.look(RESTORES).await;
    }
    round.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_customers_is_accessible() {
    let Some(mut browser) = Browser::start().await else { return };
    let shop = filled().await;
    let mut round = Round::new(&mut browser, &shop.floor.app, &shop.customer, "/orders").await;
    let mut begin = vec!["/orders", "/invoices", "/quotes", "/models", "/profile", "/sign-in"];
    begin.extend(shop.mailed.iter().map(String::as_str));
    round.walk(&begin, &OF_CUSTOMERS).await;
    round.visit(&format!("/orders/{NOTHING}"), "an order that is not there").await;
    let visits = round.end();
    for page in ["/orders/{id}", "/invoices/{id}", "/quotes/{id}", "/pay/{id}"] {
        assert!(visits.contains(page), "{page} is not among {visits:?}");
    }
    part_is("Pages of customers", &list(&visits));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_the_setup_is_accessible() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    let code = super::first_print::code(&app).await;
    let mut round = Round::new(&mut browser, &app, "none=none", "/").await;
    let tab = round.tab.clone();
    round.look("/").await;
    round.browser.press(&tab, "The setup").await;
    round.look("/setup/enter").await;
    round.browser.fill(&tab, "One-time code", "AAAA").await;
    round.browser.press(&tab, "Open the setup").await;
    round.look("/setup/enter?error").await;
    round.browser.fill(&tab, "One-time code", &code).await;
    round.browser.press(&tab, "Open the setup").await;
    round.look("/setup").await;
    for (label, text) in [("Name", "Sam"), ("Email address", "sam@example.org"), ("Password", PASSWORD)] {
        round.browser.fill(&tab, label, text).await;
    }
    round.browser.press(&tab, "Make the admin and go on").await;
    round.look("/setup/database").await;
    round.browser.press(&tab, "Test both connections").await;
    round.look("/setup/database").await;
    round.browser.press(&tab, "Go on: Printer Discovery").await;
    round.look("/setup/printers").await;
    round.browser.press(&tab, "Look for printers").await;
    round.browser.sees(&tab, "The search is over").await;
    round.look("/setup/printers").await;
    round.browser.press(&tab, "Add a printer by hand").await;
    round.look("/setup/printers/new").await;
    round.browser.fill(&tab, "Name", "Ada").await;
    round.browser.fill(&tab, "URL", "http://127.0.0.1:9").await;
    round.browser.press(&tab, "Test and add").await;
    round.browser.sees(&tab, "It does not work.").await;
    round.look("/setup/printers/new").await;
    round.browser.press(&tab, "Back without adding one").await;
    for (step, page) in [
        ("Go on: Integrations", "/setup/integrations"),
        ("Go on: Commerce", "/setup/commerce"),
        ("Go on: Review and Launch", "/setup/review"),
        ("Write .env and finish", "/setup/done"),
    ] {
        round.browser.press(&tab, step).await;
        assert_eq!(round.browser.path(&tab).await, page);
        round.look(page).await;
    }
    round.end();
    let pages =
        ["", "/enter", "/database", "/printers", "/printers/new", "/integrations", "/commerce", "/review", "/done"];
    part_is("Pages of the setup", &list(&pages.iter().map(|page| format!("/setup{page}")).collect()));
}
