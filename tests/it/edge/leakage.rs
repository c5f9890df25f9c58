//! Information that strangers do not get: no method repeats a request, no path shows files or folders of the machine,
//! no header names the program, and counts are for operators.

use crate::api::{customer_of, with_role};
use crate::support::wire::Wire;
use crate::support::{App, Db};

#[tokio::test]
async fn no_method_repeats_what_was_sent() {
    let app = App::new(Db::sqlite()).await;
    for method in ["TRACE", "TRACK", "DEBUG"] {
        for path in ["/", "/api/orders", "/healthz", "/login"] {
            let mut wire = Wire::to(&app).await;
            wire.say(format!("{method} {path} HTTP/1.1\r\nhost: a\r\nx-secret: canary\r\n\r\n")).await;
            let (status, text) = wire.answer().await.expect("an answer");
            assert!((400..500).contains(&status) && !text.contains("canary"), "{method} {path}: {text}");
        }
    }
}

#[tokio::test]
async fn no_path_shows_files_or_folders_of_the_machine() {
    let app = App::new(Db::sqlite()).await;
    let nobody = app.nobody();
    for path in [
        "/.env",
        "/.git/HEAD",
        "/config.toml",
        "/printfloor.toml",
        "/secrets.env",
        "/data/secrets.env",
        "/data/printfloor.db",
        "/assets/",
        "/assets/..%2f..%2fsecrets.env",
        "/docs/..%2fconfig.toml",
        "/docs/%2e%2e%2fconfig.toml",
        "/brand/",
        "/files/",
        "/backups/",
        "/debug",
        "/server-status",
    ] {
        let answer = nobody.get(path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        for secret in ["SECRETS_KEY", "SQLite format", "[server]"] {
            assert!(!answer.text.contains(secret), "{path}: {}", answer.text);
        }
    }
    for path in ["/", "/login", "/healthz", "/api/orders"] {
        let answer = nobody.get(path).await;
        for name in ["server", "x-powered-by", "via"] {
            assert_eq!(answer.header(name), None, "{path}");
        }
    }
}

#[tokio::test]
async fn counts_are_for_operators_unless_they_are_made_public() {
    let app = App::new(Db::sqlite()).await;
    let (customer, operator) = (customer_of(&app, "ann@example.org").await, with_role(&app, "operator").await);
    for (client, status) in [(app.nobody(), 401), (customer, 403), (operator, 200)] {
        let answer = client.get("/metrics").await;
        assert_eq!(answer.status, status, "{}", answer.text);
        assert_eq!(answer.text.contains("printfloor_"), status == 200, "{}", answer.text);
    }
}
