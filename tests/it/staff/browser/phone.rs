//! Phones in a real browser: what people need of a printer that prints is on the first screen, the counts on the floor
//! page are on one line, what calls for somebody is not cut off, nor are the words of the search, and the emergency
//! stop has its label and its own place.

use serde_json::json;
use simulator::PrinterKind;

use super::{SAM, floor};
use crate::api::{PASSWORD, sign_in, staff, with_cookie};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::browser::{Browser, DESK};

/// Widths and heights of phones, in pixels.
const PHONES: [(u32, u32); 2] = [(390, 844), (360, 780)];
/// Distance of the emergency stop from the menu with all other acts, in pixels: more than a thumb is wide.
const MIN_APART: f64 = 48.0;
/// Script that returns what of a print is not on the first screen of a printer's page, between its top and the bar at
/// its bottom, or not above the picture.
const NOT_ON_FIRST_SCREEN: &str = r"(() => {
    const box = part => document.querySelector('.alone ' + part).getBoundingClientRect();
    const bar = document.querySelector('.tabbar').getBoundingClientRect();
    const end = Math.min(bar.top, box('.view').top);
    const parts = ['.state', '.what', 'progress', 'time[data-left]', '[id^=pause-]', '[id^=cancel-]'];
    return window.scrollY ? ['the page was scrolled'] : parts.filter(part => {
        const { width, top, bottom } = box(part);
        return !width || top < 0 || bottom > end;
    });
})()";
/// Script that returns whether the buttons that pause and cancel a print are apart, and how the picture of the print
/// fits its place.
const APART_AND_FIT: &str = r"(() => {
    const [pause, cancel] = ['pause', 'cancel'].map(act =>
        document.querySelector('.alone [id^=' + act + '-]').getBoundingClientRect());
    const apart = Math.max(cancel.left - pause.right, cancel.top - pause.bottom);
    return [apart >= 8, getComputedStyle(document.querySelector('.alone .view img:not(.camera)')).objectFit];
})()";
/// Script that returns the number of counts shown on the floor page, whether all are on one line, and those that take
/// up two lines themselves.
const LINES_OF_COUNTS: &str = r"(() => {
    const counts = [...document.querySelectorAll('#summary > span')].filter(at => at.getClientRects().length);
    const boxes = counts.map(at => at.getBoundingClientRect());
    const middles = boxes.map(box => (box.top + box.bottom) / 2);
    return {
        counts: counts.length,
        isOneLine: Math.max(...middles) - Math.min(...middles) < 4,
        high: counts.filter((_, n) => boxes[n].height > 32).map(at => at.innerText),
    };
})()";

/// Script that returns the words that stand in the field of the search, if all of them are seen.
const WORDS_IN_SEARCH: &str = r"(() => {
    const field = document.querySelector('#site-search'), label = field.labels[0];
    const [box, words] = [field, label].map(at => at.getBoundingClientRect());
    const isShown = getComputedStyle(label).clipPath === 'none' && words.width > 20 && words.height > 10;
    const isWithin = words.left >= box.left - 1 && words.right <= box.right && Math.abs(words.top - box.top) < 12;
    return isShown && isWithin && getComputedStyle(field, '::placeholder').opacity === '0' ? label.textContent : '';
})()";
/// Script that returns the filters of the floor that a person has to look at whose numbers are not seen, and those of
/// which a part is not.
const CUT_FILTERS: &str = r"(() => {
    const filters = ['need-you', 'offline'].map(word => document.querySelector(`.filter[data-narrow=${word}]`));
    const isOut = at => { const box = at.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth; };
    const words = all => all.map(at => at.innerText);
    return [words(filters.filter(at => isOut(at.querySelector('b')))), words(filters.filter(isOut))];
})()";

