//! People's actions at printers, with a mouse or on a phone: sign off parts, clear beds, cancel prints.

use serde_json::json;
use simulator::PrinterKind;

use super::{SAM, floor};
use crate::api::{PASSWORD, sign_in, staff};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW, STILL};
use crate::support::browser::{Browser, Tab};
use crate::support::until;

/// Starts printers with manual bed clearing, each with a finished print; returns the floor, the ID of the order of
/// these prints, and an operator's cookie.
pub(super) async fn over(count: usize) -> (Floor, String, String) {
    let floor = Floor::new(PrinterKind::FwRest, count, FAST, &[JUDGE_LATE]).await;
    for n in 0..count {
        floor.app.patch(&floor.path(n, ""), &json!({"autoClear": false})).await.expect(200);
    }
    let order = floor.order(u32::try_from(count).unwrap()).await;
    for n in 0..count {
        floor.attention(n, "bed_not_cleared", true).await;
        // What is made again takes its time.
        floor.sim(n).handle.set_speed(SLOW);
    }
    floor.app.order_is(&order, "ready").await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    (floor, order, cookie)
}

/// Returns the name of a printer.
pub(super) async fn name(floor: &Floor, printer: usize) -> String {
    floor.app.get(&floor.path(printer, "")).await.expect(200)["name"].as_str().unwrap().to_owned()
}

/// Orders a print; returns its job and the number of the printer once it is under way.
async fn print_under_way(floor: &Floor) -> (String, usize) {
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    let n = floor.printers.iter().position(|printer| *printer == on).unwrap();
    (job, n)
}

/// Page of a printer with a print under way.
struct PrintPage {
    tab: Tab,
    job: String,
    /// Number of the printer.
    n: usize,
    /// Unopened question of whether the print is to be cancelled.
    question: String,
}

/// Orders a print and opens the page of its printer.
async fn page_of_print(browser: &mut Browser, floor: &Floor, cookie: &str) -> PrintPage {
    let (job, n) = print_under_way(floor).await;
    let question = format!("Cancel {} on {}?", floor.job(&job).await["number"].as_str().unwrap(), name(floor, n).await);
    let path = format!("/floor/printers/{}", floor.printers[n]);
    let tab = browser.open(&floor.app.base, &path, Some(cookie)).await;
    browser.until(&tab, "the print", "document.getElementById('cancel')").await;
    PrintPage { tab, job, n, question }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_signs_off_one_bad_part_of_two_and_sees_its_replacement() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, order, cookie) = over(2).await;
    let (base, bad, good) = (floor.app.base.clone(), name(&floor, 0).await, name(&floor, 1).await);
    let tab = browser.open(&base, "/to-do", Some(&cookie)).await;
    browser.sees(&tab, "Beds to clear (2)").await;
    // What is folded away is unfolded on the way.
    browser.fill_near(&tab, "Defect", &bad, "warping").await;
    let picture = floor.app.folder().join("part.png");
    std::fs::write(&picture, simulator::gcode::sample_png()).unwrap();
    browser.attach(&tab, "Picture of the parts", &bad, &picture).await;
    browser.press_near(&tab, "Bad", &bad).await;
    browser.sees(&tab, "Beds to clear (1)").await;
    browser.press_near(&tab, "Bed is clear", &good).await;
    browser.sees_no(&tab, "Beds to clear (").await;

    let (number, again) = until("the part to be made again", || async {
        let jobs = floor.app.jobs(&order).await;
        let last = jobs.iter().max_by_key(|job| job["number"].as_str().unwrap().to_owned())?;
        let text = |member: &str| last[member].as_str().unwrap().to_owned();
        (jobs.len() == 3).then(|| (text("number"), text("id")))
    })
    .await;
    browser.go(&tab, &format!("{base}/shop/orders/{order}")).await;
    browser.sees(&tab, &number).await;
    let link = "[...document.querySelectorAll('#order a')].some(link => link.textContent === 'Picture of the parts')";
    browser.until(&tab, "the picture", link).await;
    let under_way = "[...document.querySelectorAll('#order td.number')][2].textContent.trim() === '1'";
    browser.until(&tab, "one part under way", under_way).await;
    browser.go(&tab, &format!("{base}/floor")).await;
    let on_card = format!("document.querySelector('#cards .about a[href$=\"#job-{again}\"]')");
    browser.until(&tab, "the part on a card", &on_card).await;
    browser.sees(&tab, "1 printing").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_keeps_the_page_of_a_printer_up_to_date_while_its_sign_off_form_is_unfolded() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, _, cookie) = over(1).await;
    let base = floor.app.base.clone();
    let path = format!("/floor/printers/{}?parts=open", floor.printers[0]);
    let tab = browser.open(&base, &path, Some(&cookie)).await;
    browser.until(&tab, "the form", "document.querySelector('#some-bad')?.open").await;
    let says = |words: &str| format!("document.querySelector('#printer-side #maintenance')?.textContent === '{words}'");
    browser.until(&tab, "the button", &says("Take out of service")).await;
    let maintenance = floor.path(0, "/maintenance");
    floor.app.post(&maintenance, &json!({"on": true, "note": "new nozzle"})).await.expect(200);
    browser.until(&tab, "the page to follow", &says("Return to service")).await;
    assert_eq!(browser.eval(&tab, "document.querySelector('#some-bad').open").await, true);
    // It stays folded as well, once somebody has folded it.
    browser.eval(&tab, "document.querySelector('#some-bad > summary').click()").await;
    floor.app.post(&maintenance, &json!({"on": false})).await.expect(200);
    browser.until(&tab, "the page to follow again", &says("Take out of service")).await;
    assert_eq!(browser.eval(&tab, "document.querySelector('#some-bad').open").await, false);
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_chooses_all_beds_and_clears_them_at_once() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, _, cookie) = over(2).await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/to-do", Some(&cookie)).await;
    browser.sees(&tab, "Beds to clear (2)").await;
    browser.tick(&tab, "Select all").await;
    let chosen = "document.querySelectorAll('#kind-beds .row input:checked').length === 2";
    browser.until(&tab, "both to be chosen", chosen).await;
    browser.press(&tab, "Selected beds are clear").await;
    for n in 0..2 {
        floor.attention(n, "bed_not_cleared", false).await;
    }
    browser.sees_no(&tab, "Beds to clear (").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

