//! Codec for the MQTT 3.1.1 packets that a printer's broker needs.
//!
//! The quality of service is at most 1. A message with quality of service 2 is an error, as is anything else that the
//! printers do not support.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

/// Maximum size of an incoming packet in bytes.
const MAX_PACKET_BYTES: usize = 1 << 20;

/// Packet sent by a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    Connect(ConnectPacket),
    Publish {
        topic: String,
        payload: Bytes,
        /// Packet identifier to acknowledge, present with quality of service 1.
        number: Option<u16>,
        /// `true` if the broker must retain the message for later subscribers.
        retain: bool,
    },
    Subscribe {
        number: u16,
        topics: Vec<String>,
    },
    Unsubscribe {
        number: u16,
        topics: Vec<String>,
    },
    Acknowledged,
    Ping,
    Disconnect,
}

/// First packet that a client sends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectPacket {
    /// `true` if the client uses version 3.1.1.
    pub(crate) known_version: bool,
    pub(crate) client: String,
    pub(crate) user: String,
    pub(crate) password: String,
    /// Last will, published if the client's connection breaks: topic, message, and whether the message is retained.
    pub(crate) will: Option<(String, Bytes, bool)>,
    /// Seconds after which a silent client is disconnected; 0 means never.
    pub(crate) keep_alive: u16,
}

/// Bytes that are not a valid client packet.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsupported or invalid MQTT 3.1.1 packet")]
pub(crate) struct Malformed;

/// Removes the first packet from the received bytes; `None` if it is not complete yet.
pub(crate) fn take(arrived: &mut BytesMut) -> Result<Option<Packet>, Malformed> {
    let Some((length, header)) = remaining_length(arrived)? else { return Ok(None) };
    if arrived.len() < header + length {
        return Ok(None);
    }
    let first = arrived[0];
    arrived.advance(header);
    let mut body = arrived.split_to(length).freeze();
    let packet = match (first >> 4, first & 0xF) {
        (1, 0) => Packet::Connect(connect(&mut body)?),
        (3, flags) => {
            let topic = text(&mut body)?;
            let number = match flags >> 1 & 3 {
                0 => None,
                1 => Some(number(&mut body)?),
                _ => return Err(Malformed),
            };
            Packet::Publish { topic, payload: body, number, retain: flags & 1 != 0 }
        }
        (4, 0) => Packet::Acknowledged,
        (8, 2) => {
            let (number, mut topics) = (number(&mut body)?, Vec::new());
            while body.has_remaining() {
                topics.push(text(&mut body)?);
                body.try_get_u8().map_err(|_| Malformed)?;
            }
            Packet::Subscribe { number, topics }
        }
        (10, 2) => {
            let (number, mut topics) = (number(&mut body)?, Vec::new());
            while body.has_remaining() {
                topics.push(text(&mut body)?);
            }
            Packet::Unsubscribe { number, topics }
        }
        (12, 0) => Packet::Ping,
        (14, 0) => Packet::Disconnect,
        _ => return Err(Malformed),
    };
    Ok(Some(packet))
}

/// Returns the length of the packet after the header, and the length of the header; `None` if the header is not
/// complete yet.
fn remaining_length(arrived: &[u8]) -> Result<Option<(usize, usize)>, Malformed> {
    let mut length = 0;
    for (place, byte) in arrived.iter().skip(1).take(4).enumerate() {
        length |= usize::from(byte & 0x7F) << (7 * place);
        if length > MAX_PACKET_BYTES {
            return Err(Malformed);
        }
        if byte & 0x80 == 0 {
            return Ok(Some((length, place + 2)));
        }
    }
    if arrived.len() > 4 { Err(Malformed) } else { Ok(None) }
}

fn connect(body: &mut Bytes) -> Result<ConnectPacket, Malformed> {
    let protocol = text(body)?;
    let level = body.try_get_u8().map_err(|_| Malformed)?;
    if protocol != "MQTT" || level != 4 {
        return Ok(ConnectPacket::default());
    }
    let flags = body.try_get_u8().map_err(|_| Malformed)?;
    let keep_alive = number(body)?;
    let client = text(body)?;
    let will = if flags & 0x04 == 0 { None } else { Some((text(body)?, bytes(body)?, flags & 0x20 != 0)) };
    let user = if flags & 0x80 == 0 { String::new() } else { text(body)? };
    let password = if flags & 0x40 == 0 { String::new() } else { text(body)? };
    Ok(ConnectPacket { known_version: true, client, user, password, will, keep_alive })
}

