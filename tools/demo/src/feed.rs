//! Reader of the server's event stream (server-sent events), which resumes an interrupted stream.

use std::time::Duration;

use api_requests::{HttpApi, RequestError, json_of};
use futures::StreamExt as _;
use reqwest::{Method, Response};
use tokio::time::sleep;

use super::story::DemoStory;
use crate::error::DemoError;

/// Delay before a broken stream is reopened.
const REOPEN_DELAY: Duration = Duration::from_millis(500);
/// Stream timeout; long enough never to be reached.
const STREAM_TIMEOUT: Duration = Duration::from_hours(365 * 24);

/// Open stream of the server's events.
pub struct EventFeed {
    api: HttpApi,
    stream: Response,
}

impl EventFeed {
    /// Opens the stream, which contains all events from now on.
    pub async fn open(api: HttpApi) -> Result<Self, DemoError> {
        let stream = connect(&api, None).await?;
        Ok(Self { api, stream })
    }

    /// Passes every event to the story; returns only on an error that reopening the stream cannot fix.
    pub async fn tell(self, mut story: DemoStory) -> DemoError {
        let Self { api, stream } = self;
        let (mut last, mut stream) = (None, Some(stream));
        loop {
            if let Some(open) = stream.take() {
                let mut frames = EventAssembler::default();
                let mut chunks = open.bytes_stream();
                while let Some(Ok(chunk)) = chunks.next().await {
                    for frame in frames.push(&chunk) {
                        last = frame.id.or(last);
                        if let Ok(event) = bounded_json::read(frame.data.as_bytes(), bounded_json::ANSWER)
                            && let Err(error) = story.tell(&event).await
                        {
                            return error;
                        }
                    }
                }
            }
            sleep(REOPEN_DELAY).await;
            match connect(&api, last.as_deref()).await {
                Ok(open) => stream = Some(open),
                Err(RequestError::Unavailable(_)) => {}
                Err(error) if error.status() == Some(503) => {}
                Err(error) => return error.into(),
            }
        }
    }
}

async fn connect(api: &HttpApi, last: Option<&str>) -> Result<Response, RequestError> {
    let mut request = api.request(Method::GET, "/api/events/stream").timeout(STREAM_TIMEOUT);
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last);
    }
    let answer = request.send().await?;
    if !answer.status().is_success() {
        let status = answer.status();
        json_of(answer).await?;
        return Err(RequestError::Unexpected(format!("the event stream responded with {status}")));
    }
    Ok(answer)
}

/// Event received on the stream.
#[derive(Debug, PartialEq, Eq)]
struct ServerSentEvent {
    id: Option<String>,
    data: String,
}

/// Assembles frames from the chunks that arrive from the network.
#[derive(Default)]
struct EventAssembler {
    rest: Vec<u8>,
}

impl EventAssembler {
    /// Adds a chunk and returns the frames that it completes; comments and frames without data are skipped.
    fn push(&mut self, chunk: &[u8]) -> Vec<ServerSentEvent> {
        self.rest.extend(chunk.iter().filter(|byte| **byte != b'\r'));
        let mut whole = Vec::new();
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = self.rest.drain(..end + 2).collect();
            whole.extend(frame(&String::from_utf8_lossy(&block)));
        }
        whole
    }
}

fn frame(block: &str) -> Option<ServerSentEvent> {
    let (mut id, mut data) = (None, Vec::new());
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => id = Some(value.to_owned()),
            "data" => data.push(value),
            _ => {}
        }
    }
    (!data.is_empty()).then(|| ServerSentEvent { id, data: data.join("\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_whole_however_they_are_cut() {
        let text = b": keep-alive\n\nid: 7\nevent: order.paid\ndata: {\"a\":\ndata: 1}\n\nid:8\r\ndata:x\r\n\r\nid: 9\ndata: not yet";
        for size in [1, 3, 1000] {
            let mut frames = EventAssembler::default();
            let actual: Vec<ServerSentEvent> = text.chunks(size).flat_map(|chunk| frames.push(chunk)).collect();
            let expected = [("7", "{\"a\":\n1}"), ("8", "x")];
            let expected =
                expected.map(|(id, data)| ServerSentEvent { id: Some(id.to_owned()), data: data.to_owned() });
            assert_eq!(actual, expected, "in pieces of {size}");
        }
    }
}
