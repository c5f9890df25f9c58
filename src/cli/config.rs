//! `printfloor config`: prints every setting with its description and the source of its value.

use std::collections::BTreeMap;

use super::{CliError, ConfigArgs, GlobalOptions, output, settings};
use crate::config::listing;

/// Prints the settings, without the values of secrets.
pub fn run(global: &GlobalOptions, args: ConfigArgs) -> Result<(), CliError> {
    if args.defaults {
        return output::print(&listing::whole(&BTreeMap::new()));
    }
    let loaded = settings::load(global, None)?;
    for warning in &loaded.warnings {
        output::note(&format!("note: {warning}"));
    }
    if args.set {
        return output::print(&listing::changed(&loaded.given_settings));
    }
    output::print(&listing::whole(&loaded.given_settings))
}
