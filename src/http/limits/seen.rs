//! Sessions of customers that were alive when they were last looked up, and whose they are: the window in which a
//! request counts is known before the database is asked, so that whoever asks too often costs it nothing.
//!
//! They admit nobody: each request that is not refused looks its session up.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dashmap::DashMap;

use super::Charge;
use crate::domain::id::Id;
use crate::domain::limits::LimitKind;

/// Most sessions that are remembered. When more are alive all are forgotten, and count for their address until they are
/// looked up again.
const MAX_SEEN_SESSIONS: usize = 50_000;

/// Customers by the hash of a session's token.
#[derive(Default)]
pub struct SeenSessions {
    customers: DashMap<String, Id>,
    looked_up: AtomicU64,
}

impl SeenSessions {
    /// The window of a request with this session, as far as that is known without looking it up: of its customer, else
    /// of the address.
    pub fn charge(&self, hash: &str, client: IpAddr) -> Charge {
        self.customers.get(hash).map_or_else(
            || Charge::of_address(LimitKind::Anonymous, client),
            |id| Charge { named: LimitKind::Customer, scope: id.0.as_u128() },
        )
    }

    /// Remembers whose session it was found to be; `None` when it is nobody's.
    pub fn note(&self, hash: String, customer: Option<Id>) {
        self.looked_up.fetch_add(1, Relaxed);
        let Some(id) = customer else {
            self.customers.remove(&hash);
            return;
        };
        if self.customers.len() >= MAX_SEEN_SESSIONS && !self.customers.contains_key(&hash) {
            self.customers.clear();
        }
        self.customers.insert(hash, id);
    }

    /// How many sessions were looked up so far.
    pub fn looked_up(&self) -> u64 {
        self.looked_up.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_session_counts_for_its_customer_only_while_it_was_found_alive() {
        let (seen, client) = (SeenSessions::default(), IpAddr::from(Ipv4Addr::LOCALHOST));
        let of_address = Charge::of_address(LimitKind::Anonymous, client);
        assert_eq!(seen.charge("hash", client), of_address);
        let id = crate::domain::testing::id(7);
        seen.note("hash".to_owned(), Some(id));
        let of_customer = Charge { named: LimitKind::Customer, scope: id.0.as_u128() };
        assert_eq!(seen.charge("hash", client), of_customer);
        assert_eq!(seen.charge("other", client), of_address);
        seen.note("hash".to_owned(), None);
        assert_eq!((seen.charge("hash", client), seen.looked_up()), (of_address, 2));
    }
}
