//! Control connection of the printer's FTPS server: TLS from the first byte, at most version 1.2, with the behaviour of
//! vsftpd, which the printers run.
//!
//! An encrypted data connection that does not resume the session of its control connection is rejected with 522.
//! Listings are `LIST` and `NLST`; there is no `MLSD`.

use std::{io, net::SocketAddr, sync::Arc, sync::atomic::Ordering, time::Duration};

use bytes::BytesMut;
use rustls::ServerConfig;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::BambuHost;
use crate::{
    gcode::GcodeFacts,
    printer::files::clean_path,
    wire::{GatedListener, GatedStream},
};

mod data;
mod listing;

use data::{DataConnection, UploadOutcome};

/// Maximum length of a command line in bytes.
const MAX_LINE_BYTES: usize = 4096;
/// Time after which an idle client is disconnected.
const IDLE: Duration = Duration::from_secs(300);
/// Maximum time to wait for a data connection.
const DATA_PATIENCE: Duration = Duration::from_secs(10);
/// Directories that exist on each printer's storage.
const FOLDERS: [&str; 6] = ["cache", "image", "ipcam", "logger", "model", "timelapse"];

/// Serves one control connection until it ends.
pub(super) async fn session(host: BambuHost, stream: GatedStream) -> io::Result<()> {
    stream.first_byte().await?;
    if !host.printer.with(|machine| machine.reachable()) {
        stream.reset().await;
        return Ok(());
    }
    let here = stream.local_addr()?;
    let config = host.identity().control()?;
    let gate = stream.gate();
    hang(&host).await?;
    let tls = timeout(DATA_PATIENCE, TlsAcceptor::from(Arc::clone(&config)).accept(stream)).await??;
    let mut session = FtpSession {
        host: host.clone(),
        tls,
        arrived: BytesMut::new(),
        config,
        here,
        user: String::new(),
        is_in: false,
        folder: String::new(),
        protected: false,
        passive: None,
    };
    let done = session.run().await;
    if matches!(done, Err(ref error) if error.kind() == io::ErrorKind::ConnectionReset) {
        gate.cut();
    }
    done
}

