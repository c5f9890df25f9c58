//! Asks other systems of the shop whether they are there, are what they are taken for, and take our token. Nothing is
//! changed there.

use std::error::Error as _;
use std::time::Duration;

use reqwest::{Client, StatusCode, Url, header};
use serde_json::Value;

use crate::domain::printer::denied_host;

/// Longest time for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Most characters of what a stranger said that are told.
const MAX_TOLD_CHARS: usize = 200;

/// What came of asking: words for people either way.
pub type Asked = Result<String, PeerFault>;

/// Why a system cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct PeerFault {
    /// What is wrong.
    pub message: String,
    /// What the system or the network said to it.
    pub detail: Option<String>,
}

impl PeerFault {
    /// A fault with nothing more to say.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), detail: None }
    }

    /// With what was said.
    pub fn saying(self, detail: impl Into<String>) -> Self {
        let told = detail.into().chars().filter(|c| !c.is_control()).take(MAX_TOLD_CHARS).collect();
        Self { detail: Some(told), ..self }
    }
}

/// How the token is shown.
enum Shown<'a> {
    Nothing,
    /// `Authorization: Bearer`.
    Bearer(&'a str),
    /// `Authorization: Token`.
    Token(&'a str),
}

impl<'a> Shown<'a> {
    /// As a bearer token, unless there is none.
    fn bearer(token: &'a str) -> Self {
        if token.is_empty() { Self::Nothing } else { Self::Bearer(token) }
    }
}

/// An answer: its status, its text, and that as JSON (else null).
struct PeerAnswer {
    status: StatusCode,
    text: String,
    json: Value,
}

impl PeerAnswer {
    /// Refuses an answer that refuses the token.
    fn admitted(self, what: &str) -> Result<Self, PeerFault> {
        match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(PeerFault::new(format!("{what} refuses the token"))
                    .saying(format!("{} {}", self.status, self.text)))
            }
            _ => Ok(self),
        }
    }

    /// That something else answers.
    fn strange(&self, what: &str) -> PeerFault {
        PeerFault::new(format!("something answers there, but not {what}"))
            .saying(format!("{} {}", self.status, self.text))
    }
}

/// The parts management system: InvenTree.
pub async fn parts(client: &Client, url: &str, token: &str) -> Asked {
    let root = get(client, url, "/api/", Shown::Nothing).await?;
    if root.json["server"] != "InvenTree" {
        return Err(root.strange("InvenTree"));
    }
    if token.is_empty() {
        return Err(PeerFault::new("InvenTree answers; it also needs a token"));
    }
    let me = get(client, url, "/api/user/me/", Shown::Token(token)).await?.admitted("InvenTree")?;
    if !me.status.is_success() {
        return Err(me.strange("InvenTree's account"));
    }
    Ok(format!("InvenTree {} answers and takes the token", root.json["version"].as_str().unwrap_or_default()))
}

/// The workflow automation: n8n. Its webhook itself is not called, because that would start the workflow.
pub async fn workflow(client: &Client, url: &str) -> Asked {
    let origin = address(url)?.origin().ascii_serialization();
    let health = get(client, &origin, "/healthz", Shown::Nothing).await?;
    match health.json["status"].as_str() {
        Some("ok") => Ok("n8n answers and is well".to_owned()),
        _ if health.status.is_server_error() => Err(health.strange("a healthy n8n")),
        _ => Ok("a web server answers; it does not say that it is n8n".to_owned()),
    }
}

/// The user interface for print farms: FDM Monster.
pub async fn farm_ui(client: &Client, url: &str, token: &str) -> Asked {
    let login = get(client, url, "/api/v2/auth/login-required", Shown::Nothing).await?;
    let Some(required) = login.json["loginRequired"].as_bool() else { return Err(login.strange("FDM Monster")) };
    if required && token.is_empty() {
        return Err(PeerFault::new("FDM Monster answers; it also needs an API key"));
    }
    let printers = get(client, url, "/api/v2/printer/", Shown::bearer(token)).await?.admitted("FDM Monster")?;
    match printers.json.as_array() {
        Some(known) => Ok(format!("FDM Monster answers and knows {} printers", known.len())),
        None => Err(printers.strange("FDM Monster's list of printers")),
    }
}

