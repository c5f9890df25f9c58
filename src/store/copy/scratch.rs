//! Temporary PostgreSQL database, alongside the shop's own.

use sea_orm::{ConnectionTrait as _, DatabaseBackend, DatabaseConnection, DbErr, Statement};
use url::Url;

use super::CopyError;
use super::restore::plain;
use crate::connect::{DatabaseSettings, writing_address};
use platform::secrets::random::secret_bytes;

/// Beginning of the names of temporary databases.
const NAME_PREFIX: &str = "printfloor_verify_";

/// Empty database that exists until [`Self::remove`].
pub struct ScratchDatabase {
    name: String,
    address: String,
    /// Connection to the shop's own database, over which the other is created and removed.
    db: DatabaseConnection,
}

impl ScratchDatabase {
    /// Creates a database on the server of the given one, on the host that writes if there are several. Also returns
    /// the names of those that interrupted runs have left.
    ///
    /// # Errors
    ///
    /// Fails if the user of the database is not allowed to create databases.
    pub async fn create(settings: &DatabaseSettings) -> Result<(Self, Vec<String>), CopyError> {
        let address = writing_address(settings).await?;
        let mut url = Url::parse(&address).map_err(|error| DbErr::Custom(error.to_string()))?;
        let db = plain(&DatabaseSettings { url: address, ..settings.clone() }).await?;
        let leftovers = unused(&db).await?;
        let number = u64::from_be_bytes(secret_bytes());
        let name = format!("{NAME_PREFIX}{number:016x}");
        db.execute_unprepared(&format!("CREATE DATABASE {name} TEMPLATE template0")).await?;
        url.set_path(&name);
        Ok((Self { name, address: url.into(), db }, leftovers))
    }

    /// Returns the address of the database.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Removes the database.
    ///
    /// # Errors
    ///
    /// Fails if the server of the database does not respond.
    pub async fn remove(self) -> Result<(), CopyError> {
        // Connections that are being closed may still be there.
        let removed = self.db.execute_unprepared(&format!("DROP DATABASE {} WITH (FORCE)", self.name)).await;
        self.db.close().await?;
        removed?;
        Ok(())
    }
}

/// Returns the names of temporary databases that have no connections.
async fn unused(db: &DatabaseConnection) -> Result<Vec<String>, DbErr> {
    let query = format!(
        "SELECT datname::text AS name FROM pg_database WHERE starts_with(datname, '{NAME_PREFIX}') \
         AND NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pg_stat_activity.datname = pg_database.datname)"
    );
    let rows = db.query_all_raw(Statement::from_string(DatabaseBackend::Postgres, query)).await?;
    rows.iter().map(|row| row.try_get("", "name")).collect()
}
