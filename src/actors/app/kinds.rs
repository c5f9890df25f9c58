//! Registry of aggregate kinds, and the only module in which a kind is registered.
//!
//! Each line of [`kinds!`] declares a kind's field name, aggregate, shutdown turn and effects. Everything that covers
//! all kinds is generated from these lines: starting, loading the residents, closing in order, activating the
//! aggregates that a commit creates, the handles that requests use, `/readyz`, `/api/system/actors` and `/metrics`. (An
//! aggregate's rows follow from its types: [`store::StoredAggregate`].)

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dashmap::{DashMap, DashSet};
use futures::future::join_all;
use ractor::{ActorRef, SpawnErr};

use super::documents::InvoiceDocuments;
use super::mailed_documents::MailedDocuments;
use crate::at_processor::LedgerWork;
use crate::channel_orders::ShopClients;
use crate::dispatcher::Dispatcher;
use crate::endpoints::DeliveryMeter;
use crate::exports::ExportRows;
use crate::forecaster::Forecaster;
use crate::mails::MailMeter;
use crate::orders::make::ProductionSources;
use crate::payment_events::matching::PaymentMatcher;
use crate::printers::WatchSettings;
use crate::quotes::QuoteOrders;
use crate::restores::DispatchHold;
use crate::slicing::SlicingService;
use documents::mail::MailFrame;
use domain::id::Id;
use files::blobs::Blobs;
use files::exports::ExportFiles;
use kernel::actor::Activator;
use kernel::directory::{AnyDirectory, Directory, DirectoryArgs, KindSummary};
use kernel::effects::NoEffects;
use kernel::entry::ActorSummary;
use kernel::environment::Environment;
use kernel::root::RootMsg;
use platform::secrets::encryption::SecretCipher;
use platform::watch::WatchSender;
use printers::connections::PrinterConnections;
use services::mail::Mailer;
use services::webhook::Sender;
use store::Store;
use store::outbox::Outbox;
use store::rows::LoadError;
use store::trial::{KindTrial, TrialDatabase, TrialError};

/// Services, besides the directories, that the effects of the kinds need. Each kind's effects take only the services
/// that they use.
pub(super) struct EffectServices {
    pub(super) environment: Arc<Environment>,
    pub(super) dispatcher: Dispatcher,
    pub(super) forecaster: Forecaster,
    pub(super) matcher: PaymentMatcher,
    pub(super) store: Store,
    pub(super) outbox: Arc<Outbox>,
    pub(super) cipher: Arc<SecretCipher>,
    pub(super) blobs: Arc<Blobs>,
    pub(super) export_files: ExportFiles,
    /// Source of export rows.
    pub(super) export_rows: Arc<dyn ExportRows>,
    pub(super) connections: Arc<PrinterConnections>,
    pub(super) watch: WatchSettings,
    pub(super) sender: Arc<Sender>,
    pub(super) deliveries_per_endpoint: usize,
    pub(super) deliveries: Arc<DeliveryMeter>,
    pub(super) mailer: Arc<dyn Mailer>,
    pub(super) mail_meter: Arc<MailMeter>,
    /// Email layout.
    pub(super) mail_frame: Arc<MailFrame>,
    /// Renderer for the PDFs attached to emails.
    pub(super) documents: Arc<InvoiceDocuments>,
    pub(super) agent: Option<Arc<dyn Mailer>>,
    pub(super) alert_interval: Duration,
    pub(super) slicing: Arc<SlicingService>,
    pub(super) slicing_recheck: Duration,
    pub(super) access_changes: WatchSender<u64>,
    /// Counter that increments with each SKU commit.
    pub(super) sku_changes: WatchSender<u64>,
    /// Dispatch hold while a restore awaits review.
    pub(super) hold: DispatchHold,
    /// Executor of ledger effects at the payment processor.
    pub(super) work: LedgerWork,
    /// Counter that increments with each sales channel commit.
    pub(super) channel_changes: WatchSender<u64>,
    /// Connections to the sales channels' shops, which are notified of shipments.
    pub(super) shops: Arc<ShopClients>,
}

