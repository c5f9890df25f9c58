//! Operations that need no credentials: they succeed for every caller, whatever credentials are sent.

use serde_json::json;
use simulator::payments::signature;

use super::super::intake::{form, send};
use super::super::{link, verify};
use super::for_anybody;
use crate::support::app::PAYMENT_SECRET;
use crate::support::contract::BILLING;
use crate::support::{App, Client};
use crate::whole::unix_now;

/// Calls each operation that needs no credentials as each caller, with a valid request; `real` inserts IDs of existing
/// resources into a path. The shop's rate limits must be high enough.
pub(super) async fn everybody_gets_it(app: &App, callers: &[(&str, &Client)], real: impl Fn(&str) -> String) {
    let mut count = 0;
    for route in BILLING.served.iter().filter(|route| for_anybody(route.method.as_str(), route.path)) {
        let path = real(route.path);
        for (n, (name, client)) in callers.iter().enumerate() {
            let (expected, answer) = match (route.method.as_str(), route.path) {
                ("POST", "/api/v1/custom-builds/intakes") => (201, send(client, form()).await),
                ("POST", "/api/v1/auth/magic-link") => {
                    (200, client.post(&path, &json!({"email": format!("reader{n}@example.org")})).await)
                }
                ("GET", "/api/v1/auth/verify") => {
                    let mailed = link(app, json!({"email": format!("buyer{n}@example.org")})).await;
                    (302, client.get(&verify(&mailed)).await)
                }
                ("POST", "/api/v1/webhooks/payments") => {
                    let body = json!({"id": format!("evt_{n}"), "type": "ping", "data": {"object": {}}}).to_string();
                    let signed = signature(PAYMENT_SECRET, unix_now(), body.as_bytes());
                    let event = client.request("POST", &path).header("Stripe-Signature", signed);
                    let event = event.header("content-type", "application/json").body(body);
                    (200, client.send(event).await)
                }
                ("POST", _) => (200, client.post(&path, &json!({})).await),
                (method, _) => (200, client.send(client.request(method, &path)).await),
            };
            assert_eq!(answer.status, expected, "{} {path} by {name}: {}", route.method, answer.text);
            count += 1;
        }
    }
    assert!(count >= callers.len() * super::FOR_ANYBODY.len(), "{count}");
}
