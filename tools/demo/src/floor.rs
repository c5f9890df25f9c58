//! Simulated printers and a webhook receiver, on ports that stay the same across starts, and a simulated payment
//! processor.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use simulator::fleet::FleetError;
use simulator::processor::SimPaymentProcessor;
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};

use super::folder::Folder;
use crate::error::DemoError;
use crate::random::secret_bytes;

/// Distance between the first ports of successive printer kinds. It is the maximum number of printers in a demo, so
/// that adding printers of one kind does not change the ports of another.
const ROW_PORTS: u16 = 101;
/// Number of ports used by a demo: one for the webhook receiver, followed by a range for each printer kind.
const PORTS_PER_DEMO: u16 = 1 + ROW_PORTS * PrinterKind::ALL.len() as u16;
/// First port that a new demo tries.
const FIRST_PORT: u16 = 17_000;
/// Maximum number of port ranges that a new demo tries.
const MAX_PORT_TRIES: u16 = 40;

/// Simulated programs outside the server.
#[derive(Debug)]
pub struct DemoFloor {
    /// Printers, as one fleet for each kind.
    rows: Vec<Fleet>,
    /// Receiver of the shop's webhooks.
    pub sink: Sink,
    /// Payment processor through which orders are paid.
    pub processor: Arc<SimPaymentProcessor>,
    /// API key that the server uses to authenticate to the payment processor.
    pub payment_key: String,
}

impl DemoFloor {
    /// Starts all simulated programs on the ports of the previous run or, in a new demo, on the first free port range,
    /// which is then stored.
    pub async fn start(folder: &mut Folder) -> Result<Self, DemoError> {
        let places: Vec<u16> = match folder.memory.base_port {
            Some(port) => vec![port],
            None => (0..MAX_PORT_TRIES).map(|place| FIRST_PORT + place * PORTS_PER_DEMO).collect(),
        };
        let last = places.last().copied();
        for base in places {
            match Self::start_at(base, folder.memory.printers).await {
                Ok(floor) => {
                    floor.sink.verify_with(&folder.memory.webhook_secret);
                    folder.memory.base_port = Some(base);
                    folder.keep()?;
                    return Ok(floor);
                }
                Err(FleetError::Listen { .. }) if Some(base) != last => {}
                Err(error) => {
                    let words = format!("the simulated printers cannot start: {error}");
                    return Err(DemoError::Failed(format!("{words}; is this demo already running?")));
                }
            }
        }
        Err(DemoError::Failed("no free ports for the simulated printers".to_owned()))
    }

    async fn start_at(base: u16, printers: usize) -> Result<Self, FleetError> {
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, base));
        let sink = Sink::start_on(addr).await.map_err(|source| FleetError::Listen { addr, source })?;
        let payment_key = format!("sk_test_{}", hex::encode(secret_bytes::<16>()));
        // On any port: it keeps nothing from one start to the next.
        let processor = SimPaymentProcessor::start(&payment_key).await;
        let processor = Arc::new(processor.map_err(|source| FleetError::Listen { addr, source })?);
        let mut rows = Vec::new();
        // Those that print packages come last: the others keep the ports that they had in a demo without them.
        let (packages, mut kinds): (Vec<&PrinterKind>, Vec<_>) =
            PrinterKind::ALL.iter().partition(|kind| kind.protocol().prints_packages);
        kinds.extend(packages);
        for ((place, kind), port) in kinds.iter().enumerate().zip((base + 1..).step_by(ROW_PORTS.into())) {
            // As even as possible, the first kinds having one more.
            let count = (printers + kinds.len() - 1 - place) / kinds.len();
            let options = FleetOptions {
                printers: vec![(**kind, count)],
                base_port: Some(port),
                seed: u64::from(port),
                ..FleetOptions::default()
            };
            rows.push(Fleet::start(options).await?);
        }
        Ok(Self { rows, sink, processor, payment_key })
    }

    /// Returns all virtual printers. Adding printers of a kind does not change the order of the existing ones.
    pub fn printers(&self) -> impl Iterator<Item = &SimPrinter> {
        self.rows.iter().flat_map(|row| &row.printers)
    }

    /// Stops the printers and the receiver.
    pub fn shutdown(&self) {
        for row in &self.rows {
            row.shutdown();
        }
        self.sink.shutdown();
    }
}
