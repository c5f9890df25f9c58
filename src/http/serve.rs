//! Serves the API over TCP, and over the control socket for the owner of the machine; ends in order.
//!
//! Connections are served here rather than by the framework, for the bounds that it has no words for: how long a head may
//! take, how long a connection may idle, how many there may be.

mod patient;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::FromRef;
use axum::serve::{Listener, ListenerExt as _};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tower::Service as _;

use crate::http::access::FromMachine;
use crate::http::admission::{AdmissionPermit, Crowded, Peer};
use crate::http::{AppState, last_used, router};
use patient::{Patient, Turns};

/// Time between two sweeps of rate limit windows.
const SWEEP: Duration = Duration::from_secs(30);
/// How long a connection beyond the limit may take for its one request.
const CROWDED: Duration = Duration::from_secs(2);

/// Serves until `leaving` is cancelled. Then no connection is accepted any more, requests under way may finish within
/// the configured time, and streams end. Last uses of keys and sessions are written meanwhile and at the end.
pub async fn serve_tcp(listener: TcpListener, app: AppState, leaving: CancellationToken) {
    let written = tokio::spawn(last_used::keep_writing(FromRef::from_ref(&app)));
    let swept = tokio::spawn(keep_sweeping(app.clone()));
    // Small answers are sent at once instead of waiting for more data.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY is not possible");
        }
    });
    run(listener, app, leaving, false).await;
    for ended in [written.await, swept.await] {
        if let Err(error) = ended {
            tracing::error!(%error, "last uses were not written");
        }
    }
}

/// The same over the control socket: whoever can open it is the owner of the machine. The caller has made it 0600.
pub async fn serve_control(listener: UnixListener, app: AppState, leaving: CancellationToken) {
    run(listener, app, leaving, true).await;
}

async fn keep_sweeping(app: AppState) {
    while tokio::time::timeout(SWEEP, app.leaving.cancelled()).await.is_err() {
        app.limits.sweep(app.environment.now());
    }
}

/// The client of a connection.
trait PeerAddress {
    /// Its IP address; none on the control socket.
    fn ip(&self) -> Option<IpAddr>;
}

impl PeerAddress for SocketAddr {
    fn ip(&self) -> Option<IpAddr> {
        Some(self.ip())
    }
}

impl PeerAddress for tokio::net::unix::SocketAddr {
    fn ip(&self) -> Option<IpAddr> {
        None
    }
}

async fn run<L>(mut listener: L, app: AppState, leaving: CancellationToken, machine: bool)
where
    L: Listener,
    L::Addr: PeerAddress,
{
    let finish = app.config.server.shutdown_timeout_seconds.duration();
    let mut routes = router(app.clone());
    if machine {
        routes = routes.layer(axum::extract::Extension(FromMachine));
    }
    // Routes are made ready once, not with each request, as the framework does it.
    let routes = routes.with_state(());
    let graceful = GracefulShutdown::new();
    loop {
        let (stream, address) = tokio::select! {
            biased; // first the end of the server, or steady new connections could keep it from ending
            () = leaving.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let peer = address.ip();
        // The owner of the machine is admitted whatever the load is.
        let place = if peer.is_some() { app.admission.connect() } else { Some(app.admission.reserved()) };
        if let Some(place) = place {
            let connection = Connection { app: app.clone(), routes: routes.clone(), peer, place };
            tokio::spawn(connection.serve(stream, graceful.watcher()));
        }
    }
    drop(listener);
    tokio::select! {
        biased; // done in time counts as done
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(finish) => tracing::warn!("some requests did not finish in time"),
    }
}

/// One connection and how it is served.
struct Connection {
    app: AppState,
    routes: Router,
    peer: Option<IpAddr>,
    place: AdmissionPermit,
}

impl Connection {
    async fn serve<S>(self, stream: S, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let settings = &self.app.config.server;
        let crowded = self.place.crowded;
        let head = settings.header_timeout_seconds.duration();
        let idle = settings.keep_alive_timeout_seconds.duration();
        let taken = settings.body_idle_timeout_seconds.duration();
        let (head, idle) = if crowded { (head.min(CROWDED), idle.min(CROWDED)) } else { (head, idle) };
        let turns = Arc::new(Turns::default());
        let (routes, peer, requests) = (self.routes.clone(), self.peer, turns.clone());
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            requests.begin();
            let mut request = request.map(Body::new);
            if let Some(peer) = peer {
                request.extensions_mut().insert(Peer(peer));
            }
            if crowded {
                request.extensions_mut().insert(Crowded);
            }
            let (answer, requests) = (routes.clone().call(request), requests.clone());
            async move {
                let answer = answer.await;
                requests.end();
                answer as Result<_, Infallible>
            }
        });
        let connection = Builder::new()
            .timer(TokioTimer::new())
            // Bounds how long a connection may idle between requests; how long a head may take is bounded by
            // `Patient`.
            .header_read_timeout(idle)
            .max_headers(settings.max_headers)
            .max_buf_size(settings.header_max_bytes)
            .keep_alive(!crowded)
            .serve_connection(TokioIo::new(Patient::new(stream, head, taken, turns)), service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended");
        }
    }
}
