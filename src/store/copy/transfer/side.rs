//! One of the two databases of a transfer.

use migrations::{Migrator, MigratorTrait as _};
use sea_orm::{
    ConnectionTrait as _, DatabaseBackend, DatabaseConnection, DatabaseTransaction, DbErr, IsolationLevel, Statement,
    TransactionTrait as _,
};

use super::ShopTransferError;
use crate::connect::{
    self, DatabaseSettings, ExclusiveAccess, MIGRATION_TABLE, OpenError, UNFINISHED_TABLE, exclusive, refuse_newer,
};
use crate::copy::counted;

/// Database that no server can use, with the transaction in which it is read or written.
pub(super) struct TransferSide {
    /// Kind and location of the database, for messages.
    pub(super) database: String,
    pub(super) tx: DatabaseTransaction,
    db: DatabaseConnection,
}

impl TransferSide {
    /// Opens a database and begins a transaction.
    pub(super) async fn open(settings: &DatabaseSettings, access: ExclusiveAccess) -> Result<Self, ShopTransferError> {
        let opened = async {
            connect::reach(&settings.url).await?;
            let db = exclusive(settings, access).await?;
            let is_postgres = db.get_database_backend() == DatabaseBackend::Postgres;
            let isolation = is_postgres.then_some(IsolationLevel::RepeatableRead);
            let tx = db.begin_with_config(isolation, None).await?;
            Ok::<_, OpenError>((db, tx))
        };
        let opened = opened.await;
        let database = connect::display_url(&settings.url);
        match opened {
            Ok((db, tx)) => Ok(Self { database, tx, db }),
            Err(source) => Err(ShopTransferError::Database { database, source }),
        }
    }

    /// Returns the kind of the database.
    pub(super) fn backend(&self) -> DatabaseBackend {
        self.db.get_database_backend()
    }

    /// Describes an error from this database.
    pub(super) fn failed(&self, error: DbErr) -> ShopTransferError {
        ShopTransferError::Database { database: self.database.clone(), source: error.into() }
    }

    /// Describes an error from this database that concerns a table's rows.
    pub(super) fn failed_at(&self, table: &str, error: DbErr) -> ShopTransferError {
        ShopTransferError::Table { database: self.database.clone(), table: table.to_owned(), source: error.into() }
    }

    /// Returns the names of all tables.
    pub(super) async fn table_names(&self) -> Result<Vec<String>, ShopTransferError> {
        let tables = counted(&self.tx).await.map_err(|error| self.failed(error))?;
        Ok(tables.into_keys().collect())
    }

    /// Returns the number of migrations applied to the shop in this database.
    pub(super) async fn migrations(&self) -> Result<u32, ShopTransferError> {
        let tables = self.table_names().await?;
        let has = |name: &str| tables.iter().any(|table| table == name);
        let refused = |source| ShopTransferError::Database { database: self.database.clone(), source };
        if has(UNFINISHED_TABLE) {
            return Err(refused(OpenError::RestoreUnfinished));
        }
        if !has("writer") || !has(MIGRATION_TABLE) {
            return Err(ShopTransferError::NoShop(self.database.clone()));
        }
        refuse_newer(&self.tx).await.map_err(refused)?;
        let mut applied = self.applied_migrations().await.map_err(|error| self.failed(error))?;
        // Databases do not sort text alike.
        applied.sort();
        let all = Migrator::migrations();
        let is_ours = applied.len() <= all.len() && applied.iter().zip(&all).all(|(name, one)| name == one.name());
        if is_ours { Ok(applied.len() as u32) } else { Err(ShopTransferError::OtherVersion(self.database.clone())) }
    }

    async fn applied_migrations(&self) -> Result<Vec<String>, DbErr> {
        let query = format!("SELECT version FROM {MIGRATION_TABLE}");
        let rows = self.tx.query_all_raw(Statement::from_string(self.backend(), query)).await?;
        rows.iter().map(|row| row.try_get("", "version")).collect()
    }

    /// Commits what was written, and closes the database.
    pub(super) async fn commit(self) -> Result<(), ShopTransferError> {
        let Self { database, tx, db } = self;
        if let Err(error) = tx.commit().await {
            return Err(ShopTransferError::Uncertain { database, source: error.into() });
        }
        if db.get_database_backend() == DatabaseBackend::Postgres {
            // Without statistics, the first queries would be planned for empty tables. PostgreSQL gathers them by
            // itself too, but later.
            let _ = db.execute_unprepared("ANALYZE").await;
        }
        let _ = db.close().await;
        Ok(())
    }

    /// Closes the database, in which nothing was written.
    pub(super) async fn close(self) {
        let _ = self.tx.rollback().await;
        let _ = self.db.close().await;
    }
}
