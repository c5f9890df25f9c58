//! File transfer to a printer over FTP with implicit TLS. Only storing, listing and deleting are implemented.
//!
//! Each operation uses its own connection, and only one runs at a time. Data connections resume the TLS session of
//! their control connection, because the printers reject all others. Results are verified afterwards, because printers
//! truncate transfers without reporting it.

mod control;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use self::control::{Control, FtpReply};
use super::session::SessionSettings;
use crate::adapter::{Deleted, PrinterError, RemoteFile, Source};
use crate::network;

/// Minimum transfer rate of a healthy printer, from which the time limits for uploads are derived.
const SLOWEST_BYTES_PER_SECOND: u64 = 25_000;
/// Number of bytes sent at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// Time to wait, once all bytes have been sent, for the confirmation that a transfer is complete. Some models never
/// send it.
const COMPLETE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a file list in bytes; a longer list is considered truncated.
const MAX_LIST_BYTES: u64 = 1024 * 1024;
/// Message for listing or deleting files while an upload is in progress.
const UPLOADING: &str = "a file is being uploaded to the printer; its storage is available after that";
/// Text that some servers add to the confirmation of a file list if they cannot read the directory.
const FAILED_WORD: &str = "failed";

/// Client for one printer's file server.
pub(super) struct Ftps {
    link: Arc<SessionSettings>,
    /// Lock held by the operation that transfers data.
    turn: tokio::sync::Mutex<()>,
    /// `true` if data connections are unencrypted, for models that do not respond to the TLS handshake on them.
    bare: AtomicBool,
}

/// Reason why a transfer failed.
enum TransferError {
    /// The printer did not respond to the TLS handshake on the data connection.
    Handshake(String),
    /// Any other error.
    Other(PrinterError),
}

impl From<PrinterError> for TransferError {
    fn from(error: PrinterError) -> Self {
        Self::Other(error)
    }
}

impl TransferError {
    fn error(self) -> PrinterError {
        match self {
            Self::Handshake(words) => PrinterError::Lost(words),
            Self::Other(error) => error,
        }
    }
}

/// Byte stream of a data connection.
trait DataStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> DataStream for T {}

impl Ftps {
    pub(super) fn new(link: Arc<SessionSettings>) -> Self {
        Self { link, turn: tokio::sync::Mutex::default(), bare: AtomicBool::new(false) }
    }

    /// Stores a file, replacing any existing one, and compares the stored size. The server provides no checksums, and
    /// reading the file back would need another data connection, on which some models hang.
    pub(super) async fn store(&self, name: &str, source: &Source) -> Result<(), PrinterError> {
        let _turn = self.turn.lock().await;
        let settings = &self.link.settings;
        let slowest = SLOWEST_BYTES_PER_SECOND.min(settings.upload_min_bytes_per_second.max(1));
        let limit = self.operation_timeout() + Duration::from_secs(source.sent_bytes() / slowest);
        let storing = async {
            match self.store_once(name, source, self.is_bare()).await {
                Err(TransferError::Handshake(words)) if self.goes_bare(&words) => {
                    self.store_once(name, source, true).await
                }
                stored => stored,
            }
        };
        timeout(limit, storing).await.map_err(|_| PrinterError::Timeout)?.map_err(TransferError::error)
    }

    /// Deletes a file and verifies that it is gone.
    pub(super) async fn delete(&self, name: &str) -> Result<Deleted, PrinterError> {
        let _turn = self.turn().await?;
        let deleting = async {
            match self.delete_once(name, self.is_bare()).await {
                Err(TransferError::Handshake(words)) if self.goes_bare(&words) => self.delete_once(name, true).await,
                deleted => deleted,
            }
        };
        timeout(self.operation_timeout(), deleting)
            .await
            .map_err(|_| PrinterError::Timeout)?
            .map_err(TransferError::error)
    }

    /// Returns the time limit of an operation as a whole: that of commands, with room for a handshake that is never
    /// answered and a confirmation that never comes.
    fn operation_timeout(&self) -> Duration {
        let settings = &self.link.settings;
        settings.command_timeout + settings.data_handshake_timeout + COMPLETE_TIMEOUT
    }

