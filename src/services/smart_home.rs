//! Shows things of the shop in Home Assistant: as states over its HTTP interface, or as devices by MQTT discovery.
//!
//! States that are set over HTTP are gone after a restart there, which is noticed by asking for one of them.

pub mod discovery;

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Map, Value, json};

use super::peer_client::{PeerClient, PeerSettingError, TokenForm, beginning, send};
use super::peers::PeerFault;

/// Most bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// The other side, in messages.
const OTHER_SIDE: &str = "Home Assistant";
/// Most characters of a state.
const MAX_STATE_CHARS: usize = 255;

/// A thing of the shop as it is shown: a printer, or the shop itself.
#[derive(Clone, PartialEq, Debug)]
pub struct ShownThing {
    /// Names it for ever: small letters and digits.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// What kind of thing it is, for people.
    pub model: String,
    /// Its state in one word or number.
    pub state: String,
    /// Further facts by name.
    pub facts: Map<String, Value>,
}

/// The HTTP interface of a Home Assistant.
pub struct StateBoard {
    peer: PeerClient,
}

impl StateBoard {
    /// At this address, with an administrator's long-lived token.
    pub fn new(client: Client, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(client, url, TokenForm::Bearer, token)? })
    }

    /// Shows the present state of a thing.
    pub async fn show(&self, thing: &ShownThing) -> Result<(), PeerFault> {
        let mut attributes = thing.facts.clone();
        attributes.insert("friendly_name".to_owned(), thing.name.clone().into());
        let state: String = thing.state.chars().take(MAX_STATE_CHARS).collect();
        let call = self.entity(Method::POST, &thing.key);
        match self.ask(call.json(&json!({"state": state, "attributes": attributes}))).await? {
            StatusCode::NOT_FOUND => Err(PeerFault::new("Home Assistant takes no states at this address")),
            _ => Ok(()),
        }
    }

    /// Whether a thing is still shown.
    pub async fn shows(&self, key: &str) -> Result<bool, PeerFault> {
        Ok(self.ask(self.entity(Method::GET, key)).await? != StatusCode::NOT_FOUND)
    }

    /// Shows a thing no more.
    pub async fn remove(&self, key: &str) -> Result<(), PeerFault> {
        self.ask(self.entity(Method::DELETE, key)).await.map(drop)
    }

    fn entity(&self, method: Method, key: &str) -> RequestBuilder {
        self.peer.below(method, &format!("api/states/sensor.printfloor_{key}"))
    }

    /// The status: one that is well, or that the thing is not there.
    async fn ask(&self, call: RequestBuilder) -> Result<StatusCode, PeerFault> {
        let mut answer = send(call, OTHER_SIDE).await?;
        let status = answer.status();
        let said = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        if status.is_success() || status == StatusCode::NOT_FOUND {
            return Ok(status);
        }
        let words = match status.as_u16() {
            401 => "Home Assistant refuses the token",
            403 => "Home Assistant refuses: the token must be an administrator's",
            _ => "Home Assistant did not take a state",
        };
        Err(PeerFault::new(words).saying(format!("{} {}", status.as_u16(), String::from_utf8_lossy(&said))))
    }
}
