//! The binary as a person or a script runs it: in its own folder, with a clean environment.

use std::io::{BufRead as _, BufReader, PipeWriter, Read, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use tempfile::TempDir;

use crate::support::variables::process_variables;

/// Timeout that suffices for any operation on a busy machine.
pub const LONG: Duration = Duration::from_secs(90);

/// A folder in which commands are run.
pub struct Place {
    dir: TempDir,
    env: Vec<(String, String)>,
    /// Range of ports for simulated printers, reserved while the listener is open; see [`Place::ports`].
    ports: OnceLock<(TcpListener, u16)>,
}

/// Ports that serve as locks: binding the nth one reserves the nth range.
const RANGE_LOCKS: std::ops::Range<u16> = 16_900..16_930;
/// First port of the first range; all ranges are below the ports that the system assigns automatically.
const FIRST_RANGE: u16 = 17_000;
/// Number of ports in a range: more than a demo uses.
const RANGE_PORTS: u16 = 520;

/// Returns the path of a program in `tools/`. Cargo places it next to the server's binary, but sets no variable with
/// its path for tests of another package, and builds it only together with the tests of its own package.
pub fn tool(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_printfloor")).with_file_name(name);
    assert!(
        path.exists(),
        "{} is not built: run the tests without -p, or first `cargo build --bin {name}`",
        path.display()
    );
    path
}

/// Output and exit code of a finished command.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; `None` if a signal ended the command.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Place {
    /// Creates a folder.
    pub fn new() -> Self {
        Self {
            dir: tempfile::Builder::new().prefix("printfloor-cli-").tempdir().unwrap(),
            env: Vec::new(),
            ports: OnceLock::new(),
        }
    }

    /// Returns the first of a range of ports that no other test uses while this value lives, not even between two
    /// starts of a command.
    pub fn ports(&self) -> u16 {
        let reserve = || {
            RANGE_LOCKS
                .zip((FIRST_RANGE..).step_by(RANGE_PORTS.into()))
                .find_map(|(lock, first)| TcpListener::bind((Ipv4Addr::LOCALHOST, lock)).ok().map(|held| (held, first)))
        };
        self.ports.get_or_init(|| reserve().expect("a free range of ports")).1
    }

    /// Sets an environment variable for every command.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns a command that is still to be started.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_printfloor"));
        command.current_dir(self.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(process_variables()).envs(self.env.iter().cloned()).args(line.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, line: &str) -> Ended {
        self.run_with(line, "")
    }

    /// Runs a command to its end with this on standard input.
    pub fn run_with(&self, line: &str, input: &str) -> Ended {
        let mut child = self.command(line).spawn().unwrap();
        // A command that reads nothing may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        ended(child.wait_with_output().unwrap())
    }

    /// Runs commands as [`Place::run`] does, with one more variable.
    pub fn with_env<'a>(&'a self, name: &'a str, value: &'a str) -> impl Fn(&str) -> Ended + 'a {
        move |line| {
            let mut command = self.command(line);
            command.env(name, value).stdin(Stdio::null());
            ended(command.output().unwrap())
        }
    }

    /// Runs a command whose standard output is not read.
    pub fn unread(&self, line: &str) -> Ended {
        let mut child = self.command(line).stdin(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        ended(child.wait_with_output().unwrap())
    }

    /// Runs a command that must succeed; returns its standard output.
    pub fn done(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
        ended.out
    }

    /// Starts a long-running command.
    pub fn start(&self, line: &str) -> Running {
        let mut child = self.command(line).spawn().unwrap();
        let (sender, lines) = channel();
        follow(child.stdout.take().unwrap(), sender.clone());
        follow(child.stderr.take().unwrap(), sender);
        Running { child, lines, log: Vec::new() }
    }

    /// Starts a long-running command that writes its errors to a pipe.
    pub fn start_with_errors(&self, line: &str, errors: PipeWriter) -> Running {
        let mut child = self.command(line).stderr(errors).spawn().unwrap();
        let (sender, lines) = channel();
        follow(child.stdout.take().unwrap(), sender);
        Running { child, lines, log: Vec::new() }
    }
}

/// Fills a pipe that is not being read.
pub fn fill(pipe: &mut PipeWriter) {
    let flags = fcntl_getfl(&*pipe).unwrap();
    fcntl_setfl(&*pipe, flags | OFlags::NONBLOCK).unwrap();
    while pipe.write_all(b"x").is_ok() {}
    fcntl_setfl(&*pipe, flags).unwrap();
}

fn ended(output: std::process::Output) -> Ended {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

fn follow(stream: impl Read + Send + 'static, to: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
}

/// A long-running command; killed when dropped.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    log: Vec<String>,
}

impl Running {
    /// Waits for the next line that contains this text; returns the line.
    pub fn line(&mut self, part: &str) -> String {
        let until = Instant::now() + LONG;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.log.push(line.clone());
                    if line.contains(part) {
                        return line;
                    }
                }
                Err(error) => panic!("no line with {part:?} ({error}); it said:\n{}", self.log.join("\n")),
            }
        }
    }

    /// Closes the command's standard input.
    pub fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Returns the process ID.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the command.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.pid().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until the command exits; returns its exit code and all lines of its output.
    pub fn end(mut self) -> (Option<i32>, Vec<String>) {
        let until = Instant::now() + LONG;
        // Both streams end when the process does.
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.log.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end; it said:\n{}", self.log.join("\n")),
            }
        }
        (self.child.wait().unwrap().code(), std::mem::take(&mut self.log))
    }

    /// Kills the command, as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
