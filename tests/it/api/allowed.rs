//! Successful operations: each returns 2xx with the described body for every role that may call it. Every read
//! operation is called by each of its roles, every write operation once by each of them (`roles` tests that no one else
//! may). This runs every operation's SQL on both databases.

mod accounting;
mod channels;
mod custom_requests;
mod floor;
mod invoices;
mod quotes;

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::Mutex;

use serde_json::{Value, json};
use simulator::PrinterKind;
use simulator::accounting::AccountingSystem;
use simulator::fleet::{Fleet, FleetOptions, SimPrinter};
use simulator::peers::camera::Camera;
use simulator::peers::farm_ui::SimFarmUi;
use simulator::processor::SimPaymentProcessor;
use simulator::sink::Sink;
use simulator::stock::parts::PartsSystem;

use super::checkout::{KEY, knowing};
use super::{PASSWORD, customer_of, id, signed_in, some_sku, staff, with_role};
use crate::support::contract::CONTRACT;
use crate::support::{App, Client, Db, on_both, until};

/// Operation that releases a restored shop.
const RESTORE_REVIEW: &str = "POST /api/restores/{id}/review";

/// A caller who performs operations one after another.
struct Walk {
    client: Client,
    role: &'static str,
    /// Operations that have been answered with 2xx.
    done: Mutex<BTreeSet<String>>,
}

impl Walk {
    /// Performs an operation, which must be answered with 2xx. The client checks the response body against the API
    /// description.
    async fn ok(&self, operation: &str, subject: &str, body: Value) -> Value {
        let (method, route) = operation.split_once(' ').unwrap();
        let path = route
            .replace("{id}", subject)
            .replace("{name}", "part.gcode")
            .replace("{slot}", "1")
            .replace("{system}", "parts")
            .replace("{variantId}", super::NOTHING)
            .replace("{number}", "1");
        let mut request = self.client.request(method, &path);
        if !body.is_null() {
            request = request.json(&body);
        }
        let answer = self.client.send(request).await;
        assert!((200..300).contains(&answer.status), "{operation} by {}: {} {}", self.role, answer.status, answer.text);
        self.done.lock().unwrap().insert(operation.split('?').next().unwrap().to_owned());
        let json = answer.text.starts_with('{') && answer.header("content-type") == Some("application/json");
        if json { answer.json() } else { Value::Null }
    }

    async fn get(&self, operation: &str, subject: &str) -> Value {
        self.ok(operation, subject, Value::Null).await
    }

    /// Calls the operations that every caller with credentials may use.
    async fn as_customer(&self, sku: &str) {
        self.get("GET /api/auth/me", "").await;
        self.get("GET /api/skus", "").await;
        self.get("GET /api/skus/{id}", sku).await;
        let mut new = json!({"lines": [{"skuId": sku, "quantity": 1}]});
        if self.role != "customer" {
            new["customerEmail"] = json!("buyer@example.org");
        }
        let order = id(&self.ok("POST /api/orders", "", new).await);
        self.get("GET /api/orders", "").await;
        self.get("GET /api/orders/{id}", &order).await;
        self.get("GET /api/orders/{id}/timeline", &order).await;
        self.ok("POST /api/orders/{id}/checkout", &order, json!({})).await;
        self.ok("POST /api/orders/{id}/cancel", &order, json!({})).await;
    }

