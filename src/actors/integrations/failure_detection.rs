//! Integration with the print failure detector, which periodically receives a picture of each print that this server
//! started. The rules in `domain/failure_detection.rs` evaluate the detector's results and can cause the print to be
//! paused and operators to be notified.
//!
//! Pictures are submitted one at a time. Printers are queried in parallel, so that a slow printer does not prevent
//! other prints from being monitored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::{IntegrationType, IntegrationWork, Sources, SystemLine};
use config::Config;
use config::values::Secret;
use domain::camera_link::signed_path;
use domain::failure_detection::{Conclusion, DetectionRules, WatchedPrint, keeps_secret};
use domain::id::Id;
use domain::printer::{ActRecord, AttemptPhase, DirectAction, Printer, PrinterNews};
use domain::printer_status::Activity;
use domain::schedule::Delays;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use printers::connections::{PrinterConnection, PrinterConnections};
use services::failure_detection::{DetectionOutcome, Detector};
use services::peers;

/// Time limit for a printer to report its cameras.
const CAMERAS_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum interval between queries to a printer that has not provided a picture source.
const LONGEST_ASK_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of printers named in the note to operators.
const MAX_NAMED: usize = 10;

/// Declaration of the failure detection integration.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "failure_detection",
    title: "AI failure detection",
    is_on: |config| !config.failure_detection.url.is_empty(),
    test: |client, config| {
        let settings = &config.failure_detection;
        Box::pin(peers::failure_detection(client, &settings.url, settings.token.expose()))
    },
    prepare: |config, http| {
        let settings = &config.failure_detection;
        let detector = Detector::new(http.clone(), &settings.url, settings.token.expose())?;
        let config = config.clone();
        Ok(Box::new(move |sources| Arc::new(DetectionWork::new(detector, &config, sources))))
    },
};

/// Background work that submits pictures of all running prints to the detector.
struct DetectionWork {
    detector: Detector,
    rules: DetectionRules,
    every: Duration,
    printers: Directory<Printer>,
    connections: Arc<PrinterConnections>,
    environment: Arc<Environment>,
    /// URL at which the detector reaches this server.
    own_url: String,
    /// Secret that signs the URLs of pictures served by this server.
    secret: Secret,
}

/// Location from which the detector downloads pictures of a print.
#[derive(Clone, PartialEq, Debug)]
enum PictureSource {
    /// The camera itself, at the given URL.
    Camera(String),
    /// This server, because the camera requires credentials or does not provide still images.
    Server,
}

/// Print being monitored.
struct MonitoredPrint {
    attempt: Id,
    /// Picture source, or the reason that there is none; `None` until the printer has been queried.
    picture: Option<Result<PictureSource, String>>,
    /// Time at which to query the printer for its camera; `None` while a query is in flight or none is needed.
    ask_at: Option<Instant>,
    /// Number of queries to the printer that did not yield a picture source.
    ask_count: u32,
    current: WatchedPrint,
    /// `true` if the print was paused at the last check.
    paused: bool,
    /// `true` if operators have already been notified that the print could not be paused.
    told_refusal: bool,
}

/// Outcome of a background task, with the printer ID and the attempt ID.
type TaskResult = (Id, Id, TaskOutcome);

enum TaskOutcome {
    /// The printer reported its picture source, or the reason that there is none.
    Picture(Result<PictureSource, String>),
    /// Operators were notified and, if required, the print was paused.
    Acted,
    /// The print should have been paused but was not; `is_told` is set if operators have been notified of this.
    NotPaused { is_told: bool },
}

impl DetectionWork {
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

    /// Applies the outcomes of background tasks.
    fn learn(&self, watched: &mut BTreeMap<Id, MonitoredPrint>, tasks: &mut JoinSet<TaskResult>) {
        while let Some(done) = tasks.try_join_next() {
            let (printer, attempt, outcome) = match done {
                Ok(done) => done,
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => continue,
            };
            let Some(print) = watched.get_mut(&printer).filter(|print| print.attempt == attempt) else { continue };
            match outcome {
                TaskOutcome::Picture(picture) => {
                    let pauses = Delays { first: self.every, longest: LONGEST_ASK_INTERVAL.max(self.every) };
                    print.ask_at = picture.is_err().then(|| Instant::now() + pauses.next(print.ask_count, 1.0));
                    (print.picture, print.ask_count) = (Some(picture), print.ask_count + 1);
                }
                TaskOutcome::NotPaused { is_told } => {
                    print.current.not_paused();
                    print.told_refusal |= is_told;
                }
                TaskOutcome::Acted => {}
            }
        }
    }

