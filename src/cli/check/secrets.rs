//! Checks that the server's own secrets match the existing data, or that the first start can generate them.

use super::report::CheckReport;
use crate::app::own_secrets;
use crate::config::Config;
use crate::store::secret_checks::DatabaseState;

/// Returns whether the configured secrets can decrypt the stored ones. `open` indicates whether the database could be
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
                let words = format!("{lacking}: not set yet; the first start creates them in {}", file.display());
                report.fine("secrets", words);
            }
            true
        }
        Ok(DatabaseState::Existing { .. }) if !lacking.is_empty() => {
            let advice = format!("restore {}, or set them as they were when the shop was created", file.display());
            report.wrong("secrets", format!("{lacking}: missing, but the data was created with them"), &advice);
            false
        }
        Ok(DatabaseState::Existing { differing, .. }) if !differing.is_empty() => {
            let advice = format!(
                "set the previous value in {}, .env or the environment; `printfloor config --set` shows where the \
                 current one is set",
                file.display()
            );
            let words = format!("{}: different from the one the data was created with", differing.join(", "));
            report.wrong("secrets", words, &advice);
            false
        }
        Ok(DatabaseState::Existing { outdated, .. }) => {
            check_former_key(report, config, !outdated.is_empty());
            true
        }
    }
}

/// Reports whether the key that encrypts stored secrets has been replaced. `is_outdated` indicates whether the data
/// still depends on the former one.
fn check_former_key(report: &mut CheckReport, config: &Config, is_outdated: bool) {
    if config.auth.secrets_key_old.is_empty() {
        return report.fine("secrets", "they match the data");
    }
    let words = if is_outdated {
        "SECRETS_KEY is new: the next start encrypts all stored secrets with it, for which it needs SECRETS_KEY_OLD"
    } else {
        "SECRETS_KEY_OLD is set, but no stored secret needs it any more: remove it, and keep it elsewhere as long as \
         you keep backups from before"
    };
    report.note("secrets", words);
}
