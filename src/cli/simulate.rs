//! `printfloor simulate`: runs simulated printers without a server until a signal stops it.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Args, FromArgMatches, value_parser};
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{CliError, Signals, SimulateArgs};

/// Starts the printers, prints one JSON line `{type, baseUrl, apiKey, serial}` for each, and waits for a signal.
pub async fn run(args: &SimulateArgs) -> Result<(), CliError> {
    let mut signals = Signals::listen().map_err(CliError::io("the signals that stop the program cannot be caught"))?;
    let fleet = Fleet::start(options(args)).await?;
    let lines: String = fleet.printers.iter().map(|printer| printer.print_line() + "\n").collect();
    // One write, so that a reader sees all of them or none.
    let mut out = io::stdout().lock();
    out.write_all(lines.as_bytes())
        .and_then(|()| out.flush())
        .map_err(CliError::io("the list of printers cannot be written to standard output"))?;
    drop(out);
    signals.next().await;
    fleet.shutdown();
    Ok(())
}

/// How many printers of which kind; each kind has a flag of its own, named like its printer type.
#[derive(Clone, Debug, Default)]
pub struct FleetSizes(BTreeMap<PrinterKind, u16>);

/// The flags by kind: the type's word with hyphens.
static FLAGS: LazyLock<Vec<(PrinterKind, String)>> =
    LazyLock::new(|| PrinterKind::ALL.iter().map(|kind| (*kind, kind.as_str().replace('_', "-"))).collect());

impl FleetSizes {
    /// The number of printers of a kind.
    pub fn of(&self, kind: PrinterKind) -> u16 {
        self.0.get(&kind).copied().unwrap_or_default()
    }
}

impl Args for FleetSizes {
    fn augment_args(command: clap::Command) -> clap::Command {
        FLAGS.iter().fold(command, |command, (kind, flag)| {
            let about = kind.protocol().about;
            command.arg(
                Arg::new(kind.as_str())
                    .long(flag.as_str())
                    .value_name("N")
                    .value_parser(value_parser!(u16))
                    .help(format!("Number of {about}; without any number, one of each kind")),
            )
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FleetSizes {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut counts = Self::default();
        counts.update_from_arg_matches(matches)?;
        Ok(counts)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for kind in PrinterKind::ALL {
            if let Some(count) = matches.get_one::<u16>(kind.as_str()) {
                self.0.insert(*kind, *count);
            }
        }
        Ok(())
    }
}

/// The fleet to start: one printer of each kind if no number was given.
fn options(args: &SimulateArgs) -> FleetOptions {
    let SimulateArgs { printers, base_port, speed, seed } = args;
    let none = PrinterKind::ALL.iter().all(|kind| printers.of(*kind) == 0);
    let count = |kind: PrinterKind| if none { 1 } else { usize::from(printers.of(kind)) };
    let printers = PrinterKind::ALL.iter().map(|kind| (*kind, count(*kind))).collect();
    FleetOptions { printers, base_port: *base_port, own_hosts: false, speed: *speed, seed: *seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_numbers_there_is_one_of_each() {
        let args = SimulateArgs { printers: FleetSizes::default(), base_port: None, speed: 2.0, seed: 7 };
        let each = options(&args);
        assert_eq!(each.printers.len(), PrinterKind::ALL.len());
        assert!(each.printers.iter().all(|(_, count)| *count == 1));
        assert_eq!((each.speed, each.seed), (2.0, 7));
        let printers = FleetSizes(BTreeMap::from([(PrinterKind::FwRest, 3)]));
        let one_kind = options(&SimulateArgs { printers, ..args });
        let some: Vec<_> = one_kind.printers.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(some, [(PrinterKind::FwRest, 3)]);
    }
}
