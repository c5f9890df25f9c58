//! Requests that Schemathesis invents from the API's description: nothing breaks the server, and each answer is one
//! that the description knows. Left out only where nobody gave the program and nobody asked for services.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions, PrinterKind};

use crate::api::{PASSWORD, sign_in, staff};
use crate::support::db::SERVICES;
use crate::support::{App, Db};

/// A Python environment with Schemathesis in it.
const VENV: &str = "PRINTFLOOR_TEST_SCHEMATHESIS";

/// How many requests are invented for each operation, when not the few of `schemathesis.toml`: for a long run.
const EXAMPLES: &str = "PRINTFLOOR_TEST_SCHEMATHESIS_EXAMPLES";

const AGENT: &str = "token-of-the-agent";

fn id(body: &Value) -> String {
    body["id"].as_str().unwrap_or_else(|| panic!("no id: {body}")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invented_requests_get_the_answers_that_are_described() {
    let Ok(venv) = std::env::var(VENV) else {
        assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {VENV} is not");
        eprintln!("left out: no {VENV}");
        return;
    };
    // Addresses that are invented are not to be looked at all the time.
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", 60)
        .env("AGENT_TOKEN", AGENT)
        .start()
        .await;
    let options = FleetOptions { speed: 20.0, seed: 5, ..FleetOptions::of(PrinterKind::FwRest, 1) };
    let fleet = Fleet::start(options).await.unwrap();
    let printer = app.printer(&fleet.printers[0]).await;
    let material = app.material("PLA black", 100_000.0).await;
    let file = app.gcode("part", 60, 10.0).await;
    let sku = app.sku("PART", &material, &file, 1250).await;
    let order = app.paid_order(&sku, 3).await;
    let job = id(&app.jobs(&order).await[0]);
    let hook = json!({"url": "http://127.0.0.1:9/hooks", "events": ["order.shipped"]});
    let endpoint = id(&app.post("/api/webhooks/endpoints", &hook).await.expect(201));
    let delivery = id(&app.act(&format!("/api/webhooks/endpoints/{endpoint}/test")).await.expect(201));
    staff(&app, "sam@example.org", "admin").await;
    let cookie = sign_in(&app, "sam@example.org", PASSWORD).await;

    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/schemathesis");
    let mut run = Command::new(script);
    run.arg("run").arg(&app.base).arg(app.folder()).env("VENV", venv);
    if let Ok(examples) = std::env::var(EXAMPLES) {
        run.env("EXAMPLES", examples);
    }
    run.env("API_KEY", app.key.as_ref().unwrap())
        .env("AGENT_TOKEN", AGENT)
        .env("SESSION", cookie.split_once('=').unwrap().1);
    for (name, id) in [
        ("ORDER_ID", order),
        ("JOB_ID", job),
        ("MATERIAL_ID", material),
        ("SKU_ID", sku),
        ("FILE_ID", file),
        ("PRINTER_ID", printer),
        ("ENDPOINT_ID", endpoint),
        ("DELIVERY_ID", delivery),
    ] {
        run.env(name, id);
    }
    let ran = tokio::task::spawn_blocking(move || run.output().unwrap()).await.unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    eprintln!("{}", said.lines().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n"));
    assert!(ran.status.success(), "{}\n{said}\n{wrong}", ran.status);
}
