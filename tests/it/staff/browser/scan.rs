//! Scanning a label with the camera in a real browser, whose camera and code reader are replaced: a label leads to its
//! page, other codes are refused, and the camera is on only while the dialog is open.

use serde_json::json;

use super::{SAM, floor};
use crate::api::{PASSWORD, sign_in, staff};
use crate::support::browser::{Browser, Tab};
use crate::support::{App, Db};

/// Script that replaces the camera and the code reader. The test sets the codes in view.
const SCANNER: &str = r"(() => {
    if (!navigator.mediaDevices) return;
    window.codes = [];
    window.cameras = [];
    window.BarcodeDetector = class {
        constructor({ formats }) { window.formats = formats; }
        async detect() { return window.codes.map(rawValue => ({ rawValue })); }
    };
    const open = async () => {
        if (window.isBlocked) throw new DOMException('blocked', 'NotAllowedError');
        if (window.isMissing) throw new DOMException('missing', 'NotFoundError');
        if (window.isTaken) throw new DOMException('taken', 'NotReadableError');
        if (window.answer) await window.answer;
        const canvas = document.createElement('canvas');
        canvas.getContext('2d').fillRect(0, 0, 1, 1);
        const camera = canvas.captureStream(5);
        window.cameras.push(camera);
        return camera;
    };
    Object.defineProperty(navigator.mediaDevices, 'getUserMedia', { value: open });
})();";
/// Script for a browser that cannot read codes.
const NO_SCANNER: &str = "delete window.BarcodeDetector;";
/// Script that returns the number of visible buttons and of all buttons.
const BUTTONS: &str = "(all => all.filter(at => at.checkVisibility()).length + ' of ' + all.length)\
    ([...document.querySelectorAll('[data-scan]')])";
/// Script that returns whether a camera is on.
const IS_ON: &str = "cameras.some(camera => camera.getTracks().some(track => track.readyState === 'live'))";

/// Opens a page of the staff in a browser that runs a script before those of the page.
async fn open_with(browser: &mut Browser, app: &App, cookie: &str, path: &str, script: &str) -> Tab {
    let tab = browser.open(&app.base, "/login", Some(cookie)).await;
    browser.run_before_pages(&tab, script).await;
    browser.go(&tab, &format!("{}{path}", app.base)).await;
    tab
}

/// Lets the camera see a code.
async fn show_code(browser: &mut Browser, tab: &Tab, code: &str) {
    browser.eval(tab, &format!("window.codes = [{}]", json!(code))).await;
}

