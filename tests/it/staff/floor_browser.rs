//! The floor in a real browser: a file dropped on a card is uploaded and printed; camera pictures update by themselves;
//! search and state filters apply while the floor changes.

use serde_json::json;
use simulator::PrinterKind;

use super::SAM;
use super::floor_files::camera_of;
use crate::api::{PASSWORD, id, sign_in, staff};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::browser::Browser;
use crate::support::until;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_drops_a_file_on_a_card_and_prints_it() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let card = format!("#printer-{}", floor.printers[1]);
    browser.until(&tab, "the card", &format!("document.querySelector('{card}')")).await;
    let code = serde_json::to_string(&simulator::gcode::gcode("vase", 600, 10.0, 3300.0)).unwrap();
    let drop = format!(
        "(() => {{ const data = new DataTransfer(); data.items.add(new File([{code}], 'vase.gcode')); \
         const card = document.querySelector('{card}'); for (const name of ['dragover', 'drop']) \
         card.dispatchEvent(new DragEvent(name, {{ dataTransfer: data, bubbles: true, cancelable: true }})); }})()"
    );
    browser.eval(&tab, &drop).await;
    browser
        .until(&tab, "the offer", "document.querySelector('h1')?.textContent.startsWith('Print vase.gcode on ')")
        .await;
    assert_eq!(floor.started(1), 0, "nothing is printed before it is said");
    browser.eval(&tab, "document.querySelector('form[action$=\"/print\"] button').click()").await;
    until("the print to begin", || async { (floor.started(1) == 1).then_some(()) }).await;
    browser.until(&tab, "the page of the printer", &format!("document.querySelector('{card} progress')")).await;
    browser.until(&tab, "the title to say how far it is", "/^[0-9]+% · /.test(document.title)").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_what_a_camera_sees_and_narrows_the_floor() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
    let _camera = camera_of(floor.sim(0)).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let img = format!("document.querySelector('#printer-{} img.camera')", floor.printers[0]);
    browser.until(&tab, "a picture", &format!("{img} && !{img}.hidden && {img}.naturalWidth === 8")).await;
    let other = format!("document.querySelector('#printer-{} img.camera').hidden", floor.printers[1]);
    assert_eq!(browser.eval(&tab, &other).await, true, "the other has none");

    let visible_cards = "[...document.querySelectorAll('#cards li[data-name]')].filter(card => !card.hidden).length";
    browser.press(&tab, "0 printing").await;
    browser.until(&tab, "none to be shown", &format!("{visible_cards} === 0")).await;
    let (_, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    browser.until(&tab, "the one that works to come", &format!("{visible_cards} === 1")).await;
    browser.sees(&tab, "1 printing").await;
    assert_eq!(browser.path(&tab).await, "/floor?state=printing", "the filter is in the address");
    // The picture stays while the card is made anew.
    let pictures = "[...document.querySelectorAll('img.camera')].filter(img => img.naturalWidth === 8).length === 1";
    browser.until(&tab, "the picture to stay", pictures).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_ends_a_long_name_on_a_card_in_an_ellipsis() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let email = "accounts.payable.of.all.northern.workshops@a-company-with-a-long-name.example";
    let order = json!({"lines": [{"skuId": floor.sku, "quantity": 1}], "customerEmail": email});
    let order = id(&floor.app.post("/api/orders", &order).await.expect(201));
    floor.app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    floor.app.job_is(&job, "PRINTING").await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    // A block in the line would be cut without an ellipsis.
    let ends_in_one = "(line => line && line.title.endsWith('.example') && line.scrollWidth > line.clientWidth \
         && getComputedStyle(line).textOverflow === 'ellipsis' \
         && [...line.children].every(part => getComputedStyle(part).display === 'inline'))";
    browser.until(&tab, "the name to be cut", &format!("{ends_in_one}(document.querySelector('.card .line'))")).await;
    // The link is as high as a finger or a pointer needs.
    let height = "document.querySelector('.card .line a').getBoundingClientRect().height >= 24";
    assert_eq!(browser.eval(&tab, height).await, true);
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

/// Script that counts the cards that stand whole in the window, above the bar of a phone.
pub const WHOLE: &str = "(() => { const bar = document.querySelector('.tabbar').getBoundingClientRect(); \
    const end = bar.height ? bar.top : window.innerHeight; \
    return [...document.querySelectorAll('#cards li[data-name]')].map(card => card.getBoundingClientRect()) \
    .filter(box => box.height && box.bottom <= end).length; })()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_more_than_a_dozen_printers_as_tiles_on_a_screen_and_as_cards_on_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 13, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let order = floor.order(2).await;
    let printing = until("two to print", || async {
        let jobs = floor.app.jobs(&order).await;
        jobs.iter().all(|job| job["state"] == "PRINTING").then_some(jobs)
    })
    .await;
    let paused = printing[0]["printerId"].as_str().unwrap();
    floor.app.act(&format!("/api/printers/{paused}/pause")).await.expect(200);
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    browser.window(&tab, 1440, 900, false).await;
    browser.until(&tab, "thirteen whole tiles", &format!("{WHOLE} === 13")).await;
    // Each shows its picture, its state and what it does; those that print how far they are, and that they can be
    // stopped; the one that needs a person what to do, and nothing else.
    let visible = |query: &str, count: usize| {
        format!(
            "[...document.querySelectorAll('#cards {query}')].filter(at => {{ const box = at.getBoundingClientRect(); \
             return box.width > 4 && box.height > 4; }}).length === {count}"
        )
    };
    let parts = [(".view", 13), (".state", 13), (".what", 13), (".next", 12), ("progress", 2), (".pace b", 2)];
    let acts = [(".stop", 2), ("[id^=resume-]", 1), ("[id^=pause-]", 0), ("[id^=bring-]", 0)];
    for (query, count) in parts.into_iter().chain(acts) {
        browser.until(&tab, &format!("{count} of {query}"), &visible(query, count)).await;
    }
    let heights = "new Set([...document.querySelectorAll('#cards li[data-name]')].map(card => card.offsetHeight)).size";
    assert_eq!(browser.eval(&tab, heights).await, 1, "tiles of one height");
    browser.window(&tab, 390, 844, true).await;
    for (query, count) in [("[id^=bring-]", 11), (".stop", 13)] {
        browser.until(&tab, &format!("{count} of {query}"), &visible(query, count)).await;
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_nine_cards_on_a_screen_and_three_on_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 9, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let order = floor.order(5).await;
    until("five to print and four to be ready", || async {
        let jobs = floor.app.jobs(&order).await;
        (jobs.iter().filter(|job| job["state"] == "PRINTING").count() == 5).then_some(())
    })
    .await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    browser.until(&tab, "all to be shown", "document.querySelectorAll('#cards progress').length === 5").await;
    browser.window(&tab, 1440, 900, false).await;
    browser.until(&tab, "nine whole cards", &format!("{WHOLE} === 9")).await;
    browser.window(&tab, 390, 844, true).await;
    browser.until(&tab, "three whole cards", &format!("{WHOLE} >= 3")).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
