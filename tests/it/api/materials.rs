//! Stock: the ledger, adjustments, stock-takes, the low stock alert.

use serde_json::{Value, json};
use simulator::sink::Sink;

use super::{count, id, paths};
use crate::support::{App, Db, on_both, on_sqlite, until};

/// Lists the emails in the outbox folder whose subject contains this text.
pub fn mails(app: &App, subject: &str) -> Vec<String> {
    let Ok(folder) = std::fs::read_dir(app.data().join("outbox")) else { return Vec::new() };
    let files = folder.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "eml"));
    let texts = files.filter_map(|path| std::fs::read_to_string(path).ok());
    texts.filter(|text| text.lines().any(|line| line.starts_with("Subject:") && line.contains(subject))).collect()
}

fn path(material: &str) -> String {
    format!("/api/inventory/materials/{material}")
}

async fn adjust(app: &App, material: &str, delta: f64) -> Value {
    let body = json!({"delta": delta, "reason": "test"});
    app.post(&format!("{}/adjustments", path(material)), &body).await.expect(200)
}

/// Counts the events of this name about this subject.
async fn happened(app: &App, event: &str, subject: &str) -> usize {
    let list = app.get(&format!("/api/events?event={event}&subject={subject}&limit=200")).await.expect(200);
    list["events"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_material_is_shown_as_it_was_made() {
    let app = App::new(Db::sqlite()).await;
    for (kind, unit) in [("filament", "g"), ("resin", "mL"), ("laser_sheet", "sheet"), ("laser_consumable", "unit")] {
        let body = json!({
            "name": kind, "type": kind, "color": "#00ff7f", "brand": "Acme", "quantity": 12.345, "unit": unit, "reorderPoint": 1.5,
            "reorderQuantity": 1000,
        });
        let answer = app.post("/api/inventory/materials", &body).await;
        assert_eq!(answer.header("location").unwrap(), path(&id(&answer.json())));
        let answer = answer.expect(201);
        for (member, value) in body.as_object().unwrap() {
            assert_eq!(&answer[member], value, "{member} of {answer}");
        }
        assert_eq!((&answer["reserved"], &answer["available"]), (&json!(0), &json!(12.345)), "{answer}");
        assert_eq!(app.get(&path(&id(&answer))).await.expect(200), answer);
        let wrong = json!({"name": "x", "type": kind, "unit": "kg"});
        assert_eq!(paths(&app.post("/api/inventory/materials", &wrong).await.expect(400)), ["unit"]);
    }
    assert_eq!(count(&app, "/api/inventory/materials?type=resin").await, 1);
    for wrong in [json!({"reserved": 1}), json!({"available": 1}), json!({"color": "blue"})] {
        let mut body = json!({"name": "x", "type": "filament"});
        body.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        app.post("/api/inventory/materials", &body).await.expect(400);
    }
}

#[tokio::test]
async fn a_material_is_read_as_last_committed_however_often_it_was_read_before() {
    let app = App::new(Db::sqlite()).await;
    let body = json!({"name": "PLA", "type": "filament", "quantity": 100});
    let material = id(&app.post("/api/inventory/materials", &body).await.expect(201));
    for delta in [1.0, 2.0, -3.0] {
        let answer = adjust(&app, &material, delta).await;
        for _ in 0..2 {
            assert_eq!(app.get(&path(&material)).await.expect(200), answer);
        }
    }
    app.delete(&path(&material)).await.expect(204);
    assert_eq!(app.get(&path(&material)).await.error(404), "material_not_found");
}

on_both! {
    async fn amounts_are_exact_to_a_thousandth_and_the_ledger_tells_all(db: Db) {
        let mut app = App::new(db).await;
        let material = app.material("PLA", 0.1).await;
        for _ in 0..9 {
            adjust(&app, &material, 0.1).await;
        }
        assert_eq!(adjust(&app, &material, 0.001).await["quantity"], json!(1.001));
        assert_eq!(app.patch(&path(&material), &json!({"quantity": 0.7})).await.expect(200)["quantity"], json!(0.7));
        adjust(&app, &material, -0.7).await;
        app.kill_9();
        app.start().await;
        assert_eq!(app.get(&path(&material)).await.expect(200)["quantity"], 0);
        app.ledger_is_even(&material).await;
        let ledger = app.get(&format!("{}/movements", path(&material))).await.expect(200);
        let kinds: Vec<&str> = ledger["movements"].as_array().unwrap().iter().map(|m| m["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds.len(), 13, "{ledger}");
        assert_eq!(kinds[..3], ["adjust", "adjust", "receive"], "newest first: {kinds:?}");
        let newest = &ledger["movements"][0];
        assert_eq!((&newest["deltaQuantity"], &newest["quantity"], &newest["reason"]), (&json!(-0.7), &json!(0), &json!("test")));
        assert!(!newest["actor"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn stock_never_goes_below_zero() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 5.0).await;
    let adjustments = format!("{}/adjustments", path(&material));
    let too_much = json!({"delta": -5.001, "reason": "scrap"});
    assert_eq!(app.post(&adjustments, &too_much).await.error(409), "insufficient_stock");
    // However many ask at once.
    let take = json!({"delta": -2, "reason": "scrap"});
    let answers = futures::future::join_all((0..8).map(|_| app.post(&adjustments, &take))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 2, "{answers:?}");
    assert_eq!(app.get(&path(&material)).await.expect(200)["quantity"], 1);
    app.ledger_is_even(&material).await;
    for (body, wrong) in [
        (json!({"delta": 0.0001, "reason": "x"}), "delta"),
        (json!({"delta": "1", "reason": "x"}), "delta"),
        (json!({"delta": 1e15, "reason": "x"}), "delta"),
        (json!({"delta": 0, "reason": "x"}), "delta"),
        (json!({"delta": 1, "reason": " "}), "reason"),
    ] {
        assert_eq!(paths(&app.post(&adjustments, &body).await.expect(400)), [wrong], "{body}");
    }
    for wrong in [json!({"quantity": -1}), json!({"quantity": 0.0001}), json!({"quantity": 1e300})] {
        assert_eq!(paths(&app.patch(&path(&material), &wrong).await.expect(400)), ["quantity"]);
    }
}

on_sqlite! {
    async fn a_stock_take_below_what_is_reserved_takes_the_latest_reservations_back(db: Db) {
        let app = App::on(db).env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org").start().await;
        let material = app.material("PLA", 31.0).await;
        let file = app.gcode("part", 60, 10.0).await;
        let sku = app.sku("PART", &material, &file, 100).await;
        let mut orders = Vec::new();
        let states = |order: String| {
            let app = &app;
            async move { app.jobs(&order).await[0].clone() }
        };
        for _ in 0..3 {
            let order = app.paid_order(&sku, 1).await;
            until("it to be reserved", || async { (states(order.clone()).await["state"] == "SLICED").then_some(()) }).await;
            orders.push(order);
        }
        let counted = app.patch(&path(&material), &json!({"quantity": 15})).await.expect(200);
        assert_eq!((&counted["quantity"], &counted["available"]), (&json!(15), &json!(0)), "{counted}");
        assert_eq!(happened(&app, "inventory.discrepancy", &material).await, 1);
        until("a mail", || async { (mails(&app, "Stock discrepancy: PLA").len() == 1).then_some(()) }).await;
        for order in &orders[1..] {
            until("it to be given up", || async {
                let job = states(order.clone()).await;
                let why = job["waitingReason"].as_str().unwrap_or_default().to_owned();
                (job["state"] == "awaiting_manual_review" && why.contains("Needs 10 g of PLA")).then_some(job)
            })
            .await;
        }
        assert_eq!(states(orders[1].clone()).await["blockedBy"], "material");
        assert_eq!(states(orders[0].clone()).await["state"], "SLICED", "the earliest keeps its own");
        until("the ledger to say so", || async {
            let stock = app.get(&path(&material)).await.expect(200);
            (stock["reserved"] == 10 && stock["available"] == 5).then_some(())
        })
        .await;
        // Stock comes in: the line goes on by age.
        adjust(&app, &material, 6.0).await;
        until("the second to be released", || async {
            (states(orders[1].clone()).await["state"] == "SLICED").then_some(())
        })
        .await;
        assert_eq!(states(orders[2].clone()).await["state"], "awaiting_manual_review");
        adjust(&app, &material, 50.0).await;
        until("the third to be released", || async {
            (states(orders[2].clone()).await["state"] == "SLICED").then_some(())
        })
        .await;
        assert_eq!(app.get(&path(&material)).await.expect(200)["reserved"], 30);
        for order in &orders {
            app.post(&format!("/api/orders/{order}/cancel"), &json!({})).await.expect(200);
        }
        until("nothing to be reserved", || async {
            (app.get(&path(&material)).await.expect(200)["reserved"] == 0).then_some(())
        })
        .await;
        app.ledger_is_even(&material).await;
    }
}

on_sqlite! {
    async fn low_stock_is_told_once_per_crossing(db: Db) {
        let app = App::on(db).env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org").start().await;
        let sink = Sink::start().await.unwrap();
        let endpoint = json!({"url": sink.url(), "events": ["inventory.low"]});
        app.post("/api/webhooks/endpoints", &endpoint).await.expect(201);
        let body = |name: &str, quantity: i64| json!({
            "name": name, "type": "filament", "quantity": quantity, "reorderPoint": 50, "reorderQuantity": 500,
        });
        let material = id(&app.post("/api/inventory/materials", &body("PLA red", 100)).await.expect(201));
        adjust(&app, &material, -50.0).await;
        assert_eq!(happened(&app, "inventory.low", &material).await, 0, "at the point is not below it");
        adjust(&app, &material, -1.0).await;
        adjust(&app, &material, -10.0).await;
        assert_eq!(happened(&app, "inventory.low", &material).await, 1);
        adjust(&app, &material, 100.0).await;
        adjust(&app, &material, -100.0).await;
        assert_eq!(happened(&app, "inventory.low", &material).await, 2);
        assert_eq!(happened(&app, "LOW_STOCK", &material).await, 2);
        // Raising the point is a crossing, and so is being made below it.
        let other = id(&app.post("/api/inventory/materials", &body("PETG", 60)).await.expect(201));
        app.patch(&path(&other), &json!({"reorderPoint": 61})).await.expect(200);
        assert_eq!(happened(&app, "inventory.low", &other).await, 1);
        let last = id(&app.post("/api/inventory/materials", &body("ASA", 49)).await.expect(201));
        assert_eq!(happened(&app, "inventory.low", &last).await, 1);

        let got = sink.wait_until(|all| all.len() >= 4, crate::support::waiting::LONG).await.unwrap();
        let data = got.iter().map(|one| one.json()["data"].clone()).find(|data| data["materialId"] == last).unwrap();
        assert_eq!(data, json!({
            "materialId": last, "name": "ASA", "available": 49, "reorderPoint": 50, "reorderQuantity": 500, "unit": "g",
        }));
        until("four mails", || async { (mails(&app, "Low stock").len() == 4).then_some(()) }).await;
        assert_eq!(mails(&app, "Low stock: PLA red").len(), 2);
        assert!(mails(&app, "Low stock: ASA")[0].contains("To: ops@example.org"));
        assert_eq!(sink.received().len(), 4);
    }
}

#[tokio::test]
async fn a_crossing_is_told_though_somebody_waits_in_line() {
    let app = App::new(Db::sqlite()).await;
    let body = json!({"name": "PLA", "type": "filament", "quantity": 200, "reorderPoint": 100});
    let material = id(&app.post("/api/inventory/materials", &body).await.expect(201));
    let file = app.gcode("huge", 60, 500.0).await;
    let sku = app.sku("HUGE", &material, &file, 100).await;
    let order = app.paid_order(&sku, 1).await;
    let job = id(&app.jobs(&order).await[0]);
    app.job_is(&job, "awaiting_manual_review").await;
    assert_eq!(happened(&app, "inventory.low", &material).await, 1, "a need above what is free");
    adjust(&app, &material, -150.0).await;
    assert_eq!(happened(&app, "inventory.low", &material).await, 2, "a crossing");
    adjust(&app, &material, 150.0).await;
    adjust(&app, &material, -150.0).await;
    assert_eq!(happened(&app, "inventory.low", &material).await, 3, "the level was back in between");
}

#[tokio::test]
async fn what_is_named_elsewhere_is_not_deleted() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 100.0).await;
    let file = app.gcode("part", 60, 1.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    let order = app.order(&sku, 1).await;
    let delete_all = || async {
        let paths = [path(&material), format!("/api/files/{file}"), format!("/api/skus/{sku}")];
        futures::future::join_all(paths.iter().map(|path| app.delete(path)))
            .await
            .into_iter()
            .map(|answer| answer.status)
            .collect::<Vec<_>>()
    };
    assert_eq!(delete_all().await, [409, 409, 409]);
    app.post(&format!("/api/orders/{order}/cancel"), &json!({})).await.expect(200);
    app.delete(&format!("/api/skus/{sku}")).await.expect(204);
    assert_eq!(delete_all().await, [204, 204, 404]);
    for gone in [
        path(&material),
        format!("/api/files/{file}"),
        format!("/api/files/{file}/content"),
        format!("/api/skus/{sku}"),
    ] {
        app.get(&gone).await.error(404);
    }
    for list in ["/api/inventory/materials", "/api/files", "/api/skus"] {
        assert_eq!(count(&app, list).await, 0, "{list}");
    }
    // The order keeps its history.
    assert_eq!(app.get(&format!("/api/orders/{order}")).await.expect(200)["lines"][0]["skuId"], sku);
}
