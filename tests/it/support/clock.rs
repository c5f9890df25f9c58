//! A server whose wall clock a test sets forward and back, while the monotonic clock is unaffected.
//!
//! The code that starts the server passes the clock in, so the program itself has no setting for it: the server runs in
//! a process of the test binary, and otherwise behaves like the real one. Only IDs use the machine's clock.

use std::path::{Path, PathBuf};
use std::time::Duration;

use printfloor::actors::kernel::environment::machine_clock;
use printfloor::config::{Config, LoadOptions, process_env};
use printfloor::domain::time::Timestamp;
use printfloor::observe::log;
use printfloor::server::Server;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

/// Environment variable with the path of the file that contains the clock's offset, in milliseconds.
const FILE: &str = "PRINTFLOOR_TEST_CLOCK";
/// Environment variable with the path of the server's data folder.
const DATA: &str = "PRINTFLOOR_TEST_CLOCK_DATA";
/// Environment variable with the address that the server listens on.
const LISTEN: &str = "PRINTFLOOR_TEST_CLOCK_LISTEN";

/// An hour, in milliseconds.
pub const HOUR: i64 = 3_600_000;

/// The wall clock of a server.
pub struct Clock {
    folder: TempDir,
}

impl Clock {
    /// Creates a clock with the machine's time.
    pub fn new() -> Self {
        let clock = Self { folder: tempfile::tempdir().unwrap() };
        clock.set(0);
        clock
    }

    /// Creates a clock at the next full hour, when the windows of all rate limits begin.
    pub fn at_full_hour() -> Self {
        let clock = Self::new();
        clock.set(HOUR - clock.unix_now() * 1000 % HOUR);
        clock
    }

    /// Creates a clock at the next noon, UTC, so that the date does not change during the test.
    pub fn at_noon() -> Self {
        let clock = Self::new();
        clock.set((12 * HOUR - clock.unix_now() * 1000).rem_euclid(24 * HOUR));
        clock
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("offset")
    }

    /// Sets the clock this many milliseconds after the machine's clock, or before if negative.
    pub fn set(&self, offset: i64) {
        let new = self.folder.path().join("new");
        std::fs::write(&new, offset.to_string()).unwrap();
        std::fs::rename(new, self.file()).unwrap();
    }

    /// Advances the clock by this many milliseconds.
    pub fn advance(&self, ms: i64) {
        self.set(offset(&self.file()) + ms);
    }

    /// Returns the clock's time, in seconds since 1970.
    pub fn unix_now(&self) -> i64 {
        machine_clock().plus_ms(offset(&self.file())).0 / 1000
    }

    /// Returns the name and the value of the environment variable that passes the clock file to a server process.
    pub fn variable(&self) -> (String, String) {
        (FILE.to_owned(), self.file().to_str().unwrap().to_owned())
    }
}

fn offset(file: &Path) -> i64 {
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

/// Returns the command that starts a server with such a clock.
pub fn command(data: &Path, listen: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let name = "support::clock::serves_with_the_clock_of_a_test";
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(DATA, data).env(LISTEN, listen);
    command
}

#[test]
#[ignore = "not a test: the server's process of tests that set its clock"]
fn serves_with_the_clock_of_a_test() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let file = PathBuf::from(file);
    let [data, listen] = [DATA, LISTEN].map(|name| std::env::var(name).unwrap());
    let options = LoadOptions {
        file: None,
        env: process_env(),
        cwd: std::env::current_dir().unwrap(),
        overrides: vec![("server.data_dir", data), ("server.listen", listen)],
    };
    let config = Config::load(options).unwrap().config;
    log::start(&config.log.filter, config.has_json_log());
    let clock = move || -> Timestamp { machine_clock().plus_ms(offset(&file)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(Box::pin(async {
        let mut stopped = signal(SignalKind::terminate()).unwrap();
        let server = Box::pin(Server::start_with_clock(config, Box::new(clock))).await.unwrap();
        tokio::select! {
            biased; // a server that was taken over fails, even where it is stopped as well
            loss = server.lead_lost() => panic!("{loss}"),
            _ = stopped.recv() => server.stop(Duration::from_secs(10)).await,
        }
    }));
}
