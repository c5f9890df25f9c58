//! The process of a server under test: starting, stopping, and its output.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::App;
use crate::support::until;

impl App {
    /// Starts the server (again) on the same port and data, and waits until it is ready.
    pub async fn start(&mut self) {
        self.spawn();
        self.until_ready().await;
    }

    /// Starts the server without waiting until it is ready, because it may become a standby.
    pub fn spawn(&mut self) {
        let mut command = self.server();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        self.listen_to(child.stdout.take().unwrap());
        self.listen_to(child.stderr.take().unwrap());
        self.child = Some(child);
    }

    /// Waits until the server is ready.
    pub async fn until_ready(&self) {
        until("the server to be ready", || async {
            if let Some(status) = self.exited() {
                panic!("the server ended with {status}:\n{}", self.log().join("\n"));
            }
            let answer = self.client.try_send(self.client.request("GET", "/readyz")).await?;
            (answer.status == 200).then_some(())
        })
        .await;
    }

    /// Waits until the server has logged a line that contains each of these texts.
    pub async fn has_logged(&self, texts: &[&str]) {
        let is_it = |line: &String| texts.iter().all(|text| line.contains(text));
        until("a line in the log", || async { self.log().iter().any(is_it).then_some(()) }).await;
    }

    fn exited(&self) -> Option<String> {
        // `try_wait` wants `&mut`: look at the process table instead.
        let id = self.child.as_ref()?.id();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok();
        match stat.as_deref().and_then(|stat| stat.rsplit(") ").next()).map(|rest| rest.starts_with('Z')) {
            Some(false) => None,
            _ => Some("an exit".to_owned()),
        }
    }

    /// Waits until the server exits by itself and its log is read; returns whether its exit code was 0.
    pub async fn ended(&mut self) -> bool {
        until("the server to end", || async { self.exited() }).await;
        // Whoever reads the output holds the log until then.
        until("the whole log", || async { (Arc::strong_count(&self.log) == 1).then_some(()) }).await;
        let status = self.child.take().expect("it ran").wait().unwrap();
        status.success()
    }

    fn listen_to(&self, stream: impl std::io::Read + Send + 'static) {
        let log = self.log.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if std::env::var_os("PRINTFLOOR_TEST_SHOW_LOG").is_some() {
                    eprintln!("{line}");
                }
                log.lock().unwrap().push(line);
            }
        });
    }

    /// Process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Kills the server, as a power cut would.
    pub fn kill_9(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Sends SIGTERM, which drains the server, and waits until it exits with code 0.
    pub async fn stop(&mut self) {
        let mut child = self.child.take().expect("it runs");
        let sent = Command::new("kill").arg(child.id().to_string()).status().unwrap();
        assert!(sent.success());
        let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
        assert!(status.success(), "{status}:\n{}", self.log().join("\n"));
    }
}
