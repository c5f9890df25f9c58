//! Keeps stock in step with a system that counts it besides us: reads what changed there, has our materials take it
//! over, and books there what changed here. The rule is [`crate::domain::parts_sync`]; this only carries messages, one
//! at a time for each material, and may be dropped or killed between any two of them.

mod board;
mod slots;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Client;
use tokio::time::sleep;

use super::{Line, Sources, Work};
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::handle::AskError;
use crate::config::Config;
use crate::config::sections::Peer;
use crate::domain::id::Id;
use crate::domain::material::{Material, MaterialCommand};
use crate::domain::parts_sync::{Booking, BookingVerdict, LinkCommand, StockLink, StockSystem};
use crate::domain::printer::Printer;
use crate::services::parts::{StockClient, StockError, stock_client};
use crate::services::peer_client::PeerSettingError;
use crate::services::peers::PeerFault;

pub use board::{StockBoard, StockBoardState, StockBoards};

/// Most bookings of one material in one round.
const MAX_BOOKINGS: usize = 50;
/// Pause after a round that failed; the line's circuit makes it longer when it fails again and again.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The work of one system.
pub(super) struct StockSync {
    client: Box<dyn StockClient>,
    materials: Directory<Material>,
    printers: Directory<Printer>,
    environment: Arc<Environment>,
    board: Arc<StockBoard>,
    every: Duration,
    /// How long a booking may be on its way after it was sent.
    settle: Duration,
}

/// Why a round ended early.
#[derive(Debug, thiserror::Error)]
enum RoundError {
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error("a material cannot take it now: {0}")]
    Material(#[from] AskError),
}

/// What is left to do for a material.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Left {
    Nothing,
    /// Finding out what became of a booking, when it certainly arrived or never will.
    Booking,
}

impl StockSync {
    /// With the settings of its system.
    pub(super) fn prepare(
        system: StockSystem,
        peer: &Peer,
        config: &Config,
        client: &Client,
    ) -> Result<impl FnOnce(&Sources) -> Self + Send + use<>, PeerSettingError> {
        let client = stock_client(system, client.clone(), &peer.url, peer.token.expose())?;
        let every = config.stock_sync.interval_seconds.duration();
        let settle = config.stock_sync.settle_seconds.duration();
        Ok(move |sources: &Sources| {
            let board = sources.stock_boards.of(system);
            board.switched_on();
            let (materials, printers) = (sources.materials.clone(), sources.printers.clone());
            Self { client, materials, printers, environment: sources.environment.clone(), board, every, settle }
        })
    }

    /// Reads everything once and brings every linked material in step.
    async fn round(&self, line: &Line) -> Result<Left, RoundError> {
        let entries = call(line, self.client.entries()).await?;
        self.board.entries(entries);
        let mut left = Left::Nothing;
        for material in self.linked() {
            if self.bring_in_step(line, material).await? == Left::Booking {
                left = Left::Booking;
            }
        }
        if self.client.system() == StockSystem::Spools {
            slots::tell(self, line).await?;
        }
        let conflicts =
            self.linked().iter().filter(|id| self.link(**id).is_some_and(|link| link.conflict.is_some())).count();
        line.note((conflicts > 0).then(|| format!("{conflicts} linked materials need a person")));
        Ok(left)
    }

    /// The materials that are linked to an entry of the system.
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

    async fn tell(&self, material: Id, command: LinkCommand) -> Result<(), RoundError> {
        match self.materials.ask(material, CommandOrigin::system(), MaterialCommand::Link(command)).await {
            // Refused: the link was removed meanwhile.
            Ok(_) | Err(AskError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn settled(&self, material: Id, booking: &Booking, verdict: BookingVerdict) -> Result<(), RoundError> {
        let (system, booking) = (self.client.system(), booking.id);
        self.tell(material, LinkCommand::Settled { system, booking, verdict }).await
    }

    async fn bring_in_step(&self, line: &Line, material: Id) -> Result<Left, RoundError> {
        for _ in 0..MAX_BOOKINGS {
            let Some(link) = self.link(material) else { return Ok(Left::Nothing) };
            if let Some(pending) = link.pending.as_ref().filter(|_| !link.is_unclear()) {
                // Sent, or about to be, when the last try ended.
                let verdict = call(line, self.client.verdict(pending)).await?;
                let sent_for = self.environment.now().since(pending.at);
                let settle_ms = i64::try_from(self.settle.as_millis()).unwrap_or(i64::MAX);
                if verdict == BookingVerdict::NotBooked && (0..settle_ms).contains(&sent_for) {
                    return Ok(Left::Booking);
                }
                self.settled(material, pending, verdict).await?;
                continue;
            }
            let look = Box::new(call(line, self.client.look(&link)).await?);
            let (system, drawn) = (link.system, slots::drawn(self, &link));
            self.tell(material, LinkCommand::Looked { system, round: link.round, look, drawn }).await?;
            let Some(link) = self.link(material).filter(|link| !link.is_unclear()) else { return Ok(Left::Nothing) };
            let Some(booking) = &link.pending else { return Ok(Left::Nothing) };
            match call(line, self.client.book(booking)).await {
                Ok(()) => self.settled(material, booking, BookingVerdict::Booked).await?,
                Err(StockError::Refused { status, words }) => {
                    let words = format!("{status} {words}");
                    self.settled(material, booking, BookingVerdict::Refused(words)).await?;
                    return Ok(Left::Nothing);
                }
                Err(error @ (StockError::Settings(_) | StockError::Unreachable(_) | StockError::Credentials(_))) => {
                    self.settled(material, booking, BookingVerdict::NotBooked).await?;
                    return Err(error.into());
                }
                // It may have arrived: found out later.
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Left::Nothing)
    }
}

#[async_trait]
impl Work for StockSync {
    async fn run(&self, line: &Line) {
        loop {
            line.ready().await;
            let outcome = self.round(line).await;
            let wait = match &outcome {
                Ok(Left::Nothing) => self.every,
                Ok(Left::Booking) => self.settle.min(self.every),
                Err(_) => AFTER_FAILURE.min(self.every),
            };
            self.board.looked(self.environment.now(), outcome.err().map(|error| error.to_string()));
            tokio::select! {
                biased; // somebody who asks before the time that passes
                () = self.board.woken() => {}
                () = sleep(wait) => {}
            }
        }
    }
}

/// Calls over the line. A refusal is an answer: it says nothing against the line. The kind of failure is kept, because
/// what never left is certain not to have arrived.
async fn call<T>(line: &Line, asked: impl Future<Output = Result<T, StockError>>) -> Result<T, StockError> {
    let (began, failed) = (AtomicBool::new(false), Mutex::new(None));
    let answered = line.call(async {
        began.store(true, Relaxed);
        match asked.await {
            Ok(answer) => Ok(Ok(answer)),
            Err(error @ StockError::Refused { .. }) => Ok(Err(error)),
            Err(error) => {
                let fault = PeerFault::new(error.to_string());
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(fault)
            }
        }
    });
    match answered.await {
        Ok(answer) => answer,
        Err(fault) => {
            let known = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
            Err(known.unwrap_or(if began.load(Relaxed) {
                StockError::NoAnswer(fault.message)
            } else {
                StockError::Unreachable(fault.message)
            }))
        }
    }
}
