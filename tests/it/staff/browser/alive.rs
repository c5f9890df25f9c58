//! Many pages in one browser, and a server that goes down and comes back.

use super::{floor, state};
use crate::support::browser::{Browser, Tab};

/// Number of open pages: more than the six connections that a browser opens to a server.
const PAGES: usize = 12;
const LOST: &str = "Connection lost";

/// Waits until a printer's card shows this state on each of these pages.
async fn all_say(browser: &mut Browser, tabs: &[Tab], printer: &str, word: &str) {
    for tab in tabs {
        browser.until(tab, &format!("the card to say {word}"), &format!("{} === {word:?}", state(printer))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_keeps_twelve_pages_alive_by_one_stream() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let mut tabs = Vec::new();
    for _ in 0..PAGES {
        tabs.push(browser.open_window(&base, "/floor", Some(&cookie)).await);
    }
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    all_say(&mut browser, &tabs, &on, "Printing").await;
    for tab in &tabs {
        assert_eq!(browser.eval(tab, "document.hidden").await, false, "each is in a window of its own");
    }
    // One of them listens, and tells the others.
    browser.streams_are(&tabs[0], |open| open == 1).await;
    // It is closed: another goes on in its place, and nothing is missed.
    browser.close(&tabs[0]).await;
    tabs.remove(0);
    floor.app.act(&format!("/api/printers/{on}/pause")).await.expect(200);
    all_say(&mut browser, &tabs, &on, "Paused").await;
    browser.streams_are(&tabs[0], |open| open == 1).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_listens_in_no_hidden_page_and_shows_at_once_what_was_missed() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let mut tabs = Vec::new();
    for _ in 0..PAGES {
        tabs.push(browser.open(&base, "/floor", Some(&cookie)).await);
    }
    browser.streams_are(&tabs[0], |open| open <= 1).await;
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    for tab in &tabs {
        browser.front(tab).await;
        all_say(&mut browser, std::slice::from_ref(tab), &on, "Printing").await;
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_says_that_the_connection_is_lost_and_comes_back_by_itself() {
    let Some(mut browser) = Browser::start().await else { return };
    let (mut floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    browser.until(&tab, "two cards", "document.querySelectorAll('#cards li[data-name]').length === 2").await;
    assert!(!browser.says(&tab, LOST).await);
    browser.eval(&tab, "window.stays = true").await;
    floor.app.kill_9();
    browser.sees(&tab, LOST).await;
    floor.app.start().await;
    browser.sees_no(&tab, LOST).await;
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    all_say(&mut browser, std::slice::from_ref(&tab), &on, "Printing").await;
    assert_eq!(browser.eval(&tab, "window.stays").await, true, "the page was loaded again");
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
