//! Simulation of the queue: which job would be assigned to which printer and when, if nothing intervened.
//!
//! The simulation has its own [`DispatchIndex`] and therefore follows exactly the dispatcher's rules. No aggregate is
//! involved: each proposal is treated as accepted, and the caller reports when a printer becomes free again. Prints use
//! up spools whose remaining amount is known; spools are never swapped.

use super::{DispatchIndex, DispatchRules, IndexedPrinter, Proposal};
use crate::id::Id;
use crate::job::Job;
use crate::printer::Printer;
use crate::time::Timestamp;

/// Dispatch index for a simulation of the queue.
#[derive(Debug)]
pub struct QueueSimulation {
    board: DispatchIndex,
}

impl QueueSimulation {
    /// Creates a simulation with the given jobs and printers. Each job comes with its order and is treated as ready to
    /// print; none of the printers is free yet.
    pub fn new<'a>(
        rules: DispatchRules,
        jobs: impl IntoIterator<Item = (Id, &'a Job)>,
        printers: impl IntoIterator<Item = &'a Printer>,
    ) -> Self {
        let mut board = DispatchIndex::new(rules);
        for printer in printers {
            let mut board_printer = IndexedPrinter::of(printer, &board.rules.types);
            board_printer.free = false;
            if let Some(in_hand) = printer.in_hand.as_ref().filter(|in_hand| !in_hand.over()) {
                board_printer.use_up(&in_hand.used_slots);
            }
            board.printers.insert(printer.id, board_printer);
        }
        for (order, job) in jobs {
            board.enqueue(order, job);
        }
        Self { board }
    }

    /// Returns the number of jobs that have not been assigned to a printer yet.
    pub fn waiting(&self) -> usize {
        self.board.waiting()
    }

    /// Returns the number of different needs among the jobs that have not been assigned to a printer yet. Each step of
    /// the simulation looks at all of them.
    pub fn different_needs(&self) -> usize {
        self.board.classes.len()
    }

    /// Returns the first `limit` of the jobs that have not been assigned to a printer, the most urgent first, each with
    /// its order.
    pub fn first_waiting(&self, limit: usize) -> Vec<(Id, Id)> {
        if limit == 0 {
            return Vec::new();
        }
        let mut jobs: Vec<_> = self.board.jobs.values().map(|job| (job.rank, job.order)).collect();
        jobs.sort_unstable();
        jobs.into_iter().take(limit).map(|((.., job), order)| (order, job)).collect()
    }

    /// Marks the printer as free from the given time on.
    pub fn free(&mut self, printer: Id, at: Timestamp) {
        if let Some(board_printer) = self.board.printers.get_mut(&printer) {
            (board_printer.free, board_printer.idle_since) = (true, at);
        }
    }

    /// Returns the jobs assigned to printers at the given time. Each of these printers is busy until
    /// [`QueueSimulation::free`] is called for it.
    pub fn starts(&mut self, now: Timestamp) -> Vec<Proposal> {
        let proposals = self.board.proposals(now);
        for proposal in &proposals {
            let class = self.board.jobs.get(&proposal.job).map(|job| job.class.clone());
            self.board.take_out(&proposal.job);
            self.board.settled(proposal, true);
            if let Some(board_printer) = self.board.printers.get_mut(&proposal.printer) {
                // It is assumed to take the start, which ends its rests after refused ones.
                (board_printer.free, board_printer.refusals) = (false, None);
                // Nobody puts in another spool by itself: what the print takes is missing for the next.
                if let Some(class) = class {
                    let used = board_printer.fit(&class).slots;
                    board_printer.use_up(&used);
                }
            }
        }
        proposals
    }

    /// Returns the time at which [`QueueSimulation::starts`] may find more jobs although no printer became free.
    /// Returns `None` if time alone changes nothing.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.board.next_at(now)
    }
}
