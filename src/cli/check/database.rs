//! Checks that the database is reachable, belongs to Printfloor, has an up-to-date schema, and that its clock is right.
//! Writes nothing.

use migrations::{MigrationStatus, Migrator, MigratorTrait as _};
use sea_orm::DatabaseConnection;

use super::report::CheckReport;
use crate::actors::kernel::environment::machine_clock;
use crate::app::own_secrets;
use crate::cli::error::database_advice;
use crate::config::Config;
use crate::store::connect::{self, DatabaseSettings, OpenError};
use crate::store::queries::Queries;

/// Maximum difference between two clocks that is not reported, in milliseconds. Codes of authenticator apps are valid
/// for 30 seconds, signatures of payments for 5 minutes.
const MAX_CLOCK_DIFFERENCE_MS: i64 = 5_000;

/// Checks the database; returns a read connection if the schema is up to date.
pub async fn check(report: &mut CheckReport, config: &Config) -> Option<DatabaseConnection> {
    let url = config.database_url().expose().to_owned();
    let name = connect::display_url(&url);
    if connect::sqlite_file(&url).is_some_and(|file| !file.exists()) {
        report.fine("database", format!("{name} does not exist yet; the first start creates it"));
        return None;
    }
    let settings = DatabaseSettings { read_connections: 1, ..own_secrets::database_settings(config) };
    // The pool of connections would only report that time was up, without the reason.
    let opened = async {
        connect::reach(&url).await?;
        let reading = connect::reading(&settings).await?;
        connect::refuse_newer(&reading).await?;
        Ok::<_, OpenError>(reading)
    };
    let reading = match opened.await {
        Ok(reading) => reading,
        Err(error) => {
            report.wrong("database", format!("{name}: {error}"), database_advice(&error));
            return None;
        }
    };
    match Migrator::get_migration_with_status_read_only(&reading).await {
        Err(error) => {
            let error = OpenError::from(error);
            report.wrong("database", format!("{name}: {error}"), database_advice(&error));
            None
        }
        Ok(migrations) => {
            let missing = migrations.iter().filter(|migration| migration.status() == MigrationStatus::Pending).count();
            match missing {
                0 => report.fine("database", format!("{name}; its tables are up to date")),
                count if count == migrations.len() => {
                    report.fine("database", format!("{name} is empty; the first start creates the tables"));
                    return None;
                }
                count => {
                    report.note(
                        "database",
                        format!(
                            "{name} has an older schema version ({count} migrations behind); the next start updates it"
                        ),
                    );
                    return None;
                }
            }
            check_replication(report, &settings, &reading).await;
            check_clock(report, &reading).await;
            if let Ok(Some(at)) = Queries::new(reading.clone()).unreviewed_restore().await {
                let restored_at = at.to_string();
                let day = restored_at.get(..10).unwrap_or_default();
                report.note(
                    "restore",
                    format!(
                        "the shop was restored from a backup on {day}; no jobs start until an admin reviews it at \
                         /shop/settings/restore"
                    ),
                );
            }
            Some(reading)
        }
    }
}

/// Reports what could be lost with the host that writes.
async fn check_replication(report: &mut CheckReport, settings: &DatabaseSettings, reading: &DatabaseConnection) {
    if let Ok(true) = connect::is_asynchronous(settings, reading).await {
        report.note(
            "replication",
            "the database replicates asynchronously: the last acknowledged changes are lost with its primary; set \
             synchronous_standby_names there",
        );
    }
}

/// Compares this machine's clock with the database's, which may be a different clock.
async fn check_clock(report: &mut CheckReport, reading: &DatabaseConnection) {
    let Ok(Some(theirs)) = connect::time_of(reading).await else { return };
    let difference_ms = machine_clock().since(theirs);
    if difference_ms.abs() > MAX_CLOCK_DIFFERENCE_MS {
        let words = format!(
            "this machine's clock is {} s {} that of the database: if it is wrong, payments and codes of authenticator \
             apps are rejected; let both machines follow a time server",
            difference_ms.abs() / 1000,
            if difference_ms > 0 { "ahead of" } else { "behind" }
        );
        report.note("clock", words);
    }
}
