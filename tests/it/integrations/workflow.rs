//! Workflow automation: events in order, none lost while the system is down or the server is killed, and a
//! plain-language reason if it accepts nothing.

use serde_json::Value;
use simulator::peers::ResponseMode;
use simulator::peers::workflow::SimWorkflowAutomation;

use super::{degraded, quick, runs_low};
use crate::support::{Db, on_sqlite, until};

fn kinds(received: &[Value]) -> Vec<&str> {
    received.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

on_sqlite! {
    async fn low_stock_is_told_as_low_stock_and_nothing_is_lost_by_a_kill(db: Db) {
        let flow = SimWorkflowAutomation::start(Some(("Authorization", "Bearer flow-token"))).await.unwrap();
        let mut app = quick(db).env("WORKFLOW_URL", flow.url()).env("WORKFLOW_TOKEN", "flow-token").start().await;
        runs_low(&app, "PETG").await;
        let events = until("both events", || async { Some(flow.received()).filter(|all| all.len() == 2) }).await;
        assert_eq!(kinds(&events), ["inventory.low", "LOW_STOCK"]);
        assert_eq!(events[1]["data"]["name"], "PETG");
        assert!(events[1]["id"].is_string() && events[1]["timestamp"].is_string(), "{}", events[1]);

        // Nobody takes the workflow into service for a while, and a power cut comes in between.
        flow.set_active(false);
        for name in ["ASA", "PLA"] {
            runs_low(&app, name).await;
        }
        until("words for what is wrong", || async {
            degraded(&app).await.into_iter().find(|words| words.contains("activate the workflow"))
        })
        .await;
        app.kill_9();
        flow.set_active(true);
        app.start().await;
        let events = until("the rest", || async { Some(flow.received()).filter(|all| all.len() >= 6) }).await;
        let names: Vec<&str> = events.iter().map(|event| event["data"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["PETG", "PETG", "ASA", "ASA", "PLA", "PLA"], "in order, each once");
        until("it to be well again", || async {
            degraded(&app).await.iter().all(|words| !words.contains("workflow")).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn only_the_events_of_the_settings_are_told_and_others_hold_nothing_up() {
    let flow = SimWorkflowAutomation::start(Some(("X-Shop", "flow-token"))).await.unwrap();
    let app = quick(Db::sqlite())
        .env("WORKFLOW_URL", flow.url())
        .env("WORKFLOW_TOKEN", "flow-token")
        .env("PRINTFLOOR_WORKFLOW__TOKEN_HEADER", "X-Shop")
        .env("PRINTFLOOR_WORKFLOW__EVENTS", "LOW_STOCK")
        .start()
        .await;
    for name in ["PETG", "ASA"] {
        runs_low(&app, name).await;
    }
    let events = until("two events", || async { Some(flow.received()).filter(|all| all.len() == 2) }).await;
    assert_eq!(kinds(&events), ["LOW_STOCK", "LOW_STOCK"]);
}

#[tokio::test]
async fn a_wrong_token_and_an_overloaded_system_are_said_in_words_and_counted() {
    let flow = SimWorkflowAutomation::start(Some(("Authorization", "Bearer right"))).await.unwrap();
    let app = quick(Db::sqlite()).env("WORKFLOW_URL", flow.url()).env("WORKFLOW_TOKEN", "wrong").start().await;
    runs_low(&app, "PETG").await;
    until("the token to be named", || async {
        degraded(&app).await.into_iter().find(|words| words.contains("rejects the token"))
    })
    .await;
    flow.set_mood(ResponseMode::Status(503));
    until("another reason", || async { degraded(&app).await.into_iter().find(|words| words.contains("503")) }).await;
    let metrics = app.get("/metrics").await.text;
    let line = metrics.lines().find(|line| line.starts_with("printfloor_integration_up{")).unwrap();
    assert_eq!(line, "printfloor_integration_up{integration=\"workflow\"} 0");
    let failed = "printfloor_integration_calls_total{integration=\"workflow\",outcome=\"failed\"} ";
    let failed = metrics.lines().find_map(|line| line.strip_prefix(failed)).unwrap();
    assert!(failed.parse::<u64>().unwrap() > 0);
}
