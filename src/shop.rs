//! The whole shop: every kind's directory, the store, the fleet, the dispatcher; started and closed in order.
//!
//! Worlds reach each other through [`ShopRef`], filled once when everything stands.

use crate::actors::dispatcher::Dispatcher;
use crate::actors::endpoints::DeliveryMeter;
use crate::actors::environment::Environment;
use crate::actors::root::{Pillars, RootMsg};
use crate::actors::things::Things;
use crate::blobs::Blobs;
use crate::domain::access::Access;
use crate::domain::endpoint::Endpoint;
use crate::domain::file::File;
use crate::domain::inbox::Inbound;
use crate::domain::mail::Mail;
use crate::domain::material::Material;
use crate::domain::order::Order;
use crate::domain::printer::Printer;
use crate::domain::sku::Sku;
use crate::fleet::Fleet;
use crate::sealing::Sealer;
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
pub struct Shop {
    /// Clock, ids, settings of the rules.
    pub environment: Arc<Environment>,
    /// Orders with their jobs.
    pub orders: Things<Order>,
    /// Stock.
    pub materials: Things<Material>,
    /// What is sold.
    pub skus: Things<Sku>,
    /// Uploads.
    pub files: Things<File>,
    /// Machines.
    pub printers: Things<Printer>,
    /// Webhook endpoints.
    pub endpoints: Things<Endpoint>,
    /// Mails on their way.
    pub mails: Things<Mail>,
    /// Payment events that match nothing yet.
    pub inbound: Things<Inbound>,
    /// Staff, keys, sessions: one thing, [`crate::domain::id::Id::ONLY`].
    pub access: Things<Access>,
    /// Lists, from the pool for reading.
    pub queries: Queries,
    /// Committed events.
    pub outbox: Arc<Outbox>,
    /// What the writer shows.
    pub writer: Arc<WriterCounters>,
    /// Connections to printers: telemetry, and operations that go straight to the wire.
    pub fleet: Arc<Fleet>,
    /// Proposes pairs of jobs and printers; says why a job waits.
    pub dispatcher: Dispatcher,
    /// Contents of files, by their hash.
    pub blobs: Blobs,
    /// Seals secrets at rest.
    pub sealer: Arc<Sealer>,
    /// Changes with each commit of access: streams look whether their readers may go on.
    pub access_changes: watch::Sender<u64>,
    /// Shared rate limits and the stream of events; none: both stay in the process.
    pub redis: Option<Arc<Redis>>,
    /// Counts new orders, for payment events that came before theirs.
    pub new_orders: watch::Sender<u64>,
    /// How the pillars under the root fare.
    pub pillars: Pillars,
    /// Attempts of webhook deliveries.
    pub deliveries: DeliveryMeter,
    pub(crate) root: ActorRef<RootMsg>,
    pub(crate) store: Store,
}

/// How worlds reach the shop that they are part of.
#[derive(Clone, Default)]
pub struct ShopRef(Arc<OnceLock<Weak<Shop>>>);

impl ShopRef {
    /// The shop, unless it is not up yet or gone.
    pub fn get(&self) -> Option<Arc<Shop>> {
        self.0.get().and_then(Weak::upgrade)
    }
    /// It stands.
    pub fn fill(&self, shop: &Arc<Shop>) {
        let _ = self.0.set(Arc::downgrade(shop));
    }
}
