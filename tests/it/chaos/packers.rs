//! Packers: they send parts in several shipments, as soon as the parts are good.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};

use super::customers::{ask, read};
use crate::support::Client;

/// Acknowledged shipments of each order, in the order of shipping.
pub type Sent = BTreeMap<String, Vec<Value>>;

/// Codes of legitimate refusals: meanwhile a part was rejected, or the rest has been shipped.
const MAY_REFUSE: [&str; 3] = ["parts_not_there", "invalid_transition", "order_short"];

/// Ships the parts of these orders one at a time until `over` is set.
pub async fn pack(client: Client, orders: Arc<Mutex<Vec<String>>>, over: Arc<AtomicBool>, seed: u64) -> Sent {
    let (mut rng, mut sent, mut n) = (Rng::with_seed(seed), Sent::new(), 0);
    while !over.load(Relaxed) {
        tokio::time::sleep(Duration::from_millis(60)).await;
        let order = {
            let orders = orders.lock().unwrap();
            let Some(order) = rng.choice(orders.iter()) else { continue };
            order.clone()
        };
        let view = read(&client, &format!("/api/orders/{order}")).await;
        if view["status"] != "printing" && view["status"] != "ready" {
            continue;
        }
        let number = |line: &Value, member: &str| line[member].as_u64().unwrap();
        let lines = view["lines"].as_array().unwrap().iter().enumerate();
        let there: Vec<usize> = lines
            .filter(|(_, line)| number(line, "good").min(number(line, "quantity")) > number(line, "shipped"))
            .map(|(at, _)| at)
            .collect();
        let Some(line) = rng.choice(there.iter()) else { continue };
        n += 1;
        let some = json!({"carrier": "pickup", "lines": [{"line": line, "quantity": 1}]});
        match ask(&client, &format!("/api/orders/{order}/ship"), &format!("ship-{n}"), &some).await {
            Ok(view) => {
                let shipment = view["shipments"].as_array().unwrap().last().unwrap().clone();
                sent.entry(order).or_default().push(shipment);
            }
            Err(code) => assert!(MAY_REFUSE.contains(&code.as_str()), "{code}: {view}"),
        }
    }
    sent
}
