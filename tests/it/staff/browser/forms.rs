//! Forms of the staff, filled in by their labels: printers of each type, a manual print, stock, API keys, webhooks.

use printfloor::printers::PrinterType;
use printfloor::words::Language;
use serde_json::json;
use simulator::printer::PhysicalEvent;
use simulator::sink::{Sink, SinkMode};
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::floor;
use super::shop::{ADMIN, admin};
use crate::api::webhooks::{endpoint_is, got};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::browser::Browser;
use crate::support::{App, Db};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_adds_a_printer_of_each_type() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite().with_staff(ADMIN)).await;
    let fleet = Fleet::start(FleetOptions { own_hosts: true, ..FleetOptions::of_each(1) }).await.unwrap();
    let cookie = admin(&app).await;
    let tab = browser.open(&app.base, "/floor", Some(&cookie)).await;
    browser.sees(&tab, "No printers yet").await;
    for sim in &fleet.printers {
        let declared = PrinterType::of_word(sim.kind.as_str()).unwrap();
        let name = format!("Printer of type {}", declared.word);
        browser.go(&tab, &format!("{}/floor", app.base)).await;
        browser.press(&tab, "Add printer").await;
        browser.press(&tab, declared.name).await;
        browser.fill(&tab, "Name", &name).await;
        browser.fill(&tab, "URL", &sim.base_url).await;
        if !declared.keyless {
            browser.fill(&tab, &(declared.key_label)(Language::English), &sim.api_key).await;
        }
        if declared.needs_serial {
            browser.fill(&tab, "Serial number", &sim.serial).await;
        }
        browser.press(&tab, "Test and add").await;
        browser.until(&tab, "its own page", "/^\\/floor\\/printers\\/[0-9a-f-]{36}$/.test(location.pathname)").await;
        browser.sees(&tab, &name).await;
        let id = browser.path(&tab).await.rsplit('/').next().unwrap().to_owned();
        app.connected(&id).await;
    }
    browser.go(&tab, &format!("{}/floor", app.base)).await;
    let cards = format!("document.querySelectorAll('#cards li[data-name]').length === {}", PrinterKind::ALL.len());
    browser.until(&tab, "a card for each", &cards).await;
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_prints_a_file_that_is_dropped_or_chosen() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let file = floor.app.folder().join("vase.gcode");
    std::fs::write(&file, simulator::gcode::gcode("vase", 600, 5.0, 1_650.0)).unwrap();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    for n in 0..2 {
        let name = floor.app.get(&floor.path(n, "")).await.expect(200)["name"].as_str().unwrap().to_owned();
        browser.go(&tab, &format!("{base}/floor")).await;
        if n == 0 {
            let card = format!("#printer-{}", floor.printers[n]);
            browser.until(&tab, "the card", &format!("document.querySelector({card:?})")).await;
            browser.drop_file(&tab, &card, &file).await;
        } else {
            // Whoever cannot drag chooses it.
            browser.press_near(&tab, "Manual print", &name).await;
            browser.attach(&tab, "G-code", "", &file).await;
            browser.press(&tab, "Upload").await;
        }
        browser.sees(&tab, &format!("Print vase.gcode on {name}?")).await;
        assert_eq!(floor.started(n), 0, "it is offered, and not begun");
        browser.press(&tab, "Print now").await;
        floor.physically("the print to begin", n, |what| matches!(what, PhysicalEvent::Started { .. })).await;
    }
    browser.go(&tab, &format!("{base}/floor")).await;
    browser.sees(&tab, "2 printing").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

