use std::time::Duration;

use reqwest::{Client, StatusCode};
use simulator::sink::{Sink, SinkMode, standard_signature};

use crate::lab::PATIENCE;

pub fn client() -> Client {
    Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).timeout(PATIENCE).build().unwrap()
}

async fn status(sink: &Sink) -> StatusCode {
    client().post(sink.url()).body("{ }").send().await.unwrap().status()
}

#[tokio::test]
async fn it_remembers_bytes_and_headers() {
    let sink = Sink::start().await.unwrap();
    client().post(sink.url()).header("X-Service-Event", "job.done").body("{ \"a\":1}").send().await.unwrap();
    let got = sink.wait_until(|all| all.len() == 1, PATIENCE).await.unwrap();
    assert_eq!(&got[0].body[..], b"{ \"a\":1}");
    assert_eq!(
        (got[0].method.as_str(), got[0].uri.as_str(), got[0].header("x-service-event")),
        ("POST", "/hook", Some("job.done"))
    );
    assert!(sink.wait_until(|all| all.len() == 2, Duration::from_millis(20)).await.is_err());
}

#[tokio::test]
async fn it_checks_both_signatures() {
    let sink = Sink::start().await.unwrap();
    sink.verify_with("a-secret-of-enough-length");
    assert_eq!(status(&sink).await, StatusCode::UNAUTHORIZED, "unsigned");
    let now = jiff_now();
    let good = standard_signature("a-secret-of-enough-length", "msg_1", &now, b"{}");
    let signed = |signature: String, time: &str| {
        client()
            .post(sink.url())
            .header("webhook-id", "msg_1")
            .header("webhook-timestamp", time)
            .header("webhook-signature", signature)
            .body("{}")
    };
    assert_eq!(signed(format!("v1,other {good}"), &now).send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(signed(good.clone(), "1").send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let wrong = signed(good, &now).header("X-Service-Signature", "sha256=00").send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
    let last = sink.received().pop().unwrap();
    assert_eq!((last.verdict.service, last.verdict.standard), (Some(false), Some(true)));
}

fn jiff_now() -> String {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string()
}

#[tokio::test]
async fn it_misbehaves_as_told() {
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::FailFirst(2));
    assert_eq!(
        [status(&sink).await, status(&sink).await, status(&sink).await].map(|status| status.as_u16()),
        [500, 500, 200]
    );
    sink.set_mode(SinkMode::Status(302));
    assert_eq!(status(&sink).await, StatusCode::FOUND);
    sink.set_mode(SinkMode::Drop);
    assert!(!client().post(sink.url()).send().await.unwrap_err().is_timeout());
    sink.set_mode(SinkMode::Hang);
    assert!(client().post(sink.url()).timeout(Duration::from_millis(100)).send().await.unwrap_err().is_timeout());
    sink.set_mode(SinkMode::Slow(Duration::from_millis(50)));
    let before = std::time::Instant::now();
    assert_eq!(status(&sink).await, StatusCode::OK);
    assert!(before.elapsed() >= Duration::from_millis(50));
    assert_eq!(sink.received().iter().filter(|received| received.answered.is_none()).count(), 2);
}
