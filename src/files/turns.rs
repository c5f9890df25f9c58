//! Whose turn it is to have a file read.
//!
//! The shop's files and those of customers have places apart, so that no customer's model can stand before the shop's
//! G-code. While a file of the shop is read or waits, the reading of a customer's rests most of the time. A reading
//! whose request is gone ends at its next question, and has its place until then: places bound the threads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::mailboxes::{MailboxLimits, MailboxPlace, MailboxPlaces, MailboxesFull};

/// Files that are read at the same time in each place: reading takes a processor as long as it lasts, and others want
/// one too.
const MAX_READERS: usize = 1;
/// Longest time to read one file of the shop. A gigabyte of G-code takes some seconds.
const SHOP_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time to read one file of a customer, rests included. A model of 100 MB takes a second or two.
const CUSTOMER_TIMEOUT: Duration = Duration::from_secs(20);
/// Files of customers that are read or wait. Further ones are refused.
const MAX_CUSTOMER_FILES: usize = 64;
/// Files of one mailbox that are read or wait.
const MAX_FILES_OF_MAILBOX: usize = 2;
/// How many times as long as it works the reading of a customer's file rests while the shop has one to read.
const RESTS_PER_WORK: u32 = 7;
/// Shortest work between two rests.
const SHORTEST_WORK: Duration = Duration::from_millis(2);
/// Longest rest at a time.
const LONGEST_REST: Duration = Duration::from_millis(100);

/// The party whose file is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileOwner {
    /// The shop: its staff, its keys, its slicer.
    Shop,
    /// The customer with this mailbox.
    Customer(String),
}

/// Too many files of customers wait to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadersBusy {
    /// Of all customers together.
    #[error("many models are being measured; send it again in a moment")]
    All,
    /// Those of one sender are as many as may be in hand.
    #[error("{MAX_FILES_OF_MAILBOX} of your models are being measured; send the next one when they are done")]
    Mailbox,
}

/// The places at which files are read.
#[derive(Debug)]
pub(super) struct ReadingTurns {
    shop: Arc<Semaphore>,
    customers: Arc<Semaphore>,
    /// Files of the shop that are read or wait.
    shop_files: Arc<AtomicUsize>,
    /// Files of each mailbox that are read or wait.
    mailboxes: MailboxPlaces,
}

impl Default for ReadingTurns {
    fn default() -> Self {
        let place = || Arc::new(Semaphore::new(MAX_READERS));
        let limits = MailboxLimits { of_all: MAX_CUSTOMER_FILES, of_one: MAX_FILES_OF_MAILBOX };
        let mailboxes = MailboxPlaces::new(limits);
        Self { shop: place(), customers: place(), shop_files: Arc::default(), mailboxes }
    }
}

/// A reading under way: asks whether it may go on, and rests for the shop.
#[derive(Debug)]
pub(super) struct Reading {
    until: Instant,
    is_given_up: Arc<AtomicBool>,
    /// Files of the shop; `None` where it is itself one of them.
    shop_files: Option<Arc<AtomicUsize>>,
    /// When it began, or ended its last rest.
    work_since: Instant,
    // Dropped first: whoever gets the place finds this file counted no more.
    _entry: TurnEntry,
    _place: OwnedSemaphorePermit,
}

impl Reading {
    /// Returns whether the reading goes on: its time is not over and somebody waits for it. Rests first where the shop
    /// has files to read.
    pub(super) fn goes_on(&mut self) -> bool {
        if self.is_given_up.load(Relaxed) || Instant::now() > self.until {
            return false;
        }
        let work = self.work_since.elapsed();
        if work >= SHORTEST_WORK && self.shop_files.as_ref().is_some_and(|files| files.load(Relaxed) > 0) {
            thread::sleep((work * RESTS_PER_WORK).min(LONGEST_REST));
            self.work_since = Instant::now();
        }
        true
    }
}

/// A file that is counted as one that is read or waits, until this is dropped.
#[derive(Debug)]
struct TurnEntry {
    _shop: Option<ShopEntry>,
    _customer: Option<MailboxPlace>,
}

/// A file of the shop that is read or waits.
#[derive(Debug)]
struct ShopEntry(Arc<AtomicUsize>);

impl Drop for ShopEntry {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Tells a reading that nobody waits for it any more.
struct GiveUpOnDrop(Arc<AtomicBool>);

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

impl ReadingTurns {
    /// Reads on a thread that may wait, when it is the owner's turn. The reading asks [`Reading::goes_on`] in between.
    ///
    /// # Errors
    ///
    /// What the reading answers, and [`ReadersBusy`] inside an [`io::Error`] where too many wait.
    pub(super) async fn read<R: Send + 'static>(
        &self,
        owner: &FileOwner,
        read: impl FnOnce(&mut Reading) -> R + Send + 'static,
    ) -> io::Result<R> {
        let entry = self.enter(owner)?;
        let (place, shop_files, timeout) = match owner {
            FileOwner::Shop => (&self.shop, None, SHOP_TIMEOUT),
            FileOwner::Customer(_) => (&self.customers, Some(self.shop_files.clone()), CUSTOMER_TIMEOUT),
        };
        let place = place.clone().acquire_owned().await.map_err(io::Error::other)?;
        let is_given_up = Arc::<AtomicBool>::default();
        let _waits = GiveUpOnDrop(is_given_up.clone());
        let now = Instant::now();
        let mut reading =
            Reading { until: now + timeout, is_given_up, shop_files, work_since: now, _place: place, _entry: entry };
        spawn_blocking(move || read(&mut reading)).await.map_err(io::Error::other)
    }

