//! The app as a whole: the directories of all aggregate kinds, the store, the printer connections and the dispatcher,
//! started and closed in order.
//!
//! Only the outer layer (`http/`, `cli/`) has access to the [`App`]. Actors and services receive the handles they need
//! when they are created (`kinds`), so nothing below this module depends on it.

use std::ops::Deref;
use std::sync::Arc;

use ractor::ActorRef;

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
use platform::watch::WatchSender;
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
pub mod storage;
pub mod story;
pub mod stream;

pub use clients::{OutsideClients, printer_registry, rehearse};
pub use contents::ContentSweep;
pub use kinds::{Directories, KindsOverview};
pub use openings::unopened;
pub use start::Premises;
pub use start_error::ShopStartError;

/// All components of a server process. The directory of each aggregate kind is available as a field, such as
/// `app.orders`.
pub struct App {
    /// Directory of each aggregate kind.
    pub directories: Directories,
    /// Clock, IDs and settings for the domain rules.
    pub environment: Arc<Environment>,
    /// List queries. They run on the read pool and don't activate actors.
    pub queries: Queries,
    /// Outbox of committed events, in order of event number.
    pub outbox: Arc<Outbox>,
    /// The writer's counters and availability.
    pub writer: Arc<WriterCounters>,
    /// Printer connections, with each printer's last status and the operations sent directly to printers.
    pub printer_connections: Arc<PrinterConnections>,
    /// Dispatcher, which matches jobs with printers and can explain why a job has not been assigned.
    pub dispatcher: Dispatcher,
    /// Dispatch hold while a restored shop awaits review.
    pub hold: DispatchHold,
    /// Forecaster, which predicts when jobs, orders and printers will be done.
    pub forecaster: Forecaster,
    /// Service that matches payment events with orders and invoices.
    pub payments: PaymentMatcher,
    /// Service that finds or creates checkout sessions for orders and invoices.
    pub checkouts: Checkouts,
    /// Client for customer data at the payment processor.
    pub subscribers: Subscribers,
    /// File contents, by hash.
    pub blobs: Arc<Blobs>,
    /// Sweep that deletes contents to which no file refers.
    pub content_sweep: Arc<ContentSweep>,
    /// Storage used by customer files, and its limits.
    pub customer_space: Arc<customer_space::CustomerSpace>,
    /// Files written by table exports.
    pub export_files: ExportFiles,
    /// Service that creates downloadable backups of the whole shop.
    pub backups: Arc<backups::Backups>,
    /// Scheduled backups that the server makes automatically.
    pub backup_schedule: Arc<backups::schedule::BackupSchedule>,
    /// Slicing service, which produces G-code from models.
    pub slicing: Arc<SlicingService>,
    /// Cipher that encrypts secrets at rest.
    pub cipher: Arc<SecretCipher>,
    /// Counter that increments with each access commit, so that event streams recheck their readers' permissions.
    pub access_changes: WatchSender<u64>,
    /// Redis connection for shared rate limits and the event stream; `None` if both are kept in memory.
    pub redis: Option<Arc<Redis>>,
    /// Health of the components under the root, including crash counts.
    pub components: HealthRegistry,
    /// Counters of webhook delivery attempts.
    pub deliveries: Arc<DeliveryMeter>,
    /// Record of when an email was last sent.
    pub mail_meter: Arc<MailMeter>,
    /// Latest state observed in external stock systems.
    pub stock_boards: StockSystemStatuses,
    /// Signal that makes the accounting integration run immediately.
    pub accounting_wake: AccountingWake,
    /// Service that renders and stores invoice PDFs.
    pub documents: Arc<documents::InvoiceDocuments>,
    /// Storefront that provides the catalogue; `None` if the catalogue consists of our own products.
    pub storefront: Option<Arc<Storefront>>,
    /// External systems that the shop uses, with the status of each.
    pub integrations: Arc<Integrations>,
    /// Root of the supervision tree.
    pub root: ActorRef<RootMsg>,
    /// Store, used for the server's own checks.
    pub store: Store,
}

impl Deref for App {
    type Target = Directories;

    fn deref(&self) -> &Directories {
        &self.directories
    }
}
