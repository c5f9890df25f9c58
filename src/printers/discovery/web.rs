//! Probes one endpoint over HTTP and determines which printer type the response matches.

use reqwest::header::WWW_AUTHENTICATE;

use super::ANSWER_TIMEOUT;
use super::range::ScanAddress;
use crate::probes::{PrinterIdentity, WebAnswer};
use crate::{PRINTER_TYPES, PrinterType};

/// Maximum number of bytes read from a response.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Default HTTPS port.
const TLS_PORT: u16 = 443;

/// Builds the base URL of a server at the given address; `usual` is the usual port that `port` replaces.
pub(super) fn base_url(address: ScanAddress, usual: u16, port: u16) -> String {
    let host = address.ip();
    let scheme = if usual == TLS_PORT { "https" } else { "http" };
    match (scheme, port) {
        ("https", 443) | ("http", 80) => format!("{scheme}://{host}"),
        _ => format!("{scheme}://{host}:{port}"),
    }
}

/// Returns the first printer type whose probe recognises the server at the given address and port; `usual` is the usual
/// port that `port` replaces. Each path is requested only once.
pub(super) async fn recognise(
    client: &reqwest::Client,
    address: ScanAddress,
    usual: u16,
    port: u16,
) -> Option<(&'static PrinterType, PrinterIdentity)> {
    let base_url = base_url(address, usual, port);
    let mut answers: Vec<(&str, Option<WebAnswer>)> = Vec::new();
    let all = PRINTER_TYPES.iter().flat_map(|declared| declared.web_probes.iter().map(move |probe| (declared, probe)));
    let probes: Vec<_> = all.filter(|(_, probe)| probe.ports.contains(&usual)).collect();
    for (declared, probe) in probes {
        if !answers.iter().any(|(path, _)| *path == probe.path) {
            answers.push((probe.path, get(client, &format!("{base_url}{}", probe.path)).await));
        }
        let answer = answers.iter().find(|(path, _)| *path == probe.path).and_then(|(_, answer)| answer.as_ref());
        if let Some(recognised) = answer.and_then(probe.recognise) {
            return Some((declared, recognised));
        }
    }
    None
}

/// Requests a page; returns `None` if there is no response within the time limit.
async fn get(client: &reqwest::Client, url: &str) -> Option<WebAnswer> {
    let mut answer = client.get(url).timeout(ANSWER_TIMEOUT).send().await.ok()?;
    let status = answer.status().as_u16();
    let challenge = answer.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let challenge = challenge.unwrap_or_default().to_owned();
    let mut body = Vec::new();
    while body.len() < MAX_ANSWER_BYTES
        && let Some(chunk) = answer.chunk().await.ok()?
    {
        body.extend_from_slice(&chunk[..chunk.len().min(MAX_ANSWER_BYTES - body.len())]);
    }
    let json = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
    Some(WebAnswer { status, challenge, json, text: String::from_utf8_lossy(&body).into_owned() })
}
