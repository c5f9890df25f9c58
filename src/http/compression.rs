//! Gzip compression of responses: JSON and pages as a whole, streams chunk by chunk, so that clients can read each
//! chunk as it arrives. Downloads and small responses are not compressed.
//!
//! Customer responses other than JSON are not compressed either: browsers send the customer cookie when another site
//! links to a page, so the length of a compressed page would reveal the token in it to an attacker who controls part of
//! the URL and observes the network.

use std::io::Write as _;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{self, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt as _;

use crate::error::ApiError;
use crate::paths::{is_billing, is_customer_page};
use crate::sse;

/// Minimum response size, in bytes, for compression to be worthwhile.
const MIN_COMPRESSED_BYTES: u64 = 1024;
const JSON_TYPE: &[u8] = b"application/json";
const PAGE_TYPE: &[u8] = b"text/html";
const STREAM_TYPE: &[u8] = sse::MEDIA.as_bytes();

/// Compression mode of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CompressionMode {
    /// Immediately, because the whole response is in memory.
    Whole,
    /// Chunk by chunk, as the response is produced.
    Pieces,
}

/// Request, as far as the compression of its response depends on it.
#[derive(Clone, Copy, Debug)]
pub struct CompressionRequest {
    accepts_gzip: bool,
    of_customers: bool,
}

impl CompressionRequest {
    /// Reads the headers and the path of a request.
    pub fn of(request: &Request) -> Self {
        let path = request.uri().path();
        let of_customers = is_customer_page(path) || is_billing(path);
        Self { accepts_gzip: takes_gzip(request.headers()), of_customers }
    }

    /// Compresses the response if the client accepts compression and it is worthwhile.
    pub async fn compress(self, mut response: Response) -> Response {
        let Some(packing) = packing(&response, self.of_customers) else { return response };
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        if !self.accepts_gzip {
            return response;
        }
        let (mut parts, body) = response.into_parts();
        let body = match packing {
            CompressionMode::Pieces => in_pieces(body),
            CompressionMode::Whole => match whole(body, level(&parts.headers)).await {
                Ok(body) => body,
                Err(error) => return error.into_response(),
            },
        };
        parts.headers.remove(header::CONTENT_LENGTH);
        parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        Response::from_parts(parts, body)
    }
}

/// Returns the compression level of a whole response. A page repeats its markup at distances that the fastest level
/// mostly misses: the default level makes a floor of hundreds of printers a fifth smaller, for milliseconds of work.
fn level(headers: &HeaderMap) -> Compression {
    let is_page = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(PAGE_TYPE));
    if is_page { Compression::default() } else { Compression::fast() }
}

async fn whole(body: Body, level: Compression) -> Result<Body, ApiError> {
    let bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(ApiError::internal)?;
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    encoder.write_all(&bytes)?;
    Ok(Body::from(encoder.finish()?))
}

/// Stream being compressed.
struct CompressedStream {
    body: BodyDataStream,
    encoder: GzEncoder<Vec<u8>>,
}

impl CompressedStream {
    /// Returns the next chunk and flushes the encoder, so that no data is held back until the next chunk.
    async fn next(mut self) -> Option<(Result<Bytes, axum::Error>, Option<Self>)> {
        let Some(piece) = self.body.next().await else {
            let end = self.encoder.finish().map(Bytes::from).map_err(axum::Error::new);
            return Some((end, None));
        };
        let packed = piece.and_then(|piece| self.pack(&piece).map_err(axum::Error::new));
        let rest = packed.is_ok().then_some(self);
        Some((packed, rest))
    }

    fn pack(&mut self, piece: &[u8]) -> std::io::Result<Bytes> {
        self.encoder.write_all(piece)?;
        self.encoder.flush()?;
        Ok(Bytes::from(std::mem::take(self.encoder.get_mut())))
    }
}

fn in_pieces(body: Body) -> Body {
    // What is sent on a stream is much alike: a better compression than the fastest pays there.
    let encoder = GzEncoder::new(Vec::new(), Compression::default());
    let packed = CompressedStream { body: body.into_data_stream(), encoder };
    Body::from_stream(futures::stream::unfold(Some(packed), |packed| async move { packed?.next().await }))
}

/// Returns the compression mode of a response; `None` unless it is a stream, or a JSON document or page that is in
/// memory and not small.
fn packing(response: &Response, of_customers: bool) -> Option<CompressionMode> {
    let headers = response.headers();
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes)?;
    let large = response.body().size_hint().exact().unwrap_or(0) > MIN_COMPRESSED_BYTES;
    let is_whole = large && (kind.starts_with(JSON_TYPE) || (kind.starts_with(PAGE_TYPE) && !of_customers));
    let is_stream = kind.starts_with(STREAM_TYPE) && !of_customers;
    match (headers.contains_key(header::CONTENT_ENCODING), is_whole, is_stream) {
        (false, true, _) => Some(CompressionMode::Whole),
        (false, _, true) => Some(CompressionMode::Pieces),
        _ => None,
    }
}