    /// Returns the picture URL to submit to the detector.
    fn address(&self, printer: Id, place: &PictureSource) -> String {
        match place {
            PictureSource::Camera(url) => url.clone(),
            PictureSource::Server => {
                let path = signed_path(self.secret.expose(), printer, self.environment.now());
                format!("{}{path}", self.own_url)
            }
        }
    }

    /// Submits one picture of each print, one at a time, because the detector processes one picture at a time.
    async fn look(
        &self,
        line: &SystemLine,
        watched: &mut BTreeMap<Id, MonitoredPrint>,
        tasks: &mut JoinSet<TaskResult>,
    ) {
        self.learn(watched, tasks);
        let (mut present, mut blind) = (BTreeSet::new(), Vec::new());
        for (_, state) in self.printers.all_resident() {
            let Some(printer) = state.present() else { continue };
            let Some((attempt, paused)) = on(printer) else { continue };
            let Some(connection) = self.connections.get(printer.id) else { continue };
            present.insert(printer.id);
            if watched.get(&printer.id).is_none_or(|current| current.attempt != attempt) {
                let (current, ask_at) = (WatchedPrint::default(), Some(Instant::now()));
                let fresh = MonitoredPrint {
                    attempt,
                    picture: None,
                    ask_at,
                    ask_count: 0,
                    current,
                    paused,
                    told_refusal: false,
                };
                watched.insert(printer.id, fresh);
            }
            let Some(print) = watched.get_mut(&printer.id) else { continue };
            if print.ask_at.take_if(|at| *at <= Instant::now()).is_some() {
                let (printer, connection) = (printer.clone(), connection.clone());
                tasks.spawn(async move {
                    (printer.id, attempt, TaskOutcome::Picture(picture(&printer, &connection).await))
                });
            }
            if print.paused && !paused {
                print.current.resumed();
            }
            print.paused = paused;
            match print.picture.as_ref().filter(|_| !paused) {
                None => {}
                Some(Err(why)) => blind.push(format!("{}: {why}", printer.fields.name)),
                Some(Ok(place)) => match line.call(self.detector.look(&self.address(printer.id, place))).await {
                    Ok(DetectionOutcome::Seen(confidence)) => {
                        let concluded = print.current.observe(&self.rules, confidence);
                        if concluded != Conclusion::Nothing {
                            let hand = PrintAction {
                                printers: self.printers.clone(),
                                connection,
                                is_told: print.told_refusal,
                            };
                            let printer = printer.clone();
                            tasks.spawn(
                                async move { (printer.id, attempt, hand.act(&printer, attempt, concluded).await) },
                            );
                        }
                    }
                    Ok(DetectionOutcome::NoPicture(words)) => {
                        blind.push(format!("{}: the detector cannot fetch an image: {words}", printer.fields.name));
                    }
                    Err(_) => line.ready().await,
                },
            }
        }
        watched.retain(|printer, _| present.contains(printer));
        let (count, named) = (blind.len(), blind.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join("; "));
        line.note((count > 0).then(|| format!("{count} prints are not monitored: {named}")));
    }
}

/// Reaction to a suspected failure of a print.
struct PrintAction {
    printers: Directory<Printer>,
    connection: Arc<PrinterConnection>,
    /// `true` if operators have already been notified that the print could not be paused.
    is_told: bool,
}

