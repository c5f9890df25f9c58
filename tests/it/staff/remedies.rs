//! Late orders: the API, pages and event name a remedy, and stop naming it once it has been carried out.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::{OPERATOR, done, is_sound, operator};
use crate::billing::pages::token;
use crate::machines::late::timing_is;
use crate::machines::{Floor, JUDGE_LATE, SLOW, STILL};
use crate::support::{Client, Clock, on_sqlite, until};

/// Seconds in which a part is printed on a printer that is idle now, but not on one that has to print another first.
const AT_ONCE: i64 = 900;
/// Seconds in which a part is printed on a printer that has to print another first, but not if it has to print two.
const AFTER_ANOTHER: i64 = 1_500;

/// Loads a full spool into the only slot of a printer.
async fn load(floor: &Floor, printer: usize, material: &str) {
    let spool = json!({"materialId": material, "remaining": null});
    floor.app.post(&floor.path(printer, "/slots/0"), &spool).await.expect(200);
}

/// Sets the order's due date to this many seconds from now.
async fn hasten(floor: &Floor, order: &str, seconds: i64) {
    let due_at = jiff::Timestamp::from_second(Clock::new().unix_now() + seconds).unwrap().to_string();
    floor.app.patch(&format!("/api/orders/{order}"), &json!({"dueAt": due_at})).await.expect(200);
}

/// Orders a part, and stops the progress of the printer that prints it.
async fn occupy(floor: &Floor, printer: usize) {
    let (_, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    floor.sim(printer).handle.set_speed(STILL);
}

/// Waits until the first remedy of the order is this act; returns the order.
async fn remedy_is(floor: &Floor, order: &str, act: &str) -> Value {
    until(&format!("the remedy {act}"), || async {
        let order = floor.app.get(&format!("/api/orders/{order}")).await.expect(200);
        (order["recovery"]["remedies"][0]["act"] == act).then_some(order)
    })
    .await
}

/// Checks that a page contains all of these texts, or none of them.
async fn shows(sam: &Client, path: &str, words: &[&str], is_there: bool) {
    let page = sam.get(path).await;
    is_sound(&page);
    for words in words {
        assert_eq!(page.text.contains(words), is_there, "{words} on {path}: {}", page.text);
    }
}

on_sqlite! {
    async fn a_late_order_names_the_spool_that_has_it_ready_in_time_until_it_is_loaded(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let white = floor.app.material("PETG white", 1_000.0).await;
        load(&floor, 0, &floor.material).await;
        load(&floor, 1, &white).await;
        occupy(&floor, 0).await;
        let (order, job) = floor.one().await;
        let on_time = timing_is(&floor, &order, "on_time").await;
        assert!(on_time.get("recovery").is_none(), "{on_time}");
        hasten(&floor, &order, AT_ONCE).await;

        let late = remedy_is(&floor, &order, "load").await;
        assert_eq!(late["timing"], "late", "{late}");
        let (recovery, idle) = (&late["recovery"], &floor.printers[1]);
        let remedy = &recovery["remedies"][0];
        assert_eq!((&remedy["printerId"], &remedy["materialIds"]), (&json!(idle), &json!([floor.material])), "{late}");
        assert!(remedy["expectedAt"].as_str() < late["dueAt"].as_str(), "{late}");
        assert_eq!((&recovery["earliestAt"], &recovery["quickest"]), (&remedy["expectedAt"], &Value::Null), "{late}");
        let name = floor.app.get(&floor.path(1, "")).await.expect(200)["name"].as_str().unwrap().to_owned();
        let request = format!("Load PLA black into {name}");
        assert_eq!(remedy["message"], request, "{late}");

        let number = floor.job(&job).await["number"].as_str().unwrap().to_owned();
        let sentence = format!("{request}: the order is then expected <time ");
        let link = format!("href=\"/shop/stock/slots?place={idle}/0&amp;material={}\"", floor.material);
        let reason = format!("{number}</a>: Waiting for a printer");
        let order_page = format!("/shop/orders/{order}");
        let own = late["number"].as_str().unwrap();
        let name = format!(" aria-label=\"Load spool for {own}\">Load spool</a>");
        shows(&sam, &order_page, &[&sentence, &link, &name, &reason], true).await;
        shows(&sam, "/to-do", &["Late orders (1)", &sentence, &link, &name, &reason], true).await;
        shows(&sam, "/shop/orders?timing=late", &[&sentence], true).await;
        shows(&sam, "/shop/orders", &[&sentence], false).await;
        shows(&sam, "/shop/orders", &[&reason], true).await;
        let events = floor.events("order.late").await;
        let event = events[0]["data"]["remedy"].as_str().unwrap_or_default();
        assert!(event.starts_with(&format!("{request}: the order is then expected ")), "{events:?}");

        load(&floor, 1, &floor.material).await;
        floor.app.job_is(&job, "PRINTING").await;
        let rescue = timing_is(&floor, &order, "on_time").await;
        assert!(rescue.get("recovery").is_none(), "{rescue}");
        for path in [&*order_page, "/to-do"] {
            shows(&sam, path, &[&*request, "Late orders"], false).await;
        }
    }

    async fn an_order_behind_others_is_given_priority_from_its_page(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        occupy(&floor, 0).await;
        let (other, order) = (floor.order(1).await, floor.order(1).await);
        for order in [&other, &order] {
            timing_is(&floor, order, "on_time").await;
        }
        floor.app.patch(&format!("/api/orders/{other}"), &json!({"priority": 7})).await.expect(200);
        hasten(&floor, &order, AFTER_ANOTHER).await;
        let late = remedy_is(&floor, &order, "raise_priority").await;
        assert_eq!(late["recovery"]["remedies"].as_array().unwrap().len(), 1, "{late}");

        let path = format!("/shop/orders/{order}");
        let page = sam.get(&path).await;
        is_sound(&page);
        let sentence = "Raise the order's priority to 9: the order is then expected <time ";
        let number = late["number"].as_str().unwrap();
        let button = format!(" aria-label=\"Raise priority of {number}\">Raise priority</button>");
        for words in [sentence, &*button] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        let fields = [("form_token", &*token(&page)), ("priority", "9"), ("back", &*path)];
        done(&sam, &format!("{path}/change"), &fields).await;
        let rescue = timing_is(&floor, &order, "on_time").await;
        assert_eq!((&rescue["priority"], rescue.get("recovery")), (&json!(9), None), "{rescue}");
        shows(&sam, &path, &["Raise priority"], false).await;
    }
}
