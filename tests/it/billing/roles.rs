//! Permissions in the billing API: every operation in its description, called by every kind of caller.

mod anybody;

use serde_json::{Value, json};
use simulator::processor::{Payer, SimPaymentProcessor};

use super::{cookie_of, customer};
use crate::api::checkout::{KEY, knowing};
use crate::api::quotes::models::upload;
use crate::api::{NOTHING, customer_of, id, new_key, signed_in, some_sku, staff, with_cookie, with_role};
use crate::support::client::Answer;
use crate::support::contract::BILLING;
use crate::support::{App, Client, Clock, Db};
use crate::whole::cube;

/// Operations that need no credentials, listed independently of the routes; all others need a customer's session.
const FOR_ANYBODY: &[&str] = &[
    "GET /api/v1/store/catalog",
    "POST /api/v1/custom-builds/intakes",
    "POST /api/v1/auth/magic-link",
    "GET /api/v1/auth/verify",
    "GET /api/v1/pay/{token}",
    "POST /api/v1/pay/{token}/checkout",
    "POST /api/v1/orders/{orderId}/checkout",
    "GET /api/v1/openapi.json",
    "GET /api/v1/exports/{exportToken}",
    "POST /api/v1/webhooks/payments",
];

/// Advance of the clock past the end of every session, in milliseconds.
const LATER_MS: i64 = 31 * 86_400_000;
/// Limit that all callers together do not reach.
const MANY: u32 = 1_000_000;
/// Lifetime, in seconds, of the key that has expired by the time it is used.
const KEY_LIFE_SECONDS: i64 = 3600;

fn for_anybody(method: &str, path: &str) -> bool {
    method == "OPTIONS" || FOR_ANYBODY.contains(&format!("{method} {path}").as_str())
}

#[test]
fn the_description_demands_what_the_decisions_demand() {
    for route in &BILLING.served {
        let operation = BILLING.operation(route);
        let anybody = for_anybody(route.method.as_str(), route.path);
        let roles = if anybody { json!(["anonymous", "customer", "operator", "admin"]) } else { json!(["customer"]) };
        assert_eq!(operation["x-roles"], roles, "{} {}", route.method, route.path);
        let security = if anybody { json!([]) } else { json!([{"customerSession": []}]) };
        assert_eq!(operation["security"], security, "{} {}", route.method, route.path);
    }
}

#[tokio::test]
async fn every_operation_takes_those_it_is_for_and_nobody_else() {
    let clock = Clock::new();
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let price = processor.add_price("Filament box", 2500, "usd");
    let app = knowing(&processor, Db::sqlite())
        .env("PRINTFLOOR_PAYMENTS__SUBSCRIPTION_PRICES", format!("[\"{price}\"]"))
        .env("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_ADDRESS_PER_15_MINUTES", MANY)
        .env("PRINTFLOOR_LIMITS__ORDER_CHECKOUTS_PER_HOUR", MANY)
        .env("PRINTFLOOR_LIMITS__INTAKES_PER_HOUR", MANY)
        .clock(&clock)
        .start()
        .await;
    let strangers = strangers(&app, &clock).await;
    let customers = TwoCustomers::new(&app, &processor, json!({"priceId": price})).await;
    let mut count = 0;
    for route in &BILLING.served {
        let (method, path) = (route.method.as_str(), route.path);
        let real = customers.things.existing(path);
        let anybody = for_anybody(method, path);
        for (name, client) in &strangers {
            let status = client.open(client.request(method, &real)).await.status().as_u16();
            count += 1;
            if anybody {
                assert!(!matches!(status, 401 | 403 | 404 | 405 | 500..), "{method} {path} by {name}: {status}");
            } else {
                assert_eq!(status, 401, "{method} {path} by {name}");
            }
        }
        if !anybody && path != "/api/v1/auth/session" {
            customers.call(method, path).await;
        }
    }
    assert!(count >= 140, "{count}");
    customers.list_their_own_alone().await;
    let strangers = strangers.iter().map(|(name, client)| (*name, client));
    let both = [("a customer", &customers.ann), ("another", &customers.bob)];
    let everybody: Vec<(&str, &Client)> = strangers.chain(both).collect();
    anybody::everybody_gets_it(&app, &everybody, |path| customers.things.existing(path)).await;
    customers.ann.delete("/api/v1/auth/session").await.expect(200);
    assert_eq!(customers.ann.get("/api/v1/me").await.error(401), "unauthorized");
}

