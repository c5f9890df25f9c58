//! A connection on which a test controls every byte.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::App;
use super::waiting::LONG;

pub struct Wire {
    stream: TcpStream,
    /// Received part of the next response.
    partial: Vec<u8>,
}

impl Wire {
    pub async fn to(app: &App) -> Self {
        Self::at(app.base.strip_prefix("http://").unwrap()).await
    }

    pub async fn at(address: impl tokio::net::ToSocketAddrs) -> Self {
        Self { stream: TcpStream::connect(address).await.unwrap(), partial: Vec::new() }
    }

    /// Sends these bytes; returns `false` if the other side has closed the connection.
    pub async fn say(&mut self, text: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(text.as_ref()).await.is_ok()
    }

    /// Reads the next response, with its body according to its length; returns the status and the complete text, or
    /// `None` if the connection was closed. Cancelling a read loses nothing: the next one continues it.
    pub async fn answer(&mut self) -> Option<(u16, String)> {
        loop {
            let so_far = String::from_utf8_lossy(&self.partial).into_owned();
            if let Some((head, body)) = so_far.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
                if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                    self.partial.clear();
                    return Some((status, so_far));
                }
            }
            let mut piece = [0; 4096];
            match timeout(LONG, self.stream.read(&mut piece)).await.expect("an answer or an end") {
                Ok(0) | Err(_) => return None,
                Ok(some) => self.partial.extend_from_slice(&piece[..some]),
            }
        }
    }

    /// Returns whether the next bytes are this text; leaves the rest unread.
    pub async fn begins(&mut self, with: &str) -> bool {
        let mut text = vec![0; with.len()];
        let read = timeout(LONG, self.stream.read_exact(&mut text)).await.expect("an answer or an end");
        read.is_ok() && text == with.as_bytes()
    }

    /// Waits until the other side closes the connection; discards everything received before.
    pub async fn ended(&mut self) {
        let mut piece = [0; 4096];
        loop {
            let read = timeout(LONG, self.stream.read(&mut piece)).await.expect("the connection to end");
            if !read.is_ok_and(|some| some > 0) {
                return;
            }
        }
    }

    /// Sends a GET with the server's admin key on this persistent connection; returns the response.
    pub async fn get(&mut self, app: &App, path: &str) -> Option<(u16, String)> {
        self.get_with(app.key.as_deref().unwrap(), path).await
    }

    /// Sends a GET as [`Self::get`] does, with this key.
    pub async fn get_with(&mut self, key: &str, path: &str) -> Option<(u16, String)> {
        self.say(format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n\r\n")).await;
        self.answer().await
    }
}
