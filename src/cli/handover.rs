//! `printfloor handover`: asks the running server to stop in favour of the standby.

use serde_json::json;

use super::api::ControlApi;
use super::{CliError, GlobalOptions, output, settings};
use crate::observe::log;
use crate::server::{HANDOVER_PATH, absolute};

/// Asks the active server of the data directory to hand over. Fails if there is none, or if no standby is ready.
pub async fn run(global: &GlobalOptions) -> Result<(), CliError> {
    log::start_for_command();
    let data = match &global.data {
        Some(data) => data.clone(),
        None => settings::load(global, None)?.config.server.data_dir,
    };
    let Some(api) = ControlApi::open(&data).await? else {
        return Err(CliError::Failed(format!("no active server is running on {}", absolute(&data).display())));
    };
    api.post(HANDOVER_PATH, &json!({})).await?;
    output::line("the server is stopping; the standby server takes over")
}