/// Creates named callers, none of whom is a customer with a valid session.
async fn strangers(app: &App, clock: &Clock) -> Vec<(&'static str, Client)> {
    staff(app, "op@example.org", "operator").await;
    staff(app, "boss@example.org", "admin").await;
    let signed_out = with_cookie(app, &cookie_of(app, "gone@example.org").await);
    signed_out.delete("/api/v1/auth/session").await.expect(200);
    clock.set(-LATER_MS);
    let expired = customer(app, "late@example.org").await;
    let ends = jiff::Timestamp::from_second(clock.unix_now() + KEY_LIFE_SECONDS).unwrap().to_string();
    let (_, expired_key) = new_key(app, &json!({"name": "late", "role": "admin", "expiresAt": ends})).await;
    clock.set(0);
    let (_, shop_front) = new_key(app, &json!({"name": "shop", "role": "customer"})).await;
    let (revoked, revoked_key) = new_key(app, &json!({"name": "gone", "role": "admin"})).await;
    revoked_key.get("/api/orders").await.expect(200);
    app.delete(&format!("/api/auth/api-keys/{revoked}")).await.expect(204);
    for key in [&expired_key, &revoked_key] {
        assert_eq!(key.get("/api/orders").await.status, 401, "it opens nothing any more");
    }
    vec![
        ("nobody", app.nobody()),
        ("a made-up session", with_cookie(app, &format!("__Host-customer_session={}", "a".repeat(43)))),
        ("a session that was signed out", signed_out),
        ("an expired session", expired),
        ("a customer's key", customer_of(app, "a@example.org").await),
        ("a shop front's key", shop_front),
        ("a revoked key", revoked_key),
        ("an expired key", expired_key),
        ("an operator's key", with_role(app, "operator").await),
        ("an admin's key", with_role(app, "admin").await),
        ("an operator's session", signed_in(app, "op@example.org").await),
        ("an admin's session", signed_in(app, "boss@example.org").await),
    ]
}

async fn upload_cube(client: &Client) -> Answer {
    upload(client, "/api/v1/quotes/models", "cube.stl", cube().into_bytes(), &[]).await
}

/// IDs of a customer's resources, one of each kind that a path can contain.
struct Things {
    order: String,
    subscription: String,
    /// A quote to be accepted and one to be declined.
    quotes: [String; 2],
    model: String,
    invoice: String,
    pay_token: String,
    export_token: String,
}

impl Things {
    /// Puts the ids of these things into a path.
    fn existing(&self, path: &str) -> String {
        path.replace("{orderId}", &self.order)
            .replace("{subscriptionId}", &self.subscription)
            .replace("{quoteId}", &self.quotes[usize::from(path.ends_with("/decline"))])
            .replace("{modelId}", &self.model)
            .replace("{invoiceId}", &self.invoice)
            .replace("{exportToken}", &self.export_token)
            .replace("{token}", &self.pay_token)
    }

    /// Returns whether a text contains any of these IDs.
    fn are_named_in(&self, text: &str) -> bool {
        let [one, other] = &self.quotes;
        let things = [&self.order, &self.subscription, one, other, &self.model, &self.invoice];
        things.iter().any(|thing| text.contains(thing.as_str()))
    }
}

/// Replaces the placeholders of a path with IDs that belong to no resource.
fn missing(path: &str) -> String {
    path.replace("{orderId}", NOTHING)
        .replace("{subscriptionId}", "sub_nothing")
        .replace("{quoteId}", NOTHING)
        .replace("{modelId}", NOTHING)
        .replace("{invoiceId}", NOTHING)
}

/// Ann, who has resources, and Bob, who has none.
struct TwoCustomers {
    ann: Client,
    bob: Client,
    things: Things,
    /// Request body of a draft order.
    draft: Value,
    /// Request body of a subscription.
    subscribe: Value,
}

impl TwoCustomers {
    async fn new(app: &App, processor: &SimPaymentProcessor, subscribe: Value) -> Self {
        let (ann, bob) = (customer(app, "a@example.org").await, customer(app, "b@example.org").await);
        let sku = some_sku(app).await;
        app.patch(&format!("/api/skus/{sku}"), &json!({"public": true})).await.expect(200);
        let draft = json!({"lines": [{"skuId": sku, "quantity": 1}]});
        let order = ann.post("/api/v1/orders/draft", &draft).await.expect(201)["orderId"].as_str().unwrap().to_owned();
        let begun = ann.post("/api/v1/subscriptions/checkout", &subscribe).await.expect(200);
        processor.act(begun["sessionId"].as_str().unwrap(), Payer::Pays).unwrap();
        let listed = ann.get("/api/v1/subscriptions").await.expect(200);
        let subscription = listed["subscriptions"][0]["id"].as_str().unwrap().to_owned();
        let invoice = super::invoices::sent(app, "a@example.org").await;
        let offer = json!({"customerEmail": "a@example.org", "lines": [{"quantity": 1, "skuId": sku}]});
        let quotes = [send_quote(app, &offer).await, send_quote(app, &offer).await];
        let model = id(&upload_cube(&ann).await.expect(201)["model"]);
        let pay_token = super::pay_token_of(app, &super::invoices::sent(app, "a@example.org").await).await;
        let export = super::exports::exported(app, &ann, "a@example.org", json!({"type": "invoices"})).await;
        let export_token = export.rsplit('/').next().unwrap().to_owned();
        let things = Things { order, subscription, quotes, model, invoice, pay_token, export_token };
        Self { ann, bob, things, draft, subscribe }
    }

