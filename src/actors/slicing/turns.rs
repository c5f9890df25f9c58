//! Queue for the slicers.
//!
//! Orders, and drafts made by staff, go first. A customer's draft is sliced only while none of them is queued, and
//! releases its slot as soon as one is, because a slicer run may take ten minutes. Customers are served in order of
//! arrival, with a limited number of models per mailbox at a time.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::SlicingFailure;
use files::mailboxes::{MailboxLimits, MailboxPermit, MailboxPermits, MailboxesFull};
use files::turns::FileOwner;
use platform::watch::{WatchReceiver, WatchSender};

/// Limits on customer models being sliced or queued. Any others must be requested again later.
const LIMITS: MailboxLimits = MailboxLimits { of_all: 64, of_one: 2 };

/// Queue for the slots that slicers run in.
#[derive(Debug)]
pub(super) struct SlicerQueue {
    queue: Arc<Mutex<QueueState>>,
    mailboxes: MailboxPermits,
    /// Number of the shop's models waiting for a slot.
    shop_waits: WatchSender<usize>,
}

/// Free slots, and models waiting for a slot, oldest first.
#[derive(Debug)]
struct QueueState {
    free: usize,
    shop: VecDeque<oneshot::Sender<SlicerSlot>>,
    customers: VecDeque<oneshot::Sender<SlicerSlot>>,
}

/// Slot that a slicer can run in; on drop, it passes to the next in the queue.
#[derive(Debug)]
struct SlicerSlot(Arc<Mutex<QueueState>>);

impl Drop for SlicerSlot {
    fn drop(&mut self) {
        loop {
            let next = {
                let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let next = queue.shop.pop_front().or_else(|| queue.customers.pop_front());
                let Some(next) = next else {
                    queue.free += 1;
                    return;
                };
                next
            };
            if !next.is_closed() {
                // Whoever went away in this moment hands it on by dropping it.
                let _ = next.send(Self(self.0.clone()));
                return;
            }
        }
    }
}

/// Shop model waiting for a slot; included in the number of waiting models until dropped.
struct ShopModelWaiting<'a>(&'a WatchSender<usize>);

