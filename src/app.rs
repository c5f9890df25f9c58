//! The whole shop: every kind's directory, the store, the fleet, the dispatcher; started and closed in order.
//!
//! Worlds reach each other through [`AppRef`], filled once when everything stands.

use crate::actors::dispatcher::Dispatcher;
use crate::actors::endpoints::DeliveryMeter;
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::root::{Components, RootMsg};
use crate::domain::access::Access;
use crate::domain::endpoint::Endpoint;
use crate::domain::file::File;
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::mail::Mail;
use crate::domain::material::Material;
use crate::domain::order::Order;
use crate::domain::printer::Printer;
use crate::domain::sku::Sku;
use crate::files::blobs::Blobs;
use crate::printers::connections::PrinterConnections;
use crate::secrets::encryption::SecretCipher;
use crate::services::redis::Redis;
use crate::store::Store;
use crate::store::outbox::Outbox;
use crate::store::queries::Queries;
use crate::store::writer::WriterCounters;
use ractor::ActorRef;
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::watch;

mod start;
pub mod stream;

pub use start::StartError;

/// The whole shop.
pub struct App {
    /// Clock, ids, settings of the rules.
    pub environment: Arc<Environment>,
    /// Orders with their jobs.
    pub orders: Directory<Order>,
    /// Stock.
    pub materials: Directory<Material>,
    /// What is sold.
    pub skus: Directory<Sku>,
    /// Uploads.
    pub files: Directory<File>,
    /// Machines.
    pub printers: Directory<Printer>,
    /// Webhook endpoints.
    pub endpoints: Directory<Endpoint>,
    /// Mails on their way.
    pub mails: Directory<Mail>,
    /// Payment events that match nothing yet.
    pub inbound: Directory<KeptPaymentEvent>,
    /// Staff, keys, sessions: one thing, [`crate::domain::id::Id::ONLY`].
    pub access: Directory<Access>,
    /// Lists, from the pool for reading.
    pub queries: Queries,
    /// Committed events.
    pub outbox: Arc<Outbox>,
    /// What the writer shows.
    pub writer: Arc<WriterCounters>,
    /// Connections to printers: telemetry, and operations that go straight to the wire.
    pub printer_connections: Arc<PrinterConnections>,
    /// Proposes pairs of jobs and printers; says why a job waits.
    pub dispatcher: Dispatcher,
    /// Contents of files, by their hash.
    pub blobs: Blobs,
    /// Seals secrets at rest.
    pub cipher: Arc<SecretCipher>,
    /// Changes with each commit of access: streams look whether their readers may go on.
    pub access_changes: watch::Sender<u64>,
    /// Shared rate limits and the stream of events; none: both stay in the process.
    pub redis: Option<Arc<Redis>>,
    /// Counts new orders, for payment events that came before theirs.
    pub new_orders: watch::Sender<u64>,
    /// How the components under the root fare.
    pub components: Components,
    /// Attempts of webhook deliveries.
    pub deliveries: DeliveryMeter,
    pub(crate) root: ActorRef<RootMsg>,
    pub(crate) store: Store,
}

/// How worlds reach the shop that they are part of.
#[derive(Clone, Default)]
pub struct AppRef(Arc<OnceLock<Weak<App>>>);

impl AppRef {
    /// The shop, unless it is not up yet or gone.
    pub fn get(&self) -> Option<Arc<App>> {
        self.0.get().and_then(Weak::upgrade)
    }
    /// It stands.
    pub fn fill(&self, shop: &Arc<App>) {
        let _ = self.0.set(Arc::downgrade(shop));
    }
}
