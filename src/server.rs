//! The running server: the lock on the data directory, the app, the listeners, and their orderly shutdown.

mod control_socket;
mod data_folder;
mod handover;
mod lead;
mod leader_check;
mod prepared;
mod shared_folders;
mod standby;

use std::fs::{self, File};
use std::io;
use std::net::{self, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

pub use self::control_socket::CONTROL_SOCKET;
pub(crate) use self::control_socket::SocketPath;
pub(crate) use self::data_folder::{LOCK_FILE, absolute, lock};
pub(crate) use self::handover::HANDOVER_PATH;
use self::handover::{COMMIT_TIME, HandoverDesk};
pub use self::handover::{FAREWELL_TIME, HandoverRefusal};
use self::lead::Lead;
pub use self::lead::LeadLoss;
pub use self::prepared::{DatabaseLead, PreparedServer};
pub(crate) use self::shared_folders::check as check_shared_folders;
use self::standby::StandbyFront;
pub(crate) use self::standby::lead_alone;
use crate::actors::kernel::environment::{Clock, machine_clock};
use crate::app::own_secrets::{self, SecretsError};
use crate::app::restore_mark::{self, RestoreMarkError, RestoreStage};
use crate::app::{App, ShopStartError as ShopError, story, stream};
use crate::config::Config;
use crate::http;
use crate::store::connect::{self, OpenError};
use crate::store::lease::CurrentLeader;
use platform::io_words::io_words;

/// Reason that the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory cannot be used.
    #[error("the data directory {} cannot be used: {}", path.display(), io_words(.source))]
    Data {
        /// Path of the data directory.
        path: PathBuf,
        /// Underlying operating system error.
        source: io::Error,
    },
    /// The data directory's path is a file.
    #[error("{} is a file, not a directory", path.display())]
    NotAFolder {
        /// Path of the file, as configured.
        path: PathBuf,
    },
    /// Another server has locked the data directory.
    #[error("the data directory {} is in use by another printfloor server ({holder})", path.display())]
    Held {
        /// Path of the data directory.
        path: PathBuf,
        /// Process and address of the server that holds the lock, as it recorded them.
        holder: String,
    },
    /// A restore into the data directory was interrupted.
    #[error("the data directory {} is incomplete: the restore of a backup into it was interrupted", path.display())]
    RestoreUnfinished {
        /// Path of the data directory.
        path: PathBuf,
    },
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {}", io_words(.source))]
    Listen {
        /// Address, as configured.
        address: String,
        /// Underlying operating system error.
        source: io::Error,
    },
    /// The server's own secrets are missing or do not match the data.
    #[error(transparent)]
    Secrets(SecretsError),
    /// The database cannot be used.
    #[error("{database}: {source}")]
    Database {
        /// Type and location of the database.
        database: String,
        /// Reason that the database cannot be opened.
        source: OpenError,
    },
    /// Another server is active and shares no directory with this one, so this one could not take over.
    #[error(
        "another server is active, and {setting} ({}) is not its directory, so this server cannot be its standby",
        path.display()
    )]
    NotShared {
        /// Name of the setting.
        setting: &'static str,
        /// Path of the folder.
        path: PathBuf,
    },
    /// Another server took the lead before this one had started.
    #[error(transparent)]
    LeadLost(LeadLoss),
    /// The lease of the database cannot be renewed.
    #[error("cannot start a thread: {}", io_words(.0))]
    Thread(io::Error),
    /// The app cannot start.
    #[error(transparent)]
    App(ShopError),
}

/// Server that listens for requests.
pub struct Server {
    shop: Arc<App>,
    /// Settings, including secrets generated during this start.
    config: Arc<Config>,
    made_secrets: Option<PathBuf>,
    setup_code: Option<String>,
    address: Option<SocketAddr>,
    control: Option<PathBuf>,
    /// Token cancelled to stop accepting connections and to end streams.
    stopping: CancellationToken,
    /// Lead of the database, which another server may take.
    lead: Lead,
    /// Receiver of requests to hand over.
    handover: HandoverDesk,
    /// Copy of the listener, for connections during a handover; `None` if no other server can use the database.
    listener: Option<net::TcpListener>,
    serving: Vec<JoinHandle<()>>,
    /// Thread that accepts connections and responds to health checks and emergency stops.
    front: Option<http::Acceptor>,
    /// Lock on the data directory, held for the lifetime of the server.
    _lock: File,
}

