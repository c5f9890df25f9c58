//! The hall: simulated printers of all types, each behind its own network, and their physical logs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::bambu::setup::{Ams, Tray};
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, SimPrinter};
use url::Url;

use crate::catalogue::create;
use crate::client::{ApiFault, ChaosClient};
use crate::error::ChaosError;
use crate::json::items;
use crate::network::ProxiedNetwork;

/// Number of printers of each type. The first one clears its bed automatically, the second one's is cleared by a
/// person.
const PRINTERS_OF_EACH: usize = 2;

/// A printer of the hall.
#[derive(Debug)]
pub struct ChaosMachine {
    /// ID of the printer on the server.
    pub id: String,
    sim: SimPrinter,
    /// Network between the server and the printer.
    pub network: Arc<ProxiedNetwork>,
    /// `true` if a person clears the bed.
    pub by_hand: bool,
}

/// Physical actions of a printer with the file of one attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Number of times that the printer started to print the file.
    pub starts: usize,
    /// Number of times that the printer completed the file.
    pub finishes: usize,
    /// Number of prints of the file that ended early.
    pub breaks: usize,
}

impl Deeds {
    /// Counts an event of the printer's log.
    pub fn add(&mut self, event: &PhysicalEvent) {
        match event {
            PhysicalEvent::Started { .. } => self.starts += 1,
            PhysicalEvent::Finished { .. } => self.finishes += 1,
            PhysicalEvent::Cancelled { .. } | PhysicalEvent::Failed { .. } | PhysicalEvent::Interrupted { .. } => {
                self.breaks += 1;
            }
            _ => {}
        }
    }

    /// Returns the outcome that a person reports after inspecting the printer; `None` while it is printing.
    pub fn outcome(self) -> Option<&'static str> {
        match self {
            Self { finishes: 1.., .. } => Some("finished"),
            Self { starts: 0, .. } => Some("not_started"),
            Self { breaks: 1.., .. } => Some("failed"),
            _ => None,
        }
    }
}

impl ChaosMachine {
    /// Returns the printer's actions with the file of an attempt, whose ID is part of the file's name.
    pub fn deeds(&self, attempt: &str) -> Deeds {
        let mut deeds = Deeds::default();
        for event in self.events().iter().filter(|event| event.filename().is_some_and(|name| name.contains(attempt))) {
            deeds.add(event);
        }
        deeds
    }

    /// Returns the printer's physical log.
    pub fn events(&self) -> Vec<PhysicalEvent> {
        self.sim.handle.log().into_iter().map(|entry| entry.what).collect()
    }

    /// Returns whether the printer is idle.
    pub fn is_idle(&self) -> bool {
        self.sim.handle.with(|machine| machine.job().is_none())
    }

    /// Returns whether the network has worked for `patience`, so that nothing sent to the printer can still be in
    /// transit.
    pub fn is_settled(&self, patience: Duration) -> bool {
        self.network.whole_for() >= patience
    }
}

/// All printers.
#[derive(Debug)]
pub struct ChaosHall {
    /// Printers, in the order of their types.
    pub machines: Vec<ChaosMachine>,
    _fleet: Fleet,
}