/// Returns whether `Accept-Encoding` accepts gzip.
pub fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let quality = quality.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        ["gzip", "x-gzip"].iter().any(|gzip| name.trim().eq_ignore_ascii_case(gzip)) && quality.is_ok_and(|q| q > 0.0)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn gzip_is_taken_when_it_is_named_and_not_refused() {
        let takes = |text: &str| takes_gzip(&[(header::ACCEPT_ENCODING, text.parse().unwrap())].into_iter().collect());
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("deflate , gzip"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("gzipped") && !takes(""));
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    fn answer(kind: &'static str, body: Body) -> Response {
        ([(header::CONTENT_TYPE, kind)], body).into_response()
    }

    #[test]
    fn pages_and_streams_of_customers_stay_as_they_are() {
        let large = || Body::from("x".repeat(2_000));
        let stream = || Body::from_stream(futures::stream::pending::<Result<Bytes, axum::Error>>());
        let of = |kind: &'static str, body: Body, customers: bool| packing(&answer(kind, body), customers);
        for (kind, body, customers, expected) in [
            ("application/json", large(), true, Some(CompressionMode::Whole)),
            ("text/html; charset=utf-8", large(), false, Some(CompressionMode::Whole)),
            ("text/html; charset=utf-8", large(), true, None),
            ("text/html; charset=utf-8", Body::from("small"), false, None),
            ("text/event-stream", stream(), false, Some(CompressionMode::Pieces)),
            ("text/event-stream", stream(), true, None),
            ("application/octet-stream", large(), false, None),
        ] {
            assert_eq!(of(kind, body, customers), expected, "{kind}, of customers: {customers}");
        }
        let mut packed = answer("text/html", large());
        packed.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        assert_eq!(packing(&packed, false), None, "what is compressed is not compressed again");
    }

    #[tokio::test]
    async fn pages_become_smaller_than_json_of_the_same_text() {
        let card = |n: u64| {
            let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!(
                "<li id=\"printer-{id:x}\"><a href=\"/floor/printers/{id:x}\">Ada {n}</a><b>{} %</b></li>",
                id % 100
            )
        };
        let text: String = (0..200).map(card).collect();
        let mut sizes = Vec::new();
        for kind in ["text/html; charset=utf-8", "application/json"] {
            let response = answer(kind, Body::empty());
            let packed = whole(Body::from(text.clone()), level(response.headers())).await.unwrap();
            sizes.push(axum::body::to_bytes(packed, usize::MAX).await.unwrap().len());
        }
        assert!(sizes[0] < sizes[1] && sizes[1] < text.len(), "{sizes:?} of {}", text.len());
    }

    #[tokio::test]
    async fn each_piece_of_a_stream_can_be_read_before_the_next_one_is_made() {
        let pieces = ["retry: 2000\n\n", "event: part\ndata: {}\n\n", ":\n"];
        let (sender, of) = tokio::sync::mpsc::channel::<Bytes>(1);
        let of =
            futures::stream::unfold(of, |mut of| async move { Some((Ok::<_, axum::Error>(of.recv().await?), of)) });
        let mut sent = in_pieces(Body::from_stream(of)).into_data_stream();
        let (mut read, mut expected) = (flate2::write::GzDecoder::new(Vec::new()), String::new());
        for piece in pieces {
            sender.send(Bytes::from(piece)).await.unwrap();
            read.write_all(&sent.next().await.unwrap().unwrap()).unwrap();
            read.flush().unwrap();
            expected.push_str(piece);
            assert_eq!(std::str::from_utf8(read.get_ref()).unwrap(), expected);
        }
        drop(sender);
        read.write_all(&sent.next().await.unwrap().unwrap()).unwrap();
        assert_eq!(read.finish().unwrap(), expected.into_bytes(), "it ends well");
        assert!(sent.next().await.is_none());
    }

    #[tokio::test]
    async fn what_is_sent_again_and_again_becomes_small() {
        let card =
            format!("event: part\ndata: {{\"html\":\"{}\"}}\n\n", "<p class='soft'>Nozzle 200 °C</p>".repeat(60));
        let pieces: Vec<_> = (0..20).map(|_| Ok::<_, axum::Error>(Bytes::from(card.clone()))).collect();
        let sent = axum::body::to_bytes(in_pieces(Body::from_stream(futures::stream::iter(pieces))), usize::MAX).await;
        let sent = sent.unwrap().len();
        assert!(sent * 10 < card.len() * 20, "{sent} of {}", card.len() * 20);
    }
}
