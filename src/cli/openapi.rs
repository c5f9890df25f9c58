//! `printfloor openapi`: prints the OpenAPI document for an API, for client generators and other tools.

use super::{CliError, Description, GlobalOptions, output, settings};
use crate::http::openapi::half::Half;
use crate::http::{billing, openapi, production, resources};

/// Prints the document, with the configured public address as its server URL.
pub fn run(global: &GlobalOptions, which: Description) -> Result<(), CliError> {
    let config = settings::load(global, None)?.config;
    let (half, routes) = match which {
        Description::Production => (Half::Production, production::routes(&config)),
        Description::Billing => (Half::Billing, billing::routes()),
    };
    output::print(&openapi::json(half, &resources(half), &routes.served(), &config.public_url()))
}
