//! Client for Home Assistant: displays the shop's entities as states through the HTTP API, or as devices through MQTT
//! discovery.
//!
//! States set through the HTTP API are lost when Home Assistant restarts. A restart is detected by reading one of the
//! states.

pub mod discovery;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Map, Value, json};

use super::peer_client::{PeerClient, PeerHttp, PeerSettingError, TokenForm, beginning};
use super::peer_fault::PeerFault;

/// Maximum number of bytes read from a response.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Name used for the system in messages.
const OTHER_SIDE: &str = "Home Assistant";
/// Maximum length of a state, in characters.
const MAX_STATE_CHARS: usize = 255;

/// Entity to display: a printer, or the shop itself.
#[derive(Clone, PartialEq, Debug)]
pub struct HomeEntity {
    /// Permanent key: lowercase letters and digits.
    pub key: String,
    /// Display name.
    pub name: String,
    /// Human-readable kind of entity.
    pub model: String,
    /// State, as one word or number.
    pub state: String,
    /// Further attributes by name.
    pub facts: Map<String, Value>,
}

/// Client for Home Assistant's HTTP API.
pub struct HomeAssistantClient {
    peer: PeerClient,
}

impl HomeAssistantClient {
    /// Creates a client for the given address with an administrator's long-lived token.
    pub fn new(http: impl Into<PeerHttp>, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(http, url, TokenForm::Bearer, token)? })
    }

    /// Displays the current state of an entity.
    pub async fn show(&self, thing: &HomeEntity) -> Result<(), PeerFault> {
        let mut attributes = thing.facts.clone();
        attributes.insert("friendly_name".to_owned(), thing.name.clone().into());
        let state: String = thing.state.chars().take(MAX_STATE_CHARS).collect();
        let call = self.entity(Method::POST, &thing.key);
        match self.ask(call.json(&json!({"state": state, "attributes": attributes}))).await? {
            StatusCode::NOT_FOUND => Err(PeerFault::new("Home Assistant accepts no states at this address")),
            _ => Ok(()),
        }
    }

    /// Returns whether an entity is still displayed.
    pub async fn shows(&self, key: &str) -> Result<bool, PeerFault> {
        Ok(self.ask(self.entity(Method::GET, key)).await? != StatusCode::NOT_FOUND)
    }

    /// Removes an entity.
    pub async fn remove(&self, key: &str) -> Result<(), PeerFault> {
        self.ask(self.entity(Method::DELETE, key)).await.map(drop)
    }

    fn entity(&self, method: Method, key: &str) -> RequestBuilder {
        self.peer.below(method, &format!("api/states/sensor.printfloor_{key}"))
    }

    /// Sends a request and returns the status, which is either success or 404 for an entity that does not exist.
    async fn ask(&self, call: RequestBuilder) -> Result<StatusCode, PeerFault> {
        let mut answer = self.peer.send(call, OTHER_SIDE).await?;
        let status = answer.status();
        let body = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        if status.is_success() || status == StatusCode::NOT_FOUND {
            return Ok(status);
        }
        let words = match status.as_u16() {
            401 => "Home Assistant rejects the token",
            403 => "Home Assistant denied access: the token must be an administrator's",
            _ => "Home Assistant rejected a state",
        };
        Err(PeerFault::new(words).saying(format!("{} {}", status.as_u16(), String::from_utf8_lossy(&body))))
    }
}