impl ChaosHall {
    /// Starts the printers and registers them, each with a spool of the material.
    pub async fn open(api: &ChaosClient, material: &str, seed: u64) -> Result<Self, ChaosError> {
        let fleet = Fleet::start(FleetOptions { seed, ..FleetOptions::of_each(PRINTERS_OF_EACH) }).await?;
        let mut machines = Vec::new();
        for (n, sim) in fleet.printers.iter().enumerate() {
            let name = format!("{} {}", sim.kind.as_str(), n % PRINTERS_OF_EACH + 1);
            let network = Arc::new(ProxiedNetwork::to(format!("printer {name}"), &ports(&sim.base_url)).await?);
            let by_hand = !n.is_multiple_of(PRINTERS_OF_EACH);
            if let Some(changer) = Bambu::of(&sim.handle) {
                let tray = Tray { tray_color: "1B1B22FF".to_owned(), ..Tray::default() };
                changer.change(|setup| setup.ams = vec![Ams { trays: [Some(tray), None, None, None] }]);
            }
            let body = json!({
                "name": name, "type": sim.kind.as_str(), "machineType": "fdm_standard", "serial": sim.serial,
                "baseUrl": address(&sim.base_url, &network.ports), "apiKey": sim.api_key, "autoClear": !by_hand,
                "buildVolume": {"x": 220, "y": 220, "z": 250},
            });
            let id = create(api, "/api/printers", &format!("printer-{n}"), &body).await?;
            load(api, &id, sim, material).await?;
            machines.push(ChaosMachine { id, sim: sim.clone(), network, by_hand });
        }
        Ok(Self { machines, _fleet: fleet })
    }

    /// Returns the printer with this ID on the server; `None` if there is none.
    pub fn at(&self, id: &str) -> Option<&ChaosMachine> {
        self.machines.iter().find(|machine| machine.id == id)
    }
}

/// Waits until a printer is connected, and sets the material in its first slot.
async fn load(api: &ChaosClient, id: &str, sim: &SimPrinter, material: &str) -> Result<(), ApiFault> {
    let path = format!("/api/printers/{id}");
    let is_connected = |status: &Value| (status["connection"] == "connected").then_some(());
    api.wait("the printer to be connected", &format!("{path}/status"), is_connected).await?;
    if Bambu::of(&sim.handle).is_some() {
        // It tells of its spools itself.
        let reports =
            |printer: &Value| items(printer, "slots").first().filter(|slot| slot["source"] == "printer").map(drop);
        api.wait("the printer to report its spool", &path, reports).await?;
    }
    let spool = json!({"materialId": material});
    api.insist(&format!("{path}/slots/0"), &format!("set-up-spool-{id}"), &spool).await.map(drop)
}

/// Returns the ports of a printer: that of its URL, and the one for files if the URL contains one.
fn ports(base_url: &str) -> Vec<u16> {
    let Ok(url) = Url::parse(base_url) else { return Vec::new() };
    let files = url.query_pairs().find(|(name, _)| name == "ftps").and_then(|(_, port)| port.parse().ok());
    url.port().into_iter().chain(files).collect()
}

/// Returns the URL of a printer with its ports replaced by these.
fn address(base_url: &str, ports: &[u16]) -> String {
    let scheme = base_url.split("://").next().unwrap_or_default();
    match ports {
        [port, files, ..] => format!("{scheme}://127.0.0.1:{port}?ftps={files}"),
        [port] => format!("{scheme}://127.0.0.1:{port}"),
        [] => base_url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_through_the_networks() {
        let (plain, two) = ("http://127.0.0.1:7125", "mqtts://127.0.0.1:8883?ftps=990");
        assert_eq!((ports(plain), ports(two)), (vec![7125], vec![8883, 990]));
        assert_eq!(address(plain, &[1]), "http://127.0.0.1:1");
        assert_eq!(address(two, &[1, 2]), "mqtts://127.0.0.1:1?ftps=2");
    }

    #[test]
    fn a_person_says_what_the_printer_did() {
        let filename = || "JOB-000001_a.gcode".to_owned();
        let mut deeds = Deeds::default();
        assert_eq!(deeds.outcome(), Some("not_started"));
        deeds.add(&PhysicalEvent::Started { filename: filename() });
        assert_eq!(deeds.outcome(), None, "it prints");
        let mut broken = deeds;
        broken.add(&PhysicalEvent::Cancelled { filename: filename() });
        assert_eq!(broken.outcome(), Some("failed"));
        deeds.add(&PhysicalEvent::Finished { filename: filename() });
        assert_eq!(deeds.outcome(), Some("finished"));
    }
}
