//! A session at an MQTT broker of the shop: what is published is acknowledged, and a last word is left for when the
//! session breaks.
//!
//! Every session is a clean one: nothing is kept for the next, so whoever opens one tells everything anew.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::{
    Codec, Connect, ConnectReturnCode, LastWill, Packet, PubAck, Publish, Subscribe, SubscribeFilter,
    SubscribeReasonCode,
};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_util::codec::Framed;

use super::http::lan_connect;
use super::peer_client::PeerSettingError;
use super::peers::PeerFault;
use crate::domain::peer_address::PeerAddress;

/// Most bytes of a message in either direction.
const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// After so long without a word the broker gives the session up and tells the last word; we say something more often.
const KEEP_ALIVE_SECONDS: u16 = 30;
/// Time between two signs of life.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// Most messages that wait to be heard; what comes beyond is dropped.
const MAX_HEARD: usize = 1024;

/// Where a broker is, and who we are there.
#[derive(Clone)]
pub struct Broker {
    address: PeerAddress,
    login: Option<(String, String)>,
    client_id: String,
}

impl Broker {
    /// At this address (`mqtt://host:port`), without sign-in where `user` is empty.
    pub fn new(url: &str, user: &str, password: &str) -> Result<Self, PeerSettingError> {
        let login = (!user.is_empty()).then(|| (user.to_owned(), password.to_owned()));
        Ok(Self { address: PeerAddress::broker(url)?, login, client_id: String::new() })
    }

    /// With the name by which the broker tells clients apart.
    #[must_use]
    pub fn named(self, client_id: String) -> Self {
        Self { client_id, ..self }
    }
}

/// A message on a topic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopicMessage {
    /// The topic, without wildcards.
    pub topic: String,
    /// What is said; empty: what was retained there is deleted.
    pub payload: Bytes,
}

impl TopicMessage {
    /// What is said on this topic.
    pub fn new(topic: impl Into<String>, payload: impl Into<Bytes>) -> Self {
        Self { topic: topic.into(), payload: payload.into() }
    }
}

/// An open session.
pub struct MqttSession {
    wire: Framed<TcpStream, Codec>,
    number: u16,
    heard: VecDeque<TopicMessage>,
}

impl MqttSession {
    /// Opens a session. The broker retains `last_word` on its topic when the session breaks.
    pub async fn open(broker: &Broker, last_word: TopicMessage) -> Result<Self, PeerFault> {
        let away =
            |error: std::io::Error| PeerFault::new("the MQTT broker cannot be reached").saying(error.to_string());
        let url = broker.address.url();
        let place = url.host().zip(url.port_or_known_default());
        let (host, port) = place.ok_or_else(|| PeerFault::new("the address of the broker has no host"))?;
        let tcp = lan_connect(host, port).await.map_err(away)?;
        let codec = Codec { max_incoming_size: MAX_MESSAGE_BYTES, max_outgoing_size: MAX_MESSAGE_BYTES };
        let mut connect = Connect::new(broker.client_id.clone());
        connect.keep_alive = KEEP_ALIVE_SECONDS;
        let TopicMessage { topic, payload } = last_word;
        connect.last_will = Some(LastWill { topic, message: payload, qos: QoS::AtLeastOnce, retain: true });
        if let Some((user, password)) = &broker.login {
            connect.set_login(user.clone(), password.clone());
        }
        let mut session = Self { wire: Framed::new(tcp, codec), number: 0, heard: VecDeque::new() };
        session.send(Packet::Connect(connect)).await?;
        match session.next().await? {
            Packet::ConnAck(answer) => match answer.code {
                ConnectReturnCode::Success => Ok(session),
                ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized => {
                    Err(PeerFault::new("the MQTT broker refuses user name and password"))
                }
                code => Err(PeerFault::new("the MQTT broker refuses the session").saying(format!("{code:?}"))),
            },
            _ => Err(PeerFault::new("something answers there, but not an MQTT broker")),
        }
    }

