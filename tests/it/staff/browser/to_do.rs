//! To-do page: its panels follow what happens without loading the page again, and its rows are two lines high.

use serde_json::{Value, json};

use super::LANGUAGES;
use super::parts::{name, over};
use crate::support::browser::Browser;

/// Maximum height of a row on a desk, in pixels: two lines of links, and the space around them.
const MAX_ROW_HEIGHT: f64 = 80.0;
/// Widths of a small desktop and of phones, each with the maximum height of a row on it, in pixels: on a desk that of
/// two lines, on a phone that of a row of any list.
const ROW_LIMITS: [(u32, f64); 3] = [(1280, 72.0), (390, 96.0), (360, 96.0)];
/// Function that lists the rows of tasks that are higher than a limit, or whose acts are not all at the right of their
/// texts.
const UNFIT_ROWS: &str = "(limit => [...document.querySelectorAll('.tasks .row')].filter(row => { \
    const [own, text, acts] = [row, row.querySelector('.task'), row.querySelector('.acts')].map(at => \
    at.getBoundingClientRect()); \
    return own.height > limit || acts.left < text.right || acts.top < own.top || acts.bottom > own.bottom \
    || acts.right > own.right; }).map(row => row.innerText + ': ' + row.getBoundingClientRect().height))";
/// Script that lists the beds whose boxes to select them do not stand wholly before their pictures, or whose names
/// begin elsewhere than the lines below them.
const MISPLACED_BOXES: &str = "[...document.querySelectorAll('#kind-beds .row')].filter(row => { \
    const [box, picture, title, facts] = ['input[type=checkbox]', '.thumb', '.task-title > b', '.task > .small'] \
    .map(part => row.querySelector(part).getBoundingClientRect()); \
    return box.width < 20 || box.right > picture.left || picture.right > title.left \
    || Math.abs(title.left - facts.left) > 1; }).map(row => row.innerText)";
/// Script that unfolds the forms of all tasks; returns whether they are as wide as their rows at most.
const UNFOLD: &str = "(() => { const acts = [...document.querySelectorAll('.tasks .acts:has(> details)')]; \
    acts.forEach(at => { at.querySelector('details').open = true; }); \
    return acts.length === 2 && acts.every(at => at.scrollWidth <= at.clientWidth + 1); })()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_follows_the_work_of_the_shift_and_the_next_hours() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, _, cookie) = over(2).await;
    let (base, printer) = (floor.app.base.clone(), name(&floor, 0).await);
    let tab = browser.open(&base, "/to-do", Some(&cookie)).await;
    browser.window(&tab, 1440, 900, false).await;
    for words in ["Next hours", "No beds to clear by then", "Done this shift", "Nothing yet"] {
        browser.sees(&tab, words).await;
    }
    let heights = "[...document.querySelectorAll('#kind-beds .row')].map(row => row.getBoundingClientRect().height)";
    let heights = browser.eval(&tab, heights).await;
    let heights: Vec<f64> = heights.as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(heights.len() == 2 && heights.iter().all(|height| *height <= MAX_ROW_HEIGHT), "{heights:?}");
    browser.eval(&tab, "window.isSame = true").await;
    browser.press_near(&tab, "Bad parts…", &printer).await;
    browser.press_near(&tab, "Bad", &printer).await;
    for words in ["Sam: 0 of 1 part good, 1 bed cleared", "1 of 1 bad"] {
        browser.sees(&tab, words).await;
    }
    // The reprint ends in the next hours, and a person has to clear its bed.
    let expected = "document.querySelector('#next-hours li b')?.textContent.trim() === '1'";
    browser.until(&tab, "the bed to be expected", expected).await;
    // Names always take three lines, and no link is cut off.
    let lines = "[...document.querySelectorAll('#next-hours li > p')].map(at => [at.clientHeight, at.scrollHeight])";
    assert_eq!(browser.eval(&tab, lines).await, json!([[72, 72], [72, 72], [72, 72]]));
    assert_eq!(browser.eval(&tab, "window.isSame").await, json!(true), "the page was loaded again");
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_keeps_the_rows_of_tasks_low_and_their_acts_at_the_right() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, _, cookie) = over(2).await;
    // Beside the beds: stock that runs low, and an order that is ready.
    let low = json!({
        "name": "PETG orange", "type": "filament", "color": "#d06010", "brand": "Acme", "quantity": 150, "unit": "g",
        "reorderPoint": 1000, "reorderQuantity": 3000,
    });
    floor.app.post("/api/inventory/materials", &low).await.expect(201);
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/to-do", Some(&cookie)).await;
    for language in LANGUAGES {
        browser.language(&tab, language).await;
        for (width, limit) in ROW_LIMITS {
            browser.window(&tab, width, 900, width < 900).await;
            browser.go(&tab, &format!("{base}/to-do")).await;
            let rows = "document.querySelectorAll('#kind-beds .row, #kind-stock .row, #kind-pack .row').length === 4";
            browser.until(&tab, "the tasks", rows).await;
            let unfit = browser.eval(&tab, &format!("{UNFIT_ROWS}({limit})")).await;
            assert_eq!(unfit, json!([]), "{language} at {width} px");
            let misplaced = browser.eval(&tab, MISPLACED_BOXES).await;
            assert_eq!(misplaced, json!([]), "boxes, {language} at {width} px");
            assert_eq!(browser.eval(&tab, UNFOLD).await, json!(true), "forms fit, {language} at {width} px");
            assert_eq!(browser.wider(&tab).await, Vec::<String>::new(), "{language} at {width} px");
        }
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
