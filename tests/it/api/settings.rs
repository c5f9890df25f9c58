//! Settings and integrations over the API: shown without secrets, changed in `.env`, in force after a restart.

use axum::http::HeaderMap;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::fault_paths;
use crate::support::{App, Db};

fn setting<'a>(body: &'a Value, name: &str) -> &'a Value {
    let all = body["settings"].as_array().unwrap();
    all.iter().find(|setting| setting["name"] == name).unwrap_or_else(|| panic!("no {name}: {body}"))
}

#[tokio::test]
async fn every_setting_is_shown_with_its_source_and_secrets_are_not() {
    let app = App::on(Db::sqlite()).env("AGENT_TOKEN", "hunter2hunter2").start().await;
    let answer = app.get("/api/settings").await;
    assert!(!answer.text.contains("hunter2"), "a secret is shown");
    let body = answer.expect(200);
    let poll = setting(&body, "printers.poll_interval_seconds");
    assert_eq!((&poll["value"], &poll["default"], &poll["isSet"]), (&json!(0.1), &json!(2.0), &json!(true)), "{poll}");
    assert_eq!(poll["source"], "PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS in the environment");
    assert!(poll["about"].as_str().unwrap().starts_with("Interval at which printers are asked"), "{poll}");
    let token = setting(&body, "agent.token");
    assert_eq!((&token["secret"], &token["isSet"], &token["value"]), (&json!(true), &json!(true), &Value::Null));
    let rates = setting(&body, "tax.rates");
    assert_eq!((&rates["value"], &rates["source"]), (&json!([]), &Value::Null));
    assert_eq!(body["restartNeeded"], false, "nothing was changed");
}

#[tokio::test]
async fn a_change_is_written_and_comes_into_force_with_the_next_start() {
    let mut app = App::new(Db::sqlite()).await;
    let change = json!({"settings": {
        "shipping.flat_cents": 550, "mail.operators": ["sam@example.org", "kim@example.org"],
        "tax.rates": [{"country": "DE", "bps": 1900}], "quality.reprint_missing": false, "SMTP_FROM": "Shop <a@example.org>",
    }});
    let written = app.patch("/api/settings", &change).await.expect(200);
    assert_eq!(written["restart"].as_array().unwrap().len(), 5, "{written}");
    assert_eq!((&written["file"], &written["shadowed"]), (&json!(".env"), &json!([])));
    let body = app.get("/api/settings").await.expect(200);
    assert_eq!((&body["restartNeeded"], &setting(&body, "shipping.flat_cents")["value"]), (&json!(true), &json!(0)));
    app.stop().await;
    app.start().await;
    let body = app.get("/api/settings").await.expect(200);
    assert_eq!(body["restartNeeded"], false);
    for (name, value) in [
        ("shipping.flat_cents", json!(550)),
        ("mail.operators", json!(["sam@example.org", "kim@example.org"])),
        ("tax.rates", json!([{"country": "DE", "bps": 1900}])),
        ("quality.reprint_missing", json!(false)),
        ("mail.from", json!("Shop <a@example.org>")),
    ] {
        assert_eq!(setting(&body, name)["value"], value, "{name}");
    }
    // The default again.
    app.patch("/api/settings", &json!({"settings": {"shipping.flat_cents": null}})).await.expect(200);
    app.stop().await;
    app.start().await;
    let body = app.get("/api/settings").await.expect(200);
    assert_eq!(setting(&body, "shipping.flat_cents")["value"], 0);
    let log = app.get("/api/audit-log?action=settings.write").await.expect(200);
    assert_eq!(log["pagination"]["total"], 2, "{log}");
}

#[tokio::test]
async fn what_the_server_could_not_start_with_is_not_written() {
    let app = App::new(Db::sqlite()).await;
    for (settings, code, path) in [
        (json!({"shipping.flat_cent": 1}), "validation_failed", "settings.shipping.flat_cent"),
        (json!({"shipping.flat_cents": "much"}), "validation_failed", "settings.shipping.flat_cents"),
        (json!({"mail.operators": ["a\"b"]}), "validation_failed", "settings.mail.operators"),
        (json!({"API_KEY_SALT": "another"}), "validation_failed", "settings.auth.api_key_salt"),
        (json!({"SMTP_HOST": "a", "mail.smtp_host": "b"}), "validation_failed", "settings.mail.smtp_host"),
        (json!({"server.max_headers": 0}), "invalid_settings", "settings"),
        (json!({"shipping.flat_cents": -5}), "invalid_settings", "settings"),
    ] {
        let refused = app.patch("/api/settings", &json!({ "settings": settings })).await.expect(400);
        assert_eq!((&refused["code"], fault_paths(&refused)), (&json!(code), vec![path.to_owned()]), "{refused}");
    }
    assert!(!app.folder().join(".env").exists());
    std::fs::write(app.folder().join(".env"), "A=1\nhunter2 is no assignment\n").unwrap();
    let unreadable = app.patch("/api/settings", &json!({"settings": {"shipping.flat_cents": 1}})).await;
    assert!(unreadable.text.contains("line 2") && !unreadable.text.contains("hunter2"), "{}", unreadable.text);
    assert_eq!(unreadable.error(409), "unreadable_env");
}

/// A smart home with the token `t0k`.
async fn smart_home() -> String {
    let home = Router::new().route(
        "/api/",
        get(|headers: HeaderMap| async move {
            let right = headers.get("authorization").is_some_and(|shown| shown == "Bearer t0k");
            let status = if right { 200 } else { 401 };
            (axum::http::StatusCode::from_u16(status).unwrap(), Json(json!({"message": "API running."})))
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, home).await });
    url
}

#[tokio::test]
async fn another_system_is_tested_before_it_is_written() {
    let mut app = App::new(Db::sqlite()).await;
    let url = smart_home().await;
    let wrong = json!({"smartHome": {"url": url, "token": "other"}, "agent": {"url": null}});
    let refused = app.patch("/api/integrations", &wrong).await.expect(400);
    assert_eq!((&refused["code"], fault_paths(&refused)), (&json!("connection_failed"), vec!["smart_home".to_owned()]));
    assert!(refused.to_string().contains("refuses the token"), "{refused}");
    assert!(!app.folder().join(".env").exists());

    let written = app.patch("/api/integrations", &json!({"smartHome": {"url": url, "token": "t0k"}})).await.expect(200);
    assert_eq!(written["written"], json!(["SMART_HOME_URL", "SMART_HOME_TOKEN"]), "{written}");
    app.stop().await;
    app.start().await;
    let answer = app.get("/api/integrations").await;
    assert!(!answer.text.contains("t0k"));
    let body = answer.expect(200);
    let all = body["integrations"].as_array().unwrap();
    let kinds: Vec<_> = all.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["workflow", "farm_ui", "failure_detection", "smart_home", "parts", "spools", "agent"]);
    let said = |n: usize| ["url", "hasToken", "configured"].map(|member| all[n][member].clone());
    assert_eq!(said(3), [json!(url), json!(true), json!(true)]);
    assert_eq!(said(4), [Value::Null, json!(false), json!(false)]);
    // One that is taken away is not tested.
    app.patch("/api/integrations", &json!({"smartHome": {"url": null, "token": null}})).await.expect(200);
    let env = std::fs::read_to_string(app.folder().join(".env")).unwrap();
    assert!(env.contains("SMART_HOME_URL=\"\"") && !env.contains("t0k"), "{env}");
}