/// Returns a script that creates a variable `all` with files, given by JavaScript expressions for their contents and by
/// their names.
fn files_of(files: &[(&str, &str)]) -> String {
    let add = |(content, name): &(&str, &str)| format!("all.items.add(new File([{content}], '{name}'));");
    let add: String = files.iter().map(add).collect();
    format!("const all = new DataTransfer(); {add} const form = document.querySelector('form[data-sends]');")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_uploads_what_is_dropped_meanwhile_and_names_the_file_that_is_refused() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite().with_staff(ADMIN)).await;
    let cookie = admin(&app).await;
    let tab = browser.open(&app.base, "/shop/products/files", Some(&cookie)).await;
    // Nothing is sent until all are chosen.
    let hold = "void (() => { const send = XMLHttpRequest.prototype.send; window.held = []; \
        XMLHttpRequest.prototype.send = function (body) { window.held.push(() => send.call(this, body)); }; })()";
    browser.eval(&tab, hold).await;
    let code = "'G28\\nG1 X10 E1\\n; filament used [g] = 3.5\\n; filament_type = PLA\\n'";
    let chosen = files_of(&[("new Uint8Array([0, 1, 2])", "broken.gcode"), (code, "clip.gcode")]);
    let choose = "form.querySelector('input[type=file]').files = all.files; form.requestSubmit();";
    browser.eval(&tab, &format!("void (() => {{ {chosen} {choose} }})()")).await;
    let dropped = files_of(&[(code, "hook.gcode")]);
    let put = "const how = { bubbles: true, cancelable: true, dataTransfer: all }; \
        form.closest('main').dispatchEvent(new DragEvent('drop', how));";
    browser.eval(&tab, &format!("void (() => {{ {dropped} {put} }})()")).await;
    browser.eval(&tab, "void setInterval(() => { const send = window.held.shift(); if (send) send(); }, 20)").await;
    browser.sees(&tab, "2 of 3 files uploaded.").await;
    let status = "document.querySelector('form[data-sends] [role=status]').textContent";
    let status = browser.eval(&tab, status).await.as_str().unwrap_or_default().to_owned();
    let lines: Vec<&str> = status.lines().collect();
    assert_eq!(lines.len(), 2, "{status}");
    assert!(lines[1].starts_with("broken.gcode: ") && lines[1].contains("not recognised as G-code"), "{status}");
    let stored = app.get("/api/files").await.expect(200);
    let mut names: Vec<&str> =
        stored["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["clip.gcode", "hook.gcode"], "{stored}");
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_receives_stock_and_the_job_that_waited_begins() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::on(Db::sqlite().with_staff(ADMIN), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let base = floor.app.base.clone();
    let cookie = admin(&floor.app).await;
    let material = floor.app.material("PETG used up", 0.0).await;
    let file = floor.file("lid", 600, 12.0).await;
    let sku = floor.app.sku("LID", &material, &file, 700).await;
    let order = floor.app.paid_order(&sku, 1).await;
    let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    let slot = format!("{}/slots/0", floor.path(0, ""));
    floor.app.post(&slot, &json!({"materialId": material})).await.expect(200);
    let tab = browser.open(&base, &format!("/shop/orders/{order}"), Some(&cookie)).await;
    browser.sees(&tab, "PETG used up").await;
    assert_eq!(floor.started(0), 0);
    browser.press(&tab, "Stock").await;
    browser.press(&tab, "PETG used up").await;
    browser.fill(&tab, "Amount received", "1000").await;
    browser.press(&tab, "Receive").await;
    browser.sees(&tab, "On hand 1000 g").await;
    floor.app.job_is(&job, "PRINTING").await;
    // On a phone the stock is read without moving it from side to side.
    browser.go(&tab, &format!("{base}/shop/stock")).await;
    browser.width(&tab, 360).await;
    let fits = "(at => at && at.scrollWidth <= at.clientWidth)(document.querySelector('[aria-label=Materials]'))";
    browser.until(&tab, "the table to fit a phone", fits).await;
    browser.sees(&tab, "on hand").await;
    browser.go(&tab, &format!("{base}/floor")).await;
    browser.sees(&tab, "1 printing").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_makes_a_key_that_works_until_it_is_revoked() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    let cookie = admin(&app).await;
    let tab = browser.open(&app.base, "/floor", Some(&cookie)).await;
    for step in ["Settings", "API Keys", "New Key"] {
        browser.press(&tab, step).await;
    }
    browser.fill(&tab, "Name", "Label printer").await;
    browser.fill(&tab, "Role", "operator").await;
    browser.fill(&tab, "Expiry", "2099-12-31").await;
    browser.press(&tab, "Generate key").await;
    let key = browser.value(&tab, "Shown only once").await;
    assert!(key.starts_with("key_"), "{key}");
    let program = app.with_key(&key);
    program.get("/api/printers").await.expect(200);
    assert_eq!(program.get("/api/users").await.status, 403, "it may do what its role may");
    browser.press(&tab, "View API keys").await;
    browser.sees(&tab, "Label printer").await;
    assert!(!browser.text(&tab).await.contains(&key), "it is shown once");
    browser.press_near(&tab, "Revoke Label printer", "Label printer").await;
    browser.sees(&tab, "Revoked").await;
    assert_eq!(program.get("/api/printers").await.status, 401);
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_sees_a_webhook_fail_and_sends_it_again() {
    let Some(mut browser) = Browser::start().await else { return };
    let app =
        App::on(Db::sqlite().with_staff(ADMIN)).env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", "0.1").start().await;
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::Status(500));
    let cookie = admin(&app).await;
    let tab = browser.open(&app.base, "/shop/webhooks", Some(&cookie)).await;
    browser.press(&tab, "Add endpoint").await;
    browser.fill(&tab, "Endpoint URL", &sink.url()).await;
    browser.tick(&tab, "order created").await;
    browser.press(&tab, "Add endpoint").await;
    browser.press(&tab, "View endpoint").await;
    browser.press(&tab, "Send test event").await;
    browser.sees(&tab, "Response 500").await;
    let tried = got(&sink, 2).await.len();
    let endpoints = app.get("/api/webhooks/endpoints").await.expect(200);
    endpoint_is(&app, endpoints["endpoints"][0]["id"].as_str().unwrap(), "disabled").await;
    sink.set_mode(SinkMode::Ok);
    browser.press(&tab, "Send again").await;
    // It was switched off after its attempts, so that what is sent again waits until it is enabled.
    browser.press(&tab, "Enable endpoint").await;
    browser.sees(&tab, "Response 200").await;
    assert!(sink.received().len() > tried);
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}
