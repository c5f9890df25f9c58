//! Checks the server's own secrets: they match the existing data, or the first start can generate them.

use super::report::CheckReport;
use crate::app::own_secrets;
use crate::config::Config;
use crate::store::secret_checks::DatabaseState;

/// Returns whether stored secrets can be decrypted with the configured ones. `open` is `true` if the database could be
/// opened.
pub async fn check(report: &mut CheckReport, config: &Config, open: bool) -> bool {
    let file = config.secrets_file();
    let mut auth = config.auth.clone();
    let lacking = auth.own_secrets_mut().into_iter().filter(|(_, secret)| secret.is_empty());
    let lacking = lacking.map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    let state = if open { own_secrets::look(config).await } else { Ok(DatabaseState::New) };
    match state {
        // The check of the database has told it.
        Err(_) => false,
        Ok(DatabaseState::New) => {
            if !lacking.is_empty() {
                let words = format!("{lacking}: not set yet; the first start makes them in {}", file.display());
                report.fine("secrets", words);
            }
            true
        }
        Ok(DatabaseState::Existing { .. }) if !lacking.is_empty() => {
            let advice = format!("put back {}, or set them as they were when the shop was made", file.display());
            report.wrong("secrets", format!("{lacking}: missing, and the data was made with them"), &advice);
            false
        }
        Ok(DatabaseState::Existing { differing }) if !differing.is_empty() => {
            let advice = format!(
                "put the former value into {}, .env or the environment; `printfloor config --set` shows where the present one is set",
                file.display()
            );
            let words = format!("{}: not the one that the data was made with", differing.join(", "));
            report.wrong("secrets", words, &advice);
            false
        }
        Ok(DatabaseState::Existing { .. }) => {
            report.fine("secrets", "they are those that the data was made with");
            true
        }
    }
}
