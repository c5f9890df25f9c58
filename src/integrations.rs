//! Other systems of the shop: each is one declaration ([`IntegrationType`]) with its settings, its test, and the work
//! that it does by itself.
//!
//! None of them is needed: the shop works on while all of them hang. So each works in a task of its own
//! (`supervision`), speaks over a line of its own with a time limit and a circuit breaker (`line`), and keeps
//! nothing that grows: what must not be lost is read from the committed events behind a cursor that is kept, what only
//! shows the present is told anew. What the systems are called and how they are spoken to is known by `services/`
//! alone.
//!
//! A new integration is a file here with its `TYPE`, and one line in [`ALL`]. Not for what the shop cannot do without:
//! mail, payments and the database are wired in `app/`.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use reqwest::Client;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::environment::Environment;
use crate::config::Config;
use crate::config::sections::Peer;
use crate::domain::accounting::Accounting;
use crate::domain::integration::Integration;
use crate::domain::material::Material;
use crate::domain::posting::Posting;
use crate::domain::printer::Printer;
use crate::printers::connections::PrinterConnections;
use crate::secrets::encryption::SecretCipher;
use crate::services::farm_ui::{FarmPrinter, FarmUi};
use crate::services::peer_client::PeerSettingError;
use crate::services::peers::{Asked, PeerFault};
use crate::store::Store;
use crate::store::outbox::Outbox;
use crate::store::queries::Queries;

mod accounting;
pub mod agent;
mod failure_detection;
mod farm_ui;
mod heartbeat;
pub mod line;
mod parts;
mod smart_home;
mod spools;
mod stock_sync;
mod supervision;
mod workflow;

pub use accounting::{AccountingDesk, AccountingWake};
pub use line::{Line, LineState, Lines};
pub use stock_sync::{StockBoardState, StockBoards};

/// Every integration, in the order in which they are listed.
pub const ALL: &[&IntegrationType] = &[
    &workflow::TYPE,
    &farm_ui::TYPE,
    &failure_detection::TYPE,
    &smart_home::TYPE,
    &parts::TYPE,
    &spools::TYPE,
    &agent::TYPE,
    &accounting::TYPE,
];

/// One integration: what it is called, when it is on, how it is tested and what it does.
pub struct IntegrationType {
    /// Its name in the API, which is that of its section in the settings.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether these settings switch it on.
    pub is_on: fn(&Config) -> bool,
    /// Asks the system whether it is there and takes what it is shown; changes nothing there.
    pub test: for<'a> fn(&'a Client, &'a Config) -> BoxFuture<'a, Asked>,
    /// What it does by itself while it is on.
    pub prepare: PrepareWork,
}

/// Makes of the settings alone what the work of an integration takes; calls nothing.
pub type PrepareWork = fn(&Config, &Client) -> Result<Prepared, PeerSettingError>;

/// Work that its settings allow, and that begins once it is handed what the process has.
pub type Prepared = Box<dyn FnOnce(&Sources) -> Arc<dyn Work> + Send>;

/// The settings of an integration cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct SetupFault {
    /// Name of the integration, which is that of its section in the settings.
    pub name: &'static str,
    /// What is wrong with its settings.
    pub reason: PeerSettingError,
}

/// What the settings make of each of [`ALL`], in this order; `None` for one that they leave off.
pub struct PreparedIntegrations(Vec<Option<Result<Prepared, SetupFault>>>);

impl PreparedIntegrations {
    /// Prepares those that the settings switch on; nothing is called. `client` is the one for configured services.
    pub fn new(config: &Config, client: &Client) -> Self {
        let prepare = |declared: &&'static IntegrationType| {
            let prepared = (declared.is_on)(config).then(|| (declared.prepare)(config, client))?;
            Some(prepared.map_err(|reason| SetupFault { name: declared.name, reason }))
        };
        Self(ALL.iter().map(prepare).collect())
    }

    /// Those whose settings cannot be used.
    pub fn faults(&self) -> impl Iterator<Item = &SetupFault> {
        self.0.iter().filter_map(|prepared| prepared.as_ref()?.as_ref().err())
    }
}

/// What an integration does by itself.
#[async_trait]
pub trait Work: Send + Sync {
    /// Works until it is dropped. Whoever returns or panics is started again after a pause. May be dropped at any
    /// await.
    async fn run(&self, line: &Line);
}

/// What the work of integrations needs; each takes from it only what it uses.
#[derive(Clone)]
pub struct Sources {
    /// How far each has read the events.
    pub integrations: Directory<Integration>,
    /// The machines, with what each has in hand.
    pub printers: Directory<Printer>,
    /// Stock of each material.
    pub materials: Directory<Material>,
    /// What printers said last, and the straight way to them.
    pub connections: Arc<PrinterConnections>,
    /// Committed events, the newest of them in memory.
    pub outbox: Arc<Outbox>,
    /// Reads older events.
    pub store: Store,
    /// What is seen of systems that count stock.
    pub stock_boards: StockBoards,
    /// The connection to the accounting system.
    pub accounting: Directory<Accounting>,
    /// What is told there.
    pub postings: Directory<Posting>,
    /// Wakes whoever tells it.
    pub accounting_wake: AccountingWake,
    /// Reads what was issued.
    pub queries: Queries,
    /// Encrypts tokens at rest.
    pub cipher: Arc<SecretCipher>,
    /// Clock and chance.
    pub environment: Arc<Environment>,
    /// For systems that the shop's own people configured.
    pub client: Client,
}

