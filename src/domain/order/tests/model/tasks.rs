//! Tasks that execute effects, the dispatcher, and the monitor of each printer.

use super::super::*;
use super::{Effects, MATERIALS, Then};
use crate::dispatch::{DispatchIndex, DispatchRules, RefusedJob};
use crate::material::{ClaimNews, ClaimStock, MaterialEffect};
use crate::printer::{
    AttemptCommand, AttemptPhase, Evidence, Printer, PrinterEffect, PrinterNews, PrinterUpload, SignedPrint,
    StartFailure, TakeAttempt, report_of,
};
use crate::printer_status::{Connection, PastPrint, ServerRun};

impl Effects {
    /// Sends the message of an order's effect.
    pub(super) fn order_effect(&mut self, effect: OrderEffect) {
        let job_of = |world: &Self, attempt: Id| {
            world.o().jobs.values().find(|job| job.attempts.iter().any(|one| one.id == attempt)).unwrap().clone()
        };
        match effect {
            OrderEffect::Prepare { sku } => {
                let make = Box::new(self.o().lines[0].make.clone().unwrap());
                self.tell_order(OrderNews::Prepared { sku, make }, Then::Nothing);
            }
            OrderEffect::Slice { sku, source } => {
                self.sliced += 1;
                let mut make = Box::new(self.o().lines[0].make.clone().unwrap());
                let news = match self.sliced % 4 {
                    1 => JobSlicingOutcome::Waits("no slicer".into()),
                    2 => JobSlicingOutcome::Failed("not manifold".into()),
                    // Sometimes more and sometimes less than was reserved.
                    luck => {
                        make.file_id = Some(id(11));
                        make.need = Amount::units(if luck == 3 { 70 } else { 130 });
                        JobSlicingOutcome::Done(make)
                    }
                };
                self.tell_order(OrderNews::Slicing { sku, source, news }, Then::Nothing);
            }
            OrderEffect::Claim { material, asks } => {
                let of = Self::material_number(material);
                self.tell_material(of, ClaimStock { order: id(ORDER_ID), asks }, Then::Stock);
            }
            OrderEffect::Settle { material, claims } => {
                let of = Self::material_number(material);
                let ids = claims.iter().map(|one| one.id).collect();
                self.tell_material(of, ClaimNews::Settle { claims }, Then::Settled(ids));
            }
            OrderEffect::Give { job, attempt, printer } => {
                let job = self.o().jobs.get(&job).unwrap().clone();
                let claimed_at = job.live().unwrap().created_at;
                let take = TakeAttempt {
                    attempt,
                    claimed_at,
                    job: job.id,
                    order: id(ORDER_ID),
                    file_id: job.file_id.unwrap(),
                    file_name: job.file_name(attempt),
                    needs: Box::new(job.launch_needs()),
                    types: Default::default(),
                    stated_mm: job.file_filament_mm,
                    estimated_seconds: job.estimated_seconds,
                };
                self.tell_printer(Self::number(printer), take, Then::Attempt(job.id, attempt));
            }
            OrderEffect::CancelAt { attempt, printer } => {
                let then = Then::Attempt(job_of(self, attempt).id, attempt);
                self.tell_printer(Self::number(printer), AttemptCommand::Cancel(attempt), then);
            }
            OrderEffect::TellInvoice { invoice, money } => {
                self.tell_order(OrderNews::InvoiceTold { invoice, money, void: false }, Then::Nothing);
            }
            OrderEffect::IssueInvoice => self.tell_order(OrderNews::IssueInvoice, Then::Nothing),
            OrderEffect::KeepDepartures => self.tell_order(OrderNews::KeepDepartures, Then::Nothing),
            // The model pays by hand, and has no payment processor; nothing in it was sold elsewhere.
            OrderEffect::Ledger(_) | OrderEffect::TellShop { .. } => {}
            OrderEffect::TellResolution { attempt, printer, outcome } => {
                let then = Then::Attempt(job_of(self, attempt).id, attempt);
                self.tell_printer(Self::number(printer), AttemptCommand::Resolve { attempt, outcome }, then);
            }
        }
    }

