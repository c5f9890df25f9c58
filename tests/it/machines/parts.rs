//! Good parts: beds cleared with a statement about the parts, jobs signed off, rejected parts printed again.

mod chaos;
mod older;
mod rejected;

use serde_json::{Value, json};

use super::{FAST, Floor, JUDGE_SOON, PrinterKind};
use crate::support::{on_drawn, on_sqlite, until};

const REQUIRED: (&str, &str) = ("PRINTFLOOR_QUALITY__SIGN_OFF", "required");
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0000";

/// Disables automatic bed clearing on all printers.
async fn by_hand(floor: &Floor) {
    for n in 0..floor.printers.len() {
        floor.app.patch(&floor.path(n, ""), &json!({"autoClear": false})).await.expect(200);
    }
}

/// Waits until a printer has a print that has not been signed off; returns its job.
async fn last_print(floor: &Floor, printer: usize) -> String {
    until("a print to be signed off", || async {
        let body = floor.app.get(&floor.path(printer, "")).await.expect(200);
        let ended = body["status"]["attention"].as_array().unwrap().iter().any(|word| word == "bed_not_cleared");
        body["lastPrint"]["jobId"].as_str().filter(|_| ended).map(str::to_owned)
    })
    .await
}

/// Waits until the first line counts this many good, running and missing parts; returns the order.
async fn line_is(floor: &Floor, order: &str, good: u64, running: u64, missing: u64) -> Value {
    let counts = json!([good, running, missing]);
    until(&format!("the line to count {counts}"), || async {
        let body = floor.app.get(&format!("/api/orders/{order}")).await.expect(200);
        let line = &body["lines"][0];
        (json!([line["good"], line["running"], line["missing"]]) == counts).then_some(body)
    })
    .await
}

fn faulty(answer: &Value) -> &str {
    answer["errors"][0]["path"].as_str().unwrap()
}

async fn act(floor: &Floor, printer: usize, inspection: &Value) -> crate::support::client::Answer {
    floor.app.post(&floor.path(printer, "/bed-cleared"), inspection).await
}

