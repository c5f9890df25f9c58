//! The world of a run: the server under test, and everything that it depends on.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use simulator::processor::SimPaymentProcessor;
use tokio::time::Instant;
use url::Url;

use crate::arguments::ChaosArguments;
use crate::catalogue::ChaosCatalogue;
use crate::client::ChaosClient;
use crate::error::ChaosError;
use crate::hall::ChaosHall;
use crate::keeper::{Keeper, ServerLog};
use crate::network::ProxiedNetwork;
use crate::ports::Ports;
use crate::programs::Programs;
use crate::server::{ServerPlace, until_ready};
use crate::services::Services;
use crate::story::ChaosStory;

/// Path at which the server receives payment events.
const PAYMENT_EVENTS: &str = "/webhooks/payments";
/// Maximum time to set up the shop.
const SET_UP_TIMEOUT: Duration = Duration::from_secs(60);

/// Everything that runs.
#[derive(Debug)]
pub struct ChaosWorld {
    /// Folder and settings of the server, for its commands.
    pub place: ServerPlace,
    /// Server under test.
    pub server: Keeper,
    /// Log of the server.
    pub log: ServerLog,
    /// Services used by the server.
    pub services: Services,
    /// Payment processor.
    pub processor: Arc<SimPaymentProcessor>,
    /// Printers.
    pub hall: Arc<ChaosHall>,
    /// Products.
    pub catalogue: Arc<ChaosCatalogue>,
    /// All networks that can be cut.
    pub networks: Vec<Arc<ProxiedNetwork>>,
    /// Program that prevents the server from writing files; `None` if it is not installed.
    pub prlimit: Option<PathBuf>,
    /// Client of the API.
    pub api: ChaosClient,
    /// Reserved ports.
    _ports: Ports,
}

impl ChaosWorld {
    /// Starts everything in a folder, and sets up the shop.
    pub async fn start(
        arguments: &ChaosArguments,
        programs: &Programs,
        folder: &Path,
        story: ChaosStory,
    ) -> Result<Self, ChaosError> {
        let (mut ports, mut secrets) = (Ports::new(), Rng::with_seed(arguments.seed));
        let mut secret = |prefix: &str| format!("{prefix}{:032x}", secrets.u128(..));
        let mut services = Services::start(programs, folder, &mut ports, &secret(""), story).await?;
        let (payment_key, event_secret) = (secret("sk_test_"), secret("whsec_"));
        let processor = SimPaymentProcessor::start(&payment_key).await;
        let processor = processor.map_err(ChaosError::io("the payment processor cannot start"))?;
        let to_processor = ProxiedNetwork::to("the payment processor", &[port_of(&processor.url())]).await?;
        services.variables.extend(payment_variables(&to_processor, &payment_key, &event_secret));

        let port = ports.free()?;
        let place = ServerPlace::new(&programs.server, folder, port, &services.variables);
        let api_key = place.first_key().await?;
        let log = ServerLog::default();
        let server = place.serve(&log, story);
        let api = ChaosClient::new(place.base(), api_key, Instant::now() + SET_UP_TIMEOUT)?;
        until_ready(&api, &log).await?;
        story.tell(&format!("the server is ready on {}, with {}", place.base(), arguments.database.name()));
        processor.events_go_to(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), PAYMENT_EVENTS, &event_secret);
        let api = api.with_deadline(Instant::now() + SET_UP_TIMEOUT);
        let catalogue = ChaosCatalogue::create(&api).await?;
        let hall = ChaosHall::open(&api, &catalogue.material, arguments.seed).await?;
        story.tell(&format!("{} printers of all types are connected", hall.machines.len()));

        let mut networks = services.networks.clone();
        networks.push(Arc::new(to_processor));
        networks.extend(hall.machines.iter().map(|machine| machine.network.clone()));
        Ok(Self {
            place,
            server,
            log,
            services,
            processor: Arc::new(processor),
            hall: Arc::new(hall),
            catalogue: Arc::new(catalogue),
            networks,
            prlimit: programs.prlimit.clone(),
            api,
            _ports: ports,
        })
    }

    /// Stops everything.
    pub async fn end(&self) {
        self.server.kill().await;
        self.services.end().await;
    }
}

/// Returns the settings that make the server use the payment processor through a network.
fn payment_variables(network: &ProxiedNetwork, key: &str, event_secret: &str) -> Vec<(&'static str, String)> {
    let port = network.ports.first().copied().unwrap_or_default();
    vec![
        ("PRINTFLOOR_PAYMENTS__API_BASE", format!("http://127.0.0.1:{port}")),
        ("PAYMENT_SECRET_KEY", key.to_owned()),
        ("PAYMENT_WEBHOOK_SECRET", event_secret.to_owned()),
    ]
}

/// Returns the port in a URL; 0 if there is none.
fn port_of(address: &str) -> u16 {
    Url::parse(address).ok().and_then(|url| url.port()).unwrap_or_default()
}
