//! Moonraker's `[spoolman]` component, which reports extruded filament to Spoolman as usage of the active spool. Unsent
//! reports are queued, and are lost when Moonraker restarts. After a firmware restart, the component may stop counting:
//! the history then contains a print and its spool, but none of the print's filament is reported.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::{MoonrakerError, MoonrakerHost, RpcParams};
use crate::printer::{Machine, VirtualPrinter};
use crate::stock::spools::{SpoolHost, SpoolSystem};

/// Interval between reports; 5 s in the real component.
const REPORT_PAUSE: Duration = Duration::from_millis(100);

/// Spoolman component of one printer. Clones refer to the same component.
#[derive(Clone)]
pub struct SpoolmanComponent(Arc<Mutex<SpoolmanState>>);

struct SpoolmanState {
    to: SpoolHost,
    active: Option<i64>,
    connected: bool,
    /// `true` while the component counts extruded filament.
    counting: bool,
    /// `true` if there is a change that clients have not been notified of yet.
    news: bool,
    /// Total extrusion for all prints as of the last check, in millimetres.
    seen_mm: f64,
    /// Extrusion not yet reported, in millimetres by spool.
    pending: BTreeMap<i64, f64>,
    /// Spools active during each print, by print number.
    prints: BTreeMap<u64, Vec<i64>>,
}

impl SpoolmanComponent {
    /// Enables the component on a printer, with no active spool. Must be called only once per printer.
    pub fn install(printer: &VirtualPrinter, to: &SpoolSystem) -> Self {
        let seen_mm = printer.with(|machine| extruded(machine));
        let (pending, prints) = (BTreeMap::new(), BTreeMap::new());
        let (active, connected, counting, news) = (None, true, true, true);
        let inside = SpoolmanState { to: to.host(), active, connected, counting, news, seen_mm, pending, prints };
        let component = Self(Arc::new(Mutex::new(inside)));
        printer.extend(component.clone());
        let at_work = component.clone();
        printer.every(REPORT_PAUSE, move |machine| at_work.report(machine));
        component
    }

    /// Sets the active spool, as a user would at the printer.
    pub fn set_active(&self, spool: Option<i64>) {
        self.with(|inside| (inside.active, inside.news) = (spool, true));
    }

    /// Sets whether the component can reach Spoolman.
    pub fn set_connected(&self, connected: bool) {
        self.with(|inside| (inside.connected, inside.news) = (connected, true));
    }

    /// Sets whether the component counts extrusion; the real component may stop counting when the firmware restarts.
    pub fn set_counting(&self, counting: bool) {
        self.with(|inside| inside.counting = counting);
    }

    fn report(&self, machine: &mut Machine) {
        if self.with(|inside| std::mem::take(&mut inside.news)) {
            machine.touch();
        }
        let (now, print) = (extruded(machine), machine.history().last().map(|record| record.number));
        self.with(|inside| {
            let used = now - inside.seen_mm;
            if let Some(spool) = inside.active.filter(|_| used > 0.0) {
                if inside.counting {
                    *inside.pending.entry(spool).or_default() += used;
                }
                let spools = inside.prints.entry(print.unwrap_or_default()).or_default();
                if !spools.contains(&spool) {
                    spools.push(spool);
                }
            }
            inside.seen_mm = inside.seen_mm.max(now);
            if inside.connected {
                for (spool, length) in std::mem::take(&mut inside.pending) {
                    inside.to.use_length(spool, length);
                }
            }
        });
    }

    fn status(&self) -> Value {
        self.with(|inside| {
            let waits = |(spool, length): (&i64, &f64)| json!({"spool_id": spool, "filament_used": length});
            json!({
                "spoolman_connected": inside.connected,
                "pending_reports": inside.pending.iter().map(waits).collect::<Vec<_>>(),
                "spool_id": inside.active,
            })
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut SpoolmanState) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the total extrusion for all prints so far, in millimetres.
fn extruded(machine: &Machine) -> f64 {
    let job = machine.job();
    let of = |record: &crate::printer::Record| match job.filter(|job| job.number == record.number) {
        Some(job) => job.filament_mm(),
        None => record.filament_mm,
    };
    machine.history().iter().map(of).sum()
}

impl MoonrakerHost {
    fn component(&self) -> Result<SpoolmanComponent, MoonrakerError> {
        self.printer.extension::<SpoolmanComponent>().ok_or_else(|| MoonrakerError::new(404, "Not Found"))
    }

    /// Returns the active spool and whether Spoolman is connected; `None` if the component is not enabled.
    pub(super) fn spoolman_shown(&self) -> Option<(Option<i64>, bool)> {
        Some(self.component().ok()?.with(|inside| (inside.active, inside.connected)))
    }

    /// Handles `server.spoolman.status`.
    pub(super) fn spoolman_status(&self) -> Result<Value, MoonrakerError> {
        Ok(self.component()?.status())
    }

    /// Adds a print's spools to its auxiliary data in the history.
    pub(super) fn with_spools(&self, mut job: Value) -> Value {
        let number = job["job_id"].as_str().and_then(|id| u64::from_str_radix(id, 16).ok());
        let component = self.component().ok().zip(number);
        if let Some(spools) = component.and_then(|(one, number)| one.with(|inside| inside.prints.get(&number).cloned()))
        {
            job["auxiliary_data"] = json!([{
                "provider": "spoolman", "name": "spool_ids", "value": spools, "description": "Spool IDs used", "units": null,
            }]);
        }
        job
    }

    /// Handles `server.spoolman.post_spool_id`.
    pub(super) fn choose_spool(&self, params: &RpcParams) -> Result<Value, MoonrakerError> {
        let component = self.component()?;
        component.set_active(params.get("spool_id").and_then(Value::as_i64));
        Ok(json!({"spool_id": component.status()["spool_id"]}))
    }
}
