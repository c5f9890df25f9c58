//! Loads aggregates from disk, either a single one or all residents. An aggregate consists of its snapshot row and its
//! part rows.
//!
//! The writer runs loads in its queue and on its connection, so that a load sees exactly the commits queued before it.
//! A row that cannot be read affects only its own aggregate; the others are still loaded.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::future::Future;

use sea_orm::sea_query::{Condition, Expr, ExprTrait, Query};
use sea_orm::{DatabaseConnection, DbErr, EntityTrait, QueryFilter, QuerySelect};

use crate::StoredAggregate;
use crate::rows::{DamagedRow, Doc, ModelOf, Part, Snapshot, SnapshotModel, read_doc};
use crate::tables::Tables;
use domain::aggregate::Versioned;
use domain::id::Id;

/// Kind of aggregate that the store can load from disk.
pub trait Load: Snapshot {
    /// Returns the condition on the snapshot table that selects the resident aggregates; `None` if the kind has no
    /// residents.
    fn resident() -> Option<Condition> {
        None
    }

    /// Attaches the parts to the aggregates read from snapshot rows. Aggregates without parts use the default.
    fn hydrate(
        loading: SnapshotsToLoad<'_, Self>,
    ) -> impl Future<Output = Result<Vec<LoadedAggregate<Self>>, DbErr>> + Send {
        async { Ok(loading.entries) }
    }
}

/// Aggregate on disk, with its state if the rows can be read.
pub struct LoadedAggregate<T> {
    /// ID, from the key of the snapshot row.
    pub id: Id,
    /// State of the aggregate, or the row that cannot be read.
    pub state: Result<Versioned<T>, DamagedRow>,
}

/// Source that rows are read from.
pub enum RowSource<'a> {
    /// Tables of SQLite or PostgreSQL.
    Database(&'a DatabaseConnection),
    /// Committed state of the in-memory store.
    Memory(Tables),
}

/// Selection of aggregates to load.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// A single aggregate, selected by its ID.
    One(Id),
    /// All aggregates that must stay in memory even while idle.
    Resident,
    /// All aggregates from one ID to another, both included, as the database sorts them.
    Range(Id, Id),
}

/// Aggregates whose snapshot rows have been read but whose parts have not been attached yet.
pub struct SnapshotsToLoad<'a, T> {
    source: &'a RowSource<'a>,
    scope: Scope,
    entries: Vec<LoadedAggregate<T>>,
}

/// Parts, grouped by the aggregate that owns them.
pub struct PartsByOwner<P>(HashMap<Id, Parts<P>>);

/// Parts of an aggregate, and the part rows that cannot be read.
struct Parts<P> {
    read: Vec<P>,
    damaged: Vec<DamagedRow>,
}

impl<P> Default for Parts<P> {
    fn default() -> Self {
        Self { read: Vec::new(), damaged: Vec::new() }
    }
}

impl<P> PartsByOwner<P> {
    /// Removes and returns an aggregate's parts, in no particular order; fails with the first row that cannot be read.
    pub fn take(&mut self, owner: Id) -> Result<Vec<P>, DamagedRow> {
        let Parts { read, mut damaged } = self.0.remove(&owner).unwrap_or_default();
        if damaged.is_empty() { Ok(read) } else { Err(damaged.swap_remove(0)) }
    }

    /// Removes and returns an aggregate's readable parts; unreadable ones are logged and omitted. Meant for parts that
    /// are independent of each other, so that a damaged one does not make all the others unavailable.
    pub(super) fn take_readable(&mut self, owner: Id) -> Vec<P> {
        let Parts { read, damaged } = self.0.remove(&owner).unwrap_or_default();
        damaged.iter().for_each(|damaged| tracing::error!(%damaged, "skipping an unreadable row"));
        read
    }
}

impl<'a, T: Load> SnapshotsToLoad<'a, T> {
    /// Reads all parts of one type, for all the aggregates, in a single query.
    pub async fn parts<P: Part>(&self) -> Result<PartsByOwner<P>, DbErr> {
        match self.source {
            RowSource::Database(db) => gather(db, under::<T, P>(self.scope)).await,
            RowSource::Memory(tables) => {
                let of = |id| {
                    let read = tables.parts_under::<P>(id).cloned().collect();
                    (id, Parts { read, damaged: Vec::new() })
                };
                Ok(PartsByOwner(self.ids().into_iter().map(of).collect()))
            }
        }
    }

    /// Returns the row source, for kinds that do not load all parts.
    pub fn source(&self) -> &'a RowSource<'a> {
        self.source
    }

    /// Returns the IDs of the aggregates.
    pub fn ids(&self) -> Vec<Id> {
        self.entries.iter().map(|loaded| loaded.id).collect()
    }

    /// Returns the aggregates after attaching the parts to each of them with `hydrate`.
    pub fn complete(self, mut hydrate: impl FnMut(Id, T) -> Result<T, DamagedRow>) -> Vec<LoadedAggregate<T>> {
        let whole = |LoadedAggregate { id, state }: LoadedAggregate<T>| {
            let state = state.and_then(|Versioned { version, state }| {
                Ok(Versioned { version, state: state.map(|state| hydrate(id, state)).transpose()? })
            });
            LoadedAggregate { id, state }
        };
        self.entries.into_iter().map(whole).collect()
    }
}