    /// Hears all messages on these topics from now on, what is retained there first.
    pub async fn subscribe(&mut self, topics: impl IntoIterator<Item = String>) -> Result<(), PeerFault> {
        let filters = topics.into_iter().map(|topic| SubscribeFilter::new(topic, QoS::AtLeastOnce));
        let mut subscribe = Subscribe::new_many(filters);
        subscribe.pkid = self.fresh();
        let number = subscribe.pkid;
        self.send(Packet::Subscribe(subscribe)).await?;
        loop {
            match self.take_in().await? {
                Packet::SubAck(answer) if answer.pkid == number => {
                    if answer.return_codes.contains(&SubscribeReasonCode::Failure) {
                        return Err(PeerFault::new("the MQTT broker does not let us hear what the smart home says"));
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    /// Says something that the broker retains, and waits until it has it.
    pub async fn publish(&mut self, message: TopicMessage) -> Result<(), PeerFault> {
        let mut publish = Publish::from_bytes(message.topic, QoS::AtLeastOnce, message.payload);
        (publish.retain, publish.pkid) = (true, self.fresh());
        let number = publish.pkid;
        self.send(Packet::Publish(publish)).await?;
        loop {
            match self.take_in().await? {
                Packet::PubAck(answer) if answer.pkid == number => return Ok(()),
                _ => {}
            }
        }
    }

    /// The next message that was heard; waits for one and gives signs of life meanwhile. May be dropped at any await.
    pub async fn hear(&mut self) -> Result<TopicMessage, PeerFault> {
        loop {
            if let Some(message) = self.heard.pop_front() {
                return Ok(message);
            }
            tokio::select! {
                biased; // what has come before a sign of life
                packet = self.wire.next() => {
                    let packet = arrived(packet)?;
                    self.note(packet).await?;
                }
                () = sleep(PING_INTERVAL) => self.send(Packet::PingReq).await?,
            }
        }
    }

    /// A sign of life, for a session that has nothing to say.
    pub async fn ping(&mut self) -> Result<(), PeerFault> {
        self.send(Packet::PingReq).await?;
        loop {
            if matches!(self.take_in().await?, Packet::PingResp) {
                return Ok(());
            }
        }
    }

    /// Says farewell: the last word is not told then.
    pub async fn close(mut self) {
        let _ = self.send(Packet::Disconnect).await;
    }

    /// The next packet; messages are kept to be heard.
    async fn take_in(&mut self) -> Result<Packet, PeerFault> {
        let packet = self.next().await?;
        self.note(packet.clone()).await?;
        Ok(packet)
    }

    async fn note(&mut self, packet: Packet) -> Result<(), PeerFault> {
        let Packet::Publish(publish) = packet else { return Ok(()) };
        if self.heard.len() < MAX_HEARD {
            self.heard.push_back(TopicMessage { topic: publish.topic, payload: publish.payload });
        }
        if publish.qos != QoS::AtMostOnce {
            self.send(Packet::PubAck(PubAck::new(publish.pkid))).await?;
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Packet, PeerFault> {
        arrived(self.wire.next().await)
    }

    async fn send(&mut self, packet: Packet) -> Result<(), PeerFault> {
        self.wire.send(packet).await.map_err(broken)
    }

    fn fresh(&mut self) -> u16 {
        self.number = self.number.checked_add(1).unwrap_or(1);
        self.number
    }
}

fn arrived(packet: Option<Result<Packet, rumqttc::mqttbytes::Error>>) -> Result<Packet, PeerFault> {
    packet.ok_or_else(|| PeerFault::new("the MQTT broker closed the session"))?.map_err(broken)
}

fn broken(error: rumqttc::mqttbytes::Error) -> PeerFault {
    PeerFault::new("the session at the MQTT broker broke").saying(error.to_string())
}
