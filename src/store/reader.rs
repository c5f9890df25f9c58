//! Reads aggregates from whichever implementation of the store there is.

use sea_orm::DatabaseConnection;

use crate::domain::aggregate::Versioned;
use crate::domain::id::Id;
use crate::store::StoredAggregate;
use crate::store::memory::MemoryStore;
use crate::store::rows::LoadError;

/// Where aggregates are read from. This is an enum and no trait, because typed reads cannot be methods of a trait
/// object, and a type parameter for the store would go through every actor and handler.
#[derive(Clone)]
pub enum Reader {
    /// Tables of SQLite or PostgreSQL: a pool, or the writer's own connection within the order of commits.
    Database(DatabaseConnection),
    /// Maps in memory.
    Memory(MemoryStore),
}

impl Reader {
    /// The last committed state of one aggregate; [`Versioned::nothing`] when it does not exist.
    pub async fn load<T: StoredAggregate>(&self, id: Id) -> Result<Versioned<T>, LoadError> {
        match self {
            Self::Database(db) => T::load(db, id).await,
            Self::Memory(store) => store.tables().load(id),
        }
    }

    /// The aggregates whose actors run from the start of the server on.
    pub async fn load_resident<T: StoredAggregate>(&self) -> Result<Vec<(Id, Versioned<T>)>, LoadError> {
        match self {
            Self::Database(db) => T::load_resident(db).await,
            Self::Memory(store) => store.tables().load_resident(),
        }
    }
}
