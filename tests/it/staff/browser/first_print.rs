//! A newcomer's way through the wizard, from a new server to the first print, guided only by the text on the pages.

use std::time::Instant;

use serde_json::Value;
use simulator::{Fleet, FleetOptions, PrinterKind};

use crate::api::PASSWORD;
use crate::cli::process::{Place, tool};
use crate::support::browser::{Browser, Tab};
use crate::support::ports::closed_address;
use crate::support::waiting::LONG;
use crate::support::{App, Db, until};

/// Maximum number of clicks, addresses and fields that a newcomer needs before the first print.
const MAX_ACTIONS: usize = 25;

/// Completes the wizard from the code to the page on which printers are added.
async fn begin(browser: &mut Browser, tab: &Tab, code: &str) {
    browser.fill(tab, "One-time code", code).await;
    browser.press(tab, "Open setup").await;
    browser.fill(tab, "Name", "Sam").await;
    browser.fill(tab, "Email address", "sam@example.org").await;
    browser.fill(tab, "Password", PASSWORD).await;
    browser.press(tab, "Add admin and continue").await;
    browser.press(tab, "Test both connections").await;
    browser.press(tab, "Next: Printer Discovery").await;
}

/// Opens the wizard of a new server with the printed code, and continues to the page on which printers are added.
pub async fn opened(browser: &mut Browser, app: &App) -> Tab {
    let tab = browser.open(&app.base, "/setup", None).await;
    let code = code(app).await;
    begin(browser, &tab, &code).await;
    tab
}

/// Returns the code that a server has printed.
pub async fn code(app: &App) -> String {
    until("a code to be printed", || async {
        let log = app.log();
        let line = log.iter().find(|line| line.contains("the one-time code is"))?;
        Some(line.split("code is ").nth(1)?.split(';').next()?.to_owned())
    })
    .await
}

/// Adds a printer without using the search.
pub async fn add_by_hand(browser: &mut Browser, tab: &Tab, kind: &str, url: &str, key: &str) {
    browser.press(tab, "Add a printer manually").await;
    browser.fill(tab, "Name", "Ada").await;
    browser.fill(tab, "Type", kind).await;
    browser.fill(tab, "URL", url).await;
    browser.fill(tab, "API key", key).await;
    browser.press(tab, "Test and add").await;
}

/// Clicks the button for the test print until the printer has been polled and accepts it.
async fn print(browser: &mut Browser, tab: &Tab) {
    let began = Instant::now();
    loop {
        browser.press(tab, "Print a test part on Ada").await;
        if browser.says(tab, "Printing.").await || browser.says(tab, "Uploading.").await {
            return;
        }
        assert!(began.elapsed() < LONG, "{}", browser.text(tab).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_goes_from_the_printed_code_to_the_written_settings() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let sim = &fleet.printers[0];
    let code = code(&app).await;
    let tab = browser.open(&app.base, "/setup", None).await;
    browser.fill(&tab, "One-time code", "AAAA-AAAA-AAAA").await;
    browser.press(&tab, "Open setup").await;
    browser.sees(&tab, "That code is incorrect.").await;
    begin(&mut browser, &tab, &code).await;

    // The search ends by itself before the reader's eyes, and a printer that does not answer as it should is not added.
    browser.press(&tab, "Search for printers").await;
    browser.sees(&tab, "Search complete").await;
    add_by_hand(&mut browser, &tab, "fw_rest", &sim.base_url, "no such key").await;
    browser.sees(&tab, "Test failed.").await;
    browser.fill(&tab, "API key", &sim.api_key).await;
    browser.press(&tab, "Test and add").await;
    browser.sees(&tab, "Ada").await;
    browser.press(&tab, "Next: Integrations").await;
    let closed = closed_address();
    browser.fill_near(&tab, "Address", "Smart home", &format!("http://{closed}")).await;
    browser.press_near(&tab, "Test and save", "Smart home").await;
    browser.sees(&tab, "Test failed.").await;
    browser.press(&tab, "Next: Commerce").await;
    browser.fill(&tab, "Sender", "Shop <shop@example.org>").await;
    browser.press_near(&tab, "Test and save", "Sender").await;
    browser.press(&tab, "Next: Review and Launch").await;
    browser.sees(&tab, "SMTP_FROM").await;
    browser.sees_no(&tab, "SMART_HOME_URL").await;
    assert!(!app.folder().join(".env").exists(), "nothing is written before the last press");
    browser.press(&tab, "Write .env and finish").await;
    browser.sees(&tab, "Restart the server").await;
    let written = std::fs::read_to_string(app.folder().join(".env")).unwrap();
    assert!(written.contains("shop@example.org") && !written.contains("SMART_HOME"), "{written}");
    print(&mut browser, &tab).await;
    // The page follows the print by itself, and leads to its printer.
    browser.sees(&tab, "Ada is printing.").await;
    browser.press(&tab, "Open Ada").await;
    browser.sees(&tab, "Printing").await;
    browser.go(&tab, &format!("{}/floor", app.base)).await;
    browser.sees(&tab, "1 printing").await;
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}

/// Runs the unpacked program in an empty folder, without any preparation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_needs_few_actions_from_a_new_server_to_the_first_simulated_print() {
    let Some(mut browser) = Browser::start().await else { return };
    tool("printfloor-simulator");
    let place = Place::new();
    let mut printers = place.start(&format!("simulate --fw-rest 1 --base-port {} --speed 2", place.ports()));
    let printer: Value = serde_json::from_str(&printers.line("baseUrl")).unwrap();
    let text = |member: &str| printer[member].as_str().unwrap().to_owned();
    let began = Instant::now();
    let mut server = place.start(crate::cli::SERVE);
    let base = server.line("address   http://").split_whitespace().last().unwrap().to_owned();
    let code = server.line("the one-time code is");
    let code = code.split("code is ").nth(1).unwrap().split(';').next().unwrap();

    let tab = browser.open(&base, "/setup", None).await;
    begin(&mut browser, &tab, code).await;
    add_by_hand(&mut browser, &tab, "fw_rest", &text("baseUrl"), &text("apiKey")).await;
    for step in ["Next: Integrations", "Next: Commerce", "Next: Review and Launch", "Write .env and finish"] {
        browser.press(&tab, step).await;
    }
    print(&mut browser, &tab).await;
    // The page follows the print, and its links move once.
    browser.sees(&tab, "Ada is printing.").await;
    browser.press(&tab, "Open the floor").await;
    browser.sees(&tab, "1 printing").await;
    println!(
        "{} actions and {:.1} s from a new server to the first print",
        browser.actions,
        began.elapsed().as_secs_f64()
    );
    assert!(browser.actions <= MAX_ACTIONS, "{} actions", browser.actions);
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
