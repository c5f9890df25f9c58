//! `printfloor openapi`: prints the OpenAPI document of an API, for generators of clients and other tools.

use std::io::Write as _;

use super::{CliError, Description, Global, settings};
use crate::http::{openapi, production};

/// Prints the document, which names the configured public address.
pub fn run(global: &Global, which: Description) -> Result<(), CliError> {
    match which {
        Description::Production => {
            let config = settings::look(global)?;
            let json = openapi::json(&production::routes(&config).served(), &config.public_url());
            std::io::stdout()
                .write_all(json.as_bytes())
                .map_err(CliError::io("the OpenAPI document cannot be written to standard output"))
        }
        Description::Billing => Err(CliError::Failed("this version has no billing API".to_owned())),
    }
}
