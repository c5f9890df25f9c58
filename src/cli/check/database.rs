//! The database: reached, ours, and its tables up to date. Nothing is written or made.

use migrations::{MigrationStatus, Migrator, MigratorTrait as _};
use sea_orm::DatabaseConnection;

use super::report::Report;
use crate::cli::serve;
use crate::config::Config;
use crate::store::connect::{self, DatabaseSettings};

/// Answers a connection for reading when the tables are there.
pub async fn check(report: &mut Report, config: &Config) -> Option<DatabaseConnection> {
    let name = serve::database(config);
    let url = config.database_url().expose().to_owned();
    if let Some(path) = sqlite_path(&url)
        && std::fs::metadata(&path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    {
        report.fine("database", format!("{name} does not exist yet; the first start makes it"));
        return None;
    }
    let settings = DatabaseSettings {
        url,
        read_connections: 1,
        statement_timeout: config.database.statement_timeout_seconds.duration(),
    };
    let reading = match connect::reading(&settings).await {
        Ok(reading) => reading,
        Err(error) => {
            report.wrong(
                "database",
                format!("{name}: {error}"),
                "is it running and reachable from here? are user, password and name in DATABASE_URL right?",
            );
            return None;
        }
    };
    match Migrator::get_migration_with_status_read_only(&reading).await {
        Err(error) => {
            report.wrong(
                "database",
                format!("{name}: {error}"),
                "is it a database of printfloor, and is the file whole?",
            );
            None
        }
        Ok(known) => {
            let missing = known.iter().filter(|migration| migration.status() == MigrationStatus::Pending).count();
            match missing {
                0 => report.fine("database", format!("{name}, tables up to date")),
                count if count == known.len() => {
                    report.fine("database", format!("{name}, empty; the first start makes the tables"));
                    return None;
                }
                count => {
                    report.note(
                        "database",
                        format!("{name}, {count} migrations behind; the next start brings it up to date"),
                    );
                    return None;
                }
            }
            Some(reading)
        }
    }
}

/// The file of an SQLite address.
fn sqlite_path(url: &str) -> Option<String> {
    let path = url.strip_prefix("sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    let path = path.split('?').next().unwrap_or_default();
    (path != ":memory:").then(|| path.replace("%25", "%").replace("%3F", "?").replace("%23", "#"))
}
