//! `printfloor handover`: asks the running server to end for the one that stands by for it.

use serde_json::json;

use super::api::HttpApi;
use super::{CliError, GlobalOptions, output, settings};
use crate::observe::log;
use crate::server::{HANDOVER_PATH, absolute};

/// Asks the server that runs on the data directory. Fails if none does, or if no other server stands by for it.
pub async fn run(global: &GlobalOptions) -> Result<(), CliError> {
    log::start_for_command();
    let data = match &global.data {
        Some(data) => data.clone(),
        None => settings::load(global, None)?.config.server.data_dir,
    };
    let Some(api) = HttpApi::over_socket(&data).await? else {
        return Err(CliError::Failed(format!("no server that leads is running on {}", absolute(&data).display())));
    };
    api.post(HANDOVER_PATH, &json!({})).await?;
    output::line("the server ends, and the one that stands by takes over")
}
