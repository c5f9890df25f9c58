//! A rejected part: it is printed again, and the quality statistics reflect it.

use serde_json::{Value, json};

use super::{FAST, Floor, JUDGE_SOON, PNG, PrinterKind, act, by_hand, faulty, last_print, line_is};
use crate::support::on_sqlite;

on_sqlite! {
    async fn a_rejected_part_is_made_again_and_the_numbers_say_so(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_SOON]).await;
        by_hand(&floor).await;
        let refused = act(&floor, 0, &json!({"goodCount": 1})).await;
        assert_eq!(refused.error(409), "nothing_to_sign_off");
        let order = floor.order(2).await;
        let first = last_print(&floor, 0).await;
        floor.app.job_is(&first, "COMPLETED").await;
        line_is(&floor, &order, 1, 1, 0).await;
        refuse_faulty_inspections(&floor).await;
        reject(&floor, &order, &first).await;
        finish_with_good_parts(&floor, &order).await;
        let lost = count_quality(&floor).await;
        price_what_was_lost(&floor, lost).await;
        read_table(&floor).await;
        correct_when_ready_and_when_shipped(&floor, &order, &first).await;
        assert_eq!(floor.app.jobs(&order).await.len(), 4);
        floor.truth().await;
    }
}

async fn refuse_faulty_inspections(floor: &Floor) {
    for (inspection, path) in [
        (json!({"goodCount": 2}), "goodCount"),
        (json!({"goodCount": -1}), "goodCount"),
        (json!({"reason": "moon phase"}), "reason"),
        (json!({"photoFileId": floor.sku}), "photoFileId"),
        (json!({"grade": 1}), "grade"),
    ] {
        assert_eq!(faulty(&act(floor, 0, &inspection).await.expect(400)), path, "{inspection}");
    }
}

/// Rejects the part of a print with a reason and a picture.
async fn reject(floor: &Floor, order: &str, first: &str) {
    let photo = floor.app.upload("bad.png", PNG.to_vec()).await.expect(201)["id"].clone();
    let inspection = json!({"goodCount": 0, "reason": "adhesion", "note": "came off", "photoFileId": photo});
    let cleared = act(floor, 0, &inspection).await.expect(200);
    assert!(cleared["lastPrint"].is_null(), "{cleared}");
    let signed =
        floor.job_until("the job to be signed off", first, |job| job["attempts"][0]["signOff"]["reason"] == "adhesion");
    let sign_off = signed.await["attempts"][0]["signOff"].clone();
    assert_eq!(
        (&sign_off["goodCount"], &sign_off["note"], &sign_off["photoFileId"]),
        (&json!(0), &json!("came off"), &photo)
    );
    assert!(sign_off["by"].as_str().unwrap() != "system", "{sign_off}");
    line_is(floor, order, 0, 2, 0).await;
}

/// Prints the other parts, which are good: their beds are cleared without a sign-off.
async fn finish_with_good_parts(floor: &Floor, order: &str) {
    for _ in 0..2 {
        last_print(floor, 0).await;
        floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
    }
    let ready = floor.app.order_is(order, "ready").await;
    assert_eq!((&ready["lines"][0]["good"], &ready["flags"]), (&json!(2), &json!([])));
    let jobs = floor.app.jobs(order).await;
    assert_eq!(jobs.iter().filter(|job| job["reprint"] == true).count(), 1, "{jobs:?}");
    assert_eq!((floor.events("job.added").await.len(), floor.started(0)), (1, 3));
}

