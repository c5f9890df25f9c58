//! `printfloor openapi`: the description of an API, for programs that make clients of it.

use std::io::Write as _;

use super::{CliError, Description, Global, settings};
use crate::http::{openapi, production};

/// Prints it; it names the configured public address.
pub fn run(global: &Global, which: Description) -> Result<(), CliError> {
    match which {
        Description::Production => {
            let config = settings::look(global)?;
            let json = openapi::json(&production::routes(&config).served(), &config.public_url());
            std::io::stdout().write_all(json.as_bytes()).map_err(CliError::io("cannot be printed"))
        }
        Description::Billing => Err(CliError::Failed("this build has no billing API to describe".to_owned())),
    }
}
