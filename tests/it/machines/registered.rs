//! Registration of machines: each only once, at an address that a printer can have, and its key is sent only to that
//! address.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::any;
use serde_json::{Value, json};
use simulator::bambu::Bambu;

use super::{FAST, Floor, JUDGE_LATE, PrinterKind, elsewhere, keyless, needs_serial};
use crate::support::{App, Db, on_sqlite, until};

/// A server that is not a printer and records the API keys that it receives; `None` for each request without a key.
struct Listener {
    base: String,
    keys: Arc<Mutex<Vec<Option<String>>>>,
}

impl Listener {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::<Mutex<Vec<_>>>::default();
        let keep = keys.clone();
        let note = move |headers: HeaderMap| async move {
            let key = headers.get("x-api-key").map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned());
            keep.lock().unwrap().push(key);
            "{}"
        };
        let router: Router = Router::new().fallback(any(note));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, keys }
    }

    /// Waits until the server has received a few more requests; returns the keys in them.
    async fn collect_keys(&self) -> Vec<String> {
        self.keys.lock().unwrap().clear();
        until("some requests", || async { (self.keys.lock().unwrap().len() > 3).then_some(()) }).await;
        self.keys.lock().unwrap().iter().flatten().cloned().collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_of_the_environment_goes_only_to_its_address_and_type() {
    let (theirs, other) = (Listener::start().await, Listener::start().await);
    let app = App::on(Db::sqlite())
        .env("FW_REST_URL", &theirs.base)
        .env("FW_REST_API_KEY", "the-key")
        // The pauses after failed looks are no longer than fifteen of these.
        .env("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", 0.02)
        .start()
        .await;
    let register = async |kind: &str, base_url: Option<&str>| {
        let body =
            json!({"name": "P", "type": kind, "machineType": "fdm_standard", "baseUrl": base_url.unwrap_or_default()});
        let printer = app.post("/api/printers", &body).await.expect(201);
        (printer["id"].as_str().unwrap().to_owned(), printer["hasApiKey"].as_bool().unwrap())
    };
    for kind in ["server_rest", "prusa_link"] {
        let (printer, has_key) = register(kind, Some(&theirs.base)).await;
        assert!(!has_key && theirs.collect_keys().await.is_empty(), "{kind}: another type at the same address");
        app.delete(&format!("/api/printers/{printer}")).await.expect(204);
    }
    let (elsewhere, has_key) = register("fw_rest", Some(&other.base)).await;
    assert!(!has_key && other.collect_keys().await.is_empty(), "another address");
    app.delete(&format!("/api/printers/{elsewhere}")).await.expect(204);
    let (printer, has_key) = register("fw_rest", None).await;
    let keys = theirs.collect_keys().await;
    assert!(has_key && keys.iter().all(|key| key == "the-key") && !keys.is_empty(), "{keys:?}");
    let moved = app.patch(&format!("/api/printers/{printer}"), &json!({"baseUrl": other.base})).await.expect(200);
    assert_eq!(moved["hasApiKey"], false, "{moved}");
    assert!(other.collect_keys().await.is_empty(), "it does not follow the printer");
}

each_kind! {
    #[drawn]
    async fn the_same_machine_is_not_registered_twice(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_LATE]).await;
        let body = |base_url: &str, serial: Option<&str>| json!({
            "name": "Again", "type": kind.as_str(), "machineType": "fdm_standard", "baseUrl": base_url,
            // Some are not reached without.
            "serial": serial.or(needs_serial(kind).then_some(&floor.sim(0).serial)),
            "apiKey": floor.sim(0).api_key,
        });
        let first = &floor.sim(0).base_url;
        let slash = first.split_once('?').map_or(format!("{first}/"), |(host, query)| format!("{host}/?{query}"));
        for written in [first.clone(), slash, first.replace("127.0.0.1", "localhost")] {
            let refused = floor.app.post("/api/printers", &body(&written, None)).await;
            assert_eq!(refused.error(409), "printer_exists", "{written}");
        }
        // At the same moment: one of them.
        floor.app.delete(&floor.path(0, "")).await.expect(204);
        let again = body(first, Some("01P00A"));
        let both = tokio::join!(floor.app.post("/api/printers", &again), floor.app.post("/api/printers", &again));
        let mut statuses = [both.0.status, both.1.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409]);
        let by_serial = body(elsewhere(kind), Some("01p00a"));
        assert_eq!(floor.app.post("/api/printers", &by_serial).await.error(409), "printer_exists", "by its serial");
        let moved = floor.app.patch(&floor.path(1, ""), &json!({"baseUrl": first})).await;
        assert_eq!(moved.error(409), "printer_exists");
        floor.app.patch(&floor.path(1, ""), &json!({"name": "Right"})).await.expect(200);
    }

    #[drawn]
    async fn a_key_does_not_follow_a_printer_to_another_address(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let home = floor.sim(0).base_url.clone();
        let moved = floor.app.patch(&floor.path(0, ""), &json!({"baseUrl": elsewhere(kind)})).await.expect(200);
        assert_eq!(moved["hasApiKey"], false, "{moved}");
        let back = floor.app.patch(&floor.path(0, ""), &json!({"baseUrl": home})).await.expect(200);
        assert_eq!(back["hasApiKey"], false, "gone for good: {back}");
        floor.connection_is(0, if keyless(kind) { "connected" } else { "wrong_key" }).await;
        let with_key = json!({"apiKey": floor.sim(0).api_key});
        assert_eq!(floor.app.patch(&floor.path(0, ""), &with_key).await.expect(200)["hasApiKey"], true);
        floor.connection_is(0, "connected").await;
    }

    async fn what_cannot_be_used_is_told_where_it_stands(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let body = |api_key: &str, serial: &str| json!({
            "name": "X", "type": kind.as_str(), "machineType": "fdm_standard", "baseUrl": elsewhere(kind),
            "apiKey": api_key, "serial": serial,
        });
        let fault = |answer: Value| (answer["errors"][0]["path"].clone(), answer["errors"][0]["message"].clone());
        let (path, words) = fault(floor.app.post("/api/printers", &body("two\nlines", "01S00A1")).await.expect(400));
        assert_eq!(path, "apiKey", "{words}");
        if !needs_serial(kind) {
            return;
        }
        let serial = "is required to connect to printers of type mqtt_lan";
        let (path, words) = fault(floor.app.post("/api/printers", &body("12345678", " ")).await.expect(400));
        assert_eq!((path, words), (json!("serial"), json!(serial)));
        let (path, words) = fault(floor.app.post("/api/printers", &body("12345678", "01S-0")).await.expect(400));
        assert_eq!((path, words), (json!("serial"), json!("\"01S-0\" is not a valid serial number")));
        let none = floor.app.patch(&floor.path(0, ""), &json!({"serial": null})).await.expect(400);
        assert_eq!(fault(none).0, "serial");
    }

    async fn another_program_at_the_address_is_told_in_words(kind: PrinterKind) {
        let floor = Floor::new(kind, 0, FAST, &[JUDGE_LATE]).await;
        let listener = Listener::start().await;
        let (http, mqtts) = (listener.base.clone(), listener.base.replacen("http", "mqtts", 1));
        let body = json!({
            "name": "X", "type": kind.as_str(), "machineType": "fdm_standard", "serial": "01S00A1", "apiKey": "12345678",
            "baseUrl": if kind == PrinterKind::MqttLan { mqtts } else { http },
        });
        let printer = floor.app.post("/api/printers", &body).await.expect(201);
        let path = format!("/api/printers/{}/status", printer["id"].as_str().unwrap());
        until("the words", || async {
            let status = floor.app.get(&path).await.expect(200);
            let words = status["message"].as_str().unwrap_or_default();
            (words.contains("check the port (usually ") && words.contains("and the printer type")).then_some(())
        })
        .await;
    }

    #[drawn]
    async fn only_http_urls_of_possible_printers_are_registered(kind: PrinterKind) {
        let floor = Floor::new(kind, 0, FAST, &[JUDGE_LATE]).await;
        for base_url in [
            "127.0.0.1:7125", "octopi.local", "ftp://127.0.0.1", "http://169.254.169.254/latest", "http://[fe80::1]:7125",
            "http://metadata.google.internal", "http://[::ffff:169.254.1.1]/",
        ] {
            let body = json!({"name": "X", "type": kind.as_str(), "machineType": "fdm_standard", "baseUrl": base_url});
            let refused = floor.app.post("/api/printers", &body).await.expect(400);
            let faults = refused["errors"].as_array().unwrap();
            assert!(faults.iter().any(|fault| fault["path"] == "baseUrl"), "{base_url}: {refused}");
        }
    }
}

// The access code goes only to the printer that was spoken to first, whatever stands in its place later.
on_sqlite! {
    async fn an_encrypting_printer_is_known_by_its_key_also_after_a_restart(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::MqttLan, 1, FAST, &[JUDGE_LATE]).await;
        floor.wait_for_poll(0).await;
        floor.app.kill_9();
        let bambu = Bambu::of(&floor.sim(0).handle).unwrap();
        bambu.change(|setup| setup.other_certificate = true);
        floor.app.start().await;
        let changed = "has changed since the first connection";
        let is_warning = |status: &Value| status["message"].as_str().is_some_and(|words| words.contains(changed));
        floor.status_until("the other key to be told", 0, is_warning).await;
        assert_eq!(bambu.clients(), 0, "it hears no code");
        // Whoever connects it anew vouches for it.
        floor.app.act(&floor.path(0, "/disconnect")).await.expect(200);
        floor.app.act(&floor.path(0, "/connect")).await.expect(200);
        floor.connection_is(0, "connected").await;
    }
}
