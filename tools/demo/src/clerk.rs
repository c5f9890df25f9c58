//! Simulated staff: they ship finished orders, restock material that is low, clear beds after failed prints, and retry
//! failed jobs.
//!
//! They act on the current state rather than on events, so a demo that was stopped continues where it left off. If the
//! server rejects an action because the state has changed in the meantime, the action is reconsidered in the next
//! round.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api_requests::{HttpApi, RequestError};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::setup::id;
use super::tally::{Tally, count};
use crate::error::DemoError;
use crate::time::{DemoClock, ms_between};

/// Simulated time between the shipping and the delivery of a parcel.
const DELIVERY_TIME: Duration = Duration::from_hours(72);
/// Interval between the staff's rounds.
const ROUND_INTERVAL: Duration = Duration::from_secs(1);
/// Time for which a material stays low before it is restocked, in milliseconds; long enough to see jobs on hold.
const RESTOCK_MS: i64 = 12_000;
/// Time between a failed print and staff reaching the printer, in milliseconds.
const WALK_MS: i64 = 4_000;
/// Time between a failed print and its retry, in milliseconds.
const RETRY_DELAY_MS: i64 = 3_000;
/// Time, in milliseconds, for which a start remains unverified before staff resolve it. It is longer than printers in
/// the demo are offline, so that most printers report the outcome themselves.
const DOUBT_MS: i64 = 25_000;
const CARRIERS: [&str; 3] = ["DHL", "UPS", "Post"];

/// Simulated staff on the shop floor.
pub struct DemoClerk {
    api: HttpApi,
    clock: DemoClock,
    tally: Arc<Tally>,
    /// Times at which the condition for a restock, a walk to a printer or a retry began to hold, by key.
    since: BTreeMap<String, Timestamp>,
    parcels: usize,
}

impl DemoClerk {
    /// Builds staff who have not done anything yet.
    pub fn new(api: HttpApi, clock: DemoClock, tally: Arc<Tally>) -> Self {
        Self { api, clock, tally, since: BTreeMap::new(), parcels: 0 }
    }

    /// Works in rounds; returns only on an error.
    pub async fn work(mut self) -> DemoError {
        loop {
            if let Err(error) = self.round().await {
                return error;
            }
            sleep(ROUND_INTERVAL).await;
        }
    }

    async fn round(&mut self) -> Result<(), DemoError> {
        for order in self.orders("ready").await? {
            self.ship(&order).await?;
        }
        self.restock().await?;
        self.tend_printers().await?;
        self.resolve().await?;
        self.retry().await
    }

