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

/// Retry schedule with five retries almost at once, in seconds.
pub const QUICK: &str = "0.1,0.1,0.1,0.1,0.1";
/// Retry schedule, in seconds, whose first retry comes after the end of the test.
pub const SLOW: &str = "600";
/// The secret of endpoints that tests register.
pub const SECRET: &str = "a-secret-of-the-test-0123456789";

/// Registers an endpoint for these events that delivers to the sink; returns the endpoint's ID.
pub async fn register(app: &App, sink: &Sink, events: &[&str]) -> String {
    let body = json!({"url": sink.url(), "events": events, "secret": SECRET});
    id(&app.post("/api/webhooks/endpoints", &body).await.expect(201))
}

/// Triggers `order.created` by placing an order; returns the order's ID.
pub async fn happen(app: &App, sku: &str) -> String {
    id(&app.post("/api/orders", &super::one_of(sku)).await.expect(201))
}

/// Waits until the sink has received this many requests; returns all of them.
pub async fn got(sink: &Sink, requests: usize) -> Vec<ReceivedRequest> {
    sink.wait_until(|all| all.len() >= requests, LONG).await.expect("the requests to come")
}

/// Returns the delivery log of an endpoint, newest first.
pub async fn log(app: &App, endpoint: &str) -> Vec<Value> {
    let list = app.get(&format!("/api/webhooks/endpoints/{endpoint}/deliveries?limit=200")).await.expect(200);
    list["deliveries"].as_array().unwrap().clone()
}

/// Waits until the newest delivery is in this state; returns the delivery.
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
