//! Commands from the agent gateway, and the events sent to it.

use sea_orm::{ConnectionTrait as _, DbBackend, Statement};
use serde_json::{Value, json};
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::id;
use crate::support::client::Answer;
use crate::support::{App, Db, on_sqlite, until};

const TOKEN: &str = "a-token-both-sides-show";
const SKILLS: &[&str] = &[
    "pause-print",
    "resume-print",
    "cancel-print",
    "emergency-stop",
    "printer-status",
    "farm-status",
    "order-status",
    "stock-level",
    "low-stock",
    "release-job",
    "bed-cleared",
];

async fn tell_as(app: &App, token: Option<&str>, body: &Value) -> Answer {
    let nobody = app.nobody();
    let mut request = nobody.request("POST", "/webhooks/agent").json(body);
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    nobody.send(request).await
}

async fn tell(app: &App, skill: &str, params: Value) -> Answer {
    tell_as(app, Some(TOKEN), &json!({"skill": skill, "params": params, "userId": "telegram:7"})).await
}

/// Calls a skill, which must succeed; returns the message and the data of the response.
async fn done(app: &App, skill: &str, params: Value) -> (String, Value) {
    let body = tell(app, skill, params).await.expect(200);
    assert_eq!(body["ok"], true, "{body}");
    (body["message"].as_str().unwrap().to_owned(), body["data"].clone())
}

#[tokio::test]
async fn only_the_gateway_and_its_listed_users_give_commands() {
    let without = App::new(Db::sqlite()).await;
    let command = json!({"skill": "farm-status", "userId": "telegram:7"});
    let unset = tell_as(&without, Some(TOKEN), &command).await;
    assert!(unset.header("retry-after").is_some());
    assert_eq!(unset.error(503), "agent_not_configured");

    let app = App::on(Db::sqlite())
        .env("AGENT_TOKEN", TOKEN)
        .env("PRINTFLOOR_AGENT__ALLOWED_USERS", "[\"telegram:*\"]")
        .start()
        .await;
    for token in [None, Some("wrong"), Some(""), Some("a-token-both-sides-shows")] {
        assert_eq!(tell_as(&app, token, &command).await.error(401), "unauthorized", "{token:?}");
    }
    assert_eq!(app.post("/webhooks/agent", &command).await.error(401), "unauthorized", "a key of the API is no token");
    let more = json!({"skill": "farm-status", "userId": "telegram:7", "channel": "x", "params": {"unknown": 1}});
    tell_as(&app, Some(TOKEN), &more).await.expect(200);
    for stranger in [json!({"skill": "farm-status", "userId": "slack:7"}), json!({"skill": "farm-status"})] {
        assert_eq!(tell_as(&app, Some(TOKEN), &stranger).await.error(403), "user_not_allowed");
    }
    let noted = until("the refusal in the audit log", || async {
        let log = app.get("/api/audit-log?limit=50").await.expect(200);
        let mut all = log["entries"].as_array().unwrap().clone().into_iter();
        all.find(|entry| entry["actor"] == "agent:slack:7" && entry["outcome"] == "user_not_allowed")
    })
    .await;
    assert_eq!(noted["detail"]["about"]["skill"], "farm-status", "{noted}");
    let unknown = tell(&app, "make-coffee", json!({})).await.expect(400);
    for skill in SKILLS {
        assert!(unknown["errors"][0]["message"].as_str().unwrap().contains(skill), "{unknown}");
    }
    assert_eq!(tell(&app, "pause-print", json!({})).await.error(400), "validation_failed");
    assert_eq!(tell(&app, "pause-print", json!({"jobId": "JOB-000999"})).await.error(404), "job_not_found");
    assert_eq!(tell(&app, "printer-status", json!({"printer": "nobody"})).await.error(404), "printer_not_found");
}

