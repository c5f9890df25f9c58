//! Monitoring: `/metrics`, `/healthz`, `/readyz`, the log.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use futures::future::join_all;
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database};
use serde_json::{Value, json};
use simulator::sink::Sink;

use super::{one_of, some_sku, with_role};
use crate::store::proxy::{Proxy, Wire};
use crate::support::{App, Db, on_sqlite, until};
use crate::whole::pay;

/// Maximum duration of a monitoring request while the database does not respond, on a machine that is busy with tests:
/// the request's parts wait 2 + 2 or 2 + 3 seconds, and one request may wait for another.
const MAX_LOOK: Duration = Duration::from_secs(20);

/// Returns the samples of a metrics page by name and labels, as written on the page.
fn samples(text: &str) -> HashMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').map(|(name, value)| (name, value.parse().unwrap())).unwrap()).collect()
}

/// Checks the requirements of `promtool check metrics` for a page in the older format: one help line and one type line
/// for each name.
fn every_sample_has_help_and_type(page: &str) {
    let named = |mark: &str| -> HashSet<String> {
        page.lines().filter_map(|line| line.strip_prefix(mark)?.split(' ').next().map(str::to_owned)).collect()
    };
    let (helps, types) = (named("# HELP "), named("# TYPE "));
    assert_eq!(helps, types);
    for name in samples(page).keys().map(|name| name.split('{').next().unwrap()) {
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(helps.contains(name) || helps.contains(family), "{name} has no help");
    }
}

