//! Orders from placement to shipment, as the shop's own programs see them.

use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::materials::mails;
use super::{NOTHING, count, id, one_of, paths, some_sku};
use crate::support::{App, Db, on_sqlite, until};

const TAX: &str = "[{country=\"DE\", bps=1900}, {country=\"US\", region=\"CA\", bps=725}]";

fn address(country: &str) -> Value {
    json!({"line1": "1 Way", "city": "Town", "postalCode": "12345", "country": country})
}

on_sqlite! {
    async fn an_order_is_shown_as_it_was_placed(db: Db) {
        let mut app = App::on(db).env("PRINTFLOOR_TAX__RATES", TAX).env("PRINTFLOOR_SHIPPING__FLAT_CENTS", 495).start().await;
        let sku = some_sku(&app).await;
        let body = json!({
            "lines": [{"skuId": sku, "quantity": 3}, {"skuId": sku, "quantity": 1}], "customerEmail": " Ann@Example.org", "notes": "ring twice",
            "priority": 7, "dueAt": "2030-01-02T03:04:05+01:00", "shippingAddress": address("de"), "site": "tech",
        });
        let answer = app.post("/api/orders", &body).await;
        let location = answer.header("location").unwrap().to_owned();
        let order = answer.expect(201);
        assert_eq!(location, format!("/api/orders/{}", id(&order)));
        let expected = json!({
            "number": "ORD-000001", "kind": "manual", "status": "created", "site": "tech", "customerEmail": "ann@example.org",
            "currency": "usd", "subtotalCents": 5000, "shippingCents": 495, "taxCents": 1044, "discountCents": 0, "roundingCents": 0,
            "totalCents": 5000 + 495 + 1044, "payments": [], "shipment": null, "flags": [], "priority": 7, "notes": "ring twice",
            "dueAt": "2030-01-02T02:04:05.000Z",
        });
        for (member, value) in expected.as_object().unwrap() {
            assert_eq!(&order[member], value, "{member} of {order}");
        }
        assert!(order["customerId"].is_string(), "whoever orders is a customer: {order}");
        let line = &order["lines"][0];
        assert_eq!((&line["skuId"], &line["quantity"], &line["unitPriceCents"], &line["description"]), (&json!(sku), &json!(3), &json!(1250), &json!("PART")));
        // Frozen: what the catalogue says later does not change it.
        app.patch(&format!("/api/skus/{sku}"), &json!({"priceCents": 1, "name": "Other"})).await.expect(200);
        app.kill_9();
        app.start().await;
        assert_eq!(app.get(&location).await.expect(200), order);
        let next = app.post("/api/orders", &one_of(&sku)).await.expect(201);
        assert_ne!(next["number"], order["number"], "numbers are given once, restarts or not");
        assert_eq!((&next["site"], &next["priority"], &next["totalCents"]), (&json!("industries"), &json!(5), &json!(1 + 495)));
        for (query, total) in [
            ("status=created", 2), ("status=paid", 0), ("kind=manual", 2), ("site=tech", 1), ("customerEmail=ANN@example.org", 1),
            ("q=ORD-000001", 1), ("q=1", 1), ("q=ann@", 1),
        ] {
            assert_eq!(count(&app, &format!("/api/orders?{query}")).await, total, "{query}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_made_is_not_placed() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_ORDERS__MAX_JOBS_PER_ORDER", 100).start().await;
    let sku = some_sku(&app).await;
    let file = app.gcode("euro", 60, 1.0).await;
    let material = app.material("PETG", 1.0).await;
    let euro = app.sku("EURO", &material, &file, 100).await;
    app.patch(&format!("/api/skus/{euro}"), &json!({"currency": "eur", "unitsPerPlate": 3})).await.expect(200);
    let lines = |lines: Value| json!({"lines": lines});
    for (body, wrong) in [
        (lines(json!([])), "lines"),
        (json!({}), "lines"),
        (lines(json!([{"skuId": sku, "quantity": 1}, {"skuId": euro, "quantity": 1}])), "lines.1.skuId"),
        (lines(json!([{"skuId": NOTHING, "quantity": 1}])), "lines.0.skuId"),
        (lines(json!([{"skuId": sku, "quantity": 101}])), "lines"),
        (lines(json!([{"skuId": sku, "quantity": 60}, {"skuId": sku, "quantity": 41}])), "lines"),
        (lines(json!([{"skuId": euro, "quantity": 301}])), "lines"),
        (lines(json!([{"skuId": sku, "quantity": -1}])), "lines.0.quantity"),
        (lines(json!([{"skuId": sku}])), "lines.0.quantity"),
    ] {
        assert_eq!(paths(&app.post("/api/orders", &body).await.expect(400)), [wrong], "{body}");
    }
    assert_eq!(count(&app, "/api/orders").await, 0);
    let full = app.post("/api/orders", &lines(json!([{"skuId": euro, "quantity": 300}]))).await.expect(201);
    assert_eq!(full["currency"], "eur");
    app.post(&format!("/api/orders/{}/mark-paid", id(&full)), &json!({"method": "cash"})).await.expect(200);
    assert_eq!(count(&app, &format!("/api/jobs?orderId={}", id(&full))).await, 100, "one job for each plate of three");
    app.patch(&format!("/api/skus/{sku}"), &json!({"active": false})).await.expect(200);
    assert_eq!(paths(&app.post("/api/orders", &one_of(&sku)).await.expect(400)), ["lines.0.skuId"]);
}

#[tokio::test]
async fn a_site_is_one_of_the_five_and_the_query_wins() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let place = |query: &str, header: &'static str| {
        app.request("POST", &format!("/api/orders{query}")).header("x-service-site", header).json(&one_of(&sku))
    };
    assert_eq!(app.send(place("", "dev")).await.expect(201)["site"], "dev");
    assert_eq!(app.send(place("?site=digital", "dev")).await.expect(201)["site"], "digital");
    assert_eq!(paths(&app.send(place("", "moon")).await.expect(400)), ["site"]);
    assert_eq!(count(&app, "/api/orders?site=dev").await, 1);
    assert_eq!(count(&app, "/api/orders").await, 2);
}

