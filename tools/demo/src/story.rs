//! Demo narration: one line for each notable event in the shop.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use api_requests::HttpApi;
use jiff::Timestamp;
use serde_json::Value;

use super::screen::{LineTone, Screen};
use super::setup::Names;
use super::tally::{Tally, count};
use crate::error::DemoError;
use crate::time::ms_between;

/// Maximum number of cached job numbers, and of remembered orders whose promised time has been evaluated.
const MAX_CACHED_JOBS: usize = 10_000;
/// Events that are not printed because they would flood the screen.
const UNPRINTED_EVENTS: [&str; 5] = ["job.created", "job.validated", "job.sliced", "job.dispatching", "LOW_STOCK"];

/// Consumer of the shop's events, which prints and counts them.
pub struct DemoStory {
    api: HttpApi,
    names: Names,
    screen: Screen,
    tally: Arc<Tally>,
    /// Job and order numbers, by ID.
    numbers: HashMap<String, String>,
    /// Orders whose promised time has already been evaluated.
    judged: HashSet<String>,
}

impl DemoStory {
    /// Builds a story that has received no events yet.
    pub fn new(api: HttpApi, names: Names, screen: Screen, tally: Arc<Tally>) -> Self {
        Self { api, names, screen, tally, numbers: HashMap::new(), judged: HashSet::new() }
    }

    /// Counts an event, and prints it unless it is one of `UNPRINTED_EVENTS`.
    pub async fn tell(&mut self, event: &Value) -> Result<(), DemoError> {
        let name = event["event"].as_str().unwrap_or_default();
        match name {
            "order.paid" => count(&self.tally.paid),
            "order.shipped" => count(&self.tally.shipped),
            "job.completed" => count(&self.tally.printed),
            "job.failed" => count(&self.tally.failed),
            _ => {}
        }
        if name.is_empty() || UNPRINTED_EVENTS.contains(&name) {
            return Ok(());
        }
        let job = match event["data"]["jobId"].as_str() {
            Some(id) => Some(self.job(id).await),
            None => None,
        };
        self.screen.line(tone(name), &line(event, job.as_deref(), &self.names))?;
        match name {
            "order.created" => self.kit(event).await,
            "order.ready" => self.promise(event).await,
            _ => Ok(()),
        }
    }

    /// Prints the parts that make up a kit in an order.
    async fn kit(&self, event: &Value) -> Result<(), DemoError> {
        let Some(order) = self.order(event).await else { return Ok(()) };
        let words = kit_words(&order);
        words.map_or(Ok(()), |words| self.screen.line(LineTone::Plain, &words))
    }

    /// Prints whether an order is ready by its promised time, and counts each order once.
    async fn promise(&mut self, event: &Value) -> Result<(), DemoError> {
        let Some(order) = self.order(event).await else { return Ok(()) };
        let order_id = order["id"].as_str().unwrap_or_default().to_owned();
        let Some((is_kept, words)) = promise_words(&order, event["timestamp"].as_str().unwrap_or_default()) else {
            return Ok(());
        };
        if self.judged.len() >= MAX_CACHED_JOBS {
            self.judged.clear();
        }
        if !self.judged.insert(order_id) {
            return Ok(()); // It was ready before, until a part of it was made again.
        }
        count(if is_kept { &self.tally.promises_kept } else { &self.tally.missed });
        self.screen.line(if is_kept { LineTone::Good } else { LineTone::Bad }, &words)
    }

    /// Fetches the order that an event refers to; `None` if the server cannot respond at the moment.
    async fn order(&self, event: &Value) -> Option<Value> {
        self.api.get(&format!("/api/orders/{}", event["data"]["orderId"].as_str()?)).await.ok()
    }

