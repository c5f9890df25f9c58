//! What the writer counts of its transactions.

use crate::observe::meters::{Counter, Histogram};
use crate::store::{Settlement, Submission};
use std::time::Duration;

/// Transactions and what is in them.
#[derive(Debug)]
pub struct CommitMeter {
    /// From the first statement to the last answer.
    pub took: Histogram,
    /// Directory in a transaction.
    pub things: Histogram,
    /// Commands in a transaction.
    pub commands: Histogram,
    /// Rows in a transaction, snapshots and events included.
    pub rows: Histogram,
    /// Submissions by what became of them: in the order of [`RESULTS`].
    settled: [Counter; 5],
}

/// What becomes of a submission.
pub const RESULTS: [&str; 5] = ["durable", "not_durable", "clash", "superseded", "lost"];

impl Default for CommitMeter {
    fn default() -> Self {
        Self {
            took: Histogram::of_seconds(),
            things: Histogram::of_numbers(),
            commands: Histogram::of_numbers(),
            rows: Histogram::of_numbers(),
            settled: Default::default(),
        }
    }
}

/// How much is in a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    things: u64,
    commands: u64,
    rows: u64,
}

impl Size {
    /// Of these.
    pub fn of(submissions: &[Submission]) -> Self {
        let groups = || submissions.iter().flat_map(|submission| &submission.groups);
        let of_group = |group: &super::Group| {
            let single = usize::from(group.audit.is_some()) + usize::from(group.kept.is_some());
            (group.rows.len() + group.events.len() + single) as u64
        };
        let snapshots = submissions.iter().filter(|submission| submission.snapshot.is_some()).count() as u64;
        Self {
            things: submissions.len() as u64,
            commands: groups().count() as u64,
            rows: snapshots + groups().map(of_group).sum::<u64>(),
        }
    }
}

impl CommitMeter {
    /// A transaction ended.
    pub fn wrote(&self, size: Size, took: Duration, settled: &[Settlement]) {
        self.took.took(took);
        self.things.count(size.things);
        self.commands.count(size.commands);
        self.rows.count(size.rows);
        for settlement in settled {
            let at = match settlement {
                Settlement::Durable => 0,
                Settlement::NotDurable(_) => 1,
                Settlement::Clash { .. } => 2,
                Settlement::Superseded => 3,
                Settlement::Lost => 4,
            };
            self.settled[at].one();
        }
    }

    /// Submissions by what became of them.
    pub fn by_result(&self) -> impl Iterator<Item = (&'static str, u64)> {
        RESULTS.into_iter().zip(self.settled.iter().map(Counter::get))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::access::AccessRow;
    use crate::domain::id::Id;
    use crate::store::{Group, Key, Unavailable};

    #[test]
    fn a_transaction_is_counted_by_its_size_and_what_became_of_it() {
        let gone = || Group { rows: vec![Box::new(AccessRow::SessionGone(Id::ONLY))], ..Group::default() };
        let of = |groups| Submission { key: Key("access", Id::ONLY), generation: 1, snapshot: None, groups };
        let size = Size::of(&[of(vec![gone(), gone()]), of(vec![Group::default()])]);
        assert_eq!(size, Size { things: 2, commands: 3, rows: 2 });
        let meter = CommitMeter::default();
        meter.wrote(size, Duration::ZERO, &[Settlement::Durable, Settlement::NotDurable(Unavailable::Database)]);
        assert_eq!(
            meter.by_result().filter(|(_, many)| *many > 0).collect::<Vec<_>>(),
            [("durable", 1), ("not_durable", 1)]
        );
        assert_eq!(meter.commands.counted().sum as u64, 3);
    }
}
