//! Minimal-overhead HTTP client, because it shares the server's cores.
//!
//! HTTP/1.1 on one keep-alive connection; every response with a body has a `content-length`.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Size of the read buffer, in bytes, as is usual for HTTP clients. With only a few kilobytes, the kernel's receive
/// window for a long response on loopback sometimes closes, and both sides then wait 40 ms for each other's timers,
/// twice, no matter what the server does.
const READ_BYTES: usize = 65_536;

/// Response, whatever its status.
pub struct BenchAnswer<'a> {
    /// Status code.
    pub status: u16,
    /// `true` if the response has a `Retry-After` header.
    pub has_retry_after: bool,
    /// Whole body.
    pub body: &'a [u8],
}

/// Client with a single connection.
pub struct Client {
    stream: TcpStream,
    /// Buffer of the response bytes read so far.
    answer: Vec<u8>,
}

impl Client {
    /// Connects to the server.
    pub async fn connect(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, answer: Vec::with_capacity(8192) }
    }

    /// Connects several clients.
    pub async fn several(to: SocketAddr, count: usize) -> Vec<Self> {
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            all.push(Self::connect(to).await);
        }
        all
    }

    /// Sends a whole request and returns the body of the response, whose status must be 200 or 201.
    pub async fn ask(&mut self, request: &[u8]) -> &[u8] {
        let (body, whole) = self.answered(request).await;
        let status = &self.answer[9..12];
        assert!(matches!(status, b"200" | b"201"), "{}", String::from_utf8_lossy(&self.answer));
        &self.answer[body..whole]
    }

    /// Connects; `None` if the server refuses the connection.
    pub async fn try_connect(to: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(to).await.ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self { stream, answer: Vec::with_capacity(8192) })
    }

    /// Sends a whole request and returns the status of the response; `None` when the server closed the connection.
    pub async fn status(&mut self, request: &[u8]) -> Option<u16> {
        self.try_answered(request).await?;
        std::str::from_utf8(&self.answer[9..12]).ok()?.parse().ok()
    }

    /// Sends a whole request and returns the response; `None` when the server closed the connection.
    pub async fn answer(&mut self, request: &[u8]) -> Option<BenchAnswer<'_>> {
        let (body, whole) = self.try_answered(request).await?;
        let head = std::str::from_utf8(&self.answer[..body]).ok()?;
        let status = head.get(9..12)?.parse().ok()?;
        let has_retry_after = head.lines().any(|line| line.to_ascii_lowercase().starts_with("retry-after:"));
        Some(BenchAnswer { status, has_retry_after, body: &self.answer[body..whole] })
    }

    /// Sends a whole request and waits for its response, whatever it is.
    pub async fn try_ask(&mut self, request: &[u8]) {
        self.answered(request).await;
    }

    /// Sends a request and returns the range of the body in the response.
    async fn answered(&mut self, request: &[u8]) -> (usize, usize) {
        self.try_answered(request).await.unwrap()
    }

    /// Sends a request as [`Self::answered`] does; returns `None` if the server closed the connection.
    async fn try_answered(&mut self, request: &[u8]) -> Option<(usize, usize)> {
        self.stream.write_all(request).await.ok()?;
        self.answer.clear();
        loop {
            self.answer.reserve(READ_BYTES);
            if self.stream.read_buf(&mut self.answer).await.ok()? == 0 {
                return None;
            }
            if let Some((body, whole)) = extent(&self.answer)
                && self.answer.len() >= whole
            {
                return Some((body, whole));
            }
        }
    }
}

/// Returns the range of the body; `None` until the head is complete.
fn extent(answer: &[u8]) -> Option<(usize, usize)> {
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&answer[..head]).unwrap();
    let length = text.lines().filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    // A 204 has neither a body nor a length.
    Some((head, head + length.unwrap_or_default()))
}

/// Builds a GET with an API key.
pub fn get(path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: bench\r\nx-api-key: {key}\r\n\r\n").into_bytes()
}

/// Builds a DELETE with an API key.
pub fn delete(path: &str, key: &str) -> Vec<u8> {
    format!("DELETE {path} HTTP/1.1\r\nhost: bench\r\nx-api-key: {key}\r\n\r\n").into_bytes()
}

/// Builds a POST of JSON with an API key and an idempotency key.
pub fn post(path: &str, key: &str, idempotency_key: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: bench\r\nx-api-key: {key}\r\nidempotency-key: {idempotency_key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Builds a POST of JSON with only an API key.
pub fn post_plain(path: &str, key: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: bench\r\nx-api-key: {key}\r\ncontent-type: application/json");
    format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Builds an upload of a file into the library, as one request.
pub fn upload(key: &str, name: &str, file: &[u8]) -> Vec<u8> {
    upload_to("/api/files", key, name, file)
}

/// Builds an upload of a file, as one request.
pub fn upload_to(path: &str, key: &str, name: &str, file: &[u8]) -> Vec<u8> {
    let part = format!("content-disposition: form-data; name=\"file\"; filename=\"{name}\"");
    let (head, tail) = (format!("--x\r\n{part}\r\n\r\n"), "\r\n--x--\r\n");
    let length = head.len() + file.len() + tail.len();
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nhost: bench\r\nx-api-key: {key}\r\ncontent-type: multipart/form-data; boundary=x\r\n\
         content-length: {length}\r\n\r\n{head}"
    )
    .into_bytes();
    request.extend(file);
    request.extend(tail.as_bytes());
    request
}

/// Builds a PATCH of JSON with an API key.
pub fn patch(path: &str, key: &str, body: &str) -> Vec<u8> {
    let post = String::from_utf8(post_plain(path, key, body)).unwrap();
    post.replacen("POST", "PATCH", 1).into_bytes()
}
