//! Virtual Bambu Lab printer in LAN mode (printer type `mqtt_lan`): an MQTT broker over TLS with two topics, and an
//! FTPS server whose root directory is the printer's storage.
//!
//! The protocol and its quirks are those of the real firmware. All changes to a print go through the shared machine and
//! are recorded in its log. A print is considered started when the printer reports `PREPARE`, because that is when it
//! starts to heat and move.
//!
//! The control routes (`/_sim/…`, plain HTTP) are on the broker's port. In addition to the usual ones,
//! `GET`/`POST /_sim/setup` shows and changes the [`Setup`]. There are no cameras and no network announcements.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
    serve::Listener as _,
};
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};

use crate::{
    Protocol, ServeOptions, VirtualPrinter,
    wire::{GatedListener, Gates, JsonBody, SimServer, control_routes, passed_on},
};

mod broker;
mod certificate;
pub(crate) mod codec;
mod commands;
mod ftps;
mod panel;
mod project;
mod report;
pub mod setup;

use certificate::TlsIdentity;
use panel::BambuState;
pub use setup::Setup;

/// User name of every client.
const USER: &str = "bblp";
/// Default ports of the broker and of the FTPS server.
const USUAL_PORTS: (u16, u16) = (8883, 990);
/// Offset of the FTPS port from the broker's port, if that is not the default port.
const FTPS_DISTANCE: u16 = 10_000;
/// First byte that a client sends on a TLS connection.
const TLS: u8 = 0x16;
/// Maximum number of responses that a slow session may lag behind before it misses some.
const ANSWERS: usize = 64;

/// Bambu Lab LAN protocol declaration.
pub const PROTOCOL: Protocol = Protocol {
    word: "mqtt_lan",
    about: "Bambu Lab printers in LAN mode",
    serial_prefix: "01S00A",
    key_chars: 8,
    prints_packages: true,
    reconnects: true,
    serve: |printer, options| Box::pin(async move { serve(&printer, options).await }),
};

/// State of one printer besides its machine. Clones refer to the same printer.
#[derive(Clone, Debug)]
pub struct Bambu(Arc<BambuInner>);

#[derive(Debug)]
struct BambuInner {
    serial: String,
    /// State that may be locked before the machine but never after it.
    panel: Mutex<BambuState>,
    changed: watch::Sender<u64>,
    answers: broadcast::Sender<Value>,
    clients: AtomicUsize,
    commands: AtomicU64,
    /// Number of times that [`Setup::says`] has been sent.
    reports_sent: AtomicU64,
}

impl Bambu {
    /// Returns the printer's Bambu state; `None` for a printer of a different kind.
    pub fn of(printer: &VirtualPrinter) -> Option<Self> {
        printer.extension()
    }

    fn new(serial: &str) -> Self {
        Self(Arc::new(BambuInner {
            serial: serial.to_owned(),
            panel: Mutex::default(),
            changed: watch::Sender::new(0),
            answers: broadcast::Sender::new(ANSWERS),
            clients: AtomicUsize::new(0),
            commands: AtomicU64::new(0),
            reports_sent: AtomicU64::new(0),
        }))
    }

    /// Returns a copy of the printer's setup.
    pub fn setup(&self) -> Setup {
        self.panel(|panel| panel.setup.clone())
    }

    /// Changes the printer's setup.
    pub fn change(&self, change: impl FnOnce(&mut Setup)) {
        self.panel(|panel| change(&mut panel.setup));
        self.tell();
    }

    /// Returns the number of clients connected to the printer's broker.
    pub fn clients(&self) -> usize {
        self.0.clients.load(Ordering::SeqCst)
    }

    /// Returns the arguments of the last accepted start: the path of the plate in its package, and the tray for each
    /// filament. An empty list of trays means the external spool.
    pub fn last_start(&self) -> Option<(String, Vec<i64>)> {
        let fed = |project: &panel::Project| if project.use_ams { project.mapping.clone() } else { Vec::new() };
        self.panel(|panel| panel.project.as_ref().map(|project| (project.plate.clone(), fed(project))))
    }

    /// Returns the number of times that [`Setup::says`] has been sent.
    pub fn reports_sent(&self) -> u64 {
        self.0.reports_sent.load(Ordering::SeqCst)
    }

