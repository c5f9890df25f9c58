//! Starts the app in order (database, writer, directories, residents, dispatcher) and closes it in reverse order.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt;
use ractor::{Actor, ActorCell, ActorRef, SpawnErr};
use tokio::time::Instant;

use super::App;
use super::backups::Backups;
use super::backups::schedule::{self, BackupSchedule};
use super::foundation::Foundation;
use super::kinds::EffectServices;
use super::start_error::ShopStartError;
use super::{OutsideClients, clients, customer_space, manual_restore, own_secrets, photos, shops};
use crate::restores::DispatchHold;
use config::Config;
use domain::aggregate::LastNumbers;
use domain::time::Timestamp;
use kernel::environment::{Clock, Environment};
use kernel::root::{HealthRegistry, Root, RootMsg, keep};
use store::Store;
use store::connect::{self, DatabaseSettings, WriteConnection};
use store::copy::DatabaseCopier;
use store::lease::Leadership;
use store::outbox::Outbox;
use store::queries::Queries;
use store::reader::Reader;
use store::writer::{Writer, WriterArgs, WriterCounters, WriterHandle};

/// Store and clients on which a shop is built.
pub struct Premises {
    /// Clock, IDs and settings for the domain rules.
    pub environment: Environment,
    /// Store with the shop's data.
    pub store: Store,
    /// List queries on the same data.
    pub queries: Queries,
    /// Outbox, which continues after the last stored event.
    pub outbox: Arc<Outbox>,
    /// Dispatch hold while a restored shop awaits review.
    pub hold: DispatchHold,
    /// Clients of the systems outside.
    pub clients: OutsideClients,
}

/// Root of the supervision tree, with what everything below it shares.
struct Frame {
    root: ActorRef<RootMsg>,
    components: HealthRegistry,
    counters: Arc<WriterCounters>,
    database: DatabaseSettings,
}

impl Frame {
    /// Starts the root; calls `leave` when it ends.
    async fn start(database: DatabaseSettings, leave: Arc<dyn Fn() + Send + Sync>) -> Result<Self, ShopStartError> {
        let components = HealthRegistry::default();
        let root = start_root(components.clone(), leave).await?;
        Ok(Self { root, components, counters: Arc::default(), database })
    }
}

