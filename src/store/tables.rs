//! Data of the in-memory store, in ordered persistent maps, so that a transaction is a cheap copy that can be adopted
//! or discarded.

mod requirements;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};
use sea_orm::EntityTrait;

use crate::rows::{
    Audit, Doc, ENDED_EXPORTS, ENDED_MAILS, IdempotentAnswer, LINK_RETENTION_MS, ModelOf, NumberedPart, Part, RowSink,
    Snapshot, SnapshotFacts, SnapshotModel, SnapshotRow, TableRow, Unique, WriteError, audit_row, state_words,
};
use crate::{CommandWrites, Settlement, Submission};
use domain::audit::chain::ChainHead;
use domain::endpoint::{Delivery, DeliveryState};
use domain::event::{Event, NumberedEvent};
use domain::id::Id;
use domain::restore::numbers::NumberGap;
use domain::time::Timestamp;
use entities::{exports, mails, sign_in_links};

/// Table and key of a row.
type RowKey = (&'static str, String);

/// All committed data. A clone is cheap and immutable.
#[derive(Clone, Default)]
pub struct Tables {
    snapshots: RedBlackTreeMapSync<RowKey, SnapshotRow>,
    rows: RedBlackTreeMapSync<RowKey, MemoryRow>,
    /// Table, owner and key of each row, used as an index by owner.
    owned: RedBlackTreeSetSync<(&'static str, String, String)>,
    /// Holder of each unique value.
    claimed: RedBlackTreeMapSync<Unique, String>,
    events: RedBlackTreeMapSync<i64, Event>,
    audit: RedBlackTreeMapSync<Id, Audit>,
    audit_head: ChainHead,
    answers: RedBlackTreeMapSync<String, IdempotentAnswer>,
}

#[derive(Clone)]
struct MemoryRow {
    owner: String,
    unique: Option<Unique>,
    /// Type-erased domain value. Readers of the table know the type of its rows.
    value: Arc<dyn Any + Send + Sync>,
}

impl Tables {
    /// Applies a submission. Returns the new tables and the numbered events, or the settlement if the submission is
    /// rejected.
    pub(super) fn with(&self, submission: &Submission) -> Result<(Self, Vec<NumberedEvent>), Settlement> {
        let mut next = self.clone();
        let snapshot = submission.snapshot.as_ref().map(SnapshotRow::facts);
        if let Some(facts) = &snapshot {
            next.check_version(facts)?;
        }
        let mut events = Vec::new();
        for (at, writes) in submission.commands.iter().enumerate() {
            next.write_command(writes, &mut events).map_err(|error| refusal(error, Some(at)))?;
        }
        if let Some(row) = &submission.snapshot {
            let at = (submission.commands.len() < 2).then_some(0);
            next.write_snapshot(row).map_err(|error| refusal(error, at))?;
        }
        for (at, writes) in submission.commands.iter().enumerate() {
            if let Some(unmet) = writes.requirements.iter().find(|requirement| !next.meet(requirement)) {
                return Err(Settlement::Unmet { at, requirement: unmet.clone() });
            }
        }
        Ok((next, events))
    }

    fn check_version(&self, facts: &SnapshotFacts<'_>) -> Result<(), Settlement> {
        let stored = self.snapshots.get(&(facts.table, facts.id.to_owned()));
        match stored.map(|row| row.facts().version) {
            Some(version) if version + 1 != facts.version => Err(Settlement::Superseded),
            _ => Ok(()),
        }
    }

    pub(crate) fn write_snapshot(&mut self, row: &SnapshotRow) -> Result<(), WriteError> {
        let facts = row.facts();
        self.check_version(&facts).map_err(|_| WriteError::Guard(facts.table))?;
        let key = (facts.table, facts.id.to_owned());
        let released = self.snapshots.get(&key).and_then(|row| row.facts().unique);
        self.take(facts.unique.as_slice(), released.as_slice(), facts.id)?;
        self.snapshots.insert_mut(key, row.clone());
        Ok(())
    }

    fn write_command(&mut self, writes: &CommandWrites, events: &mut Vec<NumberedEvent>) -> Result<(), WriteError> {
        for row in &writes.rows {
            row.write(&mut RowSink::memory(self))?;
        }
        for event in &writes.events {
            let seq = self.last_seq() + 1;
            self.events.insert_mut(seq, event.clone());
            events.push(NumberedEvent { seq, event: event.clone() });
        }
        if let Some(line) = &writes.audit {
            if self.audit.contains_key(&line.id) {
                return Err(WriteError::Constraint("audit.id".to_owned()));
            }
            // Only its head counts: the rows of this store are domain values.
            drop(audit_row(line.clone(), &mut self.audit_head));
            self.audit.insert_mut(line.id, line.clone());
        }
        if let Some(answer) = &writes.idempotent_answer {
            if self.answers.contains_key(&answer.key) {
                return Err(WriteError::Constraint("idempotency.key".to_owned()));
            }
            self.answers.insert_mut(answer.key.clone(), answer.clone());
        }
        Ok(())
    }

    /// Writes a part, whose key must be new.
    pub(crate) fn insert_part<P: Part>(&mut self, part: &P, row: &ModelOf<P>) -> Result<(), WriteError> {
        let table = <ModelOf<P> as Doc>::TABLE;
        if self.rows.contains_key(&(table, row.key().to_owned())) {
            return Err(WriteError::Constraint(format!("{table}.id")));
        }
        self.replace_part(part, row)
    }

    /// Writes a part, whose key must be new, with the next number in its series.
    pub(crate) fn insert_numbered<P: NumberedPart>(&mut self, part: &P) -> Result<(), WriteError> {
        let series = part.series();
        let of_series = self.parts::<P>().filter(|one| one.series() == series);
        let gaps = self.parts::<NumberGap>().filter(|gap| gap.series == series).map(|gap| gap.last);
        let last = of_series.map(NumberedPart::number).chain(gaps).max().unwrap_or(0);
        let numbered = part.with_number(last + 1);
        let row = numbered.row()?;
        self.insert_part(&numbered, &row)
    }

    /// Writes a part, replacing the one with the same key.
    pub(crate) fn replace_part<P: Part>(&mut self, part: &P, row: &ModelOf<P>) -> Result<(), WriteError> {
        let key = (<ModelOf<P> as Doc>::TABLE, row.key().to_owned());
        let (owner, unique) = (part.owner().to_string(), P::unique(row));
        let before = self.rows.get(&key).map(|stored| (stored.unique.clone(), stored.owner.clone()));
        let (released, owned_by) = before.unzip();
        self.take(unique.as_slice(), released.flatten().as_slice(), &key.1)?;
        if let Some(owned_by) = owned_by {
            self.owned.remove_mut(&(key.0, owned_by, key.1.clone()));
        }
        self.owned.insert_mut((key.0, owner.clone(), key.1.clone()));
        self.rows.insert_mut(key, MemoryRow { owner, unique, value: Arc::new(part.clone()) });
        Ok(())
    }

    /// Deletes the part with the given key.
    pub(crate) fn delete_part<P: Part>(&mut self, key: String) {
        self.delete_row(&(<ModelOf<P> as Doc>::TABLE, key));
    }

    fn delete_row(&mut self, key: &RowKey) {
        let Some(stored) = self.rows.get(key).cloned() else { return };
        self.rows.remove_mut(key);
        self.owned.remove_mut(&(key.0, stored.owner, key.1.clone()));
        if let Some(unique) = &stored.unique {
            self.claimed.remove_mut(unique);
        }
    }

    /// Transfers the given unique values to `holder` and releases the old ones; fails if a different row holds one of
    /// them.
    fn take(&mut self, unique: &[Unique], released: &[Unique], holder: &str) -> Result<(), WriteError> {
        if let Some(other) = unique.iter().find(|value| self.claimed.get(value).is_some_and(|has| has != holder)) {
            return Err(WriteError::Constraint(other.0.to_owned()));
        }
        for value in released {
            self.claimed.remove_mut(value);
        }
        for value in unique {
            self.claimed.insert_mut(value.clone(), holder.to_owned());
        }
        Ok(())
    }

    /// Deletes the rows that a database deletes as of `now`: those created `before`, and what has its own expiry time.
    pub(super) fn delete_old_rows(&mut self, now: Timestamp, before: Timestamp) -> Result<u64, WriteError> {
        let (ended_mails, ended_exports) = (state_words(&ENDED_MAILS)?, state_words(&ENDED_EXPORTS)?);
        let links_before = now.plus_ms(-LINK_RETENTION_MS).0;
        let is_old_mail = |mail: &mails::Model| mail.next_at < before.0 && ended_mails.contains(&mail.state);
        let is_old_export =
            |export: &exports::Model| export.created_at < before.0 && ended_exports.contains(&export.state);
        let is_old_link = |link: &sign_in_links::Model| link.expires_at < links_before;
        let snapshots = self.delete_snapshots(is_old_mail)
            + self.delete_snapshots(is_old_export)
            + self.delete_snapshots(is_old_link);
        let expired = self.answers.values().filter(|answer| answer.expires_at <= now).map(|answer| answer.key.clone());
        let expired: Vec<_> = expired.collect();
        let old = |delivery: &&Delivery| delivery.created_at < before && delivery.state != DeliveryState::Pending;
        let deliveries = self.parts::<Delivery>().filter(old);
        let deliveries: Vec<RowKey> = deliveries.map(|delivery| ("deliveries", delivery.id.to_string())).collect();
        let last = self.last_seq();
        let events = self.events.iter().filter(|(seq, event)| event.timestamp < before && **seq < last);
        let events: Vec<i64> = events.map(|(seq, _)| *seq).collect();
        expired.iter().for_each(|key| {
            self.answers.remove_mut(key);
        });
        deliveries.iter().for_each(|key| self.delete_row(key));
        events.iter().for_each(|seq| {
            self.events.remove_mut(seq);
        });
        Ok((snapshots + expired.len() + deliveries.len() + events.len()) as u64)
    }

    /// Deletes the snapshot rows of a table for which a condition holds, and returns their number.
    fn delete_snapshots<M: TableRow + SnapshotModel>(&mut self, is_old: impl Fn(&M) -> bool) -> usize {
        let old = self.models_of::<M>().filter(|&row| is_old(row));
        let old: Vec<(String, Option<Unique>)> = old.map(|row| (row.key().to_owned(), row.unique())).collect();
        for (key, unique) in &old {
            self.snapshots.remove_mut(&(M::TABLE, key.clone()));
            if let Some(unique) = unique {
                self.claimed.remove_mut(unique);
            }
        }
        old.len()
    }

    /// Returns the number of rows of each table that has any, for simulations.
    pub fn row_counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for (table, _) in self.snapshots.keys().chain(self.rows.keys()) {
            *counts.entry(*table).or_default() += 1;
        }
        let (events, lines, answers) = (self.events.size(), self.audit.size(), self.answers.size());
        counts.extend([("events", events), ("audit", lines), ("idempotency", answers)]);
        counts
    }

    /// Returns the number of the last event; 0 if none.
    pub fn last_seq(&self) -> i64 {
        self.events.last().map_or(0, |(seq, _)| *seq)
    }

    /// Returns the events with numbers above `seq`, in ascending order.
    pub fn events_after(&self, seq: i64) -> impl Iterator<Item = NumberedEvent> + '_ {
        self.events.range(seq.saturating_add(1)..).map(|(seq, event)| NumberedEvent { seq: *seq, event: event.clone() })
    }

    /// Returns the audit log entries in order of ID, which is also chronological.
    pub fn audit(&self) -> impl Iterator<Item = &Audit> {
        self.audit.values()
    }

    /// Returns the number and the hash of the last audit log entry in commit order.
    pub fn audit_head(&self) -> &ChainHead {
        &self.audit_head
    }

    /// Returns the response stored for the given idempotency key.
    pub fn idempotent_answer(&self, key: &str) -> Option<&IdempotentAnswer> {
        self.answers.get(key)
    }

    /// Returns all snapshot rows in a table as database models, lowest ID first.
    pub(super) fn models_of<M: TableRow + SnapshotModel>(&self) -> impl Iterator<Item = &M> {
        self.snapshot_rows(M::TABLE).filter_map(SnapshotRow::model)
    }

    /// Returns the snapshot row of an aggregate.
    pub(crate) fn snapshot_of<T: Snapshot>(&self, id: Id) -> Option<&SnapshotRow> {
        self.snapshots.get(&(table_of::<T>(), id.to_string()))
    }

    /// Returns all snapshot rows of an aggregate kind, lowest ID first.
    pub(crate) fn snapshots_of<T: Snapshot>(&self) -> impl Iterator<Item = &SnapshotRow> {
        self.snapshot_rows(table_of::<T>())
    }

    fn snapshot_rows(&self, table: &'static str) -> impl Iterator<Item = &SnapshotRow> {
        let all = self.snapshots.range((table, String::new())..);
        all.take_while(move |(key, _)| key.0 == table).map(|(_, row)| row)
    }

    /// Returns the documents of all snapshot rows in a table as they are stored, lowest ID first.
    pub fn snapshot_docs(&self, table: &'static str) -> impl Iterator<Item = &str> {
        self.snapshot_rows(table).map(|row| row.facts().doc)
    }

    /// Returns all parts of a type, lowest key first.
    pub fn parts<P: Part>(&self) -> impl Iterator<Item = &P> {
        let table = <ModelOf<P> as Doc>::TABLE;
        let all = self.rows.range((table, String::new())..).take_while(move |(key, _)| key.0 == table);
        all.filter_map(|(_, row)| row.value.downcast_ref())
    }

    /// Returns an owner's parts, lowest key first.
    pub(crate) fn parts_under<P: Part>(&self, owner: Id) -> impl Iterator<Item = &P> {
        let table = <ModelOf<P> as Doc>::TABLE;
        let owner = owner.to_string();
        let keys = self.owned.range((table, owner.clone(), String::new())..);
        let keys = keys.take_while(move |key| key.0 == table && key.1 == owner);
        keys.filter_map(|key| self.rows.get(&(key.0, key.2.clone()))?.value.downcast_ref())
    }
}

fn table_of<T: Snapshot>() -> &'static str {
    <<T::Entity as EntityTrait>::Model as Doc>::TABLE
}

fn refusal(error: WriteError, at: Option<usize>) -> Settlement {
    match error {
        WriteError::Constraint(constraint) => Settlement::Clash { at, constraint },
        WriteError::Guard(_) | WriteError::Unmet(_) | WriteError::Value(_) | WriteError::Doc(_) | WriteError::Db(_) => {
            Settlement::Superseded
        }
    }
}
