//! Malicious responses from every external system that the server calls or listens to: printers, webhook receivers, the
//! mail service, the agent gateway.

use std::time::Duration;

use axum::Router;
use axum::extract::WebSocketUpgrade;
use axum::extract::ws::Message;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::any;
use futures::future::join_all;
use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::app;
use super::hostile::{documents, parsed_again};
use crate::chaos::from_env;
use crate::support::{App, until};

/// Starts a server that gives the same response to every request, over HTTP and WebSockets.
async fn parrot(text: String) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let say = move |upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>| {
        let text = text.clone();
        async move {
            let Ok(upgrade) = upgrade else {
                let headers = [(header::CONTENT_TYPE, "application/json")];
                return (StatusCode::OK, headers, text).into_response();
            };
            upgrade.on_upgrade(async move |mut socket| {
                let _ = socket.send(Message::text(text)).await;
                while let Some(Ok(_)) = socket.recv().await {}
            })
        }
    };
    let router: Router = Router::new().fallback(any(say));
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

/// Calls every read operation and every command of a printer; none of the responses may report an internal error of the
/// server.
async fn everything_is_asked(app: &App, path: &str) {
    let file = app.upload("a.gcode", simulator::gcode::gcode("a", 60, 1.0, 300.0).into_bytes()).await.expect(201);
    // At once, as each of them may have to wait until no answer comes.
    join_all(["status", "info", "history", "webcams", "system-info", "files"].map(|question| async move {
        let answer = app.get(&format!("{path}/{question}")).await;
        // The history of a printer whose server lists no prints is empty.
        let expected = [200, 409, 502, 504].contains(&answer.status);
        assert!(expected, "{path} {question}: {} {}", answer.status, answer.text);
    }))
    .await;
    for command in ["pause", "resume", "cancel", "home", "restart-firmware", "emergency-stop", "connect"] {
        let answer = app.post(&format!("{path}/{command}"), &json!({})).await;
        assert!(answer.status != 500, "{path} {command}: {}", answer.text);
    }
    for (command, body) in [("gcode", json!({"commands": ["M105"]})), ("files", json!({"fileId": file["id"]}))] {
        let answer = app.post(&format!("{path}/{command}"), &body).await;
        assert!(answer.status != 500, "{path} {command}: {}", answer.text);
    }
}

