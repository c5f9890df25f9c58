//! Moonraker's component `[spoolman]`: what the printer extrudes is reported to Spoolman, as used of the spool that is
//! active. What cannot be reported waits, and is forgotten when Moonraker is restarted. After a restart of the firmware
//! it may lose count: the history knows a print and its spool, and nothing of it is reported.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::{ApiError, Host, Params};
use crate::printer::{Machine, VirtualPrinter};
use crate::stock::spools::{SpoolHost, SpoolSystem};

/// Pause between two reports; the real one waits 5 s.
const REPORT_PAUSE: Duration = Duration::from_millis(100);

/// The component of one printer. Clones are the same one.
#[derive(Clone)]
pub struct SpoolmanComponent(Arc<Mutex<Inside>>);

struct Inside {
    to: SpoolHost,
    active: Option<i64>,
    connected: bool,
    /// Whether it sees what is extruded.
    counting: bool,
    /// Something changed of which clients did not hear yet.
    news: bool,
    /// Millimetres that were extruded in all prints when it last looked.
    seen_mm: f64,
    /// Millimetres that are not reported yet, by spool.
    pending: BTreeMap<i64, f64>,
    /// The spools that were active in each print, by the number of the print.
    prints: BTreeMap<u64, Vec<i64>>,
}

impl SpoolmanComponent {
    /// Switches the component of a printer on, with no active spool. Once for each printer.
    pub fn install(printer: &VirtualPrinter, to: &SpoolSystem) -> Self {
        let seen_mm = printer.with(|machine| extruded(machine));
        let (pending, prints) = (BTreeMap::new(), BTreeMap::new());
        let (active, connected, counting, news) = (None, true, true, true);
        let inside = Inside { to: to.host(), active, connected, counting, news, seen_mm, pending, prints };
        let component = Self(Arc::new(Mutex::new(inside)));
        printer.extend(component.clone());
        let at_work = component.clone();
        printer.every(REPORT_PAUSE, move |machine| at_work.report(machine));
        component
    }

    /// The spool from which it prints from now on, as a person chooses it at the printer.
    pub fn set_active(&self, spool: Option<i64>) {
        self.with(|inside| (inside.active, inside.news) = (spool, true));
    }

    /// Whether it reaches Spoolman.
    pub fn set_connected(&self, connected: bool) {
        self.with(|inside| (inside.connected, inside.news) = (connected, true));
    }

    /// Whether it sees what is extruded; it may lose count when the firmware is restarted.
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

    fn with<T>(&self, act: impl FnOnce(&mut Inside) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Millimetres that were extruded in all prints so far.
fn extruded(machine: &Machine) -> f64 {
    let job = machine.job();
    let of = |record: &crate::printer::Record| match job.filter(|job| job.number == record.number) {
        Some(job) => job.filament_mm(),
        None => record.filament_mm,
    };
    machine.history().iter().map(of).sum()
}

impl Host {
    fn component(&self) -> Result<SpoolmanComponent, ApiError> {
        self.printer.extension::<SpoolmanComponent>().ok_or_else(|| ApiError::new(404, "Not Found"))
    }

    /// The active spool and whether Spoolman is reached; `None` without the component.
    pub(super) fn spoolman_shown(&self) -> Option<(Option<i64>, bool)> {
        Some(self.component().ok()?.with(|inside| (inside.active, inside.connected)))
    }

    /// `server.spoolman.status`.
    pub(super) fn spoolman_status(&self) -> Result<Value, ApiError> {
        Ok(self.component()?.status())
    }

    /// A print of the history with the spools that it was booked on, in the list of what components know of it.
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

    /// `server.spoolman.post_spool_id`.
    pub(super) fn choose_spool(&self, params: &Params) -> Result<Value, ApiError> {
        let component = self.component()?;
        component.set_active(params.get("spool_id").and_then(Value::as_i64));
        Ok(json!({"spool_id": component.status()["spool_id"]}))
    }
}