#[tokio::test]
async fn the_numbers_are_for_operators_unless_they_are_public() {
    let app = App::new(Db::sqlite()).await;
    app.nobody().get("/metrics").await.error(401);
    with_role(&app, "customer").await.get("/metrics").await.error(403);
    let page = with_role(&app, "operator").await.get("/metrics").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3";
    let page = app.send(app.request("GET", "/metrics").header("Accept", prometheus)).await;
    assert!(page.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    assert!(page.text.ends_with("# EOF\n"));
    let public = App::on(Db::sqlite()).env("PRINTFLOOR_METRICS__PUBLIC", true).start().await;
    public.nobody().get("/metrics").await.headers.get("content-type").unwrap();
    assert_eq!(public.nobody().get("/metrics").await.status, 200);
}

on_sqlite! {
    async fn what_happens_is_counted(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        crate::api::webhooks::register(&app, &sink, &["order.created"]).await;
        for _ in 0..3 {
            app.post("/api/orders", &one_of(&sku)).await.expect(201);
        }
        app.get("/api/orders/01890000-0000-7000-8000-00000000dead").await.error(404);
        app.get("/no/such/path").await.error(404);
        crate::api::webhooks::got(&sink, 3).await;
        let page = until("the deliveries to be counted", || async {
            let page = app.get("/metrics").await;
            assert_eq!(page.status, 200);
            (samples(&page.text).get(r#"printfloor_webhook_attempts_total{result="delivered"}"#) == Some(&3.0)).then_some(page.text)
        })
        .await;
        let all = samples(&page);
        for (name, least) in [
            (r#"printfloor_http_requests_total{method="POST",route="/api/orders",status="201"}"#, 3.0),
            (r#"printfloor_http_request_seconds_count{method="POST",route="/api/orders"}"#, 3.0),
            (r#"printfloor_http_requests_total{method="GET",route="/api/orders/{id}",status="404"}"#, 1.0),
            (r#"printfloor_http_requests_total{method="*",route="*",status="404"}"#, 1.0),
            (r#"printfloor_commits_total{result="durable"}"#, 3.0),
            ("printfloor_transaction_seconds_count", 3.0),
            ("printfloor_transaction_commands_sum", 3.0),
            (r#"printfloor_actors{kind="order",status="running"}"#, 1.0),
            (r#"printfloor_actors{kind="endpoint",status="running"}"#, 1.0),
            (r#"printfloor_component_up{component="store"}"#, 1.0),
            ("printfloor_database_up", 1.0),
            ("printfloor_events_last_seq", 3.0),
            (r#"printfloor_event_followers{kind="endpoint"}"#, 1.0),
        ] {
            assert!(all.get(name).is_some_and(|sample| *sample >= least), "{name} in {page}");
        }
        for nothing in [
            r#"printfloor_commits_total{result="lost"}"#,
            r#"printfloor_actor_restarts_total{kind="order"}"#,
            r#"printfloor_commands_overloaded_total{kind="order"}"#,
            "printfloor_mails_pending",
        ] {
            assert_eq!(all.get(nothing), Some(&0.0), "{nothing} in {page}");
        }
        // Orders by status come from the database, now and then: the first look may have been before them.
        assert!(page.contains("# TYPE printfloor_orders gauge"), "{page}");
        every_sample_has_help_and_type(&page);
        assert!(all["process_resident_memory_bytes"] > 1e6 && all["process_cpu_seconds_total"] > 0.0, "{page}");
        assert!(all["process_open_fds"] > 3.0 && all["process_start_time_seconds"] > 1.7e9, "{page}");
        // However much happens, there are no more lines: no ids among the labels.
        let ids = page.lines().filter(|line| line.contains("0-7000-8000") || line.contains("-7")).count();
        assert_eq!(ids, 0, "{page}");
    }
}

#[tokio::test]
async fn orders_that_need_a_person_are_counted_by_flag() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let order = app.post("/api/orders", &one_of(&sku)).await.expect(201);
    app.post(&format!("/api/orders/{}/cancel", super::id(&order)), &json!({})).await.expect(200);
    assert_eq!(pay(&app, &order, "evt_late").await, Some(200));
    until("the flag to be counted", || async {
        let page = app.get("/metrics").await.text;
        (samples(&page).get(r#"printfloor_orders_flagged{flag="refund_due"}"#) == Some(&1.0)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn ready_says_of_every_part_how_it_fares() {
    let app = App::new(Db::sqlite()).await;
    let ready = app.get("/readyz").await.expect(200);
    assert_eq!((&ready["status"], &ready["database"], &ready["degraded"]), (&json!("ready"), &json!("ok"), &json!([])));
    for part in ["store", "order", "material", "printer", "endpoint", "mail", "inbound", "access", "dispatcher"] {
        assert_eq!(ready["components"][part], json!({"state": "up", "crashes": 0}), "{part} in {ready}");
    }
    assert_eq!(app.nobody().get("/healthz").await.expect(200), json!({"status": "ok"}));
}

#[tokio::test]
async fn in_production_every_line_of_a_request_is_json_with_its_id() {
    let Some(db) = Db::postgres().await else { return };
    let app = App::on(db)
        .env("PRINTFLOOR_ENV", "production")
        .env("PRINTFLOOR_LOG__FORMAT", "auto")
        .env("PRINTFLOOR_LOG__FILTER", "debug,sqlx=warn,sea_orm=warn,hyper=warn")
        .env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://shop.example")
        .env("SESSION_SECRET", "0123456789abcdef0123456789abcdef")
        .env("API_KEY_SALT", "a-salt-of-the-test")
        .env("SECRETS_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        .start()
        .await;
    assert!(app.key.as_ref().unwrap().starts_with("key_live_"));
    assert_eq!(app.with_key("key_test_x").get("/api/orders").await.error(401), "unauthorized");
    super::staff(&app, "ann@example.org", "admin").await;
    let login = app.nobody().request("POST", "/api/auth/login").header("X-Request-Id", "sign-in-7");
    let answer = app.send(login.json(&json!({"email": "ann@example.org", "password": super::PASSWORD}))).await;
    assert_eq!((answer.status, answer.header("x-request-id")), (200, Some("sign-in-7")));
    let cookie = answer.header("set-cookie").unwrap();
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/", "Secure"] {
        assert!(cookie.split("; ").any(|one| one == flag), "{flag} in {cookie}");
    }
    let mentions = |line: &Value| line["span"]["id"] == "sign-in-7" || line["spans"].to_string().contains("sign-in-7");
    let line = until("a line of the request", || async {
        let log = app.log();
        let lines = log.iter().filter(|line| line.starts_with('{'));
        let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
        lines.into_iter().find(|line| mentions(line))
    })
    .await;
    assert_eq!((&line["span"]["path"], &line["span"]["method"]), (&json!("/api/auth/login"), &json!("POST")));
    let refused = app.send(app.request("GET", "/api/orders").header("X-Request-Id", "two words")).await;
    assert_ne!(refused.header("x-request-id"), Some("two words"));
}

/// Starts a server whose connection to PostgreSQL can be cut; returns the server and the proxy between the two.
async fn on_a_wire(db: Db) -> (App, Proxy) {
    let url: url::Url = db.url().unwrap().parse().unwrap();
    let proxy = Proxy::to((url.host_str().unwrap().to_owned(), url.port().unwrap())).await;
    let mut through = url.clone();
    through.set_port(Some(proxy.port)).unwrap();
    (App::on(db).env("DATABASE_URL", through).start().await, proxy)
}

/// Sends several monitoring requests at once; each must be answered in time.
async fn looks_are_answered_in_time(app: &App) {
    let paths = ["/healthz", "/readyz", "/metrics"].into_iter().cycle().take(12);
    let looks = paths.map(|path| async move {
        let begun = Instant::now();
        let answer = app.get(path).await;
        assert!(begun.elapsed() < MAX_LOOK, "{path} took {:?}", begun.elapsed());
        assert!(answer.status == 200 || (path, answer.status) == ("/readyz", 503), "{path}: {answer:?}");
    });
    join_all(looks).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn monitoring_is_answered_in_time_while_the_database_hangs() {
    let Some(db) = Db::postgres().await else { return };
    let (app, proxy) = on_a_wire(db).await;
    looks_are_answered_in_time(&app).await;
    proxy.is(Wire::Silent);
    // Before the server has noticed, and afterwards.
    looks_are_answered_in_time(&app).await;
    looks_are_answered_in_time(&app).await;
    until("the server to notice", || async { (app.get("/readyz").await.status == 503).then_some(()) }).await;
    looks_are_answered_in_time(&app).await;
    proxy.is(Wire::Whole);
    let ready = || async { (app.nobody().get("/readyz").await.status == 200).then_some(()) };
    until("the server to be ready again", ready).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn monitoring_is_answered_in_time_while_the_database_is_locked() {
    let app = App::new(Db::sqlite()).await;
    let mut options = ConnectOptions::new(format!("sqlite://{}", app.data().join("printfloor.db").display()));
    options.max_connections(1);
    let other = Database::connect(options).await.unwrap();
    other.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
    let key = json!({"name": "floor", "role": "operator"});
    let (refused, ()) = tokio::join!(app.post("/api/auth/api-keys", &key), looks_are_answered_in_time(&app));
    assert!(refused.status >= 500, "{}", refused.text);
    looks_are_answered_in_time(&app).await;
    other.execute_unprepared("ROLLBACK").await.unwrap();
    let create_key = || async { (app.post("/api/auth/api-keys", &key).await.status == 201).then_some(()) };
    until("a key to be taken", create_key).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_database_the_server_says_so_and_lives() {
    let Some(db) = Db::postgres().await else { return };
    let (app, proxy) = on_a_wire(db).await;
    app.get("/metrics").await;
    for wire in [Wire::Cut, Wire::Silent] {
        proxy.is(wire);
        let away = until("the server to notice", || async {
            Some(app.get("/readyz").await).filter(|answer| answer.status == 503)
        })
        .await;
        assert!(away.header("retry-after").is_some(), "{away:?}");
        let away = away.json();
        assert_eq!(
            (&away["success"], &away["code"], &away["status"]),
            (&json!(false), &json!("unavailable"), &json!("unavailable"))
        );
        assert_eq!(
            (&away["database"], &away["components"]["order"]["state"]),
            (&json!("unavailable"), &json!("up")),
            "{away}"
        );
        app.nobody().get("/healthz").await.expect(200);
        // Keys are known without the database, and what is counted is shown.
        let page = app.get("/metrics").await;
        assert_eq!(page.status, 200);
        assert!(page.text.contains("printfloor_events_last_seq"), "{}", page.text);
        proxy.is(Wire::Whole);
        until("the server to be ready again", || async {
            (app.nobody().get("/readyz").await.status == 200).then_some(())
        })
        .await;
    }
}
