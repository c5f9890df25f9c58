//! Shop with at least one of everything that a shop can have, created through its API.

use migrations::{Migrator, MigratorTrait as _};
use printfloor::actors::kernel::environment::machine_clock;
use serde_json::{Value, json};
use simulator::accounting::AccountingSystem;
use simulator::bambu::Bambu;
use simulator::payments::{SimPayment, SimPaymentEvent};
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions};
use url::Url;

use super::fixtures::ReleaseFacts;
use crate::api::quotes::{self, models};
use crate::api::{self, NOTHING, count, customer_of, id, new_key, payments, staff};
use crate::billing::intake::submit_request;
use crate::billing::{customer, invoices};
use crate::integrations::accounting::{self, connected, keeping};
use crate::machines::{FAST, SLOW};
use crate::support::client::Answer;
use crate::support::{App, Db, until};
use crate::whole::cube;

/// Print time of a part at speed 1, in seconds: longer than the test.
const SECONDS: u64 = 600;
const PRICE_CENTS: i64 = 1250;

/// Shop under construction.
struct ShopInProgress {
    app: App,
    fleet: Fleet,
    printers: Vec<String>,
    sink: Sink,
    endpoint: String,
    books: AccountingSystem,
    /// ID of the SKU whose parts are printed immediately.
    sku: String,
    /// ID of the SKU for which there is too little material.
    scarce: String,
}

/// Returns the body of a response, whose status must be 2xx.
#[track_caller]
fn succeeded(answer: Answer) -> Value {
    let status = answer.status;
    assert!((200..300).contains(&status), "{status} {}", answer.text);
    answer.expect(status)
}

/// Creates the shop, with a print in progress, and stops its server. Afterwards, none of the external systems that the
/// shop refers to is reachable.
pub async fn make(db: Db) -> (App, ReleaseFacts) {
    let mut shop = Box::pin(ShopInProgress::start(db)).await;
    shop.people().await;
    let order = Box::pin(shop.orders()).await;
    shop.papers().await;
    Box::pin(shop.offers()).await;
    shop.care().await;
    shop.channels_and_exports().await;
    shop.bookkeeping().await;
    shop.print_on().await;
    shop.quiet().await;
    shop.app.stop().await;
    shop.forget_addresses().await;
    let facts = ReleaseFacts {
        migrations: Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect(),
        recorded_at_ms: machine_clock().0,
        key: shop.app.key.clone().expect("an admin's key"),
        sku: shop.sku,
        order,
    };
    (shop.app, facts)
}

impl ShopInProgress {
    /// Starts a server with a printer of each type, materials and products.
    async fn start(db: Db) -> Self {
        let books = AccountingSystem::start("shop", accounting::SECRET).await.unwrap();
        let app = keeping(&books, db).start().await;
        let fleet = Fleet::start(FleetOptions { speed: FAST, seed: 5, ..FleetOptions::of_each(1) }).await.unwrap();
        // Slots that a printer reports fit nothing before somebody says what is in them.
        for bambu in fleet.printers.iter().filter_map(|sim| Bambu::of(&sim.handle)) {
            bambu.change(|setup| setup.ams.clear());
        }
        let mut printers = Vec::new();
        for sim in &fleet.printers {
            printers.push(app.printer(sim).await);
        }
        let sink = Sink::start().await.unwrap();
        let events = ["order.created", "order.paid", "order.ready", "order.shipped", "job.completed"];
        let endpoint = json!({"url": sink.url(), "events": events});
        let endpoint = id(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(201));
        let material = app.material("PLA schwarz 'matt'", 2_000.0).await;
        let file = app.gcode("part", SECONDS, 10.0).await;
        let sku = app.sku("PART", &material, &file, PRICE_CENTS).await;
        let delivery = json!({"delta": 250, "reason": "new spool"});
        app.post(&format!("/api/inventory/materials/{material}/adjustments"), &delivery).await.expect(200);
        let little = app.material("PETG", 1.0).await;
        let scarce = app.sku("SCARCE", &little, &file, 990).await;
        let unused = app.material("ABS", 10.0).await;
        succeeded(app.delete(&format!("/api/inventory/materials/{unused}")).await);
        let package = app.package("pack", SECONDS, 5.0).await;
        app.sku("PACK", &material, &package, 700).await;
        Self { app, fleet, printers, sink, endpoint, books, sku, scarce }
    }

