//! Reads the list of printers from FDM Monster.

use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::peer_client::{PeerClient, PeerHttp, PeerSettingError, TokenForm, beginning, whole};
use super::peer_fault::PeerFault;

/// Maximum number of bytes read from a list.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Name used for the system in messages.
const OTHER_SIDE: &str = "FDM Monster";
/// Maximum number of printers imported from a list.
const MAX_PRINTERS: usize = 1000;
/// Maximum length of each text, in characters.
const MAX_CHARS: usize = 500;

/// Printer in FDM Monster's list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FarmPrinter {
    /// ID in FDM Monster.
    pub id: String,
    /// Display name in FDM Monster.
    pub name: String,
    /// Printer server's address; empty if unknown.
    pub base_url: String,
    /// FDM Monster's number for the printer type.
    pub type_number: i64,
    /// API key; empty if the printer has none, or FDM Monster does not reveal it.
    pub key: String,
    /// User name, or the serial number for printers that require one.
    pub user: String,
    /// Password, or the access code for printers that require a serial number.
    pub password: String,
    /// `true` if the printer is enabled in FDM Monster.
    pub enabled: bool,
}

/// Client for an FDM Monster server.
pub struct FarmUi {
    peer: PeerClient,
}

impl FarmUi {
    /// Creates a client for the given address and API key, which may be empty.
    pub fn new(http: impl Into<PeerHttp>, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(http, url, TokenForm::Bearer, token)? })
    }

    /// Returns whether the server requires authentication; fails if the address belongs to something other than FDM
    /// Monster.
    pub async fn asks_for_key(&self) -> Result<bool, PeerFault> {
        let mut answer = self.peer.send(self.peer.below(Method::GET, "api/v2/auth/login-required"), OTHER_SIDE).await?;
        let status = answer.status();
        let body = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        let json = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
        json["loginRequired"].as_bool().ok_or_else(|| {
            PeerFault::new("the service at this address is not FDM Monster")
                .saying(format!("{status} {}", String::from_utf8_lossy(&body)))
        })
    }

    /// Returns the printers that the server lists. The list contains keys and passwords, so no part of it appears in an
    /// error.
    pub async fn printers(&self) -> Result<Vec<FarmPrinter>, PeerFault> {
        let mut answer = self.peer.send(self.peer.below(Method::GET, "api/v2/printer/"), OTHER_SIDE).await?;
        let status = answer.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(PeerFault::new("FDM Monster rejects the API key").saying(status.to_string()));
        }
        let strange =
            |words: String| PeerFault::new("the response is not FDM Monster's list of printers").saying(words);
        if !status.is_success() {
            return Err(strange(status.to_string()));
        }
        let body = whole(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        let json = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
        let list = json.as_array().ok_or_else(|| strange(format!("{status}, {} bytes without a list", body.len())))?;
        Ok(list.iter().take(MAX_PRINTERS).map(printer).collect())
    }
}

fn printer(entry: &Value) -> FarmPrinter {
    let text = |name: &str| match &entry[name] {
        Value::String(text) => text.trim().chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    FarmPrinter {
        id: text("id"),
        name: text("name"),
        base_url: text("printerURL"),
        type_number: entry["printerType"].as_i64().unwrap_or(0),
        key: text("apiKey"),
        user: text("username"),
        password: text("password"),
        enabled: entry["enabled"].as_bool().unwrap_or(true),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_told_of_a_printer_is_read_within_bounds() {
        let entry = json!({
            "id": 3, "name": "Left\n", "printerURL": "http://10.0.0.9", "printerType": 3, "username": "01S00A123456",
            "password": "12345678", "apiKey": null, "enabled": false,
        });
        let left = printer(&entry);
        assert_eq!((left.id.as_str(), left.name.as_str(), left.type_number), ("3", "Left", 3));
        assert_eq!((left.key.as_str(), left.user.as_str(), left.password.as_str()), ("", "01S00A123456", "12345678"));
        assert!(!left.enabled);
        let long = printer(&json!({"name": "x".repeat(10_000)}));
        assert_eq!((long.name.len(), long.base_url.as_str(), long.enabled), (MAX_CHARS, "", true));
    }
}
