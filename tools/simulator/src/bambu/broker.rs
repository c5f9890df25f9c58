//! Client session with the printer's broker.
//!
//! There are two topics. Messages published to the request topic are commands. Subscribers to the report topic receive
//! the responses to all commands and, after their first `pushall`, the reports. Other topics exist but remain silent.

use std::{io, sync::atomic::Ordering, time::Duration};

use bytes::{Bytes, BytesMut};
use serde::Serialize as _;
use serde_json::{Value, json, ser::PrettyFormatter};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf},
    sync::broadcast::error::RecvError,
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::{
    Bambu, BambuHost,
    codec::{self, ConnectPacket, Packet},
    commands, report,
};
use crate::wire::GatedStream;

/// Interval between reports while something is changing.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Maximum time to wait for a client's CONNECT packet.
const GREETING: Duration = Duration::from_secs(10);
/// Buffer capacity for each read, in bytes.
const READ_BYTES: usize = 4096;
/// Return code that accepts a CONNECT.
const WELCOME: u8 = 0;
const UNKNOWN_VERSION: u8 = 1;
const FULL: u8 = 3;

/// Guard that counts a connected client until dropped.
struct ClientGuard(Bambu);

impl ClientGuard {
    /// Counts a client; `None` if the printer already has the maximum number of clients.
    fn new(bambu: &Bambu) -> Option<Self> {
        let most = bambu.setup().max_clients.unwrap_or(usize::MAX);
        let counted = Self(bambu.clone());
        let before = bambu.0.clients.fetch_add(1, Ordering::SeqCst);
        (before < most).then_some(counted)
    }
}

