//! The detector of failed prints: it is shown a picture of each of our prints now and then. What the pictures say is a
//! rule (`domain/failure_detection.rs`); what follows is that the print is paused and people are told.
//!
//! Pictures are shown one after the other. What asks a printer something is done beside that, so that a printer that is
//! slow to answer keeps no other print from being watched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::{IntegrationType, Line, Sources, Work};
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::environment::Environment;
use crate::config::Config;
use crate::config::values::Secret;
use crate::domain::camera_link::signed_path;
use crate::domain::failure_detection::{Conclusion, DetectionRules, WatchedPrint, keeps_secret};
use crate::domain::id::Id;
use crate::domain::printer::{Act, ActRecord, Phase, Printer, PrinterCommand};
use crate::domain::printer_status::Activity;
use crate::domain::schedule::Delays;
use crate::printers::connections::{PrinterConnection, PrinterConnections};
use crate::services::failure_detection::{Detector, Frame};
use crate::services::peers;

/// Longest time for a printer to say which cameras it has.
const CAMERAS_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest time between two questions to a printer that has no picture to show.
const LONGEST_ASK_INTERVAL: Duration = Duration::from_secs(60);
/// Most printers that the note names.
const MAX_NAMED: usize = 10;

/// The detector of failed prints.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "failure_detection",
    title: "AI failure detection",
    is_on: |config| !config.failure_detection.url.is_empty(),
    test: |client, config| {
        let settings = &config.failure_detection;
        Box::pin(peers::failure_detection(client, &settings.url, settings.token.expose()))
    },
    prepare: |config, client| {
        let settings = &config.failure_detection;
        let detector = Detector::new(client.clone(), &settings.url, settings.token.expose())?;
        let config = config.clone();
        Ok(Box::new(move |sources| Arc::new(Watch::new(detector, &config, sources))))
    },
};

/// Shows pictures of all our prints to the detector.
struct Watch {
    detector: Detector,
    rules: DetectionRules,
    every: Duration,
    printers: Directory<Printer>,
    connections: Arc<PrinterConnections>,
    environment: Arc<Environment>,
    /// Where the detector reaches this server.
    own_url: String,
    /// Signs the addresses of pictures that are fetched from this server.
    secret: Secret,
}

/// Where the detector gets the pictures of a printer's camera.
#[derive(Clone, PartialEq, Debug)]
enum PicturePlace {
    /// From the camera itself, at this address.
    Camera(String),
    /// From this server: the camera asks for credentials, or has no single pictures.
    Server,
}

/// A print that is watched.
struct Watched {
    attempt: Id,
    /// Where its pictures are; else why there are none. `None` until the printer was asked.
    picture: Option<Result<PicturePlace, String>>,
    /// When the printer is asked for its camera; `None` while it is being asked, or needs not be.
    ask_at: Option<Instant>,
    /// Questions to the printer that brought no picture.
    asked: u32,
    seen: WatchedPrint,
    /// It was paused when it was looked at last.
    paused: bool,
    /// People know that it could not be paused.
    told_refusal: bool,
}

/// What was done beside the looking came to this, for this printer and attempt.
type Done = (Id, Id, Outcome);

enum Outcome {
    /// The printer said where its pictures are, or why there are none.
    Picture(Result<PicturePlace, String>),
    /// People were told, and the print was paused if it was to be.
    Acted,
    /// The print was to be paused, and was not. People may know that.
    NotPaused { told: bool },
}

impl Watch {
    fn new(detector: Detector, config: &Config, sources: &Sources) -> Self {
        let settings = &config.failure_detection;
        Self {
            detector,
            rules: DetectionRules {
                safe_frames: settings.safe_frames,
                frames_in_a_row: settings.frames_in_a_row,
                alert_threshold: settings.alert_threshold,
                pause_threshold: settings.pause.then_some(settings.pause_threshold),
            },
            every: settings.look_interval_seconds.duration(),
            printers: sources.printers.clone(),
            connections: sources.connections.clone(),
            environment: sources.environment.clone(),
            own_url: config.public_url(),
            secret: config.auth.session_secret.clone(),
        }
    }

