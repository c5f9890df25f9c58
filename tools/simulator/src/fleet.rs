//! Fleet of virtual printers; the same seed always creates the same fleet.

use std::{
    net::{Ipv4Addr, SocketAddr},
    ops::Deref,
    sync::Arc,
};

use serde_json::json;

use crate::{
    PrinterKind, ServeOptions, VirtualPrinter,
    wire::{ListenError, SimServer},
};

/// Size and behaviour of a fleet.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// Number of printers of each kind, in the order of their ports.
    pub printers: Vec<(PrinterKind, usize)>,
    /// Port of the first printer; the other printers use the following ports. With `None`, free ports are used.
    pub base_port: Option<u16>,
    /// Gives each printer its own loopback address (127.0.1.1 and up, Linux only), as if each ran on its own computer;
    /// otherwise all use 127.0.0.1.
    pub own_hosts: bool,
    /// Makes the printers also accept requests without a key, as printers that trust the entire network do.
    pub keyless: bool,
    /// Speed factor relative to the G-code's estimate.
    pub speed: f64,
    /// Seed for keys, serial numbers, heat-up times and sensor noise.
    pub seed: u64,
}

impl FleetOptions {
    /// Returns options for `count` printers of one kind, at real speed, on free ports.
    pub fn of(kind: PrinterKind, count: usize) -> Self {
        Self { printers: vec![(kind, count)], ..Self::default() }
    }

    /// Returns options for `count` printers of each kind, at real speed, on free ports.
    pub fn of_each(count: usize) -> Self {
        Self { printers: PrinterKind::ALL.iter().map(|kind| (*kind, count)).collect(), ..Self::default() }
    }
}

impl FleetOptions {
    /// Returns options as [`Self::of_each`] does, but only for the kinds that print plain-text G-code.
    pub fn of_each_for_text(count: usize) -> Self {
        let text = PrinterKind::ALL.iter().filter(|kind| !kind.protocol().prints_packages);
        Self { printers: text.map(|kind| (*kind, count)).collect(), ..Self::default() }
    }
}

impl Default for FleetOptions {
    /// Returns options for one printer of each kind, at real speed, on free ports.
    fn default() -> Self {
        let printers = PrinterKind::ALL.iter().map(|kind| (*kind, 1)).collect();
        Self { printers, base_port: None, own_hosts: false, keyless: false, speed: 1.0, seed: 1 }
    }
}

/// Reason why a fleet could not be started.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The ports would exceed 65535.
    #[error("base port {base_port} leaves no room for {printers} printers")]
    NoRoom {
        /// Requested first port.
        base_port: u16,
        /// Requested number of printers.
        printers: usize,
    },
    /// The server could not listen on an address.
    #[error("failed to listen on {addr}: {source}")]
    Listen {
        /// Address to listen on.
        addr: SocketAddr,
        /// Underlying operating system error.
        source: std::io::Error,
    },
}

/// Handle that controls one virtual printer. Clones control the same printer; when the last clone is dropped, the
/// printer stops listening.
#[derive(Clone, Debug)]
pub struct SimHandle {
    printer: VirtualPrinter,
    server: Arc<SimServer>,
}

impl SimHandle {
    /// Stops listening and cuts all connections. The virtual printer itself continues to run but is unreachable.
    pub fn shutdown(&self) {
        self.server.stop();
    }
}

impl Deref for SimHandle {
    type Target = VirtualPrinter;

    fn deref(&self) -> &VirtualPrinter {
        &self.printer
    }
}

/// Virtual printer that belongs to a fleet.
#[derive(Clone, Debug)]
pub struct SimPrinter {
    /// Printer's protocol.
    pub kind: PrinterKind,
    /// Base URL in the form that Printfloor's API accepts, such as `http://127.0.0.1:port`.
    pub base_url: String,
    /// API key for requests to the printer.
    pub api_key: String,
    /// Serial number that the printer reports, unique within the fleet.
    pub serial: String,
    /// Handle that controls the printer's faults, log, speed and shutdown.
    pub handle: SimHandle,
}