    /// Executes the next step of a printer's task; `luck` selects the fault.
    pub(super) fn printer_effect(&mut self, n: usize, effect: &PrinterEffect, luck: u8) {
        if let PrinterEffect::TellSignOff { attempt } = effect {
            return self.tell_sign_off(n, *attempt);
        }
        if let PrinterEffect::Photograph { attempt } = effect {
            return self.photograph(n, *attempt);
        }
        let Some(in_hand) = self.p(n).in_hand.clone() else { return };
        let (name, attempt) = (in_hand.file_name.clone(), in_hand.attempt);
        let machine = &mut self.machines[n];
        let away = machine.away;
        match effect {
            PrinterEffect::Watch { .. }
            | PrinterEffect::Manual { .. }
            | PrinterEffect::TellSignOff { .. }
            | PrinterEffect::Photograph { .. } => {}
            PrinterEffect::Run { .. } if matches!(in_hand.phase, AttemptPhase::Taken) => {
                if away && luck.is_multiple_of(4) {
                    let why = StartFailure::Unreachable;
                    let failed = PrinterNews::UploadFailed { attempt, why, reason: "away".into() };
                    self.tell_printer(n, failed, Then::Nothing);
                } else if !away {
                    machine.files.insert(name.clone());
                    let server_mark = Some(machine.restarts.to_string());
                    let uploaded = PrinterUpload::Attempt { attempt, remote_name: name, server_mark };
                    self.tell_printer(n, uploaded, Then::Start(attempt));
                }
            }
            PrinterEffect::Run { .. } if self.go[n] == Some(attempt) => {
                self.go[n] = None;
                if !away && machine.on.is_some() {
                    self.tell_printer(n, PrinterNews::StartRefused { attempt, reason: "busy".into() }, Then::Nothing);
                } else if !luck.is_multiple_of(5) {
                    machine.wire.push(name);
                }
            }
            PrinterEffect::Run { .. } => {
                let evidence = if away || luck.is_multiple_of(6) {
                    Evidence::Unclear("no answer".into())
                } else if machine.on.as_ref().is_some_and(|on| on.0 == name) {
                    Evidence::Shows(machine.status(&self.bench))
                } else if let Some(ended) = machine.memory.get(&name) {
                    let (ended, cut_off) = (*ended, ended.is_none());
                    Evidence::Remembers(PastPrint {
                        file: name,
                        ended,
                        cut_off,
                        filament_mm: None,
                        started_at: None,
                        ended_at: None,
                        booked_on: Vec::new(),
                    })
                } else if in_hand.began_at.is_some() {
                    Evidence::Forgets { server: ServerRun::Unknown, stopped: luck.is_multiple_of(2), unseen_ms: None }
                } else {
                    machine.files.remove(&name);
                    let unbroken = in_hand.server_mark == Some(machine.restarts.to_string());
                    let server = if unbroken { ServerRun::Unbroken } else { ServerRun::Restarted };
                    Evidence::Revoked { server, unwatched_ms: None }
                };
                self.tell_printer(n, PrinterNews::Judged { attempt, evidence: Box::new(evidence) }, Then::Nothing);
            }
            PrinterEffect::CancelPrint { .. } => {
                if !away && Printer::shows_attempt(&in_hand, &machine.status(&self.bench)) {
                    machine.cancel();
                }
            }
            PrinterEffect::Report { step, .. } => {
                self.attempt(in_hand.job, attempt, report_of(&in_hand), Then::PrinterHeard(n, attempt, *step));
            }
        }
    }

    fn tell_sign_off(&mut self, n: usize, attempt: Id) {
        let waits = self.p(n).signed_prints.iter().find(|signed| signed.print.attempt == attempt).cloned();
        let SignedPrint { print, inspection, by, at } = waits.unwrap();
        let existing = self.o().jobs.get(&print.job).unwrap().attempts.iter().find(|one| one.id == attempt).unwrap();
        assert!(existing.state.over(), "an order hears of the end of a print before it hears of its parts");
        let command = OrderNews::SignedAtPrinter { job: print.job, attempt, inspection, by, at };
        self.tell_order(command, Then::PrinterSigned(n, attempt));
    }

    fn photograph(&mut self, n: usize, attempt: Id) {
        let due = self.p(n).photo_due.clone().unwrap();
        let command = OrderNews::Photographed { job: due.job, attempt, file: Some(attempt) };
        self.tell_order(command, Then::Nothing);
        self.tell_printer(n, PrinterNews::PhotoOver(attempt), Then::Nothing);
    }

    pub(super) fn material_wants(&mut self) {
        for of in 0..2 {
            self.material_tells(of);
        }
    }

    fn material_number(material: Id) -> usize {
        usize::from(material != id(MATERIALS[0]))
    }

    fn material_tells(&mut self, of: usize) {
        for effect in self.materials[of].as_ref().unwrap().effects() {
            match effect {
                MaterialEffect::TellHeld { claims, .. } => {
                    let stand = claims.iter().map(|claim| (*claim, ClaimState::Held, None)).collect();
                    self.tell_order(OrderNews::Stock(id(MATERIALS[of]), stand), Then::MaterialHeard(of, claims));
                }
                MaterialEffect::AskBack { claims, .. } => {
                    self.tell_order(RecallClaims(claims, "counted".into()), Then::Recalled(of));
                }
            }
        }
    }

    pub(super) fn dispatch(&mut self) {
        let rules = DispatchRules { max_starts_per_minute: None, refusals_until_failed: 3, types: Default::default() };
        let mut board = DispatchIndex::new(rules);
        board.order_changed(self.o());
        for printer in self.printers.iter().flatten() {
            board.printer_changed(printer);
        }
        for RefusedJob { job, printers, .. } in board.refused_jobs() {
            self.tell_order(JobCommand::FailRefused { job, printers }, Then::Nothing);
        }
        for proposal in board.proposals(self.bench.now) {
            let dispatch = JobCommand::Dispatch { job: proposal.job, printer: proposal.printer };
            self.tell_order(dispatch, Then::Nothing);
        }
    }

    pub(super) fn monitor(&mut self, n: usize) {
        let status = self.machines[n].status(&self.bench);
        let command = if self.machines[n].away {
            PrinterNews::Silent(Connection::Unreachable, "no answer".into(), None)
        } else {
            PrinterNews::Seen(Box::new(status.clone()))
        };
        if self.machines[n].away || self.p(n).matters(&status, self.bench.now) {
            self.tell_printer(n, command, Then::Nothing);
        }
    }
}