    async fn orders(&self, status: &str) -> Result<Vec<Value>, DemoError> {
        let mut page = self.api.get(&format!("/api/orders?status={status}")).await?;
        Ok(page["orders"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    async fn ship(&mut self, order: &Value) -> Result<(), DemoError> {
        let carrier = CARRIERS[self.parcels % CARRIERS.len()];
        self.parcels += 1;
        let delivery = ((self.clock)() + DELIVERY_TIME).to_string();
        let parcel = json!({
            "carrier": carrier,
            "trackingNumber": format!("DEMO{:08}", order["number"].as_str().map(digits).unwrap_or_default()),
            "estimatedDelivery": delivery.get(..10),
        });
        done(self.api.post(&format!("/api/orders/{}/ship", id(order)?), &parcel).await).map(drop)
    }

    /// Restocks material that has been low for a while.
    async fn restock(&mut self) -> Result<(), DemoError> {
        for material in self.api.list::<Value>("/api/inventory/materials", "materials").await? {
            let amount = |name: &str| material[name].as_f64().unwrap_or_default();
            let id = id(&material)?;
            let low = amount("available") < amount("reorderPoint") || amount("quantity") < amount("reorderPoint");
            if !self.due(&id, low, RESTOCK_MS) {
                continue;
            }
            let restock = json!({"delta": material["reorderQuantity"], "reason": "restock"});
            if done(self.api.post(&format!("/api/inventory/materials/{id}/adjustments"), &restock).await)? {
                count(&self.tally.restocked);
            }
        }
        Ok(())
    }

    /// Attends to printers that need an operator: inspects them after a fault, clears the bed, homes the axes.
    async fn tend_printers(&mut self) -> Result<(), DemoError> {
        for printer in self.api.list::<Value>("/api/printers", "printers").await? {
            let id = id(&printer)?;
            let asks =
                |what: &str| printer["status"]["attention"].as_array().is_some_and(|all| all.contains(&json!(what)));
            let (bed, home) = (asks("bed_not_cleared") || asks("print_failed"), asks("needs_home"));
            let fault = asks("firmware_error") || asks("start_refused");
            if !self.due(&format!("printer {id}"), bed || home || fault, WALK_MS) {
                continue;
            }
            if fault {
                done(self.api.post(&format!("/api/printers/{id}/clear-attention"), &json!({})).await)?;
            }
            if bed {
                done(self.api.post(&format!("/api/printers/{id}/bed-cleared"), &json!({})).await)?;
            }
            if home {
                done(self.api.post(&format!("/api/printers/{id}/home"), &json!({})).await)?;
            }
        }
        Ok(())
    }

    /// Resolves print starts and prints whose outcome has been unknown for a while, and discards whatever is on the
    /// bed.
    async fn resolve(&mut self) -> Result<(), DemoError> {
        let mut jobs = Vec::new();
        for state in ["DISPATCHING", "PRINTING"] {
            let mut page = self.api.get(&format!("/api/jobs?state={state}")).await?;
            jobs.extend(page["jobs"].as_array_mut().map(std::mem::take).unwrap_or_default());
        }
        for job in jobs {
            let id = id(&job)?;
            let last = job["attempts"].as_array().and_then(|attempts| attempts.last());
            let doubted = last.is_some_and(|attempt| attempt["unverified"] == true);
            if self.due(&format!("doubt {id}"), doubted, DOUBT_MS) {
                done(self.api.post(&format!("/api/jobs/{id}/resolve"), &json!({"outcome": "failed"})).await)?;
            }
        }
        Ok(())
    }

    /// Retries jobs whose print failed.
    async fn retry(&mut self) -> Result<(), DemoError> {
        let mut page = self.api.get("/api/jobs?state=FAILED").await?;
        for job in page["jobs"].as_array_mut().map(std::mem::take).unwrap_or_default() {
            let id = id(&job)?;
            if self.due(&id, true, RETRY_DELAY_MS) {
                done(self.api.post(&format!("/api/jobs/{id}/retry"), &json!({})).await)?;
            }
        }
        Ok(())
    }

    /// Returns whether a condition has held for `ms` milliseconds; if so, restarts its timer.
    fn due(&mut self, what: &str, so: bool, ms: i64) -> bool {
        if !so {
            self.since.remove(what);
            return false;
        }
        let now = (self.clock)();
        let since = *self.since.entry(what.to_owned()).or_insert(now);
        let due = ms_between(since, now) >= ms;
        if due {
            self.since.remove(what);
        }
        due
    }
}

/// Returns whether the server executed the request. A rejection is not an error, because the state may have changed
/// since it was read.
pub fn done(result: Result<Value, RequestError>) -> Result<bool, DemoError> {
    match result {
        Ok(_) => Ok(true),
        Err(RequestError::Refused { status: 404 | 409 | 412 | 502 | 503 | 504, .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the numeric part of a number such as `ORD-000123`.
pub fn digits(text: &str) -> u64 {
    text.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

    use super::*;
    use crate::client::over_tcp;

    #[test]
    fn a_delay_counts_from_when_it_became_so() {
        crate::install_tls_provider();
        let now = Arc::new(AtomicI64::new(0));
        let clock: DemoClock = {
            let now = now.clone();
            Arc::new(move || Timestamp::from_millisecond(now.load(Relaxed)).unwrap())
        };
        let api = over_tcp("http://localhost", "key").unwrap();
        let mut clerk = DemoClerk::new(api, clock, Arc::default());
        assert!(!clerk.due("m", true, 100));
        now.store(50, Relaxed);
        assert!(!clerk.due("m", false, 100), "it was well in between");
        assert!(!clerk.due("m", true, 100));
        now.store(149, Relaxed);
        assert!(!clerk.due("m", true, 100));
        now.store(150, Relaxed);
        assert!(clerk.due("m", true, 100));
        assert!(!clerk.due("m", true, 100), "the next time begins anew");
    }

    #[test]
    fn digits_of_a_number() {
        assert_eq!(digits("ORD-000123"), 123);
    }
}
