//! Number of open streams per customer. Limits on connections do not limit this number, because a single connection can
//! carry many streams.

use std::sync::Arc;

use dashmap::DashMap;

use domain::id::Id;

/// Maximum number of concurrent streams per customer, across all of the customer's browsers.
pub const MAX_STREAMS_OF_CUSTOMER: usize = 20;

/// Counter of the open streams per customer.
#[derive(Default)]
pub struct OpenStreams {
    of_customer: DashMap<Id, usize>,
}

/// Permit for one of a customer's streams; released when dropped.
pub struct StreamPermit {
    streams: Arc<OpenStreams>,
    customer: Id,
}

impl OpenStreams {
    /// Admits an additional stream for a customer; returns `None` if the customer has reached the limit.
    pub fn enter(self: &Arc<Self>, customer: Id) -> Option<StreamPermit> {
        let mut open = self.of_customer.entry(customer).or_insert(0);
        if *open >= MAX_STREAMS_OF_CUSTOMER {
            return None;
        }
        *open += 1;
        Some(StreamPermit { streams: self.clone(), customer })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        if let Some(mut open) = self.streams.of_customer.get_mut(&self.customer) {
            *open = open.saturating_sub(1);
        }
        self.streams.of_customer.remove_if(&self.customer, |_, open| *open == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_customer_has_places_of_their_own_and_gives_them_back() {
        let streams = Arc::new(OpenStreams::default());
        let [ann, bob] = [1, 2].map(|n| Id(uuid::Uuid::from_u128(n)));
        let mut places: Vec<_> = (0..MAX_STREAMS_OF_CUSTOMER).map(|_| streams.enter(ann)).collect();
        assert!(places.iter().all(Option::is_some));
        assert!(streams.enter(ann).is_none() && streams.enter(bob).is_some());
        places.pop();
        assert!(streams.enter(ann).is_some());
        drop(places);
        assert!(streams.of_customer.is_empty(), "nothing is kept of those who left");
    }
}
