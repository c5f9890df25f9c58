//! The smart home: the present state of each printer and of the shop is shown there. Nothing is queued: what changed
//! since it was last shown is shown, and after a restart of the other side everything.
//!
//! With a broker the states go there, as devices that are known again; without one they go over HTTP.

mod broker;
mod things;
mod web;

use std::sync::Arc;

use reqwest::Client;

use self::broker::ThroughBroker;
use self::things::Things;
use self::web::ThroughWeb;
use super::{IntegrationType, SetupFault, Sources, Work};
use crate::config::Config;
use crate::services::mqtt::{Broker, MqttSession, TopicMessage};
use crate::services::peers::{self, Asked, PeerFault};
use crate::services::smart_home::discovery::{OFFLINE, Topics};

/// The smart home.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "smart_home",
    title: "Smart home",
    is_on: |config| config.smart_home.is_on(),
    test: |client, config| Box::pin(test(client, config)),
    work,
};

fn fault(reason: String) -> SetupFault {
    SetupFault { name: TYPE.name, reason }
}

fn work(config: &Config, sources: &Sources) -> Result<Arc<dyn Work>, SetupFault> {
    let settings = &config.smart_home;
    let things = Things::new(sources);
    let every = settings.push_interval_seconds.duration();
    if settings.mqtt_url.is_empty() {
        return Ok(Arc::new(ThroughWeb::new(settings, things, every, sources.client.clone()).map_err(fault)?));
    }
    let id = format!("printfloor-{}", sources.environment.id().0.simple());
    let broker = broker(config, id).map_err(fault)?;
    let topics = Topics::new(&settings.mqtt_topic, &settings.mqtt_discovery_prefix);
    Ok(Arc::new(ThroughBroker { broker, topics, things, every, about: config.public_url() }))
}

fn broker(config: &Config, client_id: String) -> Result<Broker, String> {
    let settings = &config.smart_home;
    Broker::new(&settings.mqtt_url, &settings.mqtt_user, settings.mqtt_password.expose(), client_id)
}

/// Asks over HTTP where an address is set, and opens a session at the broker where one is; both must be well.
async fn test(client: &Client, config: &Config) -> Asked {
    let settings = &config.smart_home;
    let mut said = Vec::new();
    if !settings.url.is_empty() {
        said.push(peers::smart_home(client, &settings.url, settings.token.expose()).await?);
    }
    if !settings.mqtt_url.is_empty() {
        let broker = broker(config, "printfloor-test".to_owned()).map_err(PeerFault::new)?;
        // The farewell keeps the last word from being told.
        let nothing = TopicMessage::new(format!("{}/test", settings.mqtt_topic), OFFLINE);
        MqttSession::open(&broker, nothing).await?.close().await;
        said.push("the MQTT broker takes our sessions".to_owned());
    }
    if said.is_empty() { Err(PeerFault::new("none is configured")) } else { Ok(said.join("; ")) }
}
