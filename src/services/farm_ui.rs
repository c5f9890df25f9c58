//! Reads the printers that FDM Monster knows, in our own words.

use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use super::peer_client::{PeerClient, PeerSettingError, TokenForm, beginning, send, whole};
use super::peers::PeerFault;

/// Most bytes of a list that are read.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// The other side, in messages.
const OTHER_SIDE: &str = "FDM Monster";
/// Most printers that are taken over from a list.
const MAX_PRINTERS: usize = 1000;
/// Most characters of one text.
const MAX_CHARS: usize = 500;

/// A printer as the other side knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FarmPrinter {
    /// Its id there.
    pub id: String,
    /// What people call it there.
    pub name: String,
    /// Address of its server; empty where none is known.
    pub base_url: String,
    /// The number of its type there.
    pub type_number: i64,
    /// Its API key; empty where it has none, or the other side keeps it to itself.
    pub key: String,
    /// Its user name there; the serial number of printers that are reached by it.
    pub user: String,
    /// Its password there; the access code of printers that are reached by their serial number.
    pub password: String,
    /// Whether it is in use there.
    pub enabled: bool,
}

/// An FDM Monster.
pub struct FarmUi {
    peer: PeerClient,
}

impl FarmUi {
    /// At this address, with this API key (empty: none).
    pub fn new(client: Client, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(client, url, TokenForm::Bearer, token)? })
    }

    /// Whether it asks who calls; a fault when it is something else.
    pub async fn asks_for_key(&self) -> Result<bool, PeerFault> {
        let mut answer = send(self.peer.below(Method::GET, "api/v2/auth/login-required"), OTHER_SIDE).await?;
        let status = answer.status();
        let said = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        let told = bounded_json::read(&said, bounded_json::ANSWER).unwrap_or_default();
        told["loginRequired"].as_bool().ok_or_else(|| {
            PeerFault::new("something answers there, but not FDM Monster")
                .saying(format!("{status} {}", String::from_utf8_lossy(&said)))
        })
    }

    /// The printers that it knows. Their list holds keys and passwords, so nothing of it stands in a fault.
    pub async fn printers(&self) -> Result<Vec<FarmPrinter>, PeerFault> {
        let mut answer = send(self.peer.below(Method::GET, "api/v2/printer/"), OTHER_SIDE).await?;
        let status = answer.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(PeerFault::new("FDM Monster refuses the API key").saying(status.to_string()));
        }
        let strange = |words: String| {
            PeerFault::new("something answers there, but not FDM Monster's list of printers").saying(words)
        };
        if !status.is_success() {
            return Err(strange(status.to_string()));
        }
        let said = whole(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        let told = bounded_json::read(&said, bounded_json::ANSWER).unwrap_or_default();
        let list =
            told.as_array().ok_or_else(|| strange(format!("{status}, {} bytes that are no list", said.len())))?;
        Ok(list.iter().take(MAX_PRINTERS).map(printer).collect())
    }
}

fn printer(told: &Value) -> FarmPrinter {
    let text = |name: &str| match &told[name] {
        Value::String(text) => text.trim().chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    FarmPrinter {
        id: text("id"),
        name: text("name"),
        base_url: text("printerURL"),
        type_number: told["printerType"].as_i64().unwrap_or(0),
        key: text("apiKey"),
        user: text("username"),
        password: text("password"),
        enabled: told["enabled"].as_bool().unwrap_or(true),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_told_of_a_printer_is_read_within_bounds() {
        let told = json!({
            "id": 3, "name": "Left\n", "printerURL": "http://10.0.0.9", "printerType": 3, "username": "01S00A123456",
            "password": "12345678", "apiKey": null, "enabled": false,
        });
        let left = printer(&told);
        assert_eq!((left.id.as_str(), left.name.as_str(), left.type_number), ("3", "Left", 3));
        assert_eq!((left.key.as_str(), left.user.as_str(), left.password.as_str()), ("", "01S00A123456", "12345678"));
        assert!(!left.enabled);
        let long = printer(&json!({"name": "x".repeat(10_000)}));
        assert_eq!((long.name.len(), long.base_url.as_str(), long.enabled), (MAX_CHARS, "", true));
    }
}