fn number(body: &mut Bytes) -> Result<u16, Malformed> {
    body.try_get_u16().map_err(|_| Malformed)
}

fn bytes(body: &mut Bytes) -> Result<Bytes, Malformed> {
    let length = usize::from(number(body)?);
    if body.len() < length { Err(Malformed) } else { Ok(body.split_to(length)) }
}

fn text(body: &mut Bytes) -> Result<String, Malformed> {
    String::from_utf8(bytes(body)?.to_vec()).map_err(|_| Malformed)
}

/// Encodes a CONNACK packet; code 0 accepts the client.
pub(crate) fn connected(code: u8) -> Bytes {
    Bytes::copy_from_slice(&[0x20, 2, 0, code])
}

/// Encodes a PUBACK packet.
pub(crate) fn published(number: u16) -> Bytes {
    let [high, low] = number.to_be_bytes();
    Bytes::copy_from_slice(&[0x40, 2, high, low])
}

/// Encodes a SUBACK packet that grants the given number of topics at quality of service 0.
pub(crate) fn subscribed(number: u16, topics: usize) -> Bytes {
    let mut body = BytesMut::new();
    body.put_u16(number);
    body.put_bytes(0, topics);
    packet(0x90, &body)
}

/// Encodes an UNSUBACK packet.
pub(crate) fn unsubscribed(number: u16) -> Bytes {
    let [high, low] = number.to_be_bytes();
    Bytes::copy_from_slice(&[0xB0, 2, high, low])
}

/// Encodes a PINGRESP packet.
pub(crate) fn pong() -> Bytes {
    Bytes::from_static(&[0xD0, 0])
}

/// Encodes a PUBLISH packet with quality of service 0.
pub(crate) fn publish(topic: &str, payload: &[u8]) -> Bytes {
    let mut body = BytesMut::with_capacity(topic.len() + payload.len() + 2);
    body.put_u16(topic.len() as u16);
    body.put_slice(topic.as_bytes());
    body.put_slice(payload);
    packet(0x30, &body)
}

fn packet(first: u8, body: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(body.len() + 5);
    out.put_u8(first);
    let mut left = body.len();
    loop {
        let more = if left > 0x7F { 0x80 } else { 0 };
        out.put_u8((left & 0x7F) as u8 | more);
        left >>= 7;
        if left == 0 {
            break;
        }
    }
    out.put_slice(body);
    out.freeze()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const CONNECT: &[u8] = b"\x10\x1F\0\x04MQTT\x04\xC2\0\x1E\0\x03abc\0\x04bblp\0\x0812345678";

    #[test]
    fn packets_are_taken_one_by_one_and_only_when_complete() {
        let mut arrived = BytesMut::new();
        let all = [CONNECT, b"\xC0\0", b"\x82\x06\0\x01\0\x01t\0", &publish("topic", &[7; 300])].concat();
        let mut packets = Vec::new();
        for byte in all {
            arrived.put_u8(byte);
            packets.extend(take(&mut arrived).unwrap());
        }
        let connect = ConnectPacket {
            known_version: true,
            client: "abc".to_owned(),
            user: "bblp".to_owned(),
            password: "12345678".to_owned(),
            will: None,
            keep_alive: 30,
        };
        let payload = Bytes::from_static(&[7; 300]);
        assert_eq!(
            packets,
            [
                Packet::Connect(connect),
                Packet::Ping,
                Packet::Subscribe { number: 1, topics: vec!["t".to_owned()] },
                Packet::Publish { topic: "topic".to_owned(), payload, number: None, retain: false },
            ]
        );
        assert!(arrived.is_empty());
    }

    #[test]
    fn nonsense_is_malformed() {
        for nonsense in [&b"\x00\0"[..], b"\x34\x05\0\x01t\0\x01", b"\x30\xFF\xFF\xFF\x7F", b"\x10\x02\0\x09"] {
            assert_eq!(take(&mut BytesMut::from(nonsense)), Err(Malformed), "{nonsense:?}");
        }
    }
}
