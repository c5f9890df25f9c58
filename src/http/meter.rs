//! Request counters by route and status, in a table built with the routes, so that a request needs no lookup.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use platform::observe::meters::{Counter, Histogram, HistogramSnapshot, MAX_SHARDS, shard};

/// Status codes returned by the server; any other status is counted as 0.
const STATUSES: [u16; 26] = [
    0, 101, 200, 201, 202, 204, 206, 302, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 416, 422, 429, 500,
    502, 503, 504,
];

/// Counters of one route.
#[derive(Debug)]
pub struct RouteMeter {
    /// HTTP method; `*` for requests that matched no route.
    pub method: &'static str,
    /// Path pattern of the route, such as `/api/orders/{id}`.
    pub path: String,
    /// Counters by the shard of the thread that counts. Each is created when it is first needed: most routes are hardly
    /// used.
    shards: [OnceLock<Box<RouteShard>>; MAX_SHARDS],
}

/// Counters of one route for some of the threads, in cache lines that the other threads do not write to.
#[derive(Debug)]
#[repr(align(128))]
struct RouteShard {
    statuses: [Counter; STATUSES.len()],
    /// Time from the request head to the response head.
    time: Histogram,
}

impl Default for RouteShard {
    fn default() -> Self {
        Self { statuses: std::array::from_fn(|_| Counter::default()), time: Histogram::of_seconds() }
    }
}

impl RouteMeter {
    fn new(method: &'static str, path: &str) -> Self {
        Self { method, path: path.to_owned(), shards: Default::default() }
    }
    /// Counts a response and records its duration.
    pub fn answered(&self, status: u16, took: Duration) {
        self.counted(status);
        self.shard().time.took(took);
    }
    /// Counts a response, but does not record its duration.
    pub fn counted(&self, status: u16) {
        let at = STATUSES.iter().position(|counted_status| *counted_status == status).unwrap_or(0);
        self.shard().statuses[at].one();
    }
    fn shard(&self) -> &RouteShard {
        self.shards[shard()].get_or_init(Box::default)
    }
    fn shards(&self) -> impl Iterator<Item = &RouteShard> {
        self.shards.iter().filter_map(|shard| shard.get().map(Box::as_ref))
    }
    /// Returns the counts of all statuses that have been returned at least once.
    pub fn by_status(&self) -> impl Iterator<Item = (u16, u64)> {
        let count = |at: usize| self.shards().map(|shard| shard.statuses[at].get()).sum::<u64>();
        let all = STATUSES.iter().enumerate().map(move |(at, status)| (*status, count(at)));
        all.filter(|(_, count)| *count > 0)
    }
    /// Returns the times from the request head to the response head.
    pub fn time(&self) -> HistogramSnapshot {
        let mut sum = Histogram::of_seconds().counted();
        self.shards().for_each(|shard| sum.add(&shard.time.counted()));
        sum
    }
}

/// Counters of all routes.
#[derive(Debug)]
pub struct RouteMeters {
    all: Mutex<Vec<Arc<RouteMeter>>>,
    /// Counters of requests that matched no route.
    pub unmatched: Arc<RouteMeter>,
}

impl Default for RouteMeters {
    fn default() -> Self {
        let unmatched = Arc::new(RouteMeter::new("*", "*"));
        Self { all: Mutex::new(vec![unmatched.clone()]), unmatched }
    }
}

impl RouteMeters {
    /// Returns the counters of a route, which are shared by all listeners that serve it.
    pub fn of(&self, method: &'static str, path: &str) -> Arc<RouteMeter> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(existing) = all.iter().find(|meter| meter.method == method && meter.path == path) {
            return existing.clone();
        }
        let fresh = Arc::new(RouteMeter::new(method, path));
        all.push(fresh.clone());
        fresh
    }
    /// Returns the counters for every route and for unmatched requests.
    pub fn all(&self) -> Vec<Arc<RouteMeter>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_one_line_however_often_it_is_added() {
        let meters = RouteMeters::default();
        meters.of("GET", "/a").answered(200, Duration::ZERO);
        meters.of("GET", "/a").answered(404, Duration::ZERO);
        meters.of("POST", "/a").answered(299, Duration::ZERO);
        assert_eq!(meters.all().len(), 3);
        assert_eq!(meters.of("GET", "/a").by_status().collect::<Vec<_>>(), [(200, 1), (404, 1)]);
        assert_eq!(meters.of("POST", "/a").by_status().collect::<Vec<_>>(), [(0, 1)], "a status nobody knows");
    }

    #[test]
    fn counts_of_all_threads_add_up() {
        let meter = RouteMeters::default().of("GET", "/a");
        assert_eq!((meter.by_status().count(), meter.time().count), (0, 0));
        let threads = [(); 2 * MAX_SHARDS].map(|()| {
            let meter = meter.clone();
            std::thread::spawn(move || {
                for status in [200, 200, 404] {
                    meter.answered(status, Duration::from_millis(1));
                }
            })
        });
        assert!(threads.into_iter().all(|thread| thread.join().is_ok()));
        let requests = 2 * MAX_SHARDS as u64;
        assert_eq!(meter.by_status().collect::<Vec<_>>(), [(200, 2 * requests), (404, requests)]);
        assert_eq!(meter.time().count, 3 * requests);
    }
}
