//! The data of the store in memory: ordered, persistent maps, so that a transaction is a cheap copy that is kept or not.

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};
use sea_orm::EntityTrait;

use super::facts::{RowFacts, RowValue, RowWrite, Unique, Written};
use crate::domain::aggregate::Versioned;
use crate::domain::endpoint::{Delivery, DeliveryState};
use crate::domain::event::{Event, Numbered};
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::store::rows::{
    Audit, Damaged, Doc, IdempotentAnswer, LoadError, Snapshot, SnapshotFacts, SnapshotModel, SnapshotRow, TableRow,
    WriteError, read_doc,
};
use crate::store::{CommandWrites, Settlement, StoredAggregate, Submission};

/// Table and key of a row.
type RowKey = (&'static str, String);

/// Everything that is committed. A clone is cheap and never changes.
#[derive(Clone, Default)]
pub struct Tables {
    snapshots: RedBlackTreeMapSync<RowKey, SnapshotRow>,
    rows: RedBlackTreeMapSync<RowKey, MemoryRow>,
    /// Table, owner and key of each row, to find the rows of an owner.
    owned: RedBlackTreeSetSync<(&'static str, String, String)>,
    /// Who has each unique value.
    taken: RedBlackTreeMapSync<Unique, String>,
    events: RedBlackTreeMapSync<i64, Event>,
    audit: RedBlackTreeMapSync<Id, Audit>,
    answers: RedBlackTreeMapSync<String, IdempotentAnswer>,
}

#[derive(Clone)]
struct MemoryRow {
    owner: String,
    unique: Vec<Unique>,
    value: RowValue,
}

impl Tables {
    /// The tables after this submission, with its numbered events; or why the submission is refused.
    pub(super) fn with(&self, submission: &Submission) -> Result<(Self, Vec<Numbered>), Settlement> {
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
        Ok((next, events))
    }

    fn check_version(&self, facts: &SnapshotFacts<'_>) -> Result<(), Settlement> {
        let stored = self.snapshots.get(&(facts.table, facts.id.to_owned()));
        match stored.map(|row| row.facts().version) {
            Some(version) if version + 1 != facts.version => Err(Settlement::Superseded),
            _ => Ok(()),
        }
    }

    fn write_snapshot(&mut self, row: &SnapshotRow) -> Result<(), WriteError> {
        let facts = row.facts();
        self.check_version(&facts).map_err(|_| WriteError::Guard(facts.table))?;
        let key = (facts.table, facts.id.to_owned());
        let released = self.snapshots.get(&key).and_then(|row| row.facts().unique);
        self.take(facts.unique.as_slice(), released.as_slice(), facts.id)?;
        self.snapshots.insert_mut(key, row.clone());
        Ok(())
    }

    fn write_command(&mut self, writes: &CommandWrites, events: &mut Vec<Numbered>) -> Result<(), WriteError> {
        for row in &writes.rows {
            match row.to_memory()?.0 {
                Written::Snapshot(row) => self.write_snapshot(&row)?,
                Written::Row(facts) => self.write_row(facts)?,
            }
        }
        for event in &writes.events {
            let seq = self.last_seq() + 1;
            self.events.insert_mut(seq, event.clone());
            events.push(Numbered { seq, event: event.clone() });
        }
        if let Some(line) = &writes.audit {
            if self.audit.contains_key(&line.id) {
                return Err(WriteError::Constraint("audit.id".to_owned()));
            }
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

    fn write_row(&mut self, facts: RowFacts) -> Result<(), WriteError> {
        let RowFacts { table, id, owner, write } = facts;
        let key = (table, id);
        let (unique, value) = match write {
            RowWrite::Delete => {
                self.delete_row(&key);
                return Ok(());
            }
            RowWrite::Insert(constraint, _) if self.rows.contains_key(&key) => {
                return Err(WriteError::Constraint(constraint.to_owned()));
            }
            RowWrite::Insert(_, value) => (Vec::new(), value),
            RowWrite::Replace(unique, value) => (unique, value),
        };
        let released = self.rows.get(&key).map(|stored| stored.unique.clone()).unwrap_or_default();
        self.take(&unique, &released, &key.1)?;
        if let Some(stored) = self.rows.get(&key) {
            self.owned.remove_mut(&(table, stored.owner.clone(), key.1.clone()));
        }
        self.owned.insert_mut((table, owner.clone(), key.1.clone()));
        self.rows.insert_mut(key, MemoryRow { owner, unique, value });
        Ok(())
    }

    fn delete_row(&mut self, key: &RowKey) {
        let Some(stored) = self.rows.get(key).cloned() else { return };
        self.rows.remove_mut(key);
        self.owned.remove_mut(&(key.0, stored.owner, key.1.clone()));
        for unique in &stored.unique {
            self.taken.remove_mut(unique);
        }
    }

    /// Gives these unique values to `holder` in place of the released ones, unless somebody else has one of them.
    fn take(&mut self, unique: &[Unique], released: &[Unique], holder: &str) -> Result<(), WriteError> {
        if let Some(other) = unique.iter().find(|value| self.taken.get(value).is_some_and(|has| has != holder)) {
            return Err(WriteError::Constraint(other.0.to_owned()));
        }
        for value in released {
            self.taken.remove_mut(value);
        }
        for value in unique {
            self.taken.insert_mut(value.clone(), holder.to_owned());
        }
        Ok(())
    }

    pub(super) fn delete_old_rows(&mut self, now: Timestamp, before: Timestamp) -> u64 {
        let expired = self.answers.values().filter(|answer| answer.expires_at <= now).map(|answer| answer.key.clone());
        let expired: Vec<_> = expired.collect();
        let old = |delivery: &&Delivery| delivery.created_at < before && delivery.state != DeliveryState::Pending;
        let deliveries = self.rows_of::<Delivery>("deliveries").filter(old);
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
        (expired.len() + deliveries.len() + events.len()) as u64
    }

    /// The number of the last event; 0 before the first.
    pub fn last_seq(&self) -> i64 {
        self.events.last().map_or(0, |(seq, _)| *seq)
    }

    /// The events with a number above `seq`, lowest number first.
    pub fn events_after(&self, seq: i64) -> impl Iterator<Item = Numbered> + '_ {
        self.events.range(seq.saturating_add(1)..).map(|(seq, event)| Numbered { seq: *seq, event: event.clone() })
    }

    /// The lines of the audit log by id, which is their order in time.
    pub fn audit(&self) -> impl Iterator<Item = &Audit> {
        self.audit.values()
    }

    /// The answer that this idempotency key got.
    pub fn idempotent_answer(&self, key: &str) -> Option<&IdempotentAnswer> {
        self.answers.get(key)
    }

    /// All snapshot rows of a table as they are on disk, lowest id first.
    pub(super) fn models_of<M: TableRow + SnapshotModel>(&self) -> impl Iterator<Item = &M> {
        self.snapshots_of(M::TABLE).filter_map(SnapshotRow::model)
    }

    /// All snapshot rows of a table, lowest id first.
    fn snapshots_of(&self, table: &'static str) -> impl Iterator<Item = &SnapshotRow> {
        let all = self.snapshots.range((table, String::new())..);
        all.take_while(move |(key, _)| key.0 == table).map(|(_, row)| row)
    }

    /// All rows of a table, lowest key first.
    pub(super) fn rows_of<V: 'static>(&self, table: &'static str) -> impl Iterator<Item = &V> {
        let all = self.rows.range((table, String::new())..).take_while(move |(key, _)| key.0 == table);
        all.filter_map(|(_, row)| row.value.downcast_ref())
    }

    /// The rows of one owner, lowest key first.
    pub(super) fn rows_under<V: 'static>(&self, table: &'static str, owner: Id) -> impl Iterator<Item = &V> {
        let owner = owner.to_string();
        let keys = self.owned.range((table, owner.clone(), String::new())..);
        let keys = keys.take_while(move |key| key.0 == table && key.1 == owner);
        keys.filter_map(|key| self.rows.get(&(key.0, key.2.clone()))?.value.downcast_ref())
    }

    /// The last committed state of an aggregate; [`Versioned::nothing`] when it does not exist.
    pub(in crate::store) fn load<T: StoredAggregate>(&self, id: Id) -> Result<Versioned<T>, LoadError> {
        match self.snapshots.get(&(table_of::<T>(), id.to_string())) {
            Some(row) => Ok(self.assemble(id, row)?),
            None => Ok(Versioned::nothing()),
        }
    }

    /// The aggregates whose actors run from the start on, lowest id first.
    pub(in crate::store) fn load_resident<T: StoredAggregate>(&self) -> Result<Vec<(Id, Versioned<T>)>, LoadError> {
        let mut all = Vec::new();
        if T::resident().is_none() {
            return Ok(all);
        }
        for row in self.snapshots_of(table_of::<T>()) {
            let facts = row.facts();
            let id = facts.id.parse().map_err(|_| damaged(&facts, "the id is not a UUID".to_owned()))?;
            let found: Versioned<T> = self.assemble(id, row)?;
            if found.state.as_ref().is_some_and(|state| !state.at_rest()) {
                all.push((id, found));
            }
        }
        Ok(all)
    }

    fn assemble<T: StoredAggregate>(&self, id: Id, row: &SnapshotRow) -> Result<Versioned<T>, Damaged> {
        let facts = row.facts();
        let state: T = read_doc(facts.schema, facts.doc).map_err(|reason| damaged(&facts, reason))?;
        Ok(Versioned { version: facts.version, state: Some(state.with_rows(id, self)) })
    }
}

fn table_of<T: Snapshot>() -> &'static str {
    <<T::Entity as EntityTrait>::Model as Doc>::TABLE
}

fn damaged(facts: &SnapshotFacts<'_>, reason: String) -> Damaged {
    Damaged { table: facts.table, id: facts.id.to_owned(), schema: facts.schema, reason }
}

fn refusal(error: WriteError, at: Option<usize>) -> Settlement {
    match error {
        WriteError::Constraint(constraint) => Settlement::Clash { at, constraint },
        WriteError::Guard(_) | WriteError::Doc(_) | WriteError::Db(_) => Settlement::Superseded,
    }
}
