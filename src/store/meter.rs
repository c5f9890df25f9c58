//! Measures the size, duration and outcome of the writer's transactions.

use std::time::Duration;

use crate::{Settlement, Submission};
use platform::observe::meters::{Counter, Histogram};

/// Histograms of transactions and counters of settlements.
#[derive(Debug)]
pub struct CommitMeter {
    /// Time from the first statement to the response to the commit.
    pub took: Histogram,
    /// Number of aggregates per transaction.
    pub aggregates: Histogram,
    /// Number of commands per transaction.
    pub commands: Histogram,
    /// Number of rows per transaction, including snapshots and events.
    pub rows: Histogram,
    /// Number of submissions by outcome, in the order of [`RESULTS`].
    settled: [Counter; 5],
}

/// Outcome names in the metrics.
const RESULTS: [&str; 5] = ["durable", "not_durable", "clash", "superseded", "lost"];

impl Default for CommitMeter {
    fn default() -> Self {
        Self {
            took: Histogram::of_seconds(),
            aggregates: Histogram::of_numbers(),
            commands: Histogram::of_numbers(),
            rows: Histogram::of_numbers(),
            settled: Default::default(),
        }
    }
}

/// Size of a transaction: its aggregates, commands and rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransactionSize {
    aggregates: u64,
    commands: u64,
    rows: u64,
}

impl TransactionSize {
    /// Counts the aggregates, commands and rows that the given submissions write.
    pub fn of(submissions: &[Submission]) -> Self {
        let commands = || submissions.iter().flat_map(|submission| &submission.commands);
        let rows_of = |writes: &super::CommandWrites| {
            let single = usize::from(writes.audit.is_some()) + usize::from(writes.idempotent_answer.is_some());
            (writes.rows.len() + writes.events.len() + single) as u64
        };
        let snapshots = submissions.iter().filter(|submission| submission.snapshot.is_some()).count() as u64;
        Self {
            aggregates: submissions.len() as u64,
            commands: commands().count() as u64,
            rows: snapshots + commands().map(rows_of).sum::<u64>(),
        }
    }
}

impl CommitMeter {
    /// Records a finished transaction, regardless of the outcome.
    pub fn wrote(&self, size: TransactionSize, took: Duration, settled: &[Settlement]) {
        self.took.took(took);
        self.aggregates.count(size.aggregates);
        self.commands.count(size.commands);
        self.rows.count(size.rows);
        for settlement in settled {
            let at = match settlement {
                Settlement::Durable => 0,
                Settlement::NotDurable(_) => 1,
                Settlement::Clash { .. } | Settlement::Unmet { .. } | Settlement::BadValue { .. } => 2,
                Settlement::Superseded => 3,
                Settlement::Lost => 4,
            };
            self.settled[at].one();
        }
    }

    /// Returns the number of submissions by outcome.
    pub fn by_result(&self) -> impl Iterator<Item = (&'static str, u64)> {
        RESULTS.into_iter().zip(self.settled.iter().map(Counter::get))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AggregateKey, CommandWrites, Unavailable};
    use domain::access::AccessRow;
    use domain::id::Id;

    #[test]
    fn a_transaction_is_counted_by_its_size_and_what_became_of_it() {
        let gone =
            || CommandWrites { rows: vec![Box::new(AccessRow::SessionGone(Id::ONLY))], ..CommandWrites::default() };
        let of = |groups| Submission {
            key: AggregateKey("access", Id::ONLY),
            generation: 1,
            snapshot: None,
            commands: groups,
        };
        let size = TransactionSize::of(&[of(vec![gone(), gone()]), of(vec![CommandWrites::default()])]);
        assert_eq!(size, TransactionSize { aggregates: 2, commands: 3, rows: 2 });
        let meter = CommitMeter::default();
        meter.wrote(size, Duration::ZERO, &[Settlement::Durable, Settlement::NotDurable(Unavailable::Database)]);
        assert_eq!(
            meter.by_result().filter(|(_, many)| *many > 0).collect::<Vec<_>>(),
            [("durable", 1), ("not_durable", 1)]
        );
        assert_eq!(meter.commands.counted().sum as u64, 3);
    }
}
