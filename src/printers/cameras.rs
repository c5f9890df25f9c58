//! Pictures of printers' cameras: one call per camera at a time, whoever looks on, and its answer for all of them.
//!
//! Each call runs in a task of its own with a time limit, so that nobody who hangs up takes it from others, and a
//! camera that hangs slows neither its printer nor other cameras. One that failed several times in a row is left alone
//! for a while. What a camera answers is told from its bytes ([`frame`]); its headers, words and address go no further.
//! Not for: which camera a person set (`domain/printer`), and who may look.

mod fetch;
pub mod frame;
mod place;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use dashmap::DashMap;
use reqwest::Client;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

use self::fetch::Door;
use self::frame::PictureKind;
pub use self::place::CameraSource;
use crate::domain::breaker::{Breaker, BreakerRules};
use crate::domain::id::Id;
use crate::domain::schedule::Delays;
use crate::printers::adapter::PrinterError;

/// How long a picture is shown before a new one is fetched.
const FRESH_TIME: Duration = Duration::from_secs(1);
/// Most bytes of one picture.
const MAX_PICTURE_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of pictures that are held at a time, those that are just sent to somebody included.
const MAX_HELD_BYTES: usize = 128 * 1024 * 1024;
/// Failures in a row after which a camera is left alone.
const FAILURES_UNTIL_OPEN: u32 = 3;
/// For how long it is left alone then.
const REST_DELAYS: Delays = Delays { first: Duration::from_secs(2), longest: Duration::from_secs(60) };

/// One picture of a camera.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it is, by its bytes.
    pub kind: PictureKind,
    /// All of it.
    pub bytes: Bytes,
}

/// Why there is no picture. The words are our own: what a camera says is never passed on.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CameraFault {
    /// There is no camera that may be asked.
    #[error("{0}")]
    None(String),
    /// An operator disconnected the printer that would have to tell of its camera, or it was registered just now.
    #[error("the printer, which knows its camera, is not connected")]
    Away,
    /// The printer does not tell of its camera.
    #[error("{0}")]
    Printer(PrinterError),
    /// It answered something else than a picture.
    #[error("{0}")]
    Refused(String),
    /// It did not answer in time, or cannot be reached.
    #[error("{0}")]
    Silent(String),
    /// Too many pictures are under way.
    #[error("more pictures are under way than this server holds at a time")]
    Crowded,
}

/// What came of a call.
type Outcome = Result<Picture, CameraFault>;

/// The cameras of all printers.
pub struct Cameras {
    client: Client,
    /// Longest time for one picture.
    within: Duration,
    room: Arc<Semaphore>,
    began: Instant,
    by_printer: DashMap<Id, Arc<CameraLine>>,
}

/// The way to one camera.
struct CameraLine {
    door: Door,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    breaker: Breaker,
    /// The picture that was fetched last, and when; gone when it is not fresh any more.
    latest: Option<(Instant, Picture)>,
    last_fault: Option<CameraFault>,
    /// What becomes of the call that is under way.
    flight: Option<watch::Receiver<Option<Outcome>>>,
}

impl CameraLine {
    fn with<T>(&self, act: impl FnOnce(&mut Inside) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Cameras {
    /// Over this client, which judges addresses when it dials and follows no redirects; `within` bounds each picture.
    pub fn new(client: Client, within: Duration) -> Self {
        let room = Arc::new(Semaphore::new(MAX_HELD_BYTES));
        Self { client, within, room, began: Instant::now(), by_printer: DashMap::new() }
    }

    /// A picture of a printer's camera, not older than a second; with `anew` none that was fetched before.
    pub async fn picture(&self, printer: Id, source: CameraSource, anew: bool) -> Result<Picture, CameraFault> {
        let line = self.line(printer, source);
        let (mut heard, task) = match line.with(|inside| self.join(inside, anew)) {
            Joined::Known(outcome) => return outcome,
            Joined::UnderWay(heard) => (heard, None),
            Joined::Begins(heard, tell) => (heard, Some(tell)),
        };
        if let Some(tell) = task {
            self.take_off(line, tell);
        }
        let outcome = heard.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        outcome.unwrap_or_else(|| Err(CameraFault::Silent("the picture was not fetched to its end".to_owned())))
    }

    /// Forgets the camera of a printer that was deleted.
    pub(super) fn forget(&self, printer: Id) {
        self.by_printer.remove(&printer);
    }

    /// The line of this camera; another one than before begins anew.
    fn line(&self, printer: Id, source: CameraSource) -> Arc<CameraLine> {
        let fresh = |source| Arc::new(CameraLine { door: Door::new(source), inside: Mutex::default() });
        let mut known = self.by_printer.entry(printer).or_insert_with(|| fresh(source.clone()));
        if known.door.source != source {
            *known = fresh(source);
        }
        known.clone()
    }

    fn join(&self, inside: &mut Inside, anew: bool) -> Joined {
        if let Some((at, picture)) = inside.latest.as_ref().filter(|_| !anew)
            && at.elapsed() < FRESH_TIME
        {
            return Joined::Known(Ok(picture.clone()));
        }
        // One whose task died tells nothing any more.
        if let Some(heard) = inside.flight.as_ref().filter(|heard| heard.has_changed().is_ok()) {
            return Joined::UnderWay(heard.clone());
        }
        if inside.breaker.admit(&self.rules(), self.now_ms()).is_err() {
            let fault = inside.last_fault.clone();
            return Joined::Known(Err(fault.unwrap_or_else(|| CameraFault::Silent("the camera rests".to_owned()))));
        }
        let (tell, heard) = watch::channel(None);
        inside.flight = Some(heard.clone());
        Joined::Begins(heard, tell)
    }

    /// Fetches a picture in a task of its own, and forgets it when it is not fresh any more.
    fn take_off(&self, line: Arc<CameraLine>, tell: watch::Sender<Option<Outcome>>) {
        let (client, within, room) = (self.client.clone(), self.within, self.room.clone());
        let (rules, began) = (self.rules(), self.began);
        tokio::spawn(async move {
            let late = || CameraFault::Silent(format!("the camera did not answer within {} s", within.as_secs_f64()));
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

/// How somebody who wants a picture gets it.
enum Joined {
    /// It is there, or the camera is left alone.
    Known(Outcome),
    /// Somebody asked before.
    UnderWay(watch::Receiver<Option<Outcome>>),
    /// They are the first, and fetch it for all.
    Begins(watch::Receiver<Option<Outcome>>, watch::Sender<Option<Outcome>>),
}

/// The bytes of a picture with the room that they take, until the last who reads them is done.
struct Held {
    bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests;
