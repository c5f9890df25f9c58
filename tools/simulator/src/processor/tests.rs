//! Tests that the simulated processor is as strict as the real one.

#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};

use super::{Payer, Renewal, SimPaymentProcessor};

const KEY: &str = "sk_test_simulated";
const SESSION: &str = "mode=payment&success_url=http://shop/yes&cancel_url=http://shop/no&line_items[0][quantity]=2\
    &line_items[0][price_data][currency]=usd&line_items[0][price_data][unit_amount]=500\
    &line_items[0][price_data][product_data][name]=Vase&metadata[orderId]=o1&payment_intent_data[metadata][orderId]=o1";

struct Caller {
    processor: SimPaymentProcessor,
    client: reqwest::Client,
}

impl Caller {
    async fn new() -> Self {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        Self { processor: SimPaymentProcessor::start(KEY).await.unwrap(), client: reqwest::Client::new() }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    }

    async fn post(&self, path: &str, form: &str, key: Option<&str>) -> (u16, Value) {
        let request = self.client.post(format!("{}/v1/{path}", self.processor.url())).bearer_auth(KEY);
        let request = key.into_iter().fold(request, |request, key| request.header("Idempotency-Key", key));
        self.send(request.body(form.to_owned())).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.client.get(format!("{}/v1/{path}", self.processor.url())).bearer_auth(KEY)).await
    }
}

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_session_is_paid_once_and_refunded_within_what_was_paid() {
    let it = Caller::new().await;
    let (status, session) = it.post("checkout/sessions", SESSION, None).await;
    assert_eq!((status, &session["amount_total"], &session["status"]), (200, &json!(1000), &json!("open")));
    assert!(session["payment_intent"].is_null() && session.get("data_metadata_of_simulator").is_none());
    it.processor.act(&id(&session), Payer::IsDeclined).unwrap();
    it.processor.act(&id(&session), Payer::Pays).unwrap();
    assert!(it.processor.act(&id(&session), Payer::Pays).is_err());
    let (_, session) = it.get(&format!("checkout/sessions/{}", id(&session))).await;
    assert_eq!((&session["status"], &session["payment_status"]), (&json!("complete"), &json!("paid")));
    let intent = session["payment_intent"].as_str().unwrap();
    let refund = |cents: i64| format!("payment_intent={intent}&amount={cents}");
    assert_eq!(it.post("refunds", &refund(1001), None).await.0, 400);
    assert_eq!(it.post("refunds", &refund(400), Some("a")).await.0, 200);
    assert_eq!(it.post("refunds", &refund(400), Some("a")).await.0, 200, "the same one");
    assert_eq!(it.post("refunds", &refund(600), Some("b")).await.0, 200);
    let (_, again) = it.post("refunds", &refund(1), None).await;
    assert_eq!(again["error"]["code"], "charge_already_refunded");
    let balance = it.processor.balance("o1");
    assert_eq!((balance.took, balance.gave_back, balance.payments), (1000, 1000, 1));
    let (_, refused) = it.post(&format!("checkout/sessions/{}/expire", id(&session)), "", None).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("status of complete"), "{refused}");
}

#[tokio::test]
async fn wrong_keys_parameters_and_repeats_are_refused() {
    let it = Caller::new().await;
    let wrong = it.client.get(format!("{}/v1/refunds", it.processor.url())).bearer_auth("sk_test_wrong");
    assert_eq!(it.send(wrong).await.0, 401);
    for (form, code) in [
        (format!("{SESSION}&surprise=1"), "parameter_unknown"),
        (format!("{SESSION}&customer=cus_none"), "resource_missing"),
        (format!("{SESSION}&customer_email=nobody"), "email_invalid"),
        (SESSION.replace("success_url=http://shop/yes&", ""), "parameter_missing"),
        (SESSION.replace("=500", "=10"), "amount_too_small"),
    ] {
        let (status, body) = it.post("checkout/sessions", &form, None).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(code)), "{form}: {body}");
    }
    let (_, first) = it.post("checkout/sessions", SESSION, Some("k")).await;
    let (_, again) = it.post("checkout/sessions", SESSION, Some("k")).await;
    assert_eq!(first, again);
    let (status, other) = it.post("checkout/sessions", &SESSION.replace("=500", "=600"), Some("k")).await;
    assert_eq!((status, &other["error"]["type"]), (400, &json!("idempotency_error")));
    it.processor.answer_next(&[429, 500]);
    assert_eq!(it.get("refunds").await.0, 429);
    assert_eq!(it.get("refunds").await.0, 500);
    assert_eq!(it.get("refunds").await.0, 200);
    assert_eq!(it.get("refunds/re_none").await.0, 404);
    assert_eq!(it.get("nothing").await.0, 404);
}

#[tokio::test]
async fn lists_come_in_pages_and_subscriptions_renew() {
    let it = Caller::new().await;
    let price = it.processor.add_price("Filament box", 2500, "usd");
    let mut ids = Vec::new();
    for n in 0..5 {
        let form = format!("email=c{n}@example.org&metadata[customerId]=u{n}");
        ids.push(id(&it.post("customers", &form, None).await.1));
    }
    let (_, page) = it.get("customers?limit=2").await;
    assert_eq!((page["data"].as_array().unwrap().len(), &page["has_more"]), (2, &json!(true)));
    let (_, rest) = it.get(&format!("customers?limit=10&starting_after={}", id(&page["data"][1]))).await;
    assert_eq!((rest["data"].as_array().unwrap().len(), &rest["has_more"]), (3, &json!(false)));
    let (_, hits) = it.get("customers/search?query=metadata%5B%27customerId%27%5D%3A%27u3%27").await;
    assert_eq!(hits["data"][0]["id"], ids[3].as_str());
    let form = format!(
        "mode=subscription&success_url=http://shop/&customer={}&line_items[0][price]={price}&subscription_data[metadata][a]=b",
        ids[0]
    );
    let (status, session) = it.post("checkout/sessions", &form, None).await;
    assert_eq!(status, 200, "{session}");
    it.processor.act(&id(&session), Payer::Pays).unwrap();
    let (_, list) = it.get(&format!("subscriptions?customer={}&status=all", ids[0])).await;
    let subscription = id(&list["data"][0]);
    let path = format!("subscriptions/{subscription}?expand[0]=latest_invoice&expand[1]=items.data.price.product");
    let (_, first) = it.get(&path).await;
    assert_eq!(first["items"]["data"][0]["price"]["product"]["name"], "Filament box");
    assert_eq!(first["latest_invoice"]["total"], 2500);
    it.processor.renew(&subscription, Renewal::Paid).unwrap();
    let (_, second) = it.get(&path).await;
    assert_eq!(second["items"]["data"][0]["current_period_start"], first["items"]["data"][0]["current_period_end"]);
    let (_, ending) = it.post(&format!("subscriptions/{subscription}"), "cancel_at_period_end=true", None).await;
    assert_eq!((&ending["status"], &ending["cancel_at_period_end"]), (&json!("active"), &json!(true)));
    it.processor.renew(&subscription, Renewal::Paid).unwrap();
    let (_, list) = it.get(&format!("subscriptions?customer={}", ids[0])).await;
    assert_eq!(list["data"], json!([]), "those that ended are left out unless asked for");
    assert_eq!(it.processor.event_counts().1, 0, "nobody to be told");
}
