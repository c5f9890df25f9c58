//! Tasks for orders: explain why one is late, and ship one in two shipments.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::CountedTask;
use crate::machines::late::{hasten, timing_is};
use crate::machines::{Floor, JUDGE_LATE, SLOW, words};
use crate::staff::browser::floor;
use crate::staff::browser::shop::{ADMIN, admin};
use crate::support::browser::Browser;
use crate::support::{Clock, Db, until};

/// Returns the start of a sentence up to its first timestamp, because pages format timestamps differently.
fn before_timestamps(sentence: &str) -> String {
    let is_plain = |word: &&str| {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        bare.parse::<jiff::Timestamp>().is_err()
    };
    let beginning: Vec<&str> = sentence.split(' ').take_while(is_plain).collect();
    beginning.join(" ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_says_why_an_order_is_late() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let floor = Floor::on(Db::sqlite().with_staff(ADMIN), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let base = floor.app.base.clone();
    let cookie = admin(&floor.app).await;
    let (_, first) = floor.one().await;
    floor.app.job_is(&first, "PRINTING").await;
    let (order, job) = floor.one().await;
    timing_is(&floor, &order, "on_time").await;
    hasten(&floor, &order, &Clock::new()).await;
    let late = timing_is(&floor, &order, "late").await;
    let has_reason = |job: &Value| job["waitingReason"].as_str().is_some_and(|why| why.contains(" is free from "));
    let waiting = floor.job_until("a reason", &job, has_reason).await;
    let reason = before_timestamps(words(&waiting, "waitingReason"));
    assert!(reason.ends_with(" is free from"), "{waiting}");
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let task = CountedTask::begin("why is this order late", &browser);
    browser.press(&tab, "Orders").await;
    browser.press(&tab, words(&late, "number")).await;
    for text in ["Late: due", "now expected", &*reason] {
        browser.sees(&tab, text).await;
    }
    task.end(&browser, 2, 0);
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}

/// Ships an order with an ordinary shipment.
async fn ship_another(floor: &Floor) {
    let order = floor.order(1).await;
    floor.app.order_is(&order, "ready").await;
    let parcel = json!({"carrier": "DHL", "trackingNumber": "JD0", "estimatedDelivery": "2030-01-31"});
    floor.app.post(&format!("/api/orders/{order}/ship"), &parcel).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_ships_an_order_in_two_parcels() {
    let Some(browser) = Browser::start().await else { return };
    let mut browser = browser.without_rules();
    let (floor, cookie) = floor().await;
    let base = floor.app.base.clone();
    for n in 0..floor.printers.len() {
        floor.hurry(n);
    }
    ship_another(&floor).await;
    let order = floor.order(2).await;
    let ready = floor.app.order_is(&order, "ready").await;
    let tab = browser.open(&base, "/floor", Some(&cookie)).await;
    let task = CountedTask::begin("ship in two parcels", &browser);
    browser.press(&tab, "Orders").await;
    browser.press(&tab, words(&ready, "number")).await;
    // Carrier and delivery are those of the last shipment.
    browser.fill(&tab, "PART (up to 2)", "1").await;
    browser.fill(&tab, "Tracking number", "JD1").await;
    browser.press(&tab, "Ship").await;
    until("the first parcel", || async {
        let order = floor.app.get(&format!("/api/orders/{order}")).await.expect(200);
        (order["shipments"].as_array()?.len() == 1).then_some(())
    })
    .await;
    // The rest is preselected, and only its tracking number remains to be typed.
    browser.sees(&tab, "PART (up to 1)").await;
    browser
        .until(&tab, "the tracking number to have the focus", "document.activeElement.name === 'trackingNumber'")
        .await;
    browser.fill(&tab, "Tracking number", "JD2").await;
    browser.press(&tab, "Ship").await;
    let shipped = floor.app.order_is(&order, "shipped").await;
    task.end(&browser, 6, 7);
    let parcels = shipped["shipments"].as_array().unwrap().iter();
    let parcels: Vec<_> = parcels.map(|one| (&one["trackingNumber"], &one["lines"][0]["quantity"])).collect();
    assert_eq!(parcels, [(&json!("JD1"), &json!(1)), (&json!("JD2"), &json!(1))], "{shipped}");
    for parcel in shipped["shipments"].as_array().unwrap() {
        let way = (&parcel["carrier"], &parcel["estimatedDelivery"]);
        assert_eq!(way, (&json!("DHL"), &json!("2030-01-31")), "{shipped}");
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
