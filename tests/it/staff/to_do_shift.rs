//! Beside the tasks: what the next hours hold, and the work since the shift began. In the tasks: one primary act, and
//! the usual defect of bad parts.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use simulator::PrinterKind;

use super::to_do::two_beds_to_clear;
use super::{OPERATOR, SAM, is_sound, operator, print_on};
use crate::api::signed_in;
use crate::billing::pages::{send, token};
use crate::machines::late::{hasten, timing_is};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW};
use crate::support::clock::HOUR;
use crate::support::{App, Client, Clock, on_sqlite, until};

/// Returns the part of the to-do page that begins with the element of this ID and ends with its section.
async fn panel(client: &Client, id: &str) -> String {
    let page = client.get("/to-do").await;
    is_sound(&page);
    let rest = page.text.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("{id}: {}", page.text)).1;
    rest.split("</section>").next().unwrap().to_owned()
}

/// Waits until a panel contains all of these texts.
async fn panel_says(client: &Client, id: &str, texts: &[&str]) {
    until(&format!("{id} to have {texts:?}"), || async {
        let panel = panel(client, id).await;
        texts.iter().all(|text| panel.contains(text)).then_some(())
    })
    .await;
}

/// Prints a part on a bed that a person clears; returns the IDs of its order and its job.
async fn on_bed(floor: &Floor) -> (String, String) {
    let (order, job) = floor.one().await;
    floor.attention(0, "bed_not_cleared", true).await;
    floor.app.job_is(&job, "COMPLETED").await;
    (order, job)
}

/// Clears the bed of the first printer on the to-do page.
async fn clear(floor: &Floor, client: &Client, inspection: &[(&str, &str)]) {
    let page = client.get("/to-do").await;
    let path = format!("/floor/printers/{}/bed-cleared", floor.printers[0]);
    let (own, print) = (token(&page), print_on(&page, &path));
    let fields = [&[("form_token", &*own), ("back", "/to-do"), ("print", &*print)][..], inspection].concat();
    let done = send(client, &path, &fields).await;
    assert_eq!(done.status, 200, "{}", done.text);
}

