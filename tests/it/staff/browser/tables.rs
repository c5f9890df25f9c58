//! Tables in a real browser: on a phone, a tablet and a desktop, no word breaks inside a cell, and no cell is narrower
//! than its longest word; a table that is too wide scrolls in its own region; lists become rows on a phone. At twice
//! the size, nothing scrolls sideways and no text is cut off. Each run looks at the pages in the language that its seed
//! draws, the long profile in all languages. `everywhere` checks the words on every page, and these pages against the
//! accessibility rules.

use serde_json::{Value, json};
use simulator::PrinterKind;
use simulator::sink::Sink;

use super::shop::{ADMIN, FilledShop, admin, filled};
use super::{LANGUAGES, drawn_language};
use crate::api::some_sku;
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::staff::emails::{paid, rejected_by};
use crate::support::browser::{Browser, DESK, Tab};
use crate::support::{Db, until};

/// Widths of a phone, a tablet, a small desktop and a desktop, in pixels.
const WIDTHS: [u32; 4] = [360, 768, 1280, 1440];
/// Pages with the widest tables, and all lists.
const PAGES: [&str; 22] = [
    "/design",
    "/shop/orders",
    "/shop/jobs",
    "/shop/invoices",
    "/shop/invoices/numbering",
    "/shop/quotes",
    "/shop/requests",
    "/shop/stock",
    "/shop/stock/bins",
    "/shop/stock/bins?name=Shelf+A3",
    "/shop/stock/slots",
    "/shop/products",
    "/shop/products/files",
    "/shop/insights",
    "/shop/webhooks",
    "/shop/customers",
    "/shop/settings/audit",
    "/shop/settings/users",
    "/shop/settings/keys",
    "/shop/settings/sessions",
    "/shop/settings/system",
    "/shop/settings/emails",
];
/// Page of [`PAGES`] that has no content in the shop. Its rows are those of a shop whose emails are rejected.
const WITHOUT_ROWS: &str = "/shop/settings/emails";
/// Lists that lead to pages with tables, and the number of their first entries whose pages are checked.
const RECORDS: [(&str, usize); 5] =
    [("/shop/jobs", 1), ("/shop/invoices", 2), ("/shop/quotes", 2), ("/shop/stock", 1), ("/shop/products", 2)];
/// Material that the shop stores in a bin.
const BIN: &str = "Shelf A3";

/// CSS selector for the rows of lists.
const ROWS: &str = ".table.list tbody tr, .audit > li, :is(#endpoints, #slots, #bins) .rows > li";
/// CSS selector for those of them on the page of a record that are limited in height. Others show a text as a whole,
/// because nothing else does.
const LIMITED_ROWS: &str = ".table.list tbody tr:not(:has(> .unfolds)), .audit > li, \
    :is(#endpoints, #slots, #bins) .rows > li";
/// Script that lists the rows that match a selector and are higher than 96 pixels or wider than the window.
const UNFIT_ROWS: &str = "(rows => [...document.querySelectorAll(rows)].filter(row => { \
    const box = row.getBoundingClientRect(); return box.height > 96 || box.right > window.innerWidth; \
    }).map(row => row.innerText + ': ' + row.getBoundingClientRect().height))";
/// Script that lists the cells that show a text as a whole and cut it off nevertheless.
const CUT_TEXTS: &str = "[...document.querySelectorAll('.list .unfolds')].filter(cell => \
    cell.scrollWidth > cell.clientWidth + 1 || getComputedStyle(cell).whiteSpace !== 'normal').map(cell => cell.innerText)";
/// Script that returns the number of lines that the steps of an order take, their number, and the names that are seen.
const NAMED_STEPS: &str = "(() => { const steps = [...document.querySelectorAll('ol.course > li')]; \
    const named = steps.filter(at => getComputedStyle(at).fontSize !== '0px'); \
    return [new Set(steps.map(at => at.offsetTop)).size, steps.length, \
    named.map(at => at.firstChild.textContent.trim()).join()]; })()";
