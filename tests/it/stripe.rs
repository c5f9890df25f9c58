//! Requests of the payment processor's official client and of the server's client: they are the same, so that requests
//! of one, repeated by the other with the same keys, get the same responses. In addition, the simulated processor is
//! compared with another simulator.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use printfloor::domain::payment_event::sign;
use printfloor::domain::schedule::Delays;
use printfloor::platform::http::{LanSettings, lan};
use printfloor::services::payments::{
    ClientSettings, NewCustomer, NewPaymentSession, NewRefund, NewSubscriptionSession, PaymentProcessor,
    ProcessorClient, ProcessorError,
};
use serde_json::{Value, json};
use simulator::processor::{Payer, SimPaymentProcessor as Simulated};

use crate::support::db::SERVICES;
use crate::support::ports::free_port;
use crate::support::until;
use crate::whole::unix_now;

/// Environment variable with the path of a Python environment that contains the processor's client and localstripe.
const VENV: &str = "PRINTFLOOR_TEST_STRIPE";
const KEY: &str = "sk_test_of_both";

fn venv() -> Option<String> {
    let venv = std::env::var(VENV).ok();
    assert!(venv.is_some() || std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {VENV} is not");
    if venv.is_none() {
        eprintln!("left out: no {VENV}");
    }
    venv
}

fn peer() -> Command {
    Command::new(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/stripe"))
}

fn client(url: &str) -> ProcessorClient {
    let pauses = Delays { first: Duration::from_millis(100), longest: Duration::from_millis(100) };
    let timeout = Duration::from_secs(20);
    let settings = ClientSettings { api_base: url.to_owned(), secret_key: KEY.to_owned(), timeout, pauses };
    ProcessorClient::new(lan(&LanSettings::default()).unwrap(), &settings).unwrap()
}

fn pairs(name: &str, value: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), value.to_owned())]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_clients_send_the_same() {
    let Some(venv) = venv() else { return };
    let there = Simulated::start(KEY).await.unwrap();
    let ours = client(&there.url());
    let price = there.add_price("Filament box", 2500, "usd");
    let new = NewCustomer { our_id: "c-1".into(), email: "ann@example.org".into(), name: Some("Ann".into()) };
    let customer = ours.create_customer(&new, "k-customer").await.unwrap().id;
    there.add_card(&customer, "1881").unwrap();
    let new = NewPaymentSession {
        reference: "o1".into(),
        metadata: pairs("orderId", "o1"),
        title: "Order ORD-000001 & more".into(),
        amount_cents: 1250,
        currency: "usd".into(),
        customer_email: Some("buyer+1@example.org".into()),
        success_url: "http://shop.example/thanks?a=1&b=2".into(),
        cancel_url: "http://shop.example/".into(),
    };
    let payment = ours.create_payment_session(&new, "k-payment").await.unwrap().id;
    there.act(&payment, Payer::Pays).unwrap();
    let intent = ours.session(&payment).await.unwrap().intent.unwrap();
    let back = NewRefund { intent: intent.clone(), amount_cents: 250, metadata: pairs("orderId", "o1") };
    let refund = ours.create_refund(&back, "k-refund").await.unwrap().id;
    for _ in 0..4 {
        there.refund(&intent, Some(10)).unwrap();
    }
    let new = NewSubscriptionSession {
        reference: "c-1".into(),
        metadata: pairs("customerId", "c-1"),
        price: price.clone(),
        quantity: 2,
        customer: customer.clone(),
        success_url: "http://shop.example/yes".into(),
        cancel_url: "http://shop.example/no".into(),
    };
    let begun = ours.create_subscription_session(&new, "k-subscription").await.unwrap().id;
    there.act(&begun, Payer::Pays).unwrap();
    let subscription = ours.subscriptions(&customer, 10).await.unwrap().remove(0);
    let portal = ours.create_portal(&customer, "http://shop.example/me", "k-portal").await.unwrap();
    let body = r#"{"id": "evt_1", "object": "event", "type": "charge.refunded", "data": {"object": {"id": "ch_1", "object": "charge"}}}"#;
    let signed = sign(body.as_bytes(), "whsec_both", unix_now());
    let input = json!({"customer": customer, "price": price, "intent": intent, "signed": [body, signed, "whsec_both"]});

    let mut drive = peer();
    drive.args(["drive", &venv, &there.url(), KEY, &input.to_string()]);
    let ran = tokio::task::spawn_blocking(move || drive.output().unwrap()).await.unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let output: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let same = json!({
        "customer": customer, "payment": payment, "subscription_session": begun, "refund": refund, "portal": portal,
        "session": ["complete", "paid", intent, 1250], "refunds": 5, "found": [customer], "cards": ["4242", "1881"],
        "subscriptions": [[subscription.id, "active", 2]], "whole": [5000, "4242"], "ending": true,
        "errors": [
            ["AuthenticationError", 401, null, null],
            ["IdempotencyError", 400, null, null],
            ["InvalidRequestError", 400, "parameter_unknown", "surprise"],
            ["InvalidRequestError", 404, "resource_missing", "id"],
            ["InvalidRequestError", 400, null, "session"],
        ],
        "event": "charge.refunded",
    });
    assert_eq!(output, same, "{output:#}");
    assert!(ours.subscription(&subscription.id).await.unwrap().cancel_at_period_end);
}