#[tokio::test]
async fn every_skill_does_what_it_says() {
    let mut app =
        App::on(Db::sqlite()).env("AGENT_TOKEN", TOKEN).env("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", 300).start().await;
    let fleet = Fleet::start(FleetOptions { speed: 1.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) });
    let fleet = fleet.await.unwrap();
    let material = app.material("PLA black", 100.0).await;
    let file = app.gcode("part", 600, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    let printer = app.printer(&fleet.printers[0]).await;
    app.patch(&format!("/api/printers/{printer}"), &json!({"name": "Left", "autoClear": false})).await.expect(200);
    let order = app.paid_order(&sku, 1).await;
    let job = app.jobs(&order).await[0].clone();
    let (id_of, number) = (job["id"].as_str().unwrap(), job["number"].as_str().unwrap());
    app.job_is(id_of, "PRINTING").await;

    let (words, status) = done(&app, "printer-status", json!({"printer": "left"})).await;
    assert!(words.starts_with("Left is printing"), "{words}");
    assert_eq!(status["status"]["state"], "printing");
    let (words, farm) = done(&app, "farm-status", json!({})).await;
    assert!(words.contains("1 printing"), "{words}");
    assert_eq!(farm["printers"][0]["printerId"], printer.as_str());
    let (words, answer) = done(&app, "order-status", json!({"orderId": order})).await;
    assert!(words.contains("printing"), "{words}");
    assert_eq!(done(&app, "order-status", json!({"number": answer["number"]})).await.1["id"], order.as_str());
    let (words, _) = done(&app, "stock-level", json!({"material": "pla"})).await;
    assert_eq!(words, "PLA black 90 g free of 100 g.");
    assert_eq!(done(&app, "low-stock", json!({})).await.1["materials"], json!([]));

    done(&app, "pause-print", json!({"jobId": id_of})).await;
    app.job_is(id_of, "PAUSED").await;
    assert_eq!(tell(&app, "pause-print", json!({"jobId": id_of})).await.error(409), "invalid_transition");
    done(&app, "resume-print", json!({"jobId": number})).await;
    app.job_is(id_of, "PRINTING").await;
    done(&app, "pause-print", json!({"printerId": printer})).await;
    app.job_is(id_of, "PAUSED").await;
    done(&app, "cancel-print", json!({"jobId": id_of})).await;
    app.job_is(id_of, "CANCELLED").await;
    let attention = |what: &'static str, is: bool| {
        let (app, printer) = (&app, &printer);
        async move {
            until(what, || async {
                let status = app.get(&format!("/api/printers/{printer}/status")).await.expect(200);
                let says = status["attention"].as_array().unwrap().iter().any(|one| one == what);
                (says == is).then_some(())
            })
            .await;
        }
    };
    attention("bed_not_cleared", true).await;
    done(&app, "bed-cleared", json!({"printer": "LEFT"})).await;
    attention("bed_not_cleared", false).await;
    let (_, stopped) = done(&app, "emergency-stop", json!({"printer": "Left"})).await;
    assert!(stopped["recorded"].is_boolean(), "{stopped}");
    attention("needs_home", true).await;

    let low = json!({"name": "PETG", "type": "filament", "quantity": 40, "reorderPoint": 50});
    let petg = id(&app.post("/api/inventory/materials", &low).await.expect(201));
    let other = app.sku("PETG", &petg, &file, 100).await;
    let blocked = app.jobs(&app.paid_order(&other, 1).await).await[0]["id"].as_str().unwrap().to_owned();
    app.job_is(&blocked, "awaiting_manual_review").await;
    assert!(done(&app, "low-stock", json!({})).await.0.contains("PETG"));
    done(&app, "release-job", json!({"jobId": blocked})).await;
    app.job_is(&blocked, "SLICED").await;

    // Every command is in the audit log, with who gave it.
    app.kill_9();
    let url = format!("sqlite://{}?mode=rw", app.data().join("printfloor.db").display());
    let db = sea_orm::Database::connect(url).await.unwrap();
    let query = "SELECT action FROM audit WHERE actor = 'agent:telegram:7'";
    let rows = db.query_all_raw(Statement::from_string(DbBackend::Sqlite, query)).await.unwrap();
    let actions: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
    for skill in SKILLS {
        assert!(actions.contains(&format!("agent.{skill}")), "{skill}: {actions:?}");
    }
    assert!(actions.contains(&"job.release".to_owned()), "and what it changed: {actions:?}");
}

/// Lists the outcomes of an action in the audit log, newest first.
async fn outcomes(app: &App, action: &str) -> Vec<Value> {
    let log = app.get(&format!("/api/audit-log?action={action}")).await.expect(200);
    log["entries"].as_array().unwrap().iter().map(|entry| entry["outcome"].clone()).collect()
}

on_sqlite! {
    async fn the_audit_log_says_what_came_of_each_command(db: Db) {
        let app = App::on(db).env("AGENT_TOKEN", TOKEN).start().await;
        let fleet = Fleet::start(FleetOptions { speed: 1.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) });
        let fleet = fleet.await.unwrap();
        let material = app.material("PLA black", 100.0).await;
        let file = app.gcode("part", 600, 10.0).await;
        let sku = app.sku("PART", &material, &file, 100).await;
        app.printer(&fleet.printers[0]).await;
        let order = app.paid_order(&sku, 1).await;
        let job = id(&app.jobs(&order).await[0]);
        app.job_is(&job, "PRINTING").await;

        assert_eq!(tell(&app, "pause-print", json!({"jobId": "JOB-000999"})).await.error(404), "job_not_found");
        assert_eq!(outcomes(&app, "agent.pause-print").await, ["job_not_found"]);
        done(&app, "pause-print", json!({"jobId": job})).await;
        assert_eq!(outcomes(&app, "agent.pause-print").await, ["done", "job_not_found"]);
        assert_eq!(tell(&app, "emergency-stop", json!({"printer": "nobody"})).await.error(404), "printer_not_found");
        assert_eq!(outcomes(&app, "agent.emergency-stop").await, ["printer_not_found"]);
    }
}

#[tokio::test]
async fn low_stock_is_told_to_the_gateway_until_it_takes_it() {
    let sink = Sink::start().await.unwrap();
    let app = App::on(Db::sqlite()).env("AGENT_TOKEN", TOKEN).env("AGENT_URL", sink.url()).start().await;
    let low = json!({"name": "PETG", "type": "filament", "quantity": 40, "reorderPoint": 50, "reorderQuantity": 500});
    app.post("/api/inventory/materials", &low).await.expect(201);
    let request =
        until("the gateway to be told", || async { sink.received().into_iter().find(|one| one.method == "POST") })
            .await;
    assert_eq!(request.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert!(body["message"].as_str().unwrap().contains("Low stock: PETG"), "{body}");
    assert_eq!(request.header("idempotency-key"), body["idempotencyKey"].as_str());
}
