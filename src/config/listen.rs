//! Addresses to listen on, in any of the forms `127.0.0.1:8787`, `127.0.0.1`, `:9199`, `9199`, `localhost:9199` and
//! `[::1]`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::{Deserialize, Deserializer, de};

use super::Config;

/// Error message for text that is not an address.
const ADDRESS_FAULT: &str = "is not an address with a port, such as 127.0.0.1:8787";

/// Parses an address. A missing host or port is taken from the default setting. The only host name accepted is
/// `localhost`.
///
/// # Errors
///
/// Returns a message if the text is not an address.
pub fn parse(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim();
    if let Ok(whole) = text.parse::<SocketAddr>() {
        return Ok(whole);
    }
    if let Some(host) = host(text) {
        return Ok(SocketAddr::new(host, shipped().port()));
    }
    let (before, port) = text.rsplit_once(':').unwrap_or(("", text));
    let host = if before.is_empty() { Some(shipped().ip()) } else { host(before) };
    let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match (host, port.parse::<u16>()) {
        (Some(host), Ok(port)) if digits => Ok(SocketAddr::new(host, port)),
        _ => Err(format!("{text:?} {ADDRESS_FAULT}")),
    }
}

/// Parses an IP address (an IPv6 address may be in brackets) or `localhost`.
fn host(text: &str) -> Option<IpAddr> {
    if text.eq_ignore_ascii_case("localhost") {
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok()
}

/// Returns the default listen address, which has both a host and a port.
fn shipped() -> SocketAddr {
    Config::default().server.listen
}

/// Deserializes an address from a settings file or a variable.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
    parse(&text).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_as_shipped() {
        for (text, whole) in [
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("127.0.0.1", "127.0.0.1:8787"),
            ("0.0.0.0", "0.0.0.0:8787"),
            (":9199", "127.0.0.1:9199"),
            ("9199", "127.0.0.1:9199"),
            ("localhost", "127.0.0.1:8787"),
            ("LocalHost:9191", "127.0.0.1:9191"),
            ("[::1]", "[::1]:8787"),
            ("::1", "[::1]:8787"),
            (" [::]:1 ", "[::]:1"),
        ] {
            assert_eq!(parse(text).map(|address| address.to_string()), Ok(whole.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_told_in_words() {
        for text in ["", ":", "nowhere", "shop.example:80", "127.0.0.1:99999", "127.0.0.1:+5", "1.2.3", "http://x:1"] {
            let refused = parse(text);
            let has_example = refused.as_ref().is_err_and(|words| words.ends_with("such as 127.0.0.1:8787"));
            assert!(has_example, "{text}: {refused:?}");
        }
    }
}
