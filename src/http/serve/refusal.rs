//! Response to a connection that exceeds the limits: built once and sent before the request is parsed.

use std::fmt::Write as _;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::response::Response;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::limits::layer::overload_error;

/// Maximum number of rejections sent immediately per second. If there are more, the remaining ones are delayed, which
/// slows down clients that reconnect endlessly.
const MAX_PROMPT_PER_SECOND: u32 = 64;
/// Delay for a rejection that is not sent immediately.
const STORM_PAUSE: Duration = Duration::from_secs(1);
/// Maximum time that a client has to read its rejection and close the connection.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of request bytes read and discarded while the client reads its rejection, because a client that is
/// cut off while sending sees a connection error instead of the response.
const MAX_LINGER_BYTES: usize = 64 * 1024;

/// Prebuilt response that rejects connections.
pub struct RefusalResponse {
    /// Head of the response, without its last header.
    head: String,
    body: String,
    pace: Mutex<RefusalPace>,
}

impl RefusalResponse {
    /// Builds the rejection from the headers of the given response.
    pub fn new(answer: &Response) -> Self {
        let body = overload_error().body().to_string();
        let mut head = format!("HTTP/1.1 {}\r\n", answer.status());
        for (name, value) in answer.headers() {
            let _ = write!(head, "{name}: {}\r\n", value.to_str().unwrap_or_default());
        }
        head.push_str("x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n");
        let _ = write!(head, "content-length: {}\r\n", body.len());
        Self { head, body, pace: Mutex::default() }
    }

    /// Sends the rejection to a client and closes its connection. `begin` contains the first bytes of the client's
    /// request.
    pub async fn send(&self, mut stream: TcpStream, begin: &[u8], request_id: &str) {
        let is_prompt = self.pace.lock().unwrap_or_else(PoisonError::into_inner).is_prompt(Instant::now());
        if !is_prompt {
            sleep(STORM_PAUSE).await;
        }
        let answer = self.answer(begin, request_id);
        if let Ok(Err(error)) = timeout(LINGER_TIMEOUT, send_and_close(&mut stream, answer.as_bytes())).await {
            tracing::debug!(%error, "a rejected client has disconnected");
        }
    }
}

impl RefusalResponse {
    fn answer(&self, begin: &[u8], request_id: &str) -> String {
        // The answer to HEAD has no body.
        let body = if begin.starts_with(b"HEAD ") { "" } else { &*self.body };
        format!("{}x-request-id: {request_id}\r\n\r\n{body}", self.head)
    }
}

async fn send_and_close(stream: &mut TcpStream, answer: &[u8]) -> io::Result<()> {
    stream.write_all(answer).await?;
    stream.shutdown().await?;
    let (mut rest, mut bytes) = ([0; 4096], 0);
    while bytes < MAX_LINGER_BYTES
        && let read @ 1.. = stream.read(&mut rest).await?
    {
        bytes += read;
    }
    Ok(())
}

/// Counter of rejections in the current second.
#[derive(Default)]
struct RefusalPace {
    began: Option<Instant>,
    count: u32,
}

impl RefusalPace {
    /// Returns whether to send the next rejection immediately.
    fn is_prompt(&mut self, now: Instant) -> bool {
        if self.began.is_none_or(|began| now.duration_since(began) >= Duration::from_secs(1)) {
            (self.began, self.count) = (Some(now), 0);
        }
        self.count = self.count.saturating_add(1);
        self.count <= MAX_PROMPT_PER_SECOND
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header::RETRY_AFTER;
    use axum::response::IntoResponse as _;

    use super::*;

    #[test]
    fn the_answer_is_whole_and_ends_its_connection() {
        let refusal = RefusalResponse::new(&overload_error().into_response());
        let [get, head] = [b"GET /api".as_slice(), b"HEAD /api"].map(|begin| refusal.answer(begin, "id-1"));
        assert!(get.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{get}");
        let (lines, body) = get.split_once("\r\n\r\n").unwrap_or_default();
        let has = |line: &str| lines.split("\r\n").any(|one| one == line);
        assert!(has(&format!("content-length: {}", body.len())) && has("content-type: application/json"), "{lines}");
        assert!(has(&format!("{RETRY_AFTER}: 1")) && has("connection: close") && has("x-request-id: id-1"), "{lines}");
        assert_eq!(body, overload_error().body().to_string());
        assert_eq!(head, format!("{lines}\r\n\r\n"));
    }

    #[test]
    fn the_first_refusals_of_a_second_are_sent_at_once() {
        let (mut pace, began) = (RefusalPace::default(), Instant::now());
        let mut prompt = |after_ms: u64| pace.is_prompt(began + Duration::from_millis(after_ms));
        let at_once = (0..1000).filter(|n| prompt(n / 2)).count();
        assert_eq!(at_once, MAX_PROMPT_PER_SECOND as usize);
        assert!(!prompt(999) && prompt(1000));
    }
}