/// Loads the aggregates in a scope.
pub(super) async fn load<T: StoredAggregate>(
    source: &RowSource<'_>,
    scope: Scope,
) -> Result<Vec<LoadedAggregate<T>>, DbErr> {
    let entries = match source {
        RowSource::Database(db) => {
            let which = match scope {
                Scope::One(id) => Condition::all().add(Expr::col("id").eq(id.to_string())),
                Scope::Resident => match T::resident() {
                    Some(condition) => condition,
                    None => return Ok(Vec::new()),
                },
                Scope::Range(first, last) => between("id", first, last),
            };
            let rows = T::Entity::find().filter(which).all(*db).await?;
            rows.iter().filter_map(|row| loaded(row.key(), row.version(), row.read())).collect()
        }
        RowSource::Memory(tables) => {
            let rows: Vec<_> = match scope {
                Scope::One(id) => tables.snapshot_of::<T>(id).into_iter().collect(),
                Scope::Resident if T::resident().is_none() => Vec::new(),
                Scope::Resident => tables.snapshots_of::<T>().collect(),
                Scope::Range(first, last) => {
                    let (first, last) = (first.to_string(), last.to_string());
                    let is_between = |id: &str| (first.as_str()..=last.as_str()).contains(&id);
                    tables.snapshots_of::<T>().filter(|row| is_between(row.facts().id)).collect()
                }
            };
            let rests = |loaded: &LoadedAggregate<T>| {
                let state = loaded.state.as_ref().ok().and_then(|entry| entry.state.as_ref());
                state.is_some_and(T::at_rest)
            };
            let loaded = rows.into_iter().filter_map(|row| {
                let facts = row.facts();
                let damaged =
                    |reason| DamagedRow { table: facts.table, id: facts.id.to_owned(), schema: facts.schema, reason };
                loaded(facts.id, facts.version, read_doc(facts.schema, facts.doc).map_err(damaged))
            });
            loaded.filter(|loaded| !(matches!(scope, Scope::Resident) && rests(loaded))).collect()
        }
    };
    T::hydrate(SnapshotsToLoad { source, scope, entries }).await
}

fn loaded<T>(key: &str, version: i64, state: Result<T, DamagedRow>) -> Option<LoadedAggregate<T>> {
    match key.parse() {
        Ok(id) => Some(LoadedAggregate { id, state: state.map(|state| Versioned { version, state: Some(state) }) }),
        Err(error) => {
            tracing::error!(%key, %error, "skipping a snapshot row: its id is not a UUID");
            None
        }
    }
}

/// Returns the condition that selects the rows of a part type belonging to the aggregates in a scope.
fn under<T: Load, P: Part>(scope: Scope) -> Condition {
    let Some(owner) = P::OWNER_COLUMN else { return Condition::all() };
    match scope {
        Scope::One(id) => Condition::all().add(Expr::col(owner).eq(id.to_string())),
        Scope::Resident => {
            let ids = Query::select()
                .column("id")
                .from(T::Entity::default())
                .cond_where(T::resident().unwrap_or_else(Condition::all))
                .to_owned();
            Condition::all().add(Expr::col(owner).in_subquery(ids))
        }
        Scope::Range(first, last) => between(owner, first, last),
    }
}

fn between(column: &'static str, first: Id, last: Id) -> Condition {
    Condition::all().add(Expr::col(column).gte(first.to_string())).add(Expr::col(column).lte(last.to_string()))
}

/// Reads the parts that satisfy a condition, grouped by owner.
async fn gather<P: Part>(db: &DatabaseConnection, which: Condition) -> Result<PartsByOwner<P>, DbErr> {
    let mut gathered: HashMap<Id, Parts<P>> = HashMap::new();
    // Only what is needed: a start reads tens of thousands of rows, and the other columns are in the doc as well.
    let docs = P::Entity::find().select_only().expr(Expr::col("id")).expr(Expr::col("schema")).expr(Expr::col("doc"));
    let docs = docs.expr(Expr::col(P::OWNER_COLUMN.unwrap_or("id"))).filter(which);
    let docs: Vec<(String, i64, String, String)> = docs.into_tuple().all(db).await?;
    for (key, schema, doc, owner) in docs {
        let Ok(owner) = (if P::OWNER_COLUMN.is_some() { owner.parse() } else { Ok(Id::ONLY) }) else {
            tracing::error!(table = ModelOf::<P>::TABLE, %key, "skipping a row: its owner is not a UUID");
            continue;
        };
        let parts = gathered.entry(owner).or_default();
        match read_doc(schema, &doc) {
            Ok(part) => parts.read.push(part),
            Err(reason) => parts.damaged.push(DamagedRow { table: ModelOf::<P>::TABLE, id: key, schema, reason }),
        }
    }
    Ok(PartsByOwner(gathered))
}