    async fn stock_and_catalogue(&self, n: usize) {
        let new = json!({
            "name": format!("PLA {n}"), "type": "filament", "quantity": 100, "unit": "g",
            "color": "#101010", "brand": "Acme", "reorderPoint": 0, "reorderQuantity": 10,
        });
        let material = id(&self.ok("POST /api/inventory/materials", "", new).await);
        self.get("GET /api/inventory/materials", "").await;
        self.get("GET /api/inventory/materials/{id}", &material).await;
        self.ok("PATCH /api/inventory/materials/{id}", &material, json!({"quantity": 90})).await;
        let delivery = json!({"delta": 5, "reason": "new spool"});
        self.ok("POST /api/inventory/materials/{id}/adjustments", &material, delivery).await;
        self.get("GET /api/inventory/materials/{id}/movements", &material).await;
        self.stock_link(&material, n).await;
        let code = simulator::gcode::gcode(&format!("part {n}"), 60, 1.0, 330.0).into_bytes();
        let file = id(&self.client.upload("part.gcode", code).await.expect(201));
        self.done.lock().unwrap().insert("POST /api/files".to_owned());
        self.slicer(n).await;
        self.get("GET /api/files", "").await;
        self.get("GET /api/files/{id}", &file).await;
        self.get("GET /api/files/{id}/content", &file).await;
        let new = json!({
            "code": format!("PART-{n}"), "name": "Part", "materialId": material,
            "estimatedConsumption": 10, "machineType": "fdm_standard", "priceCents": 100, "gcodeFileId": file,
        });
        let sku = id(&self.ok("POST /api/skus", "", new).await);
        self.ok("PATCH /api/skus/{id}", &sku, json!({"priceCents": 200})).await;
        self.ok("DELETE /api/skus/{id}", &sku, Value::Null).await;
        self.ok("DELETE /api/files/{id}", &file, Value::Null).await;
        self.ok("DELETE /api/inventory/materials/{id}", &material, Value::Null).await;
    }

    /// Links the material to part number `n` of the parts management system.
    async fn stock_link(&self, material: &str, n: usize) {
        self.ok("POST /api/inventory/stock-links/look", "", json!({})).await;
        let entry = until("the part to be read", || async {
            let list = self.get("GET /api/inventory/stock-entries", "").await;
            let named = |one: &&Value| one["name"] == format!("Part {n}");
            list["entries"].as_array()?.iter().find(named).map(|one| one["entryId"].clone())
        })
        .await;
        let link = json!({"system": "parts", "entryId": entry});
        self.ok("POST /api/inventory/materials/{id}/links", material, link).await;
        until("the preview", || async {
            let links = self.get("GET /api/inventory/stock-links", "").await;
            let ours = |link: &&Value| link["materialId"] == material && link["theirs"].is_number();
            links["links"].as_array()?.iter().find(ours).map(|_| ())
        })
        .await;
        let right = json!({"right": "theirs"});
        self.ok("POST /api/inventory/materials/{id}/links/{system}/agree", material, right).await;
        self.ok("DELETE /api/inventory/materials/{id}/links/{system}", material, Value::Null).await;
    }

    async fn slicer(&self, n: usize) {
        let code = simulator::gcode::gcode(&format!("sliced {n}"), 60, 1.0, 330.0).into_bytes();
        let part = reqwest::multipart::Part::bytes(code).file_name("sliced.gcode");
        let form = reqwest::multipart::Form::new().text("print", "false").part("file", part);
        let request = self.client.request("POST", "/slicer/fdm_standard/api/files/local").multipart(form);
        self.client.send(request).await.expect(201);
        self.done.lock().unwrap().insert("POST /slicer/{machineType}/api/files/local".to_owned());
    }

    async fn as_admin(&self, n: usize) {
        let key = json!({"name": "shop", "role": "customer"});
        let key = id(&self.ok("POST /api/auth/api-keys", "", key).await);
        self.get("GET /api/auth/api-keys", "").await;
        self.ok("DELETE /api/auth/api-keys/{id}", &key, Value::Null).await;
        let user =
            json!({"email": format!("new{n}@example.org"), "name": "New", "password": PASSWORD, "role": "operator"});
        let user = id(&self.ok("POST /api/users", "", user).await);
        self.get("GET /api/users", "").await;
        self.get("GET /api/users/{id}", &user).await;
        self.ok("PATCH /api/users/{id}", &user, json!({"role": "admin"})).await;
        self.ok("DELETE /api/users/{id}", &user, Value::Null).await;
        self.get("GET /api/audit-log", "").await;
        self.ok("POST /api/backup", "", Value::Null).await;
        self.ok("POST /api/integrations/farm_ui/import", "", json!({"machineType": "fdm_standard"})).await;
        let new = json!({"url": "http://127.0.0.1:9/", "events": ["order.paid"]});
        let endpoint = self.ok("POST /api/webhooks/endpoints", "", new).await;
        let (since, endpoint) = (endpoint["createdAt"].clone(), id(&endpoint));
        self.ok("PATCH /api/webhooks/endpoints/{id}", &endpoint, json!({"events": ["order.shipped"]})).await;
        self.ok("POST /api/webhooks/endpoints/{id}/disable", &endpoint, json!({})).await;
        self.ok("POST /api/webhooks/endpoints/{id}/enable", &endpoint, json!({})).await;
        self.ok("POST /api/webhooks/endpoints/{id}/rotate-secret", &endpoint, json!({})).await;
        self.ok("POST /api/webhooks/endpoints/{id}/test", &endpoint, json!({})).await;
        self.ok("POST /api/webhooks/endpoints/{id}/replay", &endpoint, json!({"since": since})).await;
        self.ok("DELETE /api/webhooks/endpoints/{id}", &endpoint, Value::Null).await;
    }