/// Waits until a page is open.
async fn is_at(browser: &mut Browser, tab: &Tab, path: &str) {
    let at = format!("location.pathname + location.search === {}", json!(path));
    browser.until(tab, path, &at).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_opens_the_page_of_a_label_and_refuses_other_codes() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let (app, base) = (&floor.app, floor.app.base.clone());
    let tab = open_with(&mut browser, app, &cookie, "/to-do", SCANNER).await;
    browser.press(&tab, "Scan label").await;
    browser.sees(&tab, "Point the camera at the QR code").await;
    assert_eq!(browser.eval(&tab, "window.formats.join()").await, "qr_code");
    browser.hold(&tab).await;
    let printer = format!("/floor/printers/{}", floor.printers[0]);
    let elsewhere = format!("https://elsewhere.example{printer}");
    show_code(&mut browser, &tab, &elsewhere).await;
    browser.sees(&tab, "This code leads to elsewhere.example.").await;
    for foreign in [
        "WIFI:S:shop;T:WPA;P:secret;;".to_owned(),
        "javascript:alert(1)".to_owned(),
        format!("{base}/shop/orders"),
        format!("{base}/shop/stock/bins"),
        format!("{base}{printer}/bed-cleared"),
    ] {
        show_code(&mut browser, &tab, &elsewhere).await;
        browser.sees(&tab, "This code leads to elsewhere.example.").await;
        show_code(&mut browser, &tab, &foreign).await;
        browser.sees(&tab, "This code is not on a label of this shop.").await;
        assert_eq!(browser.path(&tab).await, "/to-do", "{foreign}");
    }
    // It goes on, and finds the label among several codes.
    let codes = json!([elsewhere, format!("{base}{printer}")]);
    browser.eval(&tab, &format!("window.codes = {codes}")).await;
    is_at(&mut browser, &tab, &printer).await;

    let spool = format!("/shop/stock/spools/4711?material={}", floor.material);
    browser.go(&tab, &format!("{base}/shop/stock")).await;
    browser.press(&tab, "Scan label").await;
    show_code(&mut browser, &tab, &format!("{base}{spool}")).await;
    is_at(&mut browser, &tab, &spool).await;

    // On a phone, the sheet of the bar at the bottom has the button too.
    browser.width(&tab, 360).await;
    browser.go(&tab, &format!("{base}/shop/orders")).await;
    browser.press(&tab, "More").await;
    browser.press(&tab, "Scan label").await;
    browser.sees(&tab, "Point the camera at the QR code").await;
    assert_eq!(browser.wider(&tab).await, Vec::<String>::new());
    let bin = "/shop/stock/bins?name=Shelf+A3%2F4";
    show_code(&mut browser, &tab, &format!("{base}{bin}")).await;
    is_at(&mut browser, &tab, bin).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_has_the_camera_on_only_while_the_dialog_is_open() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    staff(&app, SAM, "operator").await;
    let cookie = sign_in(&app, SAM, PASSWORD).await;
    let tab = open_with(&mut browser, &app, &cookie, "/to-do", SCANNER).await;
    assert_eq!(browser.eval(&tab, IS_ON).await, false);
    for end in ["Close", "Escape"] {
        browser.press(&tab, "Scan label").await;
        browser.until(&tab, "the camera to be on", IS_ON).await;
        if end == "Escape" {
            browser.strike(&tab, "Escape").await;
        } else {
            browser.press(&tab, end).await;
        }
        browser.until(&tab, "the camera to be off", &format!("!({IS_ON})")).await;
        let is_closed = "!document.getElementById('scan').open && !document.querySelector('#scan video').srcObject";
        assert_eq!(browser.eval(&tab, is_closed).await, true, "{end}");
    }
    // A camera that is allowed after the dialog was closed is off at once.
    browser.eval(&tab, "void (window.answer = new Promise(done => { window.allow = done; }))").await;
    browser.press(&tab, "Scan label").await;
    browser.sees(&tab, "Starting the camera").await;
    browser.press(&tab, "Close").await;
    browser.eval(&tab, "window.allow()").await;
    browser.until(&tab, "a third camera that is off", &format!("cameras.length === 3 && !({IS_ON})")).await;

    for (what, words) in [
        ("isBlocked", "The camera is blocked."),
        ("isMissing", "No camera was found on this device."),
        ("isTaken", "The camera could not be started."),
    ] {
        let only = format!("window.isBlocked = window.isMissing = window.isTaken = false; window.{what} = true");
        browser.eval(&tab, &only).await;
        browser.press(&tab, "Scan label").await;
        browser.sees(&tab, words).await;
        browser.press(&tab, "Close").await;
    }
    // Leaving a page closes the dialog, so that it is not open after going back.
    browser.eval(&tab, "window.isTaken = false").await;
    browser.press(&tab, "Scan label").await;
    browser.until(&tab, "the camera to be on again", IS_ON).await;
    browser.eval(&tab, "window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))").await;
    let is_closed = format!("!document.getElementById('scan').open && !({IS_ON})");
    browser.until(&tab, "the dialog to be closed", &is_closed).await;
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_no_button_where_it_reads_no_codes() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    staff(&app, SAM, "operator").await;
    let cookie = sign_in(&app, SAM, PASSWORD).await;
    for (script, buttons) in [(NO_SCANNER, "0 of 2"), (SCANNER, "1 of 2")] {
        let tab = open_with(&mut browser, &app, &cookie, "/to-do", script).await;
        browser.sees(&tab, "Live").await;
        assert_eq!(browser.eval(&tab, BUTTONS).await, buttons, "{script}");
        browser.close(&tab).await;
    }
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}
