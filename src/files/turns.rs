//! Scheduling of reads of file contents.
//!
//! The shop's files and customers' files have separate slots, so that a customer's model cannot delay the shop's
//! G-code. Drawing pictures has its own slot. While one of the shop's files is being read or waiting, the reading of a
//! customer's file and the drawing of a picture pause most of the time. A read whose request has been cancelled stops
//! at its next check, and keeps its slot until then. The slots therefore limit the number of threads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::mailboxes::{MailboxLimits, MailboxPermit, MailboxPermits, MailboxesFull};

/// Number of files read in parallel for each kind of slot. A read occupies a CPU core, which other work needs as well.
const MAX_READERS: usize = 1;
/// Time limit for reading one of the shop's files. A gigabyte of G-code takes a few seconds.
const SHOP_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for reading one of a customer's files, including pauses. A model of 100 MB takes a second or two.
const CUSTOMER_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of customers' files being read or waiting; further files are rejected.
const MAX_CUSTOMER_FILES: usize = 64;
/// Maximum number of files per mailbox being read or waiting.
const MAX_FILES_OF_MAILBOX: usize = 2;
/// Maximum number of pictures being drawn or waiting; further requests are rejected. Browsers request a few at a time.
const MAX_DRAWINGS: usize = 64;
/// Ratio of pauses to work for a customer's file while the shop has files to read.
const RESTS_PER_WORK: u32 = 7;
/// Minimum working time between pauses.
const SHORTEST_WORK: Duration = Duration::from_millis(2);
/// Maximum length of one pause.
const LONGEST_REST: Duration = Duration::from_millis(100);

/// Owner of the file to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileOwner {
    /// The shop: its staff, its API keys, and its slicer.
    Shop,
    /// The customer with the given mailbox.
    Customer(String),
}

/// Reason why a read is rejected: too many files are waiting to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadersBusy {
    /// The limit for pictures to be drawn is reached.
    #[error("too many pictures are being drawn; try again in a moment")]
    Drawings,
    /// The limit for all customers is reached.
    #[error("too many models are being measured; try again in a moment")]
    All,
    /// The limit for the customer's mailbox is reached.
    #[error("{MAX_FILES_OF_MAILBOX} of your models are being measured; upload the next one once they are done")]
    Mailbox,
}

/// Queue for reading files, with a limited number of slots.
#[derive(Debug)]
pub(super) struct ReadQueue {
    shop: Arc<Semaphore>,
    customers: Arc<Semaphore>,
    /// Slot for drawing pictures, separate from those for reading uploads.
    drawing: Arc<Semaphore>,
    /// Permits for pictures being drawn or waiting.
    drawings: Arc<Semaphore>,
    /// Number of the shop's files being read or waiting.
    shop_files: Arc<AtomicUsize>,
    /// Permits for each mailbox's files that are being read or waiting.
    mailboxes: MailboxPermits,
}

impl Default for ReadQueue {
    fn default() -> Self {
        let place = || Arc::new(Semaphore::new(MAX_READERS));
        let limits = MailboxLimits { of_all: MAX_CUSTOMER_FILES, of_one: MAX_FILES_OF_MAILBOX };
        let mailboxes = MailboxPermits::new(limits);
        let drawings = Arc::new(Semaphore::new(MAX_DRAWINGS));
        let (shop, customers, drawing) = (place(), place(), place());
        Self { shop, customers, drawing, drawings, shop_files: Arc::default(), mailboxes }
    }
}

/// Handle to a running read, which tells the read whether to continue and makes it pause for the shop's files.
#[derive(Debug)]
pub(super) struct RunningRead {
    until: Instant,
    is_given_up: Arc<AtomicBool>,
    /// Number of the shop's files being read or waiting; `None` if this read is itself for one of the shop's files.
    shop_files: Option<Arc<AtomicUsize>>,
    /// Time at which the read started or its last pause ended.
    work_since: Instant,
    // Dropped first: whoever gets the place finds this file counted no more.
    _entry: ReadQueueEntry,
    _place: OwnedSemaphorePermit,
}

