//! Settings and integrations over the API: shown without secrets, changed in `.env`, effective after a restart.

use axum::http::HeaderMap;
use axum::routing::get;
use axum::{Json, Router};
use migrations::{Migrator, MigratorTrait as _};
use printfloor::app::service_tests::Service;
use printfloor::http::production::integrations::IntegrationsChange;
use printfloor::http::wire::read_body;
use printfloor::store::connect::{self, DatabaseSettings, WritingHost};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};

use super::fault_paths;
use crate::support::ports::closed_address;
use crate::support::{App, Db, until};

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
    assert!(poll["about"].as_str().unwrap().starts_with("Interval between status requests to printers"), "{poll}");
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
    // A former name is taken, and the new one is written.
    let former = json!({"settings": {"limits.windows": 5000}});
    let renamed = app.patch("/api/settings", &former).await.expect(200);
    assert!(renamed["written"].to_string().contains("PRINTFLOOR_LIMITS__RATE_LIMIT_MAX_ENTRIES"), "{renamed}");
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
        ("limits.rate_limit_max_entries", json!(5000)),
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
    assert_eq!(log["pagination"]["total"], 3, "{log}");
}

#[tokio::test]
async fn what_the_server_could_not_start_with_is_not_written() {
    let app = App::new(Db::sqlite()).await;
    for (settings, code, path) in [
        (json!({"shipping.flat_cent": 1}), "validation_failed", "settings.shipping.flat_cent"),
        (json!({"shipping.flat_cents": "much"}), "validation_failed", "settings.shipping.flat_cents"),
        (json!({"mail.operators": ["a\"b"]}), "validation_failed", "settings.mail.operators"),
        (json!({"API_KEY_SALT": "another"}), "validation_failed", "settings.auth.api_key_salt"),
        (json!({"SECRETS_KEY_OLD": "another"}), "validation_failed", "settings.auth.secrets_key_old"),
        (json!({"SMTP_HOST": "a", "mail.smtp_host": "b"}), "validation_failed", "settings.mail.smtp_host"),
        (json!({"server.max_headers": 0}), "invalid_settings", "settings"),
        (json!({"shipping.flat_cents": -5}), "invalid_settings", "settings"),
        (json!({"SMTP_FROM": "x"}), "invalid_settings", "settings"),
        (json!({"shop.time_zone": "Nowhere/At all"}), "invalid_settings", "settings"),
        (json!({"EMAIL_API_KEY": "re_1", "mail.api_url": "http://169.254.1.1/"}), "invalid_settings", "settings"),
        (json!({"DATABASE_URL": "postgres://127.0.0.1/shop?sslmode=odd"}), "invalid_settings", "settings"),
        (json!({"REDIS_URL": "redis://127.0.0.1/many"}), "invalid_settings", "settings"),
        (json!({"PARTS_URL": "http://me:hunter2@127.0.0.1/"}), "invalid_settings", "settings"),
        (json!({"PARTS_URL": "http://127.0.0.1/", "PARTS_TOKEN": "a\nb"}), "invalid_settings", "settings"),
        (json!({"WORKFLOW_URL": "http://127.0.0.1/x", "WORKFLOW_TOKEN": "a\nb"}), "invalid_settings", "settings"),
        (json!({"SMART_HOME_MQTT_URL": "mqtt://me:hunter2@127.0.0.1"}), "invalid_settings", "settings"),
        (json!({"SMART_HOME_MQTT_URL": "mqtt://0xa9fe0101"}), "invalid_settings", "settings"),
    ] {
        let refused = app.patch("/api/settings", &json!({ "settings": settings })).await.expect(400);
        assert!(!refused.to_string().contains("hunter2"), "{refused}");
        assert_eq!((&refused["code"], fault_paths(&refused)), (&json!(code), vec![path.to_owned()]), "{refused}");
    }
    for name in ["PARTS", "SPOOLS", "WORKFLOW", "FARM_UI", "FAILURE_DETECTION", "SMART_HOME", "AGENT"] {
        for url in ["http://169.254.1.1/", "http://[fe80::1]/", "http://metadata.google.internal/", "ftp://127.0.0.1/"]
        {
            let change = json!({"settings": {format!("{name}_URL"): url}});
            assert_eq!(app.patch("/api/settings", &change).await.error(400), "invalid_settings", "{change}");
        }
    }
    assert!(!app.folder().join(".env").exists());
    std::fs::write(app.folder().join(".env"), "A=1\nhunter2 is no assignment\n").unwrap();
    let unreadable = app.patch("/api/settings", &json!({"settings": {"shipping.flat_cents": 1}})).await;
    assert!(unreadable.text.contains("line 2") && !unreadable.text.contains("hunter2"), "{}", unreadable.text);
    assert_eq!(unreadable.error(409), "unreadable_env");
}

