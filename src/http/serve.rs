//! Listening and leaving: over TCP for everybody, over the control socket for the owner of the machine (decisions §13).

use crate::http::access::FromMachine;
use crate::http::{AppState, router, uses};
use axum::extract::Extension;
use axum::serve::{Listener, serve as listen};
use std::io;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};

/// Serves until `app.leaving` is cancelled; then no connection is taken any more, requests under way may finish within
/// the configured time, and streams end.
pub async fn serve(listener: TcpListener, app: AppState) -> io::Result<()> {
    let written = tokio::spawn(uses::keep_writing(app.clone()));
    let served = run(listener, app.clone(), false).await;
    app.leaving.cancel();
    if let Err(error) = written.await {
        tracing::error!(%error, "last uses were not written");
    }
    served
}

/// The same over the control socket: whoever can open it is the owner of the machine. The caller has made it 0600.
pub async fn serve_control(listener: UnixListener, app: AppState) -> io::Result<()> {
    run(listener, app, true).await
}

async fn run<L>(listener: L, app: AppState, machine: bool) -> io::Result<()>
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    let (leaving, finish) = (app.leaving.clone(), app.config.server.shutdown_seconds.duration());
    let mut routes = router(app);
    if machine {
        routes = routes.layer(Extension(FromMachine));
    }
    let server = listen(listener, routes).with_graceful_shutdown(leaving.clone().cancelled_owned());
    tokio::select! {
        served = server.into_future() => served,
        () = too_long(leaving, finish) => {
            tracing::warn!("some requests did not finish in time");
            Ok(())
        }
    }
}

async fn too_long(leaving: tokio_util::sync::CancellationToken, finish: Duration) {
    leaving.cancelled().await;
    tokio::time::sleep(finish).await;
}
