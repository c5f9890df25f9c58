//! Smart home entities for the shop: each printer, and the shop as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::integrations::Sources;
use domain::id::Id;
use domain::material::Material;
use domain::printer::Printer;
use domain::printer_status::{Activity, Status};
use kernel::directory::Directory;
use printers::connections::PrinterConnections;
use services::smart_home::HomeEntity;

/// Key of the shop entity.
pub(super) const SHOP: &str = "shop";
/// Number of hexadecimal digits in a printer's key, taken from the random end of its ID.
const KEY_DIGITS: usize = 12;
/// Maximum number of materials listed by name.
const MAX_NAMED: usize = 20;

/// Reader for the states to show.
pub(super) struct StateReader {
    printers: Directory<Printer>,
    materials: Directory<Material>,
    connections: Arc<PrinterConnections>,
}

impl StateReader {
    pub(super) fn new(sources: &Sources) -> Self {
        let (printers, materials) = (sources.printers.clone(), sources.materials.clone());
        Self { printers, materials, connections: sources.connections.clone() }
    }

    /// Returns all entities with their current states, by key.
    pub(super) fn now(&self) -> BTreeMap<String, HomeEntity> {
        let resident = self.printers.all_resident();
        let printers: Vec<&Printer> = resident.iter().filter_map(|(_, state)| state.present()).collect();
        let mut things: BTreeMap<String, HomeEntity> = printers
            .iter()
            .map(|printer| printer_shown(printer, self.connections.status(printer.id)))
            .map(|thing| (thing.key.clone(), thing))
            .collect();
        things.insert(SHOP.to_owned(), self.shop(&printers));
        things
    }

    fn shop(&self, printers: &[&Printer]) -> HomeEntity {
        let doing = |what: Activity| printers.iter().filter(|printer| printer.activity == what).count();
        let materials = self.materials.all_resident();
        let low = materials.iter().filter_map(|(_, state)| state.state.as_ref());
        let low = low.filter(|one| !one.archived && one.available() < one.fields.reorder_point);
        let mut low: Vec<&str> = low.map(|material| material.fields.name.as_str()).collect();
        low.sort_unstable();
        let attention = printers.iter().filter(|printer| !printer.attention().is_empty()).count();
        let facts = [
            ("printers", json!(printers.len())),
            ("printing", json!(doing(Activity::Printing))),
            ("idle", json!(doing(Activity::Idle))),
            ("offline", json!(doing(Activity::Offline))),
            ("needAttention", json!(attention)),
            ("lowStock", json!(low.len())),
            ("lowMaterials", json!(low.iter().take(MAX_NAMED).collect::<Vec<_>>())),
        ];
        HomeEntity {
            key: SHOP.to_owned(),
            name: "Printfloor".to_owned(),
            model: "print shop".to_owned(),
            state: if doing(Activity::Printing) > 0 { "printing" } else { "idle" }.to_owned(),
            facts: members(facts),
        }
    }
}

/// Returns the key for a printer.
fn key(id: Id) -> String {
    let digits = id.0.simple().to_string();
    digits[digits.len() - KEY_DIGITS..].to_owned()
}

fn members<const N: usize>(facts: [(&str, Value); N]) -> Map<String, Value> {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn printer_shown(printer: &Printer, status: Option<Status>) -> HomeEntity {
    let status = status.unwrap_or_default();
    let prints = matches!(printer.activity, Activity::Printing | Activity::Paused);
    // Rounded: what flickers would be told all the time. A print whose end is unknown has no remaining time.
    let remaining_seconds = if prints { status.remaining_seconds.map(|left| left / 60 * 60) } else { Some(0) };
    let facts = [
        ("progress", json!(if prints { status.progress.round() as i64 } else { 0 })),
        ("remainingSeconds", json!(remaining_seconds)),
        ("nozzle", json!(status.nozzle.round() as i64)),
        ("bed", json!(status.bed.round() as i64)),
        ("file", json!(status.file.filter(|_| prints))),
        ("connection", json!(printer.connection)),
        ("attention", json!(printer.attention())),
        ("printerId", json!(printer.id)),
    ];
    HomeEntity {
        key: key(printer.id),
        name: printer.fields.name.clone(),
        model: json!(printer.fields.machine_type).as_str().unwrap_or_default().to_owned(),
        state: json!(printer.activity).as_str().unwrap_or_default().to_owned(),
        facts: members(facts),
    }
}
