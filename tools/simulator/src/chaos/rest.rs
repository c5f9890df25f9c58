//! The idle shop: every order has reached its final state, every bed is clear, and nothing is in progress.

use std::time::Duration;

use serde_json::{Value, json};
use simulator::processor::SimPaymentProcessor;
use tokio::time::sleep;

use crate::client::{ApiFault, ChaosClient};
use crate::customers::ChaosSale;
use crate::json::{items, text};
use crate::staff::waits_for_bed;

/// Interval between two checks.
const LOOK_PAUSE: Duration = Duration::from_millis(300);

/// Waits until the shop is idle. Fails with what is still in progress if that takes too long.
pub async fn until_at_rest(
    api: &ChaosClient,
    processor: &SimPaymentProcessor,
    sales: &[ChaosSale],
    material: &str,
) -> Result<(), ApiFault> {
    let mut open: Vec<&ChaosSale> = sales.iter().collect();
    loop {
        let mut reason = None;
        while let Some(sale) = open.last() {
            reason = restless_order(api, sale).await?;
            if reason.is_some() {
                break;
            }
            open.pop();
        }
        if reason.is_none() {
            reason = restless_shop(api, processor, material).await?;
        }
        let Some(reason) = reason else {
            // Once more, because those that were looked at first may have gone on meanwhile.
            return confirm(api, sales).await;
        };
        if api.is_late() {
            return Err(ApiFault(reason));
        }
        sleep(LOOK_PAUSE).await;
    }
}

async fn confirm(api: &ChaosClient, sales: &[ChaosSale]) -> Result<(), ApiFault> {
    for sale in sales {
        if let Some(reason) = restless_order(api, sale).await? {
            return Err(ApiFault(format!("it was at rest and is not any more: {reason}")));
        }
    }
    Ok(())
}

/// Returns why an order has not reached its final state; `None` if it has.
async fn restless_order(api: &ChaosClient, sale: &ChaosSale) -> Result<Option<String>, ApiFault> {
    let order = api.get(&format!("/api/orders/{}", sale.order)).await?;
    let jobs = jobs_of(api, &sale.order).await?;
    let is_over = |job: &Value| job["state"] == "COMPLETED" || job["state"] == "CANCELLED";
    let has_ended = text(&order, "status") == sale.plan.end_status();
    if has_ended && items(&order, "pendingRefunds").is_empty() && jobs.iter().all(is_over) {
        return Ok(None);
    }
    let open: Vec<&Value> = jobs.iter().filter(|job| !is_over(job)).collect();
    Ok(Some(format!("{:?} has not ended: {}", sale.plan, json!({"order": order, "openJobs": open}))))
}

/// Returns why the rest of the shop is not idle; `None` if it is.
async fn restless_shop(
    api: &ChaosClient,
    processor: &SimPaymentProcessor,
    material: &str,
) -> Result<Option<String>, ApiFault> {
    let (waiting, _, given_up) = processor.event_counts();
    if waiting + given_up > 0 {
        return Ok(Some(format!("{waiting} payment events are on their way, {given_up} were never accepted")));
    }
    let printers = api.get("/api/printers?limit=100").await?;
    let is_busy = |printer: &&Value| !printer["jobId"].is_null() || waits_for_bed(printer);
    if let Some(busy) = items(&printers, "printers").iter().find(is_busy) {
        return Ok(Some(format!("a printer is busy: {busy}")));
    }
    let stock = api.get(&format!("/api/inventory/materials/{material}")).await?;
    Ok((stock["reserved"] != 0).then(|| format!("material is reserved: {stock}")))
}

/// Returns all jobs of an order.
pub async fn jobs_of(api: &ChaosClient, order: &str) -> Result<Vec<Value>, ApiFault> {
    let jobs = api.get(&format!("/api/jobs?orderId={order}&limit=200")).await?;
    Ok(items(&jobs, "jobs").to_vec())
}
