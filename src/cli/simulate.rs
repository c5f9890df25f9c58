//! `printfloor simulate`: runs simulated printers without a server until a signal stops it.

use std::io::{self, Write as _};

use simulator::{Fleet, FleetOptions};

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

/// The fleet to start: one printer of each kind if no number was given.
fn options(args: &SimulateArgs) -> FleetOptions {
    let (fw_rest, server_rest) = match (args.fw_rest, args.server_rest) {
        (0, 0) => (1, 1),
        numbers => numbers,
    };
    FleetOptions {
        fw_rest: fw_rest.into(),
        server_rest: server_rest.into(),
        base_port: args.base_port,
        speed: args.speed,
        seed: args.seed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_numbers_there_is_one_of_each() {
        let args = SimulateArgs { fw_rest: 0, server_rest: 0, base_port: None, speed: 2.0, seed: 7 };
        let both = options(&args);
        assert_eq!((both.fw_rest, both.server_rest, both.seed), (1, 1, 7));
        let one_kind = options(&SimulateArgs { fw_rest: 3, ..args });
        assert_eq!((one_kind.fw_rest, one_kind.server_rest), (3, 0));
    }
}
