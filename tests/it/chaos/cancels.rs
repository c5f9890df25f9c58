//! Cancellations that wait for a printer whose network is cut. Meanwhile the print finishes, and someone starts their
//! own print there, which no cancellation may touch.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::customers::{insist, read};
use super::hall::{Hall, Machine, SPEED, list};
use crate::support::{Client, until};

/// Simulation speed at which a print is still running when its printer is disconnected.
const HOLD: f64 = 1.0;
/// Simulation speed at which a print finishes while its printer is disconnected.
const HURRY: f64 = 20_000.0;

/// Cancels these orders, each while one of its parts is printing on a disconnected printer. Returns the number of
/// cancelled orders.
pub async fn behind_cuts(client: Client, hall: Arc<Hall>, mut orders: UnboundedReceiver<String>) -> usize {
    let mut cut_off = 0;
    while let Some(order) = orders.recv().await {
        let jobs = read(&client, &format!("/api/jobs?orderId={order}&limit=200")).await["jobs"].clone();
        let number = |job: &Value| job["number"].as_str().unwrap().to_owned();
        let ours: BTreeMap<String, Value> =
            jobs.as_array().unwrap().iter().map(|job| (number(job), job["id"].clone())).collect();
        let at = until("a part of an urgent order to be printed", || async {
            let prints = |machine: &Machine| {
                let file = machine.sim.handle.with(|machine| machine.job().map(|job| job.filename.clone()))?;
                ours.iter().find(|(number, _)| file.starts_with(*number)).map(|(_, job)| job.clone())
            };
            if let Some(at) = hall.machines.iter().enumerate().find_map(|(n, one)| Some((n, prints(one)?))) {
                return Some(Some(at));
            }
            let jobs = list(&client, &format!("/api/jobs?orderId={order}&limit=200"), "jobs").await;
            (!jobs.is_empty() && jobs.iter().all(|job| job["state"] == "COMPLETED")).then_some(None)
        })
        .await;
        let (path, key) = (format!("/api/orders/{order}/cancel"), format!("cut-off-{order}"));
        let Some((n, job)) = at else {
            // It was made while nobody could look.
            insist(&client, &path, &key, &json!({})).await;
            continue;
        };
        let machine = &hall.machines[n];
        machine.sim.handle.set_speed(HOLD);
        until("the server to see the print", || async {
            let job = read(&client, &format!("/api/jobs/{}", job.as_str().unwrap())).await;
            (job["state"] == "PRINTING" || job["state"] == "COMPLETED").then_some(())
        })
        .await;
        let sim = &machine.sim.handle;
        let cut = machine.network.lock().await;
        sim.update_faults(|faults| faults.disconnect = true);
        insist(&client, &path, &key, &json!({})).await;
        sim.set_speed(HURRY);
        until("the print behind the cut to be over", || async {
            sim.with(|machine| machine.job().is_none()).then_some(())
        })
        .await;
        if machine.remembers {
            hall.own_print(n, &format!("vase-{order}.gcode"), 240);
        }
        sim.set_speed(SPEED);
        sim.update_faults(|faults| faults.disconnect = false);
        drop(cut);
        cut_off += 1;
    }
    cut_off
}
