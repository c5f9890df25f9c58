//! Tests of behaviour common to all printer types: transport failures, addresses, streamed uploads. The printers are
//! fakes with fixed responses.
#![expect(clippy::unwrap_used, reason = "tests")]

mod early;
mod life;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::{MethodRouter, get, post};
use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::adapter::{Adapter, PrinterError, Source};
use super::adapter_parts::{DATA_HANDSHAKE_TIMEOUT, PrinterAddress, Settings, UPLOAD_WAIT};
use super::registry::Registry;
use super::{BUILT_IN, PrinterType};
use domain::printer_status::Connection;
use domain::time::Timestamp;

/// Starts a fake printer and returns its base URL.
pub(super) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Starts a fake printer whose `answer` returns the status and the JSON of the response to a request with the given
/// head, in lowercase. Where it returns none, the connection is closed while the body is being sent.
pub(super) async fn serve_raw(answer: impl Fn(&str) -> Option<(u16, String)> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = socket.read_u8().await else { return };
                    head.push(byte);
                }
                let head = String::from_utf8_lossy(&head).to_lowercase();
                let Some((status, json)) = answer(&head) else { return };
                let length: Option<usize> =
                    head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                let mut body = vec![0; length.unwrap_or_default()];
                let _ = socket.read_exact(&mut body).await;
                let length = json.len();
                let response =
                    format!("HTTP/1.1 {status} Fake\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{json}");
                let _ = socket.write_all(response.as_bytes()).await;
            });
        }
    });
    url
}

/// Returns time limits short enough for tests that reach them.
pub(crate) fn settings() -> Settings {
    Settings {
        connect_timeout: Duration::from_secs(2),
        request_timeout: Duration::from_secs(5),
        command_timeout: Duration::from_secs(5),
        upload_min_bytes_per_second: 20_000,
        offline_after: Duration::from_secs(5),
        emergency_timeout: Duration::from_secs(5),
        camera_timeout: Duration::from_secs(2),
        upload_wait: UPLOAD_WAIT,
        data_handshake_timeout: DATA_HANDSHAKE_TIMEOUT,
    }
}

#[expect(clippy::disallowed_methods, reason = "tests make their own clients")]
pub(crate) fn registry(settings: Settings) -> Registry {
    let client = || reqwest::Client::builder().connect_timeout(settings.connect_timeout).no_proxy().build().unwrap();
    Registry::new(settings.clone(), client(), client())
}

pub(crate) fn adapter(kind: &str, url: &str) -> Arc<dyn Adapter> {
    with_key(kind, url, "k3y", settings())
}

pub(super) fn with_key(kind: &str, url: &str, key: &str, settings: Settings) -> Arc<dyn Adapter> {
    with_serial(kind, url, key, "", settings)
}

fn with_serial(kind: &str, url: &str, key: &str, serial: &str, settings: Settings) -> Arc<dyn Adapter> {
    let address = PrinterAddress { base_url: url.into(), api_key: key.into(), serial: serial.into(), known_key: None };
    registry(settings).make(kind, address).unwrap()
}

pub(super) fn file(size: usize) -> (tempfile::NamedTempFile, Source) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), vec![b'G'; size]).unwrap();
    let source = Source { path: file.path().into(), size: size as u64, first_line: None };
    (file, source)
}

/// Types that do not send each command as an HTTP request. All other types are subject to all of these tests.
const NOT_BY_REQUESTS: [&str; 2] = [
    "mqtt_lan", // commands over MQTT, files over FTP
    "sdcp",     // commands on one socket, files in pieces
];

/// Returns the types that send every command as an HTTP request.
fn by_requests() -> impl Iterator<Item = &'static str> {
    BUILT_IN.into_iter().filter(|kind| !NOT_BY_REQUESTS.contains(kind))
}

/// Creates an adapter of any type for an address without a scheme. A fixed serial number is passed; types that do not
/// need one ignore it.
fn of_any_type(kind: &str, address: &str) -> Arc<dyn Adapter> {
    with_serial(kind, address, "k3y", "01S00A000000000", settings())
}

#[tokio::test]
async fn a_port_nobody_listens_on_is_unreachable_and_certainly_not_started() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    for kind in BUILT_IN {
        let printer = of_any_type(kind, &address);
        let name = format!("a.{}", PrinterType::of_word(kind).unwrap().forms[0].ending());
        let error = printer.start(&name).await.unwrap_err();
        assert!(matches!(error, PrinterError::Unreachable(_)), "{kind}: {error:?}");
        assert!(error.certainly_not_done());
        let look = printer.look(Timestamp(7)).await;
        assert_eq!((look.connection, look.updated_at), (Connection::Unreachable, Timestamp(7)), "{kind}");
    }
}

