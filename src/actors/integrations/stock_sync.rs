//! Synchronises stock with an external system that also counts it: reads the external changes, applies them to
//! materials, and records the shop's own changes in the external system. The rules are in [`domain::parts_sync`]; this
//! module only transmits messages, one at a time per material. It may be dropped or killed between any two messages.

mod alert;
mod board;
mod late;
mod slots;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep};

use self::alert::AttentionAlert;
use self::late::LateBookings;
use super::{IntegrationWork, Sources, SystemLine};
use config::Config;
use config::sections::PeerConfig;
use domain::id::Id;
use domain::material::Material;
use domain::parts_sync::{
    Booking, BookingVerdict, LinkCommand, LinkRound, SendOutcome, StockLink, StockSystem, SyncMove,
};
use domain::printer::Printer;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::AskError;
use services::parts::{StockClient, StockError, stock_client};
use services::peer_client::{PeerHttp, PeerSettingError};
use services::peer_fault::PeerFault;

pub use board::{StockSystemState, StockSystemStatus, StockSystemStatuses};

/// Pause after a failed round; after repeated failures, the connection's circuit breaker extends the pause.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Synchronisation work for one system.
pub(super) struct StockSyncWork {
    client: Box<dyn StockClient>,
    materials: Directory<Material>,
    printers: Directory<Printer>,
    environment: Arc<Environment>,
    board: Arc<StockSystemStatus>,
    alert: AttentionAlert,
    every: Duration,
    /// Maximum delay after which a sent stock change can still take effect.
    settle: Duration,
    /// Time at which this process first looked for each stock change. Uses the monotonic clock, because the wall clock
    /// may be set back; time before a restart is not included.
    sought: Mutex<BTreeMap<Id, Instant>>,
    /// Times at which this process started to wait for stock changes by printers.
    late: LateBookings,
    /// Material at which the last round ended early; the next round starts after it.
    stumbled: Mutex<Option<Id>>,
}

/// Reason that a round ended early.
#[derive(Debug, thiserror::Error)]
enum SyncError {
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error("the material cannot be updated now: {0}")]
    Material(#[from] AskError),
}

impl SyncError {
    /// Returns whether the failure persists until an operator changes something.
    fn needs_person(&self) -> bool {
        matches!(self, Self::Stock(error) if error.needs_person())
    }

    /// Returns whether other materials can still be synchronised.
    fn is_of_one_thing(&self) -> bool {
        match self {
            Self::Stock(error) => error.is_of_one_thing(),
            Self::Material(_) => true,
        }
    }
}

/// Failure that affected one material while others were synchronised.
struct MaterialFault {
    words: String,
    needs_person: bool,
}

impl MaterialFault {
    fn of(what: &str, error: &SyncError) -> Self {
        Self { words: format!("{what}: {error}"), needs_person: error.needs_person() }
    }
}

/// Work that remains for a material.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RemainingSync {
    Nothing,
    /// The outcome of a stock change by this server or a printer is still unknown. It can only be determined once the
    /// change has definitely been applied or can no longer be applied.
    Booking,
}

impl StockSyncWork {
    /// Prepares the work with the settings for the external system.
    pub(super) fn prepare(
        system: StockSystem,
        peer: &PeerConfig,
        config: &Config,
        http: &PeerHttp,
    ) -> Result<impl FnOnce(&Sources) -> Self + Send + use<>, PeerSettingError> {
        let client = stock_client(system, http.clone(), &peer.url, peer.token.expose())?;
        let every = config.stock_sync.interval_seconds.duration();
        let settle = config.stock_sync.settle_seconds.duration();
        Ok(move |sources: &Sources| {
            let board = sources.stock_boards.of(system);
            board.switched_on();
            let (materials, printers) = (sources.materials.clone(), sources.printers.clone());
            let environment = sources.environment.clone();
            let alert = AttentionAlert::new(sources.integrations.clone());
            let (sought, late, stumbled) = (Mutex::default(), LateBookings::default(), Mutex::default());
            Self { client, materials, printers, environment, board, alert, every, settle, sought, late, stumbled }
        })
    }

