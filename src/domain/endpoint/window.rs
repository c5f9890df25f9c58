//! In-memory window of an endpoint's pending deliveries: those due next, at most [`DELIVERY_WINDOW`]. All others form
//! the backlog in the database.
//!
//! A new delivery may displace one that is waiting for a retry, but never one that is due: its attempt may be in
//! flight, and removing it would cause it to be sent twice. While there is a backlog, a delivery whose attempt failed
//! leaves the window, and a refill loads those that are due next. A delivery that keeps failing therefore never delays
//! the rest.

use crate::endpoint::{DELIVERY_WINDOW, Delivery, DeliveryState, Endpoint, EndpointEffect};
use crate::id::Id;
use crate::time::Timestamp;

/// Maximum number of recorded deliveries that left the window since the last refill. More can leave only if reading a
/// refill takes a long time, in which case its rows are discarded.
const MAX_LEFT_DELIVERIES: usize = 16 * DELIVERY_WINDOW;

impl Endpoint {
    /// Fills the window after a load with pending deliveries, ordered by due time; `more` states whether the database
    /// holds others.
    pub fn hydrate(mut self, rows: impl IntoIterator<Item = Delivery>, more: bool) -> Self {
        self.backlog |= more;
        for row in rows.into_iter().filter(|row| row.state == DeliveryState::Pending) {
            let at = self.anew_at.unwrap_or_default();
            let row = self.anew(row, at);
            // Nothing is under way after a load: the earliest stay.
            self.place(row, Timestamp(i64::MIN));
        }
        self
    }

    /// Resets the attempts of a pending delivery and makes it due if its last attempt was before the endpoint was
    /// enabled.
    pub(super) fn anew(&self, row: Delivery, now: Timestamp) -> Delivery {
        match (self.anew_at, row.attempted_at) {
            (Some(anew), Some(tried)) if tried < anew && row.attempts > 0 => {
                Delivery { attempts: 0, next_at: now, ..row }
            }
            _ => row,
        }
    }

    /// Adds a delivery to the window. If the window is full, the delivery displaces the one that waits longest for its
    /// retry, provided that this retry is due later; otherwise, it stays in the backlog.
    pub(super) fn place(&mut self, delivery: Delivery, now: Timestamp) {
        if self.window.size() >= DELIVERY_WINDOW && !self.window.contains_key(&delivery.id) {
            self.backlog = true;
            // A first attempt is due at once, whatever the wall clock says meanwhile.
            let waits = |d: &&Delivery| d.attempts > 0 && d.next_at > now;
            let last = self.window.values().filter(waits).max_by_key(|d| (d.next_at, d.id)).map(|d| (d.next_at, d.id));
            match last {
                Some((at, id)) if at > delivery.next_at => self.leave(id),
                _ => return,
            }
        }
        self.window.insert_mut(delivery.id, delivery);
    }

    /// Removes a delivery from the window and records that it left.
    pub(super) fn leave(&mut self, id: Id) {
        self.window.remove_mut(&id);
        if self.left.size() < MAX_LEFT_DELIVERIES {
            self.left.insert_mut(id);
        } else {
            self.left_overflowed = true;
        }
    }

    /// Returns the rows of a refill to be added to the window: those that are not in the window already and did not
    /// leave it after the refill was read. The second value is `true` if any were skipped for the latter reason; a
    /// further refill must then load them. Starts the next refill.
    pub(super) fn news<'r>(&mut self, rows: &'r [Delivery]) -> (Vec<&'r Delivery>, bool) {
        self.refills = self.refills.wrapping_add(1);
        if std::mem::take(&mut self.left_overflowed) {
            self.left = Default::default();
            return (Vec::new(), true);
        }
        let strange = |row: &&Delivery| row.state == DeliveryState::Pending && row.endpoint_id == self.id;
        let outside = rows.iter().filter(strange).filter(|row| !self.window.contains_key(&row.id));
        let (stale, news): (Vec<_>, Vec<_>) = outside.partition(|row| self.left.contains(&row.id));
        self.left = Default::default();
        (news, !stale.is_empty())
    }

    /// Returns the effects that attempt the deliveries in the window.
    pub(super) fn deliver(&self) -> impl Iterator<Item = EndpointEffect> {
        self.window.values().map(|d| EndpointEffect::Deliver { delivery: d.id, number: d.attempts + 1, at: d.next_at })
    }
}
