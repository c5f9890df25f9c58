//! Tables in a real browser: on a phone, a tablet and a desktop, no word breaks inside a cell, and no cell is narrower
//! than its longest word; a table that is too wide scrolls in its own region; lists become rows on a phone.
//! `everywhere` checks the words on every page, and these pages against the accessibility rules.

use super::shop::filled;
use crate::support::browser::Browser;

/// Widths of a phone, a tablet, a small desktop and a desktop, in pixels.
const WIDTHS: [u32; 4] = [360, 768, 1280, 1440];
/// Pages with the widest tables, and all lists.
const PAGES: [&str; 15] = [
    "/design",
    "/shop/orders",
    "/shop/jobs",
    "/shop/invoices",
    "/shop/quotes",
    "/shop/requests",
    "/shop/stock",
    "/shop/products",
    "/shop/products/files",
    "/shop/insights",
    "/shop/webhooks",
    "/shop/customers",
    "/shop/settings/audit",
    "/shop/settings/users",
    "/shop/settings/keys",
];

/// Pages whose tables become rows on a phone.
const LISTS: [&str; 10] = [
    "/shop/orders",
    "/shop/jobs",
    "/shop/stock",
    "/shop/products",
    "/shop/products/files",
    "/shop/quotes",
    "/shop/requests",
    "/shop/invoices",
    "/shop/customers",
    "/shop/settings/audit",
];
/// CSS selector for the rows of lists.
const ROWS: &str = ":is(.table.list tbody tr, .audit > li)";
/// Script that returns the rows of lists that are higher than 96 pixels or wider than the window.
const UNFIT_ROWS: &str = "[...document.querySelectorAll(':is(.table.list tbody tr, .audit > li)')].filter(row => { \
    const box = row.getBoundingClientRect(); return box.height > 96 || box.right > window.innerWidth; \
    }).map(row => row.innerText + ': ' + row.getBoundingClientRect().height)";

/// Checks tables and lists: the rows of lists are neither too high nor too wide on a phone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_breaks_no_word_in_a_cell_of_a_table() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let shop = filled().await;
    let base = shop.floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&shop.admin)).await;
    let (mut wrong, mut cells) = (Vec::new(), 0);
    for path in PAGES {
        // On a phone first, where lists are to be rows as they are loaded.
        browser.width(&tab, WIDTHS[0]).await;
        browser.go(&tab, &format!("{base}{path}")).await;
        if LISTS.contains(&path) {
            let rows = browser.eval(&tab, &format!("document.querySelectorAll('{ROWS}').length")).await;
            assert_ne!(rows, 0, "{path} has no rows");
            let unfit = browser.eval(&tab, UNFIT_ROWS).await;
            if unfit != serde_json::json!([]) {
                wrong.push(format!("{path}: {unfit}"));
            }
        }
        for width in WIDTHS {
            browser.width(&tab, width).await;
            let faults = browser.layout_faults(&tab).await;
            if !faults.broken.is_empty() {
                wrong.push(format!("{path} at {width} px breaks {:?}", faults.broken));
            }
            if !faults.narrow.is_empty() {
                wrong.push(format!("{path} at {width} px has narrow cells: {:?}", faults.narrow));
            }
            if !faults.wide.is_empty() {
                wrong.push(format!("{path} is wider than {width} px: {:?}", faults.wide));
            }
        }
        cells += browser.eval(&tab, "document.querySelectorAll('td').length").await.as_u64().unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cells > 50, "{cells} cells prove little");
}
