#![expect(clippy::unwrap_used, reason = "tests")]
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::*;
use platform::http::{Lookup, Outbound, OutboundSettings};

type Seen = Arc<Mutex<Vec<(HeaderMap, Bytes)>>>;

struct Receiver {
    address: SocketAddr,
    requests: Seen,
}

impl Receiver {
    async fn start() -> Self {
        platform::tls::install_provider();
        let requests = Seen::default();
        let app = Router::new()
            .route("/ok", post(record))
            .route("/redirect", post(|| async { Redirect::temporary("/ok") }))
            .route("/gone", post(|| async { (StatusCode::GONE, "no such hook") }))
            .route("/empty", post(|| async { StatusCode::NO_CONTENT }))
            .route("/hang", post(std::future::pending::<()>))
            .route("/drip", post(|| async { endless("x".into(), true) }))
            .route("/huge", post(|| async { endless("é".repeat(1000), false) }))
            .route("/binary", post(|| async { [0_u8, 255].repeat(1000) }))
            .with_state(requests.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

async fn record(State(requests): State<Seen>, headers: HeaderMap, body: Bytes) -> &'static str {
    requests.lock().unwrap().push((headers, body));
    "thanks"
}

/// Builds a response whose body never ends: either one chunk followed by silence, or the same chunk repeated.
fn endless(piece: String, once: bool) -> Response {
    let first = stream::once(futures::future::ready(piece.clone()));
    let rest = if once { stream::pending().boxed() } else { stream::repeat(piece).boxed() };
    axum::body::Body::from_stream(first.chain(rest).map(Ok::<_, Infallible>)).into_response()
}

/// Resolver that returns the same addresses for every name.
struct Always(Vec<IpAddr>);

impl Lookup for Always {
    fn lookup(&self, _: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let addresses = self.0.clone();
        Box::pin(async move { Ok(addresses) })
    }
}

fn sender(allow_private: bool, timeout: Duration) -> Sender {
    platform::tls::install_provider();
    let settings =
        OutboundSettings { connect_timeout: Duration::from_secs(5), timeout, allow_private, idle_per_host: 2 };
    let local = Always(vec![IpAddr::from([127, 0, 0, 1])]);
    Sender::new(Arc::new(Outbound::with_lookup(settings, Arc::new(local)).unwrap()))
}

fn open() -> Sender {
    sender(true, Duration::from_secs(15))
}

fn impatient() -> Sender {
    sender(true, Duration::from_millis(250))
}

fn delivery(url: String) -> OutgoingDelivery {
    OutgoingDelivery {
        id: "0190-delivery".into(),
        event_id: "0190-event".into(),
        event: "order.shipped".into(),
        url,
        body: Bytes::from_static("{\"id\": \"0190-event\",  \"data\":{\"carrier\":\"Poste è\"}}".as_bytes()),
        secret: signing::generate_secret([1; 32]),
        old_secret: Some("the old one, twenty-four bytes".into()),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[tokio::test]
async fn a_delivery_arrives_byte_for_byte_with_every_header() {
    let receiver = Receiver::start().await;
    let delivery = delivery(receiver.url("/ok"));
    let sent = open().send(&delivery, at(1_700_000_000)).await;
    assert_eq!((sent.status, sent.ok, sent.error.as_deref()), (Some(200), true, None));
    assert_eq!(sent.excerpt.as_deref(), Some("thanks"));

    let requests = receiver.requests.lock().unwrap();
    let [(headers, body)] = &requests[..] else { panic!("{} requests", requests.len()) };
    assert_eq!(body, &delivery.body);
    let header = |name: &str| headers[name].to_str().unwrap();
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(header("user-agent"), concat!("Printfloor/", env!("CARGO_PKG_VERSION")));
    assert_eq!(header("x-service-event"), "order.shipped");
    assert_eq!(header("x-service-delivery"), "0190-delivery");
    assert_eq!(header("webhook-id"), "0190-event");
    assert_eq!(header("webhook-timestamp"), "1700000000");
    assert!(signing::verify_service(&delivery.secret, body, header("x-service-signature")));
    for secret in [&delivery.secret, delivery.old_secret.as_ref().unwrap()] {
        assert!(signing::verify_webhook(secret, "0190-event", 1_700_000_000, body, header("webhook-signature")));
    }
}

#[tokio::test]
async fn a_second_attempt_differs_in_its_stamp_and_the_signature_of_it_only() {
    let receiver = Receiver::start().await;
    let delivery = delivery(receiver.url("/ok"));
    open().send(&delivery, at(1_700_000_000)).await;
    open().send(&delivery, at(1_700_000_060)).await;
    let requests = receiver.requests.lock().unwrap();
    assert_eq!(requests[0].1, requests[1].1);
    let mut changed: Vec<&str> = requests[0]
        .0
        .iter()
        .filter(|(name, value)| requests[1].0.get(*name) != Some(value))
        .map(|(name, _)| name.as_str())
        .collect();
    changed.sort_unstable();
    assert_eq!(changed, ["webhook-signature", "webhook-timestamp"]);
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let receiver = Receiver::start().await;
    let sent = open().send(&delivery(receiver.url("/redirect")), at(0)).await;
    assert_eq!((sent.status, sent.ok), (Some(307), false));
    assert_eq!(sent.error.as_deref(), Some("responded with 307; redirects are not followed"));
    assert!(receiver.requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn every_2xx_is_a_success_and_every_other_answer_a_failure() {
    let receiver = Receiver::start().await;
    let sent = open().send(&delivery(receiver.url("/empty")), at(0)).await;
    assert_eq!((sent.status, sent.ok, sent.excerpt), (Some(204), true, None));
    let sent = open().send(&delivery(receiver.url("/gone")), at(0)).await;
    assert_eq!((sent.status, sent.ok), (Some(410), false));
    assert_eq!(sent.error.as_deref(), Some("responded with 410"));
    assert_eq!(sent.excerpt.as_deref(), Some("no such hook"));
}

#[tokio::test]
async fn silence_before_or_within_the_answer_is_a_timeout() {
    let receiver = Receiver::start().await;
    let sent = impatient().send(&delivery(receiver.url("/hang")), at(0)).await;
    assert_eq!((sent.status, sent.ok), (None, false));
    assert_eq!(sent.error.as_deref(), Some("no complete response within 0.25 s"));
    assert!(sent.duration_ms >= 250, "{}", sent.duration_ms);
    let sent = sender(true, Duration::from_secs(3)).send(&delivery(receiver.url("/drip")), at(0)).await;
    assert_eq!((sent.status, sent.ok), (Some(200), false));
    assert_eq!(sent.error.as_deref(), Some("no complete response within 3 s"));
}

#[tokio::test]
async fn an_endless_answer_is_read_a_little_and_kept_less() {
    let receiver = Receiver::start().await;
    let sent = open().send(&delivery(receiver.url("/huge")), at(0)).await;
    assert!(sent.ok, "{sent:?}");
    assert_eq!(sent.excerpt.as_deref(), Some("é".repeat(512).as_str()));
}

#[tokio::test]
async fn an_answer_that_is_no_text_becomes_one_without_nul() {
    let receiver = Receiver::start().await;
    let sent = open().send(&delivery(receiver.url("/binary")), at(0)).await;
    let excerpt = sent.excerpt.unwrap();
    assert!(excerpt.len() <= MAX_ANSWER_KEPT_BYTES && !excerpt.contains('\0'), "{excerpt}");
}

#[tokio::test]
async fn a_name_that_resolves_to_a_local_address_is_blocked_when_dialled() {
    let receiver = Receiver::start().await;
    let delivery = delivery(format!("http://hooks.example.com:{}/ok", receiver.address.port()));
    let sent = sender(false, Duration::from_secs(15)).send(&delivery, at(0)).await;
    assert_eq!((sent.status, sent.ok), (None, false));
    assert_eq!(sent.error.as_deref(), Some("the host's address is not allowed: loopback"));
    assert!(receiver.requests.lock().unwrap().is_empty());
    // The same name is dialled when private targets are allowed, so it was the guard that stopped it.
    assert!(open().send(&delivery, at(0)).await.ok);
}

#[tokio::test]
async fn literal_addresses_in_any_form_are_blocked() {
    let receiver = Receiver::start().await;
    let port = receiver.address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
    ] {
        let sent =
            sender(false, Duration::from_secs(15)).send(&delivery(format!("http://{host}:{port}/ok")), at(0)).await;
        assert_eq!(sent.status, None, "{host}");
        assert!(
            sent.error.as_deref().is_some_and(|error| error.starts_with("the address is not allowed")),
            "{host}: {sent:?}"
        );
    }
    assert!(receiver.requests.lock().unwrap().is_empty());
    let mapped = open().send(&delivery(format!("http://[::ffff:127.0.0.1]:{port}/ok")), at(0)).await;
    assert!(mapped.ok, "{mapped:?}");
}

#[tokio::test]
async fn a_closed_port_a_broken_connection_and_bad_input_are_told_plainly() {
    // Bound and dropped, so that nobody listens there.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let sent = open().send(&delivery(format!("http://{free}/")), at(0)).await;
    assert_eq!(sent.error.as_deref(), Some("the connection was refused"));

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let broken = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut some = [0; 64];
        let read = socket.read(&mut some).await.unwrap();
        assert!(read > 0);
    });
    let sent = open().send(&delivery(format!("http://{address}/")), at(0)).await;
    assert_eq!(sent.error.as_deref(), Some("the connection was closed before a response arrived"));
    broken.await.unwrap();

    let mut bad = delivery(format!("http://{address}/"));
    bad.event = "order\nshipped".into();
    assert_eq!(open().send(&bad, at(0)).await.error.as_deref(), Some("the request could not be built"));
    let sent = open().send(&delivery("not a url".into()), at(0)).await;
    assert_eq!(sent.error.as_deref(), Some("the URL must be absolute and have a host"));
}

#[tokio::test]
async fn a_receiver_without_tls_behind_https_is_told_plainly() {
    let receiver = Receiver::start().await;
    let sent = open().send(&delivery(format!("https://{}/ok", receiver.address)), at(0)).await;
    assert_eq!(sent.error.as_deref(), Some("the TLS connection failed; the certificate may be invalid"));
}

/// Transport that gives the same answer to every request.
struct Constant(Result<WebhookResponse, WebhookFault>);

#[async_trait]
impl WebhookTransport for Constant {
    async fn post(&self, _: &WebhookRequest) -> Result<WebhookResponse, WebhookFault> {
        self.0.clone()
    }
}

#[tokio::test]
async fn answers_are_judged_in_front_of_the_port() {
    let response = |status, timeout: Option<&str>| {
        Ok(WebhookResponse { status, beginning: b"no".to_vec(), timeout: timeout.map(str::to_owned) })
    };
    let redirect = "responded with 308; redirects are not followed";
    for (answer, status, error) in [
        (response(299, None), Some(299), None),
        (response(308, None), Some(308), Some(redirect)),
        (response(503, None), Some(503), Some("responded with 503")),
        (response(200, Some("too late")), Some(200), Some("too late")),
        (Err(WebhookFault("refused".to_owned())), None, Some("refused")),
    ] {
        let sent = Sender::new(Arc::new(Constant(answer))).send(&delivery("https://x.org".into()), at(0)).await;
        assert_eq!((sent.status, sent.ok, sent.error.as_deref()), (status, error.is_none(), error));
        assert_eq!(sent.excerpt.as_deref(), status.map(|_| "no"));
    }
}
