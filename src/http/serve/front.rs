//! Acceptor of the server: a separate thread that accepts every connection and responds to the requests that must
//! always be served.
//!
//! It reads the first line of the first request. Health checks and emergency stops are handled on this thread, no
//! matter how busy the rest of the server is; every other connection is handed over together with the bytes already
//! read, or rejected on this thread if there are too many connections. Slots are bounded, in total and for each
//! address: when they are full, the oldest connection whose request has not been admitted is closed, so that silent
//! clients cannot block new ones. An admitted emergency stop is never closed to make room for another connection.
//!
//! Later requests on a connection that was handed over are handled by the rest of the server, including emergency
//! stops, which also bypass the server's limits but share its threads.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use axum::Router;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::connection::{HeadLimits, HttpConnection};
use super::first_line::{FirstLine, MAX_LINE_BYTES};
use super::places::RunningConnectionSlots;
use super::refusal::RefusalResponse;
use crate::AppState;
use crate::admission::{AcceptSlot, AdmissionPermit};
use crate::limits::layer::too_many_connections;

/// Maximum number of connections whose first line is not complete yet.
const MAX_UNTOLD: usize = 1024;
/// Maximum number of connections on which a health check is being handled.
const MAX_HEALTH_CHECKS: usize = 256;
/// Maximum number of connections on which an emergency stop is being handled.
const MAX_STOPS: usize = 256;
/// Number by which the total number of slots is divided to obtain the maximum number of slots per address.
const ADDRESS_SHARE: usize = 4;
/// Delay after a failure to accept a connection, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Maximum time for the last accepted connections to send their request when the server ends.
pub const GREETING_TIME: Duration = Duration::from_millis(500);
/// Interval between checks whether all requests have been handled during shutdown.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum time from the first line of a health check to the end of its response.
const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// Connection handed over to the rest of the server.
pub struct AdmittedConnection {
    /// TCP stream, not registered with any runtime yet.
    pub stream: std::net::TcpStream,
    /// Client's address, for which the number of connections is limited.
    pub peer: IpAddr,
    /// Bytes already read.
    pub begin: Vec<u8>,
    /// Permit to serve the connection.
    pub place: AdmissionPermit,
}

/// Running acceptor, which accepts connections until the server shuts down. Work that has begun, such as recording an
/// emergency stop, continues until the acceptor is [ended](Self::end).
pub struct Acceptor {
    thread: Option<JoinHandle<()>>,
    ended: CancellationToken,
}

impl Acceptor {
    /// Starts the thread. Connections that it does not handle itself are sent to `arrivals`.
    pub fn start(
        listener: std::net::TcpListener,
        app: AppState,
        routes: Router,
        arrivals: mpsc::UnboundedSender<AdmittedConnection>,
    ) -> io::Result<Self> {
        let ended = CancellationToken::new();
        let until = ended.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _within = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let run = move || {
            runtime.block_on(async {
                AcceptQueue::new(app, routes, arrivals).accept(listener).await;
                until.cancelled().await;
            });
            // What is left is cut: the rest of the server has ended.
            runtime.shutdown_background();
        };
        let thread = Builder::new().name("front".to_owned()).spawn(run)?;
        Ok(Self { thread: Some(thread), ended })
    }

