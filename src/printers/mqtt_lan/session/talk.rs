//! Serves one connection to a broker until it closes: sends commands, receives reports and applies them.

use std::io::ErrorKind;
use std::time::Duration;

use bytes::BytesMut;
use futures::{SinkExt, StreamExt};
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::{
    Codec, Connect, ConnectReturnCode, Packet, PubAck, Publish, Subscribe, SubscribeReasonCode,
};
use serde_json::{Map, Value};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::codec::Framed;
use tokio_util::sync::CancellationToken;

use super::{CommandReply, MAX_WAITING, Outgoing, SessionParts, SessionSettings};
use crate::adapter::{PrinterError, Telemetry};
use crate::adapter_parts::Settings;
use crate::mqtt_lan::command::MqttCommand;
use crate::mqtt_lan::merge::TooLarge;
use crate::mqtt_lan::{USER, tls, words};
use crate::network;
use domain::printer_status::Status;
use domain::time::Timestamp;
use platform::http::lan_connect;

/// Maximum size of a message in bytes. A full report is indented JSON of about 32 KB.
const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// Maximum size of an outgoing message in bytes.
const MAX_SENT_BYTES: usize = 64 * 1024;
/// Read buffer size of an idle connection, in bytes: room for everything but full reports.
const READ_BYTES: usize = 2 * 1024;
/// Time for which the broker keeps a silent connection open. Pings are sent more often.
const KEEP_ALIVE_SECONDS: u16 = 30;
/// Maximum time between pings.
const MAX_QUIET_TIME: Duration = Duration::from_secs(5);
/// Number of unanswered pings after which the connection is considered dead.
const MAX_UNANSWERED_PINGS: u32 = 3;
/// Time without a report after which the connection is reopened, because the broker may still respond even though the
/// printer no longer reports to it.
const MAX_REPORT_SILENCE: Duration = Duration::from_mins(5);
/// Limits on a message's nesting depth and number of values.
const BOUNDS: bounded_json::Bounds = bounded_json::Bounds { depth: 32, values: 20_000 };

type MqttStream = Framed<TlsStream<TcpStream>, Codec>;

/// Serves one connection. Returns whether it was open, and the reason why it closed.
pub(super) async fn talk(
    link: &SessionSettings,
    shared: &SessionParts,
    end: &CancellationToken,
) -> (bool, PrinterError) {
    let Settings { connect_timeout, request_timeout, offline_after, .. } = link.settings;
    let opening = async {
        let wire = timeout(connect_timeout, dial(link)).await.map_err(|_| PrinterError::Timeout)??;
        timeout(request_timeout, greet(link, wire)).await.map_err(|_| PrinterError::Timeout)?
    };
    let ended = PrinterError::Unreachable("disconnected".to_owned());
    let opened = tokio::select! {
        biased; // one that is open needs a farewell
        opened = opening => opened,
        () = end.cancelled() => Err(ended.clone()),
    };
    let mut wire = match opened {
        Ok(wire) => wire,
        Err(error) => return (false, error),
    };
    let (outbox, mut commands) = mpsc::channel(MAX_WAITING);
    let now = Instant::now();
    shared.with(|state| {
        state.track.begin();
        (state.outbox, state.closed, state.spoke) = (Some(outbox), None, None);
    });
    shared.inbox.note_contact();
    shared.moved.send_replace(());
    let quiet = MAX_QUIET_TIME.min(offline_after / MAX_UNANSWERED_PINGS);
    let why = tokio::select! {
        biased; // a reason of its own says more
        why = serve(link, shared, &mut wire, &mut commands, (now, quiet)) => why,
        () = end.cancelled() => ended,
    };
    // A farewell frees our place at once; printers have few.
    let _ = timeout(Duration::from_millis(500), wire.send(Packet::Disconnect)).await;
    (true, why)
}

