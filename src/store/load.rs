//! Aggregates as they are on disk: the snapshot row, and the rows of the parts put back under it; one aggregate, or all
//! that are resident.
//!
//! The writer runs this in its queue on its connection, so that a load sees every commit before it and none after. A
//! row that cannot be read is told of its own aggregate alone; the others are loaded all the same.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::future::Future;

use sea_orm::sea_query::{Condition, Expr, ExprTrait, Query};
use sea_orm::{DatabaseConnection, DbErr, EntityTrait, QueryFilter, QuerySelect};

use crate::domain::aggregate::Versioned;
use crate::domain::id::Id;
use crate::store::StoredAggregate;
use crate::store::memory::Tables;
use crate::store::rows::{Damaged, Doc, ModelOf, Part, Snapshot, SnapshotModel, read_doc};

/// A kind of aggregate that the store brings back from disk.
pub trait Load: Snapshot {
    /// Which are resident, as a condition on the table of snapshot rows; `None`: none are.
    fn resident() -> Option<Condition> {
        None
    }

    /// Puts the rows of the parts back under the snapshot rows. An aggregate without parts needs nothing of its own.
    fn hydrate(found: Loading<'_, Self>) -> impl Future<Output = Result<Vec<Loaded<Self>>, DbErr>> + Send {
        async { Ok(found.found) }
    }
}

/// An aggregate that was found, and whether it could be read.
pub struct Loaded<T> {
    /// As the key of its snapshot row says.
    pub id: Id,
    /// The state; or the row that cannot be read.
    pub state: Result<Versioned<T>, Damaged>,
}

/// Where rows are read from.
pub enum RowSource<'a> {
    /// Tables of SQLite or PostgreSQL.
    Database(&'a DatabaseConnection),
    /// The committed state of the store in memory.
    Memory(Tables),
}

/// Which aggregates are loaded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// A single aggregate, asked for by its id.
    One(Id),
    /// All that are in memory though nobody asks for them.
    Resident,
}

/// Aggregates whose snapshot rows were read, and whose parts are to be put back.
pub struct Loading<'a, T> {
    source: &'a RowSource<'a>,
    scope: Scope,
    found: Vec<Loaded<T>>,
}

/// Parts by the aggregate they belong to.
pub struct PartsByOwner<P>(HashMap<Id, Parts<P>>);

/// The parts of one aggregate, and the rows among them that cannot be read.
struct Parts<P> {
    read: Vec<P>,
    damaged: Vec<Damaged>,
}

impl<P> Default for Parts<P> {
    fn default() -> Self {
        Self { read: Vec::new(), damaged: Vec::new() }
    }
}

impl<P> PartsByOwner<P> {
    /// Takes the parts of one aggregate, in no particular order; or tells the first of their rows that cannot be read.
    pub fn take(&mut self, owner: Id) -> Result<Vec<P>, Damaged> {
        let Parts { read, mut damaged } = self.0.remove(&owner).unwrap_or_default();
        if damaged.is_empty() { Ok(read) } else { Err(damaged.swap_remove(0)) }
    }

    /// Takes the parts of one aggregate that can be read; the others are left out, and the log names them. For parts
    /// that stand alone, so that one that is damaged does not take all the others with it.
    pub(super) fn take_readable(&mut self, owner: Id) -> Vec<P> {
        let Parts { read, damaged } = self.0.remove(&owner).unwrap_or_default();
        damaged.iter().for_each(|damaged| tracing::error!(%damaged, "a row that cannot be read is left out"));
        read
    }
}

impl<'a, T: Load> Loading<'a, T> {
    /// All parts of this type of all the aggregates, in one query.
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

    /// Where further rows are read from, for kinds that do not load all parts.
    pub fn source(&self) -> &'a RowSource<'a> {
        self.source
    }

    /// The ids of the aggregates.
    pub fn ids(&self) -> Vec<Id> {
        self.found.iter().map(|loaded| loaded.id).collect()
    }