    /// Calls an operation as both customers: the owner receives the documented response, the other customer learns
    /// nothing.
    async fn call(&self, method: &str, path: &str) {
        let Self { ann, bob, .. } = self;
        let real = self.things.existing(path);
        if (method, path) == ("POST", "/api/v1/quotes/models") {
            for customer in [ann, bob] {
                assert_eq!(upload_cube(customer).await.expect(201)["success"], true);
            }
        } else if path.starts_with("/api/v1/integrations/accounting/") {
            // For those whose address is that of an admin; `accounting` is one.
            let code = "?code=x&state=01890a5d-ac96-774b-bcce-b302099a8057";
            assert_eq!(ann.get(&format!("{path}{code}")).await.error(403), "not_an_admin", "{method} {path}");
        } else if path.ends_with("/stream") {
            // It stays open, so only its head is read.
            let status = async |client: &Client, path: &str| client.open(client.request(method, path)).await.status();
            let nothing = missing(path);
            let statuses = [status(ann, &real).await, status(bob, &real).await, status(ann, &nothing).await];
            assert_eq!(statuses.map(|status| status.as_u16()), [200, 403, 404], "{method} {path}");
        } else {
            let own = self.send(ann, method, path, &real).await;
            assert!((200..300).contains(&own.status), "{method} {path}: {} {}", own.status, own.text);
            assert_eq!(own.json()["success"], true, "{method} {path}");
            if !path.contains('{') {
                // The other customer has that, too, and sees nothing of the first; a portal is for who has subscribed.
                let other = self.send(bob, method, path, &real).await;
                let unsubscribed = path == "/api/v1/subscriptions/portal" && other.status == 404;
                assert!((200..300).contains(&other.status) || unsubscribed, "{method} {path}: {}", other.text);
                let foreign = self.things.are_named_in(&other.text);
                assert!(!foreign && !other.text.contains("a@example.org"), "{method} {path}: {}", other.text);
            }
            self.refuse_others(method, path, &real).await;
        }
    }

    /// Checks the responses to Bob about Ann's resources, and to Ann about resources that do not exist.
    async fn refuse_others(&self, method: &str, path: &str, real: &str) {
        let ((status, code), not_found) = if path.contains("{orderId}") {
            ((403, "forbidden"), "order_not_found")
        } else if path.contains("{invoiceId}") {
            // Another's invoice is as if it were not there; what is done with it is refused.
            let refused = if path.ends_with("{invoiceId}") { (404, "invoice_not_found") } else { (403, "forbidden") };
            (refused, "invoice_not_found")
        } else if path.contains("{quoteId}") || path.contains("{modelId}") {
            // Another's quote is as if it were not there; an answer to it is refused.
            let refused = if method == "GET" { (404, "quote_not_found") } else { (403, "forbidden") };
            (refused, "quote_not_found")
        } else if path.contains("{subscriptionId}") {
            ((403, "forbidden"), "subscription_not_found")
        } else {
            return;
        };
        assert_eq!(self.send(&self.bob, method, path, real).await.error(status), code, "{method} {path}");
        let nothing = missing(path);
        assert_eq!(self.send(&self.ann, method, path, &nothing).await.error(404), not_found, "{method} {path}");
    }

    /// Sends a valid request for the operation; `to` is its path with IDs filled in.
    async fn send(&self, client: &Client, method: &str, path: &str, to: &str) -> Answer {
        let body = match (method, path) {
            ("PATCH", "/api/v1/profile") => json!({"name": "Ann"}),
            ("POST", "/api/v1/orders/draft") => self.draft.clone(),
            ("POST", "/api/v1/exports/request") => json!({"type": "invoices"}),
            ("POST", "/api/v1/subscriptions/checkout") => self.subscribe.clone(),
            ("GET", _) | ("POST", "/api/v1/invoices/{invoiceId}/pdf") => Value::Null,
            ("POST", "/api/v1/invoices/{invoiceId}/checkout") => json!({}),
            ("POST", path) if path.starts_with("/api/v1/subscriptions/") => json!({}),
            ("POST", path) if path.starts_with("/api/v1/quotes/") => json!({}),
            _ => panic!("say what is sent to {method} {path}"),
        };
        let request = client.request(method, to);
        client.send(if body.is_null() { request } else { request.json(&body) }).await
    }

    /// Checks that lists contain only the customer's own resources.
    async fn list_their_own_alone(&self) {
        for name in ["orders", "invoices", "quotes", "subscriptions"] {
            let path = format!("/api/v1/{name}");
            let (own, of_bob) = (self.ann.get(&path).await.expect(200), self.bob.get(&path).await.expect(200));
            let ids = |list: &Value| -> Vec<Value> {
                list[name].as_array().unwrap().iter().map(|one| one["id"].clone()).collect()
            };
            let (own, of_bob) = (ids(&own), ids(&of_bob));
            assert!(!own.is_empty() && own.iter().all(Value::is_string), "{path}: {own:?}");
            assert!(own.iter().all(|id| !of_bob.contains(id)), "{path}: {own:?}, {of_bob:?}");
        }
    }
}

async fn send_quote(app: &App, offer: &Value) -> String {
    let quote = id(&app.post("/api/quotes", offer).await.expect(201));
    app.act(&format!("/api/quotes/{quote}/send")).await.expect(200);
    quote
}
