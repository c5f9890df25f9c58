//! Devices published through MQTT discovery. They are described once per session and again after the smart home system
//! restarts, and are removed when the printer no longer exists.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep_until};

use super::things::StateReader;
use crate::integrations::{IntegrationWork, SystemLine};
use services::mqtt::{Broker, MqttSession, TopicMessage};
use services::peer_fault::PeerFault;
use services::smart_home::HomeEntity;
use services::smart_home::discovery::{OFFLINE, ONLINE, Topics};

/// Background work that publishes states to a broker.
pub(super) struct BrokerPublishing {
    pub(super) broker: Broker,
    pub(super) topics: Topics,
    pub(super) things: StateReader,
    pub(super) every: Duration,
    /// Address of the server, as shown to users.
    pub(super) about: String,
}

/// Session with the broker, and the messages published in it.
struct BrokerConnection<'a> {
    of: &'a BrokerPublishing,
    session: MqttSession,
    published: BTreeMap<String, HomeEntity>,
}

impl BrokerPublishing {
    /// Opens a session and publishes the server's availability.
    async fn open(&self) -> Result<BrokerConnection<'_>, PeerFault> {
        let last_word = TopicMessage::new(self.topics.availability(), OFFLINE);
        let mut session = MqttSession::open(&self.broker, last_word).await?;
        session.subscribe([self.topics.birth(), self.topics.all_configs()]).await?;
        Ok(BrokerConnection { of: self, session, published: BTreeMap::new() })
    }

    /// Serves one session until the connection breaks.
    async fn serve(&self, line: &SystemLine) -> Result<std::convert::Infallible, PeerFault> {
        let mut talk = line.call(self.open()).await?;
        loop {
            talk.tell(line).await?;
            let next = Instant::now() + self.every;
            loop {
                let outcome = tokio::select! {
                    biased; // what was said first, so that a description that is due is not told too late
                    outcome = talk.session.hear() => outcome,
                    () = sleep_until(next) => break,
                };
                match outcome {
                    Ok(message) => talk.on_message(line, &message).await?,
                    Err(fault) => return line.call(async { Err(fault) }).await,
                }
            }
        }
    }
}

impl BrokerConnection<'_> {
    /// Publishes the changes since the last update; describes new entities first. Each message is a separate call, so
    /// publishing a shop with many printers may take longer than the time limit for a call.
    async fn tell(&mut self, line: &SystemLine) -> Result<(), PeerFault> {
        let now = self.of.things.now();
        let gone: Vec<String> = self.published.keys().filter(|key| !now.contains_key(*key)).cloned().collect();
        let first = self.published.is_empty();
        for key in gone {
            self.remove(line, &key).await?;
        }
        for (key, thing) in now {
            let before = self.published.get(&key);
            let described = before.is_some_and(|before| (&before.name, &before.model) == (&thing.name, &thing.model));
            if !described {
                line.call(self.session.publish(self.of.topics.config_of(&thing, &self.of.about))).await?;
            }
            if before != Some(&thing) {
                line.call(self.session.publish(self.of.topics.state_of(&thing))).await?;
                self.published.insert(key, thing);
            }
        }
        if first {
            // Only now: a device that is there has a state.
            line.call(self.session.publish(TopicMessage::new(self.of.topics.availability(), ONLINE))).await
        } else {
            line.call(self.session.ping()).await
        }
    }

    /// Handles a received message: either the smart home system has started, or the broker has retained a description
    /// from before this session.
    async fn on_message(&mut self, line: &SystemLine, message: &TopicMessage) -> Result<(), PeerFault> {
        let topics = &self.of.topics;
        if message.topic == topics.birth() {
            if message.payload == ONLINE.as_bytes() {
                tracing::info!("the smart home has started; publishing all states again");
                self.published.clear();
                self.tell(line).await?;
            }
        } else if let Some(key) = topics.key_of(&message.topic)
            && !message.payload.is_empty()
            && !self.published.is_empty()
            && !self.published.contains_key(key)
        {
            let key = key.to_owned();
            self.remove(line, &key).await?;
        }
        Ok(())
    }

    async fn remove(&mut self, line: &SystemLine, key: &str) -> Result<(), PeerFault> {
        for message in self.of.topics.gone(key) {
            line.call(self.session.publish(message)).await?;
        }
        self.published.remove(key);
        Ok(())
    }
}

#[async_trait]
impl IntegrationWork for BrokerPublishing {
    async fn run(&self, line: &SystemLine) {
        loop {
            line.ready().await;
            let Err(fault) = self.serve(line).await;
            tracing::debug!(%fault, "no session with the MQTT broker of the smart home");
            tokio::time::sleep(self.every.min(Duration::from_secs(5))).await;
        }
    }
}
