//! One panic of every kind at each point while the shop works.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use simulator::payments::{SimPayment, SimPaymentEvent};
use simulator::printer::PhysicalEvent;
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions};

use super::Mined;
use crate::api::id;
use crate::billing::intake;
use crate::support::waiting::LONG;
use crate::support::{App, Db, until};

/// Names of all kinds of aggregates, as used for mines.
const KINDS: [&str; 12] = [
    "access",
    "custom_request",
    "endpoint",
    "file",
    "inbound",
    "invoice",
    "mail",
    "material",
    "order",
    "printer",
    "quote",
    "sku",
];
/// Kinds that have effects.
const WITH_EFFECTS: [&str; 7] = ["endpoint", "inbound", "mail", "material", "order", "printer", "quote"];

/// Shop whose actors panic, with the resources that all rounds share.
struct Shop {
    mined: Mined,
    printers: Vec<String>,
    endpoint: String,
    material: String,
    /// Path of the material.
    stock: String,
    sink: Sink,
    /// Orders that are ready, one per round.
    ready: BTreeSet<String>,
}

/// Round in which every kind panics once at the same point.
struct Round<'a> {
    shop: &'a Shop,
    point: &'static str,
    kinds: &'static [&'static str],
}

/// Makes every kind panic once at each point while the shop works: from a file and its product to a printed order, a
/// payment that arrives before its order is known, a webhook and an email.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_works_on_through_a_panic_of_every_kind_at_every_point() {
    let options = FleetOptions { speed: 2_000.0, seed: 11, ..FleetOptions::of_each(1) };
    let fleet = Fleet::start(options).await.unwrap();
    let mut shop = Shop::open(&fleet).await;
    for point in ["decide", "settle", "effect"] {
        let round = Round::begin(&shop, point);
        let file = round.upload_file().await;
        let request = round.take_custom_request().await;
        let sku = round.make_product(&file).await;
        round.answer_request(&request, &sku).await;
        round.run_short_of_material().await;
        let (order, total) = round.place_order(&sku).await;
        round.hear_of_payments(&order, total).await;
        round.receive_material(&order).await;
        round.finish(&order, total).await;
        shop.ready.insert(order);
        shop.webhooks_come().await;
    }
    shop.each_part_is_made_once(&fleet);
    let app = &shop.mined.app;
    app.ledger_is_even(&shop.material).await;
    assert_eq!(app.get(&shop.stock).await.expect(200)["quantity"], 5 + 100 - 2 * 10);
    let ready = app.get("/readyz").await.expect(200);
    assert!(ready["components"].as_object().unwrap().values().all(|part| part["state"] == "up"), "{ready}");
}

impl Shop {
    async fn open(fleet: &Fleet) -> Self {
        let mined = Mined::start(Db::sqlite()).await;
        let app = &mined.app;
        let mut printers = Vec::new();
        for sim in &fleet.printers {
            printers.push(app.printer(sim).await);
        }
        let sink = Sink::start().await.unwrap();
        let endpoint =
            json!({"url": sink.url(), "events": ["order.ready"], "secret": "a-secret-of-the-test-0123456789"});
        let endpoint = id(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(201));
        let material = app.material("PLA", 100.0).await;
        let stock = format!("/api/inventory/materials/{material}");
        Self { mined, printers, endpoint, material, stock, sink, ready: BTreeSet::new() }
    }

    /// Waits until the webhook of each ready order has been delivered.
    async fn webhooks_come(&self) {
        self.sink
            .wait_until(
                |all| {
                    let is_delivered =
                        |order: &String| all.iter().any(|got| got.json()["data"]["orderId"] == order.as_str());
                    self.ready.iter().all(is_delivered)
                },
                LONG,
            )
            .await
            .expect("the webhook to come");
    }

    fn each_part_is_made_once(&self, fleet: &Fleet) {
        let mut starts = BTreeMap::<String, usize>::new();
        for sim in &fleet.printers {
            for line in sim.handle.log() {
                if let PhysicalEvent::Started { filename } = line.what {
                    *starts.entry(filename).or_default() += 1;
                }
            }
        }
        assert!(starts.values().all(|times| *times == 1), "{starts:?}");
        assert_eq!(starts.len(), 2 * self.ready.len(), "each part is made once: {starts:?}");
    }
}

impl<'a> Round<'a> {
    /// Lays the mines of all kinds.
    fn begin(shop: &'a Shop, point: &'static str) -> Self {
        let kinds: &[&str] = if point == "effect" { &WITH_EFFECTS } else { &KINDS };
        for kind in kinds {
            shop.mined.lay(kind, point);
        }
        Self { shop, point, kinds }
    }

    fn app(&self) -> &App {
        &self.shop.mined.app
    }

    fn key(&self, what: &str) -> String {
        format!("{}-{what}", self.point)
    }

    async fn upload_file(&self) -> String {
        let (mined, point) = (&self.shop.mined, self.point);
        let new_key = json!({"name": point, "role": "operator"});
        mined.insist("POST", "/api/auth/api-keys", &self.key("key"), &new_key).await;
        let code = simulator::gcode::gcode(point, 600, 10.0, 3300.0).into_bytes();
        until("the file to be taken", || async {
            let answer = self.app().upload(&format!("{point}.gcode"), code.clone()).await;
            (answer.status == 201).then(|| id(&answer.json()))
        })
        .await
    }

