//! `printfloor config`: prints all settings with their explanations, and where each value comes from.

use std::collections::BTreeMap;

use super::{CliError, ConfigArgs, Global, output, settings};
use crate::config::shown;

/// Prints the settings. Values of secrets are not shown.
pub fn run(global: &Global, args: ConfigArgs) -> Result<(), CliError> {
    if args.defaults {
        return output::print(&shown::whole(&BTreeMap::new()));
    }
    let loaded = settings::load(global, None)?;
    for warning in &loaded.warnings {
        output::note(&format!("note: {warning}"));
    }
    if args.set {
        return output::print(&shown::changed(&loaded.given));
    }
    output::print(&shown::whole(&loaded.given))
}
