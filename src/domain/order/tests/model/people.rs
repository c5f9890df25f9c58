//! Actions of operators and inspectors.

use super::super::*;
use super::{Effects, MATERIALS, Then};
use crate::job::{Block, Job};
use crate::material::MaterialCommand;
use crate::printer::PrinterCommand;
use crate::printer_status::PrintEnd;
use crate::sign_off::Inspection;

impl Effects {
    /// Records a stock-take of a material.
    pub(super) fn count(&mut self, of: usize, units: i64) {
        let before = self.materials[of].as_ref().unwrap().quantity;
        let count = MaterialCommand::Update { if_version: None, fields: None, quantity: Some(Amount::units(units)) };
        self.bench.tell(&mut self.materials[of], id(MATERIALS[of]), &count).unwrap();
        self.moved[of] += Amount::units(units) - before;
    }

    /// Inspects parts: at a printer whose print is over, or those of any job, possibly repeatedly.
    pub(super) fn inspector(&mut self, luck: u8) {
        let inspection = Inspection { good_count: Some(u32::from(luck / 2 % 3)), ..Inspection::default() };
        let n = usize::from(luck % 2);
        if luck.is_multiple_of(5) {
            let jobs: Vec<Id> = self.o().jobs.keys().copied().collect();
            let job = jobs[usize::from(luck) % jobs.len()];
            self.tell_order(JobCommand::SignOff { job, inspection }, Then::Nothing);
        } else if self.machines[n].on.is_none() {
            self.tell_printer(n, PrinterCommand::BedCleared(inspection), Then::Nothing);
        }
    }

    /// Plays an operator at the machines: clears beds, and resolves unverified starts truthfully.
    pub(super) fn operator(&mut self) {
        for n in 0..2 {
            if self.p(n).bed_not_cleared && self.machines[n].on.is_none() {
                self.tell_printer(n, PrinterCommand::BedCleared(Default::default()), Then::Nothing);
            }
        }
        let jobs: Vec<std::sync::Arc<Job>> = self.o().jobs.values().cloned().collect();
        for job in jobs {
            if job.blocked_by == Some(Block::Slicing) {
                let stock = CurrentStock { available: Amount::ZERO, unit: "g", name: "PLA".into() };
                self.tell_order(JobCommand::Release { job: job.id, stock }, Then::Nothing);
            }
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
            let print = self.p(Self::number(attempt.printer_id)).seen_print(attempt.id);
            self.tell_order(JobCommand::Resolve { job: job.id, outcome, print }, Then::Nothing);
        }
    }
}
