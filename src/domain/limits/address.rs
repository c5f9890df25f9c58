//! Attribution of a request to a caller by IP address: trusted proxies, `X-Forwarded-For`, and the address range that
//! is treated as one caller.

use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// IP address, or network in CIDR notation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network(IpNet);

/// Parse error for text that is neither an IP address nor a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be an IP address or a network such as 10.0.0.0/8")]
pub struct NetworkParseError;

impl FromStr for Network {
    type Err = NetworkParseError;
    fn from_str(text: &str) -> Result<Self, NetworkParseError> {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| NetworkParseError)
    }
}

impl Network {
    /// Returns whether the address belongs to the network; an IPv4-mapped IPv6 address is treated as IPv4.
    pub fn contains(self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// Returns the client's IP address. If the peer is not a trusted proxy, this is the peer's address, because any client
/// can forge the header. Behind trusted proxies, it is the rightmost address in `X-Forwarded-For` that is not a trusted
/// proxy; `forwarded` yields the header values in order. If that list ends early or cannot be parsed, it is the last
/// known hop.
pub fn client<'a>(peer: IpAddr, forwarded: impl DoubleEndedIterator<Item = &'a str>, trusted: &[Network]) -> IpAddr {
    let ours = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut nearest = peer.to_canonical();
    if !ours(nearest) {
        return nearest;
    }
    for hop in forwarded.rev().flat_map(|value| value.rsplit(',')) {
        let Some(address) = hop_address(hop.trim()) else { break };
        nearest = address.to_canonical();
        if !ours(nearest) {
            break;
        }
    }
    nearest
}

/// Returns whether the given address may be shared by many clients: the address of a trusted proxy, or of this machine,
/// which may run a proxy that is not configured here. Connections from such an address are not limited by address; the
/// proxy limits its own clients.
pub fn speaks_for_many(peer: IpAddr, trusted: &[Network]) -> bool {
    let peer = peer.to_canonical();
    peer.is_loopback() || trusted.iter().any(|network| network.contains(peer))
}

/// Parses an address as written by proxies, with or without a port.
fn hop_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.split_once(']')).map(|(address, _)| address);
    let parsed = bare.unwrap_or(text).parse().ok();
    parsed.or_else(|| text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip()))
}

/// Returns the rate-limit key of a caller: an IPv4 address, or an IPv6 /64 network, which is the range usually assigned
/// to a single customer.
pub fn scope(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => (address.to_bits() >> 64) | (1 << 64),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn client_of(peer: &str, forwarded: &[&str]) -> String {
        let trusted = ["10.0.0.0/8", "192.0.2.7", "2001:db8:1::/48"].map(|text| text.parse().unwrap());
        client(ip(peer), forwarded.iter().copied(), &trusted).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(client_of("203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(client_of("10.1.2.3", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client_of("::ffff:10.1.2.3", &["198.51.100.1"]), "198.51.100.1");
    }

    #[test]
    fn the_rightmost_address_that_is_no_proxy_is_the_client() {
        // The client itself may write entries on the left, so they are not believed.
        assert_eq!(client_of("10.1.2.3", &["1.1.1.1, 198.51.100.1, 192.0.2.7"]), "198.51.100.1");
        assert_eq!(client_of("10.1.2.3", &["1.1.1.1", "198.51.100.1", "192.0.2.7 "]), "198.51.100.1");
        assert_eq!(client_of("2001:db8:1::5", &["[2001:db8:2::9]:4711"]), "2001:db8:2::9");
        assert_eq!(client_of("10.1.2.3", &["198.51.100.1:4711"]), "198.51.100.1");
    }

    #[test]
    fn a_list_that_ends_early_gives_the_last_known_hop() {
        assert_eq!(client_of("10.1.2.3", &[]), "10.1.2.3");
        assert_eq!(client_of("10.1.2.3", &["10.9.9.9"]), "10.9.9.9");
        assert_eq!(client_of("10.1.2.3", &["198.51.100.1, unknown, 10.9.9.9"]), "10.9.9.9");
    }

    #[test]
    fn networks_are_read_strictly() {
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "example.com", "10.0.0.0/-1", "10.0.0.0/"] {
            assert_eq!(wrong.parse::<Network>(), Err(NetworkParseError), "{wrong}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains(ip("203.0.113.9")) && !all.contains(ip("2001:db8::1")));
        assert!("::/0".parse::<Network>().unwrap().contains(ip("2001:db8::1")));
        assert!(!"10.0.0.0/9".parse::<Network>().unwrap().contains(ip("10.128.0.0")));
    }

    #[test]
    fn one_ipv6_customer_is_one_caller() {
        assert_eq!(scope(ip("2001:db8::1")), scope(ip("2001:db8::ffff:1")));
        assert_ne!(scope(ip("2001:db8::1")), scope(ip("2001:db8:0:1::1")));
        assert_eq!(scope(ip("::ffff:192.0.2.1")), scope(ip("192.0.2.1")));
        assert_ne!(scope(ip("192.0.2.1")), scope(ip("192.0.2.2")));
    }

    #[test]
    fn a_proxy_and_this_machine_speak_for_many() {
        let trusted: [Network; 1] = ["10.0.0.0/8".parse().unwrap()];
        for (peer, speaks) in [
            ("10.1.2.3", true),
            ("::ffff:10.1.2.3", true),
            ("127.0.0.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("203.0.113.9", false),
        ] {
            assert_eq!(speaks_for_many(ip(peer), &trusted), speaks, "{peer}");
        }
        assert!(!speaks_for_many(ip("10.1.2.3"), &[]));
    }

    #[test]
    fn a_caller_is_an_ipv4_address_or_half_of_an_ipv6_address() {
        assert_eq!(scope(ip("0.0.0.7")), 7);
        assert_eq!(scope(ip("::1")), 1 << 64);
        assert_eq!(scope(ip("0:0:0:7::1")), (1 << 64) | 7);
        assert_ne!(scope(ip("0:0:0:7::1")), scope(ip("0.0.0.7")));
    }
}
