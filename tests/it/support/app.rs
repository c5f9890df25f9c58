//! The real binary: started in its own folder, used over HTTP, killed, restarted.

mod process;

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;

use super::ports::free_port;
use super::seller::SELLER;
use super::variables::process_variables;
use super::{Client, Clock, Db, StaffMember, clock, until};

/// Secret used to sign payment events in tests.
pub const PAYMENT_SECRET: &str = "whsec_test_payments_secret_0123456789";

const PUBLIC_URL: &str = "PRINTFLOOR_SERVER__PUBLIC_URL";

/// Settings of a server under test.
pub struct Builder {
    db: Db,
    env: BTreeMap<String, String>,
    with_clock: bool,
    own_shop: bool,
    with_public_url: bool,
    first_starts_cut: Vec<Duration>,
    older: Option<Older>,
}

/// Environment variables that the data of a shop depends on from its first start.
const FIRST_START_VARIABLES: [&str; 5] =
    ["API_KEY_SALT", "DATABASE_URL", "PRINTFLOOR_ENV", "SECRETS_KEY", "SESSION_SECRET"];

/// A shop from an older release.
struct Older {
    /// Number of migrations in the release.
    release: usize,
    rows: Vec<String>,
    /// Times after which the first starts are interrupted.
    cuts: Vec<Duration>,
}

impl Builder {
    /// Sets this variable.
    pub fn env(mut self, name: &str, value: impl ToString) -> Self {
        self.env.insert(name.to_owned(), value.to_string());
        self
    }

    /// Removes the seller's details, so that the shop cannot issue invoices.
    pub fn without_seller(self) -> Self {
        SELLER.into_iter().fold(self, |builder, (name, _)| builder.env(name, ""))
    }

    /// Uses a wall clock that the test controls.
    pub fn clock(mut self, clock: &Clock) -> Self {
        self.env.extend([clock.variable()]);
        self.with_clock = true;
        self
    }

    /// Uses the listening address as the public URL.
    pub fn with_public_url(mut self) -> Self {
        self.with_public_url = true;
        self
    }

    /// Uses a shop created by the server's own first start, with secrets that no other test's shop has.
    pub fn with_own_shop(mut self) -> Self {
        self.own_shop = true;
        self
    }

    /// Returns whether a copy of the shared template shop is not sufficient.
    fn needs_own_shop(&self) -> bool {
        let differs = || FIRST_START_VARIABLES.iter().any(|name| self.env.contains_key(*name));
        self.own_shop || self.older.is_some() || !self.first_starts_cut.is_empty() || differs()
    }

    /// Interrupts the creation of the shop after each of these times, and then completes it.
    pub fn first_starts_cut(mut self, after: impl IntoIterator<Item = Duration>) -> Self {
        self.first_starts_cut.extend(after);
        self
    }

    /// Uses the data of an older release with this many migrations. Its first starts with the current release,
    /// alternately by a command and by the server, are interrupted after these times.
    pub fn on_release(mut self, release: usize, rows: Vec<String>, cuts: impl IntoIterator<Item = Duration>) -> Self {
        self.older = Some(Older { release, rows, cuts: cuts.into_iter().collect() });
        self
    }

    /// Uses the secrets that another server generated for its data, as every server on the same data must.
    pub fn secrets_of(mut self, other: &App) -> Self {
        let secrets = std::fs::read_to_string(other.data().join("secrets.env")).unwrap();
        for line in secrets.lines() {
            let (name, value) = line.split_once('=').unwrap();
            self.env.insert(name.to_owned(), value.trim_matches('"').to_owned());
        }
        self
    }

    /// Prepares the server's folder without starting anything: there is no data and no key.
    pub fn prepare(mut self) -> App {
        let dir = tempfile::Builder::new().prefix("printfloor-it-").tempdir().unwrap();
        let port = free_port();
        if self.with_public_url {
            self.env.insert(PUBLIC_URL.to_owned(), format!("http://127.0.0.1:{port}"));
        }
        App {
            client: Client::new(&format!("http://127.0.0.1:{port}"), None),
            port,
            child: None,
            log: Arc::default(),
            env: self.env,
            with_clock: self.with_clock,
            db: self.db,
            cookie: None,
            dir,
            may_crash: false,
        }
    }