/// How an integration fares.
#[derive(Clone, Debug)]
pub struct IntegrationSummary {
    /// Its name in the API.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether it works: the settings switch it on, and can be used.
    pub on: bool,
    /// What is wrong with its settings; it is off for that.
    pub fault: Option<PeerSettingError>,
    /// How its calls fare.
    pub line: LineState,
}

impl IntegrationSummary {
    /// In words what is wrong with it; `None` while it is well, or left off by the settings.
    pub fn trouble(&self) -> Option<String> {
        if let Some(fault) = &self.fault {
            return Some(format!("{} ({}) is off: {fault}", self.title, self.name));
        }
        if let Some(why) = self.line.needs_person.as_ref().filter(|_| self.on) {
            return Some(format!("{} ({}): {why}", self.title, self.name));
        }
        let error = self.line.last_error.as_ref().filter(|_| self.on && self.line.failures > 0)?;
        let again = match self.line.retry_in_ms {
            0 => String::new(),
            ms => format!("; it is tried again in {} s", ms.div_ceil(1000)),
        };
        Some(format!("{} ({}): {error}, {} times in a row{again}", self.title, self.name, self.line.failures))
    }
}

/// An integration as it is in this process.
struct Member {
    declared: &'static IntegrationType,
    line: Arc<Line>,
    /// `None` while it is off.
    work: Option<Arc<dyn Work>>,
    fault: Option<PeerSettingError>,
}

/// All integrations of this process.
pub struct Integrations {
    members: Vec<Member>,
    client: Client,
}

impl Integrations {
    /// Hands those that were prepared what they need; nothing is called yet. One whose settings cannot be used stays
    /// off and says so: the shop needs none of them.
    pub fn new(prepared: PreparedIntegrations, lines: &Lines, sources: &Sources) -> Arc<Self> {
        let member = |(declared, prepared): (&&'static IntegrationType, Option<Result<Prepared, SetupFault>>)| {
            let (work, fault) = match prepared {
                None => (None, None),
                Some(Ok(prepared)) => (Some(prepared(sources)), None),
                Some(Err(fault)) => {
                    tracing::error!(integration = fault.name, error = %fault.reason, "its settings cannot be used; it is off");
                    (None, Some(fault.reason))
                }
            };
            Member { declared, line: lines.of(declared.name), work, fault }
        };
        let members = ALL.iter().zip(prepared.0).map(member).collect();
        Arc::new(Self { members, client: sources.client.clone() })
    }

    /// Starts the task of each that is on; it works until `leaving`.
    pub fn start(&self, leaving: &CancellationToken) -> Vec<JoinHandle<()>> {
        let on = self.members.iter().filter_map(|member| Some((member, member.work.clone()?)));
        on.map(|(member, work)| tokio::spawn(supervision::keep(member.line.clone(), work, leaving.clone()))).collect()
    }

    /// How each fares, in the order of [`ALL`].
    pub fn summaries(&self) -> Vec<IntegrationSummary> {
        let summary = |member: &Member| IntegrationSummary {
            name: member.declared.name,
            title: member.declared.title,
            on: member.work.is_some(),
            fault: member.fault.clone(),
            line: member.line.state(),
        };
        self.members.iter().map(summary).collect()
    }

    /// The printers that the print farm interface knows; `None` while it is off.
    pub async fn farm_printers(&self, peer: &Peer) -> Option<Result<Vec<FarmPrinter>, PeerFault>> {
        let member =
            self.members.iter().find(|member| member.declared.name == farm_ui::TYPE.name && member.work.is_some())?;
        let farm = FarmUi::new(self.client.clone(), &peer.url, peer.token.expose());
        Some(match farm {
            Ok(farm) => member.line.call(farm.printers()).await,
            Err(error) => Err(error.into()),
        })
    }

    /// The way to the accounting system with these settings; `None` while it is off.
    pub fn accounting(&self, config: &Config) -> Option<AccountingDesk<'_>> {
        let (_, line) = self.lines().find(|(name, _)| *name == accounting::TYPE.name)?;
        AccountingDesk::new(&self.client, config, line).ok()
    }

    /// The line of each that is on, by its name.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, &Line)> {
        let on = self.members.iter().filter(|member| member.work.is_some());
        on.map(|member| (member.declared.name, &*member.line))
    }
}

/// The integration of this name.
pub fn of(name: &str) -> Option<&'static IntegrationType> {
    ALL.iter().copied().find(|one| one.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own_and_is_off_by_default() {
        let config = Config::default();
        for (at, one) in ALL.iter().enumerate() {
            assert!(!(one.is_on)(&config), "{}", one.name);
            assert_eq!(ALL.iter().position(|other| other.name == one.name), Some(at));
            assert!(of(one.name).is_some_and(|found| found.title == one.title));
        }
        assert!(of("coffee").is_none());
    }
}
