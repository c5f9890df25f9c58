//! The server under test: its folder, settings and commands, and the mechanism that prevents it from writing files.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::client::ChaosClient;
use crate::error::ChaosError;
use crate::keeper::{Keeper, ServerLog};
use crate::story::{ChaosStory, seconds};

/// Maximum time until the first key is created, during which a private PostgreSQL server starts.
const KEY_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time until a server is ready on an idle machine.
const START_TIMEOUT: Duration = Duration::from_secs(90);
/// Pause between two tries.
const TRY_PAUSE: Duration = Duration::from_millis(200);
/// Interval between two readiness checks.
const READY_PAUSE: Duration = Duration::from_millis(50);
/// Shell script that starts a program with the signal `SIGXFSZ` ignored, which a process receives when it exceeds its
/// file size limit. Writing then fails with an error, as on a read-only disk.
const WITH_FILE_LIMITS: &str = "trap '' XFSZ; exec \"$0\" \"$@\"";
/// Environment variables that the server inherits. All others are removed, so that a run never touches a real shop.
const INHERITED: [&str; 5] = ["PATH", "TMPDIR", "SSL_CERT_FILE", "MIMALLOC_ALLOW_THP", "RUST_BACKTRACE"];

/// Settings shared by all runs. Intervals are short, because minutes represent months.
const SETTINGS: [(&str, &str); 24] = [
    ("PRINTFLOOR_LOG__FORMAT", "text"),
    ("PRINTFLOOR_LIMITS__STAFF_REQUESTS_PER_MINUTE", "10000000"),
    ("PRINTFLOOR_LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", "10000000"),
    ("PRINTFLOOR_DISCOVERY__LOCAL_NETWORK", "false"),
    ("PRINTFLOOR_DISCOVERY__LISTEN_SECONDS", "0.05"),
    ("PRINTFLOOR_INVOICES__SELLER_NAME", "Shop of Chaos"),
    ("PRINTFLOOR_INVOICES__SELLER_LINE1", "Lindenstraße 12"),
    ("PRINTFLOOR_INVOICES__SELLER_POSTAL_CODE", "50674"),
    ("PRINTFLOOR_INVOICES__SELLER_CITY", "Köln"),
    ("PRINTFLOOR_INVOICES__SELLER_COUNTRY", "DE"),
    ("PRINTFLOOR_INVOICES__SELLER_VAT_ID", "DE123456789"),
    ("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", "2"),
    ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "0.2"),
    ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "5"),
    ("PRINTFLOOR_PRINTERS__CONNECT_TIMEOUT_SECONDS", "2"),
    ("PRINTFLOOR_PRINTERS__REQUEST_TIMEOUT_SECONDS", "4"),
    // Nobody gives up on rejected parts: the story ends with all that was ordered.
    ("PRINTFLOOR_QUALITY__MAX_REPRINTS", "100"),
    ("PRINTFLOOR_INTEGRATIONS__REQUEST_TIMEOUT_SECONDS", "4"),
    ("PRINTFLOOR_INTEGRATIONS__RETRY_FIRST_SECONDS", "0.1"),
    ("PRINTFLOOR_INTEGRATIONS__RETRY_LONGEST_SECONDS", "1"),
    ("PRINTFLOOR_INTEGRATIONS__CHECK_INTERVAL_SECONDS", "1"),
    ("PRINTFLOOR_FORECAST__STARTING_SECONDS", "2"),
    ("PRINTFLOOR_FORECAST__LEAST_MARGIN_SECONDS", "10"),
    ("PRINTFLOOR_MAIL__OPERATORS", "staff@example.org"),
];

/// Folder, port and settings of the server.
#[derive(Clone, Debug)]
pub struct ServerPlace {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    environment: Vec<(OsString, OsString)>,
}

