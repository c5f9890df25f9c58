//! Loads the settings for commands.

use std::env;
use std::net::SocketAddr;

use super::{CliError, GlobalOptions};
use crate::config::{Config, LoadOptions, LoadedConfig, process_env};

/// Loads the settings; `--data` and `--listen` override all other sources.
pub fn load(global: &GlobalOptions, listen: Option<SocketAddr>) -> Result<LoadedConfig, CliError> {
    let mut overrides = Vec::new();
    if let Some(data) = &global.data {
        let data = data.to_str().ok_or_else(|| CliError::Usage("--data must be valid UTF-8".to_owned()))?;
        overrides.push(("server.data_dir", data.to_owned()));
    }
    if let Some(listen) = listen {
        overrides.push(("server.listen", listen.to_string()));
    }
    let loaded = Config::load(LoadOptions {
        file: global.config.clone(),
        env: process_env(),
        cwd: env::current_dir().map_err(CliError::io("the working directory cannot be read"))?,
        overrides,
    })?;
    Ok(loaded)
}