    /// Takes over what was done beside the looking.
    fn learn(&self, watched: &mut BTreeMap<Id, Watched>, tasks: &mut JoinSet<Done>) {
        while let Some(done) = tasks.try_join_next() {
            let (printer, attempt, outcome) = match done {
                Ok(done) => done,
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => continue,
            };
            let Some(print) = watched.get_mut(&printer).filter(|print| print.attempt == attempt) else { continue };
            match outcome {
                Outcome::Picture(picture) => {
                    let pauses = Delays { first: self.every, longest: LONGEST_ASK_INTERVAL.max(self.every) };
                    print.ask_at = picture.is_err().then(|| Instant::now() + pauses.next(print.asked, 1.0));
                    (print.picture, print.asked) = (Some(picture), print.asked + 1);
                }
                Outcome::NotPaused { told } => {
                    print.seen.not_paused();
                    print.told_refusal |= told;
                }
                Outcome::Acted => {}
            }
        }
    }

    /// The address that the detector is given now.
    fn address(&self, printer: Id, place: &PicturePlace) -> String {
        match place {
            PicturePlace::Camera(url) => url.clone(),
            PicturePlace::Server => {
                let path = signed_path(self.secret.expose(), printer, self.environment.now());
                format!("{}{path}", self.own_url)
            }
        }
    }

    /// One picture of each print, one after the other: the detector looks at one at a time.
    async fn look(&self, line: &Line, watched: &mut BTreeMap<Id, Watched>, tasks: &mut JoinSet<Done>) {
        self.learn(watched, tasks);
        let (mut present, mut blind) = (BTreeSet::new(), Vec::new());
        for (_, state) in self.printers.all_resident() {
            let Some(printer) = state.state.as_ref().filter(|printer| !printer.archived) else { continue };
            let Some((attempt, paused)) = on(printer) else { continue };
            let Some(connection) = self.connections.get(printer.id) else { continue };
            present.insert(printer.id);
            if watched.get(&printer.id).is_none_or(|known| known.attempt != attempt) {
                let (seen, ask_at) = (WatchedPrint::default(), Some(Instant::now()));
                let fresh = Watched { attempt, picture: None, ask_at, asked: 0, seen, paused, told_refusal: false };
                watched.insert(printer.id, fresh);
            }
            let Some(print) = watched.get_mut(&printer.id) else { continue };
            if print.ask_at.take_if(|at| *at <= Instant::now()).is_some() {
                let (printer, connection) = (printer.clone(), connection.clone());
                tasks.spawn(
                    async move { (printer.id, attempt, Outcome::Picture(picture(&printer, &connection).await)) },
                );
            }
            if print.paused && !paused {
                print.seen.resumed();
            }
            print.paused = paused;
            match print.picture.as_ref().filter(|_| !paused) {
                None => {}
                Some(Err(why)) => blind.push(format!("{}: {why}", printer.fields.name)),
                Some(Ok(place)) => match line.call(self.detector.look(&self.address(printer.id, place))).await {
                    Ok(Frame::Seen(confidence)) => {
                        let concluded = print.seen.seen(&self.rules, confidence);
                        if concluded != Conclusion::Nothing {
                            let hand = Hand { printers: self.printers.clone(), connection, told: print.told_refusal };
                            let printer = printer.clone();
                            tasks.spawn(
                                async move { (printer.id, attempt, hand.act(&printer, attempt, concluded).await) },
                            );
                        }
                    }
                    Ok(Frame::NoPicture(words)) => {
                        blind.push(format!("{}: the detector cannot get its picture: {words}", printer.fields.name));
                    }
                    Err(_) => line.ready().await,
                },
            }
        }
        watched.retain(|printer, _| present.contains(printer));
        let (count, named) = (blind.len(), blind.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join("; "));
        line.note((count > 0).then(|| format!("{count} prints are not watched: {named}")));
    }
}

/// Acts on one print.
struct Hand {
    printers: Directory<Printer>,
    connection: Arc<PrinterConnection>,
    /// People know already that the print could not be paused.
    told: bool,
}

