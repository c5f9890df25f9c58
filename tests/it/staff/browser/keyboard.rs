//! The floor without a mouse: from sign-in to a print that is paused, cancelled and stopped, with a visible focus.

use serde_json::json;
use simulator::PrinterKind;
use simulator::printer::PhysicalEvent;

use super::{SAM, floor, state};
use crate::api::{PASSWORD, staff};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::browser::Browser;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_works_the_floor_by_the_keyboard_alone() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let (base, on) = (floor.app.base.clone(), floor.printers[0].clone());
    let (_, job) = floor.one().await;
    let number = floor.app.job_is(&job, "PRINTING").await["number"].as_str().unwrap().to_owned();
    let name = floor.app.get(&floor.path(0, "")).await.expect(200)["name"].as_str().unwrap().to_owned();

    let tab = browser.open(&base, "/floor", None).await;
    browser.tab_to(&tab, "Email address").await;
    browser.write(&tab, SAM).await;
    browser.tab_to(&tab, "Password").await;
    browser.write(&tab, PASSWORD).await;
    browser.strike(&tab, "Enter").await;
    browser
        .until(&tab, "the floor", "location.pathname === '/floor' && document.querySelector('#cards li[data-name]')")
        .await;
    // The first stop passes over the navigation.
    browser.tab_to(&tab, "Skip to content").await;
    browser.strike(&tab, "Enter").await;
    browser.tab_to(&tab, "Pause").await;
    browser.strike(&tab, "Enter").await;
    floor.app.job_is(&job, "PAUSED").await;
    browser.until(&tab, "the card to pause", &format!("{} === 'Paused'", state(&on))).await;
    let focus = format!("document.getElementById('printer-{on}').contains(document.activeElement)");
    assert_eq!(browser.eval(&tab, &focus).await, true, "the focus was lost");

    browser.tab_to(&tab, "Cancel").await;
    browser.strike(&tab, "Enter").await;
    let confirm = format!("Cancel {number} on {name}");
    browser.sees(&tab, &confirm).await;
    browser.tab_to_whole(&tab, &confirm).await;
    floor.app.job_is(&job, "PAUSED").await;
    browser.strike(&tab, "Enter").await;
    let over = |job: &serde_json::Value| job["state"] != "PAUSED" && job["state"] != "PRINTING";
    floor.job_until("the print to end", &job, over).await;

    // The emergency stop is held, by the space bar as by the other key.
    let stops = || floor.count(0, |what| matches!(what, PhysicalEvent::EmergencyStop));
    browser.go(&tab, &format!("{base}/floor")).await;
    browser.tab_to(&tab, "Emergency stop for").await;
    browser.strike(&tab, " ").await;
    assert_eq!(stops(), 0, "a short press stops nothing");
    browser.key(&tab, " ", true).await;
    floor.attention(0, "needs_home", true).await;
    browser.key(&tab, " ", false).await;
    assert_eq!(stops(), 1, "once");
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

/// Checks that the focus is preserved when a page is reloaded, although few of its elements have IDs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_stays_where_it_was_when_what_is_around_it_is_read_again() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    let tab = browser.open(&base, &format!("/shop/orders/{order}"), Some(&cookie)).await;
    browser.sees(&tab, "Edit or cancel").await;
    for (n, (which, words)) in [("summary", "Edit or cancel"), ("a", "Printer compatibility")].into_iter().enumerate() {
        let at = format!("[...document.querySelectorAll('#order {which}')].find(at => at.textContent === '{words}')");
        browser.eval(&tab, &format!("{at}.focus()")).await;
        let note = format!("note {n}");
        floor.app.patch(&format!("/api/orders/{order}"), &json!({"internalNotes": note})).await.expect(200);
        // A change of notes is no event; one that is lets the page be read again.
        floor.order(1).await;
        let shows_note = format!("document.getElementById('order').textContent.includes('{note}')");
        browser.until(&tab, "the page to be read again", &shows_note).await;
        assert_eq!(browser.eval(&tab, "document.activeElement.textContent").await, words, "the focus went elsewhere");
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_each_stop_of_the_tab_key_and_is_nowhere_caught() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    for path in ["/floor", "/to-do", "/shop/orders"] {
        browser.go(&tab, &format!("{base}{path}")).await;
        let (stops, unseen) = browser.tab_around(&tab).await;
        assert!(stops.len() >= 10, "{path}: {stops:?}");
        assert_eq!(unseen, Vec::<String>::new(), "{path}: where the focus is cannot be seen");
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