/// Returns a script for the visible words of the emergency stop, its name, and how far it is from the menu, in a part
/// of the page.
fn stop_in(part: &str) -> String {
    format!(
        "(() => {{ const stop = document.querySelector('{part} .stops button'); \
         const menu = document.querySelector('{part} [popovertarget^=menu-]').getBoundingClientRect(); \
         const box = stop.getBoundingClientRect(); return {{ words: stop.innerText.trim(), name: stop.ariaLabel, \
         apart: Math.max(menu.left - box.right, box.left - menu.right, menu.top - box.bottom, box.top - menu.bottom) \
         }}; }})()"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_has_a_print_and_its_acts_on_the_first_screen_of_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let sam = with_cookie(&floor.app, &cookie);
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    let url = format!("{base}/floor/printers/{on}");
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    for language in ["en", "de"] {
        sam.patch("/api/auth/me", &json!({"language": language})).await.expect(200);
        for (width, height) in PHONES {
            browser.window(&tab, width, height, true).await;
            browser.go(&tab, &url).await;
            browser.until(&tab, "the time left", "document.querySelector('.alone time[data-left]')").await;
            let missing = browser.eval(&tab, NOT_ON_FIRST_SCREEN).await;
            assert_eq!(missing, json!([]), "{language} at {width} px");
            let fit = browser.eval(&tab, APART_AND_FIT).await;
            assert_eq!(fit, json!([true, "contain"]), "{language} at {width} px");
            assert_eq!(browser.wider(&tab).await, Vec::<String>::new(), "{language} at {width} px");
        }
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_keeps_the_counts_of_the_floor_on_one_line_on_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 4, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let (base, sam) = (floor.app.base.clone(), with_cookie(&floor.app, &cookie));
    // One of each: printing, ready, in need of a person, and out of service.
    let order = floor.order(2).await;
    let mut on = Vec::new();
    for job in floor.app.jobs(&order).await {
        let job = floor.app.job_is(job["id"].as_str().unwrap(), "PRINTING").await;
        on.push(job["printerId"].as_str().unwrap().to_owned());
    }
    floor.app.act(&format!("/api/printers/{}/pause", on[0])).await.expect(200);
    let idle = floor.printers.iter().position(|printer| !on.contains(printer)).unwrap();
    floor.app.post(&floor.path(idle, "/maintenance"), &json!({"on": true})).await.expect(200);
    let tab = browser.open(&base, "/to-do", Some(&cookie)).await;
    for (language, in_need) in [("en", "1 needing attention"), ("de", "1 mit Handlungsbedarf")] {
        sam.patch("/api/auth/me", &json!({"language": language})).await.expect(200);
        for (width, height) in PHONES {
            browser.window(&tab, width, height, true).await;
            browser.go(&tab, &format!("{base}/to-do")).await;
            browser.sees(&tab, in_need).await;
            browser.sees(&tab, "1 offline").await;
            let lines = browser.eval(&tab, LINES_OF_COUNTS).await;
            assert_eq!(lines, json!({"counts": 4, "isOneLine": true, "high": []}), "{language} at {width} px");
            assert_eq!(browser.wider(&tab).await, Vec::<String>::new(), "{language} at {width} px");
            // On the floor their filters stand first.
            browser.go(&tab, &format!("{base}/floor")).await;
            browser.until(&tab, "the filters", "document.querySelector('.filter[data-narrow=offline]')").await;
            let cut = browser.eval(&tab, CUT_FILTERS).await;
            assert_eq!(cut[0], json!([]), "{language} at {width} px");
            assert!(width < PHONES[0].0 || cut[1] == json!([]), "{language} at {width} px: {cut}");
        }
    }
    browser.go(&tab, &format!("{base}/to-do")).await;
    // A desk says that the numbers are those of printers.
    browser.window(&tab, DESK.0, DESK.1, false).await;
    browser.sees(&tab, "1 Drucker im Druck").await;
    browser.sees(&tab, "1 mit Handlungsbedarf").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_cuts_no_word_in_the_search_of_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let (base, sam) = (floor.app.base.clone(), with_cookie(&floor.app, &cookie));
    let tab = browser.open(&base, "/to-do", Some(&cookie)).await;
    for (language, words) in [("en", "Search"), ("de", "Suchen")] {
        sam.patch("/api/auth/me", &json!({"language": language})).await.expect(200);
        for (width, height) in PHONES {
            browser.window(&tab, width, height, true).await;
            browser.go(&tab, &format!("{base}/to-do")).await;
            browser.until(&tab, "the search", "document.querySelector('#site-search')").await;
            assert_eq!(browser.eval(&tab, WORDS_IN_SEARCH).await, json!(words), "{language} at {width} px");
        }
    }
    // They make room for what is typed.
    browser.eval(&tab, "document.querySelector('#site-search').value = 'ORD-1'").await;
    assert_eq!(browser.eval(&tab, WORDS_IN_SEARCH).await, json!(""));
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_sets_the_emergency_stop_apart_and_says_what_it_is() {
    let Some(mut browser) = Browser::start().await else { return };
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    let (_, job) = floor.one().await;
    let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
    let printer = floor.app.get(&format!("/api/printers/{on}")).await.expect(200)["name"].clone();
    let name = format!("Emergency stop for {}: hold for one second", printer.as_str().unwrap());
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    // On small cards its words are its name and its title, on large ones and on the page of the printer they are shown.
    for (path, part, words) in [
        ("/floor".to_owned(), format!("#printer-{on}"), ""),
        ("/floor?size=large".to_owned(), format!("#printer-{on}"), "Emergency stop"),
        (format!("/floor/printers/{on}"), ".alone".to_owned(), "Emergency stop"),
    ] {
        for (width, height, is_phone) in [(DESK.0, DESK.1, false), (PHONES[0].0, PHONES[0].1, true)] {
            browser.window(&tab, width, height, is_phone).await;
            browser.go(&tab, &format!("{base}{path}")).await;
            let there = format!("document.querySelector('{part} .stops button')");
            browser.until(&tab, "the stop", &there).await;
            let stop = browser.eval(&tab, &stop_in(&part)).await;
            assert_eq!((&stop["words"], &stop["name"]), (&json!(words), &json!(name)), "{path} at {width} px");
            let apart = stop["apart"].as_f64().unwrap();
            assert!(apart >= MIN_APART, "{path} at {width} px: {apart} px from the menu");
        }
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
