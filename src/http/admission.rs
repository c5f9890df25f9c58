//! Admission control: bounds the number of connections and requests that the server handles at a time. Excess requests
//! are rejected immediately with 503.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use dashmap::DashMap;

use config::sections::ServerConfig;
use domain::limits::address::{self, Network};

/// Maximum number of connections beyond the limits that still receive an error response instead of being dropped.
/// Health checks and emergency stops are not included.
const MAX_CROWDED_CONNECTIONS: usize = 256;

/// File descriptors reserved for the rest of the server: database, uploads, printers, endpoints.
const OTHER_FILES: usize = 256 + FRONT_FILES;
/// Maximum number of file descriptors used by the connection listener.
const FRONT_FILES: usize = 1792;
/// Minimum number of connections accepted, even if the system allows only a few open files.
const MIN_CONNECTIONS: usize = 16;

/// Remote address of a connection.
#[derive(Clone, Copy, Debug)]
pub struct RemoteAddress(pub IpAddr);

/// Slot of an accepted connection, stored in the extensions of its requests. Until a request is admitted, a newer
/// connection may take over the slot.
#[derive(Clone, Debug, Default)]
pub struct AcceptSlot(Arc<AtomicBool>);

impl AcceptSlot {
    /// Keeps the slot until the response has been sent. Called once the caller is authorized; newer connections can
    /// then no longer take the slot.
    pub fn keep(&self) {
        self.0.store(true, Relaxed);
    }

    /// Returns whether the request was admitted.
    pub fn is_kept(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Marker for a response that rejects a request because of load or a rate limit. A client that sends its next request
/// on the same connection before `Retry-After` has elapsed has to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefusedForLoad {
    /// The server is at its limit, regardless of the client.
    Server,
    /// This client exceeds its rate limit; other clients may share the connection behind a proxy.
    Client,
}

/// Counters of open connections, in-flight requests and rejections, with their limits.
pub struct Admission {
    /// Number of in-flight requests. Nobody waits for a permit, so no semaphore with its list of waiters is needed.
    requests: AtomicUsize,
    most_requests: usize,
    most_connections: usize,
    connections: AtomicUsize,
    /// Number of open connections per address, for addresses to which the limit applies.
    of_address: DashMap<u128, usize>,
    most_of_address: usize,
    trusted: Vec<Network>,
    overloaded: AtomicU64,
    turned_away: AtomicU64,
}

/// Permit for a connection; released when dropped.
pub struct AdmissionPermit {
    load: Arc<Admission>,
    /// Address whose connection limit applies; `None` if many clients share it.
    scope: Option<u128>,
    /// `true` if the connection exceeds a limit, so that its request is rejected without being read.
    pub crowded: bool,
}

impl AdmissionPermit {
    /// Returns whether the connection may carry requests from many clients, because it comes from a proxy or from this
    /// machine.
    pub const fn is_shared(&self) -> bool {
        self.scope.is_none()
    }
}

impl Drop for AdmissionPermit {
    fn drop(&mut self) {
        self.load.connections.fetch_sub(1, Relaxed);
        if let Some(scope) = self.scope {
            if let Some(mut open) = self.load.of_address.get_mut(&scope) {
                *open = open.saturating_sub(1);
            }
            self.load.of_address.remove_if(&scope, |_, open| *open == 0);
        }
    }
}

/// Permit for an in-flight request; released when dropped.
pub struct RequestPermit<'a>(&'a Admission);

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Relaxed);
    }
}

impl Admission {
    /// Creates the connection and request counters with the configured limits, capped by the system's limit on open
    /// files.
    pub fn new(server: &ServerConfig) -> Self {
        let possible = open_files().map_or(usize::MAX, |files| {
            files.saturating_sub(OTHER_FILES + MAX_CROWDED_CONNECTIONS).max(MIN_CONNECTIONS)
        });
        if possible < server.max_connections {
            tracing::warn!(
                possible,
                wanted = server.max_connections,
                "the limit on open files allows fewer connections than configured"
            );
        }
        Self {
            requests: AtomicUsize::new(0),
            most_requests: server.max_concurrent_requests,
            most_connections: server.max_connections.min(possible),
            connections: AtomicUsize::new(0),
            of_address: DashMap::new(),
            most_of_address: server.max_connections_per_address,
            // Networks that cannot be parsed were refused when the configuration was checked.
            trusted: server.trusted_proxies.iter().filter_map(|text| text.parse().ok()).collect(),
            overloaded: AtomicU64::new(0),
            turned_away: AtomicU64::new(0),
        }
    }

    /// Returns the address by which connections from the given peer are limited; `None` for proxies and this machine
    /// itself, which many clients share.
    pub fn scope(&self, peer: IpAddr) -> Option<u128> {
        (!address::speaks_for_many(peer, &self.trusted)).then(|| address::scope(peer.to_canonical()))
    }

