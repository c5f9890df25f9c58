//! Serves the API over TCP, and over the control socket for the machine's owner; shuts down gracefully.
//!
//! Connections are handled here rather than by the framework, to impose limits that the framework does not offer: on
//! the time to receive a request head, on how long a connection may be idle, and on the number of connections.

mod connection;
mod first_line;
mod front;
mod head_scan;
mod idle_timer;
mod places;
mod prefixed;
mod refusal;
mod retry_pause;
mod standby;
mod timeout_stream;

use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, FromRef};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::access::LocalOwner;
use crate::{AppState, last_used};
use connection::{HeadLimits, HttpConnection};
use front::AdmittedConnection;

pub use front::Acceptor;
#[cfg(feature = "fuzzing")]
pub use head_scan::HeadScan;
pub use standby::serve_standby;

/// Interval between sweeps of rate-limit windows.
const WINDOW_SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// Time for the server to begin to read connections that it has just accepted, before it ends: it closes any from which
/// nothing was read without an answer.
const BEGIN_TIME: Duration = Duration::from_millis(100);
/// Delay after a failure to accept a connection on the control socket.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Starts the [`Acceptor`] for the given routes on a separate thread, and the server for the connections that it hands
/// over. Both run until `app` shuts down. After that, no connections are accepted, requests in progress may finish
/// within the configured time, and streams end. The times at which keys and sessions were last used are written during
/// that time and at the end.
pub fn start_tcp(
    listener: TcpListener,
    app: &AppState,
    routes: Router,
) -> std::io::Result<(Acceptor, impl Future<Output = ()> + Send + 'static)> {
    // Routes are made ready once, not with each request, as the framework does it.
    let routes = routes.with_state(());
    let (arrivals, arriving) = mpsc::unbounded_channel();
    let front = Acceptor::start(listener.into_std()?, app.clone(), routes.clone(), arrivals)?;
    Ok((front, serve_arrived(app.clone(), routes, arriving)))
}

async fn serve_arrived(app: AppState, routes: Router, mut arriving: mpsc::UnboundedReceiver<AdmittedConnection>) {
    let written = tokio::spawn(last_used::keep_writing(FromRef::from_ref(&app)));
    let swept = tokio::spawn(keep_sweeping(app.clone()));
    let graceful = GracefulShutdown::new();
    let serve = |AdmittedConnection { stream, peer, begin, place }| {
        let stream = match TcpStream::from_std(stream) {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(%error, "cannot take over a connection");
                return;
            }
        };
        let limits = HeadLimits::of(&app.config.server);
        let (routes, peer, is_shared) = (routes.clone(), Some(peer), place.is_shared());
        let connection = HttpConnection { routes, peer, is_shared, place: None, once: false, limits };
        let served = connection.serve(stream, begin, graceful.watcher());
        tokio::spawn(async move {
            served.await;
            drop(place);
        });
    };
    loop {
        let arrived = tokio::select! {
            biased; // first the end of the server, or steady new connections could keep it from ending
            () = app.leaving.cancelled() => break,
            arrived = arriving.recv() => arrived,
        };
        let Some(admitted) = arrived else { break };
        serve(admitted);
    }
    // The acceptor hands over the last connections, unless emergency stops keep it from ending.
    let last = async {
        while let Some(admitted) = arriving.recv().await {
            serve(admitted);
        }
    };
    let _ = timeout(front::GREETING_TIME * 2, last).await;
    drop(arriving);
    sleep(BEGIN_TIME).await;
    finish(graceful, &app).await;
    for ended in [written.await, swept.await] {
        if let Err(error) = ended {
            tracing::error!(%error, "cannot record the last uses of keys and sessions");
        }
    }
}

/// Serves the control socket until `app` shuts down. Every client that can open the socket is the machine's owner,
/// because the caller has created it with mode 0600. The owner is admitted regardless of load.
pub async fn serve_control(listener: UnixListener, app: AppState, routes: Router) {
    let routes = routes.layer(Extension(LocalOwner)).with_state(());
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            biased; // first the end of the server, or steady new connections could keep it from ending
            () = app.leaving.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (place, limits) = (app.admission.reserved(), HeadLimits::of(&app.config.server));
        let routes = routes.clone();
        let connection = HttpConnection { routes, peer: None, is_shared: true, place: None, once: false, limits };
        let served = connection.serve(stream, Vec::new(), graceful.watcher());
        tokio::spawn(async move {
            served.await;
            drop(place);
        });
    }
    drop(listener);
    finish(graceful, &app).await;
}

async fn finish(graceful: GracefulShutdown, app: &AppState) {
    tokio::select! {
        biased; // done in time counts as done
        () = graceful.shutdown() => {}
        () = sleep(app.config.server.shutdown_timeout_seconds.duration()) => {
            tracing::warn!("some requests did not finish in time");
        }
    }
}

async fn keep_sweeping(app: AppState) {
    while timeout(WINDOW_SWEEP_INTERVAL, app.leaving.cancelled()).await.is_err() {
        app.limits.sweep(app.environment.now());
    }
}