on_sqlite! {
    async fn the_next_hours_name_beds_to_clear_and_orders_due(db: Db) {
        let clock = Clock::at_noon();
        let floor = Floor::at_on(db, &clock, PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let nothing = [
            "No beds to clear by then.",
            "The loaded spools will last until then.",
            "No order is due today.",
            ">0</b>",
        ];
        panel_says(&sam, "next-hours", &nothing).await;
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let (printer, link) = (
            format!("<a href=\"/floor/printers/{}\">", floor.printers[0]),
            format!("<a href=\"/shop/orders/{order}\">ORD-"),
        );
        let bed = ["Beds to clear by <time", "<a href=\"/floor?state=printing\">1</a>", &*printer];
        panel_says(&sam, "next-hours", &bed).await;
        timing_is(&floor, &order, "on_time").await;
        hasten(&floor, &order, &clock).await;
        timing_is(&floor, &order, "late").await;
        let late = ["<a href=\"/shop/orders\">1</a>, <a href=\"/shop/orders?timing=late\">1 of them late</a>", &*link];
        panel_says(&sam, "next-hours", &late).await;
        // A printer that clears its own bed needs nobody.
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": true})).await.expect(200);
        panel_says(&sam, "next-hours", &["No beds to clear by then.", "1 of them late</a>"]).await;
    }

    async fn the_work_of_the_shift_is_listed_by_person_until_the_next_begins(db: Db) {
        let clock = Clock::at_noon();
        let floor = Floor::at_on(db, &clock, PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let sam = operator(&floor.app).await;
        panel_says(&sam, "done", &["Done this shift", "Since <time", "Nothing yet."]).await;
        let (order, job) = on_bed(&floor).await;
        // The reprint takes a while.
        floor.sim(0).handle.set_speed(SLOW);
        clear(&floor, &sam, &[("goodCount", "0"), ("reason", "warping"), ("note", "")]).await;
        let bad = format!("<a href=\"/shop/orders/{order}#job-{job}\">1 of 1 bad: warping</a>");
        panel_says(&sam, "done", &["<b>Sam</b>: 0 of 1 part good, 1 bed cleared", &*bad]).await;
        // The event also names the person, although it was the server that notified the order.
        let events = floor.app.get("/api/events?event=job.signed_off").await.expect(200);
        let actor = events["events"][0]["actor"].as_str().unwrap();
        assert!(actor.starts_with("user:"), "{events}");

        let material = &floor.material;
        let adjust = format!("/api/inventory/materials/{material}/adjustments");
        sam.post(&adjust, &json!({"delta": -7, "reason": "stocktake"})).await.expect(200);
        sam.post(&adjust, &json!({"delta": 100, "reason": "delivery"})).await.expect(200);
        let received = format!("100 g <a href=\"/shop/stock/materials/{material}\">PLA black</a>");
        panel_says(&sam, "done", &["1 bed cleared, 1 material received", &*received]).await;

        // Without opening hours a shift begins at midnight.
        clock.advance(13 * HOUR);
        let sam = signed_in(&floor.app, SAM).await;
        panel_says(&sam, "done", &["Nothing yet."]).await;
    }

    async fn only_the_first_task_has_a_primary_act_and_bad_parts_are_a_button_beside_it(db: Db) {
        let (_floor, sam) = two_beds_to_clear(db).await;
        let page = sam.get("/to-do").await;
        is_sound(&page);
        let tasks = page.text.split_once("id=\"to-do\"").unwrap().1.split("id=\"next-hours\"").next().unwrap();
        assert_eq!(tasks.matches("btn primary").count(), 1, "{tasks}");
        let first = tasks.split("</li>").next().unwrap();
        assert!(first.contains("class=\"btn primary\" type=\"submit\">"), "{first}");
        assert_eq!(tasks.matches("<summary class=\"btn\">Bad parts…</summary>").count(), 2, "{tasks}");
        assert!(tasks.contains("Frees 2 printers") && tasks.contains("Orders to pack (1)"), "{tasks}");
    }

    async fn the_usual_defect_is_chosen_already_and_no_part_has_it_if_all_are_good(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let sam = operator(&floor.app).await;
        let (order, _) = on_bed(&floor).await;
        let preset = "<option value=\"warping\" selected>Warping</option>";
        assert!(!sam.get("/to-do").await.text.contains(preset), "nothing has been rejected");
        clear(&floor, &sam, &[("goodCount", "0"), ("reason", "warping"), ("note", "")]).await;
        let again = until("the part to be made again", || async {
            let jobs = floor.app.jobs(&order).await;
            let printed = |job: &Value| job["reprint"] == true && job["state"] == "COMPLETED";
            Some(jobs.iter().find(|job| printed(job))?["id"].as_str()?.to_owned())
        })
        .await;
        floor.attention(0, "bed_not_cleared", true).await;
        let page = until("the bed to be named", || async {
            let page = sam.get("/to-do").await;
            page.text.contains("Beds to clear (1)").then_some(page)
        })
        .await;
        assert!(page.text.contains(preset), "{}", page.text);
        let target = format!("/floor/printers/{}/signed", floor.printers[0]);
        let form = Form::new().text("plate", "1").text("goodCount", "1").text("reason", "warping").text("note", "");
        let form = form.text("back", "/to-do").text("print", print_on(&page, &target));
        let form = form.part("picture", Part::bytes(Vec::new()).file_name(""));
        let target = format!("{target}?token={}", token(&page));
        let signed = sam.send(sam.request("POST", &target).header("sec-fetch-site", "same-origin").multipart(form)).await;
        assert_eq!((signed.status, signed.header("location")), (303, Some("/to-do")), "{}", signed.text);
        let is_signed = |job: &Value| job["attempts"][0]["signOff"]["by"].as_str().is_some_and(|by| by.starts_with("user:"));
        let view = floor.job_until("the sign-off", &again, is_signed).await;
        let sign_off = &view["attempts"][0]["signOff"];
        assert_eq!((&sign_off["goodCount"], &sign_off["reason"]), (&json!(1), &Value::Null), "{sign_off}");
    }

    async fn an_empty_shop_says_what_to_do_first(db: Db) {
        let app = App::new(db).await;
        let sam = operator(&app).await;
        let page = sam.get("/to-do").await;
        is_sound(&page);
        for next in ["Get started", "href=\"/floor/printers/new\"", "href=\"/shop/stock\"", "href=\"/shop/products\""] {
            assert!(page.text.contains(next), "{next} in {}", page.text);
        }
        assert_eq!(page.text.matches(" attention\">To do<").count(), 3, "{}", page.text);
        app.material("PLA black", 1000.0).await;
        let page = sam.get("/to-do").await;
        assert_eq!(page.text.matches(" attention\">To do<").count(), 2, "{}", page.text);
    }
}
