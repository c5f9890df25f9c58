//! The whole app: every kind's directory, the store, the printer connections, the dispatcher; started and closed in
//! order.
//!
//! Only the edge (`http/`, `cli/`) holds the [`App`]. Actors and services get the handles they use when they are made
//! (`kinds`), so nothing below this module knows it.

use std::ops::Deref;
use std::sync::Arc;

use ractor::ActorRef;
use tokio::sync::watch;

use crate::actors::checkouts::Checkouts;
use crate::actors::dispatcher::Dispatcher;
use crate::actors::endpoints::DeliveryMeter;
use crate::actors::forecaster::Forecaster;
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::root::{Components, RootMsg};
use crate::actors::mails::MailMeter;
use crate::actors::payment_events::matching::PaymentMatcher;
use crate::actors::restores::DispatchHold;
use crate::actors::slicing::Slicing;
use crate::actors::subscribers::Subscribers;
use crate::files::blobs::Blobs;
use crate::files::exports::ExportFiles;
use crate::integrations::{AccountingWake, Integrations, StockBoards};
use crate::printers::connections::PrinterConnections;
use crate::secrets::encryption::SecretCipher;
use crate::services::redis::Redis;
use crate::services::storefront::Storefront;
use crate::store::Store;
use crate::store::outbox::Outbox;
use crate::store::queries::Queries;
use crate::store::writer::WriterCounters;

pub mod backups;
mod contents;
pub mod customer_space;
pub mod documents;
mod export_rows;
mod kinds;
mod mailed_documents;
mod manual_restore;
mod openings;
pub mod own_secrets;
mod photos;
pub mod restore_mark;
pub mod service_tests;
pub mod shops;
mod start;
mod start_error;
pub mod story;
pub mod stream;

pub use contents::remove_contents;
pub use kinds::{Directories, KindsOverview};
pub use openings::unopened;
pub use start::{printer_registry, rehearse};
pub use start_error::ShopStartError;

/// Everything that runs in one server process. The directories of the kinds are reached as its fields: `app.orders`.
pub struct App {
    /// The directory of each kind of aggregate.
    pub directories: Directories,
    /// Clock, ids and the settings of the rules.
    pub environment: Arc<Environment>,
    /// Reads lists from the pool for reading; wakes no actor.
    pub queries: Queries,
    /// Committed events in order of their numbers.
    pub outbox: Arc<Outbox>,
    /// Counters of the writer, and whether it can write.
    pub writer: Arc<WriterCounters>,
    /// Connections to printers: their last status, and operations that go straight to the printer.
    pub printer_connections: Arc<PrinterConnections>,
    /// Proposes pairs of jobs and printers; says why a job waits.
    pub dispatcher: Dispatcher,
    /// Holds dispatch while a restored shop waits for its review.
    pub hold: DispatchHold,
    /// Tells when jobs, orders and printers are expected to be done.
    pub forecaster: Forecaster,
    /// Finds the order that a payment event belongs to.
    pub payments: PaymentMatcher,
    /// Finds or makes the session by which an order can be paid.
    pub checkouts: Checkouts,
    /// Our customers as the payment processor knows them.
    pub subscribers: Subscribers,
    /// Contents of files, by their hash.
    pub blobs: Arc<Blobs>,
    /// How much room customers' files take, and may take.
    pub customer_space: Arc<customer_space::CustomerSpace>,
    /// Tables that were asked for.
    pub export_files: ExportFiles,
    /// Copies everything that the shop has, for somebody to keep elsewhere.
    pub backups: Arc<backups::Backups>,
    /// Makes G-code of models.
    pub slicing: Arc<Slicing>,
    /// Encrypts secrets at rest.
    pub cipher: Arc<SecretCipher>,
    /// Changes with each commit of access: event streams check again whether their readers may go on.
    pub access_changes: watch::Sender<u64>,
    /// Shared rate limits and the stream of events; `None`: both stay in the process.
    pub redis: Option<Arc<Redis>>,
    /// The components under the root: up or not, and how often each crashed.
    pub components: Components,
    /// Counts attempts of webhook deliveries.
    pub deliveries: Arc<DeliveryMeter>,
    /// Knows when a mail last went out.
    pub mail_meter: Arc<MailMeter>,
    /// What is seen of systems that count stock.
    pub stock_boards: StockBoards,
    /// Has the accounting system told at once.
    pub accounting_wake: AccountingWake,
    /// Renders and stores PDFs of invoices.
    pub documents: Arc<documents::InvoiceDocuments>,
    /// The storefront whose products are the catalogue; `None`: our own are.
    pub storefront: Option<Arc<Storefront>>,
    /// Other systems of the shop, and how each fares.
    pub integrations: Arc<Integrations>,
    pub(crate) root: ActorRef<RootMsg>,
    pub(crate) store: Store,
}

impl Deref for App {
    type Target = Directories;

    fn deref(&self) -> &Directories {
        &self.directories
    }
}
