//! Simulated network camera, which serves single pictures as well as the endless stream of pictures shown on web pages
//! (MJPEG).
//!
//! Every picture is a real JPEG of 8 × 8 grey pixels, and no two consecutive ones are equal. A path that contains
//! `stream` or `video` returns the stream; any other path returns a picture.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream;

use super::{ResponseMode, SharedState};
use crate::wire::SimServer;

/// Interval between pictures in the stream.
const STREAM_PAUSE: Duration = Duration::from_millis(20);
/// Multipart boundary between pictures in the stream.
const BOUNDARY: &str = "boundarydonotcross";
/// Size of an oversized picture in bytes.
const HUGE_BYTES: usize = 12 * 1024 * 1024;

/// Content returned by the camera.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CameraContent {
    /// A normal picture.
    #[default]
    Picture,
    /// An HTML page labelled as a picture.
    Html,
    /// An SVG drawing with a script in it.
    Svg,
    /// A picture that never ends.
    Huge,
    /// A redirect to a different address.
    Redirect(String),
    /// The beginning of a picture, with nothing after it.
    Stalls,
}

#[derive(Debug)]
struct CameraState {
    credentials: Option<String>,
    sight: CameraContent,
    frame: u8,
    requests: Vec<String>,
}

/// Running simulated camera; stops when dropped.
#[derive(Debug)]
pub struct Camera {
    shared: SharedState<CameraState>,
    server: SimServer,
}

impl Camera {
    /// Starts the camera on a free loopback port; requires the credentials `user:password` (HTTP Basic) if given.
    pub async fn start(credentials: Option<&str>) -> std::io::Result<Self> {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), credentials).await
    }

    /// Starts the camera as [`Self::start`] does, but on the given address.
    pub async fn at(addr: SocketAddr, credentials: Option<&str>) -> std::io::Result<Self> {
        let credentials = credentials.map(str::to_owned);
        let shared = SharedState::new(CameraState {
            credentials,
            sight: CameraContent::Picture,
            frame: 0,
            requests: Vec::new(),
        });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let server = SimServer::start(addr, router).await?;
        Ok(Self { shared, server })
    }

    /// Returns the URL for single pictures.
    pub fn snapshot_url(&self) -> String {
        format!("{}/webcam/?action=snapshot", self.server.base_url())
    }

    /// Returns the URL of the stream.
    pub fn stream_url(&self) -> String {
        format!("{}/webcam/?action=stream", self.server.base_url())
    }

    /// Sets how the camera responds to all subsequent requests.
    pub fn set_mood(&self, mood: ResponseMode) {
        self.shared.set_mood(mood);
    }

    /// Sets the content that the camera returns for all subsequent requests.
    pub fn show(&self, sight: CameraContent) {
        self.shared.with(|inside| inside.sight = sight);
    }

    /// Returns all requests so far, rejected or not.
    pub fn requests(&self) -> Vec<String> {
        self.shared.with(|inside| inside.requests.clone())
    }
}

async fn answer(State(shared): State<SharedState<CameraState>>, uri: Uri, headers: HeaderMap) -> Response {
    let (credentials, sight) = shared.with(|inside| {
        inside.requests.push(uri.to_string());
        (inside.credentials.clone(), inside.sight.clone())
    });
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if credentials.is_some_and(|expected| authorization != Some(&format!("Basic {}", STANDARD.encode(expected)))) {
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Basic realm=\"camera\"")]).into_response();
    }
    let jpeg = [(header::CONTENT_TYPE, "image/jpeg")];
    match sight {
        CameraContent::Html => (jpeg, "<html><script>alert(1)</script></html>").into_response(),
        CameraContent::Svg => {
            let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
            ([(header::CONTENT_TYPE, "image/svg+xml")], drawing).into_response()
        }
        CameraContent::Redirect(to) => (StatusCode::FOUND, [(header::LOCATION, to)]).into_response(),
        CameraContent::Huge => {
            // Told without a length: whoever reads must count.
            let mut begun = next(&shared);
            begun.resize(1024 * 1024, 0);
            let pieces = std::iter::repeat_n(Bytes::from(begun), HUGE_BYTES / (1024 * 1024));
            (jpeg, Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)))).into_response()
        }
        CameraContent::Stalls => {
            let begun = Bytes::from(next(&shared)).slice(..40);
            let pieces = stream::unfold(Some(begun), |begun| async {
                match begun {
                    Some(begun) => Some((Ok::<_, Infallible>(begun), None)),
                    None => std::future::pending().await,
                }
            });
            (jpeg, Body::from_stream(pieces)).into_response()
        }
        CameraContent::Picture if uri.to_string().contains("stream") || uri.path().contains("video") => live(shared),
        CameraContent::Picture => (jpeg, next(&shared)).into_response(),
    }
}