#[tokio::test]
async fn what_the_next_start_could_not_open_is_not_written() {
    let app = App::new(Db::sqlite()).await;
    let closed = closed_address();
    let file = app.folder().join("file");
    // Longer than a page: SQLite takes a file that is shorter than one for an empty database, and so does a start.
    std::fs::write(&file, "x".repeat(4096)).unwrap();
    // The database of another shop, made with other secrets.
    let other = App::on(Db::sqlite()).with_own_shop().start().await;
    let foreign = format!("sqlite://{}?mode=rwc", other.data().join("printfloor.db").display());
    let sqlite = |name: &str| format!("sqlite://{}", app.folder().join(name).display());
    // The tables of a newer release, and those of a restore that was interrupted.
    for (name, sql) in [
        ("newer.db", "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m29990101_000001_newer', 0)"),
        ("unfinished.db", "CREATE TABLE printfloor_restore_unfinished (at TEXT)"),
    ] {
        let db = sea_orm::Database::connect(format!("{}?mode=rwc", sqlite(name))).await.unwrap();
        Migrator::up(&db, None).await.unwrap();
        db.execute_unprepared(sql).await.unwrap();
        db.close().await.unwrap();
    }
    for (settings, path) in [
        (json!({"database.url": format!("postgres://shop:hunter2@{closed}/shop")}), "settings.database.url"),
        (
            json!({"database.url": format!("sqlite://{}/none/shop.db?mode=rwc", app.folder().display())}),
            "settings.database.url",
        ),
        (json!({"database.url": foreign}), "settings.database.url"),
        (json!({"database.url": sqlite("new.db")}), "settings.database.url"),
        (json!({"database.url": format!("{}?mode=ro", sqlite("newer.db"))}), "settings.database.url"),
        (json!({"database.url": "sqlite::memory:"}), "settings.database.url"),
        (json!({"database.url": format!("{}?mode=memory", sqlite("new.db"))}), "settings.database.url"),
        (json!({"database.url": sqlite("newer.db")}), "settings.database.url"),
        (json!({"database.url": format!("{}?mode=rwc", sqlite("unfinished.db"))}), "settings.database.url"),
        (json!({"database.url": sqlite("file")}), "settings.database.url"),
        (json!({"files.dir": file.display().to_string()}), "settings.files.dir"),
        (json!({"files.dir": file.join("below").display().to_string()}), "settings.files.dir"),
        (json!({"files.dir": "/proc/1/printfloor"}), "settings.files.dir"),
    ] {
        let refused = app.patch("/api/settings", &json!({ "settings": settings })).await.expect(400);
        assert!(!refused.to_string().contains("hunter2"), "{refused}");
        assert_eq!(
            (&refused["code"], fault_paths(&refused)),
            (&json!("invalid_settings"), vec![path.to_owned()]),
            "{refused}"
        );
    }
    assert!(!app.folder().join(".env").exists() && !app.folder().join("new.db").exists());
    let fine = json!({"settings": {
        "files.dir": app.folder().join("elsewhere").display().to_string(),
        "database.url": format!("{}?mode=rwc", sqlite("new.db")),
    }});
    app.patch("/api/settings", &fine).await.expect(200);
    assert!(!app.folder().join("new.db").exists(), "the next start makes it");
}