#[tokio::test]
async fn a_start_whose_connection_breaks_may_have_happened() {
    for kind in by_requests() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                // Read the request, then hang up without a word.
                let _ = socket.read(&mut [0; 4096]).await;
                let _ = socket.shutdown().await;
            }
        });
        let error = adapter(kind, &url).start("a.gcode").await.unwrap_err();
        assert!(matches!(error, PrinterError::Lost(_)), "{error:?}");
        assert!(!error.certainly_not_done());
    }
}

#[tokio::test]
async fn a_start_without_an_answer_is_a_timeout_and_unknown() {
    let url = serve(Router::new().fallback(std::future::pending::<StatusCode>)).await;
    for kind in by_requests() {
        let limits = Settings { command_timeout: Duration::from_millis(50), ..settings() };
        let error = with_key(kind, &url, "", limits).start("a.gcode").await.unwrap_err();
        assert_eq!(error, PrinterError::Timeout);
        assert!(!error.certainly_not_done());
    }
}

#[tokio::test]
async fn refusals_are_certain_and_server_faults_are_not() {
    for (status, certain) in [(400, true), (404, true), (409, true), (500, false), (502, false), (503, false)] {
        let status = StatusCode::from_u16(status).unwrap();
        let url = serve(Router::new().fallback(move || async move { (status, "no") })).await;
        for kind in by_requests() {
            let error = adapter(kind, &url).start("a.gcode").await.unwrap_err();
            assert_eq!(error.certainly_not_done(), certain, "{kind} {status}: {error:?}");
        }
    }
}

#[tokio::test]
async fn a_web_server_of_another_kind_is_told_in_words() {
    let page = "<html><body>Welcome to nginx!</body></html>";
    for status in [200, 302, 401, 403, 404, 405] {
        let status = StatusCode::from_u16(status).unwrap();
        let url = serve(Router::new().fallback(move || async move { (status, page) })).await;
        for kind in by_requests() {
            let declared = PrinterType::of_word(kind).unwrap();
            let (program, port) = (declared.program, declared.default_port);
            let printer = adapter(kind, &url);
            let words =
                format!("the program at {url}/ is not {program}; check the port (usually {port}) and the printer type");
            let look = printer.look(Timestamp(0)).await;
            assert_eq!((look.connection, look.message), (Connection::Unreachable, Some(words.clone())), "{status}");
            assert_eq!(printer.connect().await.map_err(|error| error.to_string()), Err(words), "{status}");
        }
    }
}