/// Waits until the printer no longer hangs, and then closes the connection.
async fn hang(host: &BambuHost) -> io::Result<()> {
    if host.printer.faults().hang {
        host.printer.until(|machine| !machine.faults().hang).await;
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok(())
}

struct FtpSession {
    host: BambuHost,
    tls: TlsStream<GatedStream>,
    arrived: BytesMut,
    config: Arc<ServerConfig>,
    here: SocketAddr,
    user: String,
    is_in: bool,
    /// Current directory relative to the root, without leading or trailing slashes.
    folder: String,
    /// `true` if data connections are encrypted.
    protected: bool,
    passive: Option<GatedListener>,
}

impl FtpSession {
    async fn run(&mut self) -> io::Result<()> {
        self.say(220, "(vsFTPd 3.0.3)").await?;
        while let Some(line) = timeout(IDLE, self.line()).await?? {
            self.host.printer.count_request();
            hang(&self.host).await?;
            let (word, argument) = line.split_once(' ').unwrap_or((&line, ""));
            if !self.command(&word.to_ascii_uppercase(), argument.trim()).await? {
                break;
            }
        }
        self.tls.shutdown().await
    }

    /// Reads the next command line; `None` when the client has closed the connection.
    async fn line(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.arrived.iter().position(|byte| *byte == b'\n') {
                let line = self.arrived.split_to(end + 1);
                return Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()));
            }
            if self.arrived.len() > MAX_LINE_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if self.tls.read_buf(&mut self.arrived).await? == 0 {
                return Ok(None);
            }
        }
    }

    async fn say(&mut self, code: u16, words: &str) -> io::Result<()> {
        self.tls.write_all(format!("{code} {words}\r\n").as_bytes()).await?;
        self.tls.flush().await
    }

    /// Executes a command; returns `false` if it ends the connection.
    async fn command(&mut self, word: &str, argument: &str) -> io::Result<bool> {
        match word {
            "USER" => {
                argument.clone_into(&mut self.user);
                self.say(331, "Please specify the password.").await?;
            }
            "PASS" => {
                self.is_in = self.host.is_welcome(&self.user, argument);
                let (code, words) = if self.is_in { (230, "Login successful.") } else { (530, "Login incorrect.") };
                self.say(code, words).await?;
            }
            "QUIT" => {
                self.say(221, "Goodbye.").await?;
                return Ok(false);
            }
            "FEAT" => {
                let features = ["EPSV", "MDTM", "PASV", "PBSZ", "PROT", "SIZE", "UTF8"].join("\r\n ");
                self.tls.write_all(format!("211-Features:\r\n {features}\r\n").as_bytes()).await?;
                self.say(211, "End").await?;
            }
            _ if self.is_in => self.command_of_user(word, argument).await?,
            _ => self.say(530, "Please login with USER and PASS.").await?,
        }
        Ok(true)
    }

    /// Executes a command that requires a login.
    async fn command_of_user(&mut self, word: &str, argument: &str) -> io::Result<()> {
        match (word, argument) {
            ("PBSZ", _) => self.say(200, "PBSZ set to 0.").await?,
            ("PROT", "P" | "p") => {
                self.protected = true;
                self.say(200, "PROT now Private.").await?;
            }
            ("PROT", "C" | "c") => {
                self.protected = false;
                self.say(200, "PROT now Clear.").await?;
            }
            ("TYPE", _) => self.say(200, "Switching to Binary mode.").await?,
            ("OPTS", _) => self.say(200, "Always in UTF8 mode.").await?,
            ("NOOP", _) => self.say(200, "NOOP ok.").await?,
            ("SYST", _) => self.say(215, "UNIX Type: L8").await?,
            ("PWD", _) => self.say(257, &format!("\"/{}\" is the current directory", self.folder)).await?,
            ("CWD", _) => self.enter(argument).await?,
            ("CDUP", _) => self.enter("..").await?,
            ("PASV", _) => {
                let port = self.listen().await?;
                let ip = self.here.ip().to_string().replace('.', ",");
                self.say(227, &format!("Entering Passive Mode ({ip},{},{}).", port >> 8, port & 0xFF)).await?;
            }
            ("EPSV", _) => {
                let port = self.listen().await?;
                self.say(229, &format!("Entering Extended Passive Mode (|||{port}|)")).await?;
            }
            ("STOR", _) => self.store(argument).await?,
            ("RETR", _) => self.fetch(argument).await?,
            ("LIST" | "NLST", _) => self.list(argument, word == "LIST").await?,
            ("SIZE", _) => {
                let size = self.path(argument).and_then(|path| self.size(&path));
                match size {
                    Some(size) => self.say(213, &size.to_string()).await?,
                    None => self.say(550, "Could not get file size.").await?,
                }
            }
            ("MDTM", _) => {
                let modified = self.path(argument).and_then(|path| {
                    self.host.printer.with(|machine| machine.files().get(&path).map(|file| file.modified))
                });
                match modified {
                    Some(modified) => self.say(213, &listing::compact(modified)).await?,
                    None => self.say(550, "Could not get file modification time.").await?,
                }
            }
            ("DELE", _) => {
                let path = self.path(argument);
                let deleted = path.is_some_and(|path| self.host.printer.with(|machine| machine.delete(&path)).is_ok());
                if deleted {
                    self.say(250, "Delete operation successful.").await?;
                } else {
                    self.say(550, "Delete operation failed.").await?;
                }
            }
            _ => self.say(500, "Unknown command.").await?,
        }
        Ok(())
    }

    /// Resolves a path in a command to one relative to the root; `None` if it does not refer to anything below the
    /// root.
    fn path(&self, named: &str) -> Option<String> {
        if named.starts_with('/') { clean_path(named) } else { clean_path(&format!("{}/{named}", self.folder)) }
    }

    fn size(&self, path: &str) -> Option<usize> {
        self.host.printer.with(|machine| machine.files().get(path).map(|file| file.bytes.len()))
    }

    fn is_folder(&self, path: &str) -> bool {
        let below = format!("{path}/");
        path.is_empty()
            || FOLDERS.contains(&path)
            || self.host.printer.with(|machine| machine.files().iter().any(|(file, _)| file.starts_with(&below)))
    }

    async fn enter(&mut self, named: &str) -> io::Result<()> {
        let folder = match named {
            "/" | ".." => Some(String::new()),
            _ => self.path(named),
        };
        match folder.filter(|folder| self.is_folder(folder)) {
            Some(folder) => {
                self.folder = folder;
                self.say(250, "Directory successfully changed.").await
            }
            None => self.say(550, "Failed to change directory.").await,
        }
    }

    /// Listens for data connections on a free port.
    async fn listen(&mut self) -> io::Result<u16> {
        let listener = GatedListener::bind(SocketAddr::new(self.here.ip(), 0), &self.host.gates).await?;
        let port = axum::serve::Listener::local_addr(&listener)?.port();
        self.passive = Some(listener);
        Ok(port)
    }

    /// Opens the data connection, or sends a reply that explains why it cannot be opened.
    async fn open(&mut self, words: &str) -> io::Result<Option<DataConnection>> {
        let Some(mut listener) = self.passive.take() else {
            self.say(425, "Use PORT or PASV first.").await?;
            return Ok(None);
        };
        self.say(150, words).await?;
        let accepted = timeout(DATA_PATIENCE, axum::serve::Listener::accept(&mut listener)).await;
        let Ok((stream, _)) = accepted else {
            self.say(425, "Failed to establish connection.").await?;
            return Ok(None);
        };
        if !self.protected {
            return Ok(Some(DataConnection::Plain(stream)));
        }
        if self.host.bambu.setup().hangs_encrypted_data {
            data::ignore(stream).await;
            self.say(426, "Failure reading network stream.").await?;
            return Ok(None);
        }
        let encrypted = timeout(DATA_PATIENCE, data::encrypted(stream, &self.config)).await;
        match encrypted.map_err(io::Error::from).flatten() {
            Ok(data) => Ok(Some(data)),
            Err(_) => {
                self.say(522, "SSL connection failed: session reuse required").await?;
                Ok(None)
            }
        }
    }

    async fn store(&mut self, named: &str) -> io::Result<()> {
        let (printer, setup) = (self.host.printer.clone(), self.host.bambu.setup());
        let path =
            self.path(named).filter(|path| path.rsplit_once('/').is_none_or(|(folder, _)| self.is_folder(folder)));
        let takes = |path: &String| {
            let refused = setup.refuses_overwrite && self.size(path).is_some();
            !refused && printer.with(|machine| !machine.in_use(path) && !machine.faults().disk_full)
        };
        let Some(path) = path.filter(takes) else {
            return self.say(553, "Could not create file.").await;
        };
        // Of every four uploads the second is not carried out, and the fourth is and says that it was not.
        let errs = printer.faults().every_second_answer_an_error;
        let count = if errs { self.host.bambu.0.commands.fetch_add(1, Ordering::SeqCst) + 1 } else { 1 };
        if count % 4 == 2 {
            return self.say(451, "simulated fault").await;
        }
        if printer.cuts_upload() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let Some(mut data) = self.open("Ok to send data.").await? else { return Ok(()) };
        printer.upload_begins();
        let arrived = data::receive(&mut data, &self.host, setup.cut_upload_after).await;
        let (bytes, whole) = match arrived {
            UploadOutcome::Whole(bytes) => (bytes, true),
            UploadOutcome::Part(bytes) => (bytes, false),
            UploadOutcome::TooLarge => return self.say(552, "Exceeded storage allocation.").await,
        };
        let facts = Arc::new(GcodeFacts::read(&bytes));
        // Read before the file is stored, because a test that sees it arrive may switch the fault off.
        let drops = printer.faults().drop_after_upload;
        // What has arrived stays, whether it is all or not.
        printer.with(|machine| machine.store(&path, bytes, facts));
        if drops {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if !whole {
            return self.say(426, "Failure reading network stream.").await;
        }
        if setup.silent_after_upload {
            return Ok(());
        }
        data.close().await;
        match count % 4 {
            0 => self.say(451, "simulated fault").await,
            _ => self.say(226, "Transfer complete.").await,
        }
    }

    async fn fetch(&mut self, named: &str) -> io::Result<()> {
        let path = self.path(named);
        let file = path.and_then(|path| self.host.printer.with(|machine| machine.files().get(&path).cloned()));
        let Some(file) = file else { return self.say(550, "Failed to open file.").await };
        let Some(mut data) = self.open("Opening BINARY mode data connection.").await? else { return Ok(()) };
        self.give(&mut data, &file.bytes).await
    }

    async fn list(&mut self, argument: &str, long: bool) -> io::Result<()> {
        // Options such as `-a` change nothing here.
        let named = argument.split_whitespace().find(|word| !word.starts_with('-')).unwrap_or_default();
        let folder =
            if named.is_empty() { Some(self.folder.clone()) } else { self.path(named).or(Some(String::new())) };
        let text = self.host.printer.with(|machine| listing::of(machine, &folder.unwrap_or_default(), long));
        let Some(mut data) = self.open("Here comes the directory listing.").await? else { return Ok(()) };
        self.give(&mut data, text.as_bytes()).await
    }

    async fn give(&mut self, data: &mut DataConnection, bytes: &[u8]) -> io::Result<()> {
        if data.write(bytes).await.is_err() {
            return self.say(426, "Failure writing network stream.").await;
        }
        data.close().await;
        self.say(226, "Transfer complete.").await
    }
}
