//! The setup of a new shop: the one-time code, the first admin, tests of services, and the saved settings.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{fault_paths, paths, with_cookie, with_role};
use crate::support::client::Answer;
use crate::support::ports::closed_address;
use crate::support::redis::RedisServer;
use crate::support::{App, Client, Db, on_sqlite, until};

/// Returns the code that the server printed at start number `start`, counted from 1.
async fn code(app: &App, start: usize) -> String {
    until("a code to be printed", || async {
        let log = app.log();
        let line = log.iter().filter(|line| line.contains("one-time code is")).nth(start - 1)?;
        Some(line.split("code is ").nth(1)?.split(';').next()?.to_owned())
    })
    .await
}

/// Returns the cookie that a response sets.
fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").expect("a cookie").split(';').next().unwrap().to_owned()
}

async fn opened(app: &App, start: usize) -> Client {
    let code = code(app, start).await;
    let answer = app.nobody().post("/api/setup/session", &json!({ "code": code })).await;
    let set = answer.header("set-cookie").unwrap().to_owned();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict") && set.contains("Max-Age=7200"), "{set}");
    let cookie = cookie(&answer);
    answer.expect(204);
    with_cookie(app, &cookie)
}

fn dotenv(app: &App) -> PathBuf {
    app.folder().join(".env")
}

#[tokio::test]
async fn the_code_opens_the_setup_once() {
    let app = App::new(Db::sqlite()).await;
    let nobody = app.nobody();
    assert_eq!(nobody.get("/api/setup/status").await.error(401), "unauthorized");
    assert_eq!(with_role(&app, "operator").await.get("/api/setup/status").await.error(403), "insufficient_role");
    let wrong = nobody.post("/api/setup/session", &json!({"code": "AAAA-AAAA-AAAA"})).await;
    assert_eq!(wrong.error(401), "wrong_code");
    let setup = opened(&app, 1).await;
    let status = setup.get("/api/setup/status").await.expect(200);
    assert_eq!((&status["completedAt"], &status["hasAdmin"]), (&Value::Null, &json!(false)), "{status}");
    assert_eq!(nobody.post("/api/setup/session", &json!({"code": code(&app, 1).await})).await.error(401), "code_spent");
    // It opens the setup and nothing else.
    assert_eq!(setup.get("/api/users").await.error(401), "unauthorized");
    assert_eq!(setup.get("/api/settings").await.error(401), "unauthorized");
    let foreign = setup.request("POST", "/api/setup/admin").header("Origin", "https://evil.example").json(&json!({}));
    assert_eq!(setup.send(foreign).await.error(403), "cross_site");
    // An admin needs no code.
    app.get("/api/setup/status").await.expect(200);
}

#[tokio::test]
async fn whoever_guesses_ten_times_gets_no_further_until_the_next_start() {
    let mut app = App::new(Db::sqlite()).await;
    for n in 0..10 {
        let wrong = app.nobody().post("/api/setup/session", &json!({"code": format!("guess {n}")})).await;
        assert_eq!(wrong.error(401), "wrong_code");
    }
    let first = code(&app, 1).await;
    assert_eq!(app.nobody().post("/api/setup/session", &json!({"code": first})).await.error(401), "code_spent");
    app.stop().await;
    app.start().await;
    assert_ne!(code(&app, 2).await, first);
    opened(&app, 2).await;
}

#[tokio::test]
async fn the_first_admin_is_made_and_signed_in_and_there_is_one_first() {
    let app = App::new(Db::sqlite()).await;
    let setup = opened(&app, 1).await;
    let sam = json!({"email": "Sam@Example.org", "name": "Sam", "password": "correct horse battery"});
    let short = json!({"email": "nobody", "name": " ", "password": "short"});
    assert_eq!(paths(&setup.post("/api/setup/admin", &short).await.expect(400)), ["email", "name", "password"]);
    let answer = setup.post("/api/setup/admin", &sam).await;
    let signed_in = with_cookie(&app, &cookie(&answer));
    assert_eq!(answer.expect(200)["user"]["email"], "sam@example.org");
    assert_eq!(signed_in.get("/api/auth/me").await.expect(200)["user"]["role"], "admin");
    let other = json!({"email": "eve@example.org", "name": "Eve", "password": "correct horse battery"});
    assert_eq!(setup.post("/api/setup/admin", &other).await.error(409), "admin_exists");
    let log = app.get("/api/audit-log?action=user.create").await.expect(200);
    assert_eq!(log["entries"][0]["actor"], "setup", "{log}");
}

