//! Replication of the database: whether a change that was acknowledged is on a replica too.

use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection, Statement};

use super::{DatabaseSettings, OpenError};
use domain::database_address::addresses_of_hosts;

/// Query for what commits wait for. The writer's own session waits for as much as the database lets it
/// (`synchronous_commit` is `on` there), so only the names of the replicas matter.
const REPLICATION: &str = "SELECT COALESCE(current_setting('synchronous_standby_names', true), '') = '' AS is_alone, \
                           EXISTS (SELECT 1 FROM pg_stat_replication) AS has_replicas";

/// Returns whether acknowledged changes can be lost with the host that writes: the database has replicas, or several
/// hosts that could take over, and commits wait for none of them.
///
/// # Errors
///
/// Fails if the database cannot be queried.
pub async fn is_asynchronous(settings: &DatabaseSettings, db: &DatabaseConnection) -> Result<bool, OpenError> {
    if db.get_database_backend() != DatabaseBackend::Postgres {
        return Ok(false);
    }
    let row = db.query_one_raw(Statement::from_string(DatabaseBackend::Postgres, REPLICATION)).await?;
    let Some(row) = row else { return Ok(false) };
    let (is_alone, has_replicas): (bool, bool) = (row.try_get("", "is_alone")?, row.try_get("", "has_replicas")?);
    Ok(is_alone && (has_replicas || addresses_of_hosts(&settings.url)?.len() > 1))
}
