//! Networks between the server and the systems that it uses, which can be cut and stalled: TCP proxies on loopback
//! ports.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::error::ChaosError;

/// Maximum number of bytes that are forwarded at a time.
const CHUNK_BYTES: usize = 16 * 1024;
/// Pause after a failed attempt to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// State of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkState {
    /// Forwards everything.
    Whole,
    /// Closes all connections and accepts no new ones.
    Cut,
    /// Keeps connections open but forwards nothing; what was sent arrives when the network works again.
    Stalled,
}

/// Network to one system.
#[derive(Debug)]
pub struct ProxiedNetwork {
    /// Name of the system in the story.
    pub name: String,
    /// Ports that replace those of the system, in the same order.
    pub ports: Vec<u16>,
    state: watch::Sender<NetworkState>,
    /// Time since which the network has worked; `None` while it does not.
    whole_since: Mutex<Option<Instant>>,
    /// Listeners, which stop when this value is dropped.
    _tasks: JoinSet<()>,
}

impl ProxiedNetwork {
    /// Listens on its own port for each port of the system, and forwards connections to the system.
    pub async fn to(name: impl Into<String>, ports: &[u16]) -> Result<Self, ChaosError> {
        let name = name.into();
        let state = watch::Sender::new(NetworkState::Whole);
        let (mut own_ports, mut tasks) = (Vec::new(), JoinSet::new());
        for port in ports {
            let failed = || ChaosError::io(format!("the network to {name} cannot be made"));
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed())?;
            own_ports.push(listener.local_addr().map_err(failed())?.port());
            tasks.spawn(accept(listener, SocketAddr::from((Ipv4Addr::LOCALHOST, *port)), state.subscribe()));
        }
        let whole_since = Mutex::new(Some(Instant::now()));
        Ok(Self { name, ports: own_ports, state, whole_since, _tasks: tasks })
    }

    /// Changes the state.
    pub fn set(&self, state: NetworkState) {
        *self.lock() = (state == NetworkState::Whole).then(Instant::now);
        self.state.send_replace(state);
    }

    /// Returns for how long the network has worked; zero while it does not.
    pub fn whole_for(&self) -> Duration {
        self.lock().map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.whole_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts connections and forwards each.
async fn accept(listener: TcpListener, system: SocketAddr, state: watch::Receiver<NetworkState>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((client, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        connections.spawn(connect(client, system, state.clone()));
    }
}

async fn connect(client: TcpStream, system: SocketAddr, mut state: watch::Receiver<NetworkState>) {
    if !flows(&mut state).await || *state.borrow() == NetworkState::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(system).await else { return };
    // Small pieces leave without delay, as they came.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let both = async {
        tokio::join!(
            pass_on(&mut from_client, &mut to_server, state.clone()),
            pass_on(&mut from_server, &mut to_client, state.clone()),
        )
    };
    tokio::select! {
        biased; // a cut comes before what is still on the way
        () = until_cut(state.clone()) => {}
        ((), ()) = both => {}
    }
}

/// Waits while the network is stalled. Returns `false` if the network no longer exists.
async fn flows(state: &mut watch::Receiver<NetworkState>) -> bool {
    state.wait_for(|state| *state != NetworkState::Stalled).await.is_ok()
}

async fn until_cut(mut state: watch::Receiver<NetworkState>) {
    let _ = state.wait_for(|state| *state == NetworkState::Cut).await;
}

/// Forwards everything in one direction, including the end of the stream.
async fn pass_on(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, mut state: watch::Receiver<NetworkState>) {
    let mut bytes = vec![0; CHUNK_BYTES];
    loop {
        let read = from.read(&mut bytes).await;
        if !flows(&mut state).await {
            return;
        }
        let Ok(count @ 1..) = read else { break };
        if to.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use tokio::time::timeout;

    use super::*;

    /// Timeout that suffices for anything that happens at all.
    const LONG: Duration = Duration::from_secs(60);
    /// Time after which something that has not arrived will not arrive.
    const SHORT: Duration = Duration::from_millis(100);

    /// Starts a system that echoes everything; returns its port.
    async fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.into_split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        port
    }

    async fn dial(network: &ProxiedNetwork) -> TcpStream {
        TcpStream::connect((Ipv4Addr::LOCALHOST, network.ports[0])).await.unwrap()
    }

    async fn says(stream: &mut TcpStream, word: &[u8; 4]) {
        stream.write_all(word).await.unwrap();
        let mut echo = [0; 4];
        timeout(LONG, stream.read_exact(&mut echo)).await.unwrap().unwrap();
        assert_eq!(&echo, word);
    }

    #[tokio::test]
    async fn what_is_sent_while_it_is_stalled_arrives_afterwards() {
        let network = ProxiedNetwork::to("an echo", &[echo().await]).await.unwrap();
        let mut stream = dial(&network).await;
        says(&mut stream, b"well").await;
        network.set(NetworkState::Stalled);
        assert_eq!(network.whole_for(), Duration::ZERO);
        stream.write_all(b"late").await.unwrap();
        let mut other = dial(&network).await;
        other.write_all(b"more").await.unwrap();
        let mut echo = [0; 4];
        assert!(timeout(SHORT, stream.read_exact(&mut echo)).await.is_err(), "nothing is carried");
        network.set(NetworkState::Whole);
        timeout(LONG, stream.read_exact(&mut echo)).await.unwrap().unwrap();
        assert_eq!(&echo, b"late");
        timeout(LONG, other.read_exact(&mut echo)).await.unwrap().unwrap();
        assert_eq!(&echo, b"more");
    }

    #[tokio::test]
    async fn a_cut_ends_connections_and_refuses_others_until_it_is_whole() {
        let network = ProxiedNetwork::to("an echo", &[echo().await]).await.unwrap();
        let mut stream = dial(&network).await;
        says(&mut stream, b"well").await;
        network.set(NetworkState::Cut);
        let mut rest = Vec::new();
        let end = timeout(LONG, stream.read_to_end(&mut rest)).await.unwrap();
        assert!(end.is_err() || rest.is_empty());
        let end = timeout(LONG, dial(&network).await.read_to_end(&mut rest)).await.unwrap();
        assert!(end.is_err() || rest.is_empty());
        network.set(NetworkState::Whole);
        says(&mut dial(&network).await, b"back").await;
    }
}