async fn serve(
    link: &SessionSettings,
    shared: &SessionParts,
    wire: &mut MqttStream,
    commands: &mut mpsc::Receiver<Outgoing>,
    (opened, quiet): (Instant, Duration),
) -> PrinterError {
    let (mut reported, mut pings, mut numbers) = (opened, 0, 1u16);
    let mut ping = opened + quiet;
    for first in [MqttCommand::versions(), MqttCommand::everything()] {
        let publish = published(link, Outgoing { bytes: first.with_number("0"), acknowledged: false }, &mut numbers);
        if let Err(error) = send(link, wire, publish).await {
            return error;
        }
    }
    loop {
        let due = shared.with(|state| state.track.due());
        let sent = tokio::select! {
            biased; // what the printer says comes first: it may settle what waits
            packet = wire.next() => match packet {
                Some(Ok(packet)) => {
                    pings = 0;
                    shared.inbox.note_contact();
                    match packet {
                        Packet::Publish(publish) => {
                            release_buffer(wire, publish.payload.len());
                            if publish.topic == format!("device/{}/report", link.serial) {
                                reported = Instant::now();
                                if hear(shared, &publish.payload, reported).is_err() {
                                    return PrinterError::BadAnswer("the report is too large".to_owned());
                                }
                            }
                            match publish.qos {
                                QoS::AtMostOnce => Ok(()),
                                _ => send(link, wire, Packet::PubAck(PubAck::new(publish.pkid))).await,
                            }
                        }
                        Packet::Disconnect => return PrinterError::Lost("the printer closed the connection".to_owned()),
                        _ => Ok(()),
                    }
                }
                Some(Err(error)) => return network::lost(&error),
                None => return PrinterError::Lost("the printer closed the connection".to_owned()),
            },
            command = commands.recv() => match command {
                Some(command) => {
                    let publish = published(link, command, &mut numbers);
                    send(link, wire, publish).await
                }
                None => return PrinterError::Unreachable("disconnected".to_owned()),
            },
            () = sleep_until(ping) => {
                ping += quiet;
                pings += 1;
                if pings > MAX_UNANSWERED_PINGS {
                    return PrinterError::Timeout;
                }
                send(link, wire, Packet::PingReq).await
            }
            () = sleep_until(reported + MAX_REPORT_SILENCE) => {
                return PrinterError::Lost("no report for five minutes".to_owned());
            }
            () = sleep_until(due.unwrap_or(reported + MAX_REPORT_SILENCE)), if due.is_some() => {
                shared.with(|state| state.track.hear(Map::new(), Instant::now())).unwrap_or_default();
                tell(shared);
                Ok(())
            }
        };
        if let Err(error) = sent {
            return error;
        }
    }
}

/// Releases the read buffer that a message made grow, unless it contains the beginning of the next message.
fn release_buffer(wire: &mut MqttStream, message_bytes: usize) {
    if message_bytes > READ_BYTES && wire.read_buffer().is_empty() {
        *wire.read_buffer_mut() = BytesMut::with_capacity(READ_BYTES);
    }
}

async fn dial(link: &SessionSettings) -> Result<TlsStream<TcpStream>, PrinterError> {
    let unreachable = |error: std::io::Error| {
        tls::refusal(&error).map_or_else(|| network::unreachable(&error), PrinterError::Unreachable)
    };
    let tcp = lan_connect(link.address.host(), link.address.mqtt).await.map_err(unreachable)?;
    let connector = TlsConnector::from(link.tls.mqtt.clone());
    connector.connect(link.tls.name.clone(), tcp).await.map_err(|error| {
        // No printer's certificate was shown at all: it is another program.
        let strange = error.kind() == ErrorKind::InvalidData && tls::refusal(&error).is_none();
        if strange { link.strange() } else { unreachable(error) }
    })
}

/// Signs in to the broker and subscribes to the printer's reports.
async fn greet(link: &SessionSettings, stream: TlsStream<TcpStream>) -> Result<MqttStream, PrinterError> {
    let broken = |error: rumqttc::mqttbytes::Error| network::unreachable(&error);
    let mut wire =
        Framed::new(stream, Codec { max_incoming_size: MAX_MESSAGE_BYTES, max_outgoing_size: MAX_SENT_BYTES });
    *wire.read_buffer_mut() = BytesMut::with_capacity(READ_BYTES);
    *wire.write_buffer_mut() = BytesMut::new();
    let mut connect = Connect::new(link.client_id.clone());
    connect.keep_alive = KEEP_ALIVE_SECONDS;
    connect.set_login(USER, link.code.clone());
    wire.send(Packet::Connect(connect)).await.map_err(broken)?;
    match wire.next().await.transpose().map_err(broken)? {
        Some(Packet::ConnAck(answer)) => match answer.code {
            ConnectReturnCode::Success => {}
            ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized => {
                return Err(PrinterError::WrongKey(words::CODE_HINT.to_owned()));
            }
            ConnectReturnCode::ServiceUnavailable => {
                return Err(PrinterError::Unreachable(
                    "it accepts no more connections; close other programs that are connected to it".to_owned(),
                ));
            }
            code => return Err(PrinterError::Unreachable(format!("it rejects the connection: {code:?}"))),
        },
        Some(_) => return Err(PrinterError::BadAnswer("no response to the connection".to_owned())),
        None => return Err(PrinterError::Unreachable("the printer closed the connection".to_owned())),
    }
    let mut subscribe = Subscribe::new(format!("device/{}/report", link.serial), QoS::AtMostOnce);
    subscribe.pkid = 1;
    wire.send(Packet::Subscribe(subscribe)).await.map_err(broken)?;
    loop {
        match wire.next().await.transpose().map_err(broken)? {
            Some(Packet::SubAck(answer)) => {
                if answer.return_codes.contains(&SubscribeReasonCode::Failure) {
                    return Err(PrinterError::Unreachable("it rejects the subscription to its reports".to_owned()));
                }
                return Ok(wire);
            }
            // Reports may come before the answer; a full one is asked for.
            Some(_) => {}
            None => return Err(PrinterError::Unreachable("the printer closed the connection".to_owned())),
        }
    }
}