    /// Stops the thread; must be called after the rest of the server has stopped.
    pub async fn end(mut self) {
        self.ended.cancel();
        if let Some(thread) = self.thread.take() {
            let joined = tokio::task::spawn_blocking(move || thread.join()).await;
            if !matches!(joined, Ok(Ok(()))) {
                tracing::error!("the connection acceptor has panicked");
            }
        }
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

/// Queue of connections whose first line is not complete yet.
struct AcceptQueue {
    app: AppState,
    routes: Router,
    arrivals: mpsc::UnboundedSender<AdmittedConnection>,
    untold: Arc<RunningConnectionSlots>,
    health_checks: Arc<RunningConnectionSlots>,
    stops: Arc<RunningConnectionSlots>,
    refusal: RefusalResponse,
    graceful: GracefulShutdown,
}

impl AcceptQueue {
    fn new(app: AppState, routes: Router, arrivals: mpsc::UnboundedSender<AdmittedConnection>) -> Arc<Self> {
        let places = |most| Arc::new(RunningConnectionSlots::new(most, most / ADDRESS_SHARE));
        let (untold, health_checks, stops) = (places(MAX_UNTOLD), places(MAX_HEALTH_CHECKS), places(MAX_STOPS));
        let (refusal, graceful) = (RefusalResponse::new(&too_many_connections(&app.limits)), GracefulShutdown::new());
        Arc::new(Self { app, routes, arrivals, untold, health_checks, stops, refusal, graceful })
    }

    /// Accepts connections until the server shuts down, then waits for work in progress to finish.
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                biased; // first the end of the server, or steady new connections could keep it from ending
                () = self.app.leaving.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let scope = self.app.admission.scope(peer.ip());
                    self.untold.run(scope, |_| self.clone().greet(stream, peer));
                }
                Err(error) if is_of_the_client(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept connections; retrying");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listener);
        // Whoever was accepted at the last moment is answered like everybody before.
        let greeted = async {
            while !self.untold.is_empty() {
                tokio::time::sleep(DRAIN_INTERVAL).await;
            }
        };
        let _ = tokio::time::timeout(GREETING_TIME, greeted).await;
        self.untold.end();
        let answered = async {
            while !(self.health_checks.is_empty() && self.stops.is_empty()) {
                tokio::time::sleep(DRAIN_INTERVAL).await;
            }
        };
        let finish = self.app.config.server.shutdown_timeout_seconds.duration();
        if tokio::time::timeout(finish, answered).await.is_err() {
            tracing::warn!("some emergency stops did not finish in time");
        }
    }

    /// Reads the first line and dispatches the connection accordingly.
    async fn greet(self: Arc<Self>, mut stream: TcpStream, peer: SocketAddr) {
        // Small answers are sent at once instead of waiting for more data.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let mut begin = Vec::with_capacity(MAX_LINE_BYTES);
        let reading = async {
            loop {
                match FirstLine::of(&begin) {
                    FirstLine::Incomplete => {}
                    line => return Some(line),
                }
                if !matches!(stream.read_buf(&mut begin).await, Ok(1..)) {
                    return None;
                }
            }
        };
        let within = self.app.config.server.header_timeout_seconds.duration();
        let Ok(Some(first_line)) = tokio::time::timeout(within, reading).await else { return };
        let scope = self.app.admission.scope(peer.ip());
        match first_line {
            FirstLine::HealthCheck => {
                let answered = self.clone().answer(stream, peer, begin, None);
                self.health_checks.run(scope, |_| async {
                    drop(tokio::time::timeout(HEALTH_CHECK_TIMEOUT, answered).await);
                });
            }
            FirstLine::EmergencyStop => {
                self.stops.run(scope, |place| self.clone().answer(stream, peer, begin, Some(place)));
            }
            FirstLine::Incomplete | FirstLine::Other => self.hand_over(stream, peer, begin),
        }
    }

    /// Handles a single request on the acceptor's own thread.
    fn answer(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        begin: Vec<u8>,
        place: Option<AcceptSlot>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let limits = HeadLimits::of(&self.app.config.server).short();
        let (routes, is_shared) = (self.routes.clone(), self.app.admission.scope(peer.ip()).is_none());
        let connection = HttpConnection { routes, peer: Some(peer.ip()), is_shared, place, once: true, limits };
        connection.serve(stream, begin, self.graceful.watcher())
    }

    fn hand_over(self: Arc<Self>, stream: TcpStream, peer: SocketAddr, begin: Vec<u8>) {
        let Some(place) = self.app.admission.connect(peer.ip()) else { return };
        // While no more requests are taken, one on a new connection would be parsed only to be refused.
        if place.crowded || self.app.admission.is_full() {
            self.app.admission.count_refusal();
            tokio::spawn(async move {
                self.refusal.send(stream, &begin, &self.app.environment.id().to_string()).await;
                drop(place);
            });
            return;
        }
        match stream.into_std() {
            // Nobody takes it when the server is about to end.
            Ok(stream) => drop(self.arrivals.send(AdmittedConnection { stream, peer: peer.ip(), begin, place })),
            Err(error) => tracing::debug!(%error, "cannot hand over a connection"),
        }
    }
}

/// Returns whether an accept error affects only a single client, which disconnected before it was accepted.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(error.kind(), K::ConnectionRefused | K::ConnectionAborted | K::ConnectionReset)
}