    /// Reads all data once and synchronises every linked material. A failure with one material is added to `faults` and
    /// does not affect the others.
    async fn round(&self, line: &SystemLine, faults: &mut Vec<MaterialFault>) -> Result<RemainingSync, SyncError> {
        match call(line, self.client.entries()).await {
            Ok(entries) => self.board.entries(entries),
            Err(error) if error.is_of_one_thing() => {
                faults.push(MaterialFault::of("cannot list its entries", &error.into()));
            }
            Err(error) => return Err(error.into()),
        }
        let mut left = RemainingSync::Nothing;
        for material in self.in_turn() {
            match self.bring_in_step(line, material).await {
                Ok(RemainingSync::Booking) => left = RemainingSync::Booking,
                Ok(RemainingSync::Nothing) => {}
                Err(error) if error.is_of_one_thing() => faults.push(MaterialFault::of(&self.name(material), &error)),
                Err(error) => {
                    *self.stumbled.lock().unwrap_or_else(PoisonError::into_inner) = Some(material);
                    return Err(error);
                }
            }
        }
        if self.client.system() == StockSystem::Spools {
            match slots::tell(self, line).await {
                Err(error) if error.is_of_one_thing() => {
                    faults.push(MaterialFault::of("spool in a printer slot", &error));
                }
                outcome => outcome?,
            }
        }
        let conflicts =
            self.linked().iter().filter(|id| self.link(**id).is_some_and(|link| link.conflict.is_some())).count();
        line.note((conflicts > 0).then(|| format!("{conflicts} linked materials have a stock conflict")));
        Ok(left)
    }