/// The detector of failed prints: the ML API of Obico.
pub async fn failure_detection(client: &Client, url: &str, token: &str) -> Asked {
    let health = get(client, url, "/hc/", Shown::bearer(token)).await?.admitted("the detector")?;
    match health.text.trim() {
        "ok" => Ok("the detector answers and is well".to_owned()),
        "error" => Err(PeerFault::new("the detector answers that it is not well")),
        _ => Err(health.strange("Obico's detector")),
    }
}

/// The smart home: Home Assistant.
pub async fn smart_home(client: &Client, url: &str, token: &str) -> Asked {
    if token.is_empty() {
        return Err(PeerFault::new("Home Assistant needs a long-lived access token"));
    }
    let root = get(client, url, "/api/", Shown::Bearer(token)).await?.admitted("Home Assistant")?;
    if root.status.is_success() && root.json["message"].is_string() {
        return Ok("Home Assistant answers and takes the token".to_owned());
    }
    Err(root.strange("Home Assistant"))
}

/// The agent gateway. It is asked nothing that an agent would act on, so that a wrong token is not noticed.
pub async fn agent(client: &Client, url: &str) -> Asked {
    let root = get(client, url, "", Shown::Nothing).await?;
    if root.status.is_server_error() {
        return Err(root.strange("a healthy gateway"));
    }
    Ok("the gateway answers".to_owned())
}

/// The e-mail service, with the interface of Resend.
pub async fn mail_api(client: &Client, url: &str, key: &str) -> Asked {
    let domains = get(client, url, "/domains", Shown::Bearer(key)).await?;
    // A key that may only send is right, and may not list domains.
    if domains.status.is_success() || domains.json["name"] == "restricted_api_key" {
        return Ok("the e-mail service takes the key".to_owned());
    }
    Err(domains.admitted("the e-mail service")?.strange("an e-mail service"))
}

fn address(url: &str) -> Result<Url, PeerFault> {
    let wrong = || PeerFault::new("this is no http or https address");
    let url = Url::parse(url.trim()).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong());
    }
    // No resolver is asked for an address that stands in the URL, so it is judged here.
    match denied_host(&url) {
        Some(range) => Err(PeerFault::new(format!("this is {range}, not a system of the shop"))),
        None => Ok(url),
    }
}

async fn get(client: &Client, base: &str, path: &str, shown: Shown<'_>) -> Result<PeerAnswer, PeerFault> {
    let url = address(&format!("{}{path}", base.trim().trim_end_matches('/')))?;
    let call = client.get(url).timeout(ANSWER_TIMEOUT);
    let call = match shown {
        Shown::Nothing => call,
        Shown::Bearer(token) => call.bearer_auth(token),
        Shown::Token(token) => call.header(header::AUTHORIZATION, format!("Token {token}")),
    };
    let silent = |error: reqwest::Error| {
        let error = error.without_url();
        let mut words = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            words = format!("{words}: {cause}");
            source = cause.source();
        }
        PeerFault::new("it does not answer; is it running, and reachable from this machine?").saying(words)
    };
    let mut answer = call.send().await.map_err(silent)?;
    let status = answer.status();
    let (body, broken) = super::http::read_beginning(&mut answer, MAX_ANSWER_BYTES, MAX_ANSWER_BYTES).await;
    if let Some(error) = broken {
        return Err(silent(error));
    }
    let json = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
    Ok(PeerAnswer { status, text: String::from_utf8_lossy(&body).into_owned(), json })
}

#[cfg(test)]
mod tests;
