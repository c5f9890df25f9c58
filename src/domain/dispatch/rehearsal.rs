//! Plays the queue ahead: which job would get which printer when, if nothing came in between.
//!
//! It is a [`Board`] of its own, so what it plays follows the dispatcher's rule by construction. Nobody is asked: a
//! proposal counts as taken, and the caller says when a printer is free again. Prints use up the spools of which it is
//! known what is left; nobody swaps one.

use super::{Board, BoardPrinter, BoardRules, Proposal};
use crate::domain::id::Id;
use crate::domain::job::Job;
use crate::domain::printer::Printer;
use crate::domain::time::Timestamp;

/// A board to play ahead on.
#[derive(Debug)]
pub struct Rehearsal {
    board: Board,
}

impl Rehearsal {
    /// The jobs with their orders, taken as ready to print, and the printers, none of which is free yet.
    pub fn new<'a>(
        rules: BoardRules,
        jobs: impl IntoIterator<Item = (Id, &'a Job)>,
        printers: impl IntoIterator<Item = &'a Printer>,
    ) -> Self {
        let mut board = Board::new(rules);
        for printer in printers {
            let mut known = BoardPrinter::of(printer, &board.rules.types);
            known.free = false;
            if let Some(in_hand) = printer.in_hand.as_ref().filter(|in_hand| !in_hand.over()) {
                known.use_up(&in_hand.used_slots);
            }
            board.printers.insert(printer.id, known);
        }
        for (order, job) in jobs {
            board.put(order, job);
        }
        Self { board }
    }

    /// Number of jobs that have no printer yet.
    pub fn waiting(&self) -> usize {
        self.board.waiting()
    }

    /// The printer can take a job from this moment on.
    pub fn free(&mut self, printer: Id, at: Timestamp) {
        if let Some(known) = self.board.printers.get_mut(&printer) {
            (known.free, known.idle_since) = (true, at);
        }
    }

    /// The jobs that get a printer at this moment. Each of these printers is busy until [`Rehearsal::free`] is called
    /// for it.
    pub fn starts(&mut self, now: Timestamp) -> Vec<Proposal> {
        let made = self.board.proposals(now);
        for proposal in &made {
            let class = self.board.jobs.get(&proposal.job).map(|job| job.class.clone());
            self.board.take_out(&proposal.job);
            self.board.settled(proposal, true);
            if let Some(known) = self.board.printers.get_mut(&proposal.printer) {
                // It is assumed to take the start, which ends its rests after refused ones.
                (known.free, known.refusals) = (false, None);
                // Nobody puts in another spool by itself: what the print takes is missing for the next.
                if let Some(class) = class {
                    let used = known.fit(&class).slots;
                    known.use_up(&used);
                }
            }
        }
        made
    }

    /// When [`Rehearsal::starts`] may find more although no printer became free; `None` if time alone changes nothing.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.board.next_at(now)
    }
}