impl Server {
    /// Opens the listeners and locks the data directory; only then does it write anything, generating a new shop's
    /// secrets and starting the app. A start that fails because of a conflict therefore leaves nothing behind.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        Box::pin(Self::start_with_clock(config, Box::new(machine_clock))).await
    }

    /// Starts the server like [`Self::start`], with the given wall clock.
    pub async fn start_with_clock(config: Config, clock: Clock) -> Result<Self, StartError> {
        let mut prepared = Self::prepare(config).await?;
        let lead = prepared.lead().await?;
        prepared.start(lead, clock).await
    }

    /// Takes the first steps of a start, up to the lead of the database.
    pub async fn prepare(config: Config) -> Result<PreparedServer, StartError> {
        Box::pin(PreparedServer::new(config)).await
    }

    async fn start_prepared(
        (config, clock): (Config, Clock),
        (lock, listener): (File, net::TcpListener),
        DatabaseLead { lead, front }: DatabaseLead,
    ) -> Result<Self, StartError> {
        let listen = config.server.listen.to_string();
        let refused = |source| StartError::Listen { address: listen.clone(), source };
        let mut server = Self::without_listeners(config, clock, lock, lead, front.is_some()).await?;
        if let Some(front) = front {
            front.end().await;
        }
        let has_lease = server.lead.mark().is_some();
        server.listener = has_lease.then(|| listener.try_clone()).transpose().map_err(refused)?;
        let listener = TcpListener::from_std(listener).map_err(refused)?;
        server.address = Some(listener.local_addr().map_err(refused)?);
        let config = server.config.clone();
        let socket = config.server.data_dir.join(CONTROL_SOCKET);
        let bound = SocketPath::in_folder(&config.server.data_dir).and_then(|path| path.bind());
        let unix = bound.map_err(|source| StartError::Data { path: socket.clone(), source })?;
        server.control = Some(socket);
        let desk = server.handover.clone();
        let state = http::AppState::new(server.shop.clone(), config, server.stopping.clone());
        server.setup_code = state.make_setup_code();
        let routes = http::pages::router(state.clone());
        let (front, served) = http::start_tcp(listener, &state, routes.clone()).map_err(refused)?;
        server.front = Some(front);
        server.serving = vec![
            tokio::spawn(served),
            tokio::spawn(http::serve_control(unix, state, routes.merge(desk.routes()))),
            tokio::spawn(story::tell(server.shop.clone(), server.stopping.clone())),
        ];
        server.serving.extend(server.shop.integrations.start(&server.stopping));
        if let Some(redis) = &server.shop.redis {
            let (shop, leaving) = (server.shop.clone(), server.stopping.clone());
            let view = http::production::events::written;
            server.serving.extend([
                tokio::spawn(redis.clone().keep(leaving.clone())),
                tokio::spawn(stream::follow(shop, redis.clone(), view, leaving)),
            ]);
        }
        Ok(server)
    }

    /// Starts the app without listeners, for commands that run while no server is running.
    pub async fn start_local(config: Config) -> Result<Self, StartError> {
        let lock = data_folder::lock(&config.server.data_dir, "no listener")?;
        let lead = Box::pin(lead_alone(&config, &lock)).await?;
        Box::pin(Self::without_listeners(config, Box::new(machine_clock), lock, lead, true)).await
    }

    /// Starts the app. A server that cannot start gives the lead back, so that another one need not wait for it. One
    /// that loses the lead meanwhile does nothing more.
    /// `may_lack_files` states whether it starts even if the bucket for files does not respond.
    async fn without_listeners(
        config: Config,
        clock: Clock,
        lock: File,
        lead: Lead,
        may_lack_files: bool,
    ) -> Result<Self, StartError> {
        let opening = Box::pin(open_shop(config, clock, &lead, may_lack_files));
        let opened = lead.during(opening).await.map_err(StartError::LeadLost).flatten();
        match opened {
            Ok((shop, config, made_secrets)) => Ok(Self {
                shop,
                handover: HandoverDesk::new(config.clone(), lead.mark().is_some()),
                config,
                made_secrets,
                setup_code: None,
                address: None,
                control: None,
                stopping: CancellationToken::new(),
                lead,
                listener: None,
                serving: Vec::new(),
                front: None,
                _lock: lock,
            }),
            Err(error) => {
                lead.release().await;
                Err(error)
            }
        }
    }

    /// Returns the running app.
    pub fn shop(&self) -> &Arc<App> {
        &self.shop
    }

    /// Returns the settings, including all secrets.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// Returns the path of the file with the secrets generated during this start, if any.
    pub fn made_secrets(&self) -> Option<&Path> {
        self.made_secrets.as_deref()
    }

    /// Returns the one-time code that opens the setup; `None` if the setup is complete or the server has no listeners.
    pub fn setup_code(&self) -> Option<&str> {
        self.setup_code.as_deref()
    }

    /// Returns the address on which the server listens; `None` without listeners.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Waits until this server no longer leads, mostly because a different one has taken over the database; this server
    /// must then end.
    pub async fn lead_lost(&self) -> LeadLoss {
        self.lead.lost().await
    }

    /// Requests that the server hands over to the standby. Refuses if none is ready to take over.
    pub async fn request_handover(&self) -> Result<(), HandoverRefusal> {
        self.handover.request().await
    }

    /// Waits until the server is asked to hand over to the standby.
    pub async fn handover_requested(&self) {
        self.handover.wait_for_request().await;
    }

    /// Stops listening, lets requests finish and drains the app; aborts work that exceeds the time limit `within`.
    pub async fn stop(self, within: Duration) {
        self.end(within, within).await;
    }

    /// Stops the server like [`Self::stop`], but gives the lead back as soon as everything is recorded: downloads go on
    /// afterwards. Until the other server is ready, new connections are told to try again.
    pub async fn hand_over(mut self, within: Duration) {
        let (since, address, mark) = (self.shop.environment.now(), String::new(), String::new());
        let leader = CurrentLeader { is_server: true, address, since, mark };
        let listener = self.listener.take();
        // Without it, they are refused, and try again as well.
        let front = listener.and_then(|listener| StandbyFront::start(&listener, &self.config, leader).ok());
        self.end(within.min(COMMIT_TIME), within).await;
        if let Some(front) = front {
            sleep(FAREWELL_TIME).await;
            front.end().await;
        }
    }

    /// Ends the server. Requests have `commit_time` until the app is drained, and `within` until they are cut off.
    async fn end(mut self, commit_time: Duration, within: Duration) {
        drop(self.listener.take());
        self.stopping.cancel();
        let (began, mut unfinished) = (Instant::now(), Vec::new());
        let until = began + within;
        for mut serving in self.serving.drain(..) {
            if timeout_at(began + commit_time, &mut serving).await.is_err() {
                unfinished.push(serving);
            }
        }
        if commit_time >= within {
            cut_off(&mut unfinished, until).await;
        }
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(500));
        self.shop.close(left).await;
        self.lead.release().await;
        cut_off(&mut unfinished, until).await;
        if let Some(front) = self.front.take() {
            front.end().await;
        }
        if let Some(socket) = &self.control {
            let _ = fs::remove_file(socket);
        }
    }
}

