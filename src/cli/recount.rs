//! `printfloor recount`: compares the totals and sums that lists and statistics show with what is stored, and corrects
//! them if asked to.

use super::{CliError, GlobalOptions, output, settings};
use crate::app::own_secrets;
use crate::config::Config;
use crate::observe::log;
use crate::server::{StartError, absolute, lead_alone, lock};
use crate::store::connect::DatabaseSettings;
use crate::store::recount::{compare, correct};

/// Maximum number of wrong numbers printed.
const MAX_LINES: usize = 20;

/// Compares all numbers, even alongside a running server. Wrong numbers are corrected if `corrects` is `true`, which
/// requires that no server is running.
pub async fn run(global: &GlobalOptions, corrects: bool) -> Result<(), CliError> {
    log::start_for_command();
    let config = settings::load(global, None)?.config;
    let settings = own_secrets::database_settings(&config);
    let wrong = compare(&settings).await.map_err(|error| CliError::of_shop(&settings, &error))?;
    if wrong.is_empty() {
        return output::line("all totals are correct");
    }
    for number in wrong.iter().take(MAX_LINES) {
        output::line(&number.to_string())?;
    }
    if wrong.len() > MAX_LINES {
        output::line("… and more")?;
    }
    if !corrects {
        return Err(CliError::Failed(
            "some stored totals are wrong; stop the server and run `printfloor recount --correct`".to_owned(),
        ));
    }
    let corrected = correct_alone(&config, &settings).await?;
    output::line(&match corrected {
        1 => "corrected 1 total".to_owned(),
        count => format!("corrected {count} totals"),
    })
}

/// Corrects the numbers while this process leads, so that no server writes.
async fn correct_alone(config: &Config, settings: &DatabaseSettings) -> Result<u64, CliError> {
    let data = &config.server.data_dir;
    let lock = lock(data, "recount")?;
    if config.restore_mark().exists() {
        return Err(StartError::RestoreUnfinished { path: absolute(data) }.into());
    }
    let lead = Box::pin(lead_alone(config, &lock)).await?;
    let corrected = Box::pin(correct(settings)).await;
    lead.release().await;
    corrected.map_err(|error| CliError::of_shop(settings, &error))
}
