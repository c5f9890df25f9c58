//! Runs a program within resource limits, and captures the end of its output.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, kill_process_group, prlimit};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::timeout;

/// Number of bytes kept from the end of a program's output.
const MAX_OUTPUT_BYTES: usize = 16 * 1024;
/// Maximum number of output lines shown.
const MAX_TOLD_LINES: usize = 3;
/// Maximum number of files that a program may have open.
const MAX_OPEN_FILES: u64 = 256;

/// Limits on the resources used by a program.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Maximum duration of the program.
    pub time: Duration,
    /// Maximum memory in bytes.
    pub memory_bytes: u64,
    /// Maximum size, in bytes, of each file that the program writes.
    pub file_bytes: u64,
}

/// Reason why a program did not run to completion.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program could not be started.
    #[error("{0}")]
    Start(io::Error),
    /// The program exceeded the time limit and was killed.
    #[error("the time limit was exceeded")]
    TimedOut,
    /// Waiting for the program failed.
    #[error("{0}")]
    Io(io::Error),
}

/// Result of a finished program.
#[derive(Debug)]
pub struct ProgramEnd {
    /// Exit status.
    pub status: ExitStatus,
    /// End of the program's output, standard error first.
    pub output: String,
}

impl ProgramEnd {
    /// Returns the last lines of output for display; the exit status if there was no output.
    pub fn words(&self, limits: &RunLimits) -> String {
        let all: Vec<&str> = lines(&self.output).collect();
        let mut words = all[all.len().saturating_sub(MAX_TOLD_LINES)..].join("; ");
        if words.is_empty() {
            words = format!("it exited with {}", self.status);
        }
        if words.contains("bad_alloc") || words.contains("out of memory") {
            let megabytes = limits.memory_bytes / (1024 * 1024);
            words = format!("{words} (the limit is {megabytes} MiB, setting slicing.memory_max_bytes)");
        }
        words
    }
}

/// Returns the informative lines of a program's output, without progress and traces, and without the messages'
/// prefixes.
pub fn lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("what():").unwrap_or(line).trim_start();
        let line = match line.strip_prefix('[').and_then(|_| line.rsplit_once(']')) {
            Some((before, _)) if before.ends_with("trace") || before.ends_with("debug") || before.ends_with("info") => {
                ""
            }
            Some((_, after)) => after.trim_start(),
            None => line,
        };
        let progress = line.split_once(" => ").is_some_and(|(percent, _)| percent.parse::<u8>().is_ok());
        let noise = progress || line.starts_with("terminate called") || line.starts_with("Slicing result exported");
        (!line.is_empty() && !noise).then_some(line)
    })
}

/// Process group of a started program; killed on drop unless it has ended.
struct Group(Option<Pid>);

impl Group {
    fn kill(&mut self) {
        if let Some(pid) = self.0.take() {
            // There may be none left.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs a program to completion. The program receives no input and none of this server's environment, and runs in its
/// own process group. The group is killed if the time limit is exceeded, if the future is dropped, and once the program
/// itself has ended.
///
/// # Errors
///
/// Returns an error if the program does not start or exceeds the time limit.
pub async fn run(command: &mut Command, limits: &RunLimits) -> Result<ProgramEnd, RunError> {
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .env("HOME", ".")
        .env("TMPDIR", ".")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(RunError::Start)?;
    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let mut group = Group(pid);
    if let Some(pid) = pid {
        limit(pid, limits).map_err(RunError::Io)?;
    }
    let (errors, stdout) = (child.stderr.take(), child.stdout.take());
    let ending = async {
        let status = child.wait().await;
        // Whatever it left running holds its output open.
        group.kill();
        status
    };
    let all = timeout(limits.time, async { tokio::join!(ending, last_bytes(errors), last_bytes(stdout)) }).await;
    let (status, errors, output) = all.map_err(|_| RunError::TimedOut)?;
    Ok(ProgramEnd { status: status.map_err(RunError::Io)?, output: format!("{output}\n{errors}") })
}

/// Kills programs running in the given directory left behind when a server was killed.
pub(super) fn kill_within(folder: &Path) {
    let Ok(processes) = std::fs::read_dir("/proc") else { return };
    for process in processes.flatten() {
        let id = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let runs_there = std::fs::read_link(process.path().join("cwd")).is_ok_and(|at| at.starts_with(folder));
        if let Some(pid) = id.filter(|_| runs_there).and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Sets the limits for a newly started process, which apply to all its descendants.
fn limit(pid: Pid, limits: &RunLimits) -> io::Result<()> {
    // Of all its threads together; the time itself is limited by the clock.
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let processor_seconds = limits.time.as_secs().saturating_add(1).saturating_mul(processors);
    for (resource, most) in [
        (Resource::As, limits.memory_bytes),
        (Resource::Cpu, processor_seconds),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, MAX_OPEN_FILES),
        (Resource::Core, 0),
    ] {
        match prlimit(Some(pid), resource, Rlimit { current: Some(most), maximum: Some(most) }) {
            // It has ended already.
            Err(error) if error == rustix::io::Errno::SRCH => return Ok(()),
            other => other?,
        };
    }
    Ok(())
}

/// Reads a stream to its end and returns the last bytes as text.
async fn last_bytes(from: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut from) = from else { return String::new() };
    let (mut tail, mut chunk) = (Vec::new(), vec![0; 4096]);
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        tail.extend_from_slice(&chunk[..read]);
        if tail.len() > 2 * MAX_OUTPUT_BYTES {
            tail.drain(..tail.len() - MAX_OUTPUT_BYTES);
        }
    }
    tail.drain(..tail.len().saturating_sub(MAX_OUTPUT_BYTES));
    String::from_utf8_lossy(&tail).into_owned()
}
