//! Tasks at printers: clear beds, sign off parts, pause and cancel, load a spool.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::CountedTask;
use crate::api::{id, with_cookie};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW};
use crate::staff::browser::parts::{name, over};
use crate::staff::browser::shop::{ADMIN, admin};
use crate::support::browser::Browser;
use crate::support::{Db, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_clears_five_beds() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let (floor, _, cookie) = over(5).await;
    let base = floor.app.base.clone();
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let task = CountedTask::begin("clear 5 beds", &browser);
    browser.press(&tab, "To do").await;
    browser.sees(&tab, "Beds to clear (5)").await;
    browser.tick(&tab, "Select all").await;
    browser.press(&tab, "Selected beds are clear").await;
    for n in 0..5 {
        floor.attention(n, "bed_not_cleared", false).await;
    }
    task.end(&browser, 3, 0);
    browser.sees_no(&tab, "Beds to clear (").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

/// Prints a part on a printer with manual bed clearing, rejects it, and has it made again.
async fn reject_one(floor: &Floor, reason: &str) {
    floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
    let (order, job) = floor.one().await;
    floor.attention(0, "bed_not_cleared", true).await;
    floor.app.job_is(&job, "COMPLETED").await;
    let inspection = json!({"goodCount": 0, "reason": reason});
    floor.app.post(&floor.path(0, "/bed-cleared"), &inspection).await.expect(200);
    until("the part to be made again", || async {
        let jobs = floor.app.jobs(&order).await;
        (jobs.len() == 2 && jobs.iter().all(|job| job["state"] == "COMPLETED")).then_some(())
    })
    .await;
    floor.clear_bed(0).await;
    floor.attention(0, "bed_not_cleared", false).await;
}

/// Prints a plate of four parts to the end on a printer with manual bed clearing. Returns the IDs of the order and its
/// job.
async fn plate_of_four(floor: &Floor) -> (String, String) {
    floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
    let file = floor.file("clips", 600, 40.0).await;
    let clip = json!({
        "code": "CLIP", "name": "Cable clip", "materialId": floor.material, "estimatedConsumption": 40,
        "machineType": "fdm_standard", "priceCents": 150, "gcodeFileId": file, "unitsPerPlate": 4,
    });
    let sku = id(&floor.app.post("/api/skus", &clip).await.expect(201));
    let order = floor.app.paid_order(&sku, 4).await;
    let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    floor.attention(0, "bed_not_cleared", true).await;
    floor.app.job_is(&job, "COMPLETED").await;
    // The part that is made again takes its time.
    floor.sim(0).handle.set_speed(SLOW);
    (order, job)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_signs_off_a_plate_with_one_bad_part() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let floor = Floor::on(Db::sqlite().with_staff(ADMIN), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let base = floor.app.base.clone();
    let cookie = admin(&floor.app).await;
    reject_one(&floor, "warping").await;
    let (order, job) = plate_of_four(&floor).await;
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let task = CountedTask::begin("one bad part", &browser);
    browser.press(&tab, "Bad parts").await;
    // The usual defect is preselected.
    browser.press(&tab, "1 bad").await;
    let is_rejected = |job: &Value| job["attempts"][0]["signOff"]["reason"] == "warping";
    let inspected = floor.job_until("the part to be rejected", &job, is_rejected).await;
    task.end(&browser, 2, 0);
    assert_eq!(inspected["attempts"][0]["signOff"]["goodCount"], 3, "{inspected}");
    floor.attention(0, "bed_not_cleared", false).await;
    until("the part to be made again", || async { (floor.app.jobs(&order).await.len() == 2).then_some(()) }).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_pauses_and_cancels_a_print() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let floor = Floor::on(Db::sqlite().with_staff(ADMIN), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let base = floor.app.base.clone();
    let cookie = admin(&floor.app).await;
    let (_, job) = floor.one().await;
    let number = floor.app.job_is(&job, "PRINTING").await["number"].as_str().unwrap().to_owned();
    let printer = name(&floor, 0).await;
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let task = CountedTask::begin("pause and cancel", &browser);
    // Both are on its card; whether it is to be cancelled is asked on its own page.
    browser.press(&tab, &format!("Pause {printer}")).await;
    floor.app.job_is(&job, "PAUSED").await;
    browser.press(&tab, &format!("Cancel… {number} on {printer}")).await;
    browser.press(&tab, &format!("Cancel {number} on {printer}")).await;
    floor.app.job_is(&job, "FAILED").await;
    task.end(&browser, 3, 0);
    floor.free(0).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_loads_the_spool_that_a_job_waits_for() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let floor = Floor::on(Db::sqlite().with_staff(ADMIN), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let base = floor.app.base.clone();
    let cookie = admin(&floor.app).await;
    let (printer, other) = (name(&floor, 0).await, floor.app.material("PETG blue", 1_000.0).await);
    floor.app.post(&floor.path(0, "/slots/0"), &json!({"materialId": other})).await.expect(200);
    let (_, job) = floor.one().await;
    floor.app.job_is(&job, "SLICED").await;
    let sam = with_cookie(&floor.app, &cookie);
    until("the spool to be called for", || async {
        sam.get("/to-do").await.text.contains("Spools to load (1)").then_some(())
    })
    .await;
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let task = CountedTask::begin("load a spool", &browser);
    browser.press(&tab, "To do").await;
    browser.press(&tab, &format!("Load spool into {printer}")).await;
    browser.press(&tab, "Save contents").await;
    floor.app.job_is(&job, "PRINTING").await;
    task.end(&browser, 3, 0);
    let slots = floor.app.get(&floor.path(0, "")).await.expect(200)["slots"].clone();
    assert_eq!(slots[0]["materialId"], json!(floor.material), "{slots}");
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