    /// Registers a printer used for nothing else, and calls the operations on printers.
    async fn printers(&self, sim: &SimPrinter) {
        let new = json!({
            "name": format!("Printer {}", sim.serial), "type": sim.kind.as_str(), "machineType": "fdm_large",
            "baseUrl": sim.base_url, "apiKey": sim.api_key, "buildVolume": {"x": 220, "y": 220, "z": 250},
        });
        let printer = id(&self.ok("POST /api/printers", "", new).await);
        self.client.connected(&printer).await;
        self.ok("PATCH /api/printers/{id}", &printer, json!({"location": "shelf"})).await;
        self.ok("POST /api/printers/{id}/slots/{slot}", &printer, json!({"color": "#101010"})).await;
        self.ok("DELETE /api/printers/{id}/slots/{slot}", &printer, Value::Null).await;
        self.ok("POST /api/printers/{id}/home", &printer, json!({})).await;
        self.ok("POST /api/printers/{id}/maintenance", &printer, json!({"on": true, "note": "new nozzle"})).await;
        self.ok("POST /api/printers/{id}/maintenance", &printer, json!({"on": false})).await;
        self.care(&printer).await;
        self.ok("POST /api/printers/{id}/emergency-stop", &printer, json!({})).await;
        self.ok("POST /api/printers/{id}/disconnect", &printer, json!({})).await;
        self.ok("POST /api/printers/{id}/connect", &printer, json!({})).await;
        self.ok("POST /api/printers/{id}/disconnect", &printer, json!({})).await;
        self.ok("DELETE /api/printers/{id}", &printer, Value::Null).await;
    }
}

impl Walk {
    /// Calls the operations of a printer's maintenance.
    async fn care(&self, printer: &str) {
        let new = json!({"name": "Clean the nozzle", "everyHours": 100, "everyFailures": 3});
        let reminder = id(&self.ok("POST /api/printers/{id}/reminders", printer, new).await);
        let one = format!("/api/printers/{printer}/reminders/{reminder}");
        for (method, body) in [("PATCH", json!({"everyPrints": 50, "blocking": true})), ("DELETE", Value::Null)] {
            if method == "DELETE" {
                let done = json!({"done": "Nozzle cleaned", "resets": [reminder], "costCents": 0, "parts": ["brush"]});
                self.ok("POST /api/printers/{id}/maintenance-log", printer, done).await;
            }
            let mut request = self.client.request(method, &one);
            if !body.is_null() {
                request = request.json(&body);
            }
            let answer = self.client.send(request).await;
            assert!((200..300).contains(&answer.status), "{method} by {}: {}", self.role, answer.text);
            self.done.lock().unwrap().insert(format!("{method} /api/printers/{{id}}/reminders/{{reminder}}"));
        }
    }
}

async fn walks(app: &App) -> [Walk; 5] {
    staff(app, "op@example.org", "operator").await;
    staff(app, "boss@example.org", "admin").await;
    let walk = |role, client| Walk { client, role, done: Mutex::default() };
    [
        walk("customer", customer_of(app, "a@example.org").await),
        walk("operator", with_role(app, "operator").await),
        walk("admin", with_role(app, "admin").await),
        walk("operator", signed_in(app, "op@example.org").await),
        walk("admin", signed_in(app, "boss@example.org").await),
    ]
}

on_both! {
    async fn every_reading_operation_answers_every_role_that_it_is_for(db: Db) {
        Box::pin(read_all(db)).await;
    }

    async fn what_a_role_may_change_it_changes(db: Db) {
        Box::pin(change_all(db)).await;
    }
}