impl App {
    /// Opens the database and starts all components; printers are then connected in parallel. Nothing acts on the
    /// outside world while `leadership` is in doubt. `fenced` is called when a different server has taken over the
    /// database; the process must then exit.
    pub async fn start(
        config: &Config,
        clock: Clock,
        leadership: Leadership,
        fenced: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Arc<Self>, ShopStartError> {
        let database = open_database(config, &clock).await?;
        let OpenDatabase { settings, writing, reader, queries, outbox, hold, last_numbers } = database;
        let environment = Environment::with_clock(config.rules(), clock, last_numbers).led_by(leadership);
        let frame = Frame::start(settings.clone(), fenced.clone()).await?;
        let args = WriterArgs { database: settings, outbox: outbox.clone(), counters: frame.counters.clone(), fenced };
        let store = Store::new(start_writer(&frame.root, args, writing).await?, reader, queries.clone());
        let clients = OutsideClients::new(config)?;
        let premises = Premises { environment, store, queries, outbox, hold, clients };
        Box::pin(Self::assemble(config, frame, premises)).await
    }

    /// Starts all components on a store that is already open, with the given clients, for simulations. Unlike
    /// [`Self::start`], it neither opens nor creates a database. `leave` is called when the shop cannot go on.
    pub async fn start_on(
        config: &Config,
        premises: Premises,
        leave: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Arc<Self>, ShopStartError> {
        let frame = Frame::start(own_secrets::database_settings(config), leave).await?;
        Box::pin(Self::assemble(config, frame, premises)).await
    }

    /// Builds the shop on its premises and starts its components.
    async fn assemble(config: &Config, frame: Frame, premises: Premises) -> Result<Arc<Self>, ShopStartError> {
        let Frame { root, components, counters, database } = frame;
        let foundation = Foundation::new(config, premises)?;
        let copier = DatabaseCopier::new(database);
        let backups = Arc::new(Backups::open(config, copier, foundation.blobs.clone())?);
        let backup_schedule = Arc::new(BackupSchedule::new(config)?);
        let services = foundation.build_services(config)?;
        let redis = clients::redis(config)?;
        let integrations = foundation.build_integrations(config);
        start_components(&root, &foundation, &services).await?;
        let app = Arc::new(Self {
            checkouts: foundation.build_checkouts(),
            directories: foundation.directories,
            environment: foundation.environment,
            queries: foundation.queries,
            outbox: foundation.outbox,
            writer: counters,
            printer_connections: foundation.connections,
            dispatcher: services.dispatcher,
            hold: foundation.hold,
            forecaster: services.forecaster,
            payments: services.matcher,
            subscribers: foundation.subscribers,
            content_sweep: foundation.content_sweep,
            customer_space: foundation.customer_space,
            blobs: foundation.blobs,
            export_files: services.export_files,
            backups,
            backup_schedule,
            slicing: services.slicing,
            cipher: foundation.cipher,
            access_changes: services.access_changes,
            redis,
            components,
            deliveries: services.deliveries,
            mail_meter: services.mail_meter,
            stock_boards: foundation.stock_boards,
            accounting_wake: foundation.accounting_wake,
            documents: foundation.documents,
            storefront: shops::storefront(config)?,
            integrations,
            root,
            store: foundation.store,
        });
        spawn_background_tasks(config, &app);
        Ok(app)
    }

    /// Drains all kinds: finishes accepted commands, then stops the actors. `within` limits the time for each turn.
    pub async fn close(&self, within: Duration) {
        let _ = self.root.call(RootMsg::Closing, Some(within)).await;
        self.directories.close(within).await;
        self.root.stop(None);
    }
}

/// Open database, with all data read from it before the first actor runs.
struct OpenDatabase {
    settings: DatabaseSettings,
    writing: WriteConnection,
    reader: Reader,
    queries: Queries,
    outbox: Arc<Outbox>,
    hold: DispatchHold,
    last_numbers: LastNumbers,
}

/// Opens the database for reading and writing, checks that it was created with the configured secrets, and records a
/// manual restore, if any.
async fn open_database(config: &Config, clock: &Clock) -> Result<OpenDatabase, ShopStartError> {
    let settings = own_secrets::database_settings(config);
    let mut writing = connect::start(&settings).await?;
    if connect::is_asynchronous(&settings, &writing.db).await? {
        tracing::warn!(
            "the database replicates asynchronously: the last acknowledged changes are lost with its primary"
        );
    }
    own_secrets::keep(config, &mut writing, clock()).await?;
    manual_restore::detect(&config.server.data_dir, &mut writing, clock()).await?;
    let reading = connect::reading(&settings).await?;
    let queries = Queries::new(reading.clone());
    let outbox = Outbox::restored(writing.last_seq, queries.undone_events().await?);
    let hold = DispatchHold::new(queries.unreviewed_restore().await?);
    let last_numbers = queries.highest_numbers().await?;
    Ok(OpenDatabase { settings, writing, reader: Reader::Database(reading), queries, outbox, hold, last_numbers })
}

/// Starts the root of the supervision tree; calls `leave` when the root ends.
async fn start_root(
    components: HealthRegistry,
    leave: Arc<dyn Fn() + Send + Sync>,
) -> Result<ActorRef<RootMsg>, ShopStartError> {
    let (root, ended) = Root::spawn(None, Root, components).await?;
    // Nobody supervises the root: without it the process must end. After an ordered close nobody listens any more.
    tokio::spawn(async move {
        let _ = ended.await;
        leave();
    });
    Ok(root)
}

/// Starts the supervisors of all kinds with their residents, and then the dispatcher and the forecaster.
async fn start_components(
    root: &ActorRef<RootMsg>,
    foundation: &Foundation,
    services: &EffectServices,
) -> Result<(), ShopStartError> {
    foundation.directories.start(root, services).await?;
    foundation.directories.start_resident().await?;
    services.dispatcher.start(root).await?;
    services.forecaster.start(root).await?;
    Ok(())
}

/// Spawns the tasks that delete data whose retention period has ended; each task ends with the app.
fn spawn_background_tasks(config: &Config, app: &Arc<App>) {
    tokio::spawn(run_retention(Arc::downgrade(app)));
    if app.backup_schedule.is_on() {
        tokio::spawn(schedule::run(Arc::downgrade(app)));
    }
    let keep = config.printers.keep_finish_photos_days;
    if !keep.is_zero() {
        tokio::spawn(photos::run(Arc::downgrade(app), keep.duration()));
    }
    let keep = config.files.unclaimed_days;
    if !keep.is_zero() {
        tokio::spawn(customer_space::run(Arc::downgrade(app), keep.duration()));
    }
}

/// Delay before the first retention run, so that it does not add to the load at startup.
const FIRST_RETENTION_AFTER: Duration = Duration::from_secs(60);
const RETENTION_INTERVAL: Duration = Duration::from_secs(3600);
/// Interval between two retention runs while there is more to delete, so that all other work can proceed.
const BACKLOG_INTERVAL: Duration = Duration::from_secs(1);

/// Deletes data whose retention period has ended, for as long as the app exists.
async fn run_retention(app: Weak<App>) {
    let (mut wait, mut turn) = (FIRST_RETENTION_AFTER, 0);
    loop {
        tokio::time::sleep(wait).await;
        let Some(app) = app.upgrade() else { return };
        let now = app.environment.now();
        let has_more = app.store.run_retention(now, turn, Instant::now).await;
        if turn == 0 {
            sweep_contents(&app, now).await;
        }
        (wait, turn) = if has_more { (BACKLOG_INTERVAL, turn + 1) } else { (RETENTION_INTERVAL, 0) };
    }
}

/// Removes contents whose file was deleted, or never recorded, by a process that ended in the middle.
async fn sweep_contents(app: &App, now: Timestamp) {
    match app.content_sweep.run(app.environment.leadership(), now).await {
        Ok(0) => {}
        Ok(removed) => tracing::info!(removed, "removed the contents of deleted files from disk"),
        Err(error) => tracing::warn!(%error, "cannot remove the contents of deleted files from disk"),
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
