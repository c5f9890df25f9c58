//! `printfloor openapi`: prints the OpenAPI document of an API, for generators of clients and other tools.

use super::{CliError, Description, Global, output, settings};
use crate::http::{openapi, production};

/// Prints the document, which names the configured public address.
pub fn run(global: &Global, which: Description) -> Result<(), CliError> {
    match which {
        Description::Production => {
            let config = settings::load(global, None)?.config;
            output::print(&openapi::json(&production::routes(&config).served(), &config.public_url()))
        }
    }
}
