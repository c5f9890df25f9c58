//! How many streams each customer has open: one connection carries many, so bounds of connections do not bound them.

use std::sync::Arc;

use dashmap::DashMap;

use crate::domain::id::Id;

/// Most streams of one customer at a time, of all their browsers together.
pub(super) const MAX_STREAMS_OF_CUSTOMER: usize = 20;

/// Counts the streams that are open now.
#[derive(Default)]
pub(crate) struct OpenStreams {
    of_customer: DashMap<Id, usize>,
}

/// The right of a customer to one stream; given back when dropped.
pub(super) struct StreamPlace {
    streams: Arc<OpenStreams>,
    customer: Id,
}

impl OpenStreams {
    /// Admits one more stream of a customer; `None` when they have as many as one may have.
    pub(super) fn enter(self: &Arc<Self>, customer: Id) -> Option<StreamPlace> {
        let mut open = self.of_customer.entry(customer).or_insert(0);
        if *open >= MAX_STREAMS_OF_CUSTOMER {
            return None;
        }
        *open += 1;
        Some(StreamPlace { streams: self.clone(), customer })
    }
}

impl Drop for StreamPlace {
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