/// Checks the quality statistics; returns the lost material, in grams.
async fn count_quality(floor: &Floor) -> f64 {
    let insights = floor.app.get("/api/insights").await.expect(200);
    let quality = &insights["quality"];
    let numbers = |of: &Value| json!([of["prints"], of["parts"], of["good"], of["scrap"], of["firstPassYield"]]);
    assert_eq!(numbers(&quality["total"]), json!([3, 3, 2, 1, 0.5]), "{quality}");
    assert_eq!(numbers(&quality["bySku"][0]), json!([3, 3, 2, 1, 0.5]));
    assert_eq!(
        (&quality["bySku"][0]["skuId"], &quality["byPrinter"][0]["printerId"]),
        (&json!(floor.sku), &json!(floor.printers[0]))
    );
    assert_eq!((&quality["byReason"][0]["reason"], &quality["byReason"][0]["scrap"]), (&json!("adhesion"), &json!(1)));
    let lost = quality["total"]["scrapMaterial"][0]["amount"].as_f64().unwrap();
    assert!((lost - 10.0).abs() < 0.5, "one part of three: {quality}");
    assert_eq!(quality["total"]["scrapCostCents"], Value::Null, "nobody said what the material costs: {quality}");
    lost
}

/// Sets the cost of the material, which also prices earlier losses.
async fn price_what_was_lost(floor: &Floor, lost: f64) {
    let cost = json!({"unitCostCents": 2.55});
    let priced = floor.app.patch(&format!("/api/inventory/materials/{}", floor.material), &cost).await.expect(200);
    assert_eq!(priced["unitCostCents"], 2.55, "{priced}");
    let quality = floor.app.get("/api/insights").await.expect(200)["quality"].clone();
    for of in [&quality["total"], &quality["bySku"][0], &quality["byPrinter"][0], &quality["byReason"][0]] {
        assert_eq!(of["scrapCostCents"], (lost * 2.55).round() as i64, "{quality}");
    }
}

/// Reads the same statistics as CSV; a name that looks like a formula is escaped.
async fn read_table(floor: &Floor) {
    floor.app.patch(&floor.path(0, ""), &json!({"name": "=1+1, \"left\""})).await.expect(200);
    let table = floor.app.get("/api/insights.csv").await;
    assert!(table.header("content-type").unwrap().starts_with("text/csv"), "{}", table.text);
    let rows: Vec<&str> = table.text.split("\r\n").collect();
    assert!(rows[0].starts_with("group,id,name,prints,parts,good,scrap,firstPassYield,"), "{rows:?}");
    assert!(rows[1].starts_with("total,,,3,3,2,1,0.5,"), "{rows:?}");
    assert!(rows[0].ends_with(",scrapCostCents") && rows[1].ends_with(",26"), "{rows:?}");
    let printer = format!("printer,{},\"'=1+1, \"\"left\"\"\",3,3,2,1,0.5,", floor.printers[0]);
    assert!(rows.iter().any(|row| row.starts_with(&printer)), "{rows:?}");
    assert!(rows.iter().any(|row| row.starts_with("reason,,adhesion,")), "{rows:?}");
    assert_eq!(floor.app.get("/api/insights.csv?from=2020-01-01T00:00:00Z&to=2019-01-01T00:00:00Z").await.status, 400);
    let empty = floor.app.get("/api/insights?to=2020-01-01T00:00:00Z").await.expect(200);
    assert_eq!((&empty["quality"]["total"]["prints"], &empty["quality"]["bySku"]), (&json!(0), &json!([])));
}

/// Corrects sign-offs: one on a ready order reopens the order, one on a shipped order is only recorded.
async fn correct_when_ready_and_when_shipped(floor: &Floor, order: &str, first: &str) {
    let jobs = floor.app.jobs(order).await;
    let path = format!("/api/jobs/{first}/sign-off");
    assert_eq!(faulty(&floor.app.post(&path, &json!({"goodCount": 2})).await.expect(400)), "goodCount");
    let good = jobs.iter().find(|job| job["reprint"] == true).unwrap()["id"].as_str().unwrap();
    let path = format!("/api/jobs/{good}/sign-off");
    floor.app.post(&path, &json!({"goodCount": 0})).await.expect(200);
    floor.app.order_is(order, "printing").await;
    last_print(floor, 0).await;
    floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
    floor.app.order_is(order, "ready").await;
    floor.app.post(&format!("/api/orders/{order}/ship"), &json!({"carrier": "pickup"})).await.expect(200);
    floor.app.post(&path, &json!({"goodCount": 1, "note": "it was the other one"})).await.expect(200);
}
