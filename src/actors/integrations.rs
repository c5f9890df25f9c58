//! Integrations with external systems in the shop. Each has a declaration ([`IntegrationType`]) with its settings,
//! connection test and background work.
//!
//! The shop does not depend on integrations, and keeps working even if all of them hang. Each integration therefore
//! runs in its own task (`supervision`), calls its system over its own connection with a time limit and a circuit
//! breaker (`line`), and holds no data that could grow: data that must not be lost is read from the committed events
//! after a stored cursor, and current state is simply sent again. Only `services/` depends on the names and protocols
//! of the systems.
//!
//! A new integration needs a submodule with its `TYPE`, and one line in [`ALL`]. Systems that the shop cannot do
//! without (email, payments, the database) are connected in `app/`.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use reqwest::Client;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use config::Config;
use config::sections::PeerConfig;
use domain::accounting::Accounting;
use domain::integration::Integration;
use domain::material::Material;
use domain::posting::Posting;
use domain::printer::Printer;
use kernel::directory::Directory;
use kernel::environment::Environment;
use platform::secrets::encryption::SecretCipher;
use printers::connections::PrinterConnections;
use services::farm_ui::{FarmPrinter, FarmUi};
use services::peer_client::{PeerHttp, PeerSettingError};
use services::peer_fault::PeerFault;
use services::peers::ConnectionTestResult;
use store::Store;
use store::outbox::Outbox;
use store::queries::Queries;

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

pub use accounting::{AccountingConnector, AccountingWake};
pub use line::{SystemLine, SystemLineState, SystemLines};
pub use stock_sync::{StockSystemState, StockSystemStatuses};

/// All integrations in listing order.
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

/// Declaration of an integration: its name, whether it is enabled, its connection test and its work.
pub struct IntegrationType {
    /// Name in the API, and of the settings section.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Predicate that returns whether the settings enable the integration.
    pub is_on: fn(&Config) -> bool,
    /// Connection test, which checks that the system responds and accepts the credentials. Changes nothing in the
    /// system.
    pub test: for<'a> fn(&'a Client, &'a Config) -> BoxFuture<'a, ConnectionTestResult>,
    /// Constructor for the background work.
    pub prepare: PrepareWork,
}

/// Constructor for an integration's work from the settings alone; makes no calls.
pub type PrepareWork = fn(&Config, &PeerHttp) -> Result<Prepared, PeerSettingError>;

/// Work with valid settings, which starts once it receives the process's resources.
pub type Prepared = Box<dyn FnOnce(&Sources) -> Arc<dyn IntegrationWork> + Send>;

/// Error reported for an integration with invalid settings.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct SetupFault {
    /// Name of the integration, which is also the name of its settings section.
    pub name: &'static str,
    /// Reason that the settings are invalid.
    pub reason: PeerSettingError,
}

/// Result of preparing each integration in [`ALL`], in the same order; `None` for those disabled in the settings.
pub struct PreparedIntegrations(Vec<Option<Result<Prepared, SetupFault>>>);

impl PreparedIntegrations {
    /// Prepares the integrations enabled in the settings; makes no calls. `http` is the HTTP client for configured
    /// services.
    pub fn new(config: &Config, http: &PeerHttp) -> Self {
        let prepare = |declared: &&'static IntegrationType| {
            let prepared = (declared.is_on)(config).then(|| (declared.prepare)(config, http))?;
            Some(prepared.map_err(|reason| SetupFault { name: declared.name, reason }))
        };
        Self(ALL.iter().map(prepare).collect())
    }

    /// Returns the integrations with invalid settings.
    pub fn faults(&self) -> impl Iterator<Item = &SetupFault> {
        self.0.iter().filter_map(|prepared| prepared.as_ref()?.as_ref().err())
    }
}

/// Background work of an integration.
#[async_trait]
pub trait IntegrationWork: Send + Sync {
    /// Runs until dropped. Work that returns or panics is restarted after a pause. Can be cancelled safely at any await
    /// point.
    async fn run(&self, line: &SystemLine);
}

/// Process resources for integration work; each integration takes only those it uses.
#[derive(Clone)]
pub struct Sources {
    /// Integration aggregates, with their event cursors.
    pub integrations: Directory<Integration>,
    /// Printer aggregates, with their current work.
    pub printers: Directory<Printer>,
    /// Material aggregates, with their stock.
    pub materials: Directory<Material>,
    /// Connections to printers, each with the printer's last status.
    pub connections: Arc<PrinterConnections>,
    /// Committed events; the newest are in memory.
    pub outbox: Arc<Outbox>,
    /// Store that older events are read from.
    pub store: Store,
    /// Statuses of the external stock systems.
    pub stock_boards: StockSystemStatuses,
    /// Accounting aggregate, with the connection to the accounting system.
    pub accounting: Directory<Accounting>,
    /// Posting aggregates, which are documents for the accounting system.
    pub postings: Directory<Posting>,
    /// Signal that wakes the work that posts documents to the accounting system.
    pub accounting_wake: AccountingWake,
    /// Queries that read issued documents.
    pub queries: Queries,
    /// Cipher that encrypts tokens at rest.
    pub cipher: Arc<SecretCipher>,
    /// Clock and randomness.
    pub environment: Arc<Environment>,
    /// HTTP client for systems that staff configured.
    pub http: PeerHttp,
}