    /// The aggregates with their parts, which `hydrate` adds to each of them.
    pub fn complete(self, mut hydrate: impl FnMut(Id, T) -> Result<T, Damaged>) -> Vec<Loaded<T>> {
        let whole = |Loaded { id, state }: Loaded<T>| {
            let state = state.and_then(|Versioned { version, state }| {
                Ok(Versioned { version, state: state.map(|state| hydrate(id, state)).transpose()? })
            });
            Loaded { id, state }
        };
        self.found.into_iter().map(whole).collect()
    }
}

/// Loads the aggregates of a scope.
pub(super) async fn load<T: StoredAggregate>(source: &RowSource<'_>, scope: Scope) -> Result<Vec<Loaded<T>>, DbErr> {
    let found = match source {
        RowSource::Database(db) => {
            let which = match scope {
                Scope::One(id) => Condition::all().add(Expr::col("id").eq(id.to_string())),
                Scope::Resident => match T::resident() {
                    Some(condition) => condition,
                    None => return Ok(Vec::new()),
                },
            };
            let rows = T::Entity::find().filter(which).all(*db).await?;
            rows.iter().filter_map(|row| loaded(row.key(), row.version(), row.read())).collect()
        }
        RowSource::Memory(tables) => {
            let rows: Vec<_> = match scope {
                Scope::One(id) => tables.snapshot_of::<T>(id).into_iter().collect(),
                Scope::Resident if T::resident().is_none() => Vec::new(),
                Scope::Resident => tables.snapshots_of::<T>().collect(),
            };
            let rests = |loaded: &Loaded<T>| {
                let state = loaded.state.as_ref().ok().and_then(|found| found.state.as_ref());
                state.is_some_and(T::at_rest)
            };
            let loaded = rows.into_iter().filter_map(|row| {
                let facts = row.facts();
                let damaged =
                    |reason| Damaged { table: facts.table, id: facts.id.to_owned(), schema: facts.schema, reason };
                loaded(facts.id, facts.version, read_doc(facts.schema, facts.doc).map_err(damaged))
            });
            loaded.filter(|loaded| matches!(scope, Scope::One(_)) || !rests(loaded)).collect()
        }
    };
    T::hydrate(Loading { source, scope, found }).await
}

fn loaded<T>(key: &str, version: i64, state: Result<T, Damaged>) -> Option<Loaded<T>> {
    match key.parse() {
        Ok(id) => Some(Loaded { id, state: state.map(|state| Versioned { version, state: Some(state) }) }),
        Err(error) => {
            tracing::error!(%key, %error, "a snapshot row whose id is not a UUID is passed over");
            None
        }
    }
}

/// Which rows of a part are under the snapshot rows of a scope.
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
    }
}

/// The parts of a condition, by owner.
async fn gather<P: Part>(db: &DatabaseConnection, which: Condition) -> Result<PartsByOwner<P>, DbErr> {
    let mut gathered: HashMap<Id, Parts<P>> = HashMap::new();
    // Only what is needed: a start reads tens of thousands of rows, and the other columns are in the doc as well.
    let docs = P::Entity::find().select_only().expr(Expr::col("id")).expr(Expr::col("schema")).expr(Expr::col("doc"));
    let docs = docs.expr(Expr::col(P::OWNER_COLUMN.unwrap_or("id"))).filter(which);
    let docs: Vec<(String, i64, String, String)> = docs.into_tuple().all(db).await?;
    for (key, schema, doc, owner) in docs {
        let Ok(owner) = (if P::OWNER_COLUMN.is_some() { owner.parse() } else { Ok(Id::ONLY) }) else {
            tracing::error!(table = ModelOf::<P>::TABLE, %key, "a row whose owner is not a UUID is passed over");
            continue;
        };
        let parts = gathered.entry(owner).or_default();
        match read_doc(schema, &doc) {
            Ok(part) => parts.read.push(part),
            Err(reason) => parts.damaged.push(Damaged { table: ModelOf::<P>::TABLE, id: key, schema, reason }),
        }
    }
    Ok(PartsByOwner(gathered))
}