impl Hand {
    /// Pauses the print and has people told, as the conclusion says; that it cannot be paused only once.
    async fn act(&self, printer: &Printer, attempt: Id, concluded: Conclusion) -> Outcome {
        let (percent, paused) = match concluded {
            Conclusion::Nothing => return Outcome::Acted,
            Conclusion::Alert(percent) => (percent, None),
            // It may have ended meanwhile; what a person prints there is not ours to pause.
            Conclusion::Pause(_) if !self.still_prints(printer.id, attempt) => {
                return Outcome::NotPaused { told: false };
            }
            Conclusion::Pause(percent) => (percent, Some(self.pause(printer, percent).await)),
        };
        let refused = paused == Some(false);
        if refused && self.told {
            return Outcome::NotPaused { told: true };
        }
        let suspected = PrinterCommand::FailureSuspected { attempt, percent, paused };
        if let Err(error) = self.printers.ask(printer.id, CommandOrigin::system(), suspected).await {
            tracing::warn!(printer = printer.fields.name, percent, %error, "a suspected failure is not recorded");
        }
        if refused { Outcome::NotPaused { told: true } } else { Outcome::Acted }
    }

    /// Whether it was paused.
    async fn pause(&self, printer: &Printer, percent: u8) -> bool {
        let outcome = self.connection.adapter.pause().await;
        self.connection.look.notify_one();
        let error = outcome.as_ref().err().map(|error| ("printer_refused".to_owned(), error.to_string()));
        let paused = error.is_none();
        let detail = Some(format!("the failure detection is {percent} % sure that the print fails"));
        let of = printer.in_hand.as_ref().map(|in_hand| (in_hand.order, in_hand.job));
        let record = PrinterCommand::Acted(Box::new(ActRecord { act: Act::Pause, detail, of, error }));
        if let Err(error) = self.printers.ask(printer.id, CommandOrigin::system(), record).await {
            tracing::warn!(printer = printer.fields.name, %error, "that a print was paused is not recorded");
        }
        paused
    }

    fn still_prints(&self, printer: Id, attempt: Id) -> bool {
        let handle = self.printers.resident(printer);
        let state = handle.map(|handle| handle.read());
        state.and_then(|state| state.state.as_ref().and_then(on)) == Some((attempt, false))
    }
}

/// The attempt that a printer prints, and whether it is paused.
fn on(printer: &Printer) -> Option<(Id, bool)> {
    let in_hand = printer.in_hand.as_ref()?;
    match (&in_hand.phase, printer.activity) {
        (Phase::Printing { .. }, Activity::Printing) => Some((in_hand.attempt, false)),
        (Phase::Paused { .. }, _) => Some((in_hand.attempt, true)),
        _ => None,
    }
}

/// Where the detector gets pictures of this printer, else why there are none. It logs the addresses that it is given,
/// so one with a secret in it is never among them.
async fn picture(printer: &Printer, connection: &PrinterConnection) -> Result<PicturePlace, String> {
    let open = |url: &str| match keeps_secret(url) {
        None => PicturePlace::Camera(url.to_owned()),
        Some(_) => PicturePlace::Server,
    };
    if let Some(camera) = &printer.fields.camera {
        let guarded = !camera.encrypted_credentials.is_empty();
        return Ok(if guarded { PicturePlace::Server } else { open(&camera.snapshot_url) });
    }
    let cameras = timeout(CAMERAS_TIMEOUT, connection.adapter.webcams()).await;
    let cameras = cameras.map_err(|_| "it does not say which cameras it has".to_owned())?;
    let cameras: Vec<_> = cameras.map_err(|error| error.to_string())?.into_iter().filter(|one| one.enabled).collect();
    let snapshots: Vec<&String> = cameras.iter().filter_map(|camera| camera.snapshot_url.as_ref()).collect();
    let streams = cameras.iter().any(|camera| camera.stream_url.is_some());
    match snapshots.iter().find(|url| keeps_secret(url).is_none()) {
        _ if connection.adapter.declared().guards_camera && !snapshots.is_empty() => Ok(PicturePlace::Server),
        Some(url) => Ok(open(url)),
        None if streams || !snapshots.is_empty() => Ok(PicturePlace::Server),
        None => Err("it has no camera".to_owned()),
    }
}

#[async_trait]
impl Work for Watch {
    async fn run(&self, line: &Line) {
        let (mut watched, mut tasks) = (BTreeMap::new(), JoinSet::new());
        loop {
            let next = Instant::now() + self.every;
            line.ready().await;
            self.look(line, &mut watched, &mut tasks).await;
            sleep_until(next).await;
        }
    }
}