    /// Starts the server; the returned value has an admin's key.
    pub async fn start(mut self) -> App {
        let own_shop = self.needs_own_shop();
        let template = self.db.template(own_shop).await;
        let (first_starts_cut, older) = (std::mem::take(&mut self.first_starts_cut), self.older.take());
        let mut app = self.prepare();
        app.client.key = Some(match template {
            Some(template) => {
                template.copy_data(&app.data());
                app.cookie = template.cookie();
                template.key()
            }
            None => first_key(&app, first_starts_cut, older).await,
        });
        app.start().await;
        app
    }
}

/// Creates the shop by its own first start; returns an admin's key.
async fn first_key(app: &App, first_starts_cut: Vec<Duration>, older: Option<Older>) -> String {
    let create = ["key", "create", "--new", "--name", "tests", "--role", "admin"];
    let key_after = async |cut: bool| {
        if cut {
            until("the first key", || async { app.try_command(&create, "").ok() }).await
        } else {
            app.command(&create, "")
        }
    };
    let cut = !first_starts_cut.is_empty();
    for after in first_starts_cut {
        app.command_killed(&create, after);
    }
    let mut key = key_after(cut).await;
    if let Some(Older { release, rows, cuts }) = older {
        // The secrets stay, as they would.
        app.db.become_release(app, release, &rows).await;
        let listen = format!("127.0.0.1:{}", app.port);
        let serve = ["serve", "--listen", &listen];
        for (n, after) in cuts.into_iter().enumerate() {
            app.command_killed(if n.is_multiple_of(2) { &create } else { &serve }, after);
            eprintln!("cut off after {after:?} with {} migrations", app.db.migrations(app).await);
        }
        key = key_after(true).await;
    }
    key.split_whitespace().find(|word| word.starts_with("key_")).expect("a key is printed").to_owned()
}

/// A server under test; dereferences to an admin's client.
pub struct App {
    client: Client,
    port: u16,
    child: Option<Child>,
    log: Arc<Mutex<Vec<String>>>,
    env: BTreeMap<String, String>,
    with_clock: bool,
    pub db: Db,
    /// Session cookie of the staff member whom the shop has from the beginning.
    cookie: Option<String>,
    dir: TempDir,
    /// `true` if the test makes actors crash on purpose.
    pub may_crash: bool,
}

impl Deref for App {
    type Target = Client;
    fn deref(&self) -> &Client {
        &self.client
    }
}

