//! Listening and leaving: over TCP for everybody, over the control socket for the owner of the machine (decisions §13).

use crate::http::access::FromMachine;
use crate::http::{AppState, router, uses};
use axum::extract::Extension;
use axum::serve::{Listener, serve as listen};
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;

/// Serves until `leaving` is cancelled; then no connection is taken any more, requests under way may finish within the
/// configured time, and streams end. Last uses of keys and sessions are written meanwhile and at the end.
pub async fn serve_tcp(listener: TcpListener, app: AppState, leaving: CancellationToken) {
    let written = tokio::spawn(uses::keep_writing(app.clone()));
    run(listener, app, leaving, false).await;
    if let Err(error) = written.await {
        tracing::error!(%error, "last uses were not written");
    }
}

/// The same over the control socket: whoever can open it is the owner of the machine. The caller has made it 0600.
pub async fn serve_control(listener: UnixListener, app: AppState, leaving: CancellationToken) {
    run(listener, app, leaving, true).await;
}

async fn run<L>(listener: L, app: AppState, leaving: CancellationToken, machine: bool)
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    let finish = app.config.server.shutdown_seconds.duration();
    let mut routes = router(app);
    if machine {
        routes = routes.layer(Extension(FromMachine));
    }
    let server = listen(listener, routes).with_graceful_shutdown(leaving.clone().cancelled_owned());
    tokio::select! {
        served = server.into_future() => if let Err(error) = served {
            tracing::error!(%error, "the listener ended");
        },
        () = too_long(leaving, finish) => tracing::warn!("some requests did not finish in time"),
    }
}

async fn too_long(leaving: CancellationToken, finish: Duration) {
    leaving.cancelled().await;
    tokio::time::sleep(finish).await;
}
