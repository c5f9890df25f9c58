//! Tests of the client with a simulated processor: it accepts the requests, responses are parsed, and retries, failures
//! and pauses occur when they should.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use simulator::processor::{Payer, Renewal, SimPaymentProcessor as Simulated};
use simulator::stock::NetworkCondition;

use super::*;
use domain::schedule::Delays;
use platform::http::{LanSettings, lan};

const KEY: &str = "sk_test_of_the_client";

fn client(url: &str, key: &str, within: Duration) -> ProcessorClient {
    platform::tls::install_provider();
    let pauses = Delays { first: Duration::from_secs(60), longest: Duration::from_secs(60) };
    let settings = ClientSettings { api_base: url.to_owned(), secret_key: key.to_owned(), timeout: within, pauses };
    ProcessorClient::new(lan(&LanSettings::default()).unwrap(), &settings).unwrap()
}

async fn both() -> (Simulated, ProcessorClient) {
    let simulated = Simulated::start(KEY).await.unwrap();
    let client = client(&simulated.url(), KEY, Duration::from_secs(10));
    (simulated, client)
}

fn payment(cents: i64) -> NewPaymentSession {
    NewPaymentSession {
        reference: "o1".into(),
        metadata: vec![("orderId".into(), "o1".into())],
        title: "Order ORD-000001 & more".into(),
        amount_cents: cents,
        currency: "usd".into(),
        customer_email: Some("buyer+1@example.org".into()),
        success_url: "http://shop.example/thanks?a=1&b=2".into(),
        cancel_url: "http://shop.example/".into(),
    }
}

#[tokio::test]
async fn a_payment_is_made_paid_and_given_back() {
    let (there, client) = both().await;
    assert!(client.check().await.unwrap().contains("accepts the secret key"));
    let created = client.create_payment_session(&payment(1250), "order-o1-1").await.unwrap();
    assert_eq!(
        (created.status, created.paid, created.amount_cents, created.intent.clone()),
        (SessionStatus::Open, false, Some(1250), None)
    );
    assert_eq!(
        client.create_payment_session(&payment(1250), "order-o1-1").await.unwrap(),
        created,
        "one key, one session"
    );
    let other = client.create_payment_session(&payment(1300), "order-o1-1").await.unwrap_err();
    assert_eq!(other.code(), "idempotency_error");
    there.act(&created.id, Payer::Pays).unwrap();
    let paid = client.session(&created.id).await.unwrap();
    assert_eq!((paid.status, paid.paid, paid.url), (SessionStatus::Complete, true, None));
    let intent = paid.intent.unwrap();
    let back = NewRefund { intent: intent.clone(), amount_cents: 250, metadata: Vec::new() };
    for key in ["refund-1", "refund-1", "refund-2"] {
        assert!(client.create_refund(&back, key).await.unwrap().counts);
    }
    let sum: i64 = client.refunds(&intent).await.unwrap().iter().map(|one| one.amount_cents).sum();
    assert_eq!((sum, there.balance("o1").gave_back), (500, 500));
    let too_much = NewRefund { amount_cents: 751, ..back };
    assert!(matches!(
        client.create_refund(&too_much, "refund-3").await,
        Err(ProcessorError::Refused { status: 400, .. })
    ));
    let refused = client.expire_session(&created.id).await.unwrap_err();
    assert!(matches!(refused, ProcessorError::Refused { status: 400, .. }) && !refused.is_missing(), "{refused}");
    assert!(client.session("cs_nobody_knows").await.unwrap_err().is_missing());
    assert!(client.create_payment_session(&payment(10), "small").await.unwrap_err().is_about_amount());
    let open = client.create_payment_session(&payment(900), "order-o1-2").await.unwrap();
    assert_eq!(client.expire_session(&open.id).await.unwrap().status, SessionStatus::Expired);
}

#[tokio::test]
async fn lists_are_read_page_by_page() {
    let (there, client) = both().await;
    let created = client.create_payment_session(&payment(100_000), "k").await.unwrap();
    there.act(&created.id, Payer::Pays).unwrap();
    let intent = client.session(&created.id).await.unwrap().intent.unwrap();
    for _ in 0..250 {
        there.refund(&intent, Some(7)).unwrap();
    }
    assert_eq!(client.refunds(&intent).await.unwrap().len(), 250);
    let pages = there.calls().iter().filter(|call| *call == "GET /v1/refunds").count();
    assert_eq!(pages, 3, "a hundred each");
}

