//! Composition of the whole app: the directory of every kind, the store, the printer connections and the dispatcher;
//! started and closed in order.
//!
//! Only the outer layer (`http/`, `cli/`) holds the [`App`]. Actors and services receive the handles they use when they
//! are created (`kinds`), so nothing below this module depends on it.

use std::ops::Deref;
use std::sync::Arc;

use ractor::ActorRef;
use tokio::sync::watch;

use crate::checkouts::Checkouts;
use crate::dispatcher::Dispatcher;
use crate::endpoints::DeliveryMeter;
use crate::forecaster::Forecaster;
use crate::integrations::{AccountingWake, Integrations, StockSystemStatuses};
use crate::mails::MailMeter;
use crate::payment_events::matching::PaymentMatcher;
use crate::restores::DispatchHold;
use crate::slicing::SlicingService;
use crate::subscribers::Subscribers;
use files::blobs::Blobs;
use files::exports::ExportFiles;
use kernel::environment::Environment;
use kernel::root::{HealthRegistry, RootMsg};
use platform::secrets::encryption::SecretCipher;
use printers::connections::PrinterConnections;
use services::redis::Redis;
use services::storefront::Storefront;
use store::Store;
use store::outbox::Outbox;
use store::queries::Queries;
use store::writer::WriterCounters;

pub mod backups;
mod clients;
mod contents;
pub mod customer_space;
pub mod documents;
mod export_rows;
mod foundation;
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

pub use clients::{printer_registry, rehearse};
pub use contents::remove_contents;
pub use kinds::{Directories, KindsOverview};
pub use openings::unopened;
pub use start_error::ShopStartError;

/// All components of one server process. The directories of the kinds are accessible as its fields: `app.orders`.
pub struct App {
    /// Directory of each kind of aggregate.
    pub directories: Directories,
    /// Clock, ids and the settings of the rules.
    pub environment: Arc<Environment>,
    /// List queries on the read pool; they activate no actor.
    pub queries: Queries,
    /// Committed events, in the order of their numbers.
    pub outbox: Arc<Outbox>,
    /// Counters of the writer, and its availability.
    pub writer: Arc<WriterCounters>,
    /// Printer connections: the last status of each printer, and operations sent directly to it.
    pub printer_connections: Arc<PrinterConnections>,
    /// Dispatcher, which proposes pairs of jobs and printers and explains why a job waits.
    pub dispatcher: Dispatcher,
    /// Hold on dispatch while a restored shop waits for its review.
    pub hold: DispatchHold,
    /// Forecaster, which provides the expected completion of jobs, orders and printers.
    pub forecaster: Forecaster,
    /// Matcher of payment events with their orders and invoices.
    pub payments: PaymentMatcher,
    /// Finder and creator of checkout sessions for orders and invoices.
    pub checkouts: Checkouts,
    /// Customers as the payment processor knows them.
    pub subscribers: Subscribers,
    /// File contents, by their hash.
    pub blobs: Arc<Blobs>,
    /// Storage used by customers' files, and its limits.
    pub customer_space: Arc<customer_space::CustomerSpace>,
    /// Files of requested table exports.
    pub export_files: ExportFiles,
    /// Creator of downloadable backups of the whole shop.
    pub backups: Arc<backups::Backups>,
    /// Slicing service, which produces G-code from models.
    pub slicing: Arc<SlicingService>,
    /// Cipher that encrypts secrets at rest.
    pub cipher: Arc<SecretCipher>,
    /// Counter that changes with each commit of access, so that event streams re-check their readers' permission.
    pub access_changes: watch::Sender<u64>,
    /// Redis connection for shared rate limits and the stream of events; `None` to keep both in the process.
    pub redis: Option<Arc<Redis>>,
    /// Health of the components under the root, with the number of crashes of each.
    pub components: HealthRegistry,
    /// Counters of webhook delivery attempts.
    pub deliveries: Arc<DeliveryMeter>,
    /// Knows when a mail last went out.
    pub mail_meter: Arc<MailMeter>,
    /// Latest state observed in external stock systems.
    pub stock_boards: StockSystemStatuses,
    /// Wake-up that makes the accounting integration run at once.
    pub accounting_wake: AccountingWake,
    /// Renderer and storage of invoice PDFs.
    pub documents: Arc<documents::InvoiceDocuments>,
    /// Storefront whose products form the catalogue; `None` if it consists of our own products.
    pub storefront: Option<Arc<Storefront>>,
    /// External systems of the shop, with the status of each.
    pub integrations: Arc<Integrations>,
    /// Root of the supervision tree.
    pub root: ActorRef<RootMsg>,
    /// Store, for the server's own checks.
    pub store: Store,
}

impl Deref for App {
    type Target = Directories;

    fn deref(&self) -> &Directories {
        &self.directories
    }
}
