//! Jobs: the reasons why they wait, and the operators' remedies.

use serde_json::{Value, json};

use super::{NOTHING, count, id, paths, some_sku};
use crate::support::{App, Db, on_sqlite, until};

/// Creates a paid order with one job for a part of 10 g; the material has this stock and reorder point, in grams.
async fn job_with_stock(app: &App, quantity: f64, reorder_point: f64) -> (String, String, String) {
    let body = json!({"name": "PLA", "type": "filament", "quantity": quantity, "reorderPoint": reorder_point});
    let material = id(&app.post("/api/inventory/materials", &body).await.expect(201));
    let file = app.gcode("part", 60, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    let order = app.paid_order(&sku, 1).await;
    (id(&app.jobs(&order).await[0]), order, material)
}

#[tokio::test]
async fn a_job_is_shown_with_all_that_is_known_of_it() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.paid_order(&sku, 1).await;
    let job = app.job_is(&id(&app.jobs(&order).await[0]), "SLICED").await;
    assert_eq!(
        (&job["number"], &job["orderNumber"], &job["orderId"]),
        (&json!("JOB-000001"), &json!("ORD-000001"), &json!(order))
    );
    assert_eq!(
        (&job["skuId"], &job["reserved"], &job["priority"], &job["attempts"]),
        (&json!(sku), &json!(true), &json!(5), &json!([]))
    );
    assert!((job["need"].as_f64().unwrap() - 10.0).abs() < 0.01, "{job}");
    for member in [
        "materialId",
        "blockedBy",
        "dueAt",
        "printerId",
        "progress",
        "remainingSeconds",
        "fileId",
        "cancelRequestedAt",
        "error",
        "consumed",
        "version",
    ] {
        assert!(job.get(member).is_some(), "{member} in {job}");
    }
    let waits = until("a reason", || async {
        let job = app.get(&format!("/api/jobs/{}", id(&job))).await.expect(200);
        job["waitingReason"].is_string().then_some(job)
    })
    .await;
    let reason = "No standard filament printer has been added.";
    assert_eq!(waits["waitingReason"], reason, "{waits}");
    let cause = json!({
        "code": "no_printer", "message": reason, "materialIds": [], "printerIds": [], "printerCount": 0, "endsAt": null,
    });
    assert_eq!(waits["waitingCauses"], json!([cause]), "{waits}");
    for (query, total) in
        [("state=SLICED", 1), ("state=FAILED", 0), (&format!("skuId={sku}"), 1), (&format!("printerId={NOTHING}"), 0)]
    {
        assert_eq!(count(&app, &format!("/api/jobs?{query}")).await, total, "{query}");
    }
}

#[tokio::test]
async fn priority_and_due_date_of_one_job_are_its_own() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.paid_order(&sku, 2).await;
    let jobs = app.jobs(&order).await;
    let path = format!("/api/jobs/{}", id(&jobs[0]));
    let changed = app.patch(&path, &json!({"priority": 9, "dueAt": "2030-01-01T00:00:00Z"})).await.expect(200);
    assert_eq!((&changed["priority"], &changed["dueAt"]), (&json!(9), &json!("2030-01-01T00:00:00.000Z")));
    let untouched = app.get(&format!("/api/jobs/{}", id(&jobs[1]))).await.expect(200);
    assert_eq!((&untouched["priority"], &untouched["dueAt"]), (&json!(5), &Value::Null));
    assert_eq!(paths(&app.patch(&path, &json!({"priority": 10})).await.expect(400)), ["priority"]);
    assert_eq!(paths(&app.patch(&path, &json!({"state": "COMPLETED"})).await.expect(400)), ["state"]);
    app.act(&format!("{path}/cancel")).await.expect(200);
    assert_eq!(app.patch(&path, &json!({"priority": 1})).await.error(409), "invalid_transition");
}