/// State of an integration.
#[derive(Clone, Debug)]
pub struct IntegrationSummary {
    /// Name in the API.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// `true` if the integration is running, that is, if it is enabled in the settings and the settings are valid.
    pub on: bool,
    /// Settings error that prevents the integration from running, if any.
    pub fault: Option<PeerSettingError>,
    /// State of the connection.
    pub line: SystemLineState,
}

impl IntegrationSummary {
    /// Describes the integration's problem; `None` if it works or is disabled in the settings.
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
            ms => format!("; next try in {} s", ms.div_ceil(1000)),
        };
        Some(format!("{} ({}): {error}, {} times in a row{again}", self.title, self.name, self.line.failures))
    }
}

/// Integration in this process, with its connection and background work.
struct RunningIntegration {
    declared: &'static IntegrationType,
    line: Arc<SystemLine>,
    /// Running work; `None` while the integration is disabled.
    work: Option<Arc<dyn IntegrationWork>>,
    fault: Option<PeerSettingError>,
}

/// All integrations in this process.
pub struct Integrations {
    members: Vec<RunningIntegration>,
    http: PeerHttp,
}

impl Integrations {
    /// Gives the prepared integrations their resources; makes no calls yet. An integration with invalid settings stays
    /// disabled and reports the error, because the shop does not depend on it.
    pub fn new(prepared: PreparedIntegrations, lines: &SystemLines, sources: &Sources) -> Arc<Self> {
        let member = |(declared, prepared): (&&'static IntegrationType, Option<Result<Prepared, SetupFault>>)| {
            let (work, fault) = match prepared {
                None => (None, None),
                Some(Ok(prepared)) => (Some(prepared(sources)), None),
                Some(Err(fault)) => {
                    tracing::error!(integration = fault.name, error = %fault.reason, "invalid settings; the integration is off");
                    (None, Some(fault.reason))
                }
            };
            RunningIntegration { declared, line: lines.of(declared.name), work, fault }
        };
        let members = ALL.iter().zip(prepared.0).map(member).collect();
        Arc::new(Self { members, http: sources.http.clone() })
    }

    /// Starts the task of each enabled integration; the tasks run until `leaving` is cancelled.
    pub fn start(&self, leaving: &CancellationToken) -> Vec<JoinHandle<()>> {
        let on = self.members.iter().filter_map(|member| Some((member, member.work.clone()?)));
        on.map(|(member, work)| tokio::spawn(supervision::keep(member.line.clone(), work, leaving.clone()))).collect()
    }

    /// Returns the state of each integration, in the order of [`ALL`].
    pub fn summaries(&self) -> Vec<IntegrationSummary> {
        let summary = |member: &RunningIntegration| IntegrationSummary {
            name: member.declared.name,
            title: member.declared.title,
            on: member.work.is_some(),
            fault: member.fault.clone(),
            line: member.line.state(),
        };
        self.members.iter().map(summary).collect()
    }

    /// Returns the printers that the print farm software lists; `None` if that integration is disabled.
    pub async fn farm_printers(&self, peer: &PeerConfig) -> Option<Result<Vec<FarmPrinter>, PeerFault>> {
        let member =
            self.members.iter().find(|member| member.declared.name == farm_ui::TYPE.name && member.work.is_some())?;
        let farm = FarmUi::new(self.http.clone(), &peer.url, peer.token.expose());
        Some(match farm {
            Ok(farm) => member.line.call(farm.printers()).await,
            Err(error) => Err(error.into()),
        })
    }

    /// Returns access to the accounting system with the given settings; `None` if that integration is disabled.
    pub fn accounting(&self, config: &Config) -> Option<AccountingConnector<'_>> {
        let (_, line) = self.lines().find(|(name, _)| *name == accounting::TYPE.name)?;
        AccountingConnector::new(&self.http, config, line).ok()
    }

    /// Returns the connection of each enabled integration, with its name.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, &SystemLine)> {
        let on = self.members.iter().filter(|member| member.work.is_some());
        on.map(|member| (member.declared.name, &*member.line))
    }
}

/// Returns the integration with the given name.
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
            assert!(of(one.name).is_some_and(|integration| integration.title == one.title));
        }
        assert!(of("coffee").is_none());
    }
}
