//! Simulated ML API of Obico. It fetches each picture itself, with the same timeouts as the real API, and returns its
//! detections.

use std::time::Duration;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{SharedState, System, shows};

/// Timeout for fetching a picture.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a picture in bytes.
const MAX_PICTURE_BYTES: u64 = 16 * 1024 * 1024;

/// State of the simulated detector.
#[derive(Debug)]
pub struct DetectorState {
    token: Option<String>,
    confidence: f64,
    requests: Vec<String>,
}

/// Running simulated detector; stops when dropped.
pub type SimDetector = System<DetectorState>;

impl SimDetector {
    /// Starts the detector on a free loopback port; requires the token if one is given.
    pub async fn start(token: Option<&str>) -> std::io::Result<Self> {
        let state = DetectorState { token: token.map(str::to_owned), confidence: 0.0, requests: Vec::new() };
        Self::serve(state, "", |shared| {
            Router::new().route("/hc/", get(|| async { "ok" })).route("/p/", get(look)).with_state(shared)
        })
        .await
    }

    /// Sets the confidence of the detection reported for all subsequent pictures; 0 means no detection.
    pub fn see(&self, confidence: f64) {
        self.shared.with(|inside| inside.confidence = confidence);
    }

    /// Returns the URLs of all submitted pictures.
    pub fn requests(&self) -> Vec<String> {
        self.shared.with(|inside| inside.requests.clone())
    }
}

/// Query parameters of a detection request.
#[derive(serde::Deserialize)]
struct DetectionQuery {
    img: Option<String>,
}

async fn look(
    State(shared): State<SharedState<DetectorState>>,
    headers: HeaderMap,
    Query(query): Query<DetectionQuery>,
) -> Response {
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    let token = shared.with(|inside| inside.token.clone());
    if token.is_some_and(|token| !shows(&headers, &token)) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let Some(url) = query.img else {
        let body = json!({"detections": [], "message": "Invalid request params"});
        return (StatusCode::UNPROCESSABLE_ENTITY, axum::Json(body)).into_response();
    };
    shared.with(|inside| inside.requests.push(url.clone()));
    if !timeout(FETCH_TIMEOUT, is_picture(&url)).await.unwrap_or(false) {
        let body = json!({"detections": [], "message": format!("Failed to get image {url}")});
        return (StatusCode::BAD_REQUEST, axum::Json(body)).into_response();
    }
    let confidence = shared.with(|inside| inside.confidence);
    // Below its threshold it says nothing.
    let detections =
        if confidence < 0.08 { json!([]) } else { json!([["failure", confidence, [320.5, 240.25, 80.0, 60.5]]]) };
    axum::Json(json!({ "detections": detections })).into_response()
}

/// Returns whether a picture is available at the given URL.
async fn is_picture(url: &str) -> bool {
    let fetched = async {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let address = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
        let mut stream = TcpStream::connect(address).await.ok()?;
        let path = if path.is_empty() { "/" } else { path };
        let request = format!("GET {path} HTTP/1.0\r\nHost: {authority}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        stream.take(MAX_PICTURE_BYTES).read_to_end(&mut answer).await.ok()?;
        let body = answer.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
        let well = answer.get(9..12) == Some(&b"200"[..]);
        // A JPEG.
        Some(well && answer.get(body..body + 2) == Some(&[0xFF, 0xD8][..]))
    };
    fetched.await.unwrap_or(false)
}
