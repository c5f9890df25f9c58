//! Starts the app in order (database, writer, directories, residents, dispatcher) and closes it in the reverse order.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt;
use ractor::{Actor, ActorCell, ActorRef, SpawnErr};
use tokio::sync::watch;

use super::App;
use super::backups::Backups;
use super::customer_space::{self, CustomerSpace};
use super::documents::InvoiceDocuments;
use super::export_rows::QueriedExportRows;
use super::kinds::{Directories, EffectServices};
use super::start_error::ShopStartError;
use super::{manual_restore, own_secrets, photos, shops};
use crate::at_processor::LedgerWork;
use crate::checkouts::Checkouts;
use crate::dispatcher::Dispatcher;
use crate::forecaster::{ForecastSources, Forecaster};
use crate::integrations::agent::AgentSender;
use crate::integrations::{
    AccountingWake, Integrations, PreparedIntegrations, Sources, StockSystemStatuses, SystemLine, SystemLines,
};
use crate::payment_events::matching::PaymentMatcher;
use crate::printers::WatchSettings;
use crate::restores::DispatchHold;
use crate::slicing::SlicingService;
use crate::subscribers::Subscribers;
use config::Config;
use documents::Renderer;
use documents::mail::MailFrame;
use domain::schedule::Delays;
use files::blobs::Blobs;
use files::exports::ExportFiles;
use kernel::directory::DirectoryArgs;
use kernel::environment::{Clock, Environment};
use kernel::restart_policy::RestartPolicy;
use kernel::root::{HealthRegistry, Root, RootMsg, keep};
use platform::http::{BuildError, LanSettings, Outbound, OutboundSettings, lan};
use platform::secrets::encryption::SecretCipher;
use printers::connections::PrinterConnections;
use printers::registry::{Registry, Settings, known_types};
use services::mail::{ApiSettings, FileOutbox, MailApi, Mailer, Smtp, SmtpSettings};
use services::payments::{ClientSettings, PaymentProcessor, ProcessorClient};
use services::redis::Redis;
use services::slicer::{Slicer, SlicerSettings};
use services::webhook::Sender;
use store::Store;
use store::connect::{self, WriteConnection};
use store::copy::DatabaseCopier;
use store::outbox::Outbox;
use store::queries::Queries;
use store::reader::Reader;
use store::writer::{Writer, WriterArgs, WriterCounters, WriterHandle};