on_sqlite! {
    async fn a_shortage_is_mended_by_stock_and_not_by_an_operators_word(db: Db) {
        let mut app = App::new(db).await;
        let (job, _, material) = job_with_stock(&app, 4.0, 0.0).await;
        let waiting = app.job_is(&job, "awaiting_manual_review").await;
        assert_eq!((&waiting["blockedBy"], &waiting["reserved"]), (&json!("material"), &json!(false)));
        let reason = waiting["waitingReason"].as_str().unwrap();
        assert!(reason.contains("10") && reason.contains("PLA") && reason.contains('4'), "{reason}");
        assert_eq!(app.act(&format!("/api/jobs/{job}/release")).await.error(409), "insufficient_material");
        app.kill_9();
        app.start().await;
        let delivery = json!({"delta": 6.5, "reason": "delivery"});
        app.post(&format!("/api/inventory/materials/{material}/adjustments"), &delivery).await.expect(200);
        let free = app.job_is(&job, "SLICED").await;
        assert_eq!((&free["blockedBy"], &free["reserved"]), (&Value::Null, &json!(true)));
    }

    async fn a_release_is_judged_by_the_stock_of_now(db: Db) {
        let app = App::new(db).await;
        let (job, _, material) = job_with_stock(&app, 100.0, 200.0).await;
        app.job_is(&job, "awaiting_manual_review").await;
        let release = format!("/api/jobs/{job}/release");
        let count = |grams: f64| {
            let (app, path) = (&app, format!("/api/inventory/materials/{material}"));
            async move { app.patch(&path, &json!({"quantity": grams})).await.expect(200) }
        };
        // It waits for the reorder point; since then most of the stock went.
        count(4.0).await;
        let refused = app.act(&release).await.expect(409);
        assert_eq!(refused["code"], "insufficient_material", "{refused}");
        assert!(refused["message"].as_str().unwrap().ends_with("4 g free"), "{refused}");
        // And came again, though not up to the point.
        count(60.0).await;
        app.act(&release).await.expect(200);
        app.job_is(&job, "SLICED").await;
        // One that found nothing is released as soon as there is enough, below the point as before.
        let body = json!({"name": "PETG", "type": "filament", "quantity": 4, "reorderPoint": 200});
        let other = id(&app.post("/api/inventory/materials", &body).await.expect(201));
        let file = app.gcode("late", 60, 10.0).await;
        let order = app.paid_order(&app.sku("LATE", &other, &file, 100).await, 1).await;
        let late = id(&app.jobs(&order).await[0]);
        app.job_is(&late, "awaiting_manual_review").await;
        app.patch(&format!("/api/inventory/materials/{other}"), &json!({"quantity": 60})).await.expect(200);
        app.act(&format!("/api/jobs/{late}/release")).await.expect(200);
        app.job_is(&late, "SLICED").await;
    }

    async fn an_operator_releases_past_the_reorder_point(db: Db) {
        let app = App::new(db).await;
        let (job, order, material) = job_with_stock(&app, 100.0, 200.0).await;
        let waiting = app.job_is(&job, "awaiting_manual_review").await;
        assert_eq!(waiting["blockedBy"], "reorder_point");
        app.act(&format!("/api/jobs/{job}/release")).await.expect(200);
        app.job_is(&job, "SLICED").await;
        assert_eq!(app.act(&format!("/api/jobs/{job}/release")).await.error(409), "invalid_transition");
        app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        app.job_is(&job, "CANCELLED").await;
        until("the reservation to be freed", || async {
            let material = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
            (material["reserved"] == 0).then_some(())
        })
        .await;
        app.ledger_is_even(&material).await;
    }
}

#[tokio::test]
async fn the_reorder_point_blocks_only_where_the_shop_wants_it() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_INVENTORY__BLOCK_BELOW_REORDER_POINT", false).start().await;
    let (job, ..) = job_with_stock(&app, 100.0, 200.0).await;
    app.job_is(&job, "SLICED").await;
}

#[tokio::test]
async fn what_is_free_goes_to_the_first_in_line() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 0.0).await;
    let file = app.gcode("part", 60, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    let mut jobs = Vec::new();
    for body in
        [json!({"priority": 5}), json!({"priority": 5, "dueAt": "2030-01-01T00:00:00Z"}), json!({"priority": 8})]
    {
        let mut body = body;
        body["lines"] = json!([{"skuId": sku, "quantity": 1}]);
        let order = id(&app.post("/api/orders", &body).await.expect(201));
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let job = id(&app.jobs(&order).await[0]);
        app.job_is(&job, "awaiting_manual_review").await;
        jobs.push(job);
    }
    for next in [2, 1, 0] {
        let delivery = json!({"delta": 10.2, "reason": "delivery"});
        app.post(&format!("/api/inventory/materials/{material}/adjustments"), &delivery).await.expect(200);
        app.job_is(&jobs[next], "SLICED").await;
        let waiting = app.get("/api/jobs?state=awaiting_manual_review").await.expect(200);
        assert_eq!(waiting["pagination"]["total"], next, "{waiting}");
    }
}

#[tokio::test]
async fn an_order_all_of_whose_jobs_are_cancelled_is_flagged_not_ready() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org").start().await;
    let sku = some_sku(&app).await;
    let order = app.paid_order(&sku, 2).await;
    for job in app.jobs(&order).await {
        let cancelled = app.act(&format!("/api/jobs/{}/cancel", id(&job))).await.expect(200);
        assert_eq!(cancelled["state"], "CANCELLED");
        for (act, body) in [("cancel", json!({})), ("release", json!({})), ("pause", json!({})), ("resume", json!({}))]
        {
            let refused = app.post(&format!("/api/jobs/{}/{act}", id(&job)), &body).await;
            assert_eq!(refused.error(409), "invalid_transition", "{act}");
        }
    }
    let flagged = app.get(&format!("/api/orders/{order}")).await.expect(200);
    assert_eq!((&flagged["status"], &flagged["flags"]), (&json!("paid"), &json!(["all_jobs_cancelled"])));
    let mail_count = || super::materials::mails(&app, "ORD-000001: all jobs cancelled").len();
    until("a mail", || async { (mail_count() == 1).then_some(()) }).await;
    assert_eq!(
        paths(
            &app.post(&format!("/api/jobs/{}/resolve", id(&app.jobs(&order).await[0])), &json!({"outcome": "maybe"}))
                .await
                .expect(400)
        ),
        ["outcome"]
    );
}
