//! What people do besides the printers.

use super::super::*;
use super::{Effects, MATERIALS, Then};
use crate::domain::job::Job;
use crate::domain::material::MaterialCommand;
use crate::domain::printer::PrinterCommand;
use crate::domain::printer_status::PrintEnd;

impl Effects {
    /// Somebody counts the stock of a material.
    pub(super) fn count(&mut self, of: usize, units: i64) {
        let before = self.materials[of].as_ref().unwrap().quantity;
        let count = MaterialCommand::Update { if_version: None, fields: None, quantity: Some(Amount::units(units)) };
        self.bench.tell(&mut self.materials[of], id(MATERIALS[of]), &count).unwrap();
        self.moved[of] += Amount::units(units) - before;
    }

    /// An operator who looks at the machines: clears beds, and resolves unverified starts truthfully.
    pub(super) fn operator(&mut self) {
        for n in 0..2 {
            if self.p(n).bed_not_cleared && self.machines[n].on.is_none() {
                self.to_printer[n].push_back((PrinterCommand::BedCleared, Then::Nothing));
            }
        }
        let jobs: Vec<std::sync::Arc<Job>> = self.o().jobs.values().cloned().collect();
        for job in jobs {
            let Some(attempt) = job.live().filter(|one| one.unverified) else { continue };
            let (name, machine) = (job.file_name(attempt.id), &self.machines[Self::number(attempt.printer_id)]);
            let unsure = machine.on.as_ref().is_some_and(|on| on.0 == name)
                || machine.wire.contains(&name)
                || self.go.contains(&Some(attempt.id));
            let outcome = match machine.past.get(&name) {
                _ if unsure => continue,
                Some(PrintEnd::Finished) => Resolution::Finished,
                Some(_) => Resolution::Failed,
                None => Resolution::NotStarted,
            };
            let seen = self.p(Self::number(attempt.printer_id)).seen_print(attempt.id);
            self.to_order.push_back((OrderCommand::Resolve { job: job.id, outcome, seen }, Then::Nothing));
        }
    }
}