    fn panel<T>(&self, act: impl FnOnce(&mut BambuState) -> T) -> T {
        act(&mut self.0.panel.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes the sessions, because there is something to report.
    fn tell(&self) {
        self.0.changed.send_modify(|revision| *revision += 1);
    }

    fn report_topic(&self) -> String {
        format!("device/{}/report", self.0.serial)
    }

    fn request_topic(&self) -> String {
        format!("device/{}/request", self.0.serial)
    }
}

/// State shared by all sessions of one printer.
#[derive(Clone)]
struct BambuHost {
    printer: VirtualPrinter,
    bambu: Bambu,
    /// Access code; `None` admits all clients.
    code: Option<Arc<str>>,
    first: TlsIdentity,
    other: TlsIdentity,
    gates: Gates,
}

impl BambuHost {
    fn identity(&self) -> &TlsIdentity {
        if self.bambu.panel(|panel| panel.setup.other_certificate) { &self.other } else { &self.first }
    }

    /// Returns whether the user name and access code are correct.
    fn is_welcome(&self, user: &str, code: &str) -> bool {
        user == USER
            && !self.printer.with(|machine| machine.faults().wrong_key)
            && self.code.as_deref().is_none_or(|expected| expected == code)
    }
}

/// Serves a printer; the name in the options is its serial number.
pub async fn serve(printer: &VirtualPrinter, options: ServeOptions) -> io::Result<SimServer> {
    let bambu = Bambu::new(&options.name);
    printer.extend(bambu.clone());
    let gates = Gates::default();
    let host = BambuHost {
        printer: printer.clone(),
        first: TlsIdentity::of(&options.name, 0)?,
        other: TlsIdentity::of(&options.name, 1)?,
        bambu,
        code: options.api_key.map(Arc::from),
        gates: gates.clone(),
    };
    let mut broker = GatedListener::bind(options.addr, &gates).await?;
    let addr = broker.local_addr()?;
    let mut storage = GatedListener::bind(SocketAddr::new(addr.ip(), ftps_port(options.addr.port())), &gates).await?;
    let ftps = storage.local_addr()?.port();

    let routes = control_routes(printer.clone()).merge(setup_routes(host.bambu.clone()));
    let (control, http) = passed_on(addr, routes);
    let (here, there) = (host.clone(), host.clone());
    let accept_clients = tokio::spawn(async move {
        loop {
            let (stream, _) = broker.accept().await;
            let (host, control, gate) = (here.clone(), control.clone(), stream.gate());
            spawn_until_cut(gate, async move {
                if stream.first_byte().await? == TLS {
                    broker::session(host, stream).await?;
                } else {
                    let _ = control.send(stream).await;
                }
                Ok(())
            });
        }
    });
    let accept_transfers = tokio::spawn(async move {
        loop {
            let (stream, _) = storage.accept().await;
            spawn_until_cut(stream.gate(), ftps::session(there.clone(), stream));
        }
    });
    let tasks = vec![accept_clients, accept_transfers, http, tokio::spawn(panel::keep_up(host))];
    let url = format!("mqtts://{addr}?ftps={ftps}");
    Ok(SimServer::of(url, vec![addr.port(), ftps], gates, tasks, printer))
}

/// Returns the FTPS server's port for the given broker port; 0 means a free port.
fn ftps_port(broker: u16) -> u16 {
    match broker {
        0 => 0,
        port if port == USUAL_PORTS.0 => USUAL_PORTS.1,
        port => port.checked_add(FTPS_DISTANCE).unwrap_or(0),
    }
}

/// Spawns a connection's task, which runs until the connection is closed or cut.
fn spawn_until_cut(gate: Arc<crate::wire::Gate>, served: impl Future<Output = io::Result<()>> + Send + 'static) {
    tokio::spawn(async move {
        tokio::select! {
            biased; // what was served to its end was not cut
            _ = served => {}
            () = gate.until_cut() => {}
        }
    });
}

fn setup_routes(bambu: Bambu) -> Router {
    Router::new().route("/_sim/setup", get(show_setup).post(change_setup)).with_state(bambu)
}

async fn show_setup(State(bambu): State<Bambu>) -> Response {
    Json(bambu.setup()).into_response()
}

async fn change_setup(State(bambu): State<Bambu>, JsonBody(change): JsonBody) -> Response {
    let mut all = serde_json::to_value(bambu.setup()).unwrap_or_default();
    let (Value::Object(members), Value::Object(change)) = (&mut all, change) else {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": "the body must be an object"}))).into_response();
    };
    members.extend(change);
    match serde_json::from_value::<Setup>(all) {
        Ok(setup) => {
            bambu.change(|now| now.clone_from(&setup));
            Json(setup).into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, Json(json!({"error": error.to_string()}))).into_response(),
    }
}
