//! One instance of each of a shop's other systems, with the configuration for a server that uses all of them.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;

use super::ResponseMode;
use super::agent::SimAgentGateway;
use super::broker::MqttBroker;
use super::detector::SimDetector;
use super::farm_ui::SimFarmUi;
use super::smart_home::SimSmartHome;
use super::workflow::SimWorkflowAutomation;
use crate::accounting::AccountingSystem;
use crate::shops::{OtherShop, ShopSystem};
use crate::stock::NetworkCondition;
use crate::stock::parts::PartsSystem;
use crate::stock::spools::SpoolSystem;
use crate::wire::SimServer;

/// Token for all systems that require one.
pub const PEER_TOKEN: &str = "shown-to-all-systems-of-the-shop";
/// Credentials for the external shops, as `key:secret` for those that use both.
pub const SHOP_TOKEN: &str = "key-of-the-shop:shown-to-other-shops";
/// Client ID under which the shop's program is registered in the accounting system.
const PROGRAM: &str = "printfloor-demo";
/// First bytes of a JPEG.
const PICTURE: [u8; 6] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16];

/// Running simulated systems; they stop when dropped.
pub struct AllPeers {
    /// Workflow automation.
    pub workflow: SimWorkflowAutomation,
    /// Print farm software.
    pub farm_ui: SimFarmUi,
    /// Print failure detector.
    pub detector: SimDetector,
    /// Simulated Home Assistant.
    pub smart_home: SimSmartHome,
    /// MQTT broker to which the smart home subscribes.
    pub broker: MqttBroker,
    /// Agent gateway.
    pub agent: SimAgentGateway,
    /// Parts management system.
    pub parts: PartsSystem,
    /// Spool management system.
    pub spools: SpoolSystem,
    /// Accounting system, to be connected by an admin.
    pub accounting: Arc<AccountingSystem>,
    /// External shops, each with its platform.
    pub shops: [(Arc<OtherShop>, ShopSystem); 2],
    camera: SimServer,
}

/// Starts an external shop on a free loopback port.
async fn shop(system: ShopSystem) -> std::io::Result<(Arc<OtherShop>, ShopSystem)> {
    Ok((Arc::new(OtherShop::start(system, SHOP_TOKEN).await?), system))
}

impl AllPeers {
    /// Starts all systems on free loopback ports.
    pub async fn start() -> std::io::Result<Self> {
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let camera = Router::new().fallback(|| async { ([("content-type", "image/jpeg")], PICTURE.to_vec()) });
        Ok(Self {
            workflow: SimWorkflowAutomation::start(None).await?,
            farm_ui: SimFarmUi::start(Some(PEER_TOKEN)).await?,
            detector: SimDetector::start(Some(PEER_TOKEN)).await?,
            smart_home: SimSmartHome::start(PEER_TOKEN).await?,
            broker: MqttBroker::start(None).await?,
            agent: SimAgentGateway::start(PEER_TOKEN).await?,
            parts: PartsSystem::start(free, PEER_TOKEN).await?,
            spools: SpoolSystem::start(free).await?,
            accounting: Arc::new(AccountingSystem::start(PROGRAM, PEER_TOKEN).await?),
            shops: [shop(ShopSystem::Shopify).await?, shop(ShopSystem::WooCommerce).await?],
            camera: SimServer::start(free, camera).await?,
        })
    }

    /// Returns the environment variables that configure a server for all systems.
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

    /// Returns the URL of a picture, for use as the camera of simulated printers.
    pub fn camera(&self) -> String {
        format!("{}/snapshot.jpg", self.camera.base_url())
    }

    /// Makes all systems hang or respond normally again.
    pub fn set_hanging(&self, hanging: bool) {
        let mood = if hanging { ResponseMode::Hanging } else { ResponseMode::Well };
        self.workflow.set_mood(mood);
        self.farm_ui.set_mood(mood);
        self.detector.set_mood(mood);
        self.smart_home.set_mood(mood);
        self.agent.set_mood(mood);
        self.broker.set_deaf(hanging);
        let weather = if hanging { NetworkCondition::Hangs } else { NetworkCondition::Fair };
        self.parts.weather(weather);
        self.spools.weather(weather);
        self.accounting.weather(weather);
        self.shops.iter().for_each(|(shop, _)| shop.weather(weather));
    }
}