impl<'a> ShopModelWaiting<'a> {
    fn new(count: &'a WatchSender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for ShopModelWaiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Permission to run a slicer, which ends on drop.
#[derive(Debug)]
pub(super) struct SlicerPermit {
    _place: SlicerSlot,
    _mailbox: Option<MailboxPermit>,
    /// Number of waiting shop models; `None` if the permit is for one of the shop's models.
    shop_waits: Option<WatchReceiver<usize>>,
}

impl SlicerPermit {
    /// Returns when the slot must be released: for a customer's model, as soon as one of the shop's models is queued.
    pub(super) async fn is_wanted_back(&mut self) {
        let Some(waits) = &mut self.shop_waits else { return pending::<()>().await };
        let is_over = waits.wait_for(|count| *count > 0).await.is_err();
        if is_over {
            pending::<()>().await;
        }
    }
}

impl SlicerQueue {
    /// Creates the queue with the given number of slots, but at least one.
    pub(super) fn new(places: usize) -> Self {
        let queue = QueueState { free: places.max(1), shop: VecDeque::new(), customers: VecDeque::new() };
        let mailboxes = MailboxPermits::new(LIMITS);
        Self { queue: Arc::new(Mutex::new(queue)), mailboxes, shop_waits: WatchSender::new(0) }
    }

    /// Waits for a turn and returns the permit to run a slicer.
    ///
    /// # Errors
    ///
    /// Fails if the maximum number of customer models is already queued.
    pub(super) async fn take(&self, owner: &FileOwner) -> Result<SlicerPermit, SlicingFailure> {
        let mailbox = match owner {
            FileOwner::Shop => None,
            FileOwner::Customer(mailbox) => Some(self.mailboxes.enter(mailbox).map_err(|full| {
                SlicingFailure::NotNow(match full {
                    MailboxesFull::All => "too many customers' models are waiting to be sliced".to_owned(),
                    MailboxesFull::One => {
                        format!("{} of this customer's models are already waiting to be sliced", LIMITS.of_one)
                    }
                })
            })?),
        };
        let shop_waits = mailbox.is_some().then(|| self.shop_waits.subscribe());
        let place = self.place(mailbox.is_none()).await?;
        Ok(SlicerPermit { _place: place, _mailbox: mailbox, shop_waits })
    }

    async fn place(&self, is_shops: bool) -> Result<SlicerSlot, SlicingFailure> {
        let turn = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.free > 0 {
                queue.free -= 1;
                return Ok(SlicerSlot(self.queue.clone()));
            }
            let (place, turn) = oneshot::channel();
            let line = if is_shops { &mut queue.shop } else { &mut queue.customers };
            line.push_back(place);
            turn
        };
        let _waits = is_shops.then(|| ShopModelWaiting::new(&self.shop_waits));
        turn.await.map_err(|_| SlicingFailure::Trouble("the slicing queue is closed".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use futures::{FutureExt as _, poll};

    use super::*;

    fn customer(name: &str) -> FileOwner {
        FileOwner::Customer(format!("{name}@example.org"))
    }

    #[tokio::test]
    async fn the_shop_goes_before_customers_who_came_earlier() {
        let turns = SlicerQueue::new(1);
        let (ann, bob) = (customer("ann"), customer("bob"));
        let running = turns.take(&FileOwner::Shop).await.unwrap();
        let (mut first, mut second) = (Box::pin(turns.take(&ann)), Box::pin(turns.take(&bob)));
        let mut order = Box::pin(turns.take(&FileOwner::Shop));
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending() && poll!(&mut order).is_pending());
        drop(running);
        assert!(poll!(&mut first).is_pending(), "an order waits");
        drop(order.await.unwrap());
        assert!(poll!(&mut second).is_pending(), "the other customer came first");
        drop(first.await.unwrap());
        second.await.unwrap();
    }

    #[tokio::test]
    async fn a_customers_place_is_wanted_back_while_something_of_the_shop_waits() {
        let turns = SlicerQueue::new(1);
        let mut running = turns.take(&customer("mallory")).await.unwrap();
        let ann = customer("ann");
        let mut other = Box::pin(turns.take(&ann));
        assert!(poll!(&mut other).is_pending());
        assert!(running.is_wanted_back().now_or_never().is_none(), "customers wait for each other");
        let mut order = Box::pin(turns.take(&FileOwner::Shop));
        assert!(poll!(&mut order).is_pending());
        running.is_wanted_back().await;
        drop(running);
        let mut running = order.await.unwrap();
        let mut next = Box::pin(turns.take(&FileOwner::Shop));
        assert!(poll!(&mut next).is_pending());
        assert!(running.is_wanted_back().now_or_never().is_none(), "the shop ends what it has begun");
        // Whoever went away waits no more.
        drop((next, running));
        let mut running = other.await.unwrap();
        assert!(running.is_wanted_back().now_or_never().is_none());
    }

    #[tokio::test]
    async fn a_mailbox_has_few_models_in_line_and_one_that_goes_away_makes_room() {
        let turns = SlicerQueue::new(1);
        let (mallory, ann) = (customer("mallory"), customer("ann"));
        let running = turns.take(&mallory).await.unwrap();
        let mut waiting = Box::pin(turns.take(&mallory));
        assert!(poll!(&mut waiting).is_pending());
        assert!(matches!(turns.take(&mallory).await, Err(SlicingFailure::NotNow(_))));
        let mut of_ann = Box::pin(turns.take(&ann));
        assert!(poll!(&mut of_ann).is_pending());
        drop(waiting);
        drop(running);
        drop(of_ann.await.unwrap());
        turns.take(&mallory).await.unwrap();
    }

    #[tokio::test]
    async fn a_place_that_was_given_to_somebody_who_goes_away_is_not_lost() {
        let turns = SlicerQueue::new(1);
        let running = turns.take(&FileOwner::Shop).await.unwrap();
        let mut gone = Box::pin(turns.take(&FileOwner::Shop));
        assert!(poll!(&mut gone).is_pending());
        drop(running);
        drop(gone);
        turns.take(&FileOwner::Shop).now_or_never().unwrap().unwrap();
        assert_eq!(*turns.shop_waits.borrow(), 0);
    }
}