    /// Adds staff members, customers, API keys, and a disabled endpoint.
    async fn people(&self) {
        let app = &self.app;
        staff(app, "op@example.org", "operator").await;
        staff(app, "boss@example.org", "admin").await;
        customer_of(app, "ann@example.org").await;
        let (revoked, _) = new_key(app, &json!({"name": "old", "role": "operator"})).await;
        succeeded(app.delete(&format!("/api/auth/api-keys/{revoked}")).await);
        let endpoint = json!({"url": "http://127.0.0.1:9/", "events": ["order.cancelled"]});
        let endpoint = id(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(201));
        app.post(&format!("/api/webhooks/endpoints/{endpoint}/disable"), &json!({})).await.expect(200);
    }

    /// Places orders that end in different states. Returns the ID of the unpaid one.
    async fn orders(&self) -> String {
        let (app, sku) = (&self.app, &self.sku);
        let unpaid = app.order(sku, 1).await;
        let cancelled = app.order(sku, 1).await;
        app.post(&format!("/api/orders/{cancelled}/cancel"), &json!({})).await.expect(200);
        let (by_card, card) = payments::order(app, sku).await;
        payments::tell(app, &card, SimPaymentEvent::Completed, "evt_card").await;
        app.order_is(&by_card, "ready").await;
        payments::tell(app, &SimPayment::new(NOTHING, 100, "usd"), SimPaymentEvent::Completed, "evt_nobody").await;

        let shipped = app.paid_order(sku, 2).await;
        app.order_is(&shipped, "ready").await;
        self.sign_off(&shipped, &json!({"goodCount": 1, "note": "smooth"})).await;
        let shipment = json!({"carrier": "DHL", "trackingNumber": "JD0001", "estimatedDelivery": "2030-01-01"});
        app.post(&format!("/api/orders/{shipped}/ship"), &shipment).await.expect(200);

        let kit =
            json!({"code": "PAIR", "name": "Pair", "priceCents": 2000, "components": [{"skuId": sku, "quantity": 2}]});
        let kit = id(&app.post("/api/skus", &kit).await.expect(201));
        let of_kit = app.paid_order(&kit, 1).await;
        app.order_is(&of_kit, "ready").await;

        let rejected = app.paid_order(sku, 1).await;
        app.order_is(&rejected, "ready").await;
        self.sign_off(&rejected, &json!({"goodCount": 0, "reason": "warping"})).await;
        until("the part to be made again", || async {
            let jobs = app.jobs(&rejected).await;
            (jobs.len() == 2 && jobs.iter().all(|job| job["state"] == "COMPLETED")).then_some(())
        })
        .await;

        let waiting = app.paid_order(&self.scarce, 1).await;
        app.job_is(&id(&app.jobs(&waiting).await[0]), "awaiting_manual_review").await;
        let refunded = app.paid_order(&self.scarce, 1).await;
        app.post(&format!("/api/orders/{refunded}/cancel"), &json!({"force": true})).await.expect(200);
        let payment = app.get(&format!("/api/orders/{refunded}")).await.expect(200)["payments"][0]["id"].clone();
        succeeded(app.post(&format!("/api/orders/{refunded}/refund"), &json!({"paymentId": payment})).await);
        unpaid
    }

    async fn sign_off(&self, order: &str, inspection: &Value) {
        let job = id(&self.app.jobs(order).await[0]);
        self.app.post(&format!("/api/jobs/{job}/sign-off"), inspection).await.expect(200);
    }

