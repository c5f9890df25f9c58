//! The shop's other systems, simulated on their real protocols: the events that they receive, the effects of their
//! responses, and a shop that keeps working while all of them hang.

pub mod accounting;
mod agent;
mod failure_detection;
mod farm_ui;
mod hanging;
mod mail_server;
mod mosquitto;
mod smart_home;
mod workflow;

use serde_json::{Value, json};

use crate::support::app::Builder;
use crate::support::{App, Db};

/// Returns the settings of a server that retries its integrations almost immediately.
fn quick(db: Db) -> Builder {
    App::on(db)
        .env("PRINTFLOOR_INTEGRATIONS__REQUEST_TIMEOUT_SECONDS", 2)
        .env("PRINTFLOOR_INTEGRATIONS__RETRY_FIRST_SECONDS", 0.1)
        .env("PRINTFLOOR_INTEGRATIONS__RETRY_LONGEST_SECONDS", 0.3)
        .env("PRINTFLOOR_INTEGRATIONS__CHECK_INTERVAL_SECONDS", 0.2)
        .env("PRINTFLOOR_SMART_HOME__PUSH_INTERVAL_SECONDS", 0.1)
}

/// Creates a material whose stock is below its reorder point.
async fn runs_low(app: &App, name: &str) {
    let low = json!({"name": name, "type": "filament", "quantity": 40, "reorderPoint": 50, "reorderQuantity": 500});
    app.post("/api/inventory/materials", &low).await.expect(201);
}

/// Lists the components that `/readyz` shows as degraded.
async fn degraded(app: &App) -> Vec<String> {
    let ready: Value = app.get("/readyz").await.expect(200);
    ready["degraded"].as_array().unwrap().iter().map(|words| words.as_str().unwrap().to_owned()).collect()
}
