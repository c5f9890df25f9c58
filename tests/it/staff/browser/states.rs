//! States in a real browser: every page shows the same state for a printer as the floor, and for a material as its
//! card, and stays up to date.

use serde_json::json;

use super::floor;
use crate::support::browser::Browser;

/// Script that lists all states of printers in a page's headings and state labels.
const STATES: &str = "[...document.querySelectorAll('main h1, main .state')].flatMap(at => \
    at.innerText.match(/Ready|Uploading|Starting|Printing|Paused|Clear the bed|Offline/g) || [])";

/// Returns a JavaScript expression for the states in a page's options for a printer.
fn choices(printer: &str) -> String {
    format!(
        "[...document.querySelectorAll('main option[value=\"{printer}\"]')].map(at => at.textContent.split(', ').pop())"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_one_state_of_a_printer_on_its_page_and_where_it_is_chosen() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let mut tabs = Vec::new();
    for printer in &floor.printers {
        tabs.push(browser.open_window(&base, &format!("/floor/printers/{printer}"), Some(&cookie)).await);
    }
    for tab in &tabs {
        browser.until(tab, "it to be ready", &format!("{STATES}.join() === 'Ready'")).await;
    }
    // The page of a file offers the printers that print it.
    let sku = floor.app.get(&format!("/api/skus/{}", floor.sku)).await.expect(200);
    let file = format!("/shop/products/files/{}", sku["gcodeFileId"].as_str().unwrap());
    let chooser = browser.open_window(&base, &file, Some(&cookie)).await;
    for printer in &floor.printers {
        browser.until(&chooser, "a choice that is ready", &format!("{}.join() === 'ready'", choices(printer))).await;
    }
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    let tab = &tabs[floor.printers.iter().position(|printer| *printer == on).unwrap()];
    browser.until(tab, "all of the page to say so", &format!("{STATES}.join() === 'Printing'")).await;
    browser.until(tab, "what is offered to follow", "document.getElementById('cancel')").await;
    browser.until(&chooser, "the choice to say so", &format!("{}.join() === 'printing'", choices(&on))).await;
    floor.app.act(&format!("/api/printers/{on}/pause")).await.expect(200);
    browser.until(tab, "the pause", &format!("{STATES}.join() === 'Paused'")).await;
    browser.until(&chooser, "the choice to pause", &format!("{}.join() === 'paused'", choices(&on))).await;
    for idle in floor.printers.iter().filter(|printer| **printer != on) {
        browser.until(&chooser, "the other to stay", &format!("{}.join() === 'ready'", choices(idle))).await;
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_one_level_of_a_material_on_its_page() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let path = format!("/shop/stock/materials/{}", floor.material);
    let tab = browser.open(&base, &path, Some(&cookie)).await;
    let level = "document.querySelector('main h1 .state').textContent";
    browser.until(&tab, "enough", &format!("{level} === 'Enough'")).await;
    // Somebody else books all of it out: heading and card say so together.
    let before = floor.app.get(&format!("/api/inventory/materials/{}", floor.material)).await.expect(200);
    let all = json!({"delta": -before["quantity"].as_f64().unwrap(), "reason": "a leak in the roof"});
    let booked = format!("/api/inventory/materials/{}/adjustments", floor.material);
    floor.app.post(&booked, &all).await.expect(200);
    let card = "document.getElementById('stock-now').innerText";
    browser.until(&tab, "the card to say so", &format!("/On hand\\s*0 g/.test({card})")).await;
    browser.until(&tab, "the heading to say so", &format!("{level} === 'None available'")).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