impl App {
    /// Opens the database and starts all components; printers connect afterwards, in parallel. `fenced` is called when
    /// another server has taken over the database: the process must then exit.
    pub async fn start(
        config: &Config,
        clock: Clock,
        fenced: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Arc<Self>, ShopStartError> {
        let database = own_secrets::database_settings(config);
        let mut writing = connect::start(&database).await?;
        own_secrets::keep(config, &writing.db).await?;
        manual_restore::detect(&config.server.data_dir, &mut writing, clock()).await?;
        let reading = connect::reading(&database).await?;
        let queries = Queries::new(reading.clone());
        let outbox = Outbox::restored(writing.last_seq, queries.undone_events().await?);
        let hold = DispatchHold::new(queries.unreviewed_restore().await?);
        let counters = Arc::new(WriterCounters::default());
        let last = queries.highest_numbers().await?;
        let environment = Arc::new(Environment::with_clock(config.rules(), clock, last));

        let components = HealthRegistry::default();
        let (root, ended) = Root::spawn(None, Root, components.clone()).await?;
        let leave = fenced.clone();
        // Nobody supervises the root: without it the process must end. After an ordered close nobody listens any more.
        tokio::spawn(async move {
            let _ = ended.await;
            leave();
        });
        let copier = DatabaseCopier::new(database.clone());
        let args = WriterArgs { database, outbox: outbox.clone(), counters: counters.clone(), fenced };
        let writer = start_writer(&root, args, writing).await?;
        let store = Store::new(writer, Reader::Database(reading), queries.clone());

        let directories = Directories::new(&DirectoryArgs {
            store: store.clone(),
            environment: environment.clone(),
            policy: RestartPolicy::default(),
            max_waiting: config.limits.max_queued_commands,
        });
        let lines = SystemLines::new(&config.integrations, &environment);
        let orders = directories.orders.clone();
        let work = LedgerWork::new(processor(config)?, environment.clone());
        let subscribers = Subscribers::new(work.processor.clone());
        let connections = Arc::new(PrinterConnections::new(printer_registry(config)?));
        let blobs = Arc::new(Blobs::open(config.files_dir())?);
        let customer_space = Arc::new(CustomerSpace::new(queries.clone(), config.files_dir(), config.files.space()));
        let backups = Arc::new(Backups::open(config, copier, blobs.clone())?);
        let board_rules = config.board_rules(known_types());
        let documents = Arc::new(InvoiceDocuments::new(config, queries.clone())?);
        let services = EffectServices {
            forecaster: Forecaster::new(ForecastSources {
                orders: orders.clone(),
                printers: directories.printers.clone(),
                connections: connections.clone(),
                environment: environment.clone(),
                rules: Arc::new(board_rules.clone()),
                // Checked when the settings were loaded.
                hours: Arc::new(config.shop.hours().unwrap_or_default()),
                starting_ms: config.forecast.starting_seconds.millis(),
                least_margin_ms: config.forecast.least_margin_seconds.millis(),
                store: store.clone(),
            }),
            dispatcher: Dispatcher::new(
                orders.clone(),
                directories.printers.clone(),
                directories.materials.clone(),
                environment.clone(),
                board_rules,
                hold.clone(),
            ),
            matcher: PaymentMatcher {
                orders,
                invoices: directories.invoices.clone(),
                customers: directories.customers.clone(),
                subscribers: subscribers.clone(),
                store: store.clone(),
                environment: environment.clone(),
                new_references: work.new_references.clone(),
            },
            environment,
            store,
            outbox,
            cipher: Arc::new(SecretCipher::new(config.auth.secrets_key.expose())?),
            blobs: blobs.clone(),
            export_files: ExportFiles::open(config.server.data_dir.join("exports"))?,
            export_rows: Arc::new(QueriedExportRows(queries.clone())),
            connections,
            watch: WatchSettings {
                poll: config.printers.poll_interval_seconds.duration(),
                offline: config.printers.offline_seconds.duration(),
                keep_files: config.dispatch.keep_files,
            },
            sender: Arc::new(Sender::new(Outbound::new(OutboundSettings {
                connect_timeout: config.webhooks.connect_timeout_seconds.duration(),
                timeout: config.webhooks.delivery_timeout_seconds.duration(),
                allow_private: config.webhooks.allow_private_targets,
                idle_per_host: config.webhooks.max_concurrent_per_endpoint,
            })?)),
            deliveries_per_endpoint: config.webhooks.max_concurrent_per_endpoint,
            deliveries: Arc::default(),
            mailer: mailer(config)?,
            mail_meter: Arc::default(),
            mail_frame: Arc::new(MailFrame::new(&config.pdf, config.invoices.rules().seller)?),
            documents: documents.clone(),
            agent: agent(config, lines.of("agent"))?,
            slicing: Arc::new(SlicingService::new(
                Slicer::new(SlicerSettings::of(config))?,
                blobs.clone(),
                customer_space.clone(),
            )),
            slicing_recheck: config.slicing.recheck_seconds.duration(),
            alert_interval: config.mail.alert_interval_seconds.duration(),
            access_changes: watch::Sender::new(0),
            sku_changes: watch::Sender::new(0),
            channel_changes: watch::Sender::new(0),
            shops: shops::lines(config)?,
            work: work.clone(),
            hold: hold.clone(),
        };
        let checkouts = Checkouts { orders: directories.orders.clone(), invoices: directories.invoices.clone(), work };
        let redis = redis(config)?;
        let (stock_boards, accounting_wake) = (StockSystemStatuses::default(), AccountingWake::default());
        let client = lan(&LanSettings::default())?;
        let integrations = Integrations::new(
            PreparedIntegrations::new(config, &client),
            &lines,
            &Sources {
                integrations: directories.integrations.clone(),
                printers: directories.printers.clone(),
                materials: directories.materials.clone(),
                connections: services.connections.clone(),
                outbox: services.outbox.clone(),
                store: services.store.clone(),
                stock_boards: stock_boards.clone(),
                accounting: directories.accounting.clone(),
                postings: directories.postings.clone(),
                accounting_wake: accounting_wake.clone(),
                queries: queries.clone(),
                cipher: services.cipher.clone(),
                environment: services.environment.clone(),
                client,
            },
        );
        directories.start(&root, &services).await?;
        directories.start_resident().await?;
        services.dispatcher.start(&root).await?;
        services.forecaster.start(&root).await?;
        let app = Arc::new(Self {
            directories,
            environment: services.environment,
            queries,
            outbox: services.outbox,
            writer: counters,
            printer_connections: services.connections,
            dispatcher: services.dispatcher,
            hold,
            forecaster: services.forecaster,
            payments: services.matcher,
            subscribers,
            checkouts,
            customer_space,
            blobs: services.blobs,
            export_files: services.export_files,
            backups,
            slicing: services.slicing,
            cipher: services.cipher,
            access_changes: services.access_changes,
            redis,
            components,
            deliveries: services.deliveries,
            mail_meter: services.mail_meter,
            stock_boards,
            accounting_wake,
            documents,
            storefront: shops::storefront(config)?,
            integrations,
            root,
            store: services.store,
        });
        tokio::spawn(run_retention(Arc::downgrade(&app)));
        let keep = config.printers.keep_finish_photos_days;
        if !keep.is_zero() {
            tokio::spawn(photos::run(Arc::downgrade(&app), keep.duration()));
        }
        let keep = config.files.unclaimed_days;
        if !keep.is_zero() {
            tokio::spawn(customer_space::run(Arc::downgrade(&app), keep.duration()));
        }
        Ok(app)
    }

    /// Drains all kinds: admitted commands are finished, then the actors are stopped. `within` bounds each turn.
    pub async fn close(&self, within: Duration) {
        let _ = self.root.call(RootMsg::Closing, Some(within)).await;
        self.directories.close(within).await;
        self.root.stop(None);
    }
}

/// Delay of the first retention run, so that it does not add to the load of the start.
const FIRST_RETENTION_AFTER: Duration = Duration::from_secs(60);
const RETENTION_INTERVAL: Duration = Duration::from_secs(3600);

/// Deletes data whose retention is over, while the app lives.
async fn run_retention(app: Weak<App>) {
    let mut wait = FIRST_RETENTION_AFTER;
    loop {
        tokio::time::sleep(wait).await;
        let Some(app) = app.upgrade() else { return };
        app.store.run_retention(app.environment.now());
        // Contents whose file was deleted, or never recorded, by a process that ended in the middle.
        match app.remove_unnamed_contents().await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed the contents of deleted files from disk"),
            Err(error) => tracing::warn!(%error, "cannot remove the contents of deleted files from disk"),
        }
        wait = RETENTION_INTERVAL;
    }
}

