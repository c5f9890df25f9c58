//! Requests that Schemathesis generates from the API description: none breaks the server, and every response matches
//! the description. Skipped if the program is not installed and services are not required.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use simulator::processor::{Payer, SimPaymentProcessor};
use simulator::{Fleet, FleetOptions, PrinterKind};

use crate::api::checkout::{KEY, knowing, tells};
use crate::api::quotes::models::upload;
use crate::api::{PASSWORD, one_of, sign_in, some_sku, staff, with_cookie};
use crate::billing::exports::exported;
use crate::billing::invoices::sent;
use crate::billing::{cookie_of, pay_token_of};
use crate::support::db::SERVICES;
use crate::support::drawing::draw;
use crate::support::{App, Client, Db};
use crate::whole::cube;

/// Environment variable with the path of a Python environment that contains Schemathesis.
const VENV: &str = "PRINTFLOOR_TEST_SCHEMATHESIS";

/// Environment variable with the number of requests generated for each operation, for a long manual run.
const EXAMPLES: &str = "PRINTFLOOR_TEST_SCHEMATHESIS_EXAMPLES";

/// In each run, one in this many operations receives the requests derived from the description's bounds, which make up
/// most of the requests.
const ONE_OF: u64 = 6;

/// Number of generated requests.
#[derive(Clone, Copy)]
enum Amount {
    /// For every run: a few requests for each operation, and those derived from bounds for the operations that the
    /// run's seed selects.
    Few,
    /// For the long profile: as configured in Schemathesis, with those derived from bounds for each operation.
    Full,
}

impl Amount {
    /// Returns the environment variables for the script: requests per operation, call sequences, and operations without
    /// requests derived from bounds.
    fn variables(self, description: &Value) -> Vec<(&'static str, String)> {
        match (std::env::var(EXAMPLES), self) {
            (Ok(examples), _) => vec![("EXAMPLES", examples)],
            (Err(_), Self::Few) => vec![
                ("EXAMPLES", "4".to_owned()),
                ("CHAINS", "20".to_owned()),
                ("WITHOUT_BOUNDS", json!(undrawn_operations(description)).to_string()),
            ],
            (Err(_), Self::Full) => Vec::new(),
        }
    }
}

/// Returns the operations of a description that the run's seed does not select.
fn undrawn_operations(description: &Value) -> Vec<&str> {
    let paths = description["paths"].as_object().unwrap();
    let operations = paths.values().filter_map(Value::as_object).flat_map(|path| path.values());
    let ids = operations.filter_map(|operation| operation["operationId"].as_str());
    ids.filter(|id| draw(("bounds", *id), ONE_OF) != 0).collect()
}

const AGENT: &str = "token-of-the-agent";

/// Email address of the customer in the billing API.
const ANN: &str = "ann@example.org";

fn id(body: &Value) -> String {
    body["id"].as_str().unwrap_or_else(|| panic!("no id: {body}")).to_owned()
}

/// Returns the path of the environment that contains the program; `None` if the test is skipped.
fn venv() -> Option<String> {
    let venv = std::env::var(VENV).ok();
    if venv.is_none() {
        assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {VENV} is not");
        eprintln!("left out: no {VENV}");
    }
    venv
}

fn script() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/schemathesis")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invented_requests_get_the_answers_that_are_described() {
    invent_requests_of_staff(Amount::Few).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invented_requests_of_customers_get_the_answers_that_are_described() {
    invent_requests_of_customers(Amount::Few).await;
}

