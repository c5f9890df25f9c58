//! Directory as they are on disk: head and rows put together again, one thing or all that are resident at start.
//!
//! Called by the writer, in its queue, on its connection: a load sees every commit before it and none after.

mod hydrate;
#[cfg(test)]
mod tests;

pub(crate) use hydrate::with_attempts;

use std::collections::HashMap;
use std::future::Future;

use sea_orm::sea_query::{Condition, Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};

use crate::domain::aggregate::Versioned;
use crate::domain::id::Id;
use crate::store::rows::{Damaged, Doc, LoadError, Snapshot, SnapshotModel, read_doc};

/// A head whose rows are to be put back: id, version, state.
pub type Loaded<T> = (Id, i64, T);

/// Which things are loaded.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    /// A single aggregate, asked for by its id.
    One(Id),
    /// All that are in memory though nobody asks for them.
    Resident,
}

/// A kind of thing that the store brings back.
pub trait Load: Snapshot {
    /// Which are resident, as a condition on the table of snapshots; `None`: none are.
    fn resident() -> Option<Condition>;

    /// Puts the rows under these snapshots back.
    fn hydrate<C: ConnectionTrait>(
        _db: &C,
        _scope: Scope,
        snapshots: Vec<Loaded<Self>>,
    ) -> impl Future<Output = Result<Vec<Loaded<Self>>, LoadError>> + Send {
        async { Ok(snapshots) }
    }

    /// One thing; [`Versioned::nothing`] when it is not on disk.
    fn load<C: ConnectionTrait>(db: &C, id: Id) -> impl Future<Output = Result<Versioned<Self>, LoadError>> + Send {
        async move {
            let mut found = fetch::<Self, C>(db, Scope::One(id)).await?;
            Ok(found.pop().map_or_else(Versioned::nothing, |(_, thing)| thing))
        }
    }

    /// All resident things, in a few queries.
    fn load_resident<C: ConnectionTrait>(
        db: &C,
    ) -> impl Future<Output = Result<Vec<(Id, Versioned<Self>)>, LoadError>> + Send {
        fetch::<Self, C>(db, Scope::Resident)
    }
}

async fn fetch<T: Load, C: ConnectionTrait>(db: &C, scope: Scope) -> Result<Vec<(Id, Versioned<T>)>, LoadError> {
    let which = match scope {
        Scope::One(id) => Condition::all().add(Expr::col("id").eq(id.to_string())),
        Scope::Resident => match T::resident() {
            Some(condition) => condition,
            None => return Ok(Vec::new()),
        },
    };
    let mut snapshots = Vec::new();
    for row in T::Entity::find().filter(which).all(db).await? {
        snapshots.push((row.id()?, row.version(), row.read()?));
    }
    let things = T::hydrate(db, scope, snapshots).await?;
    Ok(things.into_iter().map(|(id, version, state)| (id, Versioned { version, state: Some(state) })).collect())
}

/// Which rows are under the snapshots of a scope, by the column that names the head.
fn under<T: Load>(scope: Scope, column: impl ColumnTrait) -> Condition {
    match scope {
        Scope::One(id) => Condition::all().add(column.eq(id.to_string())),
        Scope::Resident => {
            let ids = Query::select()
                .column("id")
                .from(T::Entity::default())
                .cond_where(T::resident().unwrap_or_else(Condition::all))
                .to_owned();
            Condition::all().add(Expr::col(column.as_column_ref()).in_subquery(ids))
        }
    }
}

/// The rows of a condition as domain values, gathered by what `of` tells of them.
async fn gather<E, V, C>(
    db: &C,
    which: Condition,
    of: impl Fn(&V) -> Id + Send,
) -> Result<HashMap<Id, Vec<V>>, LoadError>
where
    E: EntityTrait<Model: Doc>,
    V: serde::de::DeserializeOwned + Send,
    C: ConnectionTrait,
{
    let mut gathered: HashMap<Id, Vec<V>> = HashMap::new();
    // Only what is needed: a start reads tens of thousands of rows, and the other columns are in the doc as well.
    let docs = E::find().select_only().expr(Expr::col("id")).expr(Expr::col("schema")).expr(Expr::col("doc"));
    let docs: Vec<(String, i64, String)> = docs.filter(which).into_tuple().all(db).await?;
    for (id, schema, doc) in docs {
        let damaged = |reason| Damaged { table: E::Model::TABLE, id: id.clone(), schema, reason };
        let value: V = read_doc(schema, &doc).map_err(damaged)?;
        gathered.entry(of(&value)).or_default().push(value);
    }
    Ok(gathered)
}
