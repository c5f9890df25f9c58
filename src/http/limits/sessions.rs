//! Customers whose sessions were valid at the last lookup. They determine the rate-limit window of a request before the
//! database is queried, so that a client that exceeds the limit does not cause any queries.
//!
//! They are not used for authentication: the session of every request that is not rejected is looked up.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dashmap::DashMap;

use super::WindowKey;
use domain::id::Id;
use domain::limits::LimitKind;

/// Maximum number of remembered sessions. If it is exceeded, all sessions are forgotten, and requests count towards the
/// limit of their address until the next lookup.
const MAX_SEEN_SESSIONS: usize = 50_000;

/// Customers by the hash of their session token.
#[derive(Default)]
pub struct SessionCustomers {
    customers: DashMap<String, Id>,
    lookups: AtomicU64,
}

impl SessionCustomers {
    /// Returns the window for a request with the given session: that of the session's customer if known, otherwise that
    /// of the address.
    pub fn charge(&self, hash: &str, client: IpAddr) -> WindowKey {
        self.customers.get(hash).map_or_else(
            || WindowKey::of_address(LimitKind::Anonymous, client),
            |id| WindowKey { named: LimitKind::Customer, scope: id.0.as_u128() },
        )
    }

    /// Remembers the customer of a session that was looked up; `None` forgets the session because it is invalid.
    pub fn note(&self, hash: String, customer: Option<Id>) {
        self.lookups.fetch_add(1, Relaxed);
        let Some(id) = customer else {
            self.customers.remove(&hash);
            return;
        };
        if self.customers.len() >= MAX_SEEN_SESSIONS && !self.customers.contains_key(&hash) {
            self.customers.clear();
        }
        self.customers.insert(hash, id);
    }

    /// Returns the number of session lookups.
    pub fn lookups(&self) -> u64 {
        self.lookups.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_session_counts_for_its_customer_only_while_it_was_found_alive() {
        let (sessions, client) = (SessionCustomers::default(), IpAddr::from(Ipv4Addr::LOCALHOST));
        let of_address = WindowKey::of_address(LimitKind::Anonymous, client);
        assert_eq!(sessions.charge("hash", client), of_address);
        let id = domain::testing::id(7);
        sessions.note("hash".to_owned(), Some(id));
        let of_customer = WindowKey { named: LimitKind::Customer, scope: id.0.as_u128() };
        assert_eq!(sessions.charge("hash", client), of_customer);
        assert_eq!(sessions.charge("other", client), of_address);
        sessions.note("hash".to_owned(), None);
        assert_eq!((sessions.charge("hash", client), sessions.lookups()), (of_address, 2));
    }
}