impl SimPrinter {
    fn shares_port(&self, other: &Self) -> bool {
        let ports = other.handle.server.ports();
        self.handle.server.ports().iter().any(|port| ports.contains(port))
    }

    /// Returns the JSON line that describes the printer: `{type, baseUrl, apiKey, serial}`.
    pub fn print_line(&self) -> String {
        json!({"type": self.kind.as_str(), "baseUrl": self.base_url, "apiKey": self.api_key, "serial": self.serial})
            .to_string()
    }
}

/// Virtual printers on loopback ports. They stop when the fleet and all of its handles have been dropped.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Printers, in the order given by the options.
    pub printers: Vec<SimPrinter>,
}

impl Fleet {
    /// Starts all printers; if one of them cannot be started, the others are stopped.
    pub async fn start(options: FleetOptions) -> Result<Self, FleetError> {
        let kinds = options.printers.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count));
        let count = options.printers.iter().map(|(_, count)| count).sum();
        let mut printers = Vec::with_capacity(count);
        for (index, kind) in kinds.enumerate() {
            let port = match options.base_port {
                None => 0,
                Some(base) => u16::try_from(usize::from(base) + index)
                    .map_err(|_| FleetError::NoRoom { base_port: base, printers: count })?,
            };
            // Each printer has its own random numbers, so that adding one changes no other.
            let seed = options.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(index as u64);
            let host = if options.own_hosts { own_host(index) } else { Ipv4Addr::LOCALHOST };
            // The server takes all loopback addresses for one computer, so no two printers may have the same port. One
            // whose port is taken holds it until another has been found.
            let mut conflicting = Vec::new();
            let printer = loop {
                let printer = start_one(kind, SocketAddr::from((host, port)), &options, seed).await?;
                if !printers.iter().any(|other: &SimPrinter| other.shares_port(&printer)) {
                    break printer;
                }
                conflicting.push(printer);
            };
            conflicting.iter().for_each(|printer| printer.handle.shutdown());
            printers.push(printer);
        }
        Ok(Self { printers })
    }

    /// Returns the first printer of a kind.
    pub fn first(&self, kind: PrinterKind) -> Option<&SimPrinter> {
        self.printers.iter().find(|printer| printer.kind == kind)
    }

    /// Stops all printers: they close their connections and stop listening.
    pub fn shutdown(&self) {
        for printer in &self.printers {
            printer.handle.shutdown();
        }
    }
}

/// Returns a loopback address that no other printer in the fleet uses.
fn own_host(index: usize) -> Ipv4Addr {
    let [.., high, low] = (index as u32 + 1).to_be_bytes();
    Ipv4Addr::new(127, 0, 1 + high % 254, low)
}

async fn start_one(
    kind: PrinterKind,
    addr: SocketAddr,
    fleet: &FleetOptions,
    seed: u64,
) -> Result<SimPrinter, FleetError> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let protocol = kind.protocol();
    let mut api_key = hex::encode(rng.u128(..).to_be_bytes());
    api_key.truncate(protocol.key_chars);
    let number = rng.u32(100_000..1_000_000);
    let serial = format!("{}{number}", protocol.serial_prefix);
    let printer = VirtualPrinter::new(rng.u64(..), fleet.speed, protocol.reconnects);
    let options = ServeOptions { addr, api_key: (!fleet.keyless).then(|| api_key.clone()), name: serial.clone() };
    let server = (protocol.serve)(printer.clone(), options).await.map_err(|source| {
        let other = source.get_ref().and_then(|inner| inner.downcast_ref::<ListenError>()).map(|inner| inner.addr);
        FleetError::Listen { addr: other.unwrap_or(addr), source }
    })?;
    Ok(SimPrinter {
        kind,
        base_url: server.base_url(),
        api_key,
        serial,
        handle: SimHandle { printer, server: Arc::new(server) },
    })
}