    fn enter(&self, owner: &FileOwner) -> io::Result<TurnEntry> {
        let mailbox = match owner {
            FileOwner::Shop => {
                self.shop_files.fetch_add(1, Relaxed);
                return Ok(TurnEntry { _shop: Some(ShopEntry(self.shop_files.clone())), _customer: None });
            }
            FileOwner::Customer(mailbox) => mailbox,
        };
        let place = self.mailboxes.enter(mailbox).map_err(|full| {
            let busy = match full {
                MailboxesFull::All => ReadersBusy::All,
                MailboxesFull::One => ReadersBusy::Mailbox,
            };
            io::Error::new(io::ErrorKind::ResourceBusy, busy)
        })?;
        Ok(TurnEntry { _shop: None, _customer: Some(place) })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::mpsc;

    use super::*;

    fn customer(name: &str) -> FileOwner {
        FileOwner::Customer(format!("{name}@example.org"))
    }

    /// Begins a reading that lasts until it is given up; gives what ends its future, once it has begun.
    async fn begin_endless(turns: &Arc<ReadingTurns>, owner: FileOwner) -> tokio::task::JoinHandle<io::Result<()>> {
        let (began, begins) = tokio::sync::oneshot::channel();
        let turns = turns.clone();
        let read = move |reading: &mut Reading| {
            began.send(()).unwrap();
            while reading.goes_on() {
                thread::yield_now();
            }
        };
        let task = tokio::spawn(async move { turns.read(&owner, read).await });
        begins.await.unwrap();
        task
    }

    #[tokio::test]
    async fn a_customers_endless_file_keeps_no_file_of_the_shop_waiting() {
        let turns = Arc::new(ReadingTurns::default());
        let endless = begin_endless(&turns, customer("mallory")).await;
        assert!(turns.read(&FileOwner::Shop, Reading::goes_on).await.unwrap());
        assert!(!endless.is_finished(), "it is still read");
        endless.abort();
    }

    #[tokio::test]
    async fn who_goes_away_gives_the_place_to_the_next() {
        let turns = Arc::new(ReadingTurns::default());
        let endless = begin_endless(&turns, customer("mallory")).await;
        let ann = customer("ann");
        let mut next = Box::pin(turns.read(&ann, |_| ()));
        assert!(futures::poll!(&mut next).is_pending(), "one customer's file is read at a time");
        endless.abort();
        next.await.unwrap();
        assert!(turns.mailboxes.is_empty(), "nothing is counted any more");
    }

    #[tokio::test]
    async fn a_mailbox_has_few_files_in_hand_and_all_customers_a_bounded_number() {
        let turns = Arc::new(ReadingTurns::default());
        let endless = begin_endless(&turns, customer("mallory")).await;
        let mut waiting = Vec::new();
        let reason = |result: io::Result<()>| result.unwrap_err().downcast::<ReadersBusy>().unwrap();
        let begin = |name: &str| {
            let owner = customer(name);
            let turns = turns.clone();
            Box::pin(async move { turns.read(&owner, |_| ()).await })
        };
        let mut second = begin("mallory");
        assert!(futures::poll!(&mut second).is_pending());
        assert_eq!(reason(begin("mallory").await), ReadersBusy::Mailbox);
        for n in 0..MAX_CUSTOMER_FILES - 2 {
            let mut one = begin(&format!("ann{n}"));
            assert!(futures::poll!(&mut one).is_pending());
            waiting.push(one);
        }
        assert_eq!(reason(begin("bob").await), ReadersBusy::All);
        turns.read(&FileOwner::Shop, |_| ()).await.unwrap();
        drop((second, waiting));
        endless.abort();
        begin("bob").await.unwrap();
    }

    #[tokio::test]
    async fn a_customers_file_rests_while_the_shop_reads() {
        let turns = Arc::new(ReadingTurns::default());
        let (begun, begins) = mpsc::channel::<()>();
        let shop = {
            let turns = turns.clone();
            tokio::spawn(async move { turns.read(&FileOwner::Shop, move |_| begins.recv().unwrap()).await })
        };
        let work = |reading: &mut Reading| {
            let (from, mut worked) = (Instant::now(), Duration::ZERO);
            while worked < Duration::from_millis(20) {
                let at = Instant::now();
                while at.elapsed() < SHORTEST_WORK {}
                worked += at.elapsed();
                assert!(reading.goes_on());
            }
            from.elapsed()
        };
        while turns.shop_files.load(Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        let beside = turns.read(&customer("ann"), work).await.unwrap();
        // Each rest is bounded, so that of one long piece of work is the shortest.
        assert!(beside >= LONGEST_REST, "{beside:?}");
        begun.send(()).unwrap();
        shop.await.unwrap().unwrap();
    }
}
