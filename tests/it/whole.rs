//! The whole process from a signed payment event to a shipped order.

mod sets;

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::bambu::setup::{Ams, Tray};
use simulator::gcode::orca_gcode;
use simulator::gcode::package::package_using;
use simulator::payments::{SimPayment, SimPaymentEvent, signature};
use simulator::printer::PhysicalEvent;
use simulator::sink::{ReceivedRequest, Sink};
use simulator::{Fleet, FleetOptions, PrinterKind};

use crate::support::app::PAYMENT_SECRET;
use crate::support::waiting::LONG;
use crate::support::{App, Client, on_both, on_sqlite, until};

/// Environment variable with the path of the slicer from Debian.
pub const SLICER: &str = "PRINTFLOOR_TEST_SLICER";

#[expect(clippy::disallowed_methods, reason = "a signature is of now")]
pub fn unix_now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

/// Sends a signed payment event; returns the status, or `None` without a response.
pub async fn pay(app: &Client, order: &Value, event_id: &str) -> Option<u16> {
    let (id, cents) = (order["id"].as_str().unwrap(), order["totalCents"].as_i64().unwrap());
    let payment = SimPayment::new(id, cents, "usd");
    let body = payment.event(SimPaymentEvent::Completed, event_id, unix_now());
    let signed = signature(PAYMENT_SECRET, unix_now(), body.as_bytes());
    let request = app.request("POST", "/webhooks/payments").header("Stripe-Signature", signed);
    let request = request.header("Content-Type", "application/json").body(body);
    app.try_send(request).await.map(|answer| answer.status)
}

/// Builds a cube of 10 mm as an ASCII STL.
pub fn cube() -> String {
    let corner = |n: usize| [n & 1, n >> 1 & 1, n >> 2 & 1].map(|bit| bit * 10);
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mut text = "solid cube\n".to_owned();
    for [a, b, c, d] in faces {
        for triangle in [[a, b, c], [a, c, d]] {
            text.push_str("facet normal 0 0 0\nouter loop\n");
            for [x, y, z] in triangle.map(corner) {
                writeln!(text, "vertex {x} {y} {z}").unwrap();
            }
            text.push_str("endloop\nendfacet\n");
        }
    }
    text + "endsolid cube\n"
}

/// Generates G-code from the model with the real slicer, or with the simulator's generator if no slicer is installed
/// and services are not required.
pub fn sliced(folder: &Path) -> Vec<u8> {
    let Some(slicer) = std::env::var_os(SLICER) else {
        assert!(std::env::var_os(crate::support::db::SERVICES).is_none(), "{SLICER} is not set");
        return simulator::gcode::gcode("cube", 240, 1.4, 460.0).into_bytes();
    };
    let (model, gcode) = (folder.join("cube.stl"), folder.join("cube.gcode"));
    std::fs::write(&model, cube()).unwrap();
    let sliced = Command::new(slicer)
        .args(["--export-gcode", "--filament-density", "1.24", "--output"])
        .args([&gcode, &model])
        .output()
        .unwrap();
    assert!(sliced.status.success(), "{}", String::from_utf8_lossy(&sliced.stderr));
    std::fs::read(gcode).unwrap()
}

on_both! {
    async fn a_paid_order_becomes_printed_parts_and_ships(db: Db) {
        // No delivery is sent again because the machine is busy.
        let app = App::on(db).env("PRINTFLOOR_WEBHOOKS__DELIVERY_TIMEOUT_SECONDS", 300).start().await;
        let fleet = Fleet::start(FleetOptions { speed: 300.0, seed: 7, ..FleetOptions::of_each(2) }).await.unwrap();
        for sim in &fleet.printers {
            app.printer(sim).await;
        }
        let sink = Sink::start().await.unwrap();
        let events = ["order.created", "order.paid", "order.printing", "order.ready", "order.shipped", "job.completed", "inventory.low"];
        let endpoint = json!({"url": sink.url(), "events": events, "secret": "a-secret-of-the-shop-1234567890"});
        app.post("/api/webhooks/endpoints", &endpoint).await.expect(201);
        sink.verify_with("a-secret-of-the-shop-1234567890");

        let file = from_slicer(&app, "cube.gcode", sliced(app.folder())).await;
        let grams = file["metadata"]["grams"].as_f64().expect("the G-code says its grams");
        assert!(file["metadata"]["seconds"].as_f64().unwrap() > 0.0, "{file}");
        // Stock for two of the five jobs.
        let stock = (grams * 2500.0).round() / 1000.0;
        let material = app.material("PLA black", stock).await;
        let sku = app.sku("CUBE", &material, file["id"].as_str().unwrap(), 1250).await;

        // Three cubes, and a kit of two more.
        let kit = json!({"code": "PAIR", "name": "Pair", "priceCents": 2000, "components": [{"skuId": sku, "quantity": 2}]});
        let kit = app.post("/api/skus", &kit).await.expect(201)["id"].clone();
        let lines = json!([{"skuId": sku, "quantity": 3}, {"skuId": kit, "quantity": 1}]);
        let body = json!({"lines": lines, "customerEmail": "buyer@example.org"});
        let order = app.post("/api/orders", &body).await.expect(201)["id"].as_str().unwrap().to_owned();
        let placed = app.order_is(&order, "created").await;
        assert_eq!(placed["totalCents"], 3 * 1250 + 2000, "{placed}");
        assert_eq!(pay(&app, &placed, "evt_1").await, Some(200));
        assert_eq!(pay(&app, &placed, "evt_1").await, Some(200), "the same event again is fine");

        jobs_wait_for_stock(&app, &order, fleet.printers.len()).await;
        let delivery = json!({"delta": 1000, "reason": "delivery"});
        app.post(&format!("/api/inventory/materials/{material}/adjustments"), &delivery).await.expect(200);
        let ready = app.order_is(&order, "ready").await;
        let counts = &ready["lines"][0];
        assert_eq!((&counts["good"], &counts["running"], &counts["missing"]), (&json!(3), &json!(0), &json!(0)), "{ready}");
        let kit = (&ready["lines"][1]["completeSets"], &ready["lines"][2]["kitLine"], &ready["lines"][2]["good"]);
        assert_eq!(kit, (&json!(1), &json!(1), &json!(2)), "{ready}");
        sign_off_and_ship(&app, &order).await;
        events_are_delivered_once(&sink).await;

        let started: usize = fleet.printers.iter().map(|sim| count(sim, |what| matches!(what, PhysicalEvent::Started { .. }))).sum();
        let finished: usize = fleet.printers.iter().map(|sim| count(sim, |what| matches!(what, PhysicalEvent::Finished { .. }))).sum();
        assert_eq!((started, finished), (5, 5));
        until("the last claim to be settled", || async {
            let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
            (stock["reserved"] == 0).then_some(())
        }).await;
        app.ledger_is_even(&material).await;
    }
}

