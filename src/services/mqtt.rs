//! Session with the shop's MQTT broker: publications are acknowledged, and a last will is registered in case the
//! session breaks.
//!
//! Each session starts clean, without state from earlier sessions, so everything is published again in a new session.

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

use super::peer_client::{PeerSettingError, network_words};
use super::peer_fault::PeerFault;
use domain::peer_address::PeerAddress;
use platform::http::lan_connect;

/// Maximum size of a message in bytes, in either direction.
const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// Time without a packet, in seconds, after which the broker closes the session and publishes the last will; pings are
/// sent more often.
const KEEP_ALIVE_SECONDS: u16 = 30;
/// Interval between pings.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of received messages in the queue; further messages are dropped.
const MAX_HEARD: usize = 1024;

/// Address and credentials of a broker.
#[derive(Clone)]
pub struct Broker {
    address: PeerAddress,
    login: Option<(String, String)>,
    client_id: String,
}

impl Broker {
    /// Creates a broker for the given address (`mqtt://host:port`), without authentication if `user` is empty.
    pub fn new(url: &str, user: &str, password: &str) -> Result<Self, PeerSettingError> {
        let login = (!user.is_empty()).then(|| (user.to_owned(), password.to_owned()));
        Ok(Self { address: PeerAddress::broker(url)?, login, client_id: String::new() })
    }

    /// Sets the client ID, by which the broker distinguishes its clients.
    #[must_use]
    pub fn named(self, client_id: String) -> Self {
        Self { client_id, ..self }
    }
}

/// Message on a topic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopicMessage {
    /// Topic name, without wildcards.
    pub topic: String,
    /// Message content; empty content deletes the retained message.
    pub payload: Bytes,
}

impl TopicMessage {
    /// Creates a message for the given topic.
    pub fn new(topic: impl Into<String>, payload: impl Into<Bytes>) -> Self {
        Self { topic: topic.into(), payload: payload.into() }
    }
}

/// Open session with a broker.
pub struct MqttSession {
    wire: Framed<TcpStream, Codec>,
    number: u16,
    inbox: VecDeque<TopicMessage>,
}

impl MqttSession {
    /// Opens a session. If the session breaks, the broker publishes `last_word` as a retained message.
    pub async fn open(broker: &Broker, last_word: TopicMessage) -> Result<Self, PeerFault> {
        let away =
            |error: std::io::Error| PeerFault::new("the MQTT broker cannot be reached").saying(network_words(&error));
        let url = broker.address.url();
        let place = url.host().zip(url.port_or_known_default());
        let (host, port) = place.ok_or_else(|| PeerFault::new("the broker's address has no host"))?;
        let tcp = lan_connect(host, port).await.map_err(away)?;
        let codec = Codec { max_incoming_size: MAX_MESSAGE_BYTES, max_outgoing_size: MAX_MESSAGE_BYTES };
        let mut connect = Connect::new(broker.client_id.clone());
        connect.keep_alive = KEEP_ALIVE_SECONDS;
        let TopicMessage { topic, payload } = last_word;
        connect.last_will = Some(LastWill { topic, message: payload, qos: QoS::AtLeastOnce, retain: true });
        if let Some((user, password)) = &broker.login {
            connect.set_login(user.clone(), password.clone());
        }
        let mut session = Self { wire: Framed::new(tcp, codec), number: 0, inbox: VecDeque::new() };
        session.send(Packet::Connect(connect)).await?;
        match session.next().await? {
            Packet::ConnAck(answer) => match answer.code {
                ConnectReturnCode::Success => Ok(session),
                ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized => {
                    Err(PeerFault::new("the MQTT broker rejects the user name or password"))
                }
                code => Err(PeerFault::new("the MQTT broker rejects the session").saying(format!("{code:?}"))),
            },
            _ => Err(PeerFault::new("the service at this address is not an MQTT broker")),
        }
    }

    /// Subscribes to the given topics; retained messages arrive first.
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
                        return Err(PeerFault::new(
                            "the MQTT broker rejects the subscription to the smart home's messages",
                        ));
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    /// Publishes a retained message and waits until the broker acknowledges it.
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

    /// Returns the next received message, and sends pings while waiting for it. Safe to cancel.
    pub async fn hear(&mut self) -> Result<TopicMessage, PeerFault> {
        loop {
            if let Some(message) = self.inbox.pop_front() {
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

    /// Sends a ping, for a session with nothing to publish.
    pub async fn ping(&mut self) -> Result<(), PeerFault> {
        self.send(Packet::PingReq).await?;
        loop {
            if matches!(self.take_in().await?, Packet::PingResp) {
                return Ok(());
            }
        }
    }

    /// Disconnects cleanly, so that the last will is not published.
    pub async fn close(mut self) {
        let _ = self.send(Packet::Disconnect).await;
    }

    /// Reads the next packet; messages are queued for [`Self::hear`].
    async fn take_in(&mut self) -> Result<Packet, PeerFault> {
        let packet = self.next().await?;
        self.note(packet.clone()).await?;
        Ok(packet)
    }

    async fn note(&mut self, packet: Packet) -> Result<(), PeerFault> {
        let Packet::Publish(publish) = packet else { return Ok(()) };
        if self.inbox.len() < MAX_HEARD {
            self.inbox.push_back(TopicMessage { topic: publish.topic, payload: publish.payload });
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
    PeerFault::new("the session with the MQTT broker was interrupted").saying(network_words(&error))
}