/// Script that lists the jobs whose product does not stand below their number, at the same distance from the edge, or
/// whose order is not in sight below the number, in a low row.
const ASTRAY_PRODUCTS: &str = "[...document.querySelectorAll('.jobs tbody tr')].filter(row => { \
    const [number, product] = [row.querySelector('th'), row.querySelector('td.grow')].map(at => at.getBoundingClientRect()); \
    const order = row.querySelector('td.order a').getBoundingClientRect(), own = row.getBoundingClientRect(); \
    const isSeen = order.width > 0 && order.top >= number.bottom - 1 && order.right <= own.right && own.height <= 96; \
    return Math.abs(product.left - number.left) > 1 || product.top < number.bottom - 1 || !isSeen; \
    }).map(row => row.innerText)";

/// Tables of a shop, opened in a browser.
struct TableRound {
    browser: Browser,
    tab: Tab,
    base: String,
    wrong: Vec<String>,
    /// Number of cells seen.
    cells: u64,
}

impl TableRound {
    /// Opens a page on a phone, where lists are rows as it is loaded; returns their number. `limited` selects those
    /// that are limited in height.
    async fn open_on_phone(&mut self, path: &str, limited: &str) -> u64 {
        self.browser.width(&self.tab, WIDTHS[0]).await;
        self.browser.go(&self.tab, &format!("{}{path}", self.base)).await;
        let rows = self.browser.eval(&self.tab, &format!("document.querySelectorAll({}).length", json!(ROWS))).await;
        let unfit = self.browser.eval(&self.tab, &format!("{UNFIT_ROWS}({})", json!(limited))).await;
        if unfit != json!([]) {
            self.wrong.push(format!("{path}: {unfit}"));
        }
        let cut = self.browser.eval(&self.tab, CUT_TEXTS).await;
        if cut != json!([]) {
            self.wrong.push(format!("{path} cuts off {cut}"));
        }
        rows.as_u64().unwrap()
    }

    /// Checks the words of the open page at all widths.
    async fn check_words(&mut self, path: &str) {
        for width in WIDTHS {
            self.browser.width(&self.tab, width).await;
            let faults = self.browser.layout_faults(&self.tab).await;
            if !faults.broken.is_empty() {
                self.wrong.push(format!("{path} at {width} px breaks {:?}", faults.broken));
            }
            if !faults.narrow.is_empty() {
                self.wrong.push(format!("{path} at {width} px has narrow cells: {:?}", faults.narrow));
            }
            if !faults.wide.is_empty() {
                self.wrong.push(format!("{path} is wider than {width} px: {:?}", faults.wide));
            }
        }
        self.cells += self.browser.eval(&self.tab, "document.querySelectorAll('td').length").await.as_u64().unwrap();
    }

    /// Returns the pages of the first entries of a list.
    async fn pages_of(&mut self, list: &str, count: usize) -> Vec<String> {
        self.browser.go(&self.tab, &format!("{}{list}", self.base)).await;
        let script = "[...document.querySelectorAll('.list tbody th a')].map(at => at.getAttribute('href'))";
        let links = self.browser.eval(&self.tab, script).await;
        let links = links.as_array().into_iter().flatten().filter_map(Value::as_str).take(count);
        links.map(str::to_owned).collect()
    }
}

/// Returns a shop with a material in a bin.
async fn shop_with_a_bin() -> FilledShop {
    let shop = filled().await;
    let bin = json!({"location": BIN});
    let path = format!("/api/inventory/materials/{}", shop.floor.material);
    shop.floor.app.patch(&path, &bin).await.expect(200);
    shop
}

