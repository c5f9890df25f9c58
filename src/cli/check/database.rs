//! Checks the database: it can be reached, belongs to Printfloor, and its tables are up to date. Writes nothing.

use std::time::Duration;

use migrations::{MigrationStatus, Migrator, MigratorTrait as _};
use sea_orm::DatabaseConnection;
use tokio::net::TcpStream;

use super::report::Report;
use crate::cli::serve;
use crate::config::Config;
use crate::store::connect::{self, DatabaseSettings};

/// Longest time to connect to the database server.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Returns a connection for reading if the tables are up to date.
pub async fn check(report: &mut Report, config: &Config) -> Option<DatabaseConnection> {
    let name = serve::database(config);
    let url = config.database_url().expose().to_owned();
    if let Some(path) = sqlite_path(&url)
        && std::fs::metadata(&path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    {
        report.fine("database", format!("{name} does not exist yet; the first start creates it"));
        return None;
    }
    // The connection pool would only report a timeout, without the reason.
    if let Err(words) = reached(&url).await {
        report.wrong(
            "database",
            format!("{name}: {words}"),
            "is the database server running, and may this machine connect to it?",
        );
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
                "is the database server running and reachable from here? are user, password and database name in DATABASE_URL right?",
            );
            return None;
        }
    };
    match Migrator::get_migration_with_status_read_only(&reading).await {
        Err(error) => {
            report.wrong(
                "database",
                format!("{name}: {error}"),
                "is this a database of Printfloor, and is it undamaged?",
            );
            None
        }
        Ok(known) => {
            let missing = known.iter().filter(|migration| migration.status() == MigrationStatus::Pending).count();
            match missing {
                0 => report.fine("database", format!("{name}, its tables are up to date")),
                count if count == known.len() => {
                    report.fine("database", format!("{name} is empty; the first start creates the tables"));
                    return None;
                }
                count => {
                    report.note(
                        "database",
                        format!("{name} is of an older version ({count} migrations behind); the next start updates it"),
                    );
                    return None;
                }
            }
            Some(reading)
        }
    }
}

/// Whether something listens at the address of a PostgreSQL server; other databases count as reached.
async fn reached(url: &str) -> Result<(), String> {
    let Ok(url) = url::Url::parse(url) else { return Ok(()) };
    let Some(host) = url.host_str().filter(|_| url.scheme().starts_with("postgres")) else { return Ok(()) };
    let address = (host.trim_matches(['[', ']']), url.port().unwrap_or(5432));
    match tokio::time::timeout(CONNECT_WITHIN, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("no answer within 5 s".to_owned()),
    }
}

/// The path of the file that an SQLite address names.
fn sqlite_path(url: &str) -> Option<String> {
    let path = url.strip_prefix("sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    let path = path.split('?').next().unwrap_or_default();
    (path != ":memory:").then(|| path.replace("%25", "%").replace("%3F", "?").replace("%23", "#"))
}