#[tokio::test]
async fn money_by_hand_is_at_most_what_is_due() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 2).await;
    let path = format!("/api/orders/{order}/mark-paid");
    for wrong in [2501, 0, -1] {
        let answer = app.post(&path, &json!({"amountCents": wrong, "method": "cash"})).await.expect(400);
        assert_eq!(paths(&answer), ["amountCents"], "{wrong}");
    }
    assert_eq!(paths(&app.post(&path, &json!({})).await.expect(400)), ["method"]);
    assert_eq!(app.get(&format!("/api/orders/{order}")).await.expect(200)["status"], "created");
    let body = json!({"amountCents": 2500, "method": "bank_transfer", "reference": "RF18"});
    let paid = app.post(&path, &body).await.expect(200);
    let payment = &paid["payments"][0];
    assert_eq!(
        (&paid["status"], &payment["amountCents"], &payment["method"], &payment["reference"]),
        (&json!("paid"), &json!(2500), &json!("bank_transfer"), &json!("RF18"))
    );
    assert_eq!(app.post(&path, &body).await.error(409), "invalid_transition");
    assert_eq!(app.jobs(&order).await.len(), 2);
    let cancelled = app.order(&sku, 1).await;
    app.act(&format!("/api/orders/{cancelled}/cancel")).await.expect(200);
    assert_eq!(
        app.post(&format!("/api/orders/{cancelled}/mark-paid"), &json!({"method": "cash"})).await.error(409),
        "not_payable"
    );
    assert_eq!(app.act(&format!("/api/orders/{cancelled}/cancel")).await.error(409), "invalid_transition");
    assert_eq!(app.act(&format!("/api/orders/{order}/confirm")).await.error(409), "invalid_transition");
    let shipment = json!({"carrier": "DHL", "trackingNumber": "1", "estimatedDelivery": "2030-01-01"});
    assert_eq!(app.post(&format!("/api/orders/{order}/ship"), &shipment).await.error(409), "invalid_transition");
}