async fn read_all(db: Db) {
    let farm = SimFarmUi::start(Some("farm-key")).await.unwrap();
    let app = App::on(db).env("FARM_UI_URL", farm.url()).env("FARM_UI_TOKEN", "farm-key").start().await;
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let camera = Camera::start(None).await.unwrap();
    fleet.printers[0].handle.set_camera(Some(&camera.snapshot_url()));
    let printer = app.printer(&fleet.printers[0]).await;
    let sku = some_sku(&app).await;
    let walks = walks(&app).await;
    // The order is the customer's own, so that everybody may read it.
    let order =
        id(&walks[0].client.post("/api/orders", &json!({"lines": [{"skuId": sku, "quantity": 1}]})).await.expect(201));
    app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let first = async |list: &str, member: &str| id(&app.get(list).await.expect(200)[member][0]);
    let endpoint = json!({"url": "http://127.0.0.1:9/", "events": ["order.paid"]});
    let endpoint = id(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(201));
    let invoice = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"][0].clone();
    let invoice = app.get(&format!("/api/invoices/{}", id(&invoice))).await.expect(200);
    let document = id(&invoice["documents"][0]);
    let stored = app.act(&format!("/api/invoices/{}/pdf", id(&invoice))).await.expect(200);
    let stored = stored["pdfUrl"].as_str().unwrap().split('/').rev().take(2).map(str::to_owned).collect::<Vec<_>>();
    channels::some_order(&app).await;
    let subjects = [
        ("/api/invoices/", id(&invoice)),
        ("/api/custom-requests/", crate::billing::intake::submit_request(&app).await),
        ("/api/quotes/", super::quotes::draft(&app, &sku).await),
        ("/api/exports/", accounting::export(&app).await),
        ("/api/users/", first("/api/users", "users").await),
        ("/api/inventory/materials/", first("/api/inventory/materials", "materials").await),
        ("/api/files/", first("/api/files", "files").await),
        ("/api/jobs/", first(&format!("/api/jobs?orderId={order}"), "jobs").await),
        ("/api/skus/", sku),
        ("/api/customers/", first("/api/customers", "customers").await),
        ("/api/orders/", order),
        ("/api/printers/", printer),
        ("/api/webhooks/endpoints/", endpoint),
        ("/api/sales-channels/", first("/api/sales-channels", "salesChannels").await),
        ("/api/channel-orders/", first("/api/channel-orders", "channelOrders").await),
    ];
    let mut requests = 0;
    // A packing list needs printed parts, a signed address a signature, a picture a sliced file that has one, and a
    // restore a backup: they are asked for where there are such.
    let elsewhere = ["/packing-list", "/camera/signed", "/files/{id}/picture", "/restores/{id}"];
    let listed = |route: &&printfloor::http::routes::ServedRoute| {
        route.method == "GET" && !elsewhere.iter().any(|end| route.path.ends_with(end))
    };
    for route in CONTRACT.served.iter().filter(listed) {
        let operation = CONTRACT.operation(route);
        let subject = subjects.iter().find(|(path, _)| route.path.starts_with(path)).map_or("", |(_, id)| id);
        let path = route.path.replace("{id}", subject).replace("{machineType}", "fdm_standard");
        let path = path.replace("{document}", &document).replace("{address}", &stored[1]).replace("{name}", &stored[0]);
        let path = path.replace("{number}", "1");
        assert!(!path.contains('{') && !path.contains("//"), "say what stands for the parameters of {path}");
        let by_key = operation["security"].as_array().unwrap().iter().any(|scheme| scheme.get("apiKey").is_some());
        let open = operation["x-roles"][0] == "anonymous";
        for walk in &walks {
            let named = operation["x-roles"].as_array().unwrap().iter().any(|role| role == walk.role);
            if !named || !(open || by_key || walk.client.key.is_none()) {
                continue;
            }
            let request = walk.client.request("GET", &path);
            let status = if path.ends_with("/stream") {
                walk.client.open(request).await.status().as_u16()
            } else {
                walk.client.send(request).await.status
            };
            assert_eq!(status, 200, "GET {path} by {}", walk.role);
            requests += 1;
        }
    }
    assert!(requests > 120, "{requests}");
}