#[tokio::test]
async fn services_are_tested_with_what_is_sent_and_nothing_is_written() {
    let app = App::new(Db::sqlite()).await;
    let test = async |body: Value| app.post("/api/setup/test-connection", &body).await.expect(200);
    let database = test(json!({"service": "database"})).await;
    assert_eq!(database["ok"], true, "{database}");
    let closed = closed_address();
    for (service, settings) in [
        ("database", json!({"DATABASE_URL": format!("postgres://shop:hunter2@{closed}/shop")})),
        ("redis", json!({"REDIS_URL": format!("redis://{closed}")})),
        ("smtp", json!({"SMTP_HOST": "127.0.0.1", "SMTP_PORT": closed.port()})),
        ("smart_home", json!({"smart_home.url": format!("http://{closed}"), "SMART_HOME_TOKEN": "t"})),
        ("printer", json!({"type": "fw_rest", "baseUrl": format!("http://{closed}")})),
    ] {
        let failed = test(json!({"service": service, "settings": settings})).await;
        assert_eq!(failed["ok"], false, "{service}: {failed}");
        assert!(failed["detail"].is_string() && failed["latencyMs"].is_number(), "{service}: {failed}");
        assert!(!failed.to_string().contains("hunter2"), "{failed}");
    }
    assert_eq!(test(json!({"service": "parts"})).await["message"], "not configured");
    // Where no service of a shop is, nothing is dialled: an open port there is answered like a closed one.
    for (service, name, urls) in [
        (
            "database",
            "DATABASE_URL",
            ["postgres://169.254.169.254:80/x", "postgres://localhost/x?host=169.254.169.254&port=81"],
        ),
        ("redis", "REDIS_URL", ["redis://169.254.169.254:80", "redis://[fe80::1]:81"]),
        ("smtp", "SMTP_HOST", ["169.254.169.254", "169.254.1.1"]),
    ] {
        for url in urls {
            let failed = test(json!({"service": service, "settings": {name: url}})).await;
            assert!(failed["ok"] == false && failed["detail"].to_string().contains("not allowed"), "{url}: {failed}");
        }
    }
    for (body, path) in [
        (json!({"service": "coffee"}), "service"),
        (json!({"service": "redis", "settings": {"SMTP_HOST": "x"}}), "settings.mail.smtp_host"),
        (json!({"service": "redis", "settings": {"REDIS_HOST": "x"}}), "settings.REDIS_HOST"),
        (json!({"service": "printer", "settings": {"type": "fw_rest"}}), "settings.baseUrl"),
        (json!({"service": "smtp", "settings": {"SMTP_PORT": "many"}}), "settings.SMTP_PORT"),
    ] {
        assert_eq!(paths(&app.post("/api/setup/test-connection", &body).await.expect(400)), [path], "{body}");
    }
    let teapot =
        test(json!({"service": "printer", "settings": {"type": "teapot", "baseUrl": "http://127.0.0.1"}})).await;
    assert!(teapot["message"].as_str().unwrap().contains("unknown printer type"), "{teapot}");
    assert!(!dotenv(&app).exists());
}

