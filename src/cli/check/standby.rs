//! Checks that this server could be the standby of the active one.

use super::report::CheckReport;
use crate::app::own_secrets;
use crate::cli::CliError;
use crate::config::Config;
use crate::config::sections::StandbyMode;
use crate::server::check_shared_folders;
use crate::store::lease::current_leader;

/// Checks the folders shared by servers on the same PostgreSQL database, if any of those servers is running.
pub async fn check(report: &mut CheckReport, config: &Config) {
    let settings = own_secrets::database_settings(config);
    if !settings.url.starts_with("postgres") || config.database.standby == StandbyMode::Refuse {
        return;
    }
    // What is wrong with the database is among its own lines.
    let Ok(Some(leader)) = current_leader(&settings).await else { return };
    match check_shared_folders(config, &leader.mark).await {
        Ok(()) => {
            let name = if leader.address.is_empty() { "another server" } else { leader.address.as_str() };
            report.fine("standby", format!("{name} is active, and its directories are those of this server"));
        }
        Err(error) => {
            let error = CliError::from(error);
            report.wrong("standby", error.to_string(), error.advice().as_deref().unwrap_or_default());
        }
    }
}
