//! Control connection to a file server, which sends one reply per command.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::adapter::PrinterError;
use crate::mqtt_lan::session::SessionSettings;
use crate::mqtt_lan::{USER, tls, words};
use crate::network;
use platform::http::lan_connect;

/// Maximum size of one reply in bytes, including all its lines.
const MAX_REPLY_BYTES: usize = 16 * 1024;
/// Time limit for closing the connection with `QUIT`.
const QUIT_TIMEOUT: Duration = Duration::from_millis(500);

/// Reply from the server.
#[derive(Debug)]
pub(super) struct FtpReply {
    /// Three-digit reply code.
    pub(super) code: u16,
    /// Text of the reply's last line.
    pub(super) text: String,
}

/// Control connection after signing in.
pub(super) struct Control {
    stream: TlsStream<TcpStream>,
    peer: SocketAddr,
    patience: Duration,
    connect_timeout: Duration,
    /// Bytes received but not yet parsed.
    rest: Vec<u8>,
}

impl Control {
    /// Connects and signs in. If `bare` is `true`, data connections are not encrypted.
    pub(super) async fn open(link: &SessionSettings, bare: bool) -> Result<Self, PrinterError> {
        let connect_timeout = link.settings.connect_timeout;
        let unreachable = |error: std::io::Error| {
            PrinterError::Unreachable(format!(
                "file server: {}",
                tls::refusal(&error).unwrap_or_else(|| network::reason(&error))
            ))
        };
        let dialling = async {
            let tcp = lan_connect(link.address.host(), link.address.ftps).await.map_err(unreachable)?;
            let peer = tcp.peer_addr().map_err(unreachable)?;
            let connector = TlsConnector::from(link.tls.ftps.clone());
            let stream = connector.connect(link.tls.name.clone(), tcp).await.map_err(unreachable)?;
            Ok::<_, PrinterError>((stream, peer))
        };
        let dialled = timeout(connect_timeout, dialling).await;
        let (stream, peer) = dialled.map_err(|_| PrinterError::Timeout)??;
        let patience = link.settings.request_timeout;
        let mut control = Self { stream, peer, patience, connect_timeout, rest: Vec::new() };
        let hello = control.reply().await?;
        if hello.code != 220 {
            return Err(PrinterError::Unreachable(format!(
                "the file server responded with {} {}",
                hello.code, hello.text
            )));
        }
        let user = control.ask(&format!("USER {USER}")).await?;
        let login = if user.code == 331 { control.ask(&format!("PASS {}", link.code)).await? } else { user };
        match login.code {
            200..=299 => {}
            530 => return Err(PrinterError::WrongKey(words::CODE_HINT.to_owned())),
            code => {
                return Err(PrinterError::Unreachable(format!("the file server responded with {code} {}", login.text)));
            }
        }
        let protection = if bare { "PROT C" } else { "PROT P" };
        for command in ["PBSZ 0", protection, "TYPE I"] {
            let reply = control.ask(command).await?;
            if !(200..300).contains(&reply.code) {
                let words = format!("the file server responded to {command} with {} {}", reply.code, reply.text);
                return Err(PrinterError::BadAnswer(words));
            }
        }
        Ok(control)
    }

    /// Sends a command and reads its first reply.
    pub(super) async fn ask(&mut self, command: &str) -> Result<FtpReply, PrinterError> {
        // A line break would be another command.
        if command.chars().any(char::is_control) {
            return Err(PrinterError::Invalid("the file name must be one line".to_owned()));
        }
        let line = format!("{command}\r\n");
        let sending = async {
            self.stream.write_all(line.as_bytes()).await?;
            self.stream.flush().await
        };
        let sent = timeout(self.patience, sending).await.map_err(|_| PrinterError::Timeout)?;
        sent.map_err(|error| network::lost(&error))?;
        self.reply().await
    }