impl RunningRead {
    /// Returns whether to continue: the time limit has not been reached and the request has not been cancelled. Pauses
    /// first if the shop has files to read.
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

/// Entry for one file that is being read or waiting, which is counted until it is dropped.
#[derive(Debug)]
struct ReadQueueEntry {
    _shop: Option<ShopReadEntry>,
    _customer: Option<MailboxPermit>,
    _drawing: Option<OwnedSemaphorePermit>,
}

/// Entry for one of the shop's files that is being read or waiting.
#[derive(Debug)]
struct ShopReadEntry(Arc<AtomicUsize>);

impl Drop for ShopReadEntry {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Turn to draw a picture, which is the only one until this is dropped or used.
#[derive(Debug)]
pub(super) struct DrawingTurn {
    // Dropped first, as in `RunningRead`.
    entry: ReadQueueEntry,
    place: OwnedSemaphorePermit,
    shop_files: Arc<AtomicUsize>,
}

impl DrawingTurn {
    /// Runs `draw` on a blocking thread. `draw` must periodically call [`RunningRead::goes_on`], which pauses it while
    /// the shop has files to read.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread ends early.
    pub(super) async fn draw<R: Send + 'static>(
        self,
        draw: impl FnOnce(&mut RunningRead) -> R + Send + 'static,
    ) -> io::Result<R> {
        let Self { place, entry, shop_files } = self;
        ReadQueue::run(entry, place, Some(shop_files), CUSTOMER_TIMEOUT, draw).await
    }
}

/// Guard that, when dropped, signals to a read that its request has been cancelled.
struct GiveUpOnDrop(Arc<AtomicBool>);

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

impl ReadQueue {
    /// Runs `read` on a blocking thread once the owner has a free slot. `read` must periodically call
    /// [`RunningRead::goes_on`].
    ///
    /// # Errors
    ///
    /// Returns the error from `read`, or [`ReadersBusy`] inside an [`io::Error`] if too many files are waiting.
    pub(super) async fn read<R: Send + 'static>(
        &self,
        owner: &FileOwner,
        read: impl FnOnce(&mut RunningRead) -> R + Send + 'static,
    ) -> io::Result<R> {
        let entry = self.enter(owner)?;
        let (place, shop_files, timeout) = match owner {
            FileOwner::Shop => (&self.shop, None, SHOP_TIMEOUT),
            FileOwner::Customer(_) => (&self.customers, Some(self.shop_files.clone()), CUSTOMER_TIMEOUT),
        };
        let place = place.clone().acquire_owned().await.map_err(io::Error::other)?;
        Self::run(entry, place, shop_files, timeout, read).await
    }

    /// Waits until no other picture is being drawn.
    ///
    /// # Errors
    ///
    /// Returns [`ReadersBusy`] inside an [`io::Error`] if too many pictures are waiting.
    pub(super) async fn drawing_turn(&self) -> io::Result<DrawingTurn> {
        let busy = |_| io::Error::new(io::ErrorKind::ResourceBusy, ReadersBusy::Drawings);
        let permit = self.drawings.clone().try_acquire_owned().map_err(busy)?;
        let entry = ReadQueueEntry { _shop: None, _customer: None, _drawing: Some(permit) };
        let place = self.drawing.clone().acquire_owned().await.map_err(io::Error::other)?;
        Ok(DrawingTurn { place, entry, shop_files: self.shop_files.clone() })
    }

    async fn run<R: Send + 'static>(
        entry: ReadQueueEntry,
        place: OwnedSemaphorePermit,
        shop_files: Option<Arc<AtomicUsize>>,
        timeout: Duration,
        read: impl FnOnce(&mut RunningRead) -> R + Send + 'static,
    ) -> io::Result<R> {
        let is_given_up = Arc::<AtomicBool>::default();
        let _waits = GiveUpOnDrop(is_given_up.clone());
        let now = Instant::now();
        let mut reading = RunningRead {
            until: now + timeout,
            is_given_up,
            shop_files,
            work_since: now,
            _place: place,
            _entry: entry,
        };
        spawn_blocking(move || read(&mut reading)).await.map_err(io::Error::other)
    }

    fn enter(&self, owner: &FileOwner) -> io::Result<ReadQueueEntry> {
        let mailbox = match owner {
            FileOwner::Shop => {
                self.shop_files.fetch_add(1, Relaxed);
                let shop = ShopReadEntry(self.shop_files.clone());
                return Ok(ReadQueueEntry { _shop: Some(shop), _customer: None, _drawing: None });
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
        Ok(ReadQueueEntry { _shop: None, _customer: Some(place), _drawing: None })
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

    /// Starts a read that lasts until it is cancelled; returns its task once it has started.
    async fn begin_endless(turns: &Arc<ReadQueue>, owner: FileOwner) -> tokio::task::JoinHandle<io::Result<()>> {
        let (began, begins) = tokio::sync::oneshot::channel();
        let turns = turns.clone();
        let read = move |reading: &mut RunningRead| {
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
        let turns = Arc::new(ReadQueue::default());
        let endless = begin_endless(&turns, customer("mallory")).await;
        assert!(turns.read(&FileOwner::Shop, RunningRead::goes_on).await.unwrap());
        assert!(!endless.is_finished(), "it is still read");
        endless.abort();
    }

    #[tokio::test]
    async fn who_goes_away_gives_the_place_to_the_next() {
        let turns = Arc::new(ReadQueue::default());
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
        let turns = Arc::new(ReadQueue::default());
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
        let turns = Arc::new(ReadQueue::default());
        let (begun, begins) = mpsc::channel::<()>();
        let shop = {
            let turns = turns.clone();
            tokio::spawn(async move { turns.read(&FileOwner::Shop, move |_| begins.recv().unwrap()).await })
        };
        let work = |reading: &mut RunningRead| {
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

    #[tokio::test]
    async fn pictures_beyond_the_limit_are_rejected() {
        let turns = ReadQueue::default();
        let others = turns.drawings.clone().acquire_many_owned(MAX_DRAWINGS as u32).await.unwrap();
        let error = turns.drawing_turn().await.unwrap_err();
        assert_eq!(error.downcast::<ReadersBusy>().unwrap(), ReadersBusy::Drawings);
        drop(others);
        let turn = turns.drawing_turn().await.unwrap();
        turn.draw(|drawing| assert!(drawing.goes_on())).await.unwrap();
    }
}