on_sqlite! {
    async fn where_sign_off_is_required_no_part_counts_before_it(db: Db) {
        let floor = Floor::on(db, PrinterKind::ServerRest, 1, FAST, &[REQUIRED]).await;
        let order = floor.order(2).await;
        let jobs = until("both to be printed", || async {
            let jobs = floor.app.jobs(&order).await;
            jobs.iter().all(|job| job["state"] == "COMPLETED").then_some(jobs)
        })
        .await;
        let body = line_is(&floor, &order, 0, 2, 0).await;
        assert_eq!(body["status"], "printing");
        for job in &jobs {
            assert_eq!((&job["awaitsSignOff"], &job["attempts"][0]["signOff"]), (&json!(true), &Value::Null));
            floor.app.act(&format!("/api/jobs/{}/sign-off", job["id"].as_str().unwrap())).await.expect(200);
        }
        assert_eq!(floor.app.order_is(&order, "ready").await["lines"][0]["good"], 2);
        floor.truth().await;
    }

    async fn a_print_of_somebodys_own_leaves_nothing_to_sign_off(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[]).await;
        by_hand(&floor).await;
        let order = floor.order(1).await;
        last_print(&floor, 0).await;
        floor.app.order_is(&order, "ready").await;
        floor.own_print(0);
        floor.attention(0, "foreign_print", true).await;
        assert_eq!(act(&floor, 0, &json!({"goodCount": 0})).await.error(409), "nothing_to_sign_off");
        assert!(floor.app.get(&floor.path(0, "")).await.expect(200)["lastPrint"].is_null());
    }

    async fn a_cancelled_job_is_made_again_only_while_something_is_missing(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_SOON]).await;
        by_hand(&floor).await;
        let order = floor.order(1).await;
        let first = last_print(&floor, 0).await;
        floor.app.order_is(&order, "ready").await;
        // Rejected, so that another job is made; which is cancelled, because the part is good after all.
        let sign_off = format!("/api/jobs/{first}/sign-off");
        floor.app.post(&sign_off, &json!({"goodCount": 0, "reason": "warping"})).await.expect(200);
        let jobs = floor.app.jobs(&order).await;
        let again = jobs.iter().find(|job| job["reprint"] == true).unwrap()["id"].as_str().unwrap();
        floor.app.act(&format!("/api/jobs/{again}/cancel")).await.expect(200);
        floor.app.post(&sign_off, &json!({"goodCount": 1})).await.expect(200);
        let retry = format!("/api/jobs/{again}/retry");
        assert_eq!(floor.app.act(&retry).await.error(409), "nothing_missing");
        // No: it was warped, and is made again.
        floor.app.post(&sign_off, &json!({"goodCount": 0})).await.expect(200);
        assert_eq!(floor.app.act(&retry).await.expect(200)["state"], "VALIDATED");
        assert_eq!(floor.app.act(&retry).await.error(409), "invalid_transition");
        for left in [Some(()), None] {
            last_print(&floor, 0).await;
            act(&floor, 0, &json!({})).await.expect(200);
            if left.is_some() {
                line_is(&floor, &order, 0, 1, 0).await;
            }
        }
        let ready = floor.app.order_is(&order, "ready").await;
        assert_eq!((&ready["lines"][0]["good"], &ready["flags"]), (&json!(1), &json!([])), "{ready}");
        floor.truth().await;
    }

    async fn rejected_parts_are_left_to_people_where_nothing_is_made_again_by_itself(db: Db) {
        let off = ("PRINTFLOOR_QUALITY__REPRINT_MISSING", "false");
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_SOON, off]).await;
        by_hand(&floor).await;
        let order = floor.order(1).await;
        let job = last_print(&floor, 0).await;
        floor.app.order_is(&order, "ready").await;
        act(&floor, 0, &json!({"goodCount": 0, "reason": "warping"})).await.expect(200);
        let short = line_is(&floor, &order, 0, 0, 1).await;
        assert_eq!((&short["status"], &short["flags"]), (&json!("ready"), &json!(["short", "needs_attention"])), "{short}");
        assert_eq!((floor.app.jobs(&order).await.len(), floor.events("job.added").await.len()), (1, 0));
        // A person has it made.
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        assert_eq!(last_print(&floor, 0).await, job);
        act(&floor, 0, &json!({})).await.expect(200);
        line_is(&floor, &order, 1, 0, 0).await;
        let ready = floor.app.order_is(&order, "ready").await;
        assert_eq!((&ready["flags"], floor.app.jobs(&order).await.len()), (&json!([]), 1), "{ready}");
        assert_eq!((floor.finished(0), floor.used().await), (2, 20.0), "printed twice, by one job");
        floor.app.ledger_is_even(&floor.material).await;
    }

    async fn parts_leave_in_several_shipments_as_they_are_good(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[REQUIRED]).await;
        let order = floor.order(3).await;
        let jobs = until("all to be printed", || async {
            let jobs = floor.app.jobs(&order).await;
            jobs.iter().all(|job| job["state"] == "COMPLETED").then_some(jobs)
        })
        .await;
        let sign = |at: usize| format!("/api/jobs/{}/sign-off", jobs[at]["id"].as_str().unwrap());
        let ship = format!("/api/orders/{order}/ship");
        let some = |line: u32, quantity: u32, carrier: &str| {
            json!({
                "carrier": carrier, "trackingNumber": "JD1", "estimatedDelivery": "2030-01-31",
                "lines": [{"line": line, "quantity": quantity}],
            })
        };
        floor.app.act(&sign(0)).await.expect(200);
        assert_eq!(
            floor.app.post(&ship, &json!({"carrier": "pickup"})).await.error(409),
            "invalid_transition",
            "not all is made"
        );
        assert_eq!(floor.app.post(&ship, &some(0, 2, "DHL")).await.error(409), "parts_not_there");
        assert_eq!(faulty(&floor.app.post(&ship, &some(1, 1, "DHL")).await.expect(400)), "lines.0.line");
        assert_eq!(faulty(&floor.app.post(&ship, &some(0, 0, "DHL")).await.expect(400)), "lines.0.quantity");
        let sent = floor.app.post(&ship, &some(0, 1, "DHL")).await.expect(200);
        assert_eq!(
            (&sent["status"], &sent["shipment"], &sent["lines"][0]["shipped"]),
            (&json!("printing"), &Value::Null, &json!(1))
        );
        let first = &sent["shipments"][0];
        assert_eq!(
            (&first["number"], &first["carrier"], &first["lines"][0]["quantity"]),
            (&json!(1), &json!("DHL"), &json!(1))
        );
        let path = |number: &str| format!("/api/orders/{order}/shipments/{number}/packing-list");
        let list = floor.app.get(&path("1")).await.expect(200);
        assert_eq!(
            (&list["complete"], &list["trackingNumber"], &list["orderId"]),
            (&json!(false), &json!("JD1"), &json!(order))
        );
        for unknown in ["2", "0", "first"] {
            assert_eq!(floor.app.get(&path(unknown)).await.error(404), "shipment_not_found", "{unknown}");
        }
        for at in 1..3 {
            floor.app.act(&sign(at)).await.expect(200);
        }
        floor.app.order_is(&order, "ready").await;
        let shipped = floor.app.post(&ship, &json!({"carrier": "pickup"})).await.expect(200);
        assert_eq!((&shipped["status"], &shipped["shipment"]["carrier"]), (&json!("shipped"), &json!("pickup")));
        assert_eq!(shipped["shipments"][1]["lines"][0]["quantity"], 2, "the rest: {shipped}");
        assert_eq!(floor.app.get(&path("2")).await.expect(200)["complete"], true);
        assert_eq!(floor.app.get(&path("1")).await.expect(200)["complete"], false, "as it was then");
        assert_eq!((floor.events("order.part_shipped").await.len(), floor.events("order.shipped").await.len()), (1, 1));
        floor.truth().await;
    }
}

