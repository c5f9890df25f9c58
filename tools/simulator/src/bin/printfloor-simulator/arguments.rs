//! Command line of `printfloor-simulator`, which `printfloor simulate` also starts.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Args, FromArgMatches, Parser, value_parser};
use simulator::PrinterKind;

/// Run simulated printers and optionally a payment processor, without a server; print one line of JSON for each.
#[derive(Clone, Debug, Parser)]
#[command(name = "printfloor-simulator", version, max_term_width = 100)]
pub struct SimulatorArguments {
    /// Number of printers of each kind
    #[command(flatten)]
    pub printers: FleetSizes,
    /// Port of the first printer; the other printers use the following ports [default: free ports]
    #[arg(long, value_name = "P")]
    pub base_port: Option<u16>,
    /// Also accept requests without a key, as printers that trust their entire network do
    #[arg(long)]
    pub keyless: bool,
    /// Speed factor relative to the G-code's estimate; 2 prints twice as fast
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// Seed for random keys, serial numbers and behaviour; the same seed creates the same printers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Also run a simulated payment processor on this port [default: a free port]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    pub payments: Option<u16>,
    /// URL on this machine to which the payment processor sends its signed events
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8787/webhooks/payments", requires = "payments")]
    pub events_to: String,
}

/// Number of printers by kind; each kind has its own flag, named after its printer type.
#[derive(Clone, Debug, Default)]
pub struct FleetSizes(BTreeMap<PrinterKind, u16>);

/// Command-line flags by kind, each with the name of the printer type, written with hyphens.
static FLAGS: LazyLock<Vec<(PrinterKind, String)>> =
    LazyLock::new(|| PrinterKind::ALL.iter().map(|kind| (*kind, kind.as_str().replace('_', "-"))).collect());

impl FleetSizes {
    /// Builds the sizes from pairs of a kind and a number of printers.
    #[cfg(test)]
    pub fn of_each(sizes: &[(PrinterKind, u16)]) -> Self {
        Self(sizes.iter().copied().collect())
    }

    /// Returns the number of printers of a kind.
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
                    .help(format!("Number of {about}; if no numbers are given, one of each kind")),
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

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed > 0.0);
    speed.ok_or_else(|| "must be a number greater than 0".to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<SimulatorArguments, clap::Error> {
        SimulatorArguments::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn the_definition_holds_together() {
        SimulatorArguments::command().debug_assert();
    }

    #[test]
    fn every_option_has_a_default() {
        let arguments = parse("printfloor-simulator --fw-rest 2 --speed 60").unwrap();
        assert_eq!(arguments.printers.of(PrinterKind::FwRest), 2);
        assert_eq!(arguments.printers.of(PrinterKind::ServerRest), 0);
        assert_eq!((arguments.base_port, arguments.speed, arguments.seed), (None, 60.0, 1));
        assert_eq!(parse("printfloor-simulator --payments").unwrap().payments, Some(0), "a free port");
    }

    #[test]
    fn wrong_usage_is_refused() {
        for (line, kind) in [
            ("printfloor-simulator --speed 0", ErrorKind::ValueValidation),
            ("printfloor-simulator --events-to http://127.0.0.1/", ErrorKind::MissingRequiredArgument),
            ("printfloor-simulator dance", ErrorKind::UnknownArgument),
        ] {
            assert_eq!(parse(line).unwrap_err().kind(), kind, "{line}");
        }
    }
}