impl Drop for ClientGuard {
    fn drop(&mut self) {
        self.0.0.clients.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves one client connection until it ends.
pub(super) async fn session(host: BambuHost, stream: GatedStream) -> io::Result<()> {
    if !host.printer.with(|machine| machine.reachable()) {
        stream.reset().await;
        return Ok(());
    }
    if host.printer.faults().hang {
        return hang(&host).await;
    }
    let gate = stream.gate();
    let tls = timeout(GREETING, TlsAcceptor::from(host.identity().broker()).accept(stream)).await??;
    let (reader, writer) = tokio::io::split(tls);
    let mut session = BrokerSession {
        arrived: BytesMut::new(),
        reader,
        writer,
        host: host.clone(),
        listens: false,
        last: None,
        numbered: 0,
        covered: 0,
        keep_alive: None,
    };
    let done = session.run().await;
    if !host.printer.with(|machine| machine.reachable()) {
        gate.cut();
    }
    done
}

/// Waits, without reading or responding, until the printer no longer hangs. Pending data is stale by then, so the
/// connection is closed.
async fn hang(host: &BambuHost) -> io::Result<()> {
    host.printer.until(|machine| !machine.faults().hang).await;
    Err(io::ErrorKind::ConnectionReset.into())
}

struct BrokerSession {
    host: BambuHost,
    reader: ReadHalf<TlsStream<GatedStream>>,
    writer: WriteHalf<TlsStream<GatedStream>>,
    arrived: BytesMut,
    /// `true` after a subscription to the report topic.
    listens: bool,
    /// Last report sent to the client; `None` until the client requests a full report.
    last: Option<Value>,
    /// Number of reports sent to the client.
    numbered: u64,
    /// Number of entries in the machine's log that the reports have covered.
    covered: usize,
    keep_alive: Option<Duration>,
}

impl BrokerSession {
    async fn run(&mut self) -> io::Result<()> {
        let Some(Packet::Connect(connect)) = timeout(GREETING, self.next()).await?? else { return Ok(()) };
        let host = self.host.clone();
        let counted = ClientGuard::new(&host.bambu);
        let code = self.greet(&connect, counted.is_some());
        self.send(codec::connected(code)).await?;
        if code != WELCOME {
            return self.writer.shutdown().await;
        }
        let mut answers = host.bambu.0.answers.subscribe();
        let mut revised = host.printer.revisions();
        let mut changed = host.bambu.0.changed.subscribe();
        let mut tick = interval(REPORT_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_heard = Instant::now();
        loop {
            let silent = self.keep_alive.map(|every| last_heard + every * 3 / 2);
            tokio::select! {
                biased; // what is asked comes before what is told, and silence is judged last
                packet = self.next() => {
                    last_heard = Instant::now();
                    let Some(packet) = packet? else { return Ok(()) };
                    if matches!(packet, Packet::Publish { .. }) {
                        host.printer.count_request();
                    }
                    if host.printer.faults().hang {
                        return hang(&host).await;
                    }
                    if !self.take(packet).await? {
                        return Ok(());
                    }
                    continue;
                }
                answer = answers.recv() => {
                    match answer {
                        Ok(answer) if self.listens && !host.bambu.setup().deaf => self.publish(&answer).await?,
                        Ok(_) | Err(RecvError::Lagged(_)) => {}
                        Err(RecvError::Closed) => return Ok(()),
                    }
                    continue;
                }
                _ = tick.tick() => {}
                _ = revised.changed() => {}
                _ = changed.changed() => {}
                () = until(silent) => return Err(io::ErrorKind::TimedOut.into()),
            }
            let faults = host.printer.faults();
            if faults.hang {
                return hang(&host).await;
            }
            if faults.wrong_key {
                // Whoever changes the code ends all sessions.
                return self.writer.shutdown().await;
            }
            self.report().await?;
        }
    }

    /// Returns the return code for a CONNECT.
    fn greet(&mut self, connect: &ConnectPacket, has_place: bool) -> u8 {
        self.keep_alive = (connect.keep_alive > 0).then(|| Duration::from_secs(connect.keep_alive.into()));
        if !connect.known_version {
            UNKNOWN_VERSION
        } else if !self.host.is_welcome(&connect.user, &connect.password) {
            self.host.bambu.setup().refusal
        } else if has_place {
            WELCOME
        } else {
            FULL
        }
    }

    /// Returns the next packet; `None` if the client has closed the connection. The future is cancel-safe.
    async fn next(&mut self) -> io::Result<Option<Packet>> {
        loop {
            if let Some(packet) = codec::take(&mut self.arrived).map_err(io::Error::other)? {
                return Ok(Some(packet));
            }
            self.arrived.reserve(READ_BYTES);
            if self.reader.read_buf(&mut self.arrived).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Handles a packet; returns `false` if it ends the session.
    async fn take(&mut self, packet: Packet) -> io::Result<bool> {
        let bambu = self.host.bambu.clone();
        match packet {
            Packet::Publish { topic, payload, number, .. } => {
                if let Some(number) = number {
                    self.send(codec::published(number)).await?;
                }
                if topic == bambu.request_topic() && !bambu.setup().deaf {
                    self.command(&payload).await?;
                }
            }
            Packet::Subscribe { number, topics } => {
                self.listens |= topics.contains(&bambu.report_topic());
                self.send(codec::subscribed(number, topics.len())).await?;
            }
            Packet::Unsubscribe { number, topics } => {
                if topics.contains(&bambu.report_topic()) {
                    (self.listens, self.last) = (false, None);
                }
                self.send(codec::unsubscribed(number)).await?;
            }
            Packet::Ping => self.send(codec::pong()).await?,
            Packet::Acknowledged => {}
            // A second greeting is an error.
            Packet::Connect(_) | Packet::Disconnect => return Ok(false),
        }
        Ok(true)
    }

    /// Executes the command in a message.
    async fn command(&mut self, payload: &Bytes) -> io::Result<()> {
        let Ok(Value::Object(groups)) = bounded_json::read(payload, bounded_json::REQUEST) else {
            // Printers say nothing to what they cannot read.
            return Ok(());
        };
        for (group, request) in &groups {
            if group == "pushing" {
                self.last = None;
                self.listens = true;
                self.send_report(true).await?;
            } else if let Some(answer) = commands::carry_out(&self.host, group, request).await {
                // Nobody may be listening.
                let _ = self.host.bambu.0.answers.send(answer);
                self.host.bambu.tell();
            }
        }
        Ok(())
    }

    /// Reports changes since the last report, provided that the client has already requested a full report.
    async fn report(&mut self) -> io::Result<()> {
        if self.listens && self.host.bambu.setup().says.is_some() {
            return self.publish(&Value::Null).await;
        }
        if self.listens && self.last.is_some() && !self.host.bambu.setup().deaf {
            self.send_report(false).await?;
        }
        Ok(())
    }

    async fn send_report(&mut self, everything: bool) -> io::Result<()> {
        let covered = self.covered;
        let (now, length, passed, model) = self.host.bambu.panel(|panel| {
            self.host.printer.with(|machine| {
                let now = report::print(panel, machine);
                let passed = !panel.setup.skips_running && report::has_passed_a_print(machine, covered, &now);
                (now, machine.log().len(), passed, panel.setup.model)
            })
        });
        self.covered = length;
        let only_changes = model.sends_changes() && !everything;
        if passed && !everything {
            // A print that was over between two reports is told of nevertheless.
            let mut running = now.clone();
            running["gcode_state"] = "RUNNING".into();
            running["print_error"] = 0.into();
            self.send_changes(running, only_changes).await?;
        }
        if everything {
            self.last = None;
        }
        self.send_changes(now, only_changes).await
    }

    /// Sends a report if it differs from the last one.
    async fn send_changes(&mut self, now: Value, only_changes: bool) -> io::Result<()> {
        let changed = match &self.last {
            Some(last) => report::changes(last, &now),
            None => Some(now.clone()),
        };
        let Some(changed) = changed else { return Ok(()) };
        let mut print = if only_changes { changed } else { now.clone() };
        self.numbered += 1;
        if let Value::Object(members) = &mut print {
            members.insert("command".to_owned(), "push_status".into());
            members.insert("msg".to_owned(), u8::from(only_changes).into());
            members.insert("sequence_id".to_owned(), self.numbered.to_string().into());
        }
        self.last = Some(now);
        self.publish(&json!({"print": print})).await
    }

    /// Publishes a message in the printers' format, with line breaks and an indentation of four spaces.
    async fn publish(&mut self, message: &Value) -> io::Result<()> {
        let topic = self.host.bambu.report_topic();
        if let Some(says) = self.host.bambu.setup().says {
            self.host.bambu.0.reports_sent.fetch_add(1, Ordering::SeqCst);
            return self.send(codec::publish(&topic, says.as_bytes())).await;
        }
        let mut text = Vec::new();
        let formatter = PrettyFormatter::with_indent(b"    ");
        message.serialize(&mut serde_json::Serializer::with_formatter(&mut text, formatter))?;
        self.send(codec::publish(&topic, &text)).await
    }

    async fn send(&mut self, packet: Bytes) -> io::Result<()> {
        self.writer.write_all(&packet).await?;
        self.writer.flush().await
    }
}

/// Waits until the given time; `None` waits forever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