    /// Opens a data connection. Only the port is taken from the server's reply; the host is always the file server's
    /// own address.
    pub(super) async fn data(&mut self) -> Result<TcpStream, PrinterError> {
        let extended = self.ask("EPSV").await?;
        let port = match extended.code {
            229 => extended_port(&extended.text),
            _ => {
                let passive = self.ask("PASV").await?;
                if passive.code != 227 {
                    return Err(super::refused(&passive));
                }
                passive_port(&passive.text)
            }
        };
        let port = port.ok_or_else(|| PrinterError::BadAnswer("no port for the data connection".to_owned()))?;
        let connecting = TcpStream::connect(SocketAddr::new(self.peer.ip(), port));
        let connected = timeout(self.connect_timeout, connecting).await.map_err(|_| PrinterError::Timeout)?;
        connected.map_err(|error| PrinterError::Lost(format!("data connection: {}", network::reason(&error))))
    }

    /// Reads a reply; only the last line of a multi-line reply is used.
    pub(super) async fn reply(&mut self) -> Result<FtpReply, PrinterError> {
        timeout(self.patience, self.read_reply()).await.map_err(|_| PrinterError::Timeout)?
    }

    async fn read_reply(&mut self) -> Result<FtpReply, PrinterError> {
        let mut first: Option<String> = None;
        let mut read = 0;
        loop {
            let line = self.line().await?;
            read += line.len();
            if read > MAX_REPLY_BYTES {
                return Err(PrinterError::BadAnswer("a response without an end".to_owned()));
            }
            let code = line.get(..3).filter(|code| code.bytes().all(|byte| byte.is_ascii_digit())).map(str::to_owned);
            let more = line.as_bytes().get(3) == Some(&b'-');
            match (&first, code) {
                (None, Some(code)) if more => first = Some(code),
                (None, None) => return Err(PrinterError::BadAnswer("the file server does not speak FTP".to_owned())),
                (Some(first), code) if more || code.as_ref() != Some(first) => {}
                (_, Some(code)) => {
                    let text = line.get(4..).unwrap_or_default().chars().take(300).collect();
                    return Ok(FtpReply { code: code.parse().unwrap_or_default(), text });
                }
                (Some(_), None) => {}
            }
        }
    }

    async fn line(&mut self) -> Result<String, PrinterError> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if self.rest.len() > MAX_REPLY_BYTES {
                return Err(PrinterError::BadAnswer("a response without an end".to_owned()));
            }
            let mut buffer = [0; 1024];
            let read = self.stream.read(&mut buffer).await.map_err(|error| network::lost(&error))?;
            if read == 0 {
                return Err(PrinterError::Lost("the file server closed the connection".to_owned()));
            }
            self.rest.extend_from_slice(&buffer[..read]);
        }
    }

    /// Sends `QUIT`, ignoring any failure.
    pub(super) async fn quit(mut self) {
        let farewell = async {
            let _ = self.ask("QUIT").await;
            let _ = self.stream.shutdown().await;
        };
        let _ = timeout(QUIT_TIMEOUT, farewell).await;
    }
}

/// Parses the port from `Entering Extended Passive Mode (|||51234|)`.
pub(super) fn extended_port(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("(|||")?;
    rest.split_once('|')?.0.parse().ok().filter(|port| *port > 0)
}

/// Parses the port from `Entering Passive Mode (10,0,0,5,200,34).`
pub(super) fn passive_port(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once('(')?;
    let numbers: Vec<u16> = rest.split_once(')')?.0.split(',').map_while(|part| part.trim().parse().ok()).collect();
    let [_, _, _, _, high @ 0..=255, low @ 0..=255] = numbers[..] else { return None };
    Some(high * 256 + low).filter(|port| *port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_and_nothing_else() {
        assert_eq!(extended_port("Entering Extended Passive Mode (|||51234|)."), Some(51_234));
        assert_eq!(passive_port("Entering Passive Mode (10,0,0,5,200,34)."), Some(51_234));
        for text in ["", "(|||0|)", "(|||x|)", "(|||99999|)", "(1,2,3,4,5)", "(1,2,3,4,256,1)", "(1,2,3,4,0,0)"] {
            assert_eq!((extended_port(text), passive_port(text)), (None, None), "{text}");
        }
    }
}