#[tokio::test]
async fn a_database_that_another_server_uses_is_not_written() {
    let Some(db) = Db::postgres().await else { return };
    let app = App::new(Db::sqlite()).await;
    let url = db.url().unwrap();
    let change = json!({"settings": {"database.url": url}});
    let (read_connections, statement_timeout) = (1, std::time::Duration::from_secs(10));
    let settings = DatabaseSettings { url, read_connections, statement_timeout, hosts: WritingHost::default() };
    let other = connect::start(&settings).await.unwrap();
    let refused = app.patch("/api/settings", &change).await.expect(400);
    assert_eq!(fault_paths(&refused), ["settings.database.url"], "{refused}");
    assert!(refused.to_string().contains("another printfloor server uses this database"), "{refused}");
    assert!(!app.folder().join(".env").exists());
    other.db.close().await.unwrap();
    until("it to be free", || async { (app.patch("/api/settings", &change).await.status == 200).then_some(()) }).await;
}

#[tokio::test]
async fn whatever_is_accepted_the_server_starts_with() {
    let mut app = App::new(Db::sqlite()).await;
    let odd = [
        "",
        "x",
        "a\nb",
        "\u{1F5A8} <a@b>",
        "Shop <a@example.org>",
        "http://127.0.0.1:9",
        "http://u:p@127.0.0.1/",
        "mqtt://127.0.0.1:9",
        "//",
    ];
    let names = [
        "SMTP_FROM",
        "SMTP_HOST",
        "SMTP_PASS",
        "EMAIL_API_KEY",
        "mail.api_url",
        "REDIS_URL",
        "PARTS_URL",
        "PARTS_TOKEN",
        "WORKFLOW_URL",
        "WORKFLOW_TOKEN",
        "workflow.token_header",
        "SMART_HOME_URL",
        "SMART_HOME_MQTT_URL",
        "smart_home.mqtt_topic",
        "AGENT_URL",
        "AGENT_TOKEN",
        "FARM_UI_URL",
        "FAILURE_DETECTION_TOKEN",
        "slicing.program",
        "server.public_url",
    ];
    let mut accepted = 0;
    for name in names {
        for value in odd {
            let answer = app.patch("/api/settings", &json!({"settings": {name: value}})).await;
            assert!(matches!(answer.status, 200 | 400), "{name} = {value:?}: {}", answer.text);
            accepted += u32::from(answer.status == 200);
        }
    }
    assert!(accepted > 20, "{accepted}");
    app.stop().await;
    app.start().await;
    let ready = app.get("/readyz").await;
    assert!(!ready.text.contains("is off"), "an integration that was accepted works: {}", ready.text);
}

#[tokio::test]
async fn an_integration_that_cannot_be_used_is_off_and_said_and_stops_nobody() {
    let app = App::on(Db::sqlite())
        .env("PARTS_URL", "http://me:hunter2@127.0.0.1:9/")
        .env("AGENT_URL", "http://169.254.169.254/latest")
        .env("SMART_HOME_URL", "http://127.0.0.1:9/")
        .env("SMART_HOME_TOKEN", "a\nb")
        .start()
        .await;
    let ready = app.get("/readyz").await.expect(200);
    for words in [
        "(parts) is off: the address must not contain",
        "(agent) is off: the address must be the address of one of the shop's own systems, not a link-local address",
        "(smart_home) is off: the token contains a line break",
    ] {
        assert!(ready["degraded"].to_string().contains(words), "{words}: {ready}");
    }
    let (integrations, settings) = (app.get("/api/integrations").await, app.get("/api/settings").await);
    for text in [&integrations.text, &settings.text, &app.log().join("\n"), &ready.to_string()] {
        assert!(!text.contains("hunter2"), "a password in an address is shown: {text}");
    }
    let body = integrations.expect(200);
    let parts = &body["integrations"][4];
    assert_eq!((&parts["configured"], &parts["url"]), (&json!(false), &json!("http://***@127.0.0.1:9/")), "{parts}");
    assert!(parts["error"].as_str().unwrap().starts_with("off: "), "{parts}");
    // What was wrong before keeps nobody from changing something else.
    app.patch("/api/settings", &json!({"settings": {"shipping.flat_cents": 5}})).await.expect(200);
}

