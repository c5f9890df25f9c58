//! Command line of `printfloor-demo`, which `printfloor demo` also starts.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, value_parser};

/// Run a Printfloor server with a simulated shop: printers, products, stock and a stream of new orders.
#[derive(Clone, Debug, Parser)]
#[command(name = "printfloor-demo", version, max_term_width = 100)]
pub struct DemoArguments {
    /// Data directory of the demo; must be empty or belong to an earlier demo
    #[arg(long, value_name = "DIR", default_value = "data/demo")]
    pub data: PathBuf,
    /// Number of simulated printers, spread evenly across the printer types
    /// [default: 6 in a new demo, otherwise as before]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=100))]
    pub printers: Option<u16>,
    /// IP address and port to listen on [default: 127.0.0.1:8787, or a free port if that is in use]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// First port for the simulated printers; an existing demo keeps its ports
    /// [default: the first free range from 17000]
    #[arg(long, value_name = "P", value_parser = value_parser!(u16).range(1024..=64_000))]
    pub base_port: Option<u16>,
    /// Stop after this many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub end_after: Option<Duration>,
    /// Path of the server binary [default: printfloor in this program's directory, or on the PATH]
    // `printfloor demo` passes its own path first; a later one wins.
    #[arg(long, value_name = "PATH", overrides_with = "server")]
    pub server: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|span| !span.is_zero()).ok_or_else(|| "must be a number of seconds greater than 0".to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<DemoArguments, clap::Error> {
        DemoArguments::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn the_definition_holds_together() {
        DemoArguments::command().debug_assert();
    }

    #[test]
    fn every_option_has_a_default() {
        let arguments = parse("printfloor-demo --for 2.5").unwrap();
        assert_eq!((arguments.printers, arguments.end_after), (None, Some(Duration::from_millis(2500))));
        assert_eq!((arguments.data, arguments.listen, arguments.server), (PathBuf::from("data/demo"), None, None));
    }

    #[test]
    fn the_last_server_wins() {
        let arguments = parse("printfloor-demo --server one --server other").unwrap();
        assert_eq!(arguments.server, Some(PathBuf::from("other")));
    }

    #[test]
    fn wrong_usage_is_refused() {
        for (line, kind) in [
            ("printfloor-demo --printers 0", ErrorKind::ValueValidation),
            ("printfloor-demo --for 0", ErrorKind::ValueValidation),
            ("printfloor-demo --config x.toml", ErrorKind::UnknownArgument),
            ("printfloor-demo dance", ErrorKind::UnknownArgument),
        ] {
            assert_eq!(parse(line).unwrap_err().kind(), kind, "{line}");
        }
    }
}