    /// Returns a job's number together with its order's number.
    async fn job(&mut self, id: &str) -> String {
        if let Some(cached) = self.numbers.get(id) {
            return cached.clone();
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

/// Returns the tone in which to print an event.
fn tone(event: &str) -> LineTone {
    match event {
        "order.created" | "order.shipped" => LineTone::Plain,
        "job.failed" | "printer.offline" | "inventory.low" | "order.flagged" | "order.payment_failed" => LineTone::Bad,
        _ => LineTone::Quiet,
    }
}

/// Formats the line for an event: time, name, subject, details.
fn line(event: &Value, job: Option<&str>, names: &Names) -> String {
    let data = &event["data"];
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    let name_of = |names: &std::collections::BTreeMap<String, String>, id: &str| {
        names.get(id).cloned().unwrap_or_else(|| id.to_owned())
    };
    let time = event["timestamp"].as_str().and_then(|at| at.get(11..19)).unwrap_or_default();
    let name = event["event"].as_str().unwrap_or_default();
    let (about, more) = match name.split('.').next().unwrap_or_default() {
        "order" => (text("number").to_owned(), order_words(name, data)),
        "job" => {
            let part = name_of(&names.parts, text("skuId"));
            let printer = match text("printerId") {
                "" => String::new(),
                id => format!(" on {}", name_of(&names.printers, id)),
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

/// Describes the contents of a kit in an order. A kit is ordered and paid for as one article but made as parts.
fn kit_words(order: &Value) -> Option<String> {
    let lines = order["lines"].as_array()?;
    let at = lines.iter().find_map(|line| line["kitLine"].as_u64())?;
    let parts = lines.iter().filter(|line| line["kitLine"].as_u64() == Some(at));
    let parts: Vec<String> = parts
        .map(|line| format!("{} x {}", line["quantity"], line["description"].as_str().unwrap_or_default()))
        .collect();
    let (kit, number) = (lines.get(usize::try_from(at).ok()?)?, order["number"].as_str()?);
    let name = kit["description"].as_str()?;
    Some(format!(
        "KIT       {number} contains {} x {name} at one price, made of {}",
        kit["quantity"],
        parts.join(" and ")
    ))
}

/// Describes whether an order that became ready at the given time meets its promised time; `None` if no time was
/// promised.
fn promise_words(order: &Value, ready: &str) -> Option<(bool, String)> {
    let promised = order["promisedAt"].as_str()?;
    let [ready_at, promised_at] = [ready, promised].map(|text| text.parse::<Timestamp>().ok());
    let early = ms_between(ready_at?, promised_at?);
    // A moment too late is too late.
    let (is_kept, seconds) = (early >= 0, if early >= 0 { early / 1000 } else { (999 - early) / 1000 });
    let verdict =
        if is_kept { format!("PROMISE KEPT, {seconds} s early") } else { format!("PROMISE MISSED by {seconds} s") };
    let [ready, promised] = [ready, promised].map(|text| text.get(11..19).unwrap_or_default());
    let number = order["number"].as_str()?;
    Some((is_kept, format!("          {number} is ready at {ready} and was promised for {promised}: {verdict}")))
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
        let actual = line(&job, Some("JOB-000007 of ORD-000003"), &names());
        assert_eq!(actual, "08:09:10  job.printing      JOB-000007 of ORD-000003    Cable clip on Ada");
        let failed = event("job.failed", json!({"skuId": "s1", "printerId": "p2", "error": "thermal runaway"}));
        assert!(line(&failed, Some("J"), &names()).ends_with("Cable clip on p2: thermal runaway"));
    }

    #[test]
    fn a_kit_says_what_it_is_made_of_and_a_promise_how_it_came_out() {
        let order = json!({"number": "ORD-000004", "promisedAt": "2026-11-21T08:09:30.000Z", "lines": [
            {"description": "Vase", "quantity": 1, "kitLine": null},
            {"description": "Desk set", "quantity": 2, "kitLine": null},
            {"description": "Badge", "quantity": 2, "kitLine": 1},
            {"description": "Clip", "quantity": 4, "kitLine": 1},
        ]});
        let kit = "KIT       ORD-000004 contains 2 x Desk set at one price, made of 2 x Badge and 4 x Clip";
        assert_eq!(kit_words(&order).as_deref(), Some(kit));
        let (is_kept, words) = promise_words(&order, "2026-11-21T08:09:10.123Z").unwrap_or_default();
        let expected =
            "          ORD-000004 is ready at 08:09:10 and was promised for 08:09:30: PROMISE KEPT, 19 s early";
        assert_eq!((is_kept, words.as_str()), (true, expected));
        let (is_kept, words) = promise_words(&order, "2026-11-21T08:10:00.000Z").unwrap_or_default();
        assert!(!is_kept && words.ends_with("PROMISE MISSED by 30 s"), "{words}");
        let plain =
            json!({"number": "ORD-000005", "promisedAt": null, "lines": [{"description": "Vase", "quantity": 1}]});
        assert_eq!((kit_words(&plain), promise_words(&plain, "2026-11-21T08:10:00.000Z")), (None, None));
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
