//! The agent gateway: it receives what needs a person's attention, and each of its users has a rate limit.

use serde_json::{Value, json};
use simulator::peers::ResponseMode;
use simulator::peers::agent::SimAgentGateway;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{degraded, quick, runs_low};
use crate::support::{App, Db, until};

const TOKEN: &str = "a-token-both-sides-show";

async fn wait_for_message(gateway: &SimAgentGateway, words: &str) -> String {
    until(words, || async { gateway.messages().into_iter().find(|message| message.contains(words)) }).await
}

#[tokio::test]
async fn failed_jobs_and_flags_of_orders_reach_the_gateway_even_after_an_outage() {
    let gateway = SimAgentGateway::start(TOKEN).await.unwrap();
    let app = quick(Db::sqlite()).env("AGENT_TOKEN", TOKEN).env("AGENT_URL", gateway.url()).start().await;
    let fleet = Fleet::start(FleetOptions { speed: 1.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) });
    let fleet = fleet.await.unwrap();
    let material = app.material("PLA black", 100.0).await;
    let file = app.gcode("part", 600, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    let printer = app.printer(&fleet.printers[0]).await;
    let order = app.paid_order(&sku, 1).await;
    let job = app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    app.job_is(&job, "PRINTING").await;
    app.act(&format!("/api/printers/{printer}/emergency-stop")).await.expect(200);
    app.job_is(&job, "FAILED").await;
    wait_for_message(&gateway, "failed").await;
    // A cancelled paid order owes money: a flag.
    app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
    wait_for_message(&gateway, "refund due").await;

    gateway.set_mood(ResponseMode::Status(502));
    until("the outage to be said", || async {
        degraded(&app).await.into_iter().find(|words| words.starts_with("Agent gateway (agent)"))
    })
    .await;
    gateway.set_mood(ResponseMode::Well);
    until("its end", || async { degraded(&app).await.iter().all(|words| !words.contains("agent")).then_some(()) })
        .await;
    runs_low(&app, "PETG").await;
    wait_for_message(&gateway, "Low stock: PETG").await;
}

async fn ask(app: &App, user: &str, skill: &str) -> (u16, Value) {
    let nobody = app.nobody();
    let body = json!({"skill": skill, "params": {"printer": "nobody"}, "userId": user});
    let request = nobody.request("POST", "/webhooks/agent").json(&body);
    let answer = nobody.send(request.header("Authorization", format!("Bearer {TOKEN}"))).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn each_user_may_ask_so_often_and_stop_a_printer_always() {
    let app = quick(Db::sqlite())
        .env("AGENT_TOKEN", TOKEN)
        .env("PRINTFLOOR_LIMITS__AGENT_COMMANDS_PER_MINUTE", 3)
        .env("PRINTFLOOR_LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", 5)
        .start()
        .await;
    // A minute may end in between, but not twice.
    let mut refused = 0;
    for _ in 0..8 {
        let (status, body) = ask(&app, "telegram:7", "low-stock").await;
        if status == 429 {
            assert_eq!(body["code"], "rate_limited", "{body}");
            assert!(body["message"].as_str().unwrap().contains("3 commands in a minute"), "{body}");
            refused += 1;
        }
    }
    assert!(refused >= 2, "{refused}");
    assert_eq!(ask(&app, "telegram:8", "low-stock").await.0, 200, "another user");
    for _ in 0..8 {
        assert_eq!(
            ask(&app, "telegram:7", "emergency-stop").await.0,
            404,
            "there is no such printer, but it was looked for"
        );
    }
    // Who has no token counts like anybody. Again a minute may end in between.
    let nobody = app.nobody();
    let mut refused = 0;
    for _ in 0..12 {
        let answer = nobody.post("/webhooks/agent", &json!({"skill": "low-stock"})).await;
        refused += usize::from(answer.status == 429);
    }
    assert!(refused >= 2, "{refused}");
}