/// Checks tables and lists in each language: the rows of lists are neither too high nor too wide on a phone.
async fn look_at_tables(languages: &[&str]) {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let shop = shop_with_a_bin().await;
    let base = shop.floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&shop.admin)).await;
    let mut round = TableRound { browser, tab, base, wrong: Vec::new(), cells: 0 };
    for language in languages {
        round.browser.language(&round.tab, language).await;
        for path in PAGES {
            let rows = round.open_on_phone(path, ROWS).await;
            assert!(rows > 0 || path == WITHOUT_ROWS, "{path} has no rows");
            round.check_words(path).await;
        }
        for (list, count) in RECORDS {
            let mut rows = 0;
            for path in round.pages_of(list, count).await {
                rows += round.open_on_phone(&path, LIMITED_ROWS).await;
                round.check_words(&path).await;
            }
            assert!(rows > 0, "no page of {list} has rows");
        }
        assert!(round.wrong.is_empty(), "{language}: {}", round.wrong.join("\n"));
        assert!(round.cells > 50, "{} cells prove little", round.cells);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_breaks_no_word_in_a_cell_of_a_table() {
    look_at_tables(&[drawn_language("tables")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_emails_that_were_not_delivered_in_low_rows_on_a_phone() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let post = Sink::start().await.unwrap();
    let app = rejected_by(&post).await;
    let cookie = admin(&app).await;
    let sku = some_sku(&app).await;
    for _ in 0..2 {
        paid(&app, &sku).await;
    }
    until("both emails to fail", || async {
        let failed = app.get("/api/emails?state=failed").await.expect(200);
        (failed["emails"].as_array().unwrap().len() == 2).then_some(())
    })
    .await;
    let base = app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let mut round = TableRound { browser, tab, base, wrong: Vec::new(), cells: 0 };
    for language in LANGUAGES {
        round.browser.language(&round.tab, language).await;
        assert_eq!(round.open_on_phone(WITHOUT_ROWS, ROWS).await, 2, "{language}");
        round.check_words(WITHOUT_ROWS).await;
    }
    assert!(round.wrong.is_empty(), "{}", round.wrong.join("\n"));
    // The reason unfolds.
    round.browser.width(&round.tab, WIDTHS[0]).await;
    let reason = "[...document.querySelectorAll('.emails summary')].forEach(at => at.click())";
    round.browser.eval(&round.tab, reason).await;
    let is_shown = "[...document.querySelectorAll('.emails details p')].every(at => at.getClientRects().length)";
    assert_eq!(round.browser.eval(&round.tab, is_shown).await, true);
    assert_eq!(round.browser.wider(&round.tab).await, Vec::<String>::new());
}

/// Checks the pages at twice their size in each language: a window of 1280 × 900 at 200 % has 640 × 450 CSS pixels.
async fn look_at_twice_the_size(languages: &[&str]) {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let shop = shop_with_a_bin().await;
    let base = shop.floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&shop.admin)).await;
    browser.zoom(&tab, DESK, 2).await;
    let mut wrong = Vec::new();
    for language in languages {
        browser.language(&tab, language).await;
        for path in PAGES {
            browser.go(&tab, &format!("{base}{path}")).await;
            assert_eq!(browser.eval(&tab, "[innerWidth, devicePixelRatio]").await, json!([640, 2]));
            let faults = [browser.wider(&tab).await, browser.cut_off(&tab).await].concat();
            if !faults.is_empty() {
                wrong.push(format!("{path} in {language}: {faults:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_cuts_off_and_scrolls_sideways_nothing_at_twice_the_size() {
    look_at_twice_the_size(&[drawn_language("size")]).await;
}

mod long {
    use super::LANGUAGES;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn chromium_breaks_no_word_in_a_cell_of_a_table_in_any_language() {
        super::look_at_tables(&LANGUAGES).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn chromium_cuts_off_nothing_at_twice_the_size_in_any_language() {
        super::look_at_twice_the_size(&LANGUAGES).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_aligns_a_jobs_product_with_its_number_on_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::on(Db::sqlite().with_staff(ADMIN), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let cookie = admin(&floor.app).await;
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    floor.order(1).await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    for width in [360, 390] {
        browser.width(&tab, width).await;
        browser.go(&tab, &format!("{base}/shop/jobs")).await;
        browser.until(&tab, "both jobs", "document.querySelectorAll('.jobs tbody tr').length === 2").await;
        assert_eq!(browser.eval(&tab, ASTRAY_PRODUCTS).await, json!([]), "at {width} px");
        browser.go(&tab, &format!("{base}/shop/orders/{order}")).await;
        browser.until(&tab, "the steps", "document.querySelector('ol.course > [aria-current]')").await;
        assert_eq!(browser.eval(&tab, NAMED_STEPS).await, json!([1, 5, "Printing"]), "at {width} px");
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
