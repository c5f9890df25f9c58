//! Entries of the fuzz targets: they read what printers, cameras and networks send, as the adapters do. Not part of the
//! server.

use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Method, Request, Url};
use serde_json::Value;

use crate::wire::digest::Digest;

/// Address that relative URLs in responses are resolved against.
const BASE: &str = "http://192.0.2.7:7125/";

/// Reads a response or message from an `fw_rest` printer.
pub fn fw_rest(data: &[u8]) {
    with_answer(data, crate::fw_rest::fuzzing::parse);
}

/// Reads a response or message from a `server_rest` printer.
pub fn server_rest(data: &[u8]) {
    with_answer(data, crate::server_rest::fuzzing::parse);
}

/// Reads a response from a `prusa_link` printer.
pub fn prusa_link(data: &[u8]) {
    with_answer(data, crate::prusa_link::fuzzing::parse);
}

/// Reads a message from an `sdcp` printer.
pub fn sdcp(data: &[u8]) {
    crate::sdcp::fuzzing::parse(data);
}

/// Reads what an `mqtt_lan` printer sends: a report for each line of the input, or its certificate, announcement, and
/// lists of files.
pub fn mqtt_lan(data: &[u8]) {
    crate::mqtt_lan::fuzzing::parse(data);
}

/// Reads the beginning of a camera's stream of pictures.
pub fn camera_stream(data: &[u8]) {
    crate::cameras::fuzzing::parse(data);
}

/// Reads the challenge of a printer that signs in by HTTP Digest, and answers it.
pub fn digest_challenge(data: &[u8]) {
    let (Ok(header), Ok(url), Some(digest)) =
        (HeaderValue::from_bytes(data), Url::parse(BASE), Digest::of("maker:key"))
    else {
        return;
    };
    let refusal: HeaderMap = [(WWW_AUTHENTICATE, header)].into_iter().collect();
    if digest.learn(&refusal, None) {
        let mut request = Request::new(Method::GET, url);
        let nonce = digest.sign(&mut request);
        // The answer to the same challenge is not repeated.
        assert!(nonce.is_none_or(|nonce| !digest.learn(&refusal, Some(nonce.as_str()))));
    }
}

/// Reads bytes as JSON, within the bounds of responses.
fn with_answer(data: &[u8], parse: fn(&Value, &Url)) {
    if let (Ok(answer), Ok(base)) = (bounded_json::read(data, bounded_json::ANSWER), Url::parse(BASE)) {
        parse(&answer, &base);
    }
}
