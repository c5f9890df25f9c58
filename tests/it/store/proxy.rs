//! Proxy between the server and PostgreSQL whose connections a test can cut.

use printfloor::platform::watch::WatchSender;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Behaviour of the proxied connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire {
    /// Passes everything on.
    Whole,
    /// Closes all connections and accepts no new ones.
    Cut,
    /// Keeps connections open but passes nothing on.
    Silent,
    /// Passes the next COMMIT on and closes the connection before its response; then works normally again.
    CutAfterCommit,
    /// Closes the connection instead of passing the next COMMIT on; then works normally again.
    CutBeforeCommit,
}

pub struct Proxy {
    pub port: u16,
    wire: WatchSender<Wire>,
}

impl Proxy {
    pub async fn to(server: (String, u16)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let wire = WatchSender::new(Wire::Whole);
        let shared = wire.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if *shared.borrow() == Wire::Cut {
                    continue;
                }
                let (server, wire) = (server.clone(), shared.clone());
                tokio::spawn(async move {
                    if let Ok(server) = TcpStream::connect(server).await {
                        carry(client, server, wire).await;
                    }
                });
            }
        });
        Self { port, wire }
    }

    pub fn is(&self, wire: Wire) {
        self.wire.send_replace(wire);
    }

    pub fn wire(&self) -> Wire {
        *self.wire.borrow()
    }
}

async fn carry(mut client: TcpStream, mut server: TcpStream, wire: WatchSender<Wire>) {
    let mut changes = wire.subscribe();
    let (mut from_client, mut from_server) = (vec![0; 65536], vec![0; 65536]);
    loop {
        let now = *changes.borrow_and_update();
        if now == Wire::Cut {
            return; // Also a connection that was being made when it was cut.
        }
        let silent = now == Wire::Silent;
        tokio::select! {
            biased; // what the test says comes before what is still on the wire
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            read = client.read(&mut from_client), if !silent => {
                let Ok(many @ 1..) = read else { return };
                let bytes = &from_client[..many];
                let commits = bytes.windows(6).any(|word| word == b"COMMIT");
                if commits && now == Wire::CutBeforeCommit {
                    wire.send_replace(Wire::Whole);
                    return;
                }
                if server.write_all(bytes).await.is_err() {
                    return;
                }
                if commits && now == Wire::CutAfterCommit {
                    let _ = server.read(&mut from_server).await; // it is on disk now
                    wire.send_replace(Wire::Whole);
                    return;
                }
            }
            read = server.read(&mut from_server), if !silent => {
                let Ok(many @ 1..) = read else { return };
                if client.write_all(&from_server[..many]).await.is_err() {
                    return;
                }
            }
        }
    }
}
