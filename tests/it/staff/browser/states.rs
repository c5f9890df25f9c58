//! A printer's state in a real browser: every page says the one that the floor says, and goes on saying it.

use super::floor;
use crate::support::browser::Browser;

/// All states that a page says in its headings and marks, and in what printers can be chosen from.
const STATES: &str = "[...document.querySelectorAll('main h1, main .state')].flatMap(at => \
    at.innerText.match(/Ready|Uploading|Starting|Printing|Paused|Clear the bed|Offline/g) || [])";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_one_state_of_a_printer_on_its_page() {
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
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    let tab = &tabs[floor.printers.iter().position(|printer| *printer == on).unwrap()];
    browser.until(tab, "all of the page to say so", &format!("{STATES}.join() === 'Printing'")).await;
    browser.until(tab, "what is offered to follow", "document.getElementById('cancel')").await;
    floor.app.act(&format!("/api/printers/{on}/pause")).await.expect(200);
    browser.until(tab, "the pause", &format!("{STATES}.join() === 'Paused'")).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
