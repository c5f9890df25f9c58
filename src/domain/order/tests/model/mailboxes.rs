//! Messages in flight: an aggregate processes one message, and its answer reaches the sender unless lost.

use std::collections::VecDeque;

use super::super::*;
use super::{Effects, MATERIALS, Then};
use crate::material::{ClaimNews, MaterialRow};
use crate::printer::{AttemptAnswer, PrinterCommand, PrinterNews, TakeAnswer, UploadAnswer};
use crate::testing::commands::{
    AnyMaterialAnswer, AnyMaterialCommand, AnyOrderAnswer, AnyOrderCommand, AnyPrinterAnswer, AnyPrinterCommand,
};

impl Effects {
    /// Sends a report on an attempt to the attempt's order.
    pub(super) fn attempt(&mut self, job: Id, attempt: Id, report: Report, then: Then) {
        self.tell_order(OrderNews::Attempt { job, attempt, report }, then);
    }

    /// Puts a command into the order's mailbox.
    pub(super) fn tell_order(&mut self, command: impl Into<AnyOrderCommand>, then: Then) {
        self.to_order.push_back((command.into(), then));
    }
    /// Puts a command into a material's mailbox.
    pub(super) fn tell_material(&mut self, of: usize, command: impl Into<AnyMaterialCommand>, then: Then) {
        self.to_material.push_back((of, command.into(), then));
    }
    /// Puts a command into a printer's mailbox.
    pub(super) fn tell_printer(&mut self, n: usize, command: impl Into<AnyPrinterCommand>, then: Then) {
        self.to_printer[n].push_back((command.into(), then));
    }

    /// Lets an aggregate process the first message in its mailbox; the answer reaches the sender unless `lost`.
    pub(super) fn deliver(&mut self, which: usize, lost: bool) {
        match which % 4 {
            0 => self.deliver_to_order(lost),
            1 => self.deliver_to_material(lost),
            n => self.deliver_to_printer(n - 2, lost),
        }
    }

    fn deliver_to_order(&mut self, lost: bool) {
        let Some((command, then)) = self.to_order.pop_front() else { return };
        let before = self.o().clone();
        let signed = match &command {
            AnyOrderCommand::Job(JobCommand::SignOff { job, inspection }) => {
                before.jobs.get(job).and_then(|job| Some((job.last_print()?.id, inspection.good_count?)))
            }
            _ => None,
        };
        let answer = self.bench.tell(&mut self.order, id(ORDER_ID), &command).map(|decision| decision.answer);
        makes_no_more_than_missing(&self.bench, &before, self.o());
        keeps_what_prints_are_summed_by(&before, self.o());
        if let Some((attempt, good)) = signed.filter(|_| answer.is_ok()) {
            self.word(attempt, good);
        }
        match (answer, then) {
            _ if lost => {}
            (Ok(AnyOrderAnswer::News(OrderNewsAnswer { is_wanted })), Then::PrinterHeard(n, attempt, step)) => {
                self.tell_printer(n, PrinterNews::Heard { attempt, step, is_wanted }, Then::Nothing);
            }
            (Ok(_), Then::PrinterSigned(n, attempt)) => {
                self.tell_printer(n, PrinterNews::SignedOff(attempt), Then::Nothing);
            }
            (Ok(_), Then::MaterialHeard(of, claims)) => {
                self.tell_material(of, ClaimNews::Heard { claims }, Then::Nothing);
            }
            (Ok(AnyOrderAnswer::Recall(claims)), Then::Recalled(of)) if !claims.is_empty() => {
                self.tell_material(of, ClaimNews::Kept { claims }, Then::Nothing);
            }
            _ => {}
        }
    }

    fn deliver_to_material(&mut self, lost: bool) {
        let Some((of, command, then)) = self.to_material.pop_front() else { return };
        let material = id(MATERIALS[of]);
        let decision = self.bench.tell(&mut self.materials[of], material, &command).unwrap();
        for row in &decision.rows {
            if let MaterialRow::Movement(movement) = row {
                self.moved[of] += movement.delta_quantity;
            }
        }
        match (decision.answer, then) {
            _ if lost => {}
            (AnyMaterialAnswer::Claim(claims), Then::Stock) => {
                self.tell_order(OrderNews::Stock(material, claims), Then::Nothing);
            }
            (_, Then::Settled(claims)) => self.tell_order(OrderNews::Settled(claims), Then::Nothing),
            _ => {}
        }
    }

    fn deliver_to_printer(&mut self, n: usize, lost: bool) {
        let Some((command, then)) = self.to_printer[n].pop_front() else { return };
        let printer = id(PRINTER_ID + n as u32);
        let signed = match &command {
            AnyPrinterCommand::Printer(PrinterCommand::BedCleared(inspection)) => {
                self.p(n).last_print.and_then(|last| Some((last.attempt, inspection.good_count?)))
            }
            _ => None,
        };
        let Ok(decision) = self.bench.tell(&mut self.printers[n], printer, &command) else {
            let clears = matches!(command, AnyPrinterCommand::Printer(PrinterCommand::BedCleared(_)));
            assert!(clears, "{command:?} was refused");
            return;
        };
        if let Some((attempt, good)) = signed {
            self.word(attempt, good);
        }
        if let (AnyPrinterAnswer::Upload(UploadAnswer::Go), Then::Start(attempt)) = (&decision.answer, &then) {
            let gone = self.gone.entry(*attempt).or_default();
            *gone += 1;
            assert_eq!(*gone, 1, "an attempt gets one go");
        }
        match (decision.answer, then) {
            _ if lost => {}
            (AnyPrinterAnswer::Upload(UploadAnswer::Go), Then::Start(attempt)) => self.go[n] = Some(attempt),
            (AnyPrinterAnswer::Take(TakeAnswer::NotTaken(reason)), Then::Attempt(job, attempt)) => {
                let report = Report::NotStarted { start_sent: false, counts: false, pardons: None, reason };
                self.attempt(job, attempt, report, Then::Nothing);
            }
            (AnyPrinterAnswer::Take(TakeAnswer::Stopped(reason)), Then::Attempt(job, attempt)) => {
                self.attempt(job, attempt, Report::Stopped { reason }, Then::Nothing);
            }
            (AnyPrinterAnswer::Attempt(AttemptAnswer::NotInHand), Then::Attempt(job, attempt)) => {
                self.attempt(job, attempt, Report::CancelledBeforeStart, Then::Nothing);
            }
            _ => {}
        }
    }

    /// Crashes the process: messages in flight are lost, commits are not.
    pub(super) fn crash(&mut self) {
        self.to_order.clear();
        self.to_material.clear();
        self.to_printer.iter_mut().for_each(VecDeque::clear);
        self.go = vec![None, None];
    }
}
