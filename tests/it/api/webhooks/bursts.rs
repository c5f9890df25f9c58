//! A burst of events: a healthy receiver gets each of them once, over few connections.

use std::collections::HashSet;
use std::time::Duration;

use futures::StreamExt as _;
use simulator::sink::{Sink, SinkMode};

use super::super::some_sku;
use super::{happen, register};
use crate::support::waiting::LONG;
use crate::support::{App, Db, until};

const ORDERS: usize = 500;
/// Default maximum number of concurrent deliveries to one endpoint.
const CONCURRENT: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_orders_arrives_once_each_over_few_connections() {
    // No delivery is sent again because the machine is busy.
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__DELIVERY_TIMEOUT_SECONDS", 300).start().await;
    let sku = some_sku(&app).await;
    let sink = Sink::start().await.unwrap();
    // A backlog forms, and events come while it is refilled.
    sink.set_mode(SinkMode::Slow(Duration::from_millis(30)));
    let endpoint = register(&app, &sink, &["order.created"]).await;
    futures::stream::iter(0..ORDERS)
        .for_each_concurrent(64, |_| async {
            happen(&app, &sku).await;
        })
        .await;
    sink.wait_until(|all| all.len() >= ORDERS, LONG).await.expect("all to arrive");
    until("all to be noted", || async {
        let path = format!("/api/webhooks/endpoints/{endpoint}/deliveries?state=delivered&limit=1");
        (app.get(&path).await.expect(200)["pagination"]["total"] == ORDERS).then_some(())
    })
    .await;
    let all = sink.received();
    let different: HashSet<&str> = all.iter().map(|one| one.header("webhook-id").unwrap()).collect();
    assert_eq!(different.len(), ORDERS);
    assert_eq!(all.len(), ORDERS, "some came twice");
    let connections: HashSet<u64> = all.iter().map(|one| one.connection).collect();
    assert!(connections.len() <= 2 * CONCURRENT, "{} connections for {ORDERS} deliveries", connections.len());
}
