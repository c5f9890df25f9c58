//! Panics of actors of each real kind in the middle of their work, observed over HTTP: the command that caused the
//! panic receives 500, those behind it succeed, no write in progress is lost, and effects are still executed.

use std::path::PathBuf;

use serde_json::{Value, json};
use simulator::payments::{SimPayment, SimPaymentEvent, signature};
use simulator::printer::PhysicalEvent;
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions, PrinterKind};
use tempfile::TempDir;

use crate::api::{id, some_sku};
use crate::support::app::PAYMENT_SECRET;
use crate::support::client::Answer;
use crate::support::waiting::LONG;
use crate::support::{App, Db, until};
use crate::whole::unix_now;

mod other_shops;
mod whole_shop;

/// Number of concurrent commands, one of which panics.
const AT_ONCE: usize = 8;

/// A server whose actors can be made to panic.
struct Mined {
    app: App,
    folder: TempDir,
}

impl Mined {
    async fn start(db: Db) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut app = App::on(db)
            .env("PRINTFLOOR_TEST_PANICS", folder.path().display())
            .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
            .env("PRINTFLOOR_LIMITS__INTAKES_PER_HOUR", 1000)
            .start()
            .await;
        app.may_crash = true;
        Self { app, folder }
    }

    fn mine(&self, kind: &str, point: &str) -> PathBuf {
        self.folder.path().join(format!("{kind}.{point}"))
    }

    /// Makes the next actor of this kind that reaches this point panic.
    fn lay(&self, kind: &str, point: &str) {
        std::fs::write(self.mine(kind, point), "").unwrap();
    }

    /// Waits until an actor of this kind has panicked at this point.
    async fn went_off(&self, kind: &str, point: &str) {
        let mine = self.mine(kind, point);
        until(&format!("{kind} to panic at {point}"), || async { (!mine.exists()).then_some(()) }).await;
    }

    /// Sends the same command [`AT_ONCE`] times concurrently while the kind panics once; returns the number of
    /// successes.
    async fn storm(&self, kind: &str, method: &str, path: &str, body: &Value, fine: u16) -> usize {
        self.lay(kind, "decide");
        let ask = || async {
            match method {
                "PATCH" => self.app.patch(path, body).await,
                _ => self.app.post(path, body).await,
            }
        };
        let answers: Vec<Answer> = futures::future::join_all((0..AT_ONCE).map(|_| ask())).await;
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        let poisoned = statuses.iter().filter(|status| **status == 500).count();
        let done = statuses.iter().filter(|status| **status == fine).count();
        assert_eq!((poisoned, done), (1, AT_ONCE - 1), "{kind}: {statuses:?}");
        for answer in answers.iter().filter(|answer| answer.status == 500) {
            assert_eq!((answer.json()["code"].as_str(), answer.header("retry-after")), (Some("internal"), None));
        }
        done
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_at_fault_hears_it_and_those_behind_it_succeed() {
    let mined = Mined::start(Db::sqlite()).await;
    let app = &mined.app;
    let sku = some_sku(app).await;
    let sink = Sink::start().await.unwrap();
    let material = app.material("PLA white", 100.0).await;
    let order = app.order(&sku, 1).await;
    let printer = json!({
        "name": "left", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://127.0.0.1:9", "apiKey": "",
        "buildVolume": {"x": 220, "y": 220, "z": 250},
    });
    let printer = id(&app.post("/api/printers", &printer).await.expect(201));
    // That it is silent is decided once, and must not set off a mine.
    until("the printer to be recorded as unreachable", || async {
        let status = app.get(&format!("/api/printers/{printer}/status")).await.expect(200);
        status["attention"].as_array().unwrap().iter().any(|reason| reason == "unreachable").then_some(())
    })
    .await;
    let endpoint = json!({"url": sink.url(), "events": ["order.shipped"], "secret": "a-secret-of-the-test-0123456789"});
    let endpoint = id(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(201));

    let path = format!("/api/inventory/materials/{material}");
    let received = json!({"delta": 1, "reason": "test"});
    let done = mined.storm("material", "POST", &format!("{path}/adjustments"), &received, 200).await;
    assert_eq!(app.get(&path).await.expect(200)["quantity"], 100 + done);
    mined.storm("order", "PATCH", &format!("/api/orders/{order}"), &json!({"notes": "soon"}), 200).await;
    assert_eq!(app.get(&format!("/api/orders/{order}")).await.expect(200)["notes"], "soon");
    let on = json!({"on": true, "note": "belts"});
    mined.storm("printer", "POST", &format!("/api/printers/{printer}/maintenance"), &on, 200).await;
    mined.storm("sku", "PATCH", &format!("/api/skus/{sku}"), &json!({"priceCents": 999}), 200).await;
    let events = json!({"events": ["order.paid"]});
    mined.storm("endpoint", "PATCH", &format!("/api/webhooks/endpoints/{endpoint}"), &events, 200).await;
    let key = json!({"name": "another", "role": "operator"});
    let done = mined.storm("access", "POST", "/api/auth/api-keys", &key, 201).await;
    let keys = app.get("/api/auth/api-keys").await.expect(200);
    let named = keys["apiKeys"].as_array().unwrap().iter().filter(|key| key["name"] == "another").count();
    assert_eq!(named, done, "{keys}");

    // Each file is an actor of its own: the one that panics is made at the second try.
    mined.lay("file", "decide");
    let code = simulator::gcode::gcode("other", 60, 1.0, 330.0).into_bytes();
    assert_eq!(app.upload("other.gcode", code.clone()).await.status, 500);
    app.upload("other.gcode", code).await.expect(201);

    // So is each payment event that matches no order. The processor sends it again.
    mined.lay("inbound", "decide");
    let unknown = SimPayment::new("01890a5d-ac96-774b-bcce-b302099a8065", 100, "usd");
    let body = unknown.event(SimPaymentEvent::Completed, "evt_unknown", unix_now());
    let send = || async {
        let signed = signature(PAYMENT_SECRET, unix_now(), body.as_bytes());
        let request = app.nobody().request("POST", "/webhooks/payments").header("Stripe-Signature", signed);
        app.send(request.header("Content-Type", "application/json").body(body.clone())).await
    };
    assert_eq!(send().await.status, 500);
    assert_eq!(send().await.status, 200);

    // Everything stands, and a power cut changes nothing of it.
    let ready = app.get("/readyz").await.expect(200);
    assert!(ready["components"].as_object().unwrap().values().all(|part| part["state"] == "up"), "{ready}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_being_written_is_told_by_its_key() {
    let mined = Mined::start(Db::sqlite()).await;
    let app = &mined.app;
    let sku = some_sku(app).await;
    let material = app.material("PLA white", 100.0).await;
    let order = app.order(&sku, 1).await;
    for (kind, path, body) in [
        ("material", format!("/api/inventory/materials/{material}/adjustments"), json!({"delta": 1, "reason": "test"})),
        ("order", format!("/api/orders/{order}/mark-paid"), json!({"method": "cash"})),
        ("access", "/api/auth/api-keys".to_owned(), json!({"name": "another", "role": "operator"})),
    ] {
        mined.lay(kind, "settle");
        let first = app.post_keyed(&path, &format!("settle-{kind}"), &body).await;
        // With its key the server may find out by itself; else it says that it does not know.
        assert!(matches!(first.status, 200 | 201 | 409 | 503), "{kind}: {}", first.text);
        mined.went_off(kind, "settle").await;
        let again = app.post_keyed(&path, &format!("settle-{kind}"), &body).await;
        // Secrets are not kept: the repeat of a key's creation says that it was made.
        assert!(
            matches!(again.status, 200 | 201) || again.json()["code"] == "answer_withheld",
            "{kind}: {}",
            again.text
        );
    }
    let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
    assert_eq!(stock["quantity"], 101, "written once");
    assert_eq!(app.get(&format!("/api/orders/{order}")).await.expect(200)["payments"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn effects_that_panic_are_carried_out_all_the_same() {
    let mined = Mined::start(Db::sqlite()).await;
    let app = &mined.app;
    let options = FleetOptions { speed: 2_000.0, seed: 11, ..FleetOptions::of(PrinterKind::FwRest, 1) };
    let fleet = Fleet::start(options).await.unwrap();
    let sink = Sink::start().await.unwrap();
    let endpoint = json!({"url": sink.url(), "events": ["order.ready"], "secret": "a-secret-of-the-test-0123456789"});
    app.post("/api/webhooks/endpoints", &endpoint).await.expect(201);
    let file = app.gcode("part", 600, 10.0).await;
    let scarce = json!({
        "name": "PLA", "type": "filament", "quantity": 5, "reorderPoint": 1, "reorderQuantity": 100,
    });
    let material = id(&app.post("/api/inventory/materials", &scarce).await.expect(201));
    let sku = app.sku("PART", &material, &file, 500).await;
    for kind in ["order", "printer", "endpoint", "material", "mail"] {
        mined.lay(kind, "effect");
    }
    app.printer(&fleet.printers[0]).await;
    // Short of material: the job waits, a mail is due, and stock that comes in is told to the order.
    let order = app.paid_order(&sku, 1).await;
    let job = app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    app.job_is(&job, "awaiting_manual_review").await;
    let received = json!({"delta": 100, "reason": "test"});
    app.post(&format!("/api/inventory/materials/{material}/adjustments"), &received).await.expect(200);
    app.order_is(&order, "ready").await;
    sink.wait_until(|all| !all.is_empty(), LONG).await.expect("the webhook to come");
    for kind in ["order", "printer", "endpoint", "material", "mail"] {
        mined.went_off(kind, "effect").await;
    }
    let starts =
        fleet.printers[0].handle.log().iter().filter(|line| matches!(line.what, PhysicalEvent::Started { .. })).count();
    assert_eq!(starts, 1, "one part, made once");
}

impl Mined {
    /// Sends a request until it succeeds. Repetitions have the same idempotency key.
    async fn insist(&self, method: &str, path: &str, key: &str, body: &Value) -> Value {
        until(&format!("{method} {path} to be taken"), || async {
            let request = self.app.request(method, path).json(body);
            let request = if method == "POST" { request.header("Idempotency-Key", key) } else { request };
            let answer = self.app.send(request).await;
            match answer.status {
                200 | 201 => Some(answer.json()),
                409 if answer.json()["code"] == "answer_withheld" => Some(Value::Null),
                409 if answer.header("retry-after").is_some() => None,
                500 | 503 => None,
                other => panic!("{method} {path}: {other} {}", answer.text),
            }
        })
        .await
    }

    async fn tell(&self, payment: &SimPayment, event: SimPaymentEvent, event_id: &str) {
        let body = payment.event(event, event_id, unix_now());
        until(&format!("{event_id} to be taken"), || async {
            let signed = signature(PAYMENT_SECRET, unix_now(), body.as_bytes());
            let request = self.app.nobody().request("POST", "/webhooks/payments").header("Stripe-Signature", signed);
            let answer = self.app.send(request.header("Content-Type", "application/json").body(body.clone())).await;
            (answer.status == 200).then_some(())
        })
        .await;
    }
}
