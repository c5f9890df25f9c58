//! Serves the routes of a standby server: one request on each connection, so that the next one finds the server
//! that it has become.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::BEGIN_TIME;
use super::connection::{HeadLimits, HttpConnection};
use config::sections::ServerConfig;

/// Maximum number of open connections. Further ones are closed, because a standby server serves nothing that is worth
/// waiting for.
const MAX_CONNECTIONS: usize = 256;
/// Delay after a failure to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Maximum time for requests to finish when the server takes over.
const FINISH_TIME: Duration = Duration::from_millis(500);

/// Serves the routes until `leaving` is cancelled. The listener may be a copy of one that is used afterwards.
pub fn serve_standby(
    listener: TcpListener,
    routes: Router,
    settings: &ServerConfig,
    leaving: CancellationToken,
) -> impl Future<Output = ()> + Send + use<> {
    let limits = HeadLimits::of(settings).short();
    async move {
        let (graceful, slots) = (GracefulShutdown::new(), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
        loop {
            let accepted = tokio::select! {
                biased; // first the end, or steady new connections could delay it
                () = leaving.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, peer)) = accepted else {
                sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let Ok(slot) = slots.clone().try_acquire_owned() else { continue };
            let (routes, peer) = (routes.clone(), Some(peer.ip()));
            let connection = HttpConnection { routes, peer, is_shared: true, place: None, once: true, limits };
            let served = connection.serve(stream, Vec::new(), graceful.watcher());
            tokio::spawn(async move {
                served.await;
                drop(slot);
            });
        }
        drop(listener);
        sleep(BEGIN_TIME).await;
        // What is left is about a leader that is gone.
        let _ = timeout(FINISH_TIME, graceful.shutdown()).await;
    }
}