/// Streams pictures endlessly.
fn live(shared: SharedState<CameraState>) -> Response {
    let pieces = stream::unfold(shared, |shared| async {
        let picture = next(&shared);
        let head = format!("--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", picture.len());
        let piece = [head.into_bytes(), picture, b"\r\n".to_vec()].concat();
        tokio::time::sleep(STREAM_PAUSE).await;
        Some((Ok::<_, Infallible>(Bytes::from(piece)), shared))
    });
    let media = format!("multipart/x-mixed-replace;boundary={BOUNDARY}");
    ([(header::CONTENT_TYPE, media)], Body::from_stream(pieces)).into_response()
}

fn next(shared: &SharedState<CameraState>) -> Vec<u8> {
    picture(shared.with(|inside| {
        inside.frame = inside.frame.wrapping_add(1);
        inside.frame
    }))
}

/// Returns a JPEG of 8 × 8 pixels in the given shade of grey: baseline, one component, with its own tables.
pub fn picture(grey: u8) -> Vec<u8> {
    let mut out = vec![0xFF, 0xD8];
    let mut segment = |marker: u8, body: &[u8]| {
        out.extend([0xFF, marker]);
        out.extend((body.len() as u16 + 2).to_be_bytes());
        out.extend(body);
    };
    // Every step of the one coefficient that is not 0 is one step of grey.
    segment(0xDB, &[[0].as_slice(), [8; 64].as_slice()].concat());
    segment(0xC0, &[8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
    // Codes of four bits for the lengths 0 to 8 of the first coefficient, one of one bit for "the others are 0".
    let mut lengths = vec![0_u8; 17];
    lengths[4] = 9;
    lengths.extend(0..9);
    segment(0xC4, &lengths);
    let mut rest = vec![0_u8; 17];
    (rest[0], rest[1]) = (0x10, 1);
    rest.push(0);
    segment(0xC4, &rest);
    segment(0xDA, &[1, 1, 0, 0, 63, 0]);
    let value = i32::from(grey) - 128;
    let bits = 32 - value.unsigned_abs().leading_zeros();
    let shifted = if value < 0 { value - 1 } else { value };
    let coded = shifted as u32 & ((1 << bits) - 1);
    // Length, value and the end of the block, filled up with ones.
    let (text, used) = ((u64::from(bits) << bits | u64::from(coded)) << 1, 4 + bits + 1);
    let filled = (text + 1) << (24 - used);
    for byte in ((filled - 1) as u32).to_be_bytes().into_iter().skip(1).take(used.div_ceil(8) as usize) {
        out.push(byte);
        if byte == 0xFF {
            out.push(0);
        }
    }
    out.extend([0xFF, 0xD9]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_begin_and_end_as_jpegs_do_and_differ() {
        for grey in 0..=254_u8 {
            let one = picture(grey);
            assert!(one.starts_with(&[0xFF, 0xD8, 0xFF]) && one.ends_with(&[0xFF, 0xD9]), "{one:02x?}");
            assert_ne!(one, picture(grey + 1));
        }
    }
}
