//! Pictures from the printers' cameras. Each camera serves one call at a time, and all viewers share its result.
//!
//! Each call runs in its own task with a time limit, so a viewer who disconnects does not interrupt others, and a
//! hanging camera slows neither its printer nor other cameras. After several consecutive failures a camera is not
//! called for a while. The image format is determined from the bytes ([`frame`]); the camera's headers, text and
//! address are never passed on. The choice of a camera by an operator is implemented in `domain/printer`, and access
//! control by the callers.

mod fetch;
pub mod frame;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod place;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use dashmap::DashMap;
use reqwest::Client;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};

use self::fetch::CameraAccess;
use self::frame::PictureKind;
pub use self::place::CameraSource;
pub(crate) use self::place::choose;
use crate::adapter::PrinterError;
use domain::breaker::{Breaker, BreakerRules};
use domain::id::Id;
use domain::schedule::Delays;
use platform::watch::{WatchReceiver, WatchSender};

/// Maximum age of an image that is served without fetching a new one.
const FRESH_TIME: Duration = Duration::from_secs(1);
/// Maximum image size in bytes.
const MAX_PICTURE_BYTES: usize = 8 * 1024 * 1024;
/// Maximum total size, in bytes, of images held in memory at a time, including those being sent to viewers.
const MAX_HELD_BYTES: usize = 128 * 1024 * 1024;
/// Number of consecutive failures after which a camera is not called for a while.
const FAILURES_UNTIL_OPEN: u32 = 3;
/// Delays before a failing camera is called again.
const REST_DELAYS: Delays = Delays { first: Duration::from_secs(2), longest: Duration::from_secs(60) };

/// Picture taken by a camera.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Image format, determined from the bytes.
    pub kind: PictureKind,
    /// The complete image.
    pub bytes: Bytes,
}

/// Reason why no image is available. The messages come from this server; text from a camera is never passed on.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CameraFault {
    /// No camera may be called, for the given reason.
    #[error("{0}")]
    None(String),
    /// The printer cannot report its camera, because an operator disconnected it or it has only just been registered.
    #[error("the printer is not connected, so its camera cannot be detected")]
    Away,
    /// The printer did not report a camera or did not return an image.
    #[error("{0}")]
    Printer(PrinterError),
    /// The camera's response is not an image.
    #[error("{0}")]
    Refused(String),
    /// The camera cannot be reached, or did not respond in time.
    #[error("{0}")]
    Silent(String),
    /// Too many images are being fetched or sent.
    #[error("too many images are being transferred; try again in a moment")]
    Crowded,
}

/// Result of fetching an image from a camera.
type PictureResult = Result<Picture, CameraFault>;

/// Cameras of all printers.
pub struct Cameras {
    client: Client,
    /// Time limit for fetching one image.
    within: Duration,
    room: Arc<Semaphore>,
    began: Instant,
    by_printer: DashMap<Id, Arc<SharedCamera>>,
}

/// State of one camera, shared by its viewers.
struct SharedCamera {
    door: CameraAccess,
    inside: Mutex<CameraFetchState>,
}

#[derive(Default)]
struct CameraFetchState {
    breaker: Breaker,
    /// Last image and the time at which it was fetched; removed once it is no longer fresh.
    latest: Option<(Instant, Picture)>,
    last_fault: Option<CameraFault>,
    /// Receiver for the result of the call in progress, if any.
    flight: Option<WatchReceiver<Option<PictureResult>>>,
}