    /// Admits a connection; returns `None` if even the slots beyond the limits are taken.
    pub fn connect(self: &Arc<Self>, peer: IpAddr) -> Option<AdmissionPermit> {
        let before = self.connections.fetch_add(1, Relaxed);
        let scope = self.scope(peer);
        let of_address = scope.map_or(0, |scope| {
            let mut open = self.of_address.entry(scope).or_insert(0);
            *open += 1;
            *open
        });
        let crowded = before >= self.most_connections || of_address > self.most_of_address;
        let place = AdmissionPermit { load: self.clone(), scope, crowded };
        // An address that is told of its bound leaves room for others to be told.
        let few = of_address <= self.most_of_address + MAX_CROWDED_CONNECTIONS / 4;
        if before >= self.most_connections + MAX_CROWDED_CONNECTIONS || !few {
            self.turned_away.fetch_add(1, Relaxed);
            return None;
        }
        Some(place)
    }

    /// Admits a connection regardless of load.
    pub fn reserved(self: &Arc<Self>) -> AdmissionPermit {
        self.connections.fetch_add(1, Relaxed);
        AdmissionPermit { load: self.clone(), scope: None, crowded: false }
    }

    /// Acquires a permit for a request; returns `None` if the request must be rejected.
    pub fn enter(&self) -> Option<RequestPermit<'_>> {
        let one_more = |requests: usize| (requests < self.most_requests).then_some(requests + 1);
        if self.requests.fetch_update(Relaxed, Relaxed, one_more).is_ok() {
            return Some(RequestPermit(self));
        }
        self.count_refusal();
        None
    }

    /// Returns whether the limit on in-flight requests is reached.
    pub fn is_full(&self) -> bool {
        self.requests() >= self.most_requests
    }

    /// Returns whether a request would be rejected now, and counts the rejection if so.
    pub fn refuses(&self) -> bool {
        let refuses = self.is_full();
        if refuses {
            self.count_refusal();
        }
        refuses
    }

    /// Counts a request rejected with 503 because of load.
    pub fn count_refusal(&self) {
        self.overloaded.fetch_add(1, Relaxed);
    }

    /// Returns the number of open connections.
    pub fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }
    /// Returns the number of in-flight requests.
    pub fn requests(&self) -> usize {
        self.requests.load(Relaxed)
    }
    /// Returns the number of requests rejected with 503 because of load since startup.
    pub fn overloaded(&self) -> u64 {
        self.overloaded.load(Relaxed)
    }
    /// Returns the number of connections closed without a response because of load since startup.
    pub fn turned_away(&self) -> u64 {
        self.turned_away.load(Relaxed)
    }
}

/// Returns the system's limit on open files for this process, if known.
fn open_files() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    limits.lines().find(|line| line.starts_with("Max open files"))?.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use config::Config;

    #[test]
    fn no_more_requests_are_under_way_than_allowed_and_each_that_ends_makes_room() {
        let mut server = Config::default().server;
        server.max_concurrent_requests = 2;
        let admission = Admission::new(&server);
        let (first, second) = (admission.enter().unwrap(), admission.enter().unwrap());
        assert!(admission.is_full() && admission.enter().is_none() && admission.enter().is_none());
        assert_eq!((admission.requests(), admission.overloaded()), (2, 2), "the refused ones take no place");
        drop(first);
        let third = admission.enter();
        assert!(third.is_some() && admission.enter().is_none());
        drop((second, third));
        assert_eq!((admission.requests(), admission.is_full()), (0, false));
    }

    #[test]
    fn one_address_cannot_take_all_connections_and_proxies_speak_for_many() {
        let mut server = Config::default().server;
        server.max_connections_per_address = 2;
        server.trusted_proxies = vec!["10.1.0.0/16".to_owned()];
        let admission = Arc::new(Admission::new(&server));
        let mut held = Vec::new();
        let mut crowded = |peer: &str| {
            let place = admission.connect(peer.parse().unwrap())?;
            let crowded = place.crowded;
            held.push(place);
            Some(crowded)
        };
        assert_eq!([(); 3].map(|()| crowded("192.0.2.7")), [Some(false), Some(false), Some(true)]);
        assert_eq!(crowded("192.0.2.8"), Some(false));
        assert_eq!([(); 3].map(|()| crowded("2001:db8::1")), [Some(false), Some(false), Some(true)]);
        assert_eq!(crowded("2001:db8::2"), Some(true), "the same /64");
        for many in ["127.0.0.1", "::1", "10.1.2.3", "::ffff:10.1.2.3"] {
            assert!([(); 20].map(|()| crowded(many)).iter().all(|crowded| *crowded == Some(false)), "{many}");
        }
        let turned_away = (0..MAX_CROWDED_CONNECTIONS).filter(|_| crowded("192.0.2.7").is_none()).count();
        assert!(turned_away > 0 && admission.turned_away() == turned_away as u64);
        drop(held);
        assert_eq!((admission.connections(), admission.of_address.len()), (0, 0));
    }
}