/// Waits until three jobs wait for stock, and checks their reasons.
async fn jobs_wait_for_stock(app: &App, order: &str, printers: usize) {
    let waiting = until("three jobs to wait for stock", || async {
        let jobs = app.jobs(order).await;
        let waiting: Vec<_> = jobs.into_iter().filter(|job| job["state"] == "awaiting_manual_review").collect();
        (waiting.len() == 3).then_some(waiting)
    })
    .await;
    let reason = waiting[0]["waitingReason"].as_str().unwrap();
    assert_eq!(waiting[0]["blockedBy"], "material");
    assert!(reason.contains("PLA black") && reason.contains("free"), "{reason}");
    // What the others hold changes as they are printed.
    until("the comparison to say the same as the job", || async {
        let path = format!("/api/jobs/{}", waiting[0]["id"].as_str().unwrap());
        let (job, comparison) = (app.get(&path).await.expect(200), app.get(&format!("{path}/match")).await.expect(200));
        assert_eq!(comparison["printers"].as_array().unwrap().len(), printers, "{comparison}");
        let reason = &comparison["waitingReason"];
        (reason.is_string() && *reason == job["waitingReason"]).then_some(())
    })
    .await;
    // What waits for stock has no date; what is printed has one.
    until("the forecast to leave out what waits", || async {
        (app.get("/api/forecast").await.expect(200)["untold"] == 3).then_some(())
    })
    .await;
}

/// Signs off a part, and ships the kit first and the rest later.
async fn sign_off_and_ship(app: &App, order: &str) {
    let job = app.jobs(order).await[0]["id"].as_str().unwrap().to_owned();
    app.post(&format!("/api/jobs/{job}/sign-off"), &json!({"goodCount": 1, "note": "smooth"})).await.expect(200);
    let mut shipment = json!({"carrier": "DHL", "trackingNumber": "JD0001", "estimatedDelivery": "2026-12-01"});
    shipment["lines"] = json!([{"line": 1, "quantity": 1}]);
    app.post(&format!("/api/orders/{order}/ship"), &shipment).await.expect(200);
    shipment["trackingNumber"] = json!("JD0002");
    shipment.as_object_mut().unwrap().remove("lines");
    let shipped = app.post(&format!("/api/orders/{order}/ship"), &shipment).await.expect(200);
    assert_eq!((&shipped["status"], &shipped["lines"][0]["shipped"]), (&json!("shipped"), &json!(3)), "{shipped}");
    let packed = app.get(&format!("/api/orders/{order}/shipments/2/packing-list")).await.expect(200);
    assert_eq!((&packed["lines"][0]["quantity"], &packed["complete"]), (&json!(3), &json!(true)), "{packed}");
}

/// Waits until the sink has received all events, and checks that it received each of them once.
async fn events_are_delivered_once(sink: &Sink) {
    let counts = [
        ("order.created", 1),
        ("order.paid", 1),
        ("order.printing", 1),
        ("order.ready", 1),
        ("order.shipped", 1),
        ("job.completed", 5),
    ];
    let count_of = |all: &[ReceivedRequest], event: &str| {
        all.iter().filter(|got| got.header("x-service-event") == Some(event)).count()
    };
    let have_come = |all: &[ReceivedRequest]| counts.iter().all(|(event, count)| count_of(all, event) >= *count);
    let all = sink.wait_until(have_come, LONG).await.expect("the sink to hear of everything");
    let mut ids = HashSet::new();
    for got in &all {
        let verdict = &got.verdict;
        assert_eq!((verdict.service, verdict.standard), (Some(true), Some(true)), "{got:?}");
        assert!(ids.insert(got.header("x-service-delivery").unwrap().to_owned()), "delivered twice: {got:?}");
    }
    for (event, count) in counts {
        assert_eq!(count_of(&all, event), count, "{event} in {all:?}");
    }
}

