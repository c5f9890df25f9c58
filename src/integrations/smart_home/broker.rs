//! Devices by MQTT discovery: described once in each session and again when the smart home has restarted; what is gone disappears.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep_until};

use super::things::Things;
use crate::integrations::{Line, Work};
use crate::services::mqtt::{Broker, MqttSession, TopicMessage};
use crate::services::peers::PeerFault;
use crate::services::smart_home::ShownThing;
use crate::services::smart_home::discovery::{OFFLINE, ONLINE, Topics};

/// Tells states through a broker.
pub(super) struct ThroughBroker {
    pub(super) broker: Broker,
    pub(super) topics: Topics,
    pub(super) things: Things,
    pub(super) every: Duration,
    /// Address of the server, for people.
    pub(super) about: String,
}

/// One session, and what was told in it.
struct Talk<'a> {
    of: &'a ThroughBroker,
    session: MqttSession,
    told: BTreeMap<String, ShownThing>,
}

impl ThroughBroker {
    /// Opens a session and says that we are there.
    async fn open(&self) -> Result<Talk<'_>, PeerFault> {
        let last_word = TopicMessage::new(self.topics.availability(), OFFLINE);
        let mut session = MqttSession::open(&self.broker, last_word).await?;
        session.subscribe([self.topics.birth(), self.topics.all_configs()]).await?;
        Ok(Talk { of: self, session, told: BTreeMap::new() })
    }

    /// Serves one session until it breaks.
    async fn serve(&self, line: &Line) -> Result<std::convert::Infallible, PeerFault> {
        let mut talk = line.call(self.open()).await?;
        loop {
            line.call(talk.tell()).await?;
            let next = Instant::now() + self.every;
            loop {
                let heard = tokio::select! {
                    biased; // what was said first, so that a description that is due is not told too late
                    heard = talk.session.hear() => heard,
                    () = sleep_until(next) => break,
                };
                match heard {
                    Ok(message) => {
                        line.call(talk.heard(&message)).await?;
                    }
                    Err(fault) => return line.call(async { Err(fault) }).await,
                }
            }
        }
    }
}

impl Talk<'_> {
    /// Tells what differs from what was told; a thing that is new is described first.
    async fn tell(&mut self) -> Result<(), PeerFault> {
        let now = self.of.things.now();
        let gone: Vec<String> = self.told.keys().filter(|key| !now.contains_key(*key)).cloned().collect();
        let first = self.told.is_empty();
        for key in gone {
            self.remove(&key).await?;
        }
        for (key, thing) in now {
            let before = self.told.get(&key);
            let described = before.is_some_and(|before| (&before.name, &before.model) == (&thing.name, &thing.model));
            if !described {
                self.session.publish(self.of.topics.config_of(&thing, &self.of.about)).await?;
            }
            if before != Some(&thing) {
                self.session.publish(self.of.topics.state_of(&thing)).await?;
                self.told.insert(key, thing);
            }
        }
        if first {
            // Only now: a device that is there has a state.
            self.session.publish(TopicMessage::new(self.of.topics.availability(), ONLINE)).await?;
        } else {
            self.session.ping().await?;
        }
        Ok(())
    }

    /// The smart home has started, or a description was retained before this session.
    async fn heard(&mut self, message: &TopicMessage) -> Result<(), PeerFault> {
        let topics = &self.of.topics;
        if message.topic == topics.birth() {
            if message.payload == ONLINE.as_bytes() {
                tracing::info!("the smart home has started, everything is told it anew");
                self.told.clear();
                self.tell().await?;
            }
        } else if let Some(key) = topics.key_of(&message.topic)
            && !message.payload.is_empty()
            && !self.told.is_empty()
            && !self.told.contains_key(key)
        {
            let key = key.to_owned();
            self.remove(&key).await?;
        }
        Ok(())
    }

    async fn remove(&mut self, key: &str) -> Result<(), PeerFault> {
        for message in self.of.topics.gone(key) {
            self.session.publish(message).await?;
        }
        self.told.remove(key);
        Ok(())
    }
}

#[async_trait]
impl Work for ThroughBroker {
    async fn run(&self, line: &Line) {
        loop {
            line.ready().await;
            let Err(fault) = self.serve(line).await;
            tracing::debug!(%fault, "no session at the broker of the smart home");
            tokio::time::sleep(self.every.min(Duration::from_secs(5))).await;
        }
    }
}
