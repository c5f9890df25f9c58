//! The pages in a real browser: the floor follows a print without reloading, works with the keyboard alone, fits a
//! phone, and has no script errors. `alive` covers many open pages and a server that goes down, `keyboard` everything
//! without a mouse, `parts` actions at printers, `first_print` the way from a new server to the first print, `tasks`
//! the tasks of a working day and their number of clicks, `everywhere` rules that hold for every page, `tables` the
//! width of tables, `states` consistent states across pages, `steady` layout shifts, `phone` the space on a phone,
//! `scan` labels in front of the camera, `wall` the wall display, `to_do` the panels beside the tasks, `design` the
//! design components, `report` the stored report on them, `pictures` the screenshots.

mod alive;
mod design;
mod everywhere;
mod first_print;
mod forms;
mod keyboard;
mod parts;
mod phone;
mod pictures;
mod report;
mod scan;
mod shell;
pub mod shop;
mod states;
mod steady;
mod stored_report;
mod tables;
mod tasks;
mod to_do;
mod wall;

use std::path::Path;

use simulator::PrinterKind;
use simulator::printer::PhysicalEvent;

use super::SAM;
use crate::api::{PASSWORD, sign_in, staff};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::browser::Browser;
use crate::support::drawing::draw;
use crate::support::until;

/// Languages of the pages.
const LANGUAGES: [&str; 2] = ["en", "de"];

/// Returns the language in which a run checks the pages of a test, drawn by its seed.
fn drawn_language(test: &str) -> &'static str {
    if draw(("language", test), 2) == 0 { LANGUAGES[0] } else { LANGUAGES[1] }
}

/// Returns a JavaScript expression for the state on a printer's card.
fn state(printer: &str) -> String {
    format!("(document.querySelector('#printer-{printer} .state') || {{}}).textContent")
}

async fn floor() -> (Floor, String) {
    let floor = Floor::new(PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    (floor, cookie)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_follows_a_print_and_pauses_it_without_loading_the_page_again() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    browser.until(&tab, "two cards", "document.querySelectorAll('#cards li[data-name]').length === 2").await;
    browser.eval(&tab, "window.stays = true").await;
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    browser.until(&tab, "the card to print", &format!("{} === 'Printing'", state(&on))).await;
    browser.until(&tab, "the title to say so", "document.title.startsWith('1 printing')").await;
    browser.until(&tab, "a bar", &format!("document.querySelector('#gauge-{on} progress')")).await;

    // By the keyboard alone; the focus stays while the card is made anew.
    browser.eval(&tab, &format!("document.getElementById('pause-{on}').focus()")).await;
    browser.key(&tab, "Enter", true).await;
    browser.key(&tab, "Enter", false).await;
    floor.app.job_is(&job, "PAUSED").await;
    browser.until(&tab, "the card to pause", &format!("{} === 'Paused'", state(&on))).await;
    let focus = format!("document.getElementById('printer-{on}').contains(document.activeElement)");
    assert_eq!(browser.eval(&tab, &focus).await, true, "the focus was lost");
    // What has the focus is not moved; once it is left, problems stand first.
    browser.eval(&tab, "document.activeElement.blur()").await;
    let first = format!("document.querySelector('#cards li[data-name]').id === 'printer-{on}'");
    browser.until(&tab, "it to stand first", &first).await;
    assert_eq!(browser.eval(&tab, "window.stays").await, true, "the page was loaded again");

    // On a phone nothing is wider than the window.
    browser.width(&tab, 360).await;
    let fits = "document.documentElement.scrollWidth <= window.innerWidth";
    browser.until(&tab, "the page to fit a phone", fits).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_stops_a_printer_when_the_button_is_held_and_not_before() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let stopped = |n: usize| floor.count(n, |what| matches!(what, PhysicalEvent::EmergencyStop));
    // On the page of a printer a short press does nothing either.
    browser.go(&tab, &format!("{base}/floor/printers/{}", floor.printers[0])).await;
    let own = "[aria-labelledby=stop-title] button";
    browser.until(&tab, "the button", &format!("document.querySelector('{own}')")).await;
    browser.tap(&tab, own).await;
    browser.sees(&tab, "Keep holding: emergency stop for").await;
    floor.wait_for_poll(0).await;
    assert_eq!(stopped(0), 0, "a short press stops nothing");
    browser.go(&tab, &format!("{base}/floor")).await;
    for (n, by_key) in [(0, false), (1, true)] {
        let button = format!("#stop-{}", floor.printers[n]);
        browser.until(&tab, "the button", &format!("document.querySelector('{button}')")).await;
        browser.eval(&tab, &format!("document.querySelector('{button}').focus()")).await;
        // A short press does nothing.
        if by_key {
            browser.tap_key(&tab, "Enter").await;
        } else {
            browser.tap(&tab, &button).await;
        }
        assert_eq!(browser.eval(&tab, "!document.querySelector('.holding')").await, true);
        assert_eq!(stopped(n), 0, "a short press stops nothing");
        if by_key {
            browser.key(&tab, "Enter", true).await;
        } else {
            browser.mouse(&tab, &button, true).await;
        }
        floor.attention(n, "needs_home", true).await;
        if by_key {
            browser.key(&tab, "Enter", false).await;
        } else {
            browser.mouse(&tab, &button, false).await;
        }
        assert_eq!(stopped(n), 1, "once");
        let words = format!(
            "document.querySelector('#printer-{} .about').textContent.includes('Needs homing')",
            floor.printers[n]
        );
        browser.until(&tab, "the card to say so", &words).await;
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

/// Lists the command lines of the processes whose arguments contain this folder.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap();
    let lines = entries.filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(folder)).collect()
}

/// Checks the browser of these tests itself: processes left behind by hundreds of tests would fill the machine's
/// memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_leaves_no_process_behind() {
    let Some(browser) = Browser::start().await else { return };
    let profile = browser.profile().to_owned();
    assert!(!processes_of(&profile).is_empty(), "it runs with its profile");
    drop(browser);
    until("its processes to have ended", || async { processes_of(&profile).is_empty().then_some(()) }).await;
}
