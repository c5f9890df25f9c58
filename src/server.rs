//! The running server: the lock on the data folder, the app, the listeners, and their ordered end.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::app::{App, StartError as ShopError, story, stream};
use crate::config::Config;
use crate::http;

/// Name of the socket in the data folder whose callers are the owner of the machine.
pub const CONTROL_SOCKET: &str = "control.sock";
const LOCK: &str = "lock";

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data folder cannot be used.
    #[error("the data folder {} cannot be used: {source}", path.display())]
    Data {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another server holds the data folder.
    #[error("the data folder {} is in use by another printfloor server ({holder})", path.display())]
    Held {
        /// The folder.
        path: PathBuf,
        /// Its process and address, as it wrote them.
        holder: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address, as it was configured.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The app does not start.
    #[error(transparent)]
    App(#[from] ShopError),
}

/// A server that listens.
pub struct Server {
    shop: Arc<App>,
    address: Option<SocketAddr>,
    control: Option<PathBuf>,
    /// Cancelled to stop accepting connections and to end streams.
    stopping: CancellationToken,
    /// Another server took over the database.
    fenced: CancellationToken,
    serving: Vec<JoinHandle<()>>,
    /// The lock on the data folder, held as long as the server lives.
    _lock: File,
}

impl Server {
    /// Locks the data folder, starts the app, listens.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let config = Arc::new(config);
        let listen = config.server.listen.to_string();
        let refused = |source| StartError::Listen { address: listen.clone(), source };
        let mut server = Self::without_listeners(&config, &listen).await?;
        let listener = TcpListener::bind(&listen).await.map_err(refused)?;
        server.address = Some(listener.local_addr().map_err(refused)?);
        let socket = config.server.data_dir.join(CONTROL_SOCKET);
        let unix = control_socket(&socket).map_err(|source| StartError::Data { path: socket.clone(), source })?;
        server.control = Some(socket);
        let state = http::AppState::new(server.shop.clone(), config.clone(), server.stopping.clone());
        server.serving = vec![
            tokio::spawn(http::serve_tcp(listener, state.clone(), server.stopping.clone())),
            tokio::spawn(http::serve_control(unix, state, server.stopping.clone())),
            tokio::spawn(story::tell(server.shop.clone(), server.stopping.clone())),
        ];
        if let Some(redis) = &server.shop.redis {
            let (shop, leaving) = (server.shop.clone(), server.stopping.clone());
            let view = http::production::orders::event;
            server.serving.extend([
                tokio::spawn(redis.clone().keep(leaving.clone())),
                tokio::spawn(stream::follow(shop, redis.clone(), view, leaving)),
            ]);
        }
        Ok(server)
    }

    /// Starts the app without listeners, for commands that run while no server does.
    pub async fn start_local(config: Config) -> Result<Self, StartError> {
        Self::without_listeners(&Arc::new(config), "no listener").await
    }

    async fn without_listeners(config: &Arc<Config>, listen: &str) -> Result<Self, StartError> {
        let lock = lock(&config.server.data_dir, listen)?;
        let fenced = CancellationToken::new();
        let leave = fenced.clone();
        let shop = App::start(config, Arc::new(move || leave.cancel())).await?;
        Ok(Self {
            shop,
            address: None,
            control: None,
            stopping: CancellationToken::new(),
            fenced,
            serving: Vec::new(),
            _lock: lock,
        })
    }

    /// The running app behind the listeners.
    pub fn shop(&self) -> &Arc<App> {
        &self.shop
    }

    /// The addresses that it listens on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Completes when another server took over the database: this one must end.
    pub async fn fenced(&self) {
        self.fenced.cancelled().await;
    }

    /// Stops listening, lets requests finish, drains the app; what is not done in time is cut.
    pub async fn stop(mut self, within: Duration) {
        self.stopping.cancel();
        let until = tokio::time::Instant::now() + within;
        for serving in self.serving.drain(..) {
            let abort = serving.abort_handle();
            if tokio::time::timeout_at(until, serving).await.is_err() {
                tracing::warn!("requests did not finish in time and are cut");
                abort.abort();
            }
        }
        let left = until.saturating_duration_since(tokio::time::Instant::now()).max(Duration::from_millis(500));
        self.shop.close(left).await;
        if let Some(socket) = &self.control {
            let _ = fs::remove_file(socket);
        }
    }
}

/// Makes the data folder, readable by this user alone: it holds addresses of people and hashes of their secrets. A
/// folder that exists
/// keeps its permissions.
///
/// # Errors
///
/// When it cannot be made.
pub(crate) fn make_data_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn lock(data: &Path, listen: &str) -> Result<File, StartError> {
    let unusable = |source| StartError::Data { path: data.to_owned(), source };
    make_data_folder(data).map_err(unusable)?;
    let path = data.join(LOCK);
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            return Err(StartError::Held { path: data.to_owned(), holder: holder.trim().to_owned() });
        }
        Err(TryLockError::Error(source)) => return Err(unusable(source)),
    }
    file.set_len(0).map_err(unusable)?;
    file.rewind().map_err(unusable)?;
    writeln!(file, "process {}, {listen}", std::process::id()).map_err(unusable)?;
    Ok(file)
}

/// Opens a socket that only the account of the server can use.
fn control_socket(path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::PermissionsExt;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}