#[tokio::test]
async fn no_answer_of_an_outside_system_ends_the_server() {
    let base = parrot(parsed_again()).await;
    // What a socket says that is no answer is waited out.
    let impatient = ("PRINTERS__REQUEST_TIMEOUT_SECONDS", "1");
    let app = app(&[impatient, ("MAIL__API_KEY", "key"), ("MAIL__API_URL", &base), ("AGENT__URL", &base)]).await;
    let before = app.pid();
    // All of them at once: most of the time, the server waits for answers.
    join_all(["fw_rest", "server_rest", "prusa_link", "sdcp"].map(|kind| {
        let (app, base) = (&app, &base);
        async move {
            let body = json!({
                "name": kind, "type": kind, "machineType": "fdm_standard", "baseUrl": format!("{base}/{kind}"), "apiKey": "k",
                "buildVolume": {"x": 220, "y": 220, "z": 250},
            });
            let printer = app.post("/api/printers", &body).await.expect(201);
            let path = format!("/api/printers/{}", printer["id"].as_str().unwrap());
            until("the printer to be known as unreachable", || async {
                let status = app.get(&format!("{path}/status")).await.expect(200);
                (status["connection"] == "unreachable").then_some(())
            })
            .await;
            everything_is_asked(app, &path).await;
        }
    }))
    .await;
    // A mail to be sent, whose answer is as bad.
    let low = json!({
        "name": "PLA", "type": "filament", "color": "#000000", "brand": "Acme", "quantity": 1, "unit": "g",
        "reorderPoint": 10, "reorderQuantity": 10,
    });
    app.post("/api/inventory/materials", &low).await.expect(201);
    tokio::time::timeout(Duration::from_secs(20), app.get("/readyz")).await.unwrap();
    let alive: Value = app.get("/healthz").await.expect(200);
    assert!(!alive.is_null());
    assert_eq!(app.pid(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_report_of_a_printer_ends_the_server() {
    send_reports(3).await;
}

mod long {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_report_of_a_printer_ends_the_server() {
        super::send_reports(1).await;
    }
}

/// Sends malicious documents as MQTT reports, which printers send unasked; in between, the printer behaves normally.
/// One document is followed by all operations on the printer; of the others, one in `drawn_of` is sent, starting with
/// one chosen by the run's seed.
async fn send_reports(drawn_of: usize) {
    let drawn = from_env("PRINTFLOOR_TEST_SEED", 0) as usize % drawn_of;
    let app = app(&[("PRINTERS__REQUEST_TIMEOUT_SECONDS", "1")]).await;
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::MqttLan, 1)).await.unwrap();
    let (printer, bambu) = (app.printer(&fleet.printers[0]).await, Bambu::of(&fleet.printers[0].handle).unwrap());
    let (before, path) = (app.pid(), format!("/api/printers/{printer}"));
    let is_sent = |what: &str, n: usize| what == "parsed again" || n % drawn_of == drawn;
    for (_, (what, text)) in documents().into_iter().enumerate().filter(|(n, document)| is_sent(document.0, *n)) {
        app.connected(&printer).await;
        let (text, reports) = (text.replacen("{\"name\":", "{\"print\":", 1), bambu.reports_sent());
        bambu.change(|setup| setup.says = Some(text));
        until(&format!("{what} to be said"), || async { (bambu.reports_sent() > reports + 1).then_some(()) }).await;
        if what == "parsed again" {
            everything_is_asked(&app, &path).await;
        }
        app.get("/healthz").await.expect(200);
        assert_eq!(app.pid(), before, "{what}");
        bambu.change(|setup| setup.says = None);
    }
    app.connected(&printer).await;
    fleet.shutdown();
}

/// Checks that only the start of a webhook receiver's response is stored, as text.
#[tokio::test]
async fn no_answer_of_a_receiver_ends_the_server_or_is_kept_as_a_whole() {
    let app = app(&[]).await;
    let before = app.pid();
    for (what, text) in documents() {
        let body = json!({"url": parrot(text.clone()).await, "events": ["order.paid"]});
        let endpoint = app.post("/api/webhooks/endpoints", &body).await.expect(201);
        let path = format!("/api/webhooks/endpoints/{}", endpoint["id"].as_str().unwrap());
        app.act(&format!("{path}/test")).await.expect(201);
        let excerpt = until(&format!("{what} to be answered"), || async {
            let log = app.get(&format!("{path}/deliveries")).await.expect(200);
            let delivery = &log["deliveries"][0];
            (delivery["state"] == "delivered").then(|| delivery["lastExcerpt"].as_str().unwrap().to_owned())
        })
        .await;
        assert!(
            excerpt.len() <= 1024 && text.starts_with(&excerpt) && !excerpt.is_empty(),
            "{what}: {} bytes",
            excerpt.len()
        );
        assert_eq!(app.pid(), before, "{what}");
    }
}

/// Makes the shop's other systems, of each kind, give malicious responses to their connection tests.
#[tokio::test]
async fn no_answer_of_an_integration_ends_the_server() {
    let app = app(&[]).await;
    let before = app.pid();
    for (what, text) in documents() {
        let base = parrot(text).await;
        for name in ["workflow", "farm_ui", "failure_detection", "smart_home", "parts", "spools", "agent"] {
            let settings = json!({format!("{name}.url"): base, format!("{name}.token"): "t"});
            let tested = app.post("/api/setup/test-connection", &json!({"service": name, "settings": settings})).await;
            assert!(tested.expect(200)["message"].is_string(), "{name}: {what}");
        }
        let settings = json!({"accounting.client_id": "shop", "accounting.token_url": base, "accounting.url": base});
        let test = json!({"service": "accounting", "settings": settings});
        let tested = app.post("/api/setup/test-connection", &test).await.expect(200);
        assert!(tested["ok"] == false && tested["message"].is_string(), "accounting: {what}");
        assert_eq!(app.pid(), before, "{what}");
    }
    app.get("/healthz").await.expect(200);
}
