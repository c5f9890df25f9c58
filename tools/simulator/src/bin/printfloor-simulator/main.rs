//! `printfloor-simulator`: runs simulated printers and a payment processor without a server until it is stopped by a
//! signal.

mod arguments;

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser as _;
use serde_json::json;
use simulator::fleet::FleetError;
use simulator::processor::SimPaymentProcessor;
use simulator::{Fleet, FleetOptions, PrinterKind};
use stop_signals::StopSignals;
use tokio::runtime::Runtime;
use url::{Host, Url};

use self::arguments::SimulatorArguments;

/// Reason why the simulation ended with an error.
#[derive(Debug, thiserror::Error)]
enum SimulatorError {
    /// Failure that is fully described by the text.
    #[error("{0}")]
    Failed(String),
    /// The printers cannot be started.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// An operating system call failed.
    #[error("{doing}: {source}")]
    Io {
        /// Description of the failed operation.
        doing: &'static str,
        /// Underlying operating system error.
        source: io::Error,
    },
}

impl SimulatorError {
    /// Returns a closure for `map_err` that adds a description of the failed operation.
    fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }

    /// Returns advice, unless the error message already states what to do.
    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Fleet(FleetError::Listen { .. }) => {
                Some("choose other ports with --base-port, or omit it to use free ports")
            }
            _ => None,
        }
    }
}

fn main() -> ExitCode {
    // An error means that a TLS provider was installed before.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    // Exits the process with 2 on wrong usage and with 0 after --help and --version.
    let arguments = SimulatorArguments::parse();
    let runtime = Runtime::new().map_err(SimulatorError::io("the asynchronous runtime cannot start"));
    match runtime.and_then(|runtime| runtime.block_on(run(&arguments))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let advice = error.advice().map(|advice| format!("\n  {advice}")).unwrap_or_default();
            // The message is lost if standard error is closed.
            let _ = writeln!(io::stderr().lock(), "printfloor-simulator: {error}{advice}");
            ExitCode::FAILURE
        }
    }
}

/// Starts the printers, prints one JSON line `{type, baseUrl, apiKey, serial}` for each, and waits for a signal. The
/// payment processor's line is `{type, baseUrl, apiKey, webhookSecret, eventsTo}`, with the type `payments`.
async fn run(args: &SimulatorArguments) -> Result<(), SimulatorError> {
    let mut signals =
        StopSignals::listen().map_err(SimulatorError::io("the program's signal handlers cannot be installed"))?;
    let fleet = Fleet::start(options(args)).await?;
    let processor = payment_processor(args).await?;
    let mut lines: String = fleet.printers.iter().map(|printer| printer.print_line() + "\n").collect();
    if let Some((_, line)) = &processor {
        lines.push_str(line);
        lines.push('\n');
    }
    // One write, so that a reader sees all of them or none.
    let mut out = io::stdout().lock();
    out.write_all(lines.as_bytes())
        .and_then(|()| out.flush())
        .map_err(SimulatorError::io("the list of printers cannot be written to standard output"))?;
    drop(out);
    signals.next().await;
    fleet.shutdown();
    Ok(())
}

/// Starts the payment processor if requested, and returns it with its JSON line.
async fn payment_processor(args: &SimulatorArguments) -> Result<Option<(SimPaymentProcessor, String)>, SimulatorError> {
    let Some(port) = args.payments else { return Ok(None) };
    let receiver = events_receiver(&args.events_to).map_err(SimulatorError::Failed)?;
    let (api_key, secret) = (format!("sk_test_{:016x}", args.seed), format!("whsec_simulated_{:016x}", args.seed));
    let processor = SimPaymentProcessor::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), &api_key);
    let processor = processor.await.map_err(SimulatorError::io("the payment processor cannot listen on its port"))?;
    processor.events_go_to(receiver.0, &receiver.1, &secret);
    let line = json!({
        "type": "payments", "baseUrl": processor.url(), "apiKey": api_key, "webhookSecret": secret,
        "eventsTo": args.events_to,
    });
    Ok(Some((processor, line.to_string())))
}

/// Returns the loopback address and the path of an `http` URL. Any other URL is an error with an explanation, because
/// simulated events never leave this machine.
fn events_receiver(url: &str) -> Result<(SocketAddr, String), String> {
    let wrong = || {
        format!(
            "--events-to must be an http URL on this machine, such as http://127.0.0.1:8787/webhooks/payments, not {url}"
        )
    };
    let parsed = Url::parse(url).map_err(|_| wrong())?;
    let address = match parsed.host() {
        Some(Host::Ipv4(address)) if address.is_loopback() => address.into(),
        Some(Host::Ipv6(address)) if address.is_loopback() => address.into(),
        Some(Host::Domain("localhost")) => Ipv4Addr::LOCALHOST.into(),
        _ => return Err(wrong()),
    };
    if parsed.scheme() != "http" {
        return Err(wrong());
    }
    Ok((SocketAddr::new(address, parsed.port().unwrap_or(80)), parsed.path().to_owned()))
}

/// Builds the options of the fleet to start, with one printer of each kind if no numbers were given.
fn options(args: &SimulatorArguments) -> FleetOptions {
    let SimulatorArguments { printers, base_port, keyless, speed, seed, .. } = args;
    // Whoever asks for payments alone gets no printers.
    let none = args.payments.is_none() && PrinterKind::ALL.iter().all(|kind| printers.of(*kind) == 0);
    let count = |kind: PrinterKind| if none { 1 } else { usize::from(printers.of(kind)) };
    let printers = PrinterKind::ALL.iter().map(|kind| (*kind, count(*kind))).collect();
    FleetOptions { printers, base_port: *base_port, own_hosts: false, keyless: *keyless, speed: *speed, seed: *seed }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::arguments::FleetSizes;
    use super::*;

    fn arguments(sizes: &[(PrinterKind, u16)], payments: Option<u16>) -> SimulatorArguments {
        let printers = FleetSizes::of_each(sizes);
        let events_to = "http://127.0.0.1:8787/webhooks/payments".to_owned();
        SimulatorArguments { printers, base_port: None, keyless: false, speed: 2.0, seed: 7, payments, events_to }
    }

    #[test]
    fn without_numbers_there_is_one_of_each() {
        let each = options(&arguments(&[], None));
        assert_eq!(each.printers.len(), PrinterKind::ALL.len());
        assert!(each.printers.iter().all(|(_, count)| *count == 1));
        assert_eq!((each.speed, each.seed), (2.0, 7));
        for payments in [None, Some(0)] {
            let one_kind = options(&arguments(&[(PrinterKind::FwRest, 3)], payments));
            let some: Vec<_> = one_kind.printers.into_iter().filter(|(_, count)| *count > 0).collect();
            assert_eq!(some, [(PrinterKind::FwRest, 3)]);
        }
        assert!(options(&arguments(&[], Some(0))).printers.iter().all(|(_, count)| *count == 0));
    }

    #[test]
    fn events_go_to_this_machine_only() {
        let (address, path) = events_receiver("http://localhost:9000/webhooks/payments").unwrap();
        assert_eq!((address.to_string().as_str(), path.as_str()), ("127.0.0.1:9000", "/webhooks/payments"));
        assert_eq!(events_receiver("http://[::1]:9000/").unwrap().0.to_string(), "[::1]:9000");
        for url in ["https://127.0.0.1/", "http://shop.example/", "http://192.0.2.1:8787/", "127.0.0.1:8787", ""] {
            assert!(events_receiver(url).is_err(), "{url}");
        }
    }
}