impl ServerPlace {
    /// Creates the place of a server in a folder; `variables` are the settings of this run.
    pub fn new(program: &Path, folder: &Path, port: u16, variables: &[(&'static str, String)]) -> Self {
        let own = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let inherited = INHERITED.iter().filter_map(|name| Some((OsString::from(name), env::var_os(name)?)));
        let settings = SETTINGS.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let environment = inherited.chain(settings).chain(own).collect();
        Self { program: program.to_owned(), folder: folder.to_owned(), port, environment }
    }

    /// Returns the base URL of the API.
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn set_up(&self, mut command: Command) -> Command {
        command.current_dir(&self.folder).env_clear().envs(self.environment.iter().cloned());
        command
    }

    /// Starts the server, and restarts it whenever it exits.
    pub fn serve(&self, log: &ServerLog, story: ChaosStory) -> Keeper {
        let place = self.clone();
        Keeper::start("the server", Some(log.clone()), story, move || {
            let listen = format!("127.0.0.1:{}", place.port);
            let mut command = place.set_up(Command::new("sh"));
            command.args(["-c", WITH_FILE_LIMITS]).arg(&place.program);
            command.args(["serve", "--end-with-stdin", "--listen", &listen, "--data"]).arg(place.data());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        })
    }

    /// Runs a command to completion. Returns its output, or its output and errors if it failed.
    async fn run(&self, args: &[&str]) -> Result<String, String> {
        let mut command = self.set_up(Command::new(&self.program));
        command.args(args).arg("--data").arg(self.data()).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.process_group(0).output().await.map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        if output.status.success() { Ok(out) } else { Err(format!("{out}\n{errors}").trim().to_owned()) }
    }

    /// Creates the shop with an admin's key, as its owner's first command does.
    pub async fn first_key(&self) -> Result<String, ChaosError> {
        let deadline = Instant::now() + KEY_TIMEOUT;
        loop {
            match self.run(&["key", "create", "--new", "--name", "chaos", "--role", "admin"]).await {
                Ok(key) => return Ok(key),
                Err(errors) if Instant::now() >= deadline => {
                    return Err(ChaosError::Failed(format!("no shop was made: {errors}")));
                }
                Err(_) => sleep(TRY_PAUSE).await,
            }
        }
    }

    /// Verifies the chain of the audit log. Returns the summary, or the reason if an entry does not fit.
    pub async fn verify_audit_log(&self) -> Result<String, String> {
        self.run(&["audit", "verify"]).await
    }
}

/// Waits until the server is ready for the first time.
pub async fn until_ready(api: &ChaosClient, log: &ServerLog) -> Result<(), ChaosError> {
    let deadline = Instant::now() + START_TIMEOUT;
    while !is_ready(api).await {
        if Instant::now() >= deadline {
            return Err(ChaosError::Failed(format!("the server is not ready:\n{}", log.last().join("\n"))));
        }
        sleep(READY_PAUSE).await;
    }
    Ok(())
}

/// Reports whenever the server is ready again after an interruption. Never returns.
pub async fn watch_readiness(api: ChaosClient, story: ChaosStory) {
    let mut absent_since: Option<Instant> = None;
    loop {
        match (is_ready(&api).await, absent_since) {
            (true, Some(since)) => {
                story.tell(&format!("the server is ready, after {}", seconds(since.elapsed())));
                absent_since = None;
            }
            (false, None) => absent_since = Some(Instant::now()),
            _ => {}
        }
        sleep(READY_PAUSE).await;
    }
}

async fn is_ready(api: &ChaosClient) -> bool {
    api.peek("/readyz").await.is_some_and(|reply| reply.is_ok())
}

/// Prevents the server's process from writing to any file, or allows it to write again.
pub async fn set_writable(server: &Keeper, prlimit: &Path, is_writable: bool) {
    let Some(pid) = server.pid() else { return };
    let limit = if is_writable { "--fsize=unlimited:" } else { "--fsize=0:" };
    let mut command = Command::new(prlimit);
    command.arg("--pid").arg(pid.as_raw_pid().to_string()).arg(limit);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The process may have ended; the next one has no limit.
    let _ = command.status().await;
}