#[tokio::test]
async fn customers_are_found_by_our_id_and_subscribe() {
    let (there, client) = both().await;
    let price = there.add_price("Filament box", 2500, "eur");
    assert_eq!(client.find_customer("c-1").await.unwrap(), None);
    let new = NewCustomer { our_id: "c-1".into(), email: "ann@example.org".into(), name: Some("Ann".into()) };
    let customer = client.create_customer(&new, "customer-c-1").await.unwrap();
    assert_eq!(client.find_customer("c-1").await.unwrap(), Some(customer.clone()));
    assert_eq!(client.find_customer("c-1' OR email:'x").await.unwrap(), None, "no query within the query");
    there.add_card(&customer.id, "1881").unwrap();
    let cards = client.payment_methods(&customer.id).await.unwrap();
    assert_eq!((cards[0].brand.as_str(), cards[0].last4.as_str(), cards[0].exp_year), ("visa", "1881", Some(2031)));
    assert!(client.create_portal(&customer.id, "http://shop.example/me", "p1").await.unwrap().contains("/portal/bps_"));
    let new = NewSubscriptionSession {
        reference: "c-1".into(),
        metadata: vec![("customerId".into(), "c-1".into())],
        price,
        quantity: 2,
        customer: customer.id.clone(),
        success_url: "http://shop.example/yes".into(),
        cancel_url: "http://shop.example/no".into(),
    };
    let session = client.create_subscription_session(&new, "s1").await.unwrap();
    there.act(&session.id, Payer::Pays).unwrap();
    let all = client.subscriptions(&customer.id, 20).await.unwrap();
    let (one, item) = (&all[0], &all[0].items[0]);
    assert_eq!(
        (one.status.as_str(), one.currency.as_str(), item.amount_cents, item.quantity),
        ("active", "eur", 2500, 2)
    );
    assert!(item.period.is_some_and(|(from, to)| from < to) && item.interval == "month");
    let whole = client.subscription(&one.id).await.unwrap();
    assert_eq!(whole.items[0].product_name, "Filament box");
    assert_eq!(whole.latest_invoice.unwrap().total_cents, 5000);
    assert_eq!(whole.default_payment_method.unwrap().last4, "4242");
    assert!(client.set_cancel_at_period_end(&one.id, true).await.unwrap().cancel_at_period_end);
    assert!(!client.set_cancel_at_period_end(&one.id, false).await.unwrap().cancel_at_period_end);
    there.renew(&one.id, Renewal::Ended).unwrap();
    assert_eq!(client.subscriptions(&customer.id, 20).await.unwrap()[0].status, "canceled", "past ones are listed too");
}

#[tokio::test]
async fn safe_failures_are_tried_again_and_others_are_not() {
    let (there, client) = both().await;
    for statuses in [[429, 500], [409, 503]] {
        there.answer_next(&statuses);
        client.create_payment_session(&payment(1250), "again").await.unwrap();
    }
    assert_eq!(there.all("checkout.session").len(), 1);
    // The answer is lost, and the request is the same one.
    there.weather(NetworkCondition::LosesAnswers);
    assert!(matches!(client.create_payment_session(&payment(700), "lost").await, Err(ProcessorError::Unavailable(_))));
    there.weather(NetworkCondition::Fair);
    client.create_payment_session(&payment(700), "lost").await.unwrap();
    assert_eq!(there.all("checkout.session").len(), 2);
    let before = there.calls().len();
    assert!(client.session("cs_none").await.is_err());
    assert_eq!(there.calls().len(), before + 1, "a no is a no");
    there.answer_next(&[500; 3]);
    assert!(matches!(client.session("cs_none").await, Err(ProcessorError::Failing(_))));
    assert_eq!(there.calls().len(), before + 4, "tried a few times");
}

#[tokio::test]
async fn who_failed_often_is_left_alone_and_no_error_tells_the_key() {
    let simulated = Simulated::start(KEY).await.unwrap();
    let wrong = client(&simulated.url(), "sk_test_of_somebody_else", Duration::from_secs(10));
    assert_eq!(wrong.trouble(), None);
    for _ in 0..3 {
        let error = wrong.check().await.unwrap_err();
        assert_eq!(error, ProcessorError::Credentials(401));
        assert!(!error.to_string().contains("somebody"));
    }
    assert!(wrong.check().await.unwrap_err().to_string().contains("several failures in a row; next try in"));
    let trouble = wrong.trouble().unwrap();
    assert!(trouble.contains("rejects the secret key") && trouble.contains("3 times in a row"), "{trouble}");
    simulated.weather(NetworkCondition::Hangs);
    let hung = client(&simulated.url(), KEY, Duration::from_secs(2));
    let error = hung.check().await.unwrap_err();
    assert!(matches!(&error, ProcessorError::Unavailable(words) if words.contains("within 2 s")), "{error}");
    simulated.weather(NetworkCondition::Fair);
    hung.check().await.unwrap();
    assert_eq!(hung.trouble(), None);
}

#[test]
fn addresses_that_lead_elsewhere_are_refused() {
    platform::tls::install_provider();
    for url in ["ftp://pay.example", "http://user:pw@pay.example", "http://169.254.169.254/", "nonsense"] {
        let pauses = Delays { first: Duration::from_secs(1), longest: Duration::from_secs(1) };
        let settings = ClientSettings {
            api_base: url.to_owned(),
            secret_key: KEY.to_owned(),
            timeout: Duration::from_secs(1),
            pauses,
        };
        let client = ProcessorClient::new(lan(&LanSettings::default()).unwrap(), &settings);
        assert!(matches!(client, Err(ProcessorError::Settings(_))), "{url}");
    }
}

#[tokio::test]
async fn what_profiles_show_does_not_close_the_till() {
    for status in [403, 429] {
        let (there, client) = both().await;
        there.refuse_call("GET /v1/customers/search", status);
        for _ in 0..10 {
            assert!(client.find_customer("c1").await.is_err());
        }
        client.create_payment_session(&payment(1250), "order-o1-1").await.unwrap();
        assert_eq!(client.trouble().is_some(), status == 429, "a refusal of one thing is no trouble");
    }
}
