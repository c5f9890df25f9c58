//! Rules for webhook destinations. They evaluate URLs and addresses; they do not resolve names.
//!
//! An endpoint's URL comes from a user, and the server is inside the shop's network. Without these rules, a webhook
//! could be aimed at the router, a printer or a cloud metadata service. A URL is checked when it is registered
//! ([`check`]), and each address is checked again when connecting ([`denied_range`]), because a name may resolve to a
//! different address by then.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use url::{Host, Url};

/// Maximum length of a URL, in bytes.
const MAX_URL_BYTES: usize = 2048;

/// Reason why a webhook may not be sent to a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The URL is longer than `MAX_URL_BYTES`.
    #[error("the URL must be at most {MAX_URL_BYTES} bytes")]
    TooLong,
    /// The text is not a URL, or the URL has no host.
    #[error("the URL must be absolute and have a host")]
    NotAUrl,
    /// The scheme is neither http nor https.
    #[error("the scheme must be http or https, not {scheme}")]
    Scheme {
        /// Scheme of the URL.
        scheme: String,
    },
    /// The URL contains a user name or a password.
    #[error("the URL must not contain a user name or password")]
    Credentials,
    /// The host is not public: it is an address in a denied range, or a name that always refers to one.
    #[error("the address is not allowed ({range}); set webhooks.allow_private_targets = true to allow it")]
    Address {
        /// Name of the denied range, such as `loopback`.
        range: &'static str,
    },
}

/// Parses and validates the URL of an endpoint. `allow_private` permits private and local hosts.
///
/// Host names pass here, because the address that they resolve to is checked when connecting; only names that always
/// refer to the local machine are rejected.
pub fn check(text: &str, allow_private: bool) -> Result<Url, TargetError> {
    if text.len() > MAX_URL_BYTES {
        return Err(TargetError::TooLong);
    }
    let url = Url::parse(text).map_err(|_| TargetError::NotAUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(TargetError::Scheme { scheme: url.scheme().to_owned() });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TargetError::Credentials);
    }
    // The URL parser has already turned notations like `0x7f.1` or `2130706433` into the address they mean.
    let denied = match url.host() {
        None => return Err(TargetError::NotAUrl),
        Some(Host::Ipv4(ip)) => denied_range(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => denied_range(IpAddr::V6(ip)),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            let local = name == "localhost" || name.ends_with(".localhost");
            local.then_some("loopback")
        }
    };
    match denied {
        Some(range) if !allow_private => Err(TargetError::Address { range }),
        _ => Ok(url),
    }
}

/// Returns the denied range that the address belongs to; `None` if the address is a public unicast address, to which
/// webhooks may be sent.
pub fn denied_range(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => denied_v4(ip),
        IpAddr::V6(ip) => denied_v6(ip),
    }
}

fn denied_v4(ip: Ipv4Addr) -> Option<&'static str> {
    DENIED_V4.iter().find(|(network, _)| network.contains(&ip)).map(|(_, name)| *name)
}

fn denied_v6(ip: Ipv6Addr) -> Option<&'static str> {
    // An IPv4 address mapped to IPv6 is connected to by IPv4, so the IPv4 rules apply.
    if let Some(mapped) = ip.to_ipv4_mapped() {
        return denied_v4(mapped);
    }
    let named = DENIED_V6.iter().find(|(network, _)| network.contains(&ip)).map(|(_, name)| *name);
    // Only addresses of 2000::/3 are assigned for global unicast; everything else is refused.
    named.or_else(|| (!GLOBAL_UNICAST_V6.contains(&ip)).then_some("not a public address"))
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

