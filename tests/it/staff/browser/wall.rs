//! The wall display in a real browser: equal tiles fill the screen, and its pages turn by themselves and by the
//! keyboard.

use std::collections::BTreeSet;

use super::steady::{WATCH, read_shift};
use super::{floor, state};
use crate::machines::Floor;
use crate::staff::floor_many::add_silent;
use crate::support::browser::{Browser, Tab};
use crate::support::until;

/// Number of printers, two of which are in a simulator: more than one page has room for, but no more than two.
const PRINTERS: usize = 60;
const SCREEN: (u32, u32) = (1920, 1080);
/// Path of the wall, whose pages turn every second.
const PATH: &str = "/floor?wall=1&turn=1";
/// Script that lists the visible tiles, in reading order.
const TILES: &str = "[...document.querySelectorAll('#cards li[data-name]')] \
    .filter(card => card.getClientRects().length) \
    .map(card => ({ id: card.id, card, box: card.getBoundingClientRect() })) \
    .sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left)";
/// JavaScript function that returns whether the tiles are equal in size, fit and fill the window, and are large enough
/// to be read from three metres away.
const FILL: &str = "(tiles => { const type = at => parseFloat(getComputedStyle(at).fontSize); \
    const sizes = new Set(tiles.map(({ box }) => Math.round(box.width) + ' ' + Math.round(box.height))); \
    return sizes.size === 1 && tiles.every(({ card, box }) => box.left >= 0 && box.top >= 0 \
    && box.right <= innerWidth && box.bottom <= innerHeight && box.width >= 255 && box.height >= 145 \
    && type(card.querySelector('h3')) >= 22 && type(card.querySelector('.what')) >= 16 \
    && card.scrollHeight <= card.clientHeight + 1) \
    && Math.max(...tiles.map(({ box }) => box.bottom)) >= innerHeight - 40 && scrollY === 0; })";
/// Script that returns the current page.
const PAGE: &str = "document.querySelector('#turns [data-words]').textContent";
/// Script that gives the focus to the first tile on the current page.
const FOCUS_TILE: &str = "document.querySelector('#cards li[data-name]:not([data-off]) h3 a').focus()";
/// Script that returns whether the page is held, by the button that lets it go.
const IS_HELD: &str =
    "!document.getElementById('turns').hidden && !document.querySelector('#turns [data-held]').hidden";

/// Waits until a page of the wall is shown.
async fn page_is(browser: &mut Browser, tab: &Tab, page: &str) {
    browser.until(tab, &format!("page {page}"), &format!("{PAGE} === {page:?}")).await;
}

/// Returns the IDs of the visible tiles, in reading order.
async fn tiles(browser: &mut Browser, tab: &Tab) -> Vec<String> {
    let ids = browser.eval(tab, &format!("{TILES}.map(({{ id }}) => id)")).await;
    ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// Starts a floor of many printers: the first is paused, the second prints, and all others never answer.
async fn crowded() -> (Floor, String) {
    let (floor, cookie) = floor().await;
    let order = floor.order(2).await;
    until("both to print", || async {
        floor.app.jobs(&order).await.iter().all(|job| job["state"] == "PRINTING").then_some(())
    })
    .await;
    floor.app.act(&floor.path(0, "/pause")).await.expect(200);
    add_silent(&floor.app, 2..PRINTERS).await;
    (floor, cookie)
}

/// Changes the cards of both printers, and checks that nothing moves and that the page stays.
async fn changes_move_nothing(browser: &mut Browser, tab: &Tab, floor: &Floor) {
    let before = (browser.eval(tab, PAGE).await, tiles(browser, tab).await);
    browser.eval(tab, WATCH).await;
    floor.stands_at(1, 0.6);
    let progress = format!("document.getElementById('gauge-{}').dataset.percent >= 59", floor.printers[1]);
    browser.until(tab, "the progress", &progress).await;
    for (act, word) in [("resume", "Printing"), ("pause", "Paused")] {
        floor.app.act(&floor.path(0, &format!("/{act}"))).await.expect(200);
        browser.until(tab, word, &format!("{} === {word:?}", state(&floor.printers[0]))).await;
    }
    assert_eq!(read_shift(browser, tab, "the wall").await, None);
    assert_eq!((browser.eval(tab, PAGE).await, tiles(browser, tab).await), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_fills_a_wall_display_and_turns_its_pages() {
    let Some(browser) = Browser::start().await else { return };
    // Otherwise, the page would turn during the accessibility check.
    let mut browser = browser.without_rules();
    let (floor, cookie) = crowded().await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, PATH, Some(&cookie)).await;
    browser.window(&tab, SCREEN.0, SCREEN.1, false).await;
    let silent = format!("document.querySelectorAll('#cards li[data-group=offline]').length === {}", PRINTERS - 2);
    browser.until(&tab, "a card of each", &silent).await;
    let is_paused = format!("{} === 'Paused'", state(&floor.printers[0]));
    browser.until(&tab, "the card to pause", &is_paused).await;

    // The pages turn by themselves until somebody holds one.
    for page in ["2 of 2", "1 of 2"] {
        page_is(&mut browser, &tab, page).await;
    }
    browser.press(&tab, "Pause").await;
    browser.until(&tab, "the page to be held", IS_HELD).await;
    if browser.eval(&tab, PAGE).await != "1 of 2" {
        browser.tap_key(&tab, "ArrowLeft").await;
        page_is(&mut browser, &tab, "1 of 2").await;
    }
    browser.until(&tab, "tiles to fill the screen", &format!("{FILL}({TILES})")).await;
    changes_move_nothing(&mut browser, &tab, &floor).await;

    // Turning the pages shows every printer, and each page begins with the one that needs a person.
    let urgent = format!("printer-{}", floor.printers[0]);
    let first = tiles(&mut browser, &tab).await;
    browser.tap_key(&tab, "ArrowRight").await;
    page_is(&mut browser, &tab, "2 of 2").await;
    let second = tiles(&mut browser, &tab).await;
    assert_eq!([&first[0], &second[0]], [&urgent, &urgent]);
    let printers: BTreeSet<String> = first.into_iter().chain(second).collect();
    assert_eq!(printers.len(), PRINTERS, "{printers:?}");

    // The space bar releases and holds the page, as the button does.
    browser.eval(&tab, "document.activeElement.blur()").await;
    browser.tap_key(&tab, " ").await;
    for page in ["1 of 2", "2 of 2"] {
        page_is(&mut browser, &tab, page).await;
    }
    // A focused tile holds the page only for a while after the last input, and not after going back.
    browser.eval(&tab, FOCUS_TILE).await;
    browser.eval(&tab, "(now => { Date.now = () => now() + 61000; })(Date.now)").await;
    for page in ["1 of 2", "2 of 2"] {
        page_is(&mut browser, &tab, page).await;
    }
    browser.eval(&tab, FOCUS_TILE).await;
    let is_focused = "document.getElementById('cards').contains(document.activeElement)";
    assert_eq!(browser.eval(&tab, is_focused).await, true);
    browser.eval(&tab, "window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))").await;
    assert_eq!(browser.eval(&tab, is_focused).await, false);
    browser.tap_key(&tab, " ").await;
    browser.until(&tab, "the page to be held again", IS_HELD).await;

    // With reduced motion, pages turn only by hand.
    browser.dark(&tab, false).await;
    browser.go(&tab, &format!("{base}{PATH}")).await;
    browser.until(&tab, "the page to be held from the beginning", IS_HELD).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