/// Uploads a file to the library as slicers do; returns the file as the API describes it.
async fn from_slicer(app: &Client, name: &str, content: Vec<u8>) -> Value {
    let part = Part::bytes(content).file_name(name.to_owned());
    let form = Form::new().text("print", "false").part("file", part);
    let request = app.request("POST", "/slicer/fdm_standard/api/files/local").multipart(form);
    let answer = app.send(request).await.expect(201);
    let resource = answer["files"]["local"]["refs"]["resource"].as_str().unwrap();
    app.get(&resource[resource.find("/api/").unwrap()..]).await.expect(200)
}

on_sqlite! {
    async fn the_second_plate_of_a_package_is_printed_from_the_spools_that_a_printer_reports(db: Db) {
        let app = App::new(db).await;
        let options = FleetOptions { speed: 300.0, seed: 9, ..FleetOptions::of(PrinterKind::MqttLan, 1) };
        let fleet = Fleet::start(options).await.unwrap();
        let bambu = Bambu::of(&fleet.printers[0].handle).unwrap();
        let spool = |color: &str| Some(Tray { tray_color: format!("{color}FF"), ..Tray::default() });
        bambu.change(|setup| setup.ams = vec![Ams { trays: [spool("F4F1E6"), None, spool("1B1B22"), None] }]);
        // Black is known by its vendor's code, white is bound by a person.
        let [black, white] = [app.material("PLA black", 500.0).await, app.material("PLA white", 500.0).await];
        let code = json!({"vendorCode": "GFA00", "color": "#1b1b22"});
        app.patch(&format!("/api/inventory/materials/{black}"), &code).await.expect(200);
        let printer = app.printer(&fleet.printers[0]).await;
        let view = app.bind_slot(&printer, 0, &json!({"materialId": white, "remaining": 100})).await;
        let slots = view["slots"].as_array().unwrap().iter();
        let slots: Vec<Value> = slots.map(|one| json!([one["source"], one["materialId"]])).collect();
        let expected = json!([["printer", white], ["printer", null], ["printer", black], ["printer", null]]);
        assert_eq!(json!(slots), expected, "{view}");

        let (lid, sign) = (orca_gcode("lid", 600, 4.0, 1320.0), orca_gcode("sign", 1200, 9.0, 2970.0));
        let file = from_slicer(&app, "sign.gcode.3mf", package_using(&[(&lid, &[1]), (&sign, &[1, 2])])).await;
        let plates = file["plates"].as_array().unwrap();
        assert_eq!((plates.len(), &plates[1]["plate"], &plates[1]["seconds"]), (2, &json!(2), &json!(1200)), "{file}");
        assert_eq!((plates[0]["filaments"].as_array().unwrap().len(), &plates[1]["filaments"][1]["grams"]), (1, &json!(4.5)), "{file}");
        let sign = json!({
            "code": "SIGN", "name": "Sign", "materialId": black, "estimatedConsumption": 4.5, "machineType": "fdm_standard",
            "priceCents": 900, "gcodeFileId": file["id"], "plate": 2,
            "materials": [{"materialId": white, "estimatedConsumption": 4.5, "filament": 1}],
        });
        let sign = app.post("/api/skus", &sign).await.expect(201)["id"].as_str().unwrap().to_owned();
        let order = app.order(&sign, 1).await;
        let placed = app.order_is(&order, "created").await;
        assert_eq!(pay(&app, &placed, "evt_sign").await, Some(200));
        app.order_is(&order, "ready").await;
        let jobs = app.jobs(&order).await;
        assert_eq!((&jobs[0]["plate"], &jobs[0]["printerId"]), (&json!(2), &json!(printer)), "{jobs:?}");
        assert_eq!(bambu.last_start(), Some(("Metadata/plate_2.gcode".to_owned(), vec![2, 0])), "black, then white");
        app.post(&format!("/api/orders/{order}/ship"), &json!({"carrier": "pickup"})).await.expect(200);
        for material in [&black, &white] {
            let stock = until("the last claim to be settled", || async {
                let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
                (stock["reserved"] == 0).then_some(stock)
            }).await;
            assert_eq!(stock["quantity"], 495.5, "{stock}");
            app.ledger_is_even(material).await;
        }
        let view = app.get(&format!("/api/printers/{printer}")).await.expect(200);
        assert_eq!(view["slots"][0]["remaining"], 95.5, "{view}");
    }
}

fn count(sim: &simulator::fleet::SimPrinter, which: impl Fn(&PhysicalEvent) -> bool) -> usize {
    sim.handle.log().iter().filter(|entry| which(&entry.what)).count()
}
