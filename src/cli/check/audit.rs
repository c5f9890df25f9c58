//! Checks that the last lines of the audit log are as the server wrote them. `printfloor audit verify` verifies all of
//! them, which takes longer.

use super::report::CheckReport;
use crate::app::own_secrets;
use crate::config::Config;
use crate::store::audit_log::AuditLog;

/// Checks the end of the audit log of a database whose schema is up to date.
pub async fn check(report: &mut CheckReport, config: &Config) {
    // Problems with the database are reported by its own check.
    let Ok(log) = AuditLog::open(&own_secrets::database_settings(config)).await else { return };
    let verified = log.verify_end().await;
    log.close().await;
    match verified {
        Ok(None) => report.fine("audit", "the last lines of the audit log are as the server wrote them"),
        Ok(Some(fault)) => report.wrong(
            "audit",
            format!("the audit log does not match what the server wrote: {fault}"),
            "run `printfloor audit verify`, and find out who can write to the database",
        ),
        Err(error) => report.wrong("audit", error.to_string(), "check the database"),
    }
}
