//! `printfloor simulate`: runs simulated printers, and a payment processor, without a server until a signal stops it.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Args, FromArgMatches, value_parser};
use serde_json::json;
use simulator::processor::PaymentProcessor;
use simulator::{Fleet, FleetOptions, PrinterKind};
use url::{Host, Url};

use super::{CliError, Signals, SimulateArgs};

/// Starts the printers, prints one JSON line `{type, baseUrl, apiKey, serial}` for each, and waits for a signal. The
/// payment processor's line is `{type, baseUrl, apiKey, webhookSecret, eventsTo}`, with the type `payments`.
pub async fn run(args: &SimulateArgs) -> Result<(), CliError> {
    let mut signals = Signals::listen().map_err(CliError::io("the signals that stop the program cannot be caught"))?;
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
        .map_err(CliError::io("the list of printers cannot be written to standard output"))?;
    drop(out);
    signals.next().await;
    fleet.shutdown();
    Ok(())
}

/// Starts the payment processor if it was requested, and returns it with its line.
async fn payment_processor(args: &SimulateArgs) -> Result<Option<(PaymentProcessor, String)>, CliError> {
    let Some(port) = args.payments else { return Ok(None) };
    let receiver = events_receiver(&args.events_to).map_err(CliError::Failed)?;
    let (api_key, secret) = (format!("sk_test_{:016x}", args.seed), format!("whsec_simulated_{:016x}", args.seed));
    let processor = PaymentProcessor::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), &api_key);
    let processor = processor.await.map_err(CliError::io("the payment processor cannot listen on its port"))?;
    processor.events_go_to(receiver.0, &receiver.1, &secret);
    let line = json!({
        "type": "payments", "baseUrl": processor.url(), "apiKey": api_key, "webhookSecret": secret,
        "eventsTo": args.events_to,
    });
    Ok(Some((processor, line.to_string())))
}

/// Returns the loopback address and the path of an `http` URL. The error says what is wrong with the URL: simulated
/// events never leave this machine.
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

/// Number of printers by kind; each kind has its own flag, named like its printer type.
#[derive(Clone, Debug, Default)]
pub struct FleetSizes(BTreeMap<PrinterKind, u16>);

/// Flags by kind: the name of the type with hyphens.
static FLAGS: LazyLock<Vec<(PrinterKind, String)>> =
    LazyLock::new(|| PrinterKind::ALL.iter().map(|kind| (*kind, kind.as_str().replace('_', "-"))).collect());

impl FleetSizes {
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

/// Builds the options of the fleet to start: one printer of each kind if no number was given.
fn options(args: &SimulateArgs) -> FleetOptions {
    let SimulateArgs { printers, base_port, keyless, speed, seed, .. } = args;
    // Whoever asks for payments alone gets no printers.
    let none = args.payments.is_none() && PrinterKind::ALL.iter().all(|kind| printers.of(*kind) == 0);
    let count = |kind: PrinterKind| if none { 1 } else { usize::from(printers.of(kind)) };
    let printers = PrinterKind::ALL.iter().map(|kind| (*kind, count(*kind))).collect();
    FleetOptions { printers, base_port: *base_port, own_hosts: false, keyless: *keyless, speed: *speed, seed: *seed }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn arguments(sizes: &[(PrinterKind, u16)], payments: Option<u16>) -> SimulateArgs {
        let printers = FleetSizes(sizes.iter().copied().collect());
        let events_to = "http://127.0.0.1:8787/webhooks/payments".to_owned();
        SimulateArgs { printers, base_port: None, keyless: false, speed: 2.0, seed: 7, payments, events_to }
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
