//! Foundation of the app at startup: the directories with their store, connections and files, and the services built on
//! top of them. Nothing in this module starts an actor.

use std::sync::Arc;

use super::contents::ContentSweep;
use super::customer_space::CustomerSpace;
use super::documents::InvoiceDocuments;
use super::export_rows::QueriedExportRows;
use super::kinds::{Directories, EffectServices};
use super::start::Premises;
use super::start_error::ShopStartError;
use super::{clients, own_secrets, shops, storage};
use crate::at_processor::LedgerWork;
use crate::checkouts::Checkouts;
use crate::dispatcher::Dispatcher;
use crate::forecaster::{ForecastSources, Forecaster};
use crate::integrations::{
    AccountingWake, Integrations, PreparedIntegrations, Sources, StockSystemStatuses, SystemLines,
};
use crate::payment_events::matching::PaymentMatcher;
use crate::printers::WatchSettings;
use crate::restores::DispatchHold;
use crate::slicing::SlicingService;
use crate::subscribers::Subscribers;
use config::Config;
use documents::mail::MailFrame;
use domain::dispatch::DispatchRules;
use files::blobs::Blobs;
use kernel::directory::DirectoryArgs;
use kernel::environment::Environment;
use kernel::restart_policy::RestartPolicy;
use platform::secrets::encryption::SecretCipher;
use platform::watch::WatchSender;
use printers::connections::PrinterConnections;
use printers::registry::known_types;
use services::mail::Mailer;
use services::peer_client::PeerHttp;
use services::slicer::{Slicer, SlicerSettings};
use services::webhook::{Sender, WebhookTransport};
use store::Store;
use store::outbox::Outbox;
use store::queries::Queries;

/// Parts of the app shared by its services and integrations.
pub(super) struct Foundation {
    pub(super) environment: Arc<Environment>,
    pub(super) store: Store,
    pub(super) queries: Queries,
    pub(super) outbox: Arc<Outbox>,
    pub(super) hold: DispatchHold,
    /// Directories of all kinds; they have no supervisors yet.
    pub(super) directories: Directories,
    lines: SystemLines,
    work: LedgerWork,
    mailer: Arc<dyn Mailer>,
    webhooks: Arc<dyn WebhookTransport>,
    peers: PeerHttp,
    pub(super) subscribers: Subscribers,
    pub(super) connections: Arc<PrinterConnections>,
    pub(super) blobs: Arc<Blobs>,
    pub(super) content_sweep: Arc<ContentSweep>,
    pub(super) customer_space: Arc<CustomerSpace>,
    dispatch_rules: DispatchRules,
    pub(super) documents: Arc<InvoiceDocuments>,
    pub(super) cipher: Arc<SecretCipher>,
    pub(super) stock_boards: StockSystemStatuses,
    pub(super) accounting_wake: AccountingWake,
}

impl Foundation {
    /// Creates the aggregate directories, and opens the disk directories for files.
    pub(super) fn new(config: &Config, premises: Premises) -> Result<Self, ShopStartError> {
        let Premises { environment, store, queries, outbox, hold, clients } = premises;
        let environment = Arc::new(environment);
        let directories = Directories::new(&DirectoryArgs {
            store: store.clone(),
            environment: environment.clone(),
            policy: RestartPolicy::default(),
            max_waiting: config.limits.max_queued_commands,
        });
        let lines = SystemLines::new(&config.integrations, &environment);
        let blobs = Arc::new(storage::open_blobs(config)?);
        let content_sweep = ContentSweep::new(blobs.clone(), queries.clone(), storage::files_storage(config)?);
        let (folder, limits) = (config.files_dir(), config.files.space());
        let customer_space = CustomerSpace::new(queries.clone(), folder, blobs.clone(), limits);
        let work = LedgerWork::new(clients.processor, environment.clone());
        Ok(Self {
            directories,
            lines,
            subscribers: Subscribers::new(work.processor.clone()),
            work,
            mailer: clients.mailer,
            webhooks: clients.webhooks,
            peers: clients.peers,
            connections: Arc::new(PrinterConnections::new(clients.printers)),
            customer_space: Arc::new(customer_space),
            blobs,
            content_sweep: Arc::new(content_sweep),
            dispatch_rules: config.board_rules(known_types()),
            documents: Arc::new(InvoiceDocuments::new(config, clients.documents, queries.clone())?),
            cipher: Arc::new(own_secrets::cipher(config)?),
            stock_boards: StockSystemStatuses::default(),
            accounting_wake: AccountingWake::default(),
            environment,
            store,
            queries,
            outbox,
            hold,
        })
    }

