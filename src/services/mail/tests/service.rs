//! Tests of the mail service client: requests, rejections, and idempotency keys.

use simulator::peers::mail_service::SimMailService;

use super::*;

/// Requests received by the fake mail service, as headers and body.
pub(super) type Calls = Arc<Mutex<Vec<(axum::http::HeaderMap, serde_json::Value)>>>;

pub(super) async fn service(status: u16, answer: &'static str) -> (MailApi, Calls) {
    platform::tls::install_provider();
    let calls = Calls::default();
    let recorded = calls.clone();
    let handler = move |headers: axum::http::HeaderMap, axum::Json(body): axum::Json<serde_json::Value>| async move {
        recorded.lock().unwrap().push((headers, body));
        (axum::http::StatusCode::from_u16(status).unwrap(), answer)
    };
    let app = axum::Router::new().route("/emails", axum::routing::post(handler));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let client = platform::http::lan(&Default::default()).unwrap();
    let settings = ApiSettings { base_url, key: "re_key".into(), from: from().into() };
    (MailApi::new(client, settings).unwrap(), calls)
}

#[tokio::test]
async fn the_mail_service_gets_the_message_under_its_id() {
    let (mailer, calls) = service(200, r#"{"id":"1"}"#).await;
    mailer.send(&message("0190-a")).await.unwrap();
    let calls = calls.lock().unwrap();
    let (headers, body) = &calls[0];
    assert_eq!(headers["authorization"], "Bearer re_key");
    assert_eq!(headers["idempotency-key"], "0190-a");
    assert!(headers.contains_key("user-agent"));
    let expected = serde_json::json!({"from": from(), "to": ["Anna <anna@example.com>", "bob@example.org"],
        "subject": "Your order is on its way \u{e8}", "text": message("x").text});
    assert_eq!(body, &expected);
}

#[tokio::test]
async fn the_mail_service_refuses_for_now_or_for_good() {
    for (status, fatal) in
        [(400, true), (422, true), (401, false), (403, false), (409, false), (429, false), (500, false), (302, false)]
    {
        let (mailer, _) = service(status, r#"{"name":"x","message":"no such thing"}"#).await;
        let result = mailer.send(&message("a")).await;
        let reason = if fatal { rejected(result) } else { transient(result) };
        assert_eq!(reason, format!("the email service responded with {status}: no such thing"));
    }
    let (mailer, _) = service(502, "<html>").await;
    assert_eq!(transient(mailer.send(&message("a")).await), "the email service responded with 502");
    let (mailer, calls) = service(200, "").await;
    permanent(mailer.send(&Message { to: Vec::new(), ..message("a") }).await);
    assert!(calls.lock().unwrap().is_empty());
}

fn at(service: &SimMailService) -> MailApi {
    platform::tls::install_provider();
    let client = platform::http::lan(&Default::default()).unwrap();
    MailApi::new(client, ApiSettings { base_url: service.url(), key: "re_key".into(), from: from().into() }).unwrap()
}

#[tokio::test]
async fn a_message_whose_answer_was_lost_is_sent_once_and_a_changed_one_again() {
    let service = SimMailService::start("re_key").await.unwrap();
    let mailer = at(&service);
    service.lose_answers(true);
    transient(mailer.send(&message("a")).await);
    service.lose_answers(false);
    mailer.send(&message("a")).await.unwrap();
    assert_eq!(service.messages().len(), 1, "a repeat is recognised");
    let changed = Message { subject: "Another look".into(), ..message("a") };
    for _ in 0..2 {
        mailer.send(&changed).await.unwrap();
    }
    let subjects: Vec<_> = service.messages().iter().map(|body| body["subject"].clone()).collect();
    assert_eq!(subjects, [message("a").subject.as_str(), "Another look"], "neither lost nor sent at each try");
}

#[tokio::test]
async fn a_try_that_is_still_under_way_is_waited_for_and_no_other_key_is_taken() {
    let service = SimMailService::start("re_key").await.unwrap();
    let mailer = Arc::new(at(&service));
    service.hold(true);
    let first = tokio::spawn({
        let mailer = mailer.clone();
        async move { mailer.send(&message("a")).await }
    });
    while service.under_way() == 0 {
        tokio::task::yield_now().await;
    }
    let reason = transient(mailer.send(&message("a")).await);
    assert_eq!(reason, "the email service is still processing the previous attempt");
    service.hold(false);
    first.await.unwrap().unwrap();
    mailer.send(&message("a")).await.unwrap();
    assert_eq!(service.messages().len(), 1);
}