on_sqlite! {
    async fn what_is_saved_is_tested_written_and_ends_the_setup(db: Db) {
        let mut app = App::new(db).await;
        let setup = opened(&app, 1).await;
        std::fs::write(dotenv(&app), "# my notes\nUNKNOWN=kept\nSMTP_FROM=\"Old <old@example.org>\"\n").unwrap();
        let closed = closed_address();
        let dead = json!({"settings": {"REDIS_URL": format!("redis://{closed}"), "PARTS_URL": format!("http://{closed}")}});
        let refused = setup.post("/api/setup/save", &dead).await.expect(400);
        assert_eq!((&refused["code"], fault_paths(&refused)), (&json!("connection_failed"), vec!["parts".to_owned(), "redis".to_owned()]));
        assert!(std::fs::read_to_string(dotenv(&app)).unwrap().contains("old@example.org"), "nothing is written");
        let invalid = json!({"settings": {"SMTP_FROM": "x", "server.public_url": "not an address"}});
        assert_eq!(setup.post("/api/setup/save", &invalid).await.error(400), "invalid_settings");

        let odd = "New $hop \"quoted\" <new@example.org>";
        let good = json!({"settings": {"SMTP_FROM": odd, "REDIS_URL": "", "PAYMENT_WEBHOOK_SECRET": "whsec_other_0123456789"}});
        let saved = setup.post("/api/setup/save", &good).await.expect(200);
        assert_eq!(saved["written"], json!(["SMTP_FROM", "PAYMENT_WEBHOOK_SECRET"]), "{saved}");
        assert_eq!(saved["restart"], json!(["mail.from"]), "{saved}");
        let shadowed = json!([{"name": "payments.webhook_secret", "by": "PAYMENT_WEBHOOK_SECRET in the environment"}]);
        assert_eq!(saved["shadowed"], shadowed, "{saved}");
        let text = std::fs::read_to_string(dotenv(&app)).unwrap();
        assert!(text.starts_with("# my notes\nUNKNOWN=kept\nSMTP_FROM=\"New \\$hop"), "{text}");
        let former = std::fs::read_to_string(app.folder().join(".env.bak")).unwrap();
        assert!(former.contains("old@example.org") && !former.contains("new@example.org"));
        for file in [".env", ".env.bak"] {
            let mode = std::fs::metadata(app.folder().join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }

        // It ends the session of the setup, for ever.
        assert_eq!(setup.get("/api/setup/status").await.error(401), "unauthorized");
        assert_eq!(app.nobody().post("/api/setup/session", &json!({"code": "x"})).await.error(409), "setup_completed");
        let log = app.get("/api/audit-log?action=setup.complete").await.expect(200);
        assert_eq!(log["entries"][0]["actor"], "setup", "{log}");
        assert_eq!(log["entries"][0]["detail"], json!({"written": ["SMTP_FROM", "PAYMENT_WEBHOOK_SECRET"]}), "{log}");
        let before = app.log().len();
        app.stop().await;
        app.start().await;
        assert!(!app.log()[before..].iter().any(|line| line.contains("one-time code")), "no code any more");
        let status = app.get("/api/setup/status").await.expect(200);
        assert!(status["completedAt"].is_string(), "{status}");
        let value = status["values"].as_array().unwrap().iter().find(|value| value["variable"] == "SMTP_FROM").unwrap();
        assert_eq!((&value["value"], &value["source"]), (&json!(odd), &json!("SMTP_FROM in .env")));
        let secret = status["values"].as_array().unwrap().iter().find(|value| value["variable"] == "PAYMENT_WEBHOOK_SECRET");
        assert_eq!((&secret.unwrap()["isSet"], &secret.unwrap()["value"]), (&json!(true), &Value::Null));
    }
}

#[tokio::test]
async fn health_tells_of_every_configured_service() {
    let closed = closed_address();
    let app = App::on(Db::sqlite()).env("PARTS_URL", format!("http://{closed}")).start().await;
    let health = app.get("/api/setup/health").await.expect(200);
    assert_eq!(health["ok"], false);
    let all = health["services"].as_array().unwrap();
    let of = |name: &str| all.iter().find(|one| one["service"] == name).map(|one| one["ok"] == true);
    assert_eq!((of("database"), of("payments"), of("parts"), of("redis")), (Some(true), Some(true), Some(false), None));
}

#[tokio::test]
async fn a_real_redis_passes_its_test() {
    let Some(redis) = RedisServer::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    let body = json!({"service": "redis", "settings": {"REDIS_URL": redis.url()}});
    let tested = app.post("/api/setup/test-connection", &body).await.expect(200);
    assert_eq!(tested["ok"], true, "{tested}");
}

#[tokio::test]
async fn a_search_tells_of_its_progress_and_ends_with_its_result() {
    let app = App::new(Db::sqlite()).await;
    let request = app.request("POST", "/api/setup/discover").header("Accept", "text/event-stream");
    let answer = app.send(request).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events: Vec<&str> = answer.text.split("\n\n").filter(|block| !block.is_empty()).collect();
    let last = events.last().unwrap();
    assert!(last.starts_with("event: result\ndata: {\"printers\":["), "{last}");
    // This machine alone, at five ports.
    assert!(answer.text.contains("event: progress\ndata: {\"done\":5,\"total\":5}"), "{}", answer.text);
    let result = app.act("/api/setup/discover").await.expect(200);
    assert!(result["printers"].is_array(), "{result}");
}