fn published(link: &SessionSettings, out: Outgoing, numbers: &mut u16) -> Packet {
    let qos = if out.acknowledged { QoS::AtLeastOnce } else { QoS::AtMostOnce };
    let mut publish = Publish::new(format!("device/{}/request", link.serial), qos, out.bytes);
    if out.acknowledged {
        *numbers = numbers.checked_add(1).unwrap_or(2);
        publish.pkid = *numbers;
    }
    Packet::Publish(publish)
}

async fn send(link: &SessionSettings, wire: &mut MqttStream, packet: Packet) -> Result<(), PrinterError> {
    match timeout(link.settings.offline_after, wire.send(packet)).await {
        Ok(sent) => sent.map_err(|error| network::lost(&error)),
        Err(_) => Err(PrinterError::Timeout),
    }
}

/// Handles a message from the printer: a report, or the reply to a command.
fn hear(shared: &SessionParts, payload: &[u8], now: Instant) -> Result<(), TooLarge> {
    let Ok(Value::Object(mut message)) = bounded_json::read(payload, BOUNDS) else { return Ok(()) };
    shared.with(|state| state.spoke = Some(now));
    let fun = message.remove("fun");
    for (group, content) in message {
        let Value::Object(mut content) = content else { continue };
        let command = content.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
        if group == "print" && (command == "push_status" || command.is_empty()) {
            if let Some(fun) = &fun {
                content.insert("fun".to_owned(), fun.clone());
            }
            let outcome = shared.with(|state| {
                let full = state.track.full;
                (state.track.hear(content, now), state.track.full && !full)
            });
            outcome.0?;
            if outcome.1 {
                shared.inbox.opened();
                shared.moved.send_replace(());
            }
        } else {
            reply(shared, &group, &content);
        }
    }
    tell(shared);
    Ok(())
}

/// Delivers a reply to the caller waiting for it. Also records if the reply shows that the printer rejects all
/// commands.
fn reply(shared: &SessionParts, group: &str, content: &Map<String, Value>) {
    let text = |name: &str| content.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = match content.get("sequence_id") {
        Some(Value::Number(number)) => number.to_string(),
        _ => text("sequence_id").to_owned(),
    };
    let failed = text("result").to_ascii_lowercase().starts_with("fail");
    let reason = if text("reason").is_empty() { "no reason given" } else { text("reason") };
    let reason: String = reason.chars().take(300).collect();
    shared.with(|state| {
        let commands = !matches!(group, "info" | "pushing") && state.waiting.contains_key(&number);
        if failed && words::is_unverified(&reason) {
            state.track.refuses = true;
        } else if commands && !failed {
            state.track.refuses = false;
        }
        if group == "info" && content.contains_key("module") {
            state.versions = Some(Value::Object(content.clone()));
        }
        if let Some(waits) = state.waiting.remove(&number) {
            let _ = waits.send(CommandReply { failed, reason });
        }
    });
}

/// Wakes the watch loop if a relevant change has occurred, and collects the other changes as telemetry.
fn tell(shared: &SessionParts) {
    let (news, status) = shared.with(|state| {
        if !state.track.full {
            return (false, None);
        }
        let now = (state.track.status(Timestamp::default()), state.track.trouble());
        let news = matter(&now) != matter(&state.last_status);
        if news {
            state.last_status = now.clone();
        }
        (news, Some(now.0))
    });
    if news {
        shared.inbox.wake();
    } else if let Some(status) = status {
        shared.inbox.collect(Telemetry {
            progress: Some(status.progress),
            remaining_seconds: status.remaining_seconds,
            layer: status.layer,
            filament_mm: None,
            nozzle: Some(status.nozzle),
            bed: Some(status.bed),
            heaters: status.heaters,
        });
    }
}

/// Extracts the parts of a status whose change makes a poll worthwhile.
fn matter((status, trouble): &(Status, Option<String>)) -> impl PartialEq + '_ {
    (status.state, status.connection, &status.file, status.ended, status.runs, &status.slots, trouble)
}
