//! Outbound webhooks as a receiver and as the shop's admin see them.

mod backlog;
mod bursts;
mod endpoints;
mod lasting;
mod retries;
mod secrets;

use serde_json::{Value, json};
use simulator::sink::{ReceivedRequest, Sink};

use super::id;
use crate::support::waiting::LONG;
use crate::support::{App, until};

/// Five retries, at once: the shop's schedule in small.
pub const QUICK: &str = "0.1,0.1,0.1,0.1,0.1";
/// A first retry that no test lives to see.
pub const SLOW: &str = "600";
/// The secret of endpoints that tests register.
pub const SECRET: &str = "a-secret-of-the-test-0123456789";

/// Registers a sink for these events; gives the endpoint's id.
pub async fn register(app: &App, sink: &Sink, events: &[&str]) -> String {
    let body = json!({"url": sink.url(), "events": events, "secret": SECRET});
    id(&app.post("/api/webhooks/endpoints", &body).await.expect(201))
}

/// Triggers `order.created` by placing an order; returns its id.
pub async fn happen(app: &App, sku: &str) -> String {
    id(&app.post("/api/orders", &super::one_of(sku)).await.expect(201))
}

/// Waits until so many requests came; gives them.
pub async fn got(sink: &Sink, requests: usize) -> Vec<ReceivedRequest> {
    sink.wait_until(|all| all.len() >= requests, LONG).await.expect("the requests to come")
}

/// Returns the delivery log of an endpoint, newest first.
pub async fn log(app: &App, endpoint: &str) -> Vec<Value> {
    let list = app.get(&format!("/api/webhooks/endpoints/{endpoint}/deliveries?limit=200")).await.expect(200);
    list["deliveries"].as_array().unwrap().clone()
}

/// Waits until the newest delivery is in this state; gives it.
pub async fn newest_is(app: &App, endpoint: &str, state: &str) -> Value {
    until(&format!("the delivery to be {state}"), || async {
        log(app, endpoint).await.into_iter().next().filter(|newest| newest["state"] == state)
    })
    .await
}

/// Waits until the endpoint is in this state.
pub async fn endpoint_is(app: &App, endpoint: &str, state: &str) -> Value {
    until(&format!("the endpoint to be {state}"), || async {
        let body = app.get(&format!("/api/webhooks/endpoints/{endpoint}")).await.expect(200);
        (body["state"] == state).then_some(body)
    })
    .await
}
