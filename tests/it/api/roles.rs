//! Permissions: every operation in the API description, called by every kind of caller.

use printfloor::http::openapi::derive::{ANYBODY, roles};
use printfloor::http::routes::ServedRoute;
use serde_json::{Value, json};

use super::{NOTHING, customer_of, id, new_key, one_of, signed_in, some_sku, staff, with_role};
use crate::billing::customer;
use crate::support::contract::CONTRACT;
use crate::support::{App, Client, Clock, Db};

/// Operations that need no credentials, listed independently of the routes. Operations on none of these lists are open
/// to operators.
const FOR_ANYBODY: &[&str] = &[
    "POST /api/auth/login",
    "POST /api/auth/logout",
    "GET /api/openapi.json",
    "GET /api/openapi-3.0.json",
    "GET /healthz",
    "GET /readyz",
    "GET /api/printers/{id}/camera/signed",
    "POST /api/setup/session",
    "POST /webhooks/agent",
    "POST /webhooks/payments",
    "POST /webhooks/sales-channels/{id}",
    "GET /documents/{address}/{name}",
];
const FOR_SESSIONS: &[&str] = &[
    "PATCH /api/auth/me",
    "POST /api/auth/password",
    "GET /api/auth/sessions",
    "DELETE /api/auth/sessions",
    "GET /api/auth/second-factor",
    "POST /api/auth/second-factor",
    "POST /api/auth/second-factor/confirm",
    "POST /api/auth/second-factor/remove",
    "GET /api/dashboard",
];
const FOR_CUSTOMERS: &[&str] = &[
    "GET /api/auth/me",
    "GET /api/skus",
    "GET /api/skus/{id}",
    "GET /api/orders",
    "POST /api/orders",
    "GET /api/orders/{id}",
    "POST /api/orders/{id}/cancel",
    "POST /api/orders/{id}/checkout",
    "GET /api/orders/{id}/timeline",
];
/// Path prefixes reserved for admins; for webhook endpoints, only the operations that change them.
const FOR_ADMINS: &[&str] = &[
    "/api/users",
    "/api/auth/api-keys",
    "/api/settings",
    "/api/integrations",
    "/api/setup",
    "/api/audit-log",
    "/api/backup",
    "/api/webhooks",
];

/// Operations reserved for admins on resources that operators may read: setting the secrets of sales channels,
/// releasing a restored shop.
const CHANGED_BY_ADMINS: &[&str] = &[
    "POST /api/sales-channels",
    "PATCH /api/sales-channels/{id}",
    "DELETE /api/sales-channels/{id}",
    "POST /api/restores/{id}/review",
];

fn demanded(route: &ServedRoute) -> Vec<&'static str> {
    let operation = format!("{} {}", route.method, route.path);
    let among = |list: &[&str]| list.contains(&operation.as_str());
    let admin = FOR_ADMINS.iter().any(|path| route.path.starts_with(path))
        && !(route.path.starts_with("/api/webhooks") && route.method == "GET")
        || among(CHANGED_BY_ADMINS);
    match () {
        () if among(FOR_ANYBODY) => vec![ANYBODY, "customer", "operator", "admin"],
        () if among(FOR_CUSTOMERS) => vec!["customer", "operator", "admin"],
        () if admin => vec!["admin"],
        () => vec!["operator", "admin"],
    }
}

#[test]
fn the_description_demands_what_the_decisions_demand() {
    for route in &CONTRACT.served {
        let what = format!("{} {}", route.method, route.path);
        let operation = CONTRACT.operation(route);
        assert_eq!(operation["x-roles"], json!(demanded(route)), "{what}");
        assert_eq!(operation["x-roles"], json!(roles(route.need)), "{what}");
        let by_key = operation["security"].as_array().unwrap().iter().any(|scheme| scheme.get("apiKey").is_some());
        let open = FOR_ANYBODY.contains(&what.as_str());
        assert_eq!(by_key, !open && !FOR_SESSIONS.contains(&what.as_str()), "{what}");
    }
}

/// Caller of an operation.
struct Caller {
    name: &'static str,
    client: Client,
    /// Role of the caller; `None` without valid credentials.
    role: Option<&'static str>,
    session: bool,
}

/// Returns the status of the permission check's rejection according to the description; `None` if the request reaches
/// its handler.
fn expected(operation: &Value, caller: &Caller) -> Option<u16> {
    let roles = operation["x-roles"].as_array().unwrap_or_else(|| panic!("no roles: {operation}"));
    let security = operation["security"].as_array().unwrap();
    let way = if caller.session { "staffSession" } else { "apiKey" };
    if roles.iter().any(|role| role == ANYBODY) {
        return None;
    }
    match caller.role {
        Some(role) if security.iter().any(|scheme| scheme.get(way).is_some()) => {
            (!roles.iter().any(|name| name == role)).then_some(403)
        }
        // A key is known, and is not what is asked for.
        Some(_) if !caller.session => Some(403),
        _ => Some(401),
    }
}

/// Age of the expired session, in milliseconds; longer than the lifetime of any session.
const EXPIRED_MS: i64 = 31 * 86_400_000;
/// Lifetime of the expired key, in seconds: longer than it takes to create the key, but shorter than the key's age.
const KEY_LIFE_SECONDS: i64 = 3600;