async fn change_all(db: Db) {
    let farm = SimFarmUi::start(Some("farm-key")).await.unwrap();
    let parts = PartsSystem::start((Ipv4Addr::LOCALHOST, 0).into(), "inv-0123456789").await.unwrap();
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let app = knowing(&processor, db)
        .env("PRINTFLOOR_PRINTERS__REQUEST_TIMEOUT_SECONDS", 5)
        .env("FARM_UI_URL", farm.url())
        .env("FARM_UI_TOKEN", "farm-key")
        .env("PARTS_URL", parts.url())
        .env("PARTS_TOKEN", "inv-0123456789")
        .env("PRINTFLOOR_STOCK_SYNC__INTERVAL_SECONDS", 0.1)
        .env("PRINTFLOOR_ACCOUNTING__INTERVAL_SECONDS", 0.1);
    let books = AccountingSystem::start("shop", "of-the-shop").await.unwrap();
    let app = books.variables().into_iter().fold(app, |builder, (name, value)| builder.env(name, value)).start().await;
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 4)).await.unwrap();
    let sku = some_sku(&app).await;
    let sink = Sink::start().await.unwrap();
    let endpoint = json!({"url": sink.url(), "events": ["order.created"]});
    let endpoint = id(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(201));
    let walks = walks(&app).await;
    for (n, walk) in walks.iter().enumerate() {
        let part = parts.add_part(&format!("Part {n}"), "g");
        parts.add_item(part, 500_000);
        walk.as_customer(&sku).await;
        if walk.role != "customer" {
            walk.stock_and_catalogue(n).await;
            walk.invoices().await;
            walk.channels(&app, &sku).await;
            walk.custom_requests(&app).await;
            walk.quotes(&sku).await;
            walk.books(&app, &books).await;
            walk.floor(n, &fleet.printers[n - 1]).await;
            walk.printers(&fleet.printers[n - 1]).await;
        }
        if walk.role == "admin" {
            walk.as_admin(n).await;
            let log = format!("/api/webhooks/endpoints/{endpoint}/deliveries?state=delivered");
            let delivered = until("a delivery", || async {
                let log = walk.client.get(&log).await.expect(200);
                log["deliveries"].as_array()?.first().map(id)
            })
            .await;
            walk.ok("POST /api/webhooks/deliveries/{id}/redeliver", &delivered, json!({})).await;
        }
        if walk.client.key.is_none() {
            walk.ok("PATCH /api/auth/me", "", json!({"language": "de"})).await;
            // Ends all other sessions of the same person, so it comes last.
            let change = json!({"currentPassword": PASSWORD, "newPassword": "another long password"});
            walk.ok("POST /api/auth/password", "", change).await;
            walk.ok("DELETE /api/auth/sessions", "", Value::Null).await;
        }
    }
    nothing_is_left_out(&walks);
}

/// Checks that every role has performed every operation that it is allowed to.
fn nothing_is_left_out(walks: &[Walk]) {
    for route in CONTRACT.served.iter().filter(|route| route.method != "GET") {
        let (operation, what) = (CONTRACT.operation(route), format!("{} {}", route.method, route.path));
        let by_key = operation["security"].as_array().unwrap().iter().any(|scheme| scheme.get("apiKey").is_some());
        if operation["x-roles"][0] == "anonymous" {
            continue; // Asks for a password, a signature or a token, as `sessions`, `payments` and `agent` do.
        }
        if route.path.starts_with("/api/setup/") || ["/api/settings", "/api/integrations"].contains(&route.path) {
            continue; // `setup` and `settings` do these, and watch the file that they write.
        }
        if ["/second-factor", "/api/emails/{"].iter().any(|part| route.path.contains(part)) || what == RESTORE_REVIEW {
            continue; // `second_factor`, `emails`, `restores` do these: a device, a rejected email, a restored shop.
        }
        for walk in walks {
            let named = operation["x-roles"].as_array().unwrap().iter().any(|role| role == walk.role);
            if !named || !(by_key || walk.client.key.is_none()) {
                continue;
            }
            let done = walk.done.lock().unwrap();
            // What follows in place of a name is anything.
            let did = match what.split_once("{*") {
                Some((before, _)) => done.iter().any(|one| one.starts_with(before)),
                None => done.contains(&what),
            };
            assert!(did, "{what} was not done by {} (by key: {})", walk.role, walk.client.key.is_some());
        }
    }
}
