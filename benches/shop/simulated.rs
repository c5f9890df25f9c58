//! Simulated printers in a process of their own, by `printfloor simulate`: their processor time is nobody else's.

use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::Value;
use simulator::PrinterKind;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::client::{Client, get, post_plain};

/// The process; it ends when this is dropped.
pub struct Simulated {
    /// Its printers, by turns of each type.
    pub printers: Vec<SimulatedPrinter>,
    _process: Child,
}

/// One of its printers.
pub struct SimulatedPrinter {
    /// Type, address, key and serial number.
    pub line: Value,
    control: SocketAddr,
}

impl Simulated {
    /// So many printers of each type, which stand idle.
    pub async fn start(of_each: usize) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_printfloor"));
        command.arg("simulate");
        for kind in PrinterKind::ALL {
            command.arg(format!("--{}", kind.as_str().replace('_', "-"))).arg(of_each.to_string());
        }
        let mut process = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut all = Vec::new();
        for _ in 0..of_each * PrinterKind::ALL.len() {
            all.push(SimulatedPrinter::read(&lines.next_line().await.unwrap().unwrap()));
        }
        // They are told type by type.
        let mut turns: Vec<(usize, SimulatedPrinter)> =
            all.into_iter().enumerate().map(|(n, printer)| (n % of_each, printer)).collect();
        turns.sort_by_key(|(turn, _)| *turn);
        Self { printers: turns.into_iter().map(|(_, printer)| printer).collect(), _process: process }
    }

    /// The requests and commands that have reached all of them.
    pub async fn requests(&self) -> u64 {
        let mut all = 0;
        for printer in &self.printers {
            let mut client = Client::connect(printer.control).await;
            let counted: Value = serde_json::from_slice(client.ask(&get("/_sim/requests", "")).await).unwrap();
            all += counted["requests"].as_u64().unwrap();
        }
        all
    }
}

impl SimulatedPrinter {
    fn read(line: &str) -> Self {
        let line: Value = serde_json::from_str(line).unwrap();
        let (_, place) = line["baseUrl"].as_str().unwrap().split_once("://").unwrap();
        let control = place.split(['?', '/']).next().unwrap().parse().unwrap();
        Self { line, control }
    }

    /// Changes the faults that are named.
    pub async fn faults(&self, change: &Value) {
        let request = post_plain("/_sim/faults", "", &change.to_string());
        Client::connect(self.control).await.ask(&request).await;
    }
}