on_drawn! {
    async fn a_part_that_is_rejected_after_it_left_is_owed_again_made_again_and_sent(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[REQUIRED]).await;
        let order = floor.order(2).await;
        let printed = || async {
            until("all to be printed", || async {
                let jobs = floor.app.jobs(&order).await;
                jobs.iter().all(|job| job["state"] == "COMPLETED").then_some(jobs)
            })
            .await
        };
        let sign = |job: &Value, good: u32| {
            let path = format!("/api/jobs/{}/sign-off", job["id"].as_str().unwrap());
            let sign_off = json!({"goodCount": good});
            async { floor.app.post(&{path}, &{sign_off}).await.expect(200) }
        };
        let (path, ship) = (format!("/api/orders/{order}"), format!("/api/orders/{order}/ship"));
        let jobs = printed().await;
        for job in &jobs {
            sign(job, 1).await;
        }
        let one = json!({"carrier": "pickup", "lines": [{"line": 0, "quantity": 1}]});
        floor.app.post(&ship, &one).await.expect(200);
        let list = floor.app.get(&format!("{path}/shipments/1/packing-list")).await.expect(200);
        let first = jobs.iter().find(|job| job["id"] == list["prints"][0]["jobId"]).unwrap();
        assert_eq!(
            (&list["prints"][0]["jobNumber"], &list["prints"][0]["quantity"]), (&first["number"], &json!(1)), "{list}"
        );
        // Both turn out bad: the one that left and the one that is here.
        for job in &jobs {
            sign(job, 0).await;
        }
        let owed = floor.app.get(&path).await.expect(200);
        let line = &owed["lines"][0];
        assert_eq!((&line["shipped"], &line["rejectedAfterShipping"]), (&json!(0), &json!(1)), "{owed}");
        assert_eq!((&owed["status"], &owed["flags"]), (&json!("printing"), &json!(["rejected_after_shipping"])), "{owed}");
        assert_eq!(floor.app.post(&ship, &one).await.error(409), "parts_not_there");
        let again: Vec<Value> = printed().await.into_iter().filter(|job| job["reprint"] == true).collect();
        assert_eq!(again.len(), 2, "{again:?}");
        for job in &again {
            sign(job, 1).await;
        }
        floor.app.order_is(&order, "ready").await;
        let shipped = floor.app.post(&ship, &json!({"carrier": "pickup"})).await.expect(200);
        assert_eq!(shipped["shipments"][1]["lines"][0]["quantity"], 2, "{shipped}");
        assert_eq!((&shipped["status"], &shipped["lines"][0]["shipped"]), (&json!("shipped"), &json!(2)), "{shipped}");
        assert_eq!(shipped["flags"], json!([]), "{shipped}");

        // Rejected once more, after all has left, and after a restart: one part is owed.
        floor.app.kill_9();
        floor.app.start().await;
        let last = format!("/api/jobs/{}/sign-off", again[0]["id"].as_str().unwrap());
        floor.app.post(&last, &json!({"goodCount": 0})).await.expect(200);
        let owed = floor.app.get(&path).await.expect(200);
        assert_eq!((&owed["status"], &owed["lines"][0]["shipped"]), (&json!("printing"), &json!(1)), "{owed}");
        assert_eq!((&owed["shipment"], floor.app.jobs(&order).await.len()), (&Value::Null, 5), "{owed}");
    }

    async fn an_order_of_which_nothing_is_good_does_not_leave(db: Db) {
        let none = [REQUIRED, ("PRINTFLOOR_QUALITY__REPRINT_MISSING", "false")];
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &none).await;
        let order = floor.order(1).await;
        let jobs = until("the part to be printed", || async {
            let jobs = floor.app.jobs(&order).await;
            jobs.iter().all(|job| job["state"] == "COMPLETED").then_some(jobs)
        })
        .await;
        let sign = format!("/api/jobs/{}/sign-off", jobs[0]["id"].as_str().unwrap());
        floor.app.post(&sign, &json!({"goodCount": 0})).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        for accepted in [false, true] {
            let body = json!({"carrier": "pickup", "acceptShort": accepted});
            assert_eq!(floor.app.post(&format!("/api/orders/{order}/ship"), &body).await.error(409), "nothing_good");
        }
        assert!(floor.events("order.shipped").await.is_empty());
    }
}

