//! One of each of the systems of a shop, with what a server must be told to find them.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;

use super::Mood;
use super::agent::AgentGateway;
use super::broker::MqttBroker;
use super::detector::Detector;
use super::farm_ui::FarmUi;
use super::smart_home::SmartHome;
use super::workflow::WorkflowAutomation;
use crate::accounting::AccountingSystem;
use crate::shops::{OtherShop, ShopSystem};
use crate::stock::Weather;
use crate::stock::parts::PartsSystem;
use crate::stock::spools::SpoolSystem;
use crate::wire::Server;

/// The token that each asks for that asks for one.
pub const PEER_TOKEN: &str = "shown-to-all-systems-of-the-shop";
/// What other shops ask for: a key and a secret where there are two.
pub const SHOP_TOKEN: &str = "key-of-the-shop:shown-to-other-shops";
/// What the shop's program is called at the accounting system.
const PROGRAM: &str = "printfloor-demo";
/// The beginning of a JPEG.
const PICTURE: [u8; 6] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16];

/// Running systems. They stop when dropped.
pub struct AllPeers {
    /// The workflow automation.
    pub workflow: WorkflowAutomation,
    /// The print farm interface.
    pub farm_ui: FarmUi,
    /// The detector of failed prints.
    pub detector: Detector,
    /// The smart home.
    pub smart_home: SmartHome,
    /// The broker that the smart home listens to.
    pub broker: MqttBroker,
    /// The agent gateway.
    pub agent: AgentGateway,
    /// The parts management system.
    pub parts: PartsSystem,
    /// The system that knows spools.
    pub spools: SpoolSystem,
    /// The accounting system; an admin connects it.
    pub accounting: Arc<AccountingSystem>,
    /// Other shops, each with the word for its system; sales channels name them.
    pub shops: [(Arc<OtherShop>, &'static str); 2],
    camera: Server,
}

impl AllPeers {
    /// Starts all on free loopback ports.
    pub async fn start() -> std::io::Result<Self> {
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let camera = Router::new().fallback(|| async { ([("content-type", "image/jpeg")], PICTURE.to_vec()) });
        Ok(Self {
            workflow: WorkflowAutomation::start(None).await?,
            farm_ui: FarmUi::start(Some(PEER_TOKEN)).await?,
            detector: Detector::start(Some(PEER_TOKEN)).await?,
            smart_home: SmartHome::start(PEER_TOKEN).await?,
            broker: MqttBroker::start(None).await?,
            agent: AgentGateway::start(PEER_TOKEN).await?,
            parts: PartsSystem::start(free, PEER_TOKEN).await?,
            spools: SpoolSystem::start(free).await?,
            accounting: Arc::new(AccountingSystem::start(PROGRAM, PEER_TOKEN).await?),
            shops: [
                (Arc::new(OtherShop::start(ShopSystem::Shopify, SHOP_TOKEN).await?), "shopify"),
                (Arc::new(OtherShop::start(ShopSystem::WooCommerce, SHOP_TOKEN).await?), "woocommerce"),
            ],
            camera: Server::start(free, camera).await?,
        })
    }

    /// The variables of the environment that tell a server of them.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let token = || PEER_TOKEN.to_owned();
        let mut all = vec![
            ("WORKFLOW_URL", self.workflow.url()),
            ("FARM_UI_URL", self.farm_ui.url()),
            ("FARM_UI_TOKEN", token()),
            ("FAILURE_DETECTION_URL", self.detector.url()),
            ("FAILURE_DETECTION_TOKEN", token()),
            ("SMART_HOME_URL", self.smart_home.url()),
            ("SMART_HOME_TOKEN", token()),
            ("SMART_HOME_MQTT_URL", self.broker.url()),
            ("AGENT_URL", self.agent.url()),
            ("AGENT_TOKEN", token()),
            ("PARTS_URL", self.parts.url()),
            ("PARTS_TOKEN", token()),
            ("SPOOLS_URL", self.spools.url()),
        ];
        all.extend(self.accounting.variables());
        all
    }

    /// The address of a picture, for cameras of simulated printers.
    pub fn camera(&self) -> String {
        format!("{}/snapshot.jpg", self.camera.base_url())
    }

    /// From now on none of them answers, or all do.
    pub fn set_hanging(&self, hanging: bool) {
        let mood = if hanging { Mood::Hanging } else { Mood::Well };
        self.workflow.set_mood(mood);
        self.farm_ui.set_mood(mood);
        self.detector.set_mood(mood);
        self.smart_home.set_mood(mood);
        self.agent.set_mood(mood);
        self.broker.set_deaf(hanging);
        let weather = if hanging { Weather::Hangs } else { Weather::Fair };
        self.parts.weather(weather);
        self.spools.weather(weather);
        self.accounting.weather(weather);
        self.shops.iter().for_each(|(shop, _)| shop.weather(weather));
    }
}