impl PrintAction {
    /// Pauses the print and notifies operators, as the rules require. If the print cannot be paused, operators are
    /// notified only once.
    async fn act(&self, printer: &Printer, attempt: Id, concluded: Conclusion) -> TaskOutcome {
        let (percent, paused) = match concluded {
            Conclusion::Nothing => return TaskOutcome::Acted,
            Conclusion::Alert(percent) => (percent, None),
            // It may have ended meanwhile; what a person prints there is not ours to pause.
            Conclusion::Pause(_) if !self.still_prints(printer.id, attempt) => {
                return TaskOutcome::NotPaused { is_told: false };
            }
            Conclusion::Pause(percent) => (percent, Some(self.pause(printer, percent).await)),
        };
        let refused = paused == Some(false);
        if refused && self.is_told {
            return TaskOutcome::NotPaused { is_told: true };
        }
        let suspected = PrinterNews::FailureSuspected { attempt, percent, paused };
        if let Err(error) = self.printers.ask(printer.id, CommandOrigin::system(), suspected).await {
            tracing::warn!(printer = printer.fields.name, percent, %error, "cannot record a suspected failure");
        }
        if refused { TaskOutcome::NotPaused { is_told: true } } else { TaskOutcome::Acted }
    }

    /// Pauses the print, and returns whether this succeeded.
    async fn pause(&self, printer: &Printer, percent: u8) -> bool {
        let outcome = self.connection.adapter.pause().await;
        self.connection.look.notify_one();
        let error = outcome.as_ref().err().map(|error| ("printer_refused".to_owned(), error.to_string()));
        let paused = error.is_none();
        let detail = Some(format!("failure detection is {percent}% confident that the print is failing"));
        let of = printer.in_hand.as_ref().map(|in_hand| (in_hand.order, in_hand.job));
        let record = PrinterNews::Acted(Box::new(ActRecord { act: DirectAction::Pause, detail, of, error }));
        if let Err(error) = self.printers.ask(printer.id, CommandOrigin::system(), record).await {
            tracing::warn!(printer = printer.fields.name, %error, "cannot record that a print was paused");
        }
        paused
    }

    fn still_prints(&self, printer: Id, attempt: Id) -> bool {
        let handle = self.printers.resident(printer);
        let state = handle.map(|handle| handle.read());
        state.and_then(|state| state.state.as_ref().and_then(on)) == Some((attempt, false))
    }
}

/// Returns the attempt that the printer is printing, and whether it is paused.
fn on(printer: &Printer) -> Option<(Id, bool)> {
    let in_hand = printer.in_hand.as_ref()?;
    match (&in_hand.phase, printer.activity) {
        (AttemptPhase::Printing { .. }, Activity::Printing) => Some((in_hand.attempt, false)),
        (AttemptPhase::Paused { .. }, _) => Some((in_hand.attempt, true)),
        _ => None,
    }
}

/// Returns the printer's picture source for the detector, or the reason that there is none. The detector logs the URLs
/// it receives, so they must not contain secrets.
async fn picture(printer: &Printer, connection: &PrinterConnection) -> Result<PictureSource, String> {
    let open = |url: &str| match keeps_secret(url) {
        None => PictureSource::Camera(url.to_owned()),
        Some(_) => PictureSource::Server,
    };
    if let Some(camera) = &printer.fields.camera {
        let guarded = !camera.encrypted_credentials.is_empty();
        return Ok(if guarded { PictureSource::Server } else { open(&camera.snapshot_url) });
    }
    let cameras = timeout(CAMERAS_TIMEOUT, connection.adapter.webcams()).await;
    let cameras = cameras.map_err(|_| "the printer did not list its cameras in time".to_owned())?;
    let cameras: Vec<_> = cameras.map_err(|error| error.to_string())?.into_iter().filter(|one| one.enabled).collect();
    let snapshots: Vec<&String> = cameras.iter().filter_map(|camera| camera.snapshot_url.as_ref()).collect();
    let streams = cameras.iter().any(|camera| camera.stream_url.is_some());
    match snapshots.iter().find(|url| keeps_secret(url).is_none()) {
        _ if connection.adapter.declared().guards_camera && !snapshots.is_empty() => Ok(PictureSource::Server),
        Some(url) => Ok(open(url)),
        None if streams || !snapshots.is_empty() => Ok(PictureSource::Server),
        None => Err("the printer has no camera".to_owned()),
    }
}

#[async_trait]
impl IntegrationWork for DetectionWork {
    async fn run(&self, line: &SystemLine) {
        let (mut watched, mut tasks) = (BTreeMap::new(), JoinSet::new());
        loop {
            let next = Instant::now() + self.every;
            line.ready().await;
            self.look(line, &mut watched, &mut tasks).await;
            sleep_until(next).await;
        }
    }
}