impl App {
    /// Returns the builder of a server on this database with short intervals: frequent polls of printers, a short
    /// confirmation timeout, no jitter.
    pub fn on(db: Db) -> Builder {
        let (env, first_starts_cut) = (BTreeMap::new(), Vec::new());
        let builder = Builder {
            db,
            env,
            with_clock: false,
            own_shop: false,
            with_public_url: false,
            first_starts_cut,
            older: None,
        };
        // Without a seller, invoices wait.
        let builder = SELLER.into_iter().fold(builder, |builder, (name, text)| builder.env(name, text));
        builder
            .env("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", 0.1)
            .env("PRINTFLOOR_WEBHOOKS__ALLOW_PRIVATE_TARGETS", true)
            .env("PRINTFLOOR_WEBHOOKS__RETRY_JITTER_SECONDS", 0)
            .env("PRINTFLOOR_LIMITS__STAFF_REQUESTS_PER_MINUTE", 10_000_000)
            .env("PRINTFLOOR_LIMITS__CUSTOMER_REQUESTS_PER_MINUTE", 10_000_000)
            .env("PRINTFLOOR_LIMITS__ANONYMOUS_REQUESTS_PER_MINUTE", 10_000_000)
            .env("PRINTFLOOR_LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", 10_000_000)
            // Each alert is a mail of its own, so that a test sees it at once.
            .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 0)
            // No other machine is ever looked at from a test.
            .env("PRINTFLOOR_DISCOVERY__LOCAL_NETWORK", false)
            .env("PRINTFLOOR_DISCOVERY__LISTEN_SECONDS", 0.05)
            .env("PRINTFLOOR_LOG__FORMAT", "text")
            // No processor outside this machine is ever called.
            .env("PRINTFLOOR_PAYMENTS__API_BASE", "http://127.0.0.1:9")
            .env("PAYMENT_WEBHOOK_SECRET", PAYMENT_SECRET)
    }

    /// Starts a server with the settings of [`App::on`].
    pub async fn new(db: Db) -> Self {
        Self::on(db).start().await
    }

    pub fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the server's public URL; empty if it has none.
    pub fn public_url(&self) -> &str {
        self.env.get(PUBLIC_URL).map_or("", String::as_str)
    }

    /// Returns another client for the same server, with this key.
    pub fn with_key(&self, key: &str) -> Client {
        Client { key: Some(key.to_owned()), ..self.client.clone() }
    }

    /// Uses the admin key of another server on the same database.
    pub fn with_key_of(mut self, other: &Self) -> Self {
        self.client.key.clone_from(&other.client.key);
        self
    }

    /// Uses this admin key.
    pub fn with_admin_key(mut self, key: &str) -> Self {
        self.client.key = Some(key.to_owned());
        self
    }

    /// Returns the session cookie of this staff member, if the shop has them from the beginning.
    pub fn cookie_of(&self, member: StaffMember) -> Option<&str> {
        self.cookie.as_deref().filter(|_| self.db.staff() == Some(member))
    }

    /// Returns a client without a key.
    pub fn nobody(&self) -> Client {
        Client { key: None, ..self.client.clone() }
    }

    fn binary(&self) -> Command {
        self.set_up(Command::new(env!("CARGO_BIN_EXE_printfloor")))
    }

    /// Returns the command that runs the server with its data folder and port.
    fn server(&self) -> Command {
        let listen = format!("127.0.0.1:{}", self.port);
        if self.with_clock {
            let of_its_own = clock::command(&self.data(), &listen);
            let variables: Vec<_> =
                of_its_own.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
            let mut command = self.set_up(of_its_own);
            command.envs(variables);
            return command;
        }
        let mut command = self.binary();
        command.arg("serve").arg("--data").arg(self.data()).args(["--listen", &listen]);
        command
    }

    fn set_up(&self, mut command: Command) -> Command {
        command.current_dir(self.dir.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(process_variables());
        if let Some(url) = self.db.url() {
            command.env("DATABASE_URL", url);
        }
        command.envs(&self.env);
        command
    }

    /// Runs a CLI command to completion; it must succeed. Returns its output.
    pub fn command(&self, args: &[&str], input: &str) -> String {
        self.try_command(args, input).unwrap_or_else(|output| panic!("{args:?}: {output}"))
    }

    /// Runs a CLI command and kills it after this time. Returns whether it was still running.
    pub fn command_killed(&self, args: &[&str], after: Duration) -> bool {
        let mut command = self.binary();
        command.args(args).arg("--data").arg(self.data());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(after);
        let _ = child.kill();
        child.wait().unwrap().code().is_none()
    }

    /// Runs a CLI command and kills it as soon as `reached` returns `true`; otherwise lets it finish.
    pub fn command_killed_when(&self, args: &[&str], reached: impl Fn() -> bool) {
        let mut command = self.binary();
        command.args(args).arg("--data").arg(self.data());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        while !reached() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        child.wait().unwrap();
    }

    /// Does what [`Self::command`] does; returns its output when it fails.
    pub fn try_command(&self, args: &[&str], input: &str) -> Result<String, String> {
        let (succeeded, out, err) = self.command_output(args, input);
        if succeeded { Ok(out) } else { Err(format!("{out}\n{err}")) }
    }

    /// Runs a command of the command line to its end. Returns whether it succeeded, and its output with its notes.
    pub fn command_with_notes(&self, args: &[&str]) -> (bool, String) {
        let (succeeded, out, err) = self.command_output(args, "");
        (succeeded, format!("{out}\n{err}"))
    }

    /// Runs a command to its end. Returns whether it succeeded, its standard output and its standard error.
    fn command_output(&self, args: &[&str], input: &str) -> (bool, String, String) {
        let mut command = self.binary();
        command.args(args).arg("--data").arg(self.data());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    }

    /// Sets a variable for the next start.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    /// Returns everything that the server has logged so far.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let log = self.log();
        let bad = log.iter().find(|line| line.contains("panicked") || line.contains("crashed"));
        if std::thread::panicking() {
            let last = log.len().saturating_sub(60);
            eprintln!("--- the server's last words\n{}", log[last..].join("\n"));
        } else if let (Some(line), false) = (bad, self.may_crash) {
            panic!("an actor crashed: {line}");
        }
    }
}
