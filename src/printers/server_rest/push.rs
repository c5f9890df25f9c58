//! `OctoPrint`'s raw web socket: a session from the key, then state messages up to twice a second, of which only a change wakes.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::client::Client;
use crate::printers::adapter::PrinterError;
use crate::printers::push::{Dialect, Heard};

/// What we say on the socket.
pub(super) struct Socket {
    client: Arc<Client>,
    news: News,
}

impl Socket {
    pub(super) fn new(client: Arc<Client>) -> Self {
        Self { client, news: News::default() }
    }
}

#[async_trait]
impl Dialect for Socket {
    async fn greet(&mut self) -> Result<Vec<String>, PrinterError> {
        self.news = News::default();
        let session = self.client.session().await?;
        Ok(vec![json!({ "auth": session }).to_string()])
    }

    fn heard(&mut self, text: &str) -> Heard {
        Heard { wake: self.news.wakes(text), reply: None }
    }
}

/// Tells messages that say something new from the steady stream.
#[derive(Default)]
pub(super) struct News {
    /// State flags and selected file of the last state message.
    seen: Option<(Value, Value)>,
}

impl News {
    pub(super) fn wakes(&mut self, text: &str) -> bool {
        let message = bounded_json::read(text.as_bytes(), bounded_json::ANSWER).unwrap_or_default();
        if let Some(event) = message.get("event") {
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            return kind.starts_with("Print") || matches!(kind, "EStop" | "Connected" | "Disconnected" | "Error");
        }
        let Some(current) = message.get("current").or_else(|| message.get("history")) else { return false };
        let part = |at: &str| current.pointer(at).cloned().unwrap_or_default();
        let now = (part("/state/flags"), part("/job/file/path"));
        let wake = self.seen.as_ref() != Some(&now);
        self.seen = Some(now);
        wake
    }
}
