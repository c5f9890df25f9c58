//! Layout stability in a real browser: on pages that follow prints nothing moves, whatever changes on them.

use serde_json::{Value, json};

use super::{floor, state};
use crate::machines::Floor;
use crate::support::browser::{Browser, Tab};

/// Maximum layout shift of an open page: the sum of the scores that the browser reports.
const MAX_SHIFT: f64 = 0.01;
/// Script that from now on records the layout shifts of a page, with the markup, position and size before and after of
/// what moved.
pub const WATCH: &str = r"(async () => {
    await document.fonts.ready;
    await new Promise(done => { requestAnimationFrame(() => done()); setTimeout(done, 100); });
    const shifts = window.shifts = { score: 0, moves: [] }, since = performance.now();
    const place = box => [box.x, box.y, box.width, box.height].map(Math.round).join(' ');
    const name = node => node ? (node.outerHTML || node.textContent).slice(0, 90) : 'gone by now';
    new PerformanceObserver(list => list.getEntries().forEach(one => {
        if (one.hadRecentInput || one.startTime < since) return;
        shifts.score += one.value;
        one.sources.forEach(at => shifts.moves.push(name(at.node) + ' from ' + place(at.previousRect) + ' to ' + place(at.currentRect)));
    })).observe({ type: 'layout-shift', buffered: true });
})()";
/// Script that moves the whole content of a page.
const MOVE: &str = "(() => { const block = document.createElement('div'); block.style.height = '300px'; \
    document.getElementById('content').prepend(block); })()";

/// Open pages, each in its own window, so that none is hidden.
struct Pages {
    floor: Tab,
    /// Floor with compact cards.
    compact: Tab,
    /// Page of the first printer.
    printer: Tab,
    to_do: Tab,
    order: Tab,
}

impl Pages {
    async fn open(browser: &mut Browser, floor: &Floor, cookie: &str, order: &str) -> Self {
        let printer = format!("/floor/printers/{}", floor.printers[0]);
        let order = format!("/shop/orders/{order}");
        let mut tabs = Vec::new();
        let compact = "/floor?group=place&size=small";
        for path in ["/floor?group=place", compact, printer.as_str(), "/to-do", order.as_str()] {
            tabs.push(browser.open_window(&floor.app.base, path, Some(cookie)).await);
        }
        for tab in &tabs {
            browser.eval(tab, WATCH).await;
        }
        let [floor, compact, printer, to_do, order] = <[Tab; 5]>::try_from(tabs).unwrap();
        Self { floor, compact, printer, to_do, order }
    }

    /// Waits until all pages show this state for a printer, and the order's page for one of its jobs.
    async fn all_say(&self, browser: &mut Browser, printer: &str, word: &str) {
        for tab in [&self.floor, &self.compact, &self.printer] {
            browser.until(tab, &format!("the card to say {word}"), &format!("{} === {word:?}", state(printer))).await;
        }
        let job = format!("[...document.querySelectorAll('#order .state')].some(at => at.textContent === {word:?})");
        browser.until(&self.order, &format!("a job to say {word}"), &job).await;
    }
}

/// Returns what moved on a page; `None` if the shift is below [`MAX_SHIFT`].
pub async fn read_shift(browser: &mut Browser, tab: &Tab, name: &str) -> Option<String> {
    let shifts = browser.eval(tab, "window.shifts").await;
    let score = shifts["score"].as_f64().unwrap();
    let moves: Vec<&str> = shifts["moves"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    (score >= MAX_SHIFT).then(|| format!("{name} moved by {score:.4}:\n  {}", moves.join("\n  ")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_moves_nothing_on_pages_that_follow_prints() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let (floor, cookie) = floor().await;
    // Each card is in a section of its own: no card changes its place, and one that grew would move the next section.
    for (n, place) in ["Attic", "Bench"].into_iter().enumerate() {
        let change = json!({"location": place, "autoClear": false});
        floor.app.patch(&floor.path(n, ""), &change).await.expect(200);
    }
    let order = floor.app.order(&floor.sku, 2).await;
    let pages = Pages::open(&mut browser, &floor, &cookie, &order).await;
    let printer = floor.printers[0].as_str();

    floor.app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    for job in floor.app.jobs(&order).await {
        floor.app.job_is(job["id"].as_str().unwrap(), "PRINTING").await;
    }
    pages.all_say(&mut browser, printer, "Printing").await;
    for (part, percent) in [(0.3, 29), (0.6, 59)] {
        for n in 0..floor.printers.len() {
            floor.stands_at(n, part);
        }
        let progress = format!("document.getElementById('gauge-{printer}').dataset.percent >= {percent}");
        for tab in [&pages.floor, &pages.compact, &pages.printer] {
            browser.until(tab, "the progress", &progress).await;
        }
    }
    for (act, word) in [("pause", "Paused"), ("resume", "Printing")] {
        floor.app.act(&floor.path(0, &format!("/{act}"))).await.expect(200);
        pages.all_say(&mut browser, printer, word).await;
    }
    // A bed to clear has two more buttons on its card, and stands first for that.
    let mut wrong: Vec<String> = read_shift(&mut browser, &pages.floor, "the floor").await.into_iter().collect();
    wrong.extend(read_shift(&mut browser, &pages.compact, "the compact floor").await);
    for n in 0..floor.printers.len() {
        floor.hurry(n);
        floor.attention(n, "bed_not_cleared", true).await;
    }
    browser.until(&pages.to_do, "the beds", "document.getElementById('kind-beds')").await;
    let clear = format!("{} === 'Clear the bed'", state(printer));
    browser.until(&pages.printer, "the bed", &clear).await;
    let over = "![...document.querySelectorAll('#order .state')].some(at => at.textContent === 'Printing')";
    browser.until(&pages.order, "the jobs to be over", over).await;
    for (tab, name) in [(&pages.printer, "the printer"), (&pages.to_do, "to do"), (&pages.order, "the order")] {
        wrong.extend(read_shift(&mut browser, tab, name).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A page that does move is noticed.
    for tab in [&pages.floor, &pages.compact, &pages.printer, &pages.to_do, &pages.order] {
        browser.eval(tab, MOVE).await;
        browser.until(tab, "the move to be noticed", &format!("window.shifts.score >= {MAX_SHIFT}")).await;
    }
    assert_eq!(browser.faults(&floor.app.base), Vec::<String>::new());
}
