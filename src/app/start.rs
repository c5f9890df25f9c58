//! Starting and closing the shop, in order: database, writer, directories, what must be resident, dispatcher; and back.

use super::{App, AppRef};
use crate::actors::access::AccessWorld;
use crate::actors::dispatcher::Dispatcher;
use crate::actors::endpoints::{DeliveryMeter, EndpointWorld};
use crate::actors::kernel::actor::Activator;
use crate::actors::kernel::directory::{Directory, ThingsArgs};
use crate::actors::kernel::effects::{Effects, Nothing};
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::restart_policy::Policy;
use crate::actors::kernel::root::{Components, Root, RootMsg, keep};
use crate::actors::mails::MailWorld;
use crate::actors::materials::MaterialWorld;
use crate::actors::orders::OrderWorld;
use crate::actors::payment_events::InboundWorld;
use crate::actors::printers::{PrinterWorld, WatchSettings};
use crate::config::Config;
use crate::domain::aggregate::Created;
use crate::domain::id::Id;
use crate::files::blobs::Blobs;
use crate::printers::connections::PrinterConnections;
use crate::printers::registry::{Registry, Settings};
use crate::secrets::encryption::{SealError, SecretCipher};
use crate::services::agent::AgentGateway;
use crate::services::http::{BuildError, LanSettings, Outbound, OutboundSettings, lan};
use crate::services::mail::{ApiSettings, Encryption, FileOutbox, MailApi, MailError, Mailer, Smtp, SmtpSettings};
use crate::services::redis::Redis;
use crate::services::webhook::Sender;
use crate::store::connect::{self, DatabaseSettings, OpenError, Writing};
use crate::store::outbox::Outbox;
use crate::store::queries::Queries;
use crate::store::reader::Reader;
use crate::store::rows::LoadError;
use crate::store::writer::{Writer, WriterArgs, WriterCounters, WriterHandle};
use crate::store::{Store, StoredAggregate};
use dashmap::DashMap;
use futures::FutureExt;
use ractor::{Actor, ActorCell, ActorRef, SpawnErr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Why the shop does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Something in it cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No clients.
    #[error(transparent)]
    Http(#[from] BuildError),
    /// The key that seals secrets cannot be used.
    #[error("SECRETS_KEY: {0}")]
    Sealing(#[from] SealError),
    /// Mail is set up wrongly.
    #[error(transparent)]
    Mail(#[from] MailError),
    /// The address of Redis cannot be used.
    #[error("REDIS_URL: {0}")]
    Redis(#[from] redis::RedisError),
    /// The folder of files cannot be used.
    #[error("the folder of files cannot be used: {0}")]
    Files(#[from] std::io::Error),
    /// An actor did not start.
    #[error("an actor did not start: {0}")]
    Spawn(#[from] SpawnErr),
}

/// Wakes what a commit brought into being.
struct ShopWaker(AppRef);

impl Activator for ShopWaker {
    fn wake(&self, created: &Created) {
        let Some(shop) = self.0.get() else { return };
        match created {
            Created::Mail(mail) => drop(shop.mails.wake(mail.id)),
        }
    }
}

/// What the directories share.
struct Common {
    root: ActorRef<RootMsg>,
    store: Store,
    activator: Arc<dyn Activator>,
    environment: Arc<Environment>,
    policy: Policy,
}

impl Common {
    async fn things<T: StoredAggregate>(&self, world: Arc<dyn Effects<T>>) -> Result<Directory<T>, SpawnErr> {
        let args = ThingsArgs {
            store: self.store.clone(),
            world,
            activator: self.activator.clone(),
            environment: self.environment.clone(),
            policy: self.policy,
        };
        Directory::start(&self.root, args).await
    }
}

impl App {
    /// Opens the database and brings everything up; printers connect afterwards, in parallel. `fenced` is called when
    /// another server took over the database: the process must leave.
    pub async fn start(config: &Config, fenced: Arc<dyn Fn() + Send + Sync>) -> Result<Arc<Self>, StartError> {
        let database = DatabaseSettings {
            url: config.database_url().expose().to_owned(),
            read_connections: config.database.read_connections,
            statement_timeout: config.database.statement_timeout_seconds.duration(),
        };
        connect::migrate(&database).await?;
        let writing = connect::writing(&database).await?;
        let reading = connect::reading(&database).await?;
        let queries = Queries::new(reading.clone());
        let outbox = Outbox::new(writing.last_seq);
        let counters = Arc::new(WriterCounters::default());
        let (orders, jobs) = queries.highest_numbers().await?;
        let environment = Arc::new(Environment::of_the_machine(config.rules(), orders, jobs));

        let components = Components::default();
        let (root, ended) = Root::spawn(None, Root, components.clone()).await?;
        let leave = fenced.clone();
        // Nobody keeps the root: without it the process must leave. After an ordered close nobody listens any more.
        tokio::spawn(async move {
            let _ = ended.await;
            leave();
        });
        let args = WriterArgs { database, outbox: outbox.clone(), counters: counters.clone(), fenced };
        let writer = start_writer(&root, args, writing).await?;
        let store = Store::new(writer, Reader::Database(reading), queries.clone());

        let here = AppRef::default();
        let common = Common {
            root: root.clone(),
            store: store.clone(),
            activator: Arc::new(ShopWaker(here.clone())),
            environment: environment.clone(),
            policy: Policy { most_waiting: config.limits.max_queued_commands, ..Policy::default() },
        };
        let sender = Arc::new(Sender::new(Outbound::new(OutboundSettings {
            connect_timeout: config.webhooks.connect_timeout_seconds.duration(),
            timeout: config.webhooks.delivery_timeout_seconds.duration(),
            allow_private: config.webhooks.allow_private_targets,
        })?));
        let watching = WatchSettings {
            poll: config.printers.poll_interval_seconds.duration(),
            offline: config.printers.offline_after_seconds.duration(),
        };
        let dispatcher = Dispatcher::new(here.clone());
        let shop = Arc::new(Self {
            orders: common.things(Arc::new(OrderWorld(here.clone()))).await?,
            materials: common.things(Arc::new(MaterialWorld(here.clone()))).await?,
            skus: common.things(Arc::new(Nothing)).await?,
            files: common.things(Arc::new(Nothing)).await?,
            printers: common.things(Arc::new(PrinterWorld { shop: here.clone(), settings: watching })).await?,
            endpoints: common
                .things(Arc::new(EndpointWorld {
                    shop: here.clone(),
                    sender,
                    concurrency: config.webhooks.max_concurrent_per_endpoint,
                    turns: DashMap::new(),
                }))
                .await?,
            mails: common
                .things(Arc::new(MailWorld { shop: here.clone(), mailer: mailer(config)?, agent: agent(config)? }))
                .await?,
            inbound: common.things(Arc::new(InboundWorld(here.clone()))).await?,
            access: common.things(Arc::new(AccessWorld(here.clone()))).await?,
            queries,
            outbox,
            writer: counters,
            printer_connections: Arc::new(fleet(config)?),
            dispatcher: dispatcher.clone(),
            blobs: Blobs::open(config.files_dir())?,
            cipher: Arc::new(SecretCipher::new(config.auth.secrets_key.expose())?),
            access_changes: watch::Sender::new(0),
            redis: redis(config)?,
            new_orders: watch::Sender::new(0),
            components,
            deliveries: DeliveryMeter::default(),
            root: root.clone(),
            store: common.store.clone(),
            environment,
        });
        here.fill(&shop);
        if shop.access.start_resident().await? == 0 {
            // Nobody yet: it is there all the same, since every request asks it.
            shop.access.wake(Id::ONLY);
        }
        shop.materials.start_resident().await?;
        shop.orders.start_resident().await?;
        shop.printers.start_resident().await?;
        shop.endpoints.start_resident().await?;
        shop.mails.start_resident().await?;
        shop.inbound.start_resident().await?;
        dispatcher.start(&root, config.dispatch.max_starts_per_minute).await?;
        tokio::spawn(run_retention(here));
        Ok(shop)
    }

    /// Drains everything: what was told is finished; then the actors are gone.
    pub async fn close(&self, within: Duration) {
        let _ = self.root.call(RootMsg::Closing, Some(within)).await;
        tokio::join!(self.orders.close(within), self.skus.close(within), self.files.close(within));
        tokio::join!(self.printers.close(within), self.endpoints.close(within));
        tokio::join!(self.materials.close(within), self.mails.close(within), self.inbound.close(within));
        self.access.close(within).await;
        self.root.stop(None);
    }
}

/// Forgets what is kept for a time only, soon after the start and hourly.
async fn run_retention(shop: AppRef) {
    let mut wait = Duration::from_secs(60);
    loop {
        tokio::time::sleep(wait).await;
        let Some(shop) = shop.get() else { return };
        shop.store.run_retention(shop.environment.now());
        wait = Duration::from_secs(3600);
    }
}

async fn start_writer(
    root: &ActorRef<RootMsg>,
    args: WriterArgs,
    writing: Writing,
) -> Result<WriterHandle, StartError> {
    let place: Arc<Mutex<Option<WriterHandle>>> = Arc::default();
    let first = Arc::new(Mutex::new(Some(Box::new(writing))));
    let put = place.clone();
    let starter = move |root: ActorCell| {
        let (args, place) = (args.clone(), put.clone());
        // After a fall the connection is gone with the fallen: the new one opens its own, with the next epoch.
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
    handle.ok_or_else(|| SpawnErr::StartupFailed("no writer".into()).into())
}

fn redis(config: &Config) -> Result<Option<Arc<Redis>>, StartError> {
    let settings = &config.redis;
    if settings.url.is_empty() {
        return Ok(None);
    }
    Ok(Some(Redis::new(settings.url.expose(), settings.timeout_seconds.duration(), settings.stream_max_entries)?))
}

fn mailer(config: &Config) -> Result<Arc<dyn Mailer>, StartError> {
    let mail = &config.mail;
    if !mail.smtp_host.is_empty() {
        let credentials =
            (!mail.smtp_user.is_empty()).then(|| (mail.smtp_user.clone(), mail.smtp_password.expose().to_owned()));
        return Ok(Arc::new(Smtp::new(SmtpSettings {
            host: mail.smtp_host.clone(),
            port: mail.smtp_port,
            encryption: Encryption::for_port(mail.smtp_port),
            credentials,
            from: mail.from.clone(),
            timeout: Duration::from_secs(30),
        })?));
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

fn agent(config: &Config) -> Result<Option<Arc<dyn Mailer>>, StartError> {
    if config.agent.url.is_empty() {
        return Ok(None);
    }
    let client = lan(&LanSettings::default())?;
    Ok(Some(Arc::new(AgentGateway::new(client, &config.agent.url, config.agent.token.expose())?)))
}

fn fleet(config: &Config) -> Result<PrinterConnections, StartError> {
    let settings = Settings::from(&config.printers);
    let clients = LanSettings {
        connect_timeout: settings.connect_timeout,
        read_timeout: Duration::from_secs(600),
        timeout: Duration::from_secs(24 * 3600),
    };
    // Two clients: an emergency stop shares no connection with anything that may be queued.
    Ok(PrinterConnections::new(Registry::new(settings, lan(&clients)?, lan(&clients)?)))
}
