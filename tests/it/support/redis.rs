//! A Redis server for a single test: started, frozen, killed, and restarted on the same port and data.

use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::db::SERVICES;
use super::ports::free_port;
use super::until;

/// Environment variable with the path of `redis-server`; `scripts/test` sets it.
const PROGRAM: &str = "PRINTFLOOR_TEST_REDIS";

pub struct RedisServer {
    program: String,
    port: u16,
    dir: TempDir,
    child: Option<Child>,
}

impl RedisServer {
    /// Reserves a port and a folder without starting the server; `None` if the program is not installed and services
    /// are not required.
    pub fn place() -> Option<Self> {
        let Ok(program) = std::env::var(PROGRAM) else {
            assert!(std::env::var_os(SERVICES).is_none(), "{SERVICES} is set and {PROGRAM} is not");
            eprintln!("left out: no {PROGRAM}");
            return None;
        };
        let port = free_port();
        let dir = tempfile::Builder::new().prefix("printfloor-redis-").tempdir().unwrap();
        Some(Self { program, port, dir, child: None })
    }

    /// Starts a server on what [`Self::place`] reserves.
    pub async fn start() -> Option<Self> {
        let mut server = Self::place()?;
        server.up().await;
        Some(server)
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts the server (again), with every change written to disk immediately, and waits until it responds.
    pub async fn up(&mut self) {
        let mut command = Command::new(&self.program);
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--dir"]).arg(self.dir.path());
        command.args(["--save", "", "--appendonly", "yes", "--appendfsync", "always"]);
        self.child = Some(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        until("redis to answer", || async { self.ask::<String>(&["PING"]).await.ok() }).await;
    }

    /// Sends a command on its own connection; returns the reply.
    pub async fn ask<T: redis::FromRedisValue>(&self, words: &[&str]) -> redis::RedisResult<T> {
        let mut connection = redis::Client::open(self.url())?.get_multiplexed_async_connection().await?;
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query_async(&mut connection).await
    }

    /// Kills the server, as a power cut would.
    pub fn kill_9(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Sends a signal to the server: `STOP` freezes it with its connections open, `CONT` resumes it.
    pub fn signal(&self, name: &str) {
        let id = self.child.as_ref().expect("it runs").id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