async fn start_writer(
    root: &ActorRef<RootMsg>,
    args: WriterArgs,
    writing: WriteConnection,
) -> Result<WriterHandle, ShopStartError> {
    let place: Arc<Mutex<Option<WriterHandle>>> = Arc::default();
    let first = Arc::new(Mutex::new(Some(Box::new(writing))));
    let put = place.clone();
    let starter = move |root: ActorCell| {
        let (args, place) = (args.clone(), put.clone());
        // After a crash the connection is gone with the writer that crashed: the new one opens its own, with the next
        // epoch.
        let writing = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        async move {
            let (writer, _) = Writer::spawn_linked(None, Writer, (args, writing), root).await?;
            let cell = writer.get_cell();
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            match &*place {
                Some(handle) => handle.replace(writer),
                None => *place = Some(WriterHandle::new(writer)),
            }
            Ok(cell)
        }
        .boxed()
    };
    keep(root, "store", Arc::new(starter)).await?;
    let handle = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
    handle.ok_or_else(|| SpawnErr::StartupFailed("the writer did not start".into()).into())
}

fn redis(config: &Config) -> Result<Option<Arc<Redis>>, ShopStartError> {
    let settings = &config.redis;
    if settings.url.is_empty() {
        return Ok(None);
    }
    Ok(Some(Redis::new(settings.url.expose(), settings.timeout_seconds.duration(), settings.stream_max_entries)?))
}