async fn callers(app: &App, clock: &Clock) -> Vec<Caller> {
    staff(app, "op@example.org", "operator").await;
    staff(app, "boss@example.org", "admin").await;
    clock.set(-EXPIRED_MS);
    let late = signed_in(app, "boss@example.org").await;
    let ends = jiff::Timestamp::from_second(clock.unix_now() + KEY_LIFE_SECONDS).unwrap().to_string();
    let (_, expired) = new_key(app, &json!({"name": "expired", "role": "admin", "expiresAt": ends})).await;
    clock.set(0);
    let signed_out = signed_in(app, "boss@example.org").await;
    assert!(signed_out.act("/api/auth/logout").await.status < 300);
    let (revoked_id, revoked) = new_key(app, &json!({"name": "revoked", "role": "admin"})).await;
    app.delete(&format!("/api/auth/api-keys/{revoked_id}")).await.expect(204);
    assert_eq!(expired.get("/api/orders").await.status, 401, "it opens nothing any more");
    let caller = |name, client, role, session| Caller { name, client, role, session };
    vec![
        caller("nobody", app.nobody(), None, false),
        caller("a made-up key", app.with_key("key_test_0000000000000000000000000000000000000000000"), None, false),
        caller("a revoked key", revoked, None, false),
        caller("an expired key", expired, None, false),
        caller("an expired session", late, None, true),
        caller("a session that was signed out", signed_out, None, true),
        // Customers with a session are known to the other half alone.
        caller("a customer's session", customer(app, "a@example.org").await, None, false),
        caller("another customer's session", customer(app, "b@example.org").await, None, false),
        caller("a customer's key", with_role(app, "customer").await, Some("customer"), false),
        caller("a key of one customer", customer_of(app, "a@example.org").await, Some("customer"), false),
        caller("a key of another", customer_of(app, "b@example.org").await, Some("customer"), false),
        caller("an operator's key", with_role(app, "operator").await, Some("operator"), false),
        caller("an admin's key", with_role(app, "admin").await, Some("admin"), false),
        caller("an operator's session", signed_in(app, "op@example.org").await, Some("operator"), true),
        caller("an admin's session", signed_in(app, "boss@example.org").await, Some("admin"), true),
    ]
}

#[tokio::test]
async fn every_operation_takes_those_it_is_for_and_nobody_else() {
    let clock = Clock::new();
    let app = App::on(Db::sqlite()).env("AGENT_TOKEN", "of the gateway").clock(&clock).start().await;
    let callers = callers(&app, &clock).await;
    let mut requests = 0;
    for route in &CONTRACT.served {
        let operation = CONTRACT.operation(route);
        let path = route
            .path
            .replace("{id}", NOTHING)
            .replace("{*name}", "a.gcode")
            .replace("{number}", "1")
            .replace("{slot}", "0")
            .replace("{document}", NOTHING)
            .replace("{address}", "0123")
            .replace("{name}", "INV-2026-000001.pdf")
            .replace("{system}", "parts")
            .replace("{reminder}", NOTHING)
            .replace("{variantId}", NOTHING)
            .replace("{machineType}", "fdm_standard");
        assert!(!path.contains('{'), "say what stands for the parameters of {path}");
        for caller in &callers {
            // Signing out is no question of roles, and would end the caller's part in this test.
            if caller.session && path == "/api/auth/logout" {
                continue;
            }
            let what = format!("{} {path} by {}", route.method, caller.name);
            // Nothing is sent along: who is let through then fails for other reasons, so that nothing happens.
            let answer = caller.client.open(caller.client.request(route.method.as_str(), &path)).await;
            let status = answer.status().as_u16();
            requests += 1;
            match expected(operation, caller) {
                Some(refusal) => assert_eq!(status, refusal, "{what}"),
                // The gateway's own token is asked for.
                None if path == "/webhooks/agent" => assert_eq!(status, 401, "{what}"),
                None if path == "/api/auth/login" || path == "/api/setup/session" => assert_eq!(status, 415, "{what}"),
                None => assert!(!matches!(status, 401 | 403 | 405 | 500..), "{what}: {status}"),
            }
        }
    }
    assert!(requests > 900, "{requests}");
}

/// Checks that every operation on another customer's resources responds as if they did not exist.
#[tokio::test]
async fn a_customer_finds_nothing_of_another() {
    let app = App::new(Db::sqlite()).await;
    let (own, foreign) = (customer_of(&app, "a@example.org").await, customer_of(&app, "b@example.org").await);
    let sku = some_sku(&app).await;
    let order = id(&own.post("/api/orders", &one_of(&sku)).await.expect(201));
    let mut requests = 0;
    for route in &CONTRACT.served {
        let customers = CONTRACT.operation(route)["x-roles"].as_array().unwrap().iter().any(|role| role == "customer");
        if !customers || !route.path.starts_with("/api/orders/{id}") {
            continue;
        }
        let path = route.path.replace("{id}", &order);
        let what = format!("{} {path}", route.method);
        let hidden = foreign.send(foreign.request(route.method.as_str(), &path)).await;
        assert_eq!(hidden.error(404), "order_not_found", "{what}");
        if route.path.ends_with("/checkout") {
            continue; // There is no processor here; `checkout` has one.
        }
        let answer = own.send(own.request(route.method.as_str(), &path)).await;
        assert_eq!(answer.status, 200, "{what}: {}", answer.text);
        requests += 1;
    }
    assert!(requests >= 3, "{requests}");
    assert_eq!(foreign.get("/api/orders").await.expect(200)["pagination"]["total"], 0);
}