on_sqlite! {
    async fn killed_right_after_a_bed_was_cleared_the_sign_off_counts_once(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_SOON]).await;
        by_hand(&floor).await;
        let order = floor.order(1).await;
        for round in 0..3 {
            let job = last_print(&floor, 0).await;
            // Before the order can have heard of it.
            act(&floor, 0, &json!({"goodCount": 0, "reason": "warping"})).await.expect(200);
            floor.app.kill_9();
            floor.app.start().await;
            floor.job_until("the sign-off to be known", &job, |job| job["attempts"][0]["signOff"]["reason"] == "warping").await;
            until("the part to be made again", || async {
                (floor.app.jobs(&order).await.len() == round + 2).then_some(())
            }).await;
        }
        last_print(&floor, 0).await;
        act(&floor, 0, &json!({"goodCount": 0})).await.expect(200);
        let body = until("a person to be called", || async {
            let body = floor.app.get(&format!("/api/orders/{order}")).await.expect(200);
            body["flags"].as_array().unwrap().iter().any(|flag| flag == "needs_attention").then_some(body)
        }).await;
        assert_eq!((&body["lines"][0]["missing"], &body["lines"][0]["good"]), (&json!(1), &json!(0)));
        assert_eq!(floor.app.jobs(&order).await.len(), 4, "three more at most");
        floor.truth().await;
    }
}
