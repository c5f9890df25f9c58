//! Programs to be killed and frozen, which are restarted automatically, as by a service manager.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::story::ChaosStory;

/// Pause before a program that exited by itself is restarted.
const RESTART_PAUSE: Duration = Duration::from_millis(200);
/// Maximum time for a graceful exit of a program at the end of the run.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of log lines printed if a promise was broken.
const LAST_LINES: usize = 60;

/// Program that is restarted whenever it exits. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Keeper {
    /// Running process; `None` if there is none.
    pid: watch::Receiver<Option<Pid>>,
    /// `true` while the program must stay down.
    held: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Keeper {
    /// Starts a program. If `log` is given, the program's output is collected, and each exit by itself is reported.
    pub fn start(
        name: &'static str,
        log: Option<ServerLog>,
        story: ChaosStory,
        command: impl Fn() -> Command + Send + 'static,
    ) -> Self {
        let (running, pid) = watch::channel(None);
        let held = watch::Sender::new(false);
        let work = KeeperWork { name, log, story, running, held: held.subscribe() };
        Self { pid, held, task: tokio::spawn(work.run(command)) }
    }

    /// Returns the running process; `None` if there is none.
    pub fn pid(&self) -> Option<Pid> {
        *self.pid.borrow()
    }

    /// Kills the program with `kill -9`, and keeps it down until it is released.
    pub async fn kill(&self) {
        self.end_by(Signal::KILL).await;
    }

    /// Allows the program to be restarted.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// Suspends the program. Returns the process for [`Keeper::thaw`]; `None` if none is running.
    pub fn freeze(&self) -> Option<Pid> {
        let pid = self.pid()?;
        kill_process(pid, Signal::STOP).ok().map(|()| pid)
    }

    /// Resumes a frozen process, unless it has exited meanwhile.
    pub fn thaw(&self, frozen: Pid) {
        if self.pid() == Some(frozen) {
            // It may end in this moment.
            let _ = kill_process(frozen, Signal::CONT);
        }
    }

    /// Ends the program permanently with a signal, or with `kill -9` if it takes too long.
    pub async fn end(&self, signal: Signal) {
        if timeout(END_TIMEOUT, self.end_by(signal)).await.is_err() {
            self.kill().await;
        }
    }

    async fn end_by(&self, signal: Signal) {
        self.held.send_replace(true);
        if let Some(pid) = self.pid() {
            // It may have ended by itself.
            let _ = kill_process(pid, signal);
        }
        let mut pid = self.pid.clone();
        let _ = pid.wait_for(Option::is_none).await;
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // The process is killed with the task that waits for it.
        self.task.abort();
    }
}

/// Task that starts a program and waits until it exits, repeatedly.
struct KeeperWork {
    name: &'static str,
    log: Option<ServerLog>,
    story: ChaosStory,
    running: watch::Sender<Option<Pid>>,
    held: watch::Receiver<bool>,
}

impl KeeperWork {
    async fn run(mut self, command: impl Fn() -> Command + Send + 'static) {
        while self.held.wait_for(|held| !held).await.is_ok() {
            let mut command = command();
            // Ctrl-C in the terminal reaches only this program, which then ends all others.
            command.process_group(0).kill_on_drop(true);
            match command.spawn() {
                Ok(child) => self.wait(child).await,
                Err(error) => self.story.tell(&format!("{} cannot be started: {error}", self.name)),
            }
            sleep(RESTART_PAUSE).await;
        }
    }

    /// Waits until the process has ended.
    async fn wait(&mut self, mut child: Child) {
        // Held open: the server ends when its standard input closes, and so with this program.
        let _input = child.stdin.take();
        if let Some(log) = &self.log {
            log.follow(&mut child);
        }
        self.running.send_replace(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
        if *self.held.borrow() {
            // Held between the look and the start.
            let _ = child.start_kill();
        }
        let ended = child.wait().await;
        self.running.send_replace(None);
        if self.log.is_some() && !*self.held.borrow() {
            let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            self.story.tell(&format!("{} ended by itself ({status}) and is started again", self.name));
        }
    }
}

/// Log of the server over all of its processes.
#[derive(Clone, Debug, Default)]
pub struct ServerLog(Arc<Mutex<LogLines>>);

#[derive(Debug, Default)]
struct LogLines {
    last: VecDeque<String>,
    panics: Vec<String>,
}

impl ServerLog {
    /// Collects the output of a process until it exits.
    fn follow(&self, child: &mut Child) {
        if let Some(output) = child.stdout.take() {
            tokio::spawn(self.clone().read(output));
        }
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(self.clone().read(errors));
        }
    }

    async fn read(self, stream: impl AsyncRead + Unpin) {
        let mut lines = BufReader::new(stream).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            self.add(line);
        }
    }

    fn add(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if line.contains("panicked") {
            lines.panics.push(line.clone());
        }
        lines.last.push_back(line);
        if lines.last.len() > LAST_LINES {
            lines.last.pop_front();
        }
    }

    /// Returns the last lines.
    pub fn last(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last.iter().cloned().collect()
    }

    /// Returns the lines that report a panic.
    pub fn panics(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).panics.clone()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::process::Stdio;

    use super::*;

    /// Timeout that suffices for anything that happens at all.
    const LONG: Duration = Duration::from_secs(60);

    async fn next_pid(keeper: &Keeper) -> Pid {
        let mut pid = keeper.pid.clone();
        let running = timeout(LONG, pid.wait_for(Option::is_some)).await.unwrap().unwrap();
        running.unwrap()
    }

    #[tokio::test]
    async fn a_program_stays_down_while_it_is_held_and_is_another_process_then() {
        let keeper = Keeper::start("sleep", None, ChaosStory::begin(), || {
            let mut command = Command::new("sleep");
            command.arg("600");
            command
        });
        let first = next_pid(&keeper).await;
        assert_eq!(keeper.freeze(), Some(first));
        keeper.thaw(first);
        keeper.kill().await;
        assert_eq!(keeper.pid(), None);
        keeper.release();
        let second = next_pid(&keeper).await;
        assert_ne!(first, second);
        keeper.thaw(first);
        keeper.end(Signal::TERM).await;
        assert_eq!(keeper.pid(), None);
    }

    #[tokio::test]
    async fn one_that_ends_by_itself_is_started_again_and_its_panics_are_noticed() {
        let log = ServerLog::default();
        let keeper = Keeper::start("sh", Some(log.clone()), ChaosStory::begin(), || {
            let mut command = Command::new("sh");
            command.args(["-c", "echo thread panicked; echo again >&2"]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        });
        let twice = async {
            while log.panics().len() < 2 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(LONG, twice).await.unwrap();
        keeper.kill().await;
        assert!(log.last().contains(&"thread panicked".to_owned()));
    }
}