    /// Returns whether a file exists.
    pub(super) async fn has(&self, name: &str) -> Result<bool, PrinterError> {
        let _turn = self.turn().await?;
        let asking = async {
            let mut control = Control::open(&self.link, self.is_bare()).await?;
            let reply = control.ask(&format!("SIZE {name}")).await?;
            control.quit().await;
            Ok(reply.code == 213)
        };
        timeout(self.link.settings.command_timeout, asking).await.map_err(|_| PrinterError::Timeout)?
    }

    /// Lists the files at the top level of the printer's storage.
    pub(super) async fn list(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        let _turn = self.turn().await?;
        let listing = async {
            match self.list_once(self.is_bare()).await {
                Err(TransferError::Handshake(words)) if self.goes_bare(&words) => self.list_once(true).await,
                listed => listed,
            }
        };
        timeout(self.operation_timeout(), listing)
            .await
            .map_err(|_| PrinterError::Timeout)?
            .map_err(TransferError::error)
    }

    /// Waits for exclusive use of the file server. During a long upload, further uploads wait, while listing and
    /// deleting fail with a message.
    async fn turn(&self) -> Result<tokio::sync::MutexGuard<'_, ()>, PrinterError> {
        let waiting = timeout(self.link.settings.command_timeout, self.turn.lock());
        waiting.await.map_err(|_| PrinterError::Refused { status: 503, message: UPLOADING.to_owned() })
    }

    fn is_bare(&self) -> bool {
        self.bare.load(Ordering::Relaxed)
    }

    /// Switches to unencrypted data connections; returns `false` if they were unencrypted already.
    fn goes_bare(&self, words: &str) -> bool {
        let news = !self.bare.swap(true, Ordering::Relaxed);
        if news {
            tracing::info!(serial = self.link.serial, error = words, "the printer does not encrypt data connections");
        }
        news
    }

    async fn delete_once(&self, name: &str, bare: bool) -> Result<Deleted, TransferError> {
        let mut control = Control::open(&self.link, bare).await?;
        let reply = control.ask(&format!("DELE {name}")).await?;
        let listed = self.list_on(&mut control, bare).await?.iter().any(|file| file.path == name);
        let there = listed || control.ask(&format!("SIZE {name}")).await?.code == 213;
        control.quit().await;
        match (there, reply.code) {
            (true, _) => Err(refused(&reply).into()),
            (false, 200..=299) => Ok(Deleted::Gone),
            (false, _) => Ok(Deleted::NotFound),
        }
    }

    async fn list_once(&self, bare: bool) -> Result<Vec<RemoteFile>, TransferError> {
        let mut control = Control::open(&self.link, bare).await?;
        let files = self.list_on(&mut control, bare).await?;
        control.quit().await;
        Ok(files)
    }

    async fn store_once(&self, name: &str, source: &Source, bare: bool) -> Result<(), TransferError> {
        let mut file = open(source).await?;
        let mut control = Control::open(&self.link, bare).await?;
        // Some models refuse to write over a file. One that is not there is no matter.
        control.ask(&format!("DELE {name}")).await?;
        let tcp = control.data().await?;
        let reply = control.ask(&format!("STOR {name}")).await?;
        if !(100..200).contains(&reply.code) {
            return Err(refused(&reply).into());
        }
        let mut data = self.wrap(tcp, bare).await?;
        let sent = self.send(&mut data, &mut file, source).await;
        if sent.is_ok() {
            // The end of the file; what is not taken by now shows in its size.
            let _ = timeout(self.link.settings.offline_after, data.shutdown()).await;
        }
        drop(data);
        let completion = timeout(COMPLETE_TIMEOUT, control.reply()).await;
        if let Ok(Ok(reply)) = &completion
            && !(200..300).contains(&reply.code)
        {
            let error = match reply.code {
                426 | 425 | 451 => PrinterError::Lost(format!("the transfer was interrupted: {}", reply.text)),
                _ => refused(reply),
            };
            return Err(error.into());
        }
        sent?;
        // Without its word the old connection may be out of step.
        let mut control =
            if matches!(completion, Ok(Ok(_))) { control } else { Control::open(&self.link, bare).await? };
        let reply = control.ask(&format!("SIZE {name}")).await?;
        let stored = (reply.code == 213).then(|| reply.text.trim().parse::<u64>().ok()).flatten();
        control.quit().await;
        let size = source.sent_bytes();
        match stored {
            Some(stored) if stored == size => Ok(()),
            Some(stored) => Err(PrinterError::Altered(format!("{stored} of {size} bytes")).into()),
            None => Err(PrinterError::Altered(format!(
                "the printer does not report the size of the stored file: {}",
                reply.text
            ))
            .into()),
        }
    }

    /// Sends the whole file. Aborts if no byte is accepted for the time after which a printer is considered offline.
    async fn send(&self, data: &mut Box<dyn DataStream>, file: &mut File, source: &Source) -> Result<(), PrinterError> {
        let patience = self.link.settings.offline_after;
        let lost = |error: std::io::Error| network::lost(&error);
        let mut chunk = source.head();
        let (mut left, mut buffer) = (source.sent_bytes(), vec![0; CHUNK_BYTES]);
        loop {
            if !chunk.is_empty() {
                let writing = async {
                    data.write_all(&chunk).await?;
                    data.flush().await
                };
                timeout(patience, writing).await.map_err(|_| PrinterError::Stalled(patience))?.map_err(lost)?;
                left = left.saturating_sub(chunk.len() as u64);
            }
            let read = file.read(&mut buffer).await.map_err(|error| local(source, &error))?;
            if read == 0 {
                break;
            }
            chunk = buffer[..read].to_vec();
        }
        if left == 0 {
            Ok(())
        } else {
            Err(PrinterError::Invalid("the file became shorter while it was being uploaded".to_owned()))
        }
    }

    async fn list_on(&self, control: &mut Control, bare: bool) -> Result<Vec<RemoteFile>, TransferError> {
        let tcp = control.data().await?;
        let reply = control.ask("LIST").await?;
        if !(100..200).contains(&reply.code) {
            return Err(refused(&reply).into());
        }
        let data = self.wrap(tcp, bare).await?;
        let mut bytes = Vec::new();
        let mut data = data.take(MAX_LIST_BYTES + 1);
        let read = timeout(self.link.settings.request_timeout, data.read_to_end(&mut bytes)).await;
        drop(data);
        let complete = timeout(COMPLETE_TIMEOUT, control.reply()).await;
        if !is_whole(matches!(read, Ok(Ok(_))) && !bare, complete.ok().and_then(Result::ok).as_ref())
            || bytes.len() as u64 > MAX_LIST_BYTES
        {
            return Err(PrinterError::Lost("the file list is incomplete".to_owned()).into());
        }
        Ok(String::from_utf8_lossy(&bytes).lines().filter_map(listed).collect())
    }

    /// Wraps the data connection in TLS, unless the printer's model does not respond to the handshake.
    async fn wrap(&self, tcp: TcpStream, bare: bool) -> Result<Box<dyn DataStream>, TransferError> {
        if bare {
            return Ok(Box::new(tcp));
        }
        let connector = TlsConnector::from(self.link.tls.ftps.clone());
        let limit = self.link.settings.data_handshake_timeout;
        match timeout(limit, connector.connect(self.link.tls.name.clone(), tcp)).await {
            Ok(Ok(stream)) => Ok(Box::new(stream)),
            Ok(Err(error)) => Err(PrinterError::Lost(format!("data connection: {}", network::reason(&error))).into()),
            Err(_) => Err(TransferError::Handshake("no response on the data connection".to_owned())),
        }
    }
}

