//! Simulated printers in a separate process, so that their CPU time is not attributed to the server.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::Value;
use simulator::{Fleet, FleetOptions, PrinterKind};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::client::{Client, get, post_plain};

/// Process of the simulated printers; killed on drop.
pub struct Simulated {
    /// Printers in the process, alternating between the types.
    pub printers: Vec<SimulatedPrinter>,
    _process: Child,
}

/// Printer in the simulator's process.
pub struct SimulatedPrinter {
    /// JSON line with type, address, key and serial number.
    pub line: Value,
    control: SocketAddr,
}

impl Simulated {
    /// Starts this number of idle printers of each type.
    pub async fn start(of_each: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("simulate").arg(of_each.to_string());
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

    /// Returns the total number of requests and commands that the printers have received.
    pub async fn requests(&self) -> u64 {
        self.requests_by_type().await.values().sum()
    }

    /// Returns the number of requests and commands that the printers have received, by type.
    pub async fn requests_by_type(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for printer in &self.printers {
            let mut client = Client::connect(printer.control).await;
            let counted: Value = serde_json::from_slice(client.ask(&get("/_sim/requests", "")).await).unwrap();
            let kind = printer.line["type"].as_str().unwrap().to_owned();
            *all.entry(kind).or_default() += counted["requests"].as_u64().unwrap();
        }
        all
    }
}

/// Runs the printers in this process, prints one line about each, and waits until the process is killed.
pub async fn serve(of_each: usize) {
    let fleet = Fleet::start(FleetOptions::of_each(of_each)).await.unwrap();
    fleet.printers.iter().for_each(|printer| println!("{}", printer.print_line()));
    std::future::pending::<()>().await;
}

impl SimulatedPrinter {
    fn read(line: &str) -> Self {
        let line: Value = serde_json::from_str(line).unwrap();
        let (_, place) = line["baseUrl"].as_str().unwrap().split_once("://").unwrap();
        let control = place.split(['?', '/']).next().unwrap().parse().unwrap();
        Self { line, control }
    }

    /// Changes the faults named in `change`.
    pub async fn faults(&self, change: &Value) {
        let request = post_plain("/_sim/faults", "", &change.to_string());
        Client::connect(self.control).await.ask(&request).await;
    }
}
