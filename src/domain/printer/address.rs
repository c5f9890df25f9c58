//! Printer addresses: the denied ones, and a comparison that detects two registrations of the same machine.
//!
//! Printers are part of the shop's own network, so private addresses are expected here. Link-local addresses and cloud
//! metadata services are denied: no printer runs there, and users who may register printers must not be able to read
//! instance metadata through this server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::PrinterFields;

/// Schemes of MQTT brokers with their default ports.
const BROKER_PORTS: [(&str, u16); 2] = [("mqtts", 8883), ("mqtt", 1883)];

/// Host names of cloud metadata services.
const METADATA_HOSTS: [&str; 5] =
    ["metadata.google.internal", "metadata.goog", "metadata", "instance-data", "metadata.azure.internal"];

/// Addresses of metadata services outside of the link-local ranges.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// Parses and validates the base URL of a printer. The error message continues a sentence that begins with the field's
/// name.
pub fn check_base_url(text: &str) -> Result<Url, String> {
    let no_url = || "must be an http, https or mqtts URL, such as http://192.168.1.20:7125".to_owned();
    let url = Url::parse(text.trim()).map_err(|_| no_url())?;
    if !matches!(url.scheme(), "http" | "https" | "mqtts") || url.host_str().is_none_or(str::is_empty) {
        return Err(no_url());
    }
    let url = as_web_address(&url).ok_or_else(no_url)?;
    match denied_host(&url) {
        Some(range) => Err(format!("must be the address of a printer, not {range}")),
        None => Ok(url),
    }
}

/// Converts a broker URL to a web address with the broker's port, so that its host is normalised. For non-web schemes,
/// the URL parser leaves hosts as written, which could disguise a denied address. Returns a web address unchanged, and
/// `None` for an invalid host.
pub fn as_web_address(url: &Url) -> Option<Url> {
    let Some((scheme, port)) = BROKER_PORTS.into_iter().find(|(scheme, _)| *scheme == url.scheme()) else {
        return Some(url.clone());
    };
    let rest = url.as_str().strip_prefix(scheme)?;
    let mut read = Url::parse(&format!("http{rest}")).ok()?;
    if url.port().is_none() {
        read.set_port(Some(port)).ok()?;
    }
    Some(read)
}

/// Returns the denied range that the host of a URL belongs to, if any. Any other host name passes here, because the
/// address that it resolves to is checked before connecting ([`denied_address`]).
pub fn denied_host(url: &Url) -> Option<&'static str> {
    match url.host()? {
        Host::Ipv4(ip) => denied_address(IpAddr::V4(ip)),
        Host::Ipv6(ip) => denied_address(IpAddr::V6(ip)),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            METADATA_HOSTS.contains(&name.as_str()).then_some("the metadata service of a cloud")
        }
    }
}

/// Returns the denied range that an address belongs to, if any.
pub fn denied_address(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) if ip.is_link_local() => Some("a link-local address"),
        IpAddr::V4(ip) => METADATA_V4.contains(&ip).then_some("the metadata service of a cloud"),
        IpAddr::V6(ip) => match embedded_v4(ip) {
            Some(v4) => denied_address(IpAddr::V4(v4)),
            None if ip.is_unicast_link_local() => Some("a link-local address"),
            None => METADATA_V6.contains(&ip).then_some("the metadata service of a cloud"),
        },
    }
}

/// Returns the IPv4 address embedded in an IPv6 address: mapped, compatible, NAT64 or 6to4.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [prefix @ .., high, low] = ip.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match prefix {
        [0, 0, 0, 0, 0, 0 | 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

/// Normalised network address of a printer's server, for comparison.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MachineAddress {
    host: String,
    port: u16,
    path: String,
}

impl MachineAddress {
    /// Extracts the address from a base URL. Returns `None` if the text is not a URL with a host.
    pub fn of(base_url: &str) -> Option<Self> {
        let url = as_web_address(&Url::parse(base_url.trim()).ok()?)?;
        let local = match url.host()? {
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
            Host::Domain(_) => false,
        };
        let host = if local { "localhost" } else { url.host_str()?.trim_end_matches('.') };
        let port = url.port_or_known_default()?;
        Some(Self { host: host.to_ascii_lowercase(), port, path: url.path().trim_matches('/').to_owned() })
    }

    /// Returns whether two base URLs lead to the same server with the same scheme, so that the key for one may be sent
    /// to the other.
    pub fn same(one: &str, other: &str) -> bool {
        let scheme = |text: &str| Url::parse(text.trim()).ok().map(|url| url.scheme().to_owned());
        one == other || (Self::of(one).is_some() && Self::of(one) == Self::of(other) && scheme(one) == scheme(other))
    }
}

/// Returns the attribute by which two registrations are recognised as the same machine, phrased to follow "this";
/// `None` if the machines differ.
pub fn same_machine(one: &PrinterFields, other: &PrinterFields) -> Option<&'static str> {
    let at = |fields: &PrinterFields| MachineAddress::of(&fields.base_url);
    let serial = |fields: &PrinterFields| {
        fields.serial.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_ascii_lowercase)
    };
    if at(one).is_some() && at(one) == at(other) {
        Some("address")
    } else if serial(one).is_some() && serial(one) == serial(other) {
        Some("serial")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