/// Returns whether a file list was received completely. Some models close the connection without a TLS close
/// notification; for them, the printer's confirmation is decisive. Others never confirm; for them, the close
/// notification is decisive, which exists only on encrypted connections.
fn is_whole(farewell: bool, complete: Option<&FtpReply>) -> bool {
    match complete {
        Some(reply) => (200..300).contains(&reply.code) && !reply.text.to_ascii_lowercase().contains(FAILED_WORD),
        None => farewell,
    }
}

async fn open(source: &Source) -> Result<File, PrinterError> {
    let file = File::open(&source.path).await.map_err(|error| local(source, &error))?;
    let length = file.metadata().await.map_err(|error| local(source, &error))?.len();
    if length != source.size {
        return Err(PrinterError::Invalid(format!("the file to upload has {length} bytes, not {}", source.size)));
    }
    Ok(file)
}

fn local(source: &Source, error: &std::io::Error) -> PrinterError {
    let name = source.path.file_name().unwrap_or_default().to_string_lossy();
    PrinterError::Invalid(format!("the file to upload ({name}) cannot be read: {error}"))
}

/// Converts a rejection by the file server to an error. If a file cannot be created although no file of that name
/// exists, the storage is full.
fn refused(reply: &FtpReply) -> PrinterError {
    let FtpReply { code, text } = reply;
    match code {
        553 | 552 | 452 => PrinterError::Refused {
            status: 507,
            message: format!(
                "the file cannot be stored: the memory card or USB stick is missing or full ({code} {text})"
            ),
        },
        530 => PrinterError::WrongKey(super::words::CODE_HINT.to_owned()),
        _ => PrinterError::Refused { status: if *code >= 500 { 409 } else { 503 }, message: format!("{code} {text}") },
    }
}