#[tokio::test]
async fn an_order_of_nothing_to_pay_is_paid_by_confirming_it() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"priceCents": 0})).await.expect(200);
    let order = app.order(&sku, 1).await;
    assert_eq!(app.act(&format!("/api/orders/{order}/confirm")).await.expect(200)["status"], "paid");
    assert_eq!(app.jobs(&order).await.len(), 1);
}

#[tokio::test]
async fn a_patch_of_an_order_reaches_its_jobs() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_TAX__RATES", TAX).start().await;
    let sku = some_sku(&app).await;
    let body = json!({"lines": [{"skuId": sku, "quantity": 2}], "shippingAddress": address("FR")});
    let order = id(&app.post("/api/orders", &body).await.expect(201));
    let path = format!("/api/orders/{order}");
    assert_eq!(app.patch(&path, &json!({"shippingAddress": address("DE")})).await.error(409), "tax_differs");
    let moved = app.patch(&path, &json!({"shippingAddress": address("it")})).await.expect(200);
    assert_eq!(moved["shippingAddress"]["country"], "IT");
    app.post(&format!("{path}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let changed =
        app.patch(&path, &json!({"priority": 9, "dueAt": "2030-01-01T00:00:00Z", "notes": "fast"})).await.expect(200);
    assert_eq!((&changed["priority"], &changed["notes"]), (&json!(9), &json!("fast")));
    for job in app.jobs(&order).await {
        assert_eq!((&job["priority"], &job["dueAt"]), (&json!(9), &json!("2030-01-01T00:00:00.000Z")), "{job}");
    }
    assert_eq!(app.patch(&path, &json!({"dueAt": null})).await.expect(200)["dueAt"], Value::Null);
    assert_eq!(
        paths(&app.patch(&path, &json!({"status": "shipped", "totalCents": 1})).await.expect(400)),
        ["status", "totalCents"]
    );
    assert_eq!(paths(&app.patch(&path, &json!({"priority": 10})).await.expect(400)), ["priority"]);
}

on_sqlite! {
    async fn a_replacement_is_printed_before_the_order_ships(db: Db) {
        let mut app = App::new(db).await;
        let fleet = Fleet::start(FleetOptions { speed: 300.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) }).await.unwrap();
        app.printer(&fleet.printers[0]).await;
        let material = app.material("PLA", 1000.0).await;
        let file = app.gcode("part", 60, 10.0).await;
        let sku = app.sku("PART", &material, &file, 100).await;
        let order = app.paid_order(&sku, 1).await;
        app.order_is(&order, "ready").await;
        let job = id(&app.jobs(&order).await[0]);
        app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        let again = app.order_is(&order, "ready").await;
        assert_eq!(again["lines"][0]["jobs"], json!({"total": 1, "completed": 1}), "{again}");
        let printed = app.get(&format!("/api/jobs/{job}")).await.expect(200);
        assert_eq!(printed["attempts"].as_array().unwrap().len(), 2, "{printed}");
        let ship = format!("/api/orders/{order}/ship");
        assert_eq!(paths(&app.post(&ship, &json!({"estimatedDelivery": "soon"})).await.expect(400)), ["carrier", "estimatedDelivery", "trackingNumber"]);
        let shipment = json!({"carrier": "DHL", "trackingNumber": "JD1", "estimatedDelivery": "2030-01-31"});
        let shipped = app.post(&ship, &shipment).await.expect(200);
        assert_eq!((&shipped["status"], &shipped["shipment"]), (&json!("shipped"), &shipment));
        assert_eq!(app.post(&ship, &shipment).await.error(409), "invalid_transition");
        assert_eq!(app.act(&format!("/api/jobs/{job}/retry")).await.error(409), "invalid_transition");
        assert_eq!(app.act(&format!("/api/orders/{order}/cancel")).await.error(409), "invalid_transition");
        app.kill_9();
        app.start().await;
        let timeline = app.get(&format!("/api/orders/{order}/timeline")).await.expect(200);
        let timeline = timeline["timeline"].as_array().unwrap();
        let numbers: Vec<i64> = timeline.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
        assert!(numbers.is_sorted(), "oldest first");
        let mut of_order: Vec<&str> = timeline.iter().map(|event| event["event"].as_str().unwrap()).filter(|event| event.starts_with("order.")).collect();
        of_order.dedup();
        assert_eq!(of_order, ["order.created", "order.paid", "order.printing", "order.ready", "order.shipped"], "the replacement goes unannounced until it is ready");
        assert_eq!(timeline[0]["subject"], json!({"kind": "order", "id": order}));
        app.nothing_reserved(&material).await;
        app.ledger_is_even(&material).await;
    }
}