/// Opens the URL from a printer's label, like a phone that has scanned it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_leads_from_a_label_over_the_sign_in_to_the_cleared_bed() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, _, _) = over(1).await;
    let base = floor.app.base.clone();
    let path = format!("/floor/printers/{}", floor.printers[0]);
    let tab = browser.open(&base, &path, None).await;
    browser.width(&tab, 360).await;
    browser.fill(&tab, "Email address", SAM).await;
    browser.fill(&tab, "Password", "no such password").await;
    browser.press(&tab, "Sign in").await;
    browser.until(&tab, "a word of what was wrong", "document.querySelector('[role=alert]')").await;
    browser.fill(&tab, "Password", PASSWORD).await;
    browser.press(&tab, "Sign in").await;
    browser.sees(&tab, "Bed not cleared").await;
    assert_eq!(browser.path(&tab).await, path);
    assert_eq!(browser.wider(&tab).await, Vec::<String>::new());
    browser.press(&tab, "Bed is clear").await;
    floor.attention(0, "bed_not_cleared", false).await;
    browser.sees_no(&tab, "Bed not cleared").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_cancels_a_print_only_after_it_was_confirmed() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let (job, n) = print_under_way(&floor).await;
    // Nothing moves on the card while its menu is opened.
    floor.sim(n).handle.set_speed(STILL);
    let (number, printer) = (floor.job(&job).await["number"].as_str().unwrap().to_owned(), name(&floor, n).await);
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    browser.press_near(&tab, "Cancel", &printer).await;
    let question = format!("Cancel {number} on {printer}");
    browser.sees(&tab, &question).await;
    floor.wait_for_poll(n).await;
    assert_eq!(floor.job(&job).await["state"], "PRINTING", "nothing is cancelled before it was confirmed");
    browser.press(&tab, &question).await;
    let over = |job: &serde_json::Value| job["state"] != "PRINTING";
    floor.job_until("the print to end", &job, over).await;
    browser.sees_no(&tab, &question).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_asks_on_the_page_of_a_printer_before_it_cancels_and_takes_no_for_an_answer() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let PrintPage { tab, job, n, question } = page_of_print(&mut browser, &floor, &cookie).await;
    browser.sees_no(&tab, &question).await;
    browser.press(&tab, "Cancel…").await;
    browser.sees(&tab, &question).await;
    browser.until(&tab, "it to have the focus", "document.activeElement.closest('#cancel')").await;
    browser.press(&tab, "Keep printing").await;
    browser.sees_no(&tab, &question).await;
    browser.press(&tab, "Cancel…").await;
    browser.sees(&tab, &question).await;
    browser.strike(&tab, "Escape").await;
    browser.sees_no(&tab, &question).await;
    floor.wait_for_poll(n).await;
    assert_eq!(floor.job(&job).await["state"], "PRINTING");
    // The question fits a phone.
    browser.width(&tab, 390).await;
    browser.press(&tab, "Cancel…").await;
    browser.sees(&tab, &question).await;
    assert_eq!(browser.wider(&tab).await, Vec::<String>::new());
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_closes_a_question_about_a_print_that_is_over() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let PrintPage { tab, job, n, question } = page_of_print(&mut browser, &floor, &cookie).await;
    browser.press(&tab, "Cancel…").await;
    browser.sees(&tab, &question).await;
    floor.hurry(n);
    floor.app.job_is(&job, "COMPLETED").await;
    // A print of a person begins, about which nobody has been asked.
    floor.own_print(n);
    browser.sees_no(&tab, &question).await;
    assert_eq!(browser.eval(&tab, "location.hash").await, "#content");
    let next = "document.querySelector('#cancel-title')?.textContent.includes('vase')";
    browser.until(&tab, "the next question", next).await;
    floor.wait_for_poll(n).await;
    assert_eq!(floor.sim(n).handle.with(|machine| machine.cancels()), 0, "nobody has cancelled it");
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_sees_the_progress_of_a_print_grow() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    browser.eval(&tab, "window.stays = true").await;
    let (_, n) = print_under_way(&floor).await;
    browser.until(&tab, "a bar", "document.querySelector('#cards progress')").await;
    let value = "Number(document.querySelector('#cards progress').value)";
    for (part, percent) in [(0.06, 5), (0.21, 20), (0.41, 40)] {
        floor.stands_at(n, part);
        let grown = format!("document.querySelector('#cards progress') && {value} >= {percent}");
        browser.until(&tab, &format!("{percent} percent"), &grown).await;
    }
    assert_eq!(browser.eval(&tab, "window.stays").await, true, "the page was loaded again");
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
