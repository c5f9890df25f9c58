//! Reads the printers that FDM Monster knows, in our own words.

use reqwest::{Client, StatusCode};
use serde_json::Value;

use super::http::read_beginning;
use super::peers::PeerFault;

/// Most bytes of a list that are read.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
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
    /// The type of printer here that speaks its protocol; else the number of the type there.
    pub kind: Result<&'static str, i64>,
    /// Its API key or access code; empty where the other side keeps it to itself.
    pub api_key: String,
    /// Its serial number, for types that need one.
    pub serial: Option<String>,
    /// Whether it is in use there.
    pub enabled: bool,
}

/// The printers of an FDM Monster at this address, with this API key (empty: none).
pub async fn printers(client: &Client, url: &str, token: &str) -> Result<Vec<FarmPrinter>, PeerFault> {
    let mut request = client.get(format!("{}/api/v2/printer/", url.trim_end_matches('/')));
    if !token.is_empty() {
        request = request.bearer_auth(token);
    }
    let silent = |error: reqwest::Error| {
        PeerFault::new("FDM Monster does not answer").saying(error.without_url().to_string())
    };
    let mut answer = request.send().await.map_err(silent)?;
    let status = answer.status();
    let (said, _) = read_beginning(&mut answer, MAX_ANSWER_BYTES, MAX_ANSWER_BYTES).await;
    let words = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "FDM Monster refuses the API key",
        _ => "something answers there, but not FDM Monster's list of printers",
    };
    let strange = || PeerFault::new(words).saying(format!("{status} {}", String::from_utf8_lossy(&said)));
    let list = bounded_json::read(&said, bounded_json::ANSWER).unwrap_or_default();
    let list = list.as_array().filter(|_| status.is_success()).ok_or_else(strange)?;
    Ok(list.iter().take(MAX_PRINTERS).map(printer).collect())
}

fn printer(told: &Value) -> FarmPrinter {
    let text = |name: &str| match &told[name] {
        Value::String(text) => text.trim().chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let number = told["printerType"].as_i64().unwrap_or(0);
    let kind = match number {
        0 => Ok("server_rest"),
        1 => Ok("fw_rest"),
        2 => Ok("prusa_link"),
        3 => Ok("mqtt_lan"),
        other => Err(other),
    };
    let (key, user, password): (String, String, String) = (text("apiKey"), text("username"), text("password"));
    let (api_key, serial) = match kind {
        // There the serial number is the user name, and the access code the password.
        Ok("mqtt_lan") => (password, Some(user).filter(|serial| !serial.is_empty())),
        Ok("prusa_link") if key.is_empty() && !password.is_empty() => (format!("{user}:{password}"), None),
        _ => (key, None),
    };
    FarmPrinter {
        id: text("id"),
        name: text("name"),
        base_url: text("printerURL"),
        kind,
        api_key,
        serial,
        enabled: told["enabled"].as_bool().unwrap_or(true),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_type_is_told_in_our_words() {
        let told = |more: Value| {
            let mut one = json!({"id": 3, "name": "Left\n", "printerURL": "http://10.0.0.9", "enabled": false});
            for (name, value) in more.as_object().into_iter().flatten() {
                one[name] = value.clone();
            }
            printer(&one)
        };
        let octo = told(json!({"printerType": 0, "apiKey": "k"}));
        assert_eq!((octo.id.as_str(), octo.name.as_str(), octo.kind, octo.api_key.as_str()), ("3", "Left", Ok("server_rest"), "k"));
        assert!(!octo.enabled);
        let lan = told(json!({"printerType": 3, "username": "01S00A123456", "password": "12345678"}));
        assert_eq!((lan.kind, lan.api_key.as_str(), lan.serial.as_deref()), (Ok("mqtt_lan"), "12345678", Some("01S00A123456")));
        let link = told(json!({"printerType": 2, "username": "maker", "password": "p"}));
        assert_eq!((link.kind, link.api_key.as_str()), (Ok("prusa_link"), "maker:p"));
        assert_eq!(told(json!({"printerType": 9})).kind, Err(9));
    }
}