/// Starts a server with a fast printer and a SKU of 1.00 for it; returns the server, the printer and the SKU's ID.
async fn with_printer(db: Db, env: &[(&str, &str)]) -> (App, Fleet, String) {
    let mut app = App::on(db);
    for (name, value) in env {
        app = app.env(name, value);
    }
    let app = app.start().await;
    let options = FleetOptions { speed: 300.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) };
    let fleet = Fleet::start(options).await.unwrap();
    let material = app.material("PLA", 1000.0).await;
    let file = app.gcode("part", 60, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    (app, fleet, sku)
}

on_sqlite! {
    async fn an_order_short_of_parts_is_flagged_and_ships_only_if_accepted(db: Db) {
        let operators = ("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org");
        let (app, fleet, sku) = with_printer(db, &[operators]).await;
        let order = app.paid_order(&sku, 2).await;
        let jobs = app.jobs(&order).await;
        app.act(&format!("/api/jobs/{}/cancel", id(&jobs[0]))).await.expect(200);
        app.printer(&fleet.printers[0]).await;
        let ready = app.order_is(&order, "ready").await;
        assert_eq!(ready["flags"], json!(["short"]), "{ready}");
        until("the operators to be told", || async { mails(&app, "fewer good parts than ordered").pop() }).await;
        let ship = format!("/api/orders/{order}/ship");
        assert_eq!(app.post(&ship, &json!({"carrier": "pickup"})).await.error(409), "order_short");
        let shipped = app.post(&ship, &json!({"carrier": "Pickup", "acceptShort": true})).await.expect(200);
        let shipment = &shipped["shipment"];
        assert_eq!((&shipment["carrier"], &shipment["trackingNumber"]), (&json!("pickup"), &json!("")), "{shipped}");
        assert_eq!(shipment["estimatedDelivery"].as_str().unwrap().len(), 10);
    }
}