    async fn take_custom_request(&self) -> String {
        let request = until("the custom request to be taken", || async {
            let request = self.app().nobody().request("POST", intake::PATH);
            let request = request.header("Idempotency-Key", self.key("request")).multipart(intake::form());
            let answer = self.app().send(request).await;
            (answer.status == 201).then(|| answer.json()["requestId"].as_str().unwrap().to_owned())
        })
        .await;
        let noted = json!({"internalNotes": self.point});
        self.shop.mined.insist("PATCH", &format!("/api/custom-requests/{request}"), "", &noted).await;
        request
    }

    async fn make_product(&self, file: &str) -> String {
        let (mined, point) = (&self.shop.mined, self.point);
        let sku = json!({
            "code": point, "name": point, "materialId": self.shop.material, "estimatedConsumption": 10,
            "machineType": "fdm_standard", "priceCents": 500, "gcodeFileId": file,
        });
        let sku = id(&mined.insist("POST", "/api/skus", &self.key("sku"), &sku).await);
        mined.insist("PATCH", &format!("/api/skus/{sku}"), "", &json!({"priceCents": 600})).await;
        sku
    }

    /// Sends a quote, which updates the custom request that it answers.
    async fn answer_request(&self, request: &str, sku: &str) {
        let mined = &self.shop.mined;
        let lines = json!([{"quantity": 1, "skuId": sku}]);
        let offer = json!({"customerEmail": "buyer@example.org", "customRequestId": request, "lines": lines});
        let quote = id(&mined.insist("POST", "/api/quotes", &self.key("quote"), &offer).await);
        mined.insist("POST", &format!("/api/quotes/{quote}/send"), &self.key("sent"), &json!({})).await;
        until("the request to hear of its quote", || async {
            let answer = self.app().get(&format!("/api/custom-requests/{request}")).await;
            (answer.status == 200 && answer.json()["status"] == "quoted").then_some(())
        })
        .await;
    }

    /// Leaves too little material for both jobs, so that they wait for a delivery; also changes the endpoint and the
    /// printers.
    async fn run_short_of_material(&self) {
        let (mined, point) = (&self.shop.mined, self.point);
        mined.insist("PATCH", &self.shop.stock, "", &json!({"quantity": 5})).await;
        let events = json!({"events": ["order.ready"]});
        mined.insist("PATCH", &format!("/api/webhooks/endpoints/{}", self.shop.endpoint), "", &events).await;
        for printer in &self.shop.printers {
            let change = json!({"location": point});
            mined.insist("PATCH", &format!("/api/printers/{printer}"), "", &change).await;
        }
    }

    /// Places an order for two parts; returns its ID and its total, in minor units.
    async fn place_order(&self, sku: &str) -> (String, i64) {
        let order = json!({"lines": [{"skuId": sku, "quantity": 2}], "customerEmail": "buyer@example.org"});
        let order = self.shop.mined.insist("POST", "/api/orders", &self.key("order"), &order).await;
        (id(&order), order["totalCents"].as_i64().unwrap())
    }

    /// Sends a refund event before its payment: it is stored, and the operators are notified by email. Then sends the
    /// events of both payments.
    async fn hear_of_payments(&self, order: &str, total: i64) {
        let (mined, point) = (&self.shop.mined, self.point);
        let card = |name: &str| {
            let payment = SimPayment::new(order, total, "usd");
            let (session_id, payment_intent) = (format!("cs_{name}_{point}"), format!("pi_{name}_{point}"));
            SimPayment { session_id, payment_intent, intent_metadata: false, ..payment }
        };
        let [first, second] = ["first", "second"].map(card);
        mined.tell(&first, SimPaymentEvent::Refunded { refunded_cents: total }, &self.key("back")).await;
        let outbox = self.app().data().join("outbox");
        until("the mail about the refund", || async {
            let mails =
                std::fs::read_dir(&outbox).ok()?.filter_map(|mail| std::fs::read_to_string(mail.ok()?.path()).ok());
            let count = mails.filter(|mail| mail.contains("matches no order")).count();
            (count > self.shop.ready.len()).then_some(())
        })
        .await;
        mined.tell(&second, SimPaymentEvent::Completed, &self.key("paid")).await;
        mined.tell(&first, SimPaymentEvent::Completed, &self.key("late")).await;
    }

    /// Receives material once both jobs wait for it, and then waits until every kind has panicked.
    async fn receive_material(&self, order: &str) {
        let mined = &self.shop.mined;
        for job in self.app().jobs(order).await {
            self.app().job_is(&id(&job), "awaiting_manual_review").await;
        }
        let received = json!({"delta": 100, "reason": "test"});
        mined.insist("POST", &format!("{}/adjustments", self.shop.stock), &self.key("stock"), &received).await;
        for kind in self.kinds {
            mined.went_off(kind, self.point).await;
        }
    }

    /// Waits until the order is ready, its refund is booked and the material is consumed.
    async fn finish(&self, order: &str, total: i64) {
        let app = self.app();
        let done = app.order_is(order, "ready").await;
        until("the refund to be booked", || async {
            let body = app.get(&format!("/api/orders/{order}")).await.expect(200);
            (body["keptCents"] == total && body["payments"].as_array()?.len() == 3).then_some(())
        })
        .await;
        assert_eq!(app.jobs(order).await.len(), 2, "{done}");
        until("the material to be used", || async {
            (app.get(&self.shop.stock).await.expect(200)["reserved"] == 0).then_some(())
        })
        .await;
    }
}
