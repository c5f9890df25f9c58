//! Connection tests for the shop's other systems: each test checks that the system responds, is of the expected kind,
//! and accepts the token. The tests change nothing in the systems.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;

use super::failure_detection::LOOK_PATH;
use super::farm_ui::FarmUi;
use super::peer_client::{PeerClient, TokenForm, reason};
use super::peer_fault::PeerFault;
use platform::http::read_beginning;

/// Time limit for a response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of bytes read from a response.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Note about a token that only a real call can test.
const TOKEN_NOT_TESTED: &str = "the token was not tested, because only a real call uses it";

/// Result of a connection test; both success and failure have a human-readable description.
pub type ConnectionTestResult = Result<String, PeerFault>;

/// Response from a system: its status, its text, and the text parsed as JSON (null if it is not JSON).
struct PeerAnswer {
    status: StatusCode,
    text: String,
    json: Value,
}

impl PeerAnswer {
    /// Returns the response; fails if it rejects the token.
    fn admitted(self, what: &str) -> Result<Self, PeerFault> {
        match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(PeerFault::new(format!("{what} rejects the token"))
                    .saying(format!("{} {}", self.status, self.text)))
            }
            _ => Ok(self),
        }
    }

    /// Returns the error for a system that is not of the expected kind.
    fn strange(&self, what: &str) -> PeerFault {
        PeerFault::new(format!("the service at this address is not {what}"))
            .saying(format!("{} {}", self.status, self.text))
    }
}

/// Tests the connection to InvenTree, the parts management system.
pub async fn parts(client: &Client, url: &str, token: &str) -> ConnectionTestResult {
    let peer = PeerClient::new(client.clone(), url, TokenForm::Token, token)?;
    let root = ask(stranger(client, url)?.below(Method::GET, "api/")).await?;
    if root.json["server"] != "InvenTree" {
        return Err(root.strange("InvenTree"));
    }
    if token.is_empty() {
        return Err(PeerFault::new("InvenTree responds but requires a token"));
    }
    let me = ask(peer.below(Method::GET, "api/user/me/")).await?.admitted("InvenTree")?;
    if !me.status.is_success() {
        return Err(me.strange("InvenTree"));
    }
    Ok(format!("InvenTree {} responds and accepts the token", root.json["version"].as_str().unwrap_or_default()))
}

/// Tests the connection to n8n, the workflow automation system. The workflow's webhook is not called, because that
/// would start the workflow.
pub async fn workflow(client: &Client, url: &str, header: &str, token: &str) -> ConnectionTestResult {
    // What cannot be sent is told now.
    PeerClient::new(client.clone(), url, TokenForm::Header(header), token)?;
    let health = ask(stranger(client, url)?.at_root(Method::GET, "/healthz")).await?;
    match health.json["status"].as_str() {
        Some("ok") => Ok(with_untested("n8n responds and is healthy", token)),
        _ if health.status.is_server_error() => Err(health.strange("a healthy n8n")),
        _ => Ok(with_untested("a web server responds, but does not identify itself as n8n", token)),
    }
}

/// Tests the connection to FDM Monster, the print farm software.
pub async fn farm_ui(client: &Client, url: &str, token: &str) -> ConnectionTestResult {
    let farm = FarmUi::new(client.clone(), url, token)?;
    if farm.asks_for_key().await? && token.is_empty() {
        return Err(PeerFault::new("FDM Monster responds but requires an API key"));
    }
    Ok(format!("FDM Monster responds and has {} printers", farm.printers().await?.len()))
}

/// Tests the connection to Obico's ML API, the print failure detector. No image is submitted, but the API checks the
/// token first.
pub async fn failure_detection(client: &Client, url: &str, token: &str) -> ConnectionTestResult {
    let peer = PeerClient::new(client.clone(), url, TokenForm::Bearer, token)?;
    let health = ask(peer.below(Method::GET, "hc/")).await?.admitted("the detector")?;
    match health.text.trim() {
        "ok" => {}
        "error" => return Err(PeerFault::new("the detector reports an error")),
        _ => return Err(health.strange("Obico's detector")),
    }
    let look = ask(peer.below(Method::GET, LOOK_PATH)).await?;
    if look.status == StatusCode::UNAUTHORIZED && token.is_empty() {
        return Err(PeerFault::new("the detector responds but requires a token"));
    }
    let look = look.admitted("the detector")?;
    if look.status == StatusCode::NOT_FOUND || look.status.is_server_error() {
        return Err(look.strange("Obico's detector"));
    }
    Ok(format!("the detector responds and is healthy{}", if token.is_empty() { "" } else { ", and accepts the token" }))
}

/// Tests the connection to Home Assistant, the smart home system.
pub async fn smart_home(client: &Client, url: &str, token: &str) -> ConnectionTestResult {
    let peer = PeerClient::new(client.clone(), url, TokenForm::Bearer, token)?;
    if token.is_empty() {
        return Err(PeerFault::new("Home Assistant requires a long-lived access token"));
    }
    let root = ask(peer.below(Method::GET, "api/")).await?.admitted("Home Assistant")?;
    if root.status.is_success() && root.json["message"].is_string() {
        return Ok("Home Assistant responds and accepts the token".to_owned());
    }
    Err(root.strange("Home Assistant"))
}

/// Tests the connection to the agent gateway. Nothing that an agent would act on is sent, so a wrong token is not
/// detected.
pub async fn agent(client: &Client, url: &str, token: &str) -> ConnectionTestResult {
    PeerClient::new(client.clone(), url, TokenForm::Bearer, token)?;
    let root = ask(stranger(client, url)?.call(Method::GET)).await?;
    if root.status.is_server_error() {
        return Err(root.strange("a healthy gateway"));
    }
    Ok(with_untested("the gateway responds", token))
}

/// Tests the connection to the email service, which has Resend's API.
pub async fn mail_api(client: &Client, url: &str, key: &str) -> ConnectionTestResult {
    let peer = PeerClient::new(client.clone(), url, TokenForm::Bearer, key)?;
    let domains = ask(peer.below(Method::GET, "domains")).await?;
    // A key that may only send is right, and may not list domains.
    if domains.status.is_success() || domains.json["name"] == "restricted_api_key" {
        return Ok("the email service accepts the key".to_owned());
    }
    Err(domains.admitted("the email service")?.strange("an email service"))
}

/// Adds a note that the token was not tested, if there is a token.
fn with_untested(words: &str, token: &str) -> String {
    if token.is_empty() { words.to_owned() } else { format!("{words}; {TOKEN_NOT_TESTED}") }
}

/// Creates a client that sends no token, for systems that are not trusted with one.
fn stranger(client: &Client, url: &str) -> Result<PeerClient, PeerFault> {
    Ok(PeerClient::new(client.clone(), url, TokenForm::Bearer, "")?)
}

async fn ask(call: RequestBuilder) -> Result<PeerAnswer, PeerFault> {
    let silent = |error: reqwest::Error| {
        PeerFault::new("it does not respond; is it running, and can this server reach it?").saying(reason(error))
    };
    let mut answer = call.timeout(ANSWER_TIMEOUT).send().await.map_err(silent)?;
    let status = answer.status();
    let (body, broken) = read_beginning(&mut answer, MAX_ANSWER_BYTES, MAX_ANSWER_BYTES).await;
    if let Some(error) = broken {
        return Err(silent(error));
    }
    let json = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
    Ok(PeerAnswer { status, text: String::from_utf8_lossy(&body).into_owned(), json })
}

#[cfg(test)]
mod tests;