fn mailer(config: &Config) -> Result<Arc<dyn Mailer>, ShopStartError> {
    let mail = &config.mail;
    if let Some(settings) = SmtpSettings::of(config, Duration::from_secs(30)) {
        return Ok(Arc::new(Smtp::new(settings)?));
    }
    if !mail.api_key.is_empty() {
        let client = lan(&LanSettings::default())?;
        let settings = ApiSettings {
            base_url: mail.api_url.clone(),
            key: mail.api_key.expose().to_owned(),
            from: mail.from.clone(),
        };
        return Ok(Arc::new(MailApi::new(client, settings)?));
    }
    Ok(Arc::new(FileOutbox::new(config.outbox_dir(), &mail.from)?))
}

fn agent(config: &Config, line: Arc<SystemLine>) -> Result<Option<Arc<dyn Mailer>>, ShopStartError> {
    let line = AgentSender::new(config, &lan(&LanSettings::default())?, line);
    Ok(line.map(|line| Arc::new(line) as Arc<dyn Mailer>))
}

/// Builds, as a start does, everything that depends only on the settings, and drops it again. Opens, dials and writes
/// nothing, but reads the certificates of the system. Returns the integrations that would stay off, each by the name of
/// its section with the error.
///
/// # Errors
///
/// Fails if the server would not start.
pub fn rehearse(config: &Config) -> Result<Vec<(&'static str, String)>, ShopStartError> {
    connect::readable(&own_secrets::database_settings(config))?;
    if !config.auth.secrets_key.is_empty() {
        SecretCipher::new(config.auth.secrets_key.expose())?;
    }
    mailer(config)?;
    MailFrame::new(&config.pdf, config.invoices.rules().seller)?;
    if config.pdf.enabled {
        Renderer::new(&config.pdf)?;
    }
    redis(config)?;
    processor(config)?;
    shops::storefront(config)?;
    let prepared = PreparedIntegrations::new(config, &lan(&LanSettings::default())?);
    Ok(prepared.faults().map(|fault| (fault.name, fault.reason.to_string())).collect())
}

/// Creates the payment processor client, if its key is set.
pub(super) fn processor(config: &Config) -> Result<Option<Arc<dyn PaymentProcessor>>, ShopStartError> {
    let payments = &config.payments;
    if payments.secret_key.is_empty() {
        return Ok(None);
    }
    let calls = &config.integrations;
    let first = calls.retry_first_seconds.duration();
    let settings = ClientSettings {
        api_base: payments.api_base.clone(),
        secret_key: payments.secret_key.expose().to_owned(),
        timeout: calls.request_timeout_seconds.duration(),
        pauses: Delays { first, longest: calls.retry_longest_seconds.duration().max(first) },
    };
    Ok(Some(Arc::new(ProcessorClient::new(lan(&LanSettings::default())?, &settings)?)))
}

/// Creates the registry of printer adapters, with the timeouts of the settings.
pub fn printer_registry(config: &Config) -> Result<Registry, BuildError> {
    let settings = Settings::from(&config.printers);
    let clients = LanSettings {
        connect_timeout: settings.connect_timeout,
        read_timeout: Duration::from_secs(600),
        timeout: Duration::from_secs(24 * 3600),
    };
    // Two clients: an emergency stop shares no connection with anything that may be queued.
    Ok(Registry::new(settings, lan(&clients)?, lan(&clients)?))
}