/// Builds the network with the given first three groups, followed by zeros.
const fn v6(a: u16, b: u16, c: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

const GLOBAL_UNICAST_V6: Ipv6Net = v6(0x2000, 0, 0, 3);

const DENIED_V4: &[(Ipv4Net, &str)] = &[
    (v4(0, 0, 0, 0, 8), "this network"),
    (v4(10, 0, 0, 0, 8), "private network"),
    (v4(100, 64, 0, 0, 10), "carrier-grade NAT"),
    (v4(127, 0, 0, 0, 8), "loopback"),
    // The usual metadata service, 169.254.169.254, is in here.
    (v4(169, 254, 0, 0, 16), "link-local"),
    (v4(168, 63, 129, 16, 32), "cloud metadata"),
    (v4(172, 16, 0, 0, 12), "private network"),
    (v4(192, 0, 0, 0, 24), "protocol assignments"),
    (v4(192, 0, 2, 0, 24), "documentation"),
    (v4(192, 88, 99, 0, 24), "6to4 relay"),
    (v4(192, 168, 0, 0, 16), "private network"),
    (v4(198, 18, 0, 0, 15), "benchmarking"),
    (v4(198, 51, 100, 0, 24), "documentation"),
    (v4(203, 0, 113, 0, 24), "documentation"),
    (v4(224, 0, 0, 0, 4), "multicast"),
    // Includes the broadcast address.
    (v4(240, 0, 0, 0, 4), "reserved"),
];

// Those outside 2000::/3 would be refused anyway; they stand here so that errors name them.
const DENIED_V6: &[(Ipv6Net, &str)] = &[
    (v6(0, 0, 0, 128), "unspecified"),
    (Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128), "loopback"),
    (v6(0, 0, 0, 96), "IPv4-compatible"),
    (v6(0x64, 0xff9b, 0, 96), "NAT64"),
    (v6(0x64, 0xff9b, 1, 48), "NAT64"),
    (v6(0x100, 0, 0, 64), "discard"),
    // Teredo, benchmarking, ORCHID.
    (v6(0x2001, 0, 0, 23), "protocol assignments"),
    (v6(0x2001, 0xdb8, 0, 32), "documentation"),
    (v6(0x2002, 0, 0, 16), "6to4"),
    (v6(0x3fff, 0, 0, 20), "documentation"),
    (v6(0x5f00, 0, 0, 16), "segment routing"),
    (v6(0xfc00, 0, 0, 7), "private network"),
    (v6(0xfe80, 0, 0, 10), "link-local"),
    (v6(0xfec0, 0, 0, 10), "site-local"),
    (v6(0xff00, 0, 0, 8), "multicast"),
];

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    fn address_allowed(ip: IpAddr) -> bool {
        denied_range(ip).is_none()
    }

    /// First and last address of each denied range, written by hand so that the tables are checked against an
    /// independent source.
    const EDGES: &[(&str, &str)] = &[
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("168.63.129.16", "168.63.129.16"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "255.255.255.255"),
        ("::", "::ffff:ffff"),
        ("64:ff9b::", "64:ff9b::ffff:ffff"),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
        ("100::", "100::ffff:ffff:ffff:ffff"),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ];

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn number(ip: IpAddr) -> u128 {
        match ip {
            IpAddr::V4(ip) => u128::from(u32::from(ip)),
            IpAddr::V6(ip) => u128::from(ip),
        }
    }

    fn like(model: IpAddr, number: u128) -> IpAddr {
        match model {
            IpAddr::V4(_) => IpAddr::V4(u32::try_from(number).unwrap().into()),
            IpAddr::V6(_) => IpAddr::V6(number.into()),
        }
    }

    #[test]
    fn both_ends_of_every_denied_range_are_refused() {
        for (first, last) in EDGES {
            assert!(!address_allowed(ip(first)), "{first}");
            assert!(!address_allowed(ip(last)), "{last}");
        }
    }

    #[test]
    fn the_neighbours_of_the_ranges_inside_public_space_are_allowed() {
        for public in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "8.8.8.8",
            "2001:200::",
            "2001:db7::1",
            "2001:db9::",
            "2003::",
            "2606:4700:4700::1111",
            "3ffe:ffff::1",
            "3fff:1000::",
            "2000::1",
        ] {
            assert!(address_allowed(ip(public)), "{public}");
        }
    }

    #[test]
    fn metadata_services_are_refused() {
        for address in
            ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"]
        {
            assert!(!address_allowed(ip(address)), "{address}");
        }
    }

    #[test]
    fn an_ipv4_address_in_ipv6_clothes_is_judged_as_what_it_reaches() {
        for address in ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "::127.0.0.1"] {
            assert!(!address_allowed(ip(address)), "{address}");
        }
        assert!(address_allowed(ip("::ffff:8.8.8.8")));
    }

    #[test]
    fn urls_are_judged_by_scheme_credentials_host_and_length() {
        let scheme = |scheme: &str| Err(TargetError::Scheme { scheme: scheme.into() });
        assert_eq!(check("ftp://example.com/", false), scheme("ftp"));
        assert_eq!(check("file:///etc/passwd", false), scheme("file"));
        assert_eq!(check("example.com/hook", false), Err(TargetError::NotAUrl));
        assert_eq!(check("http://", false), Err(TargetError::NotAUrl));
        assert_eq!(check("", false), Err(TargetError::NotAUrl));
        assert_eq!(check("https://me@example.com/", false), Err(TargetError::Credentials));
        assert_eq!(check("https://:pw@example.com/", true), Err(TargetError::Credentials));
        let long = format!("https://example.com/{}", "a".repeat(MAX_URL_BYTES));
        assert_eq!(check(&long, true), Err(TargetError::TooLong));
        let fine = check("https://example.com:8443/hook?x=1", false).unwrap();
        assert_eq!(fine.as_str(), "https://example.com:8443/hook?x=1");
    }

    #[test]
    fn every_spelling_of_a_local_host_is_refused_unless_private_targets_are_allowed() {
        for text in [
            "http://localhost/",
            "http://LOCALHOST:8080/",
            "http://localhost./",
            "http://a.localhost/",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://127.0.0.1./",
            "http://0/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[0:0:0:0:0:0:0:1]:80/",
            "http://[64:ff9b::7f00:1]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://192.168.1.1/",
            "http://１２７.0.0.1/",
        ] {
            assert!(matches!(check(text, false), Err(TargetError::Address { .. })), "{text}");
            assert!(check(text, true).is_ok(), "{text}");
        }
        assert_eq!(check("http://[fe80::1%25eth0]/", false), Err(TargetError::NotAUrl));
    }

    proptest! {
        #[test]
        fn every_address_inside_a_denied_range_is_refused(edge in 0..EDGES.len(), at: u128) {
            let (first, last) = (ip(EDGES[edge].0), ip(EDGES[edge].1));
            let width = number(last) - number(first);
            let inside = like(first, number(first) + if width == 0 { 0 } else { at % (width + 1) });
            prop_assert!(!address_allowed(inside), "{inside}");
        }

        #[test]
        fn an_ipv4_address_and_its_mapped_form_are_judged_alike(bits: u32) {
            let v4 = Ipv4Addr::from(bits);
            prop_assert_eq!(address_allowed(IpAddr::V4(v4)), address_allowed(IpAddr::V6(v4.to_ipv6_mapped())));
        }

        #[test]
        fn an_ipv4_address_is_allowed_only_outside_the_ranges(bits: u32) {
            let v4 = IpAddr::V4(bits.into());
            let denied = EDGES.iter().any(|(first, last)| {
                ip(first).is_ipv4() && (number(ip(first))..=number(ip(last))).contains(&u128::from(bits))
            });
            prop_assert_eq!(address_allowed(v4), !denied);
        }

        #[test]
        fn only_global_unicast_is_allowed(bits: u128) {
            let v6 = Ipv6Addr::from(bits);
            if address_allowed(IpAddr::V6(v6)) && v6.to_ipv4_mapped().is_none() {
                prop_assert!(matches!(v6.segments()[0], 0x2000..=0x3fff));
            }
        }

        #[test]
        fn judging_a_url_never_panics(text in "\\PC{0,60}") {
            let _ = check(&text, false);
        }
    }

    #[test]
    fn a_url_of_the_longest_length_is_taken() {
        let url = |bytes: usize| format!("https://example.com/{}", "a".repeat(bytes - 20));
        assert!(check(&url(MAX_URL_BYTES), false).is_ok());
        assert_eq!(check(&url(MAX_URL_BYTES + 1), false), Err(TargetError::TooLong));
        assert_eq!(denied_range(ip("10.1.2.3")), Some("private network"));
        assert_eq!(denied_range(ip("fd00::1")), Some("private network"));
        assert_eq!(denied_range(ip("4000::1")), Some("not a public address"));
    }
}
