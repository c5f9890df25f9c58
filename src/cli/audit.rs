//! `printfloor audit`: verifies the audit log, and prints its head. Both only read, and also work alongside a running
//! server.

use clap::Subcommand;

use super::progress::ProgressLine;
use super::{CliError, GlobalOptions, output, settings};
use crate::app::own_secrets;
use crate::domain::audit::chain::ChainHead;
use crate::observe::log;
use crate::store::audit_log::{AuditLog, AuditVerification};
use crate::store::connect::DatabaseSettings;

/// Commands about the audit log.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Verify that no line of the audit log has been changed, removed, inserted or moved; works while the server is
    /// running
    Verify {
        /// Head that `printfloor audit head` printed earlier; its line must still be in the log; can be repeated
        #[arg(long = "head", value_name = "NUMBER:HASH")]
        heads: Vec<ChainHead>,
    },
    /// Print the number and the hash of the last line; kept elsewhere, they reveal later changes to the log
    Head,
}

impl AuditCommand {
    /// Runs the command.
    pub async fn run(self, global: &GlobalOptions) -> Result<(), CliError> {
        log::start_for_command();
        let settings = own_secrets::database_settings(&settings::load(global, None)?.config);
        let log = AuditLog::open(&settings).await.map_err(|error| CliError::of_shop(&settings, &error))?;
        let outcome = match self {
            Self::Verify { heads } => verify(&settings, &log, heads).await,
            Self::Head => output::line(&log.head().to_string()),
        };
        log.close().await;
        outcome
    }
}

/// Verifies the log and prints what it contains. Fails at the first line that does not match.
async fn verify(settings: &DatabaseSettings, log: &AuditLog, heads: Vec<ChainHead>) -> Result<(), CliError> {
    let lines = u64::try_from(log.head().number).unwrap_or_default();
    let mut progress = ProgressLine::of_rows("verifying", lines);
    let verification = log.verify(heads, &mut |lines| progress.add(lines)).await;
    let verification = verification.map_err(|error| CliError::of_shop(settings, &error))?;
    progress.end();
    output::line(&summary(&verification))?;
    let Some(fault) = verification.fault else { return Ok(()) };
    let noticed = verification.line.map(|line| format!(" (noticed at: {line})")).unwrap_or_default();
    Err(CliError::Failed(format!("the audit log does not match what the server wrote: {fault}{noticed}")))
}

/// Returns the number, time span and head of the verified lines.
fn summary(verification: &AuditVerification) -> String {
    let AuditVerification { head, span, .. } = verification;
    let count = match head.number {
        1 => "1 line verified".to_owned(),
        lines => format!("{lines} lines verified"),
    };
    match span {
        Some((first, last)) => format!("{count}, from {first} to {last}\nhead: {head}"),
        None => count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    #[test]
    fn a_summary_has_number_span_and_head() {
        let mut verification = AuditVerification::default();
        assert_eq!(summary(&verification), "0 lines verified");
        verification.head = ChainHead { number: 1, hash: "ab".to_owned() };
        verification.span = Some((Timestamp(0), Timestamp(1)));
        let expected = "1 line verified, from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:00.001Z\nhead: 1:ab";
        assert_eq!(summary(&verification), expected);
    }
}