/// Registered kind, with its shutdown turn.
pub(super) struct RegisteredKind<'a> {
    pub(super) directory: &'a dyn AnyDirectory,
    pub(super) drain_turn: u8,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $field:ident: $aggregate:ty, drain $turn:literal, |$directories:pat_param, $services:pat_param| $effects:expr;)*) => {
        /// Directories of all aggregate kinds.
        #[derive(Clone)]
        pub struct Directories {
            $($(#[$doc])* pub $field: Directory<$aggregate>,)*
        }

        impl Directories {
            /// Creates the directories, empty and without supervisors.
            pub(super) fn new(args: &DirectoryArgs) -> Self {
                Self { $($field: Directory::new(args.clone()),)* }
            }

            /// Starts the supervisor of every kind.
            pub(super) async fn start(&self, root: &ActorRef<RootMsg>, services: &EffectServices) -> Result<(), SpawnErr> {
                let activator: Arc<dyn Activator> = Arc::new(AppActivator(self.clone()));
                $({
                    let ($directories, $services) = (self, services);
                    self.$field.start(root, Arc::new($effects), activator.clone()).await?;
                })*
                Ok(())
            }

            /// Reads every aggregate of every kind in a database on which no server runs.
            ///
            /// # Errors
            ///
            /// Fails if the database fails.
            pub async fn read_everything(trial: &TrialDatabase) -> Result<Vec<KindTrial>, TrialError> {
                Ok(vec![$(trial.read_kind::<$aggregate>().await?,)*])
            }

            /// Returns every kind, in order of registration.
            pub(super) fn all(&self) -> Vec<RegisteredKind<'_>> {
                vec![$(RegisteredKind { directory: &self.$field, drain_turn: $turn },)*]
            }
        }

        $(
            impl AsRef<Directory<$aggregate>> for Directories {
                fn as_ref(&self) -> &Directory<$aggregate> {
                    &self.$field
                }
            }
        )*
    };
}

// In the order in which residents are loaded at start: whoever is asked comes before whoever asks. Drained turn by
// turn: first those whose effects ask others, last access, which every request asks.
kinds! {
    /// Staff, API keys and sessions: a single aggregate, [`Id::ONLY`].
    access: domain::access::Access, drain 3, |_, s| crate::access::AccessEffects { changes: s.access_changes.clone() };
    /// Restores from a backup, with the document numbers that they skip.
    restores: domain::restore::Restore, drain 2, |d, s| crate::restores::RestoreEffects {
        restores: d.restores.clone(),
        hold: s.hold.clone(),
        environment: s.environment.clone(),
    };
    /// Stock: materials with their claims and movements.
    materials: domain::material::Material, drain 2, |d, s| crate::materials::MaterialEffects {
        orders: d.orders.clone(),
        printers: d.printers.clone(),
        connections: s.connections.clone(),
        spools: DashMap::new(),
    };
    /// Products: SKUs with their files and prices.
    skus: domain::sku::Sku, drain 0, |_, s| crate::skus::SkuEffects { changes: s.sku_changes.clone() };
    /// Uploaded files; the contents are in [`Blobs`].
    files: domain::file::File, drain 0, |_, _| NoEffects;
    /// Orders with their jobs.
    orders: domain::order::Order, drain 0, |d, s| crate::orders::OrderEffects {
        sources: d.make_sources(),
        sku_changes: s.sku_changes.clone(),
        slicing: s.slicing.clone(),
        slicing_recheck: s.slicing_recheck,
        materials: d.materials.clone(),
        printers: d.printers.clone(),
        invoices: d.invoices.clone(),
        channel_orders: d.channel_orders.clone(),
        dispatcher: s.dispatcher.clone(),
        forecaster: s.forecaster.clone(),
        work: s.work.clone(),
    };
    /// Sales channels: shops whose orders are fulfilled here, with their variant maps.
    sales_channels: domain::sales_channel::SalesChannel, drain 2, |_, s| crate::sales_channels::SalesChannelEffects {
        changes: s.channel_changes.clone(),
    };
    /// Orders placed in the shops of sales channels.
    channel_orders: domain::channel_order::ChannelOrder, drain 1, |d, s| crate::channel_orders::ChannelOrderEffects {
        channels: d.sales_channels.clone(),
        orders: d.orders.clone(),
        sources: d.make_sources(),
        changes: s.channel_changes.clone(),
        shops: s.shops.clone(),
        environment: s.environment.clone(),
    };
    /// Invoices with their payments; issued documents are only written and never loaded.
    invoices: domain::invoice::Invoice, drain 1, |_, s| crate::at_processor::InvoiceEffects { work: s.work.clone() };
    /// Custom requests from customers, before a price is quoted; the photos are files.
    custom_requests: domain::custom_request::CustomRequest, drain 1, |_, _| NoEffects;
    /// Quotes offered to customers.
    quotes: domain::quote::Quote, drain 0, |d, s| crate::quotes::QuoteEffects {
        custom_requests: d.custom_requests.clone(),
        quote_orders: d.quote_orders(),
        slicing: s.slicing.clone(),
        slicing_recheck: s.slicing_recheck,
    };
    /// Printers, each with its current attempt.
    printers: domain::printer::Printer, drain 1, |d, s| crate::printers::PrinterEffects {
        orders: d.orders.clone(),
        printers: d.printers.clone(),
        materials: d.materials.clone(),
        files: d.files.clone(),
        blobs: s.blobs.clone(),
        connections: s.connections.clone(),
        cipher: s.cipher.clone(),
        dispatcher: s.dispatcher.clone(),
        forecaster: s.forecaster.clone(),
        environment: s.environment.clone(),
        settings: s.watch,
        hold: s.hold.clone(),
        commits: Default::default(),
    };
    /// Webhook endpoints with their cursors and pending deliveries.
    endpoints: domain::endpoint::Endpoint, drain 1, |_, s| crate::endpoints::EndpointEffects {
        outbox: s.outbox.clone(),
        store: s.store.clone(),
        environment: s.environment.clone(),
        cipher: s.cipher.clone(),
        meter: s.deliveries.clone(),
        sender: s.sender.clone(),
        concurrency: s.deliveries_per_endpoint,
        permits: DashMap::new(),
    };
    /// Outgoing emails.
    mails: domain::mail::Mail, drain 2, |d, s| crate::mails::MailEffects {
        environment: s.environment.clone(),
        cipher: s.cipher.clone(),
        mailer: s.mailer.clone(),
        meter: s.mail_meter.clone(),
        frame: s.mail_frame.clone(),
        documents: Arc::new(MailedDocuments { documents: s.documents.clone(), invoices: d.invoices.clone() }),
        agent: s.agent.clone(),
        mails: d.mails.clone(),
        access: d.access.clone(),
        alert_interval: s.alert_interval,
        last_alerts: DashMap::new(),
        sent_alerts: DashSet::new(),
        failing: AtomicBool::new(false),
    };
    /// Customers with their sessions.
    customers: domain::customer::Customer, drain 2, |_, _| NoEffects;
    /// Sign-in links for customers.
    sign_in_links: domain::sign_in_link::SignInLink, drain 1, |_, _| NoEffects;
    /// Requested table exports.
    exports: domain::export::Export, drain 1, |_, s| crate::exports::ExportEffects {
        environment: s.environment.clone(),
        files: s.export_files.clone(),
        rows: s.export_rows.clone(),
        cipher: s.cipher.clone(),
    };
    /// Connection to the accounting system: a single aggregate, [`Id::ONLY`].
    accounting: domain::accounting::Accounting, drain 2, |_, _| NoEffects;
    /// Documents to be posted to the accounting system.
    postings: domain::posting::Posting, drain 2, |_, _| NoEffects;
    /// Integrations that follow events, each with its cursor.
    integrations: domain::integration::Integration, drain 2, |_, _| NoEffects;
    /// Payment events that have not been matched to an order yet.
    payment_events: domain::kept_payment_event::KeptPaymentEvent, drain 2, |_, s| crate::payment_events::KeptPaymentEventEffects {
        matcher: s.matcher.clone(),
        new_references: s.work.new_references.clone(),
    };
}

