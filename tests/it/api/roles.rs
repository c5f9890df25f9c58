//! Who may do what: every route with every kind of caller (decisions §2).

use super::{NOTHING, new_key, signed_in, staff, with_role};
use crate::support::{App, Client, Db, until};
use jiff::SignedDuration;
use serde_json::json;
use std::collections::BTreeSet;

/// The routes as the server adds them; each must stand in [`TABLE`].
const SOURCE: &str = include_str!("../../../src/http/production.rs");

/// What a route asks of its callers: nothing, a key or session of at least this role, or a staff session; `scraper` is an
/// operator unless the numbers are public.
const TABLE: &str = "
open     POST   /api/auth/login
open     POST   /api/auth/logout
customer GET    /api/auth/me
session  POST   /api/auth/password
session  GET    /api/auth/sessions
session  DELETE /api/auth/sessions
admin    GET    /api/auth/api-keys
admin    POST   /api/auth/api-keys
admin    DELETE /api/auth/api-keys/{id}
admin    GET    /api/users
admin    POST   /api/users
admin    GET    /api/users/{id}
admin    PATCH  /api/users/{id}
admin    DELETE /api/users/{id}
admin    GET    /api/audit-log
operator GET    /api/inventory/materials
operator POST   /api/inventory/materials
operator GET    /api/inventory/materials/{id}
operator PATCH  /api/inventory/materials/{id}
operator DELETE /api/inventory/materials/{id}
operator GET    /api/inventory/materials/{id}/movements
operator POST   /api/inventory/materials/{id}/adjustments
customer GET    /api/skus
operator POST   /api/skus
customer GET    /api/skus/{id}
operator PATCH  /api/skus/{id}
operator DELETE /api/skus/{id}
operator GET    /api/files
operator POST   /api/files
operator GET    /api/files/{id}
operator DELETE /api/files/{id}
operator GET    /api/files/{id}/content
customer GET    /api/orders
customer POST   /api/orders
customer GET    /api/orders/{id}
operator PATCH  /api/orders/{id}
customer POST   /api/orders/{id}/cancel
operator POST   /api/orders/{id}/confirm
operator POST   /api/orders/{id}/mark-paid
operator POST   /api/orders/{id}/ship
customer GET    /api/orders/{id}/timeline
operator GET    /api/jobs
operator GET    /api/jobs/{id}
operator PATCH  /api/jobs/{id}
operator POST   /api/jobs/{id}/pause
operator POST   /api/jobs/{id}/resume
operator POST   /api/jobs/{id}/cancel
operator POST   /api/jobs/{id}/retry
operator POST   /api/jobs/{id}/release
operator POST   /api/jobs/{id}/resolve
operator GET    /api/printers
operator POST   /api/printers
operator GET    /api/printers/{id}
operator PATCH  /api/printers/{id}
operator DELETE /api/printers/{id}
operator GET    /api/printers/{id}/status
operator GET    /api/printers/{id}/info
operator GET    /api/printers/{id}/history
operator GET    /api/printers/{id}/webcams
operator GET    /api/printers/{id}/system-info
operator GET    /api/printers/{id}/files
operator POST   /api/printers/{id}/files
operator DELETE /api/printers/{id}/files/{*name}
operator POST   /api/printers/{id}/connect
operator POST   /api/printers/{id}/disconnect
operator POST   /api/printers/{id}/pause
operator POST   /api/printers/{id}/resume
operator POST   /api/printers/{id}/cancel
operator POST   /api/printers/{id}/emergency-stop
operator POST   /api/printers/{id}/restart-firmware
operator POST   /api/printers/{id}/home
operator POST   /api/printers/{id}/gcode
operator POST   /api/printers/{id}/print
operator POST   /api/printers/{id}/bed-cleared
operator POST   /api/printers/{id}/maintenance
operator GET    /api/webhooks/endpoints
admin    POST   /api/webhooks/endpoints
operator GET    /api/webhooks/endpoints/{id}
admin    PATCH  /api/webhooks/endpoints/{id}
admin    DELETE /api/webhooks/endpoints/{id}
admin    POST   /api/webhooks/endpoints/{id}/enable
admin    POST   /api/webhooks/endpoints/{id}/rotate-secret
admin    POST   /api/webhooks/endpoints/{id}/test
admin    POST   /api/webhooks/endpoints/{id}/replay
operator GET    /api/webhooks/endpoints/{id}/deliveries
admin    POST   /api/webhooks/deliveries/{id}/redeliver
operator GET    /api/webhooks/event-types
operator GET    /api/events
operator GET    /api/events/stream
session  GET    /api/dashboard
operator GET    /api/system/actors
scraper  GET    /metrics
open     GET    /healthz
open     GET    /readyz
open     POST   /webhooks/agent
open     POST   /webhooks/payments
open     POST   /api/v1/webhooks/payments
";