    /// Builds the services that the effects of the kinds need.
    pub(super) fn build_services(&self, config: &Config) -> Result<EffectServices, ShopStartError> {
        Ok(EffectServices {
            forecaster: self.build_forecaster(config),
            dispatcher: self.build_dispatcher(),
            matcher: self.build_matcher(),
            environment: self.environment.clone(),
            store: self.store.clone(),
            outbox: self.outbox.clone(),
            cipher: self.cipher.clone(),
            blobs: self.blobs.clone(),
            export_files: storage::open_exports(config)?,
            export_rows: Arc::new(QueriedExportRows(self.queries.clone())),
            connections: self.connections.clone(),
            watch: watch_settings(config),
            sender: Arc::new(Sender::new(self.webhooks.clone())),
            deliveries_per_endpoint: config.webhooks.max_concurrent_per_endpoint,
            deliveries: Arc::default(),
            mailer: self.mailer.clone(),
            mail_meter: Arc::default(),
            mail_frame: Arc::new(MailFrame::new(&config.pdf, config.invoices.rules().seller)?),
            documents: self.documents.clone(),
            agent: clients::agent(config, &self.peers, self.lines.of("agent")),
            slicing: Arc::new(SlicingService::new(
                Slicer::new(SlicerSettings::of(config))?,
                self.blobs.clone(),
                self.customer_space.clone(),
            )),
            slicing_recheck: config.slicing.recheck_seconds.duration(),
            alert_interval: config.mail.alert_interval_seconds.duration(),
            access_changes: WatchSender::new(0),
            sku_changes: WatchSender::new(0),
            channel_changes: WatchSender::new(0),
            shops: shops::lines(config, self.peers.clone())?,
            work: self.work.clone(),
            hold: self.hold.clone(),
        })
    }

    fn build_forecaster(&self, config: &Config) -> Forecaster {
        Forecaster::new(ForecastSources {
            orders: self.directories.orders.clone(),
            printers: self.directories.printers.clone(),
            materials: self.directories.materials.clone(),
            connections: self.connections.clone(),
            environment: self.environment.clone(),
            rules: Arc::new(self.dispatch_rules.clone()),
            // Checked when the settings were loaded.
            hours: Arc::new(config.shop.hours().unwrap_or_default()),
            starting_ms: config.forecast.starting_seconds.millis(),
            least_margin_ms: config.forecast.least_margin_seconds.millis(),
            store: self.store.clone(),
        })
    }

    fn build_dispatcher(&self) -> Dispatcher {
        Dispatcher::new(
            self.directories.orders.clone(),
            self.directories.printers.clone(),
            self.directories.materials.clone(),
            self.environment.clone(),
            self.dispatch_rules.clone(),
            self.hold.clone(),
        )
    }

    fn build_matcher(&self) -> PaymentMatcher {
        PaymentMatcher {
            orders: self.directories.orders.clone(),
            invoices: self.directories.invoices.clone(),
            customers: self.directories.customers.clone(),
            subscribers: self.subscribers.clone(),
            store: self.store.clone(),
            environment: self.environment.clone(),
            new_references: self.work.new_references.clone(),
        }
    }

    /// Builds the service that creates checkout sessions.
    pub(super) fn build_checkouts(&self) -> Checkouts {
        Checkouts {
            orders: self.directories.orders.clone(),
            invoices: self.directories.invoices.clone(),
            work: self.work.clone(),
        }
    }

    /// Builds the integrations enabled by the settings. Makes no calls yet.
    pub(super) fn build_integrations(&self, config: &Config) -> Arc<Integrations> {
        Integrations::new(
            PreparedIntegrations::new(config, &self.peers),
            &self.lines,
            &Sources {
                integrations: self.directories.integrations.clone(),
                printers: self.directories.printers.clone(),
                materials: self.directories.materials.clone(),
                connections: self.connections.clone(),
                outbox: self.outbox.clone(),
                store: self.store.clone(),
                stock_boards: self.stock_boards.clone(),
                accounting: self.directories.accounting.clone(),
                postings: self.directories.postings.clone(),
                accounting_wake: self.accounting_wake.clone(),
                queries: self.queries.clone(),
                cipher: self.cipher.clone(),
                environment: self.environment.clone(),
                http: self.peers.clone(),
            },
        )
    }
}

fn watch_settings(config: &Config) -> WatchSettings {
    WatchSettings {
        poll: config.printers.poll_interval_seconds.duration(),
        offline: config.printers.offline_seconds.duration(),
        keep_files: config.dispatch.keep_files,
    }
}