mod long {
    use super::Amount;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn invented_requests_get_the_answers_that_are_described() {
        super::invent_requests_of_staff(Amount::Full).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn invented_requests_of_customers_get_the_answers_that_are_described() {
        super::invent_requests_of_customers(Amount::Full).await;
    }
}

async fn invent_requests_of_staff(amount: Amount) {
    let Some(venv) = venv() else { return };
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

    let mut run = Command::new(script());
    let description = app.get("/api/openapi.json").await.expect(200);
    run.arg("run").arg(&app.base).arg(app.folder()).env("VENV", venv).envs(amount.variables(&description));
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
    succeeds(run).await;
}

async fn invent_requests_of_customers(amount: Amount) {
    let Some(venv) = venv() else { return };
    let many = 1_000_000;
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let price = processor.add_price("Filament box", 2500, "usd");
    let app = knowing(&processor, Db::sqlite())
        .env("PRINTFLOOR_PAYMENTS__SUBSCRIPTION_PRICES", format!("[\"{price}\"]"))
        .env("PRINTFLOOR_LIMITS__CUSTOMER_REQUESTS_PER_MINUTE", many)
        .env("PRINTFLOOR_LIMITS__DRAFT_ORDERS_PER_HOUR", many)
        .env("PRINTFLOOR_LIMITS__ORDER_CHECKOUTS_PER_HOUR", many)
        .env("PRINTFLOOR_LIMITS__INTAKES_PER_HOUR", many)
        .env("PRINTFLOOR_LIMITS__EXPORTS_PER_HOUR", many)
        .env("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_EMAIL_PER_15_MINUTES", many)
        .env("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_ADDRESS_PER_15_MINUTES", many)
        .start()
        .await;
    tells(&processor, &app);
    let sku = some_sku(&app).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"public": true})).await.expect(200);
    let cookie = cookie_of(&app, ANN).await;
    let mut run = Command::new(script());
    run.arg("billing").arg(&app.base).arg(app.folder()).env("VENV", venv);
    run.env("SESSION", cookie.split_once('=').unwrap().1);
    run.envs(things_of_a_customer(&app, &with_cookie(&app, &cookie), &processor, &sku, &price).await);
    run.envs(amount.variables(&app.get("/api/v1/openapi.json").await.expect(200)));
    succeeds(run).await;
}

/// Creates one resource of each kind that a customer has, keyed by the names in `schemathesis-billing.toml`.
async fn things_of_a_customer(
    app: &App,
    ann: &Client,
    processor: &SimPaymentProcessor,
    sku: &str,
    price: &str,
) -> [(&'static str, String); 7] {
    let draft = ann.post("/api/v1/orders/draft", &one_of(sku)).await.expect(201);
    let invoice = sent(app, ANN).await;
    let pay_token = pay_token_of(app, &sent(app, ANN).await).await;
    let offer = json!({"customerEmail": ANN, "lines": [{"quantity": 1, "skuId": sku}]});
    let quote = id(&app.post("/api/quotes", &offer).await.expect(201));
    app.act(&format!("/api/quotes/{quote}/send")).await.expect(200);
    let model = upload(ann, "/api/v1/quotes/models", "cube.stl", cube().into_bytes(), &[]).await.expect(201);
    let begun = ann.post("/api/v1/subscriptions/checkout", &json!({"priceId": price})).await.expect(200);
    processor.act(begun["sessionId"].as_str().unwrap(), Payer::Pays).unwrap();
    let subscriptions = ann.get("/api/v1/subscriptions").await.expect(200);
    let export = exported(app, ann, ANN, json!({"type": "invoices"})).await;
    [
        ("ORDER_ID", draft["orderId"].as_str().unwrap().to_owned()),
        ("INVOICE_ID", invoice),
        ("PAY_TOKEN", pay_token),
        ("QUOTE_ID", quote),
        ("MODEL_ID", id(&model["model"])),
        ("SUBSCRIPTION_ID", id(&subscriptions["subscriptions"][0])),
        ("EXPORT_TOKEN", export.rsplit('/').next().unwrap().to_owned()),
    ]
}

async fn succeeds(mut run: Command) {
    let ran = tokio::task::spawn_blocking(move || run.output().unwrap()).await.unwrap();
    let (output, wrong) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    eprintln!("{}", output.lines().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n"));
    assert!(ran.status.success(), "{}\n{output}\n{wrong}", ran.status);
}
