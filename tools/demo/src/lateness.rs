//! Simulation of orders that become late: staff pause a print until the promised time of its order has passed. The
//! forecast predicts the delay before the customer notices.

use std::time::Duration;

use api_requests::HttpApi;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::clerk::done;
use super::mishaps::DemoPrinter;
use super::screen::{LineTone, Screen};
use super::setup::{id, text};
use crate::error::DemoError;
use crate::time::ms_between;

/// Time before the first late order.
const FIRST_ORDER_AFTER: Duration = Duration::from_secs(30);
/// Time between late orders; it is long, so that most promised times are met.
const LATE_ORDER_INTERVAL: Duration = Duration::from_secs(120);
/// Polling interval while waiting for a state.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum time, in milliseconds, until the promised time of an order that is made late, so that viewers of the demo do
/// not have to wait longer.
const MAX_WAIT_MS: i64 = 40_000;
/// Additional time for which the print remains paused after the promised time, so that it cannot catch up.
const LATE_MARGIN: Duration = Duration::from_secs(2);

/// Simulation that makes orders late, one at a time.
pub struct Lateness {
    api: HttpApi,
    machines: Vec<DemoPrinter>,
    screen: Screen,
}

impl Lateness {
    /// Builds a simulation for the given printers; no order is late yet.
    pub fn new(api: HttpApi, machines: Vec<DemoPrinter>, screen: Screen) -> Self {
        Self { api, machines, screen }
    }

    /// Makes one order after another late; returns only on an error.
    pub async fn happen(self) -> DemoError {
        sleep(FIRST_ORDER_AFTER).await;
        loop {
            if let Err(error) = self.delay().await {
                return error;
            }
            sleep(LATE_ORDER_INTERVAL).await;
        }
    }

    async fn delay(&self) -> Result<(), DemoError> {
        let (machine, job, order, promised) = loop {
            match self.find().await? {
                Some(candidate) => break candidate,
                None => sleep(LOOK_INTERVAL).await,
            }
        };
        let (job_id, number, order_number) = (id(&job)?, text(&job, "number")?, text(&order, "number")?);
        let paused = done(self.api.post(&format!("/api/jobs/{job_id}/pause"), &json!({})).await)?;
        if paused {
            let words = format!(
                "LATE      staff pause {number} on {} because its spool is tangled; {order_number} is promised for {}",
                machine.name,
                time_of(&order["promisedAt"]),
            );
            self.screen.line(LineTone::Bad, &words)?;
            self.wait(&order, promised).await?;
            done(self.api.post(&format!("/api/jobs/{job_id}/resume"), &json!({})).await)?;
            self.screen.line(LineTone::Plain, &format!("          the spool is untangled: {number} resumes"))?;
        }
        machine.release();
        Ok(())
    }

    /// Waits until the promised time has passed, and prints a line when the forecast predicts that it will be missed.
    async fn wait(&self, order: &Value, promised: Timestamp) -> Result<(), DemoError> {
        let end = Instant::now() + Duration::from_millis(MAX_WAIT_MS.unsigned_abs()) + LATE_MARGIN;
        let mut is_told = false;
        while Instant::now() < end {
            let forecast = self.api.get("/api/forecast").await?;
            let late = forecast["late"].as_array().into_iter().flatten().find(|late| late["id"] == order["id"]);
            if let Some(late) = late.filter(|_| !is_told) {
                is_told = true;
                let words = format!(
                    "          the forecast warns in advance: {} is expected at {}, later than promised",
                    order["number"].as_str().unwrap_or_default(),
                    time_of(&late["expectedAt"]),
                );
                self.screen.line(LineTone::Plain, &words)?;
            }
            let passed =
                forecast["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok()).is_some_and(|at| at > promised);
            if is_told && passed {
                break;
            }
            sleep(LOOK_INTERVAL).await;
        }
        sleep(LATE_MARGIN).await;
        Ok(())
    }

    /// Finds a running print for an order whose promised time will pass soon, and reserves the print's printer for
    /// exclusive use.
    async fn find(&self) -> Result<Option<(&DemoPrinter, Value, Value, Timestamp)>, DemoError> {
        let mut page = self.api.get("/api/jobs?state=PRINTING&limit=50").await?;
        let now = self.api.get("/api/forecast").await?["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        let Some(now) = now else { return Ok(None) };
        for job in page["jobs"].as_array_mut().map(std::mem::take).unwrap_or_default() {
            let order = self.api.get(&format!("/api/orders/{}", text(&job, "orderId")?)).await?;
            let Some(promised) = order["promisedAt"].as_str().and_then(|at| at.parse::<Timestamp>().ok()) else {
                continue;
            };
            let soon = (0..MAX_WAIT_MS).contains(&ms_between(now, promised));
            let of_it = |machine: &&DemoPrinter| job["printerId"] == machine.id.as_str();
            if soon && let Some(machine) = self.machines.iter().find(of_it).filter(|machine| machine.take()) {
                return Ok(Some((machine, job, order, promised)));
            }
        }
        Ok(None)
    }
}

/// Returns the time of day of a timestamp: `14:05:20`.
fn time_of(moment: &Value) -> &str {
    moment.as_str().and_then(|at| at.get(11..19)).unwrap_or("an unknown time")
}