    /// Returns the linked materials, starting after the one at which the last round ended early.
    fn in_turn(&self) -> Vec<Id> {
        let mut linked = self.linked();
        linked.sort_unstable();
        if let Some(stumbled) = self.stumbled.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let behind = linked.partition_point(|id| *id <= stumbled);
            linked.rotate_left(behind);
        }
        linked
    }

    fn name(&self, material: Id) -> String {
        let state = self.materials.resident(material).map(|handle| handle.read());
        let name = state.as_ref().and_then(|state| Some(state.state.as_ref()?.fields.name.clone()));
        name.unwrap_or_else(|| material.to_string())
    }

    /// Returns whether the process has looked for a stock change for long enough. The time starts at the first call for
    /// the change.
    fn sought_enough(&self, booking: Id) -> bool {
        let mut sought = self.sought.lock().unwrap_or_else(PoisonError::into_inner);
        sought.entry(booking).or_insert_with(Instant::now).elapsed() >= self.settle
    }

    /// Returns the materials linked to an entry in the external system.
    fn linked(&self) -> Vec<Id> {
        let system = self.client.system();
        let all = self.materials.all_resident();
        let linked = all
            .iter()
            .filter(|(_, state)| state.state.as_ref().is_some_and(|material| material.links.contains_key(&system)));
        linked.map(|(id, _)| *id).collect()
    }

    fn link(&self, material: Id) -> Option<StockLink> {
        let state = self.materials.resident(material)?.read();
        state.state.as_ref()?.links.get(&self.client.system()).cloned()
    }

    async fn tell(&self, material: Id, command: LinkCommand) -> Result<(), SyncError> {
        match self.materials.ask(material, CommandOrigin::system(), command).await {
            // Refused: the link was removed meanwhile.
            Ok(_) | Err(AskError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn settled(&self, material: Id, booking: &Booking, verdict: BookingVerdict) -> Result<(), SyncError> {
        let (system, booking) = (self.client.system(), booking.id);
        self.sought.lock().unwrap_or_else(PoisonError::into_inner).remove(&booking);
        self.tell(material, LinkCommand::Settled { system, booking, verdict }).await
    }

    /// Runs one round for a material, following the steps of [`LinkRound`].
    async fn bring_in_step(&self, line: &SystemLine, material: Id) -> Result<RemainingSync, SyncError> {
        let mut round = LinkRound::default();
        loop {
            let Some(link) = self.link(material) else { return Ok(RemainingSync::Nothing) };
            match round.next(&link) {
                SyncMove::Seek(booking) => {
                    let verdict = call(line, self.client.verdict(&booking)).await?;
                    let pending = link.pending.as_ref() == Some(&booking);
                    let missing = pending && verdict == BookingVerdict::NotBooked;
                    let long_enough = missing && self.sought_enough(booking.id);
                    if let Some(verdict) = round.sought(&link, &booking, verdict, long_enough) {
                        self.settled(material, &booking, verdict).await?;
                    }
                }
                SyncMove::Look => {
                    // Of a print that ends while the entry is read nobody knows how much of it was read.
                    let mut in_use = slots::in_use(self, &link);
                    let overdue = self.late.overdue(&link, &in_use, self.settle);
                    let look = Box::new(call(line, self.client.look(&link)).await?);
                    in_use.extend(slots::in_use(self, &link));
                    let (system, drawn) = (link.system, slots::drawn(self, &link));
                    let command = LinkCommand::Looked { system, round: link.round, look, drawn, in_use, overdue };
                    self.tell(material, command).await?;
                }
                SyncMove::Send(booking) => {
                    // The process may have been stopped since the booking was due: another server may have sent it.
                    self.environment.leadership().wait_until_confirmed().await;
                    let (outcome, fault) = outcome(call(line, self.client.book(&booking)).await);
                    if let Some(verdict) = round.sent(outcome) {
                        self.settled(material, &booking, verdict).await?;
                    }
                    if let Some(fault) = fault {
                        return Err(fault.into());
                    }
                }
                SyncMove::Rest(booking) => {
                    let left = booking || self.late.waits(&link);
                    return Ok(if left { RemainingSync::Booking } else { RemainingSync::Nothing });
                }
            }
        }
    }
}

/// Converts the result of sending a stock change to its outcome and the error, if any, that ends the round.
fn outcome(answered: Result<BookingVerdict, StockError>) -> (SendOutcome, Option<StockError>) {
    match answered {
        Ok(verdict) => (SendOutcome::Answered(verdict), None),
        Err(StockError::Refused { status, words }) => (SendOutcome::Refused(format!("{status} {words}")), None),
        Err(error @ (StockError::Settings(_) | StockError::Unreachable(_) | StockError::Credentials(_))) => {
            (SendOutcome::NeverLeft, Some(error))
        }
        Err(error) => (SendOutcome::Unknown, Some(error)),
    }
}

#[async_trait]
impl IntegrationWork for StockSyncWork {
    async fn run(&self, line: &SystemLine) {
        loop {
            line.ready().await;
            let mut faults = Vec::new();
            let outcome = self.round(line, &mut faults).await;
            if let Err(error) = outcome.as_ref()
                && error.needs_person()
            {
                faults.push(MaterialFault { words: error.to_string(), needs_person: true });
            }
            let wait = match &outcome {
                Ok(RemainingSync::Nothing) => self.every,
                Ok(RemainingSync::Booking) => self.settle.min(self.every),
                Err(_) => AFTER_FAILURE.min(self.every),
            };
            let (more, needs_person) = (faults.len().saturating_sub(1), faults.iter().any(|one| one.needs_person));
            // One that needs a person is told before one that does not.
            let first = faults.iter().position(|one| one.needs_person).unwrap_or_default();
            let fault = faults.into_iter().nth(first).map(|MaterialFault { words, .. }| match more {
                0 => words,
                _ => format!("{words}; and {more} more"),
            });
            let why = fault.clone().filter(|_| needs_person);
            // A round that ended early says nothing of those that it did not come to.
            let is_judged = outcome.is_ok() || needs_person;
            if is_judged {
                line.needs_person(why.clone());
            }
            self.board.record_poll(self.environment.now(), outcome.err().map(|error| error.to_string()).or(fault));
            if is_judged {
                self.alert.tell(line, why.as_deref()).await;
            }
            tokio::select! {
                biased; // somebody who asks before the time that passes
                () = self.board.woken() => {}
                () = sleep(wait) => {}
            }
        }
    }
}

/// Makes a call over the connection. A response about a single object is not recorded as a connection failure, but a
/// response that cannot be parsed or that denies permission is not recorded as a success either. The type of failure is
/// preserved, because a request that was never sent definitely had no effect.
async fn call<T>(line: &SystemLine, request: impl Future<Output = Result<T, StockError>>) -> Result<T, StockError> {
    let (began, failed) = (AtomicBool::new(false), Mutex::new(None));
    let useless = |answer: &Result<T, StockError>| {
        let error = answer.as_ref().err().filter(|error| error.needs_person())?;
        Some(PeerFault::new(error.to_string()))
    };
    let attempt = async {
        began.store(true, Relaxed);
        match request.await {
            Ok(answer) => Ok(Ok(answer)),
            Err(error) if error.is_of_one_thing() => Ok(Err(error)),
            Err(error) => {
                let fault = PeerFault::new(error.to_string());
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(fault)
            }
        }
    };
    match line.call_and_judge(attempt, useless).await {
        Ok(answer) => answer,
        Err(fault) => {
            let failure = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
            Err(failure.unwrap_or(if began.load(Relaxed) {
                StockError::NoAnswer(fault.message)
            } else {
                StockError::Unreachable(fault.message)
            }))
        }
    }
}
