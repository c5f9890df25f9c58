//! Loads the settings for commands.

use std::env;
use std::net::SocketAddr;

use super::{CliError, Global};
use crate::config::{Config, LoadOptions, Loaded, process_env};
use crate::secrets::random::fill_secret;

/// Loads the settings; `--data` and `--listen` win over all other sources.
pub fn load(global: &Global, listen: Option<SocketAddr>) -> Result<Loaded, CliError> {
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
        random: &mut fill_secret,
    })?;
    Ok(loaded)
}

/// Loads the settings for a command that needs none of the server's secrets: generates none and writes no file.
pub fn look(global: &Global) -> Result<Config, CliError> {
    const STAND_IN: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let mut env = process_env();
    env.extend(["SESSION_SECRET", "API_KEY_SALT", "SECRETS_KEY"].map(|name| (name.to_owned(), STAND_IN.to_owned())));
    let cwd = env::current_dir().map_err(CliError::io("the working directory cannot be read"))?;
    let options =
        LoadOptions { file: global.config.clone(), env, cwd, overrides: Vec::new(), random: &mut fill_secret };
    Ok(Config::load(options)?.config)
}
