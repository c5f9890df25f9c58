//! Simulated MQTT broker like that of a smart home: it retains messages, supports wildcards, and publishes the last
//! will of a session whose connection breaks.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::bambu::codec::{self, Packet};

/// Return code that accepts a CONNECT.
const WELCOME: u8 = 0;
const WRONG_PASSWORD: u8 = 4;

#[derive(Default)]
struct BrokerState {
    login: Option<(String, String)>,
    deaf: bool,
    retained: BTreeMap<String, Bytes>,
    sessions: BTreeMap<u64, SubscriberSession>,
    opened: u64,
}

struct SubscriberSession {
    filters: Vec<String>,
    out: mpsc::UnboundedSender<Bytes>,
    cut: AbortHandle,
}

type SharedBroker = Arc<Mutex<BrokerState>>;

fn with<T>(shared: &SharedBroker, act: impl FnOnce(&mut BrokerState) -> T) -> T {
    act(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Running simulated broker; stops when dropped.
pub struct MqttBroker {
    shared: SharedBroker,
    port: u16,
    accepting: AbortHandle,
}

impl MqttBroker {
    /// Starts the broker on a free loopback port; requires the login if one is given.
    pub async fn start(login: Option<(&str, &str)>) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let login = login.map(|(user, password)| (user.to_owned(), password.to_owned()));
        let shared: SharedBroker = Arc::new(Mutex::new(BrokerState { login, ..BrokerState::default() }));
        let accepting = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        Ok(Self { shared, port, accepting })
    }

    /// Returns the broker's URL.
    pub fn url(&self) -> String {
        format!("mqtt://{}", SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)))
    }

    /// Returns the retained messages, by topic.
    pub fn retained(&self) -> BTreeMap<String, Bytes> {
        with(&self.shared, |inside| inside.retained.clone())
    }

    /// Returns the number of sessions that have been opened so far.
    pub fn opened(&self) -> u64 {
        with(&self.shared, |inside| inside.opened)
    }

    /// Publishes a message, as another client would.
    pub fn publish(&self, topic: &str, payload: &[u8], retain: bool) {
        with(&self.shared, |inside| inside.take(topic, &Bytes::copy_from_slice(payload), retain));
    }

    /// Drops all retained messages, like a broker without persistence, and closes all sessions.
    pub fn restart(&self) {
        with(&self.shared, |inside| {
            for session in std::mem::take(&mut inside.sessions).into_values() {
                session.cut.abort();
            }
            inside.retained.clear();
        });
    }

    /// Sets whether the broker accepts messages without ever responding.
    pub fn set_deaf(&self, deaf: bool) {
        with(&self.shared, |inside| inside.deaf = deaf);
    }
}

impl Drop for MqttBroker {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl BrokerState {
    fn take(&mut self, topic: &str, payload: &Bytes, retain: bool) {
        if retain && payload.is_empty() {
            self.retained.remove(topic);
        } else if retain {
            self.retained.insert(topic.to_owned(), payload.clone());
        }
        for session in self.sessions.values() {
            if session.filters.iter().any(|filter| fits(filter, topic)) {
                // One that is ending hears nothing.
                let _ = session.out.send(codec::publish(topic, payload));
            }
        }
    }

    /// Adds topic filters to a session, and sends it the retained messages that match them.
    fn subscribe(&mut self, number: u64, topics: Vec<String>) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        for (topic, payload) in &self.retained {
            if topics.iter().any(|filter| fits(filter, topic)) {
                let _ = session.out.send(codec::publish(topic, payload));
            }
        }
        session.filters.extend(topics);
    }
}

fn fits(filter: &str, topic: &str) -> bool {
    let (mut filter_levels, mut topic_levels) = (filter.split('/'), topic.split('/'));
    loop {
        match (filter_levels.next(), topic_levels.next()) {
            (Some("#"), _) | (None, None) => return true,
            (Some("+"), Some(_)) => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

async fn accept(listener: TcpListener, shared: SharedBroker) {
    let mut sessions = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (shared, (tell, receiver)) = (shared.clone(), tokio::sync::oneshot::channel());
        let serving = sessions.spawn(async move {
            let Ok(cut) = receiver.await else { return };
            serve(stream, shared, cut).await;
        });
        let _ = tell.send(serving);
    }
}

async fn serve(stream: TcpStream, shared: SharedBroker, cut: AbortHandle) {
    let (mut reader, mut writer) = stream.into_split();
    let mut arrived = BytesMut::new();
    let Some(Packet::Connect(connect)) = next(&mut reader, &mut arrived).await else { return };
    let welcome = with(&shared, |inside| match &inside.login {
        Some((user, password)) => (&connect.user, &connect.password) == (user, password),
        None => true,
    });
    let code = if welcome { WELCOME } else { WRONG_PASSWORD };
    if writer.write_all(&codec::connected(code)).await.is_err() || !welcome {
        return;
    }
    let (out, mut outgoing) = mpsc::unbounded_channel();
    let number = with(&shared, |inside| {
        inside.opened += 1;
        let number = inside.opened;
        inside.sessions.insert(number, SubscriberSession { filters: Vec::new(), out: out.clone(), cut });
        number
    });
    let writing = async {
        while let Some(packet) = outgoing.recv().await {
            if writer.write_all(&packet).await.is_err() {
                return;
            }
        }
    };
    let reading = async {
        while let Some(packet) = next(&mut reader, &mut arrived).await {
            if with(&shared, |inside| inside.deaf) {
                continue;
            }
            let answer = match packet {
                Packet::Publish { topic, payload, number, retain } => {
                    with(&shared, |inside| inside.take(&topic, &payload, retain));
                    number.map(codec::published)
                }
                Packet::Subscribe { number: id, topics } => {
                    let _ = out.send(codec::subscribed(id, topics.len()));
                    with(&shared, |inside| inside.subscribe(number, topics));
                    None
                }
                Packet::Unsubscribe { number, .. } => Some(codec::unsubscribed(number)),
                Packet::Ping => Some(codec::pong()),
                Packet::Acknowledged => None,
                Packet::Connect(_) => return false,
                Packet::Disconnect => return true,
            };
            if let Some(answer) = answer {
                let _ = out.send(answer);
            }
        }
        false
    };
    let farewell = tokio::select! {
        biased; // a farewell counts, even where nothing more can be sent
        farewell = reading => farewell,
        () = writing => false,
    };
    with(&shared, |inside| {
        inside.sessions.remove(&number);
        if let Some((topic, payload, retain)) = connect.will.filter(|_| !farewell) {
            inside.take(&topic, &payload, retain);
        }
    });
}

async fn next(reader: &mut (impl tokio::io::AsyncRead + Unpin), arrived: &mut BytesMut) -> Option<Packet> {
    loop {
        if let Some(packet) = codec::take(arrived).ok()? {
            return Some(packet);
        }
        if reader.read_buf(arrived).await.ok()? == 0 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_fit_as_the_protocol_says() {
        for (filter, topic, does) in [
            ("a/+/c", "a/b/c", true),
            ("a/+/c", "a/b/d", false),
            ("a/#", "a/b/c", true),
            ("a/+", "a/b/c", false),
            ("a", "a", true),
            ("#", "x/y", true),
        ] {
            assert_eq!(fits(filter, topic), does, "{filter} {topic}");
        }
    }
}