    /// Creates invoices in each state, with a credit note and a PDF.
    async fn papers(&self) {
        let app = &self.app;
        invoices::draft(app, "ann@example.org").await;
        let sent = invoices::sent(app, "ann@example.org").await;
        app.act(&format!("/api/invoices/{sent}/pdf")).await.expect(200);
        let paid = invoices::sent(app, "bob@example.org").await;
        app.post(&format!("/api/invoices/{paid}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        succeeded(app.post(&format!("/api/invoices/{paid}/refund"), &json!({"amountCents": 1_000})).await);
        let void = invoices::sent(app, "bob@example.org").await;
        succeeded(app.post(&format!("/api/invoices/{void}/void"), &json!({})).await);
    }

    /// Creates quotes in each state, a custom request, and a model with its draft.
    async fn offers(&self) {
        let (app, sku) = (&self.app, &self.sku);
        quotes::draft(app, sku).await;
        quotes::sent(app, sku).await;
        let declined = quotes::sent(app, sku).await;
        app.post(&format!("/api/quotes/{declined}/decline"), &json!({"reason": "no time"})).await.expect(200);
        let accepted = quotes::sent(app, sku).await;
        let ann = customer(app, "ann@example.org").await;
        ann.act(&format!("/api/v1/quotes/{accepted}/accept")).await.expect(200);
        submit_request(app).await;
        succeeded(models::upload(app, "/api/quotes/models", "cube.stl", cube().into_bytes(), &[]).await);
    }

    /// Records the maintenance of a printer.
    async fn care(&self) {
        let (app, printer) = (&self.app, format!("/api/printers/{}", self.printers[0]));
        let reminder = json!({"name": "Clean the nozzle", "everyHours": 100, "everyFailures": 3});
        let reminder = id(&succeeded(app.post(&format!("{printer}/reminders"), &reminder).await));
        let done = json!({"done": "Nozzle cleaned", "resets": [reminder], "costCents": 0, "parts": ["brush"]});
        succeeded(app.post(&format!("{printer}/maintenance-log"), &done).await);
        for maintenance in [json!({"on": true, "note": "new nozzle"}), json!({"on": false})] {
            succeeded(app.post(&format!("{printer}/maintenance"), &maintenance).await);
        }
    }

    /// Imports orders from a sales channel, one of which has an unmapped variant, and creates an export.
    async fn channels_and_exports(&self) {
        let app = &self.app;
        let channel = json!({"kind": "csv", "name": "Fair"});
        let channel = id(&app.post("/api/sales-channels", &channel).await.expect(201));
        api::sales_channels::map(app, &channel, "VASE", &self.sku, 1).await;
        let file = "order,variant,quantity,unit_price\n5,VASE,1,9.00\n6,CUP,1,4.00\n";
        let import = app.request("POST", &format!("/api/sales-channels/{channel}/import"));
        app.send(import.header("Content-Type", "text/csv").body(file)).await.expect(200);
        let export = id(&app.post("/api/exports", &json!({"type": "invoices"})).await.expect(201));
        until("the export", || async {
            let export = app.get(&format!("/api/exports/{export}")).await.expect(200);
            (export["state"] == "ready").then_some(())
        })
        .await;
    }

    /// Connects the accounting system, and has an invoice posted.
    async fn bookkeeping(&self) {
        connected(&self.books, &customer(&self.app, "boss@example.org").await).await;
        accounting::paid(&self.app, "ann@example.org").await;
        until("the invoice to be posted", || async {
            let posted = count(&self.app, "/api/accounting/postings?state=posted").await;
            let sending = count(&self.app, "/api/accounting/postings?state=sending").await;
            (posted > 0 && sending == 0).then_some(())
        })
        .await;
    }

    /// Starts a print that is still running when the server stops.
    async fn print_on(&self) {
        let app = &self.app;
        until("nothing to be printed", || async {
            let printing = app.get("/api/printers").await.expect(200);
            printing["printers"].as_array()?.iter().all(|printer| printer["jobId"].is_null()).then_some(())
        })
        .await;
        for sim in &self.fleet.printers {
            sim.handle.set_speed(SLOW);
        }
        let order = app.paid_order(&self.sku, 1).await;
        app.job_is(&id(&app.jobs(&order).await[0]), "PRINTING").await;
    }

    /// Waits until every delivery to the endpoint has succeeded.
    async fn quiet(&self) {
        until("all to be delivered", || async {
            let deliveries = format!("/api/webhooks/endpoints/{}/deliveries", self.endpoint);
            let all = count(&self.app, &deliveries).await;
            (count(&self.app, &format!("{deliveries}?state=delivered")).await == all).then_some(())
        })
        .await;
    }

    /// Replaces the addresses of simulated systems with addresses at which nothing ever listens, because another test
    /// may get the same ports. No address may be left.
    async fn forget_addresses(&self) {
        let sims = self.fleet.printers.iter().map(|sim| ("printers", sim.base_url.clone()));
        for (n, (table, url)) in sims.chain([("endpoints", self.sink.url())]).enumerate() {
            let url = Url::parse(&url).unwrap();
            let (host, port) = (url.host_str().unwrap(), url.port().unwrap());
            let replace = format!("UPDATE {table} SET doc = REPLACE(doc, '{host}:{port}', '127.9.9.{n}:9')");
            self.app.db.execute(&self.app, &replace).await;
        }
        for table in ["printers", "endpoints"] {
            let left =
                format!("SELECT COUNT(*) FROM {table} WHERE REPLACE(doc, '127.0.0.1:9/', '') LIKE '%127.0.0.1:%'");
            assert_eq!(self.app.db.query_number(&self.app, &left).await, 0, "addresses in {table}");
        }
    }
}
