//! Simulated staff who inspect finished parts. Now and then, a part is signed off as bad and automatically reprinted.

use std::sync::Arc;
use std::time::Duration;

use api_requests::HttpApi;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::clerk::done;
use super::screen::{LineTone, Screen};
use super::setup::{Names, id, text};
use super::tally::{Tally, count};
use crate::error::DemoError;

/// Time before the first inspection.
const FIRST_LOOK_AFTER: Duration = Duration::from_secs(20);
/// Time between bad parts.
const BAD_PART_INTERVAL: Duration = Duration::from_secs(40);
/// Polling interval while waiting for a state.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum time to wait for a bad part to be reprinted; after that, the outcome is not reported.
const REPRINT_TIMEOUT: Duration = Duration::from_secs(600);
/// Reasons for rejecting parts, used in turn; they are values of the setting `quality.reasons`.
const REASONS: [&str; 3] = ["stringing", "warping", "layer_shift"];

/// Simulated staff who inspect parts.
pub struct Inspector {
    api: HttpApi,
    names: Names,
    screen: Screen,
    tally: Arc<Tally>,
}

impl Inspector {
    /// Builds an inspector who has not inspected anything yet.
    pub fn new(api: HttpApi, names: Names, screen: Screen, tally: Arc<Tally>) -> Self {
        Self { api, names, screen, tally }
    }

    /// Rejects one part after another; returns only on an error.
    pub async fn work(self) -> DemoError {
        sleep(FIRST_LOOK_AFTER).await;
        for reason in REASONS.iter().cycle() {
            match self.reject(reason).await {
                Ok(()) => sleep(BAD_PART_INTERVAL).await,
                Err(error) => return error,
            }
        }
        DemoError::Failed("no rejection reasons are defined".to_owned())
    }

    async fn reject(&self, reason: &str) -> Result<(), DemoError> {
        let job = loop {
            match self.finished().await? {
                Some(job) => break job,
                None => sleep(LOOK_INTERVAL).await,
            }
        };
        let (job_id, order) = (id(&job)?, text(&job, "orderId")?);
        let inspection = json!({"goodCount": 0, "reason": reason, "note": "rejected by the demo's staff"});
        if !done(self.api.post(&format!("/api/jobs/{job_id}/sign-off"), &inspection).await)? {
            return Ok(());
        }
        let Some(again) = self.job_until(&order, |job| job["reprint"] == true).await? else { return Ok(()) };
        count(&self.tally.rejected);
        let name = |of: &Value| of.as_str().unwrap_or_default().to_owned();
        let (number, order_number, again_number) =
            (name(&job["number"]), name(&job["orderNumber"]), name(&again["number"]));
        let sku = name(&job["skuId"]);
        let part = self.names.parts.get(&sku).cloned().unwrap_or(sku);
        let word = reason.replace('_', " ");
        self.screen.line(
            LineTone::Bad,
            &format!("BAD PART  {number} ({part}) is printed, but staff sign it off as bad: {word}"),
        )?;
        let words =
            format!("          {order_number} still needs the part and reprints it automatically: {again_number}");
        self.screen.line(LineTone::Plain, &words)?;
        let again = id(&again)?;
        let good = |job: &Value| job["id"] == again.as_str() && job["state"] == "COMPLETED";
        if self.job_until(&order, good).await?.is_some() {
            let words =
                format!("MADE GOOD {again_number} is printed and good: it replaces the bad part of {order_number}");
            self.screen.line(LineTone::Good, &words)?;
        }
        Ok(())
    }

    /// Returns a job of an unfinished order whose print has just ended and has not been signed off.
    async fn finished(&self) -> Result<Option<Value>, DemoError> {
        let mut page = self.api.get("/api/jobs?state=COMPLETED&limit=20").await?;
        for job in page["jobs"].as_array_mut().map(std::mem::take).unwrap_or_default() {
            if job["reprint"] == true {
                continue;
            }
            let order = self.api.get(&format!("/api/orders/{}", text(&job, "orderId")?)).await?;
            let jobs = order["lines"].as_array().into_iter().flatten();
            let left =
                jobs.filter_map(|line| Some(line["jobs"]["total"].as_u64()? - line["jobs"]["completed"].as_u64()?));
            // Where other parts are still made, the order is not shipped in between.
            if order["status"] == "printing" && left.sum::<u64>() > 0 {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }

    /// Waits until one of the order's jobs satisfies `so`, and returns that job; `None` on timeout.
    async fn job_until(&self, order: &str, so: impl Fn(&Value) -> bool) -> Result<Option<Value>, DemoError> {
        let end = Instant::now() + REPRINT_TIMEOUT;
        while Instant::now() < end {
            let page = self.api.get(&format!("/api/jobs?orderId={order}&limit=200")).await?;
            if let Some(job) = page["jobs"].as_array().into_iter().flatten().find(|job| so(job)) {
                return Ok(Some(job.clone()));
            }
            sleep(LOOK_INTERVAL).await;
        }
        Ok(None)
    }
}
