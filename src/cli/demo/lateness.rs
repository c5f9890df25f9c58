//! An order that becomes late: staff pauses its print until its promise has passed. The forecast says so before the
//! customer does.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::clerk::done;
use super::mishaps::Machine;
use super::screen::{Screen, Tone};
use super::setup::{id, text};
use crate::cli::CliError;
use crate::cli::api::Api;
use crate::domain::time::Timestamp;

/// Time before the first late order.
const FIRST_ORDER_AFTER: Duration = Duration::from_secs(30);
/// Time between two late orders: most promises are kept.
const LATE_ORDER_INTERVAL: Duration = Duration::from_secs(120);
/// Interval between two looks at what is waited for.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Longest time until a promise passes that people can be asked to wait for, in milliseconds.
const MAX_WAIT_MS: i64 = 40_000;
/// How much longer than that a print is paused, so that nothing catches up.
const LATE_MARGIN: Duration = Duration::from_secs(2);

/// Makes orders late, one at a time.
pub struct Lateness {
    api: Api,
    machines: Vec<Machine>,
    screen: Screen,
}

impl Lateness {
    /// On these printers; nothing is late yet.
    pub fn new(api: Api, machines: Vec<Machine>, screen: Screen) -> Self {
        Self { api, machines, screen }
    }

    /// Makes one order late after the other; returns only on an error.
    pub async fn happen(self) -> CliError {
        sleep(FIRST_ORDER_AFTER).await;
        loop {
            if let Err(error) = self.delay().await {
                return error;
            }
            sleep(LATE_ORDER_INTERVAL).await;
        }
    }

    async fn delay(&self) -> Result<(), CliError> {
        let (machine, job, order, promised) = loop {
            match self.find().await? {
                Some(found) => break found,
                None => sleep(LOOK_INTERVAL).await,
            }
        };
        let (job_id, number, order_number) = (id(&job)?, text(&job, "number")?, text(&order, "number")?);
        let paused = done(self.api.post(&format!("/api/jobs/{job_id}/pause"), &json!({})).await)?;
        if paused {
            let words = format!(
                "LATE      staff pauses {number} on {}: its spool is tangled. {order_number} was promised for {}",
                machine.name,
                time_of(&order["promisedAt"]),
            );
            self.screen.line(Tone::Bad, &words)?;
            self.wait(&order, promised).await?;
            done(self.api.post(&format!("/api/jobs/{job_id}/resume"), &json!({})).await)?;
            self.screen.line(Tone::Plain, &format!("          the spool is free: {number} prints on"))?;
        }
        machine.release();
        Ok(())
    }

    /// Waits until the promise has passed, and tells when the forecast says that it will.
    async fn wait(&self, order: &Value, promised: Timestamp) -> Result<(), CliError> {
        let end = Instant::now() + Duration::from_millis(MAX_WAIT_MS.unsigned_abs()) + LATE_MARGIN;
        let mut told = false;
        while Instant::now() < end {
            let forecast = self.api.get("/api/forecast").await?;
            let late = forecast["late"].as_array().into_iter().flatten().find(|late| late["id"] == order["id"]);
            if let Some(late) = late.filter(|_| !told) {
                told = true;
                let words = format!(
                    "          the forecast says it before the customer does: {} is expected at {}, after its promise",
                    order["number"].as_str().unwrap_or_default(),
                    time_of(&late["expectedAt"]),
                );
                self.screen.line(Tone::Plain, &words)?;
            }
            let passed =
                forecast["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok()).is_some_and(|at| at > promised);
            if told && passed {
                break;
            }
            sleep(LOOK_INTERVAL).await;
        }
        sleep(LATE_MARGIN).await;
        Ok(())
    }

    /// A print that goes on, of an order whose promise passes soon; its printer is nobody else's from now on.
    async fn find(&self) -> Result<Option<(&Machine, Value, Value, Timestamp)>, CliError> {
        let mut page = self.api.get("/api/jobs?state=PRINTING&limit=50").await?;
        let now = self.api.get("/api/forecast").await?["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        let Some(now) = now else { return Ok(None) };
        for job in page["jobs"].as_array_mut().map(std::mem::take).unwrap_or_default() {
            let order = self.api.get(&format!("/api/orders/{}", text(&job, "orderId")?)).await?;
            let Some(promised) = order["promisedAt"].as_str().and_then(|at| at.parse::<Timestamp>().ok()) else {
                continue;
            };
            let soon = (0..MAX_WAIT_MS).contains(&promised.since(now));
            let of_it = |machine: &&Machine| job["printerId"] == machine.id.as_str();
            if soon && let Some(machine) = self.machines.iter().find(of_it).filter(|machine| machine.take()) {
                return Ok(Some((machine, job, order, promised)));
            }
        }
        Ok(None)
    }
}

/// The time of day of a moment: `14:05:20`.
fn time_of(moment: &Value) -> &str {
    moment.as_str().and_then(|at| at.get(11..19)).unwrap_or("no time that anybody can tell")
}
