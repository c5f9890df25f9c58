//! Server in a separate process, with measurements of its resources.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use printfloor::server::Server;
use serde_json::{Value, json};
use simulator::Fleet;
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};
use tokio::process::{Child, Command};

use super::client::{Client, get, post_plain, upload};
use super::ground::{admin_key, config_with};
use super::program;
use super::waiting::poll;

const GCODE: &str = "; estimated printing time (normal mode) = 1m\n; filament used [g] = 2.00\nG28\nG1 X10 Y10 E1\n";

/// Interval between two looks whether printers are connected.
const CONNECTION_LOOK_EVERY: Duration = Duration::from_millis(250);

/// Runs the server in this process: prints its address and a key, and exits when standard input is closed. `more` are
/// environment variables in the form `NAME=value`.
pub async fn serve(folder: &Path, more: &[&str]) {
    let more: Vec<(&str, &str)> = more.iter().map(|pair| pair.split_once('=').unwrap()).collect();
    let config = config_with(folder, None, &more);
    let server = Server::start(config.clone()).await.unwrap();
    let (key, _) = admin_key(server.shop(), &config).await;
    println!("{} {key}", server.address().unwrap());
    let _ = BufReader::new(stdin()).lines().next_line().await;
    server.stop(Duration::from_secs(10)).await;
}

/// Server in another process.
pub struct Remote {
    process: Child,
    /// Address on which it listens.
    pub address: SocketAddr,
    /// API key of an admin.
    pub key: String,
}

impl Remote {
    /// Starts the server, pinned to a core if `core` is set.
    pub async fn start(folder: &Path, core: Option<&str>) -> Self {
        Self::start_with(folder, core, &[]).await
    }

    /// Starts the server as [`Self::start`] does, with additional environment variables.
    pub async fn start_with(folder: &Path, core: Option<&str>, more: &[(&str, String)]) -> Self {
        let mut command = Command::from(program::pinned(&std::env::current_exe().unwrap(), core));
        command.arg("serve").arg(folder).args(more.iter().map(|(name, value)| format!("{name}={value}")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().unwrap();
        let (address, key) = line.split_once(' ').unwrap();
        Self { address: address.parse().unwrap(), key: key.to_owned(), process }
    }

    /// Starts the installed program, rather than this one, with a new shop in this folder.
    pub async fn start_program(folder: &Path) -> Self {
        Self::serve_program(folder, None, &["--new"]).await
    }

    /// Starts the installed program with the shop that this folder has, pinned to a core.
    pub async fn start_program_on(folder: &Path, core: &str) -> Self {
        Self::serve_program(folder, Some(core), &[]).await
    }

    /// Starts the installed program with its own key, which is created with these options.
    async fn serve_program(folder: &Path, core: Option<&str>, key_options: &[&str]) -> Self {
        let mut create = program::command(folder, None);
        create.args(["key", "create", "--name", "bench", "--role", "admin"]).args(key_options);
        let key = program::run(create).output.trim().to_owned();
        let mut serve = Command::from(program::command_on(core, folder, None));
        serve.args(["serve", "--end-with-stdin"]);
        serve.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = serve.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            if let Some((_, address)) = line.split_once("address   http://") {
                return Self { address: address.trim().parse().unwrap(), key, process };
            }
        }
    }

    /// Creates a resource through the API and returns its id.
    pub async fn make(&self, path: &str, body: &Value) -> String {
        let mut client = Client::connect(self.address).await;
        let answer = client.ask(&post_plain(path, &self.key, &body.to_string())).await;
        let answer: Value = serde_json::from_slice(answer).unwrap();
        answer["id"].as_str().unwrap().to_owned()
    }

    /// Registers the printers of a fleet, which clear their beds themselves; returns their ids.
    pub async fn register(&self, fleet: &Fleet) -> Vec<String> {
        let lines = fleet.printers.iter().map(|printer| serde_json::from_str(&printer.print_line()).unwrap());
        self.register_all(lines).await
    }

    /// Registers printers as [`Self::register`] does, described by type, address, key and serial number.
    pub async fn register_all(&self, printers: impl Iterator<Item = Value>) -> Vec<String> {
        let mut ids = Vec::new();
        for (n, mut body) in printers.enumerate() {
            body["name"] = format!("Printer {n}").into();
            body["machineType"] = "fdm_standard".into();
            body["autoClear"] = true.into();
            ids.push(self.make("/api/printers", &body).await);
        }
        ids
    }

    /// Returns the number of connected printers and the number of all printers.
    pub async fn connected(&self) -> (usize, usize) {
        let mut client = Client::connect(self.address).await;
        let (mut connected, mut all) = (0, 0);
        loop {
            let page = client.ask(&get(&format!("/api/printers?limit=100&offset={all}"), &self.key)).await;
            let page: Value = serde_json::from_slice(page).unwrap();
            let printers = page["printers"].as_array().unwrap();
            connected += printers.iter().filter(|printer| printer["status"]["connection"] == "connected").count();
            all += printers.len();
            if printers.is_empty() || page["pagination"]["hasMore"] != true {
                return (connected, all);
            }
        }
    }

    /// Waits until this number of printers is connected, within a time limit.
    pub async fn until_connected(&self, expected: usize, within: Duration) {
        poll(CONNECTION_LOOK_EVERY, within, async || {
            let (connected, all) = self.connected().await;
            let words = || format!("{connected} of {all} printers are connected, and not {expected}");
            if connected >= expected { Ok(()) } else { Err(words()) }
        })
        .await;
    }

    /// Registers the printers of a fleet as [`Self::register`] does, and waits until all are connected, within a time
    /// limit.
    pub async fn connect(&self, fleet: &Fleet, within: Duration) -> Vec<String> {
        let printers = self.register(fleet).await;
        self.until_connected(printers.len(), within).await;
        printers
    }

    /// Creates a SKU whose print takes a minute and two grams, with unlimited stock; returns its ID.
    pub async fn sku(&self) -> String {
        let mut client = Client::connect(self.address).await;
        let file = client.ask(&upload(&self.key, "clip.gcode", GCODE.as_bytes())).await;
        let file: Value = serde_json::from_slice(file).unwrap();
        let material = json!({"name": "PLA", "type": "filament", "quantity": 1_000_000, "reorderPoint": 0});
        let material = self.make("/api/inventory/materials", &material).await;
        let sku = json!({
            "code": "CLIP", "name": "Clip", "materialId": material, "estimatedConsumption": 2,
            "machineType": "fdm_standard", "priceCents": 100, "gcodeFileId": file["id"],
        });
        self.make("/api/skus", &sku).await
    }

    /// Returns the number of the server's process.
    pub fn process_id(&self) -> u32 {
        self.process.id().unwrap()
    }

    /// Returns the CPU time of the server's process in seconds.
    pub fn cpu_seconds(&self) -> f64 {
        program::cpu_seconds(self.process_id())
    }

    /// Returns the server's resident memory in bytes.
    pub fn resident(&self) -> u64 {
        program::memory(&self.process_id().to_string(), "VmRSS:").unwrap()
    }

    /// Returns the server's anonymous memory in bytes.
    pub fn memory(&self) -> u64 {
        anonymous(&self.process_id().to_string())
    }

    /// Returns the number of open file descriptors.
    pub fn handles(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process_id())).unwrap().count()
    }

    /// Stops the server gracefully.
    pub async fn end(mut self) {
        drop(self.process.stdin.take());
        self.process.wait().await.unwrap();
    }
}

/// Returns the anonymous memory of a process in bytes; `self` is this one.
pub fn anonymous(process: &str) -> u64 {
    program::memory(process, "RssAnon:").unwrap()
}