/// Builds a fake `PrusaLink` with the endpoints used around an upload.
fn prusa_files(upload: MethodRouter) -> Router {
    let json = |text: &'static str| get(move || async move { ([(header::CONTENT_TYPE, "application/json")], text) });
    Router::new()
        .route("/api/version", json(r#"{"api": "2.0.0", "capabilities": {"upload-by-put": true}}"#))
        .route("/api/v1/storage", json(r#"{"storage_list": [{"path": "/usb", "available": true}]}"#))
        .route("/api/v1/files/usb/a.gcode", upload.get(|| async { "{}" }))
}

/// Builds a fake upload endpoint that reads slowly and responds with the declared size and the received size.
fn slow_upload(pause: Duration) -> Router {
    let take = move |headers: HeaderMap, body: Body| async move {
        let announced: usize = headers[header::CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
        let mut body = body.into_data_stream();
        let mut came = 0;
        while let Some(chunk) = body.next().await {
            came += chunk.unwrap().len();
            tokio::time::sleep(pause).await;
        }
        assert_eq!(came, announced, "all that was announced");
        let answer =
            serde_json::json!({"item": {"path": "a.gcode"}, "files": {"local": {"path": "a.gcode"}}, "came": came});
        (StatusCode::CREATED, axum::Json(answer))
    };
    prusa_files(axum::routing::put(take))
        .route("/server/files/upload", post(take))
        .route("/api/files/local", post(take))
        .layer(axum::extract::DefaultBodyLimit::disable())
}

#[tokio::test]
async fn uploads_tell_their_length_and_outlast_a_slow_reader() {
    let (_kept, source) = file(3_000_000);
    let url = serve(slow_upload(Duration::from_millis(10))).await;
    for kind in by_requests() {
        // Base 100 ms: only the time that the size allows lets this succeed.
        let limits = Settings { command_timeout: Duration::from_millis(100), ..settings() };
        assert_eq!(with_key(kind, &url, "", limits).upload("a.gcode", &source).await.unwrap(), "a.gcode");
    }
}

#[tokio::test]
async fn uploads_slower_than_allowed_are_given_up() {
    let (_kept, source) = file(3_000_000);
    let url = serve(slow_upload(Duration::from_mins(1))).await;
    let limits = Settings {
        command_timeout: Duration::from_millis(100),
        upload_min_bytes_per_second: 1_000_000_000,
        ..settings()
    };
    for kind in by_requests() {
        let error = with_key(kind, &url, "", limits.clone()).upload("a.gcode", &source).await.unwrap_err();
        assert_eq!(error, PrinterError::Timeout);
    }
}

#[tokio::test]
async fn an_upload_of_which_no_byte_is_taken_is_given_up_long_before_its_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        // Connections are held open and never read.
        let mut held = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            held.push(socket);
        }
    });
    // More than the buffers of a connection hold.
    let (_kept, source) = file(64_000_000);
    let limits = Settings { offline_after: Duration::from_millis(300), ..settings() };
    for kind in by_requests() {
        let printer = with_key(kind, &url, "", limits.clone());
        let uploaded =
            tokio::time::timeout(limits.upload_timeout(64_000_000), printer.upload("a.gcode", &source)).await;
        // One that asks first is not answered at all.
        let given_up = [Err(PrinterError::Stalled(limits.offline_after)), Err(PrinterError::Timeout)];
        assert!(uploaded.as_ref().is_ok_and(|uploaded| given_up.contains(uploaded)), "{kind}: {uploaded:?}");
    }
}

#[tokio::test]
async fn a_local_file_of_another_length_is_not_sent() {
    let (_kept, mut source) = file(10);
    source.size = 11;
    for kind in by_requests() {
        let error = adapter(kind, "http://127.0.0.1:9").upload("a.gcode", &source).await.unwrap_err();
        assert!(matches!(error, PrinterError::Invalid(_)), "{error:?}");
    }
}

#[tokio::test]
async fn names_that_climb_are_not_sent() {
    for kind in BUILT_IN {
        for name in ["", "/", "../x", "a/../../b", "a//b", "a\nb"] {
            let error = of_any_type(kind, "127.0.0.1:9").delete_file(name).await.unwrap_err();
            assert!(matches!(error, PrinterError::Invalid(_)), "{kind} {name:?}: {error:?}");
        }
    }
}

#[tokio::test]
async fn an_upload_in_progress_does_not_delay_an_emergency_stop() {
    let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let stuck = move || {
        let began = began.clone();
        async move {
            began.send(()).unwrap();
            std::future::pending::<StatusCode>().await
        }
    };
    let router = prusa_files(axum::routing::put(stuck.clone()))
        .route("/api/v1/job", get(|| async { r#"{"id": 7, "state": "PRINTING"}"# }))
        .route("/api/v1/job/7", axum::routing::delete(|| async { StatusCode::NO_CONTENT }))
        .route("/server/files/upload", post(stuck.clone()))
        .route("/api/files/local", post(stuck))
        .route("/printer/emergency_stop", post(|| async { r#"{"result":"ok"}"# }))
        .route("/api/printer/command", post(|| async { StatusCode::NO_CONTENT }));
    let url = serve(router).await;
    for kind in by_requests() {
        let (_kept, source) = file(1000);
        let printer = adapter(kind, &url);
        let uploading = printer.clone();
        let upload = tokio::spawn(async move { uploading.upload("a.gcode", &source).await });
        begun.recv().await.unwrap();
        printer.emergency_stop().await.unwrap();
        assert!(!upload.is_finished());
        upload.abort();
    }
}

#[test]
fn the_default_port_is_for_addresses_without_a_scheme() {
    use super::wire::base_url;
    let url = |text: &str| base_url(text, 7125).unwrap().to_string();
    assert_eq!(url("printer"), "http://printer:7125/");
    assert_eq!(url("10.0.0.5:80"), "http://10.0.0.5/");
    assert_eq!(url(" 10.0.0.5:8080/p/ "), "http://10.0.0.5:8080/p/");
    assert_eq!(url("http://printer"), "http://printer/");
    assert_eq!(url("https://printer?x=1#y"), "https://printer/");
}
