//! Selection of the addresses that a search may probe: this machine, and the first ten addresses of the local /24
//! network. No other address is ever contacted, and public networks are never probed, because a rented server's
//! neighbours belong to strangers.

use std::fs;
use std::iter;
use std::net::Ipv4Addr;

/// Number of local network addresses to probe.
const FIRST_ADDRESSES: u8 = 10;
/// Path of the kernel's routing table.
const ROUTES: &str = "/proc/net/route";
/// Path of the kernel table that contains the machine's own addresses.
const ADDRESSES: &str = "/proc/net/fib_trie";

/// Address that may be probed. Only [`scanned`] creates such addresses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ScanAddress(Ipv4Addr);

impl ScanAddress {
    /// Returns the IP address.
    pub fn ip(self) -> Ipv4Addr {
        self.0
    }
}

/// Returns the addresses to probe from a machine with the address `own`: the machine itself and the first ten other
/// addresses of its /24 network. If `own` is `None` or not private, returns only the machine itself.
pub fn scanned(own: Option<Ipv4Addr>) -> Vec<ScanAddress> {
    let beside = own.filter(Ipv4Addr::is_private).into_iter().flat_map(|own| {
        let [a, b, c, _] = own.octets();
        (1..=FIRST_ADDRESSES).map(move |d| Ipv4Addr::new(a, b, c, d)).filter(move |address| *address != own)
    });
    iter::once(Ipv4Addr::LOCALHOST).chain(beside).map(ScanAddress).collect()
}

/// Returns this machine's address on the local network: that of the interface with the default route, otherwise the
/// first one. `None` if there is no network or the operating system does not provide the information.
pub fn own_address() -> Option<Ipv4Addr> {
    own_of(&fs::read_to_string(ROUTES).ok()?, &fs::read_to_string(ADDRESSES).ok()?)
}

/// Entry in the routing table.
struct RoutingEntry<'a> {
    interface: &'a str,
    network: u32,
    mask: u32,
    gateway: u32,
    metric: u32,
}

impl<'a> RoutingEntry<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let interface = words.next()?;
        let mut hex = || u32::from_str_radix(words.next()?, 16).ok();
        // Addresses are printed as numbers of the machine's own byte order.
        let mut address = || Some(u32::from_be_bytes(hex()?.to_ne_bytes()));
        let (network, gateway) = (address()?, address()?);
        // Flags, uses and references.
        for _ in 0..3 {
            words.next()?;
        }
        let metric = words.next()?.parse().ok()?;
        let mask = u32::from_be_bytes(u32::from_str_radix(words.next()?, 16).ok()?.to_ne_bytes());
        Some(Self { interface, network, mask, gateway, metric })
    }
}

fn own_of(routes: &str, addresses: &str) -> Option<Ipv4Addr> {
    let routes: Vec<RoutingEntry<'_>> = routes.lines().skip(1).filter_map(RoutingEntry::read).collect();
    let ways_out = routes.iter().filter(|route| route.network == 0 && route.mask == 0);
    let outward = ways_out.min_by_key(|route| route.metric).map(|route| route.interface);
    let mut connected: Vec<_> =
        routes.iter().filter(|route| route.gateway == 0 && route.mask != 0 && route.interface != "lo").collect();
    // Stable: otherwise in the order of the table.
    connected.sort_by_key(|route| Some(route.interface) != outward);
    let own = local_addresses(addresses);
    connected.iter().find_map(|route| {
        own.iter().copied().find(|address| address.to_bits() & route.mask == route.network && !address.is_loopback())
    })
}

/// Returns this machine's addresses in table order.
fn local_addresses(table: &str) -> Vec<Ipv4Addr> {
    let mut last = None;
    let mut own = Vec::new();
    for line in table.lines() {
        if let Some((_, address)) = line.split_once("|-- ") {
            last = address.trim().parse().ok();
        } else if line.contains("/32 host LOCAL") {
            own.extend(last.filter(|address| !own.contains(address)));
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

    fn ips(own: [u8; 4]) -> Vec<Ipv4Addr> {
        scanned(Some(own.into())).into_iter().map(ScanAddress::ip).collect()
    }

    #[test]
    fn this_machine_and_the_first_ten_of_its_network_are_asked() {
        let expected: Vec<Ipv4Addr> =
            iter::once(Ipv4Addr::LOCALHOST).chain((1..=10).map(|last| Ipv4Addr::new(192, 168, 7, last))).collect();
        assert_eq!(ips([192, 168, 7, 99]), expected);
        let without_itself: Vec<_> = expected.into_iter().filter(|ip| ip.octets()[3] != 4).collect();
        assert_eq!(ips([192, 168, 7, 4]), without_itself);
    }

    #[test]
    fn without_a_private_network_only_this_machine_is_asked() {
        for own in [None, Some([8, 8, 8, 8]), Some([169, 254, 3, 4]), Some([100, 64, 0, 9]), Some([127, 0, 0, 5])] {
            let addresses = scanned(own.map(Into::into));
            assert_eq!(addresses, [ScanAddress(Ipv4Addr::LOCALHOST)], "{own:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_ever_asked(own: [u8; 4]) {
            let addresses = ips(own);
            prop_assert!(addresses.len() <= 11);
            for ip in addresses {
                let [a, b, c, d] = ip.octets();
                let near = [a, b, c] == own[..3] && (1..=10).contains(&d) && ip.is_private();
                prop_assert!(ip == Ipv4Addr::LOCALHOST || near, "{ip}");
            }
        }

        #[test]
        fn no_table_makes_it_panic(routes in "\\PC{0,200}", addresses in "\\PC{0,200}") {
            let _ = own_of(&format!("{HEAD}{routes}"), &addresses);
        }
    }

    #[test]
    fn the_local_network_is_that_of_the_way_out() {
        // docker0 172.17.0.1/16, eth0 192.168.7.40/24 with the default route.
        let routes = format!(
            "{HEAD}eth0\t00000000\t0107A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
             docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n\
             eth0\t0007A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
        );
        let addresses = "Main:\n  +-- 127.0.0.0/8 2 0 2\n     |-- 127.0.0.1\n        /32 host LOCAL\n\
             |-- 172.17.0.1\n        /32 host LOCAL\n     |-- 192.168.7.0\n        /24 link UNICAST\n\
             |-- 192.168.7.40\n        /32 host LOCAL\n     |-- 192.168.7.255\n        /32 link BROADCAST\n";
        assert_eq!(own_of(&routes, addresses), Some(Ipv4Addr::new(192, 168, 7, 40)));
        let alone = routes.lines().filter(|line| !line.starts_with("eth0")).collect::<Vec<_>>().join("\n");
        assert_eq!(own_of(&alone, addresses), Some(Ipv4Addr::new(172, 17, 0, 1)));
        assert_eq!(own_of(HEAD, addresses), None);
    }
}