impl Directories {
    /// Returns the directories that provide production data for SKUs.
    pub fn make_sources(&self) -> ProductionSources {
        ProductionSources { skus: self.skus.clone(), files: self.files.clone(), materials: self.materials.clone() }
    }

    /// Returns the service that creates orders from accepted quotes.
    pub fn quote_orders(&self) -> QuoteOrders {
        QuoteOrders { orders: self.orders.clone(), customers: self.customers.clone(), sources: self.make_sources() }
    }

    /// Loads and starts, kind by kind, the aggregates that must stay in memory even while idle.
    pub(super) async fn start_resident(&self) -> Result<(), LoadError> {
        for kind in self.all() {
            kind.directory.start_resident().await?;
        }
        if self.access.count() == 0 {
            // Nobody has been added yet. It is resident all the same, since every request asks it.
            self.access.activate(Id::ONLY);
        }
        Ok(())
    }

    /// Drains all kinds, turn by turn. A kind that takes longer than `within` is abandoned.
    pub(super) async fn close(&self, within: Duration) {
        let kinds = self.all();
        let last = kinds.iter().map(|kind| kind.drain_turn).max().unwrap_or(0);
        for turn in 0..=last {
            let due = kinds.iter().filter(|kind| kind.drain_turn == turn);
            join_all(due.map(|kind| kind.directory.close(within))).await;
        }
    }

    /// Returns an overview of the actors of all kinds.
    pub fn overview(&self) -> KindsOverview {
        KindsOverview(self.clone())
    }
}

/// Overview of the actors of all kinds, for health checks and metrics. It neither reads aggregates nor sends them
/// commands.
#[derive(Clone)]
pub struct KindsOverview(Directories);

impl KindsOverview {
    /// Returns the summary of each kind, in order of registration.
    pub fn summaries(&self) -> Vec<KindSummary> {
        self.0.all().iter().map(|kind| kind.directory.summary()).collect()
    }

    /// Returns every aggregate in memory, kind by kind.
    pub fn actors(&self) -> Vec<ActorSummary> {
        self.0.all().iter().flat_map(|kind| kind.directory.observe()).collect()
    }
}

/// Activator that starts the actors of new aggregates of any kind.
struct AppActivator(Directories);

impl Activator for AppActivator {
    fn activate(&self, kind: &'static str, id: Id) {
        match self.0.all().into_iter().find(|registered| registered.directory.kind() == kind) {
            Some(registered) => registered.directory.activate(id),
            None => tracing::error!(kind, %id, "a commit created an aggregate of an unregistered kind"),
        }
    }
}
