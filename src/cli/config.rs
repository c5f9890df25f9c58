//! `printfloor config`: prints all settings with their explanations and the source of each value.

use std::collections::BTreeMap;

use super::{CliError, ConfigArgs, GlobalOptions, output, settings};
use crate::config::shown;

/// Prints the settings, without the values of secrets.
pub fn run(global: &GlobalOptions, args: ConfigArgs) -> Result<(), CliError> {
    if args.defaults {
        return output::print(&shown::whole(&BTreeMap::new()));
    }
    let loaded = settings::load(global, None)?;
    for warning in &loaded.warnings {
        output::note(&format!("note: {warning}"));
    }
    if args.set {
        return output::print(&shown::changed(&loaded.given_settings));
    }
    output::print(&shown::whole(&loaded.given_settings))
}
