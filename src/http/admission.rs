//! Admission: how many connections and requests the server takes at a time. What is above is refused at once with 503.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::config::sections::Server;

/// Connections beyond the limit that are still read, so that health checks and emergency stops are answered, and others
/// told; each answers one request.
const BEYOND: usize = 256;

/// Files that the rest of the server may have open meanwhile: database, uploads, printers, endpoints.
const OTHER_FILES: usize = 256;
/// Connections that are taken even where the system allows only few open files.
const FEWEST: usize = 16;

/// The address of the client of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// Marks requests of a connection beyond the limit.
#[derive(Clone, Copy, Debug)]
pub struct Crowded;

/// Counts connections and requests under way, and refusals.
pub struct Admission {
    requests: Semaphore,
    most_requests: usize,
    most_connections: usize,
    connections: AtomicUsize,
    overloaded: AtomicU64,
    turned_away: AtomicU64,
}

/// The right to one connection; given back when dropped.
pub struct AdmissionPermit {
    load: Arc<Admission>,
    /// True when the connection is beyond the limit: it is served one request only.
    pub crowded: bool,
}

impl Drop for AdmissionPermit {
    fn drop(&mut self) {
        self.load.connections.fetch_sub(1, Relaxed);
    }
}

impl Admission {
    /// With the limits of the configuration.
    pub fn new(server: &Server) -> Self {
        let possible = open_files().map_or(usize::MAX, |files| files.saturating_sub(OTHER_FILES + BEYOND).max(FEWEST));
        if possible < server.max_connections {
            tracing::warn!(
                possible,
                wanted = server.max_connections,
                "the limit on open files allows fewer connections"
            );
        }
        Self {
            requests: Semaphore::new(server.max_concurrent_requests.min(Semaphore::MAX_PERMITS)),
            most_requests: server.max_concurrent_requests.min(Semaphore::MAX_PERMITS),
            most_connections: server.max_connections.min(possible),
            connections: AtomicUsize::new(0),
            overloaded: AtomicU64::new(0),
            turned_away: AtomicU64::new(0),
        }
    }

    /// Admits a connection; `None` when even the few beyond the limit are taken.
    pub fn connect(self: &Arc<Self>) -> Option<AdmissionPermit> {
        let before = self.connections.fetch_add(1, Relaxed);
        let place = AdmissionPermit { load: self.clone(), crowded: before >= self.most_connections };
        if before >= self.most_connections + BEYOND {
            self.turned_away.fetch_add(1, Relaxed);
            return None;
        }
        Some(place)
    }

    /// Admits a connection whatever the load is.
    pub fn reserved(self: &Arc<Self>) -> AdmissionPermit {
        self.connections.fetch_add(1, Relaxed);
        AdmissionPermit { load: self.clone(), crowded: false }
    }

    /// Admits a request; `None` when it must be refused.
    pub fn enter(&self, crowded: bool) -> Option<SemaphorePermit<'_>> {
        let permit = if crowded { None } else { self.requests.try_acquire().ok() };
        if permit.is_none() {
            self.overloaded.fetch_add(1, Relaxed);
        }
        permit
    }

    /// How many connections are open now.
    pub fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }
    /// How many requests are worked on now.
    pub fn requests(&self) -> usize {
        self.most_requests - self.requests.available_permits()
    }
    /// Requests answered 503 because of load, since the start.
    pub fn overloaded(&self) -> u64 {
        self.overloaded.load(Relaxed)
    }
    /// Connections closed without an answer because of load, since the start.
    pub fn turned_away(&self) -> u64 {
        self.turned_away.load(Relaxed)
    }
}

/// How many files the system lets this process open, where it says so.
fn open_files() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    limits.lines().find(|line| line.starts_with("Max open files"))?.split_whitespace().nth(3)?.parse().ok()
}
