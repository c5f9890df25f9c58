//! Tells one line per event of the shop, for people to read along.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::screen::{Screen, Tone};
use super::setup::Names;
use super::tally::{Tally, count};
use crate::cli::CliError;
use crate::cli::api::Api;

/// Largest number of job numbers that are cached.
const MAX_CACHED_JOBS: usize = 10_000;
/// Events that are not printed because they would only fill the screen.
const QUIET: [&str; 5] = ["job.created", "job.validated", "job.sliced", "job.dispatching", "LOW_STOCK"];

/// Tells and counts events.
pub struct Story {
    api: Api,
    names: Names,
    screen: Screen,
    tally: Arc<Tally>,
    /// Numbers of jobs and orders by their ids.
    numbers: HashMap<String, String>,
}

impl Story {
    /// A story without events.
    pub fn new(api: Api, names: Names, screen: Screen, tally: Arc<Tally>) -> Self {
        Self { api, names, screen, tally, numbers: HashMap::new() }
    }

    /// Counts an event, and shows it unless it is a quiet one.
    pub async fn tell(&mut self, event: &Value) -> Result<(), CliError> {
        let name = event["event"].as_str().unwrap_or_default();
        match name {
            "order.paid" => count(&self.tally.paid),
            "order.shipped" => count(&self.tally.shipped),
            "job.completed" => count(&self.tally.printed),
            "job.failed" => count(&self.tally.failed),
            _ => {}
        }
        if name.is_empty() || QUIET.contains(&name) {
            return Ok(());
        }
        let job = match event["data"]["jobId"].as_str() {
            Some(id) => Some(self.job(id).await),
            None => None,
        };
        self.screen.line(tone(name), &line(event, job.as_deref(), &self.names))
    }

    /// The number of a job and of its order.
    async fn job(&mut self, id: &str) -> String {
        if let Some(known) = self.numbers.get(id) {
            return known.clone();
        }
        let Ok(job) = self.api.get(&format!("/api/jobs/{id}")).await else { return id.to_owned() };
        let text = |name: &str| job[name].as_str().unwrap_or_default().to_owned();
        let number = format!("{} of {}", text("number"), text("orderNumber"));
        if self.numbers.len() >= MAX_CACHED_JOBS {
            self.numbers.clear();
        }
        self.numbers.insert(id.to_owned(), number.clone());
        number
    }
}

/// How an event is shown among others.
fn tone(event: &str) -> Tone {
    match event {
        "order.created" | "order.shipped" => Tone::Plain,
        "job.failed" | "printer.offline" | "inventory.low" | "order.flagged" | "order.payment_failed" => Tone::Bad,
        _ => Tone::Quiet,
    }
}

/// The line of an event: time, name, subject, details.
fn line(event: &Value, job: Option<&str>, names: &Names) -> String {
    let data = &event["data"];
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    let known = |names: &std::collections::BTreeMap<String, String>, id: &str| {
        names.get(id).cloned().unwrap_or_else(|| id.to_owned())
    };
    let time = event["timestamp"].as_str().and_then(|at| at.get(11..19)).unwrap_or_default();
    let name = event["event"].as_str().unwrap_or_default();
    let (about, more) = match name.split('.').next().unwrap_or_default() {
        "order" => (text("number").to_owned(), order_words(name, data)),
        "job" => {
            let part = known(&names.parts, text("skuId"));
            let printer = match text("printerId") {
                "" => String::new(),
                id => format!(" on {}", known(&names.printers, id)),
            };
            let error = match text("error") {
                "" => String::new(),
                words => format!(": {words}"),
            };
            (job.unwrap_or_default().to_owned(), format!("{part}{printer}{error}"))
        }
        "inventory" => (text("name").to_owned(), stock_words(data)),
        "printer" => (text("name").to_owned(), String::new()),
        _ => (event["subject"]["id"].as_str().unwrap_or_default().to_owned(), String::new()),
    };
    format!("{time}  {name:<16}  {about:<26}  {more}").trim_end().to_owned()
}

fn order_words(event: &str, data: &Value) -> String {
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    match event {
        "order.created" | "order.paid" => {
            let cents = data["totalCents"].as_i64().unwrap_or_default();
            let money = format!("{}.{:02} {}", cents / 100, cents % 100, text("currency").to_uppercase());
            format!("{money} from {}", text("customerEmail"))
        }
        "order.shipped" => format!("{} {} to {}", text("carrier"), text("trackingNumber"), text("customerEmail")),
        "order.flagged" => text("message").to_owned(),
        "order.payment_failed" => text("error").to_owned(),
        _ => String::new(),
    }
}

fn stock_words(data: &Value) -> String {
    let unit = data["unit"].as_str().unwrap_or_default();
    format!("{} {unit} free, below the reorder point of {} {unit}", data["available"], data["reorderPoint"])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn names() -> Names {
        let map = |id: &str, name: &str| Arc::new(BTreeMap::from([(id.to_owned(), name.to_owned())]));
        Names { printers: map("p1", "Ada"), parts: map("s1", "Cable clip"), on_sale: Arc::default() }
    }

    fn event(name: &str, data: Value) -> Value {
        json!({"event": name, "timestamp": "2026-11-21T08:09:10.123Z", "data": data})
    }

    #[test]
    fn lines_say_time_event_number_and_printer() {
        let job = event("job.printing", json!({"jobId": "j", "skuId": "s1", "printerId": "p1", "error": null}));
        let told = line(&job, Some("JOB-000007 of ORD-000003"), &names());
        assert_eq!(told, "08:09:10  job.printing      JOB-000007 of ORD-000003    Cable clip on Ada");
        let failed = event("job.failed", json!({"skuId": "s1", "printerId": "p2", "error": "thermal runaway"}));
        assert!(line(&failed, Some("J"), &names()).ends_with("Cable clip on p2: thermal runaway"));
    }

    #[test]
    fn orders_and_stock_say_what_matters() {
        let data =
            json!({"number": "ORD-000001", "totalCents": 1205, "currency": "usd", "customerEmail": "a@b.example"});
        assert!(
            line(&event("order.paid", data), None, &names())
                .ends_with("ORD-000001                  12.05 USD from a@b.example")
        );
        let low = json!({"name": "PLA", "available": 12.5, "reorderPoint": 150, "unit": "g"});
        assert!(
            line(&event("inventory.low", low), None, &names())
                .ends_with("12.5 g free, below the reorder point of 150 g")
        );
    }
}
