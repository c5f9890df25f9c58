//! The floor of a large shop in a real browser: a hundred printers on one screen, two hundred on two.

use std::ops::Range;

use futures::StreamExt as _;
use serde_json::json;
use simulator::PrinterKind;

use super::SAM;
use super::floor_browser::WHOLE;
use super::weights::add;
use crate::api::{PASSWORD, sign_in, staff};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::browser::Browser;
use crate::support::{App, until};

/// Number of printers added concurrently.
const ADDED_AT_ONCE: usize = 8;
/// Number of printers in a simulator; all others are at an address at which nothing listens.
const SIMULATED: usize = 4;
const SCREEN: (u32, u32) = (1920, 1080);
/// Script that remembers the printers whose tiles are whole between the bar at the top and the end of the window;
/// returns how many there have been so far.
const SEEN: &str = "(() => { const top = document.querySelector('.top').getBoundingClientRect().bottom; \
    window.seenTiles ??= new Set(); \
    for (const card of document.querySelectorAll('#cards li[data-name]')) { const box = card.getBoundingClientRect(); \
    if (box.height && box.top >= top && box.bottom <= innerHeight) window.seenTiles.add(card.id); } \
    return window.seenTiles.size; })()";
/// Script that lists the texts on tiles that are too small to read, and the short names that are cut off.
const UNREADABLE: &str = "[...document.querySelectorAll('#cards :is(h3 a, .state, .what, .pace b)')].filter(at => \
    at.getClientRects().length && (parseFloat(getComputedStyle(at).fontSize) < 12 || \
    (at.textContent.startsWith('Printer ') && at.scrollWidth > at.clientWidth))).map(at => at.textContent)";
/// Script that lists the times left that are shown on tiles, each with whether it is whole.
const TIMES_LEFT: &str = "[...document.querySelectorAll('#cards .pace time')].filter(at => at.getClientRects().length)\
    .map(at => [at.dataset.left, at.parentElement.scrollWidth <= at.parentElement.clientWidth])";

/// Registers printers that never answer.
pub async fn add_silent(app: &App, numbers: Range<usize>) {
    futures::stream::iter(numbers).for_each_concurrent(ADDED_AT_ONCE, |n| add(app, n)).await;
}

/// Counts the elements on the floor that match a selector and can be seen.
fn visible(query: &str) -> String {
    format!(
        "[...document.querySelectorAll('#cards {query}')].filter(at => {{ const box = at.getBoundingClientRect(); \
         return box.width > 4 && box.height > 4; }}).length"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_a_hundred_printers_on_one_screen_and_two_hundred_on_two() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, SIMULATED, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let order = floor.order(3).await;
    let printing = until("three to print", || async {
        let jobs = floor.app.jobs(&order).await;
        jobs.iter().all(|job| job["state"] == "PRINTING").then_some(jobs)
    })
    .await;
    let paused = printing[0]["printerId"].as_str().unwrap();
    floor.app.act(&format!("/api/printers/{paused}/pause")).await.expect(200);
    add_silent(&floor.app, SIMULATED..100).await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    browser.window(&tab, SCREEN.0, SCREEN.1, false).await;
    browser.until(&tab, "a hundred whole tiles", &format!("{WHOLE} === 100")).await;
    // Each tile shows its name, state and activity. Those that print also show their progress and a stop button; the
    // one that needs a person shows only what to do.
    let parts = [("h3 a", 100), (".state", 100), (".what", 100), ("progress", 3), (".pace b", 3), (".view", 0)];
    let acts = [(".stop", 3), ("[id^=resume-]", 1), ("[id^=pause-]", 0), (".foot a", 0)];
    for (query, count) in parts.into_iter().chain(acts) {
        browser.until(&tab, &format!("{count} of {query}"), &format!("{} === {count}", visible(query))).await;
    }
    browser.until(&tab, "readable texts", &format!("{UNREADABLE}.length === 0")).await;
    // The two that are not paused have the time left in the form that fits a tile.
    browser.until(&tab, "the times left", &format!("{TIMES_LEFT}.length === 2")).await;
    let times = browser.eval(&tab, TIMES_LEFT).await;
    assert_eq!(times, json!([["compact", true], ["compact", true]]));
    let heights = "new Set([...document.querySelectorAll('#cards li[data-name]')].map(card => card.offsetHeight)).size";
    assert_eq!(browser.eval(&tab, heights).await, 1, "tiles of one height");

    add_silent(&floor.app, 100..200).await;
    let all = "document.querySelectorAll('#cards li[data-name]').length === 200";
    browser.until(&tab, "two hundred tiles", all).await;
    browser.until(&tab, "the first hundred", &format!("{SEEN} >= 100")).await;
    browser.eval(&tab, "scrollTo(0, document.documentElement.scrollHeight)").await;
    assert_eq!(browser.eval(&tab, "scrollY > 0 && scrollY <= innerHeight").await, true, "the page has two screens");
    browser.until(&tab, "all of them", &format!("{SEEN} === 200")).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
