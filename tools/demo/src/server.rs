//! Server process of the demo, which runs `printfloor serve`.
//!
//! The server ends with the demo: gracefully if the demo stops it, immediately if the demo is killed, because the demo
//! holds the other end of the server's standard input.

use std::env;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use stop_signals::StopSignals;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::screen::Screen;
use crate::client::CONTROL_SOCKET;
use crate::error::DemoError;

/// File name of the server program.
const PROGRAM: &str = "printfloor";
/// Maximum time to wait for the server of a killed demo to end.
const PREDECESSOR_TIMEOUT: Duration = Duration::from_secs(10);
/// Polling interval while waiting for the server of a killed demo to end.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum time for a graceful stop; a little longer than the server's own time limit for requests.
const STOP_TIMEOUT: Duration = Duration::from_secs(13);
/// Maximum time to wait for the last log lines after the server has ended.
const LOG_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the absolute path of the server program: the given one or, if none is given, `printfloor` next to this
/// program or on `PATH`.
pub fn program(chosen: Option<PathBuf>) -> Result<PathBuf, DemoError> {
    let beside = env::current_exe().ok().map(|exe| exe.with_file_name(PROGRAM));
    let folders = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&folders).map(|folder| folder.join(PROGRAM));
    let path = chosen.or_else(|| beside.into_iter().chain(in_path).find(|path| path.is_file()));
    let path = path.ok_or(DemoError::NoServer)?;
    // The working directory changes before the program starts.
    std::path::absolute(&path).map_err(DemoError::io(format!("{} cannot be found", path.display())))
}

/// Running server process; killed when dropped.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    address: SocketAddr,
    /// Server's standard input, which closes when the demo ends for any reason; the server then exits immediately.
    _input: Option<ChildStdin>,
    /// Task that forwards the server's log to the screen.
    log: JoinHandle<()>,
}

impl ServerProcess {
    /// Starts a server with the given data directory, which is also its working directory, and waits until the server
    /// is listening.
    pub async fn start(
        program: &Path,
        data: &Path,
        listen: &str,
        environment: Vec<(OsString, OsString)>,
        screen: &Screen,
    ) -> Result<Self, DemoError> {
        wait_for_predecessor().await;
        let mut command = Command::new(program);
        command.args(["serve", "--end-with-stdin", "--listen", listen, "--data"]).arg(data);
        command.current_dir(data).env_clear().envs(environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C in the terminal reaches only the demo, which then stops the server in order.
        command.process_group(0).kill_on_drop(true);
        let failed = || DemoError::io(format!("the server, {}, cannot be started", program.display()));
        let mut child = command.spawn().map_err(failed())?;
        let gone = || failed()(io::ErrorKind::BrokenPipe.into());
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(gone)?;
        let log = tokio::spawn(pass_on(child.stderr.take().ok_or_else(gone)?, screen.clone()));
        let mut lines = BufReader::new(output).lines();
        let Some(address) = read_address(&mut lines).await else {
            let status = child.wait().await.map_err(failed())?;
            let _ = timeout(LOG_TIMEOUT, log).await;
            return Err(DemoError::ServerEnded(status));
        };
        // The rest of the greeting is for operators who start the server themselves.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { child, address, _input: input, log })
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the server ends by itself, after an error or because another server takes over its database.
    pub async fn ended(&mut self) -> Result<ExitStatus, DemoError> {
        self.child.wait().await.map_err(DemoError::io("cannot wait for the server to exit"))
    }

    /// Stops the server gracefully; kills it on another signal or on timeout.
    pub async fn stop(mut self, signals: &mut StopSignals) {
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            // The process may have ended in the meantime.
            let _ = kill_process(pid, Signal::TERM);
        }
        tokio::select! {
            biased; // done before given up
            _ = timeout(STOP_TIMEOUT, self.child.wait()) => {}
            () = signals.next() => {}
        }
        // No effect on a process that has ended.
        let _ = self.child.kill().await;
        let _ = timeout(LOG_TIMEOUT, &mut self.log).await;
    }
}

/// Waits until the control socket no longer accepts connections, because the server of a killed demo ends shortly after
/// the demo itself.
async fn wait_for_predecessor() {
    let end = Instant::now() + PREDECESSOR_TIMEOUT;
    while Instant::now() < end && UnixStream::connect(CONTROL_SOCKET).await.is_ok() {
        sleep(LOOK_INTERVAL).await;
    }
}

/// Reads the server's startup output up to its address; `None` if the output ends without one.
async fn read_address(lines: &mut Lines<BufReader<ChildStdout>>) -> Option<SocketAddr> {
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(address) = address_in(&line) {
            return Some(address);
        }
    }
    None
}

/// Finds the address in a line such as `address   http://127.0.0.1:8787`.
fn address_in(line: &str) -> Option<SocketAddr> {
    line.split_whitespace().find_map(|word| word.strip_prefix("http://")?.parse().ok())
}

/// Prints each line of the server's log until the server closes it.
async fn pass_on(log: ChildStderr, screen: Screen) {
    let mut lines = BufReader::new(log).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        screen.log(&line);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_address_is_found_in_the_greeting() {
        assert_eq!(address_in("  address   http://127.0.0.1:8787"), Some(([127, 0, 0, 1], 8787).into()));
        assert_eq!(address_in("  address   http://[::1]:9000").unwrap().port(), 9000);
        assert_eq!(address_in("printfloor 0.1.0"), None);
    }

    #[test]
    fn a_chosen_program_is_found_from_another_working_directory() {
        assert!(program(Some("target/debug/printfloor".into())).unwrap().is_absolute());
    }

    #[tokio::test]
    async fn a_server_that_ends_before_it_listens_is_an_error_with_its_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        // It knows no `serve`.
        let program = Path::new("/bin/false");
        let started = ServerProcess::start(program, folder.path(), "127.0.0.1:0", Vec::new(), &Screen::new()).await;
        assert!(matches!(started, Err(DemoError::ServerEnded(status)) if status.code() == Some(1)));
    }
}