fn table() -> Vec<(&'static str, &'static str, &'static str)> {
    let rows = TABLE.lines().filter(|line| !line.is_empty());
    rows.map(|line| {
        let mut words = line.split_whitespace();
        (words.next().unwrap(), words.next().unwrap(), words.next().unwrap())
    })
    .collect()
}

#[test]
fn the_table_has_every_route_of_the_server() {
    let calls = SOURCE.lines().filter_map(|line| {
        let (method, rest) = line.trim().strip_prefix('.')?.split_once('(')?;
        let path = rest.split('"').nth(1).filter(|path| path.starts_with('/'))?;
        let method = method.trim_end_matches("_long").to_uppercase();
        Some(format!("{} {method} {path}", rest.split(',').next().unwrap()))
    });
    let served: BTreeSet<String> = calls.collect();
    let listed: BTreeSet<String> =
        table().into_iter().map(|(need, method, path)| format!("{need} {method} {path}")).collect();
    assert!(served.len() > 80, "the routes are no longer found: {served:?}");
    let missing: Vec<_> = served.symmetric_difference(&listed).collect();
    assert!(missing.is_empty(), "these routes differ between the server and the table of this test: {missing:#?}");
}

/// Somebody who calls.
struct Caller {
    name: &'static str,
    client: Client,
    /// Who they are: a rank (0 nobody, 1 customer, 2 operator, 3 admin), and whether by session.
    rank: u8,
    session: bool,
}

/// What the guard says: `None` lets the request through to its handler.
fn expected(need: &str, caller: &Caller) -> Option<u16> {
    let needed = match need {
        "open" => return None,
        "session" if !caller.session => return Some(401),
        "customer" => 1,
        "admin" => 3,
        _ => 2,
    };
    match caller.rank {
        0 => Some(401),
        rank if rank < needed => Some(403),
        _ => None,
    }
}

#[tokio::test]
async fn every_route_takes_those_it_is_for_and_nobody_else() {
    let app = App::on(Db::sqlite()).env("AGENT_TOKEN", "of the gateway").start().await;
    staff(&app, "op@example.org", "operator").await;
    staff(&app, "boss@example.org", "admin").await;
    let (revoked_id, revoked) = new_key(&app, &json!({"name": "revoked", "role": "admin"})).await;
    app.delete(&format!("/api/auth/api-keys/{revoked_id}")).await.expect(204);
    #[expect(clippy::disallowed_methods, reason = "a key expires in real time")]
    let soon = jiff::Timestamp::now() + SignedDuration::from_millis(1500);
    let (_, expired) = new_key(&app, &json!({"name": "expired", "role": "admin", "expiresAt": soon.to_string()})).await;
    until("the key to expire", || async { (expired.get("/api/orders").await.status == 401).then_some(()) }).await;

    let caller = |name, client, rank, session| Caller { name, client, rank, session };
    let callers = [
        caller("nobody", app.nobody(), 0, false),
        caller("a made-up key", app.with_key("key_test_0000000000000000000000000000000000000000000"), 0, false),
        caller("a revoked key", revoked, 0, false),
        caller("an expired key", expired, 0, false),
        caller("a customer's key", with_role(&app, "customer").await, 1, false),
        caller("an operator's key", with_role(&app, "operator").await, 2, false),
        caller("an admin's key", with_role(&app, "admin").await, 3, false),
        caller("an operator's session", signed_in(&app, "op@example.org").await, 2, true),
        caller("an admin's session", signed_in(&app, "boss@example.org").await, 3, true),
    ];
    for (need, method, path) in table() {
        let path = path.replace("{id}", NOTHING).replace("{*name}", "a.gcode");
        for caller in &callers {
            // Signing out is no question of roles, and would end the caller's part in this test.
            if caller.session && path == "/api/auth/logout" {
                continue;
            }
            let what = format!("{method} {path} by {}", caller.name);
            // Nothing is sent along: who is let through then fails for other reasons, so that nothing happens.
            let answer = caller.client.request(method, &path).send().await.unwrap();
            let status = answer.status().as_u16();
            match expected(need, caller) {
                Some(wanted) => assert_eq!(status, wanted, "{what}"),
                // The gateway's own token is asked for.
                None if path == "/webhooks/agent" => assert_eq!(status, 401, "{what}"),
                None if path == "/api/auth/login" => assert_eq!(status, 415, "{what}"),
                None => assert!(!matches!(status, 401 | 403 | 405 | 500..), "{what}: {status}"),
            }
        }
    }
}