#[tokio::test]
async fn of_an_order_whose_jobs_are_all_cancelled_nothing_is_ready() {
    let (app, _, sku) = with_printer(Db::sqlite(), &[]).await;
    let order = app.paid_order(&sku, 2).await;
    for job in app.jobs(&order).await {
        app.act(&format!("/api/jobs/{}/cancel", id(&job))).await.expect(200);
    }
    let body = app.get(&format!("/api/orders/{order}")).await.expect(200);
    assert_eq!((&body["status"], &body["flags"]), (&json!("paid"), &json!(["all_jobs_cancelled"])), "{body}");
    app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
    let body = app.get(&format!("/api/orders/{order}")).await.expect(200);
    assert_eq!(body["flags"], json!(["refund_due"]), "{body}");
    let flagged = app.get("/api/orders?flag=refund_due").await.expect(200);
    assert_eq!((flagged["pagination"]["total"].as_u64(), count(&app, "/api/orders?flag=short").await), (Some(1), 0));
    until("the metrics to count it", || async {
        app.get("/metrics").await.text.contains("printfloor_orders_flagged{flag=\"refund_due\"} 1").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_failed_job_is_told_to_people() {
    let operators = ("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org");
    let (app, fleet, sku) = with_printer(Db::sqlite(), &[operators]).await;
    fleet.printers[0].handle.set_speed(1.0);
    app.printer(&fleet.printers[0]).await;
    let order = app.paid_order(&sku, 1).await;
    let job = id(&app.jobs(&order).await[0]);
    app.job_is(&job, "PRINTING").await;
    fleet.printers[0].handle.set_speed(50.0);
    fleet.printers[0].handle.update_faults(|faults| faults.firmware_shutdown = true);
    app.job_is(&job, "FAILED").await;
    let body = app.get(&format!("/api/orders/{order}")).await.expect(200);
    assert_eq!(body["flags"], json!(["job_failed"]), "{body}");
    until("the operators to be told", || async { mails(&app, "failed: ").pop() }).await;
    let events = app.get("/api/events?event=order.flagged").await.expect(200);
    assert_eq!(events["events"][0]["data"]["flag"], "job_failed", "{events}");
    app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
    let body = app.get(&format!("/api/orders/{order}")).await.expect(200);
    assert_eq!(body["flags"], json!(["all_jobs_cancelled"]), "{body}");
}

#[tokio::test]
async fn tax_is_rounded_once_and_regions_are_known_by_name() {
    let rates = r#"[{country = "US", region = "CA", bps = 725}, {country = "US", bps = 0}]"#;
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_TAX__RATES", rates)
        .env("PRINTFLOOR_SHIPPING__FLAT_CENTS", 7)
        .start()
        .await;
    let material = app.material("PLA", 1000.0).await;
    let file = app.gcode("part", 60, 10.0).await;
    let sku = app.sku("PART", &material, &file, 7).await;
    let body = json!({
        "lines": [{"skuId": sku, "quantity": 1}, {"skuId": sku, "quantity": 1}],
        "shippingAddress": {"line1": "1 Main", "city": "Fresno", "region": "California", "postalCode": "93701", "country": "US"},
    });
    let order = app.post("/api/orders", &body).await.expect(201);
    // 21 x 7.25 % = 1.52; rounded for each line and for shipping it would be 3.
    assert_eq!((&order["taxCents"], &order["totalCents"]), (&json!(2), &json!(23)), "{order}");
    assert_eq!(order["shippingAddress"]["region"], "CA");
}

#[tokio::test]
async fn a_line_of_text_is_one_line_and_nothing_is_due_in_the_past() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let past = json!({"lines": [{"skuId": sku, "quantity": 1}], "dueAt": "2020-01-01T00:00:00Z"});
    assert_eq!(paths(&app.post("/api/orders", &past).await.expect(400)), ["dueAt"]);
    let order = app.paid_order(&sku, 1).await;
    let job = id(&app.jobs(&order).await[0]);
    for path in [format!("/api/orders/{order}"), format!("/api/jobs/{job}")] {
        assert_eq!(paths(&app.patch(&path, &json!({"dueAt": "2020-01-01T00:00:00Z"})).await.expect(400)), ["dueAt"]);
    }
    let unpaid = app.order(&sku, 1).await;
    let broken = "a\r\nBcc: everybody@example.org";
    let material = json!({"name": broken, "type": "filament", "brand": "a\tb"});
    for (path, body, faults) in [
        (
            format!("/api/orders/{order}/ship"),
            json!({"carrier": broken, "trackingNumber": broken, "estimatedDelivery": "2030-01-01"}),
            &["carrier", "trackingNumber"][..],
        ),
        (
            format!("/api/orders/{unpaid}/mark-paid"),
            json!({"method": broken, "reference": "a\u{2028}b"}),
            &["method", "reference"],
        ),
        ("/api/inventory/materials".to_owned(), material, &["brand", "name"]),
        ("/api/auth/api-keys".to_owned(), json!({"name": broken, "role": "operator"}), &["name"]),
    ] {
        assert_eq!(paths(&app.post(&path, &body).await.expect(400)), faults, "{path}");
    }
}

#[tokio::test]
async fn a_timeline_has_pages() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.paid_order(&sku, 3).await;
    for job in app.jobs(&order).await {
        app.job_is(&id(&job), "SLICED").await;
    }
    let path = format!("/api/orders/{order}/timeline");
    let whole = app.get(&path).await.expect(200);
    let total = whole["pagination"]["total"].as_u64().unwrap();
    let mut entries = Vec::new();
    while (entries.len() as u64) < total {
        let page = app.get(&format!("{path}?limit=3&offset={}", entries.len())).await.expect(200);
        assert_eq!(page["pagination"]["hasMore"], (entries.len() as u64 + 3) < total, "{page}");
        entries.extend(page["timeline"].as_array().unwrap().clone());
    }
    assert_eq!(json!(entries), whole["timeline"]);
}
