//! A server in a process of its own, with what its process holds.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use printfloor::server::Server;
use serde_json::{Value, json};
use simulator::Fleet;
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};
use tokio::process::{Child, Command};

use super::client::{Client, post_plain, upload};
use super::ground::{admin_key, config};

const GCODE: &str = "; estimated printing time (normal mode) = 1m\n; filament used [g] = 2.00\nG28\nG1 X10 Y10 E1\n";

/// In the server's process: says its address and a key, and goes when its input ends.
pub async fn serve(folder: &Path) {
    let config = config(folder, None);
    let server = Server::start(config.clone()).await.unwrap();
    let (key, _) = admin_key(server.shop(), &config).await;
    println!("{} {key}", server.address().unwrap());
    let _ = BufReader::new(stdin()).lines().next_line().await;
    server.stop(Duration::from_secs(10)).await;
}

/// The server as another process sees it.
pub struct Remote {
    process: Child,
    /// Where it listens.
    pub address: SocketAddr,
    /// An admin's key.
    pub key: String,
}

impl Remote {
    /// Starts it, on one core only if one is named.
    pub async fn start(folder: &Path, core: Option<&str>) -> Self {
        let own = std::env::current_exe().unwrap();
        let mut command = match core {
            Some(core) => {
                let mut command = Command::new("taskset");
                command.args(["-c", core]).arg(own);
                command
            }
            None => Command::new(own),
        };
        command.arg("serve").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().unwrap();
        let (address, key) = line.split_once(' ').unwrap();
        Self { address: address.parse().unwrap(), key: key.to_owned(), process }
    }

    /// Creates something through the API and gives its id.
    pub async fn make(&self, path: &str, body: &Value) -> String {
        let mut client = Client::connect(self.address).await;
        let made = client.ask(&post_plain(path, &self.key, &body.to_string())).await;
        let made: Value = serde_json::from_slice(made).unwrap();
        made["id"].as_str().unwrap().to_owned()
    }

    /// Registers the printers of a fleet, which clear their beds themselves; gives their ids.
    pub async fn register(&self, fleet: &Fleet) -> Vec<String> {
        let mut ids = Vec::new();
        for (n, printer) in fleet.printers.iter().enumerate() {
            let body = json!({
                "name": format!("Printer {n}"), "type": printer.kind.as_str(), "machineType": "fdm_standard",
                "baseUrl": printer.base_url, "apiKey": printer.api_key, "autoClear": true,
            });
            ids.push(self.make("/api/printers", &body).await);
        }
        ids
    }

    /// A SKU that takes a minute and two grams, with stock without end; gives its id.
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

    /// Bytes of anonymous memory.
    pub fn memory(&self) -> u64 {
        anonymous(&self.process.id().unwrap().to_string())
    }

    /// Open file descriptors.
    pub fn handles(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id().unwrap())).unwrap().count()
    }

    /// Stops it in order.
    pub async fn end(mut self) {
        drop(self.process.stdin.take());
        self.process.wait().await.unwrap();
    }
}

/// Bytes of anonymous memory of a process; `self` is this one.
pub fn anonymous(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