impl SharedCamera {
    fn with<T>(&self, act: impl FnOnce(&mut CameraFetchState) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Cameras {
    /// Creates an empty set of cameras. `client` must check addresses when it connects and must not follow redirects;
    /// `within` is the time limit for fetching one image.
    pub fn new(client: Client, within: Duration) -> Self {
        let room = Arc::new(Semaphore::new(MAX_HELD_BYTES));
        Self { client, within, room, began: Instant::now(), by_printer: DashMap::new() }
    }

    /// Returns an image from a printer's camera that is at most one second old or, if `anew` is `true`, a newly
    /// fetched one.
    pub async fn picture(&self, printer: Id, source: CameraSource, anew: bool) -> Result<Picture, CameraFault> {
        let line = self.line(printer, source);
        let (mut receiver, task) = match line.with(|inside| self.join(inside, anew)) {
            FetchRole::Known(outcome) => return outcome,
            FetchRole::UnderWay(receiver) => (receiver, None),
            FetchRole::Begins(receiver, tell) => (receiver, Some(tell)),
        };
        if let Some(tell) = task {
            self.take_off(line, tell);
        }
        let outcome = receiver.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        outcome.unwrap_or_else(|| Err(CameraFault::Silent("fetching the image was interrupted".to_owned())))
    }

    /// Discards the camera state of a deleted printer.
    pub(super) fn forget(&self, printer: Id) {
        self.by_printer.remove(&printer);
    }

    /// Returns the state of the given camera. If its source has changed, the state starts out empty.
    fn line(&self, printer: Id, source: CameraSource) -> Arc<SharedCamera> {
        let fresh = |source| Arc::new(SharedCamera { door: CameraAccess::new(source), inside: Mutex::default() });
        let mut line = self.by_printer.entry(printer).or_insert_with(|| fresh(source.clone()));
        if line.door.source != source {
            *line = fresh(source);
        }
        line.clone()
    }

    fn join(&self, inside: &mut CameraFetchState, anew: bool) -> FetchRole {
        if let Some((at, picture)) = inside.latest.as_ref().filter(|_| !anew)
            && at.elapsed() < FRESH_TIME
        {
            return FetchRole::Known(Ok(picture.clone()));
        }
        // One whose task died tells nothing any more.
        if let Some(receiver) = inside.flight.as_ref().filter(|receiver| receiver.has_changed().is_ok()) {
            return FetchRole::UnderWay(receiver.clone());
        }
        if inside.breaker.admit(&self.rules(), self.now_ms()).is_err() {
            let fault = inside.last_fault.clone();
            return FetchRole::Known(Err(fault.unwrap_or_else(|| {
                CameraFault::Silent("the camera failed several times; try again later".to_owned())
            })));
        }
        let tell = WatchSender::new(None);
        let receiver = tell.subscribe();
        inside.flight = Some(receiver.clone());
        FetchRole::Begins(receiver, tell)
    }

    /// Fetches an image in a separate task, shares the result, and discards the image once it is no longer fresh.
    fn take_off(&self, line: Arc<SharedCamera>, tell: WatchSender<Option<PictureResult>>) {
        let (client, within, room) = (self.client.clone(), self.within, self.room.clone());
        let (rules, began) = (self.rules(), self.began);
        tokio::spawn(async move {
            let late = || CameraFault::Silent(format!("the camera did not respond within {} s", within.as_secs_f64()));
            let outcome = timeout(within, line.door.picture(&client, &room)).await.unwrap_or_else(|_| Err(late()));
            let fetched = Instant::now();
            line.with(|inside| {
                inside.flight = None;
                match &outcome {
                    Ok(picture) => {
                        inside.breaker.succeeded();
                        (inside.latest, inside.last_fault) = (Some((fetched, picture.clone())), None);
                    }
                    Err(CameraFault::Refused(_) | CameraFault::Silent(_) | CameraFault::Printer(_)) => {
                        // Nothing else waits for this camera, so nothing has to be spread.
                        inside.breaker.failed(&rules, millis(began), 1.0);
                        inside.last_fault = outcome.as_ref().err().cloned();
                    }
                    Err(_) => {}
                }
            });
            let keeps = outcome.is_ok();
            tell.send_replace(Some(outcome));
            if keeps {
                // Held by nobody but who still looks at it.
                drop(tell);
                sleep(FRESH_TIME).await;
                line.with(|inside| inside.latest.take_if(|(at, _)| *at == fetched));
            }
        });
    }

    fn rules(&self) -> BreakerRules {
        BreakerRules { failures_until_open: FAILURES_UNTIL_OPEN, pauses: REST_DELAYS, longest_call: self.within }
    }

    fn now_ms(&self) -> u64 {
        millis(self.began)
    }
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Way for a viewer to get an image.
enum FetchRole {
    /// The result is already available: a fresh image, or the last error from a camera that is temporarily not being
    /// called.
    Known(PictureResult),
    /// A call for an earlier viewer is in progress; this viewer waits for its result.
    UnderWay(WatchReceiver<Option<PictureResult>>),
    /// This viewer is the first, and fetches the image for all viewers.
    Begins(WatchReceiver<Option<PictureResult>>, WatchSender<Option<PictureResult>>),
}

/// Image bytes with the portion of the memory budget that they occupy. The portion is released when the last reader is
/// done.
struct BudgetedBytes {
    bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for BudgetedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests;
