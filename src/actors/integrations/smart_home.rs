//! Integration with the smart home system, which shows the current state of the printers and the shop. Nothing is
//! queued: each update contains the changes since the previous one, or everything if the smart home system has
//! restarted.
//!
//! If a broker is configured, the states are published to it as persistent devices; otherwise they are set over HTTP.

mod broker;
mod things;
mod web;

use std::sync::Arc;

use reqwest::Client;

use self::broker::BrokerPublishing;
use self::things::StateReader;
use self::web::HttpPublishing;
use super::{IntegrationType, Prepared};
use config::Config;
use services::mqtt::{Broker, MqttSession, TopicMessage};
use services::peer_client::{PeerHttp, PeerSettingError};
use services::peer_fault::PeerFault;
use services::peers::{self, ConnectionTestResult};
use services::smart_home::HomeAssistantClient;
use services::smart_home::discovery::{OFFLINE, Topics};

/// Declaration of the smart home integration.
pub(super) static TYPE: IntegrationType = IntegrationType {
    name: "smart_home",
    title: "Smart home",
    is_on: |config| config.smart_home.is_on(),
    test: |client, config| Box::pin(test(client, config)),
    prepare,
};

fn prepare(config: &Config, http: &PeerHttp) -> Result<Prepared, PeerSettingError> {
    let settings = &config.smart_home;
    let every = settings.push_interval_seconds.duration();
    // Tested beside the broker, so it must be right there, too.
    let board = (!settings.url.is_empty())
        .then(|| HomeAssistantClient::new(http.clone(), &settings.url, settings.token.expose()));
    let board = board.transpose()?;
    match board.filter(|_| settings.mqtt_url.is_empty()) {
        Some(board) => {
            Ok(Box::new(move |sources| Arc::new(HttpPublishing { board, things: StateReader::new(sources), every })))
        }
        None => {
            let broker = broker(config)?;
            let topics = Topics::new(&settings.mqtt_topic, &settings.mqtt_discovery_prefix);
            let about = config.public_url();
            Ok(Box::new(move |sources| {
                let broker = broker.named(format!("printfloor-{}", sources.environment.id().0.simple()));
                Arc::new(BrokerPublishing { broker, topics, things: StateReader::new(sources), every, about })
            }))
        }
    }
}

fn broker(config: &Config) -> Result<Broker, PeerSettingError> {
    let settings = &config.smart_home;
    Broker::new(&settings.mqtt_url, &settings.mqtt_user, settings.mqtt_password.expose())
}

/// Tests HTTP if an address is configured, and opens a session with the broker if one is configured; all tests must
/// succeed.
async fn test(client: &Client, config: &Config) -> ConnectionTestResult {
    let settings = &config.smart_home;
    let mut results = Vec::new();
    if !settings.url.is_empty() {
        results.push(peers::smart_home(client, &settings.url, settings.token.expose()).await?);
    }
    if !settings.mqtt_url.is_empty() {
        let broker = broker(config)?.named("printfloor-test".to_owned());
        // The farewell keeps the last word from being told.
        let nothing = TopicMessage::new(format!("{}/test", settings.mqtt_topic), OFFLINE);
        MqttSession::open(&broker, nothing).await?.close().await;
        results.push("the MQTT broker accepts the connection".to_owned());
    }
    if results.is_empty() { Err(PeerFault::new("not configured")) } else { Ok(results.join("; ")) }
}
