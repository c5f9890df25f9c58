//! Aggregate reader for any store implementation.

use sea_orm::{DatabaseConnection, DbErr};

use crate::StoredAggregate;
use crate::load::{LoadedAggregate, RowSource, Scope, load};
use crate::memory::MemoryStore;
use crate::rows::LoadError;
use domain::aggregate::Versioned;
use domain::id::Id;

/// Source that aggregates are read from. It is an enum rather than a trait, because typed reads cannot be methods of a
/// trait object, and because a type parameter for the store would spread through every actor and handler.
#[derive(Clone)]
pub enum Reader {
    /// Tables of SQLite or PostgreSQL: a pool, or the writer's own connection within the commit order.
    Database(DatabaseConnection),
    /// Maps of the in-memory store.
    Memory(MemoryStore),
}

impl Reader {
    /// Returns the last committed state of an aggregate; [`Versioned::nothing`] if the aggregate does not exist.
    pub async fn load<T: StoredAggregate>(&self, id: Id) -> Result<Versioned<T>, LoadError> {
        match load(&self.source(), Scope::One(id)).await?.pop() {
            Some(LoadedAggregate { state, .. }) => Ok(state?),
            None => Ok(Versioned::nothing()),
        }
    }

    /// Returns the aggregates whose actors run from server startup, using only a few queries.
    pub async fn load_resident<T: StoredAggregate>(&self) -> Result<Vec<LoadedAggregate<T>>, DbErr> {
        load(&self.source(), Scope::Resident).await
    }

    /// Returns the aggregates from one ID to another, both included, as the database sorts them.
    pub(crate) async fn load_range<T: StoredAggregate>(
        &self,
        first: Id,
        last: Id,
    ) -> Result<Vec<LoadedAggregate<T>>, DbErr> {
        load(&self.source(), Scope::Range(first, last)).await
    }

    fn source(&self) -> RowSource<'_> {
        match self {
            Self::Database(db) => RowSource::Database(db),
            Self::Memory(store) => RowSource::Memory(store.tables()),
        }
    }
}