#[tokio::test]
async fn nothing_is_written_while_the_database_takes_nothing() {
    let app = App::new(Db::sqlite()).await;
    let change = json!({"settings": {"shipping.flat_cents": 7}});
    let mut options = sea_orm::ConnectOptions::new(format!("sqlite://{}", app.data().join("printfloor.db").display()));
    options.max_connections(1);
    let other = sea_orm::Database::connect(options).await.unwrap();
    other.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
    let refused = app.patch("/api/settings", &change).await;
    assert!(refused.status >= 500, "{}", refused.text);
    assert!(!app.folder().join(".env").exists());
    other.execute_unprepared("ROLLBACK").await.unwrap();
    until("it to be taken", || async { (app.patch("/api/settings", &change).await.status == 200).then_some(()) }).await;
    let log = app.get("/api/audit-log?limit=10").await.expect(200);
    let actions: Vec<_> = log["entries"].as_array().unwrap().iter().map(|entry| entry["action"].clone()).collect();
    assert_eq!(actions[..2], ["settings.write", "settings.plan"], "newest first: {log}");
}

/// Starts a smart home system that accepts the token `t0k`; returns its address.
pub async fn smart_home() -> String {
    let home = Router::new().route(
        "/api/",
        get(|headers: HeaderMap| async move {
            let right = headers.get("authorization").is_some_and(|header| header == "Bearer t0k");
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
    assert!(refused.to_string().contains("rejects the token"), "{refused}");
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
    let expected = [
        "workflow",
        "farm_ui",
        "failure_detection",
        "smart_home",
        "parts",
        "spools",
        "agent",
        "accounting",
        "redis",
        "smtp",
    ];
    assert_eq!(kinds, expected);
    let summary = |n: usize| ["url", "hasToken", "configured"].map(|member| all[n][member].clone());
    assert_eq!(summary(3), [json!(url), json!(true), json!(true)]);
    assert_eq!(summary(4), [Value::Null, json!(false), json!(false)]);
    // What a test cannot know is said.
    let answer = app.patch("/api/integrations", &json!({"agent": {"url": url, "token": "wrong"}})).await.expect(200);
    let message = answer["tested"][0]["message"].as_str().unwrap();
    assert!(answer["tested"][0]["service"] == "agent" && message.contains("the token was not tested"), "{answer}");
    // One that is taken away is not tested.
    app.patch("/api/integrations", &json!({"smartHome": {"url": null, "token": null}})).await.expect(200);
    let env = std::fs::read_to_string(app.folder().join(".env")).unwrap();
    assert!(env.contains("SMART_HOME_URL=\"\"") && !env.contains("t0k"), "{env}");
}

#[tokio::test]
async fn who_takes_away_what_another_source_sets_is_told_so() {
    let app = App::on(Db::sqlite()).env("PARTS_URL", "http://127.0.0.1:9").start().await;
    let answer = app.patch("/api/integrations", &json!({"parts": {"url": null}})).await.expect(200);
    let by = json!([{"name": "parts.url", "by": "PARTS_URL in the environment"}]);
    assert_eq!(
        (&answer["shadowed"], &answer["written"], &answer["restart"]),
        (&by, &json!([]), &json!([])),
        "{answer}"
    );
    let answer = app.patch("/api/settings", &json!({"settings": {"PARTS_URL": null}})).await.expect(200);
    assert_eq!(answer["shadowed"], by);
}

#[tokio::test]
async fn no_browser_says_which_program_the_server_runs() {
    let app = App::new(Db::sqlite()).await;
    for name in ["slicing.program", "PRINTFLOOR_SLICING__PROGRAM"] {
        let refused = app.patch("/api/settings", &json!({"settings": {name: "/bin/sh"}})).await.expect(400);
        assert!(refused["errors"][0]["message"].as_str().unwrap().contains("on the server's machine"), "{refused}");
    }
    app.patch("/api/settings", &json!({"settings": {"slicing.max_parallel": 2}})).await.expect(200);
}

#[test]
fn every_system_with_a_token_has_its_member() {
    for kind in Service::WITH_TOKEN {
        let body = json!({ kind.member(): {"url": null} }).to_string();
        assert!(read_body::<IntegrationsChange>(body.as_bytes()).is_ok(), "{body}");
    }
}
