//! Client for server-sent events that reads them like a browser.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use serde_json::Value;

use super::Client;
use super::waiting::LONG;

/// Timeout for a whole stream, which takes longer than any other response.
const WHOLE: Duration = Duration::from_mins(10);

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    pub id: Option<i64>,
    pub event: String,
    pub data: Value,
}

/// An open stream.
pub struct Stream {
    pieces: BoxStream<'static, reqwest::Result<Vec<u8>>>,
    text: String,
}

impl Stream {
    /// Opens a stream, starting after the event `last` if it is given.
    pub async fn open(client: &Client, path: &str, last: Option<&str>) -> Self {
        let mut request = client.request("GET", path).timeout(WHOLE);
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let answer = client.open(request).await;
        assert_eq!(answer.status().as_u16(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let pieces = answer.bytes_stream().map(|piece| piece.map(|bytes| bytes.to_vec())).boxed();
        Self { pieces, text: String::new() }
    }

    /// Returns the next event; `None` if the server has ended the stream.
    pub async fn next(&mut self) -> Option<Sent> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(sent) = read(&block) {
                    return Some(sent);
                }
                continue;
            }
            let piece = tokio::time::timeout(LONG, self.pieces.next()).await.expect("an event, or the end");
            self.text.push_str(&String::from_utf8(piece?.expect("the stream ends well")).unwrap());
        }
    }

    /// Returns the next `many` events.
    pub async fn take(&mut self, many: usize) -> Vec<Sent> {
        let mut all = Vec::new();
        while all.len() < many {
            all.push(self.next().await.expect("the stream goes on"));
        }
        all
    }

    /// Waits until the server ends it.
    pub async fn ends(mut self) {
        while self.next().await.is_some() {}
    }
}

/// Parses a block of lines; `None` if it contains only comments.
fn read(block: &str) -> Option<Sent> {
    let mut sent = Sent { id: None, event: String::new(), data: Value::Null };
    for line in block.lines() {
        match line.split_once(':').map(|(name, value)| (name, value.strip_prefix(' ').unwrap_or(value))) {
            Some(("id", id)) => sent.id = Some(id.parse().unwrap()),
            Some(("event", event)) => event.clone_into(&mut sent.event),
            Some(("data", data)) => sent.data = serde_json::from_str(data).unwrap(),
            _ => {}
        }
    }
    (!sent.event.is_empty()).then_some(sent)
}
