//! Shop's current state, for the status block at the top of the demo's terminal.

use std::sync::Arc;
use std::time::Duration;

use api_requests::{HttpApi, RequestError};
use serde_json::Value;
use tokio::time::sleep;

use super::screen::{BLOCK_LINES, Screen};
use super::tally::Tally;
use crate::error::DemoError;

/// Interval between redraws of the status block.
const REDRAW_INTERVAL: Duration = Duration::from_secs(1);

/// Task that keeps redrawing the status block.
pub struct ShopStatus {
    api: HttpApi,
    base: String,
    screen: Screen,
    tally: Arc<Tally>,
}

impl ShopStatus {
    /// Builds the status of the server at the given base URL.
    pub fn new(api: HttpApi, base: String, screen: Screen, tally: Arc<Tally>) -> Self {
        Self { api, base, screen, tally }
    }

    /// Redraws the status block every second; returns only on an error.
    pub async fn show(self) -> DemoError {
        loop {
            let printers = match self.api.list::<Value>("/api/printers", "printers").await {
                Ok(printers) => printers.iter().map(printer).collect::<Vec<_>>().join("   "),
                Err(RequestError::Refused { .. } | RequestError::Unavailable(_)) => {
                    "the server does not respond".to_owned()
                }
                Err(error) => return error.into(),
            };
            let lines: [String; BLOCK_LINES] = [
                format!("Printfloor demo   open {}/docs   press Ctrl-C to stop", self.base),
                capital(&self.tally.orders()),
                capital(&self.tally.parts()),
                printers,
            ];
            if let Err(error) = self.screen.status(&lines) {
                return error;
            }
            sleep(REDRAW_INTERVAL).await;
        }
    }
}

/// Describes a printer in a few words: `Ada 45%`, `Babbage offline`, `Curie idle, bed_not_cleared`.
fn printer(printer: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (name, state) = (text(&printer["name"]), text(&printer["status"]["state"]));
    let progress = printer["status"]["progress"].as_f64().unwrap_or_default();
    let attention = printer["status"]["attention"].as_array().and_then(|all| all.first()).map(text);
    match (state.as_str(), attention) {
        ("printing", _) => format!("{name} {progress:.0}%"),
        (_, Some(what)) if state != "offline" => format!("{name} {}", what.replace('_', " ")),
        _ => format!("{name} {state}"),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_printer_is_told_in_a_few_words() {
        let one = |state: &str, attention: Value| {
            printer(&json!({"name": "Ada", "status": {"state": state, "progress": 45.4, "attention": attention}}))
        };
        assert_eq!(one("printing", json!([])), "Ada 45%");
        assert_eq!(one("idle", json!([])), "Ada idle");
        assert_eq!(one("idle", json!(["bed_not_cleared"])), "Ada bed not cleared");
        assert_eq!(one("offline", json!(["unreachable"])), "Ada offline");
        assert_eq!(capital("orders 1"), "Orders 1");
    }
}