/// Waits until the given time for requests in progress, then closes the remaining connections.
async fn cut_off(unfinished: &mut Vec<JoinHandle<()>>, until: Instant) {
    for mut serving in unfinished.drain(..) {
        if timeout_at(until, &mut serving).await.is_err() {
            tracing::warn!("requests did not finish in time; closing their connections");
            serving.abort();
        }
    }
}

/// Opens the database and starts the app. Returns it with the settings and the file of secrets that were generated.
async fn open_shop(
    mut config: Config,
    clock: Clock,
    lead: &Lead,
    may_lack_files: bool,
) -> Result<(Arc<App>, Arc<Config>, Option<PathBuf>), StartError> {
    let data = config.server.data_dir.clone();
    let unusable = |source| StartError::Data { path: absolute(&data), source };
    let database = connect::display_url(config.database_url().expose());
    let restore = restore_mark::settle(&config).await.map_err(|error| match error {
        RestoreMarkError::Disk(source) => unusable(source),
        RestoreMarkError::Open(source) => StartError::Database { database: database.clone(), source },
    })?;
    match restore {
        RestoreStage::Unmarked => {}
        RestoreStage::Interrupted(_) => return Err(StartError::RestoreUnfinished { path: absolute(&data) }),
        RestoreStage::Complete(_) => {
            tracing::info!("a backup's restore is complete; removed its leftover mark");
        }
    }
    shared_folders::check_files(&config, may_lack_files).await?;
    data_folder::close_to_others(&data).map_err(unusable)?;
    let made_secrets = own_secrets::settle(&mut config).await.map_err(|error| match error {
        SecretsError::Open(source) => StartError::Database { database: database.clone(), source },
        other => StartError::Secrets(other),
    })?;
    if let Some(mark) = lead.mark() {
        shared_folders::mark(&config, lead, mark).await?;
    }
    let config = Arc::new(config);
    let started = Box::pin(App::start(&config, clock, lead.leadership(), lead.on_fenced())).await;
    let shop = started.map_err(|error| match error {
        ShopError::Open(source) => StartError::Database { database, source },
        other => StartError::App(other),
    })?;
    Ok((shop, config, made_secrets))
}

/// Returns the error for an unusable database.
fn refused(config: &Config, source: OpenError) -> StartError {
    StartError::Database { database: connect::display_url(config.database_url().expose()), source }
}