/// Parses a line of a file list in the format of `ls -l`; returns `None` for directories and everything else.
fn listed(line: &str) -> Option<RemoteFile> {
    let mut rest = line.trim_end_matches('\r').strip_prefix('-')?;
    let mut size = None;
    // Rights, links, owner, group, size, month, day, time or year; then the name, which may have spaces.
    for field in 0..8 {
        let (word, after) = rest.trim_start().split_once(' ')?;
        if field == 4 {
            size = word.parse().ok();
        }
        rest = after;
    }
    let name = rest.trim_start();
    (!name.is_empty()).then(|| RemoteFile { path: name.to_owned(), size, modified_at: None })
}

/// Reads a text as the replies and lines of the file server, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub(super) fn parse(text: &str) {
    let _ = listed(text);
    let _ = control::extended_port(text);
    let _ = control::passive_port(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_server_writes_them() {
        let file = |path: &str, size| Some(RemoteFile { path: path.to_owned(), size: Some(size), modified_at: None });
        let line = "-rw-r--r--    1 1000     1000      1234567 Nov 22 14:00 my vase.gcode.3mf\r";
        assert_eq!(listed(line), file("my vase.gcode.3mf", 1_234_567));
        assert_eq!(listed("-rw-rw-rw- 1 root root 0 Jan  1  2024 a"), file("a", 0));
        for other in
            ["drwxr-xr-x    2 1000     1000         4096 Nov 22 14:00 cache", "total 12", "", "-rw-r--r-- 1 a b"]
        {
            assert_eq!(listed(other), None, "{other}");
        }
    }

    #[test]
    fn a_list_counts_only_when_it_came_whole() {
        let reply = |code, text: &str| FtpReply { code, text: text.to_owned() };
        for farewell in [true, false] {
            assert!(is_whole(farewell, Some(&reply(226, "Directory send OK."))), "said so: {farewell}");
            assert!(!is_whole(farewell, Some(&reply(426, "Failure writing network stream."))), "cut");
            let unread = reply(226, "Transfer done (but failed to open directory).");
            assert!(!is_whole(farewell, Some(&unread)), "a card that cannot be read is no empty one");
        }
        assert!(is_whole(true, None), "the encrypted connection ended as it must");
        assert!(!is_whole(false, None), "nobody knows");
    }

    #[test]
    fn no_room_is_told_as_such() {
        let error = refused(&FtpReply { code: 553, text: "Could not create file.".to_owned() });
        assert!(error.disk_full(), "{error}");
        let error = refused(&FtpReply { code: 550, text: "Permission denied.".to_owned() });
        assert!(!error.disk_full() && error.certainly_not_done(), "{error}");
        assert!(matches!(refused(&FtpReply { code: 530, text: String::new() }), PrinterError::WrongKey(_)));
    }
}