/// Program stopped when this value is dropped.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn form(url: &str, path: &str, body: &str) -> Value {
    let request = crate::support::client::http().post(format!("{url}/v1/{path}")).bearer_auth(KEY);
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(body.to_owned());
    let answer = request.send().await.unwrap().text().await.unwrap();
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_simulation_of_the_processor_is_understood() {
    let Some(venv) = venv() else { return };
    let port = free_port();
    let mut program = peer();
    program.args(["local", &venv, &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    let _running = Running(program.spawn().unwrap());
    let url = format!("http://127.0.0.1:{port}");
    let ours = client(&url);
    let new = NewCustomer { our_id: "c-1".into(), email: "ann@example.org".into(), name: Some("Ann".into()) };
    let customer = until("localstripe to answer", || async { ours.create_customer(&new, "k-1").await.ok() }).await;
    assert_eq!(customer.email.as_deref(), Some("ann@example.org"));

    let card = form(
        &url,
        "payment_methods",
        "type=card&card[number]=4242424242424242&card[exp_month]=12&card[exp_year]=2031&card[cvc]=123",
    )
    .await;
    let card = card["id"].as_str().unwrap();
    form(&url, &format!("payment_methods/{card}/attach"), &format!("customer={}", customer.id)).await;
    let paid = format!("amount=1250&currency=usd&customer={}&payment_method={card}&confirm=true", customer.id);
    let intent = form(&url, "payment_intents", &paid).await;
    assert_eq!(intent["status"], "succeeded", "{intent}");
    let intent = intent["id"].as_str().unwrap().to_owned();
    let back = |intent: &str, cents| NewRefund {
        intent: intent.to_owned(),
        amount_cents: cents,
        metadata: pairs("orderId", "o1"),
    };
    for (key, cents) in [("k-2", 250), ("k-3", 300)] {
        assert!(ours.create_refund(&back(&intent, cents), key).await.unwrap().counts);
    }
    let went: Vec<i64> = ours.refunds(&intent).await.unwrap().iter().map(|one| one.amount_cents).collect();
    assert_eq!(went.iter().sum::<i64>(), 550, "{went:?}");
    let refused = ours.create_refund(&back("pi_of_nobody", 1), "k-4").await.unwrap_err();
    assert!(matches!(&refused, ProcessorError::Refused { .. }) && refused.is_missing(), "{refused}");
    let cards = ours.payment_methods(&customer.id).await.unwrap();
    assert_eq!((cards[0].last4.as_str(), cards[0].exp_year), ("4242", Some(2031)));
}
