//! The next due deliveries in memory, at most [`WINDOW`]; all the others are the backlog, in rows.
//!
//! A new delivery takes the place of one that is due later; a delivery whose attempt failed goes back to its row while there
//! is a backlog, and a refill brings the earliest rows. So one that fails again and again never keeps another waiting.

use crate::domain::endpoint::{Delivery, DeliveryState, Endpoint, EndpointEffect, WINDOW};
use crate::domain::id::Id;
use crate::domain::time::Timestamp;

/// Most deliveries remembered as having left the window.
const LEFT: usize = 4 * WINDOW;

impl Endpoint {
    /// The endpoint with pending deliveries from their rows, earliest first; `more` when there are others.
    pub fn hydrate(mut self, rows: impl IntoIterator<Item = Delivery>, more: bool) -> Self {
        self.backlog |= more;
        for row in rows.into_iter().filter(|row| row.state == DeliveryState::Pending) {
            let at = self.anew_at.unwrap_or_default();
            let row = self.anew(row, at);
            self.place(row);
        }
        self
    }

    /// A pending delivery counts its attempts anew when it was last tried before the endpoint was enabled.
    pub(super) fn anew(&self, row: Delivery, now: Timestamp) -> Delivery {
        match (self.anew_at, row.attempted_at) {
            (Some(anew), Some(tried)) if tried < anew && row.attempts > 0 => {
                Delivery { attempts: 0, next_at: now, ..row }
            }
            _ => row,
        }
    }

    /// Takes a delivery into the window, in the place of one due later if it is full; else it stays in its row.
    pub(super) fn place(&mut self, delivery: Delivery) {
        if self.window.size() >= WINDOW && !self.window.contains_key(&delivery.id) {
            self.backlog = true;
            let last = self.window.values().max_by_key(|d| (d.next_at, d.id)).map(|d| (d.next_at, d.id));
            match last {
                Some((at, id)) if at > delivery.next_at => self.leave(id),
                _ => return,
            }
        }
        self.window.insert_mut(delivery.id, delivery);
    }

    /// Takes a delivery out of the window and remembers that.
    pub(super) fn leave(&mut self, id: Id) {
        self.window.remove_mut(&id);
        self.left.insert_mut(id);
        if self.left.size() > LEFT
            && let Some(oldest) = self.left.first().copied()
        {
            self.left.remove_mut(&oldest);
        }
    }

    /// Of the rows of a refill those that are news: not in the window, and not of a time before they left it.
    /// Afterwards a fresh refill may bring the others. The flag tells whether any was passed over for the latter.
    pub(super) fn news<'r>(&mut self, rows: &'r [Delivery]) -> (Vec<&'r Delivery>, bool) {
        let strange = |row: &&Delivery| row.state == DeliveryState::Pending && row.endpoint_id == self.id;
        let outside = rows.iter().filter(strange).filter(|row| !self.window.contains_key(&row.id));
        let (stale, news): (Vec<_>, Vec<_>) = outside.partition(|row| self.left.contains(&row.id));
        self.left = Default::default();
        (news, !stale.is_empty())
    }

    /// Attempts, for each delivery of the window.
    pub(super) fn deliver(&self) -> impl Iterator<Item = EndpointEffect> {
        self.window.values().map(|d| EndpointEffect::Deliver { delivery: d.id, number: d.attempts + 1, at: d.next_at })
    }
}
