//! Selection of the addresses that a search may probe: this machine, and the private networks that its own interfaces
//! are in, at most the /24 part of each. No other address is ever contacted, and public networks are never probed,
//! because a rented server's neighbours belong to strangers.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::net::Ipv4Addr;

/// Maximum number of networks that one search covers; that with the default route comes first.
const MAX_NETWORKS: usize = 4;
/// Mask of the largest network that is searched as a whole: a /24. Of a larger one, the part around this machine is.
const LARGEST_MASK: u32 = 0xffff_ff00;
/// Prefixes of the names of interfaces to containers, virtual machines and tunnels. No printer is connected to them, so
/// they count only if there is no other interface.
const VIRTUAL_INTERFACES: [&str; 11] =
    ["docker", "br-", "veth", "virbr", "lxcbr", "lxdbr", "podman", "cni", "wg", "tun", "ppp"];
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

/// Address of this machine in a network that one of its interfaces is connected to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnAddress {
    ip: Ipv4Addr,
    mask: u32,
}

impl OwnAddress {
    /// Returns the addresses of the hosts in the network, limited to the /24 part that this machine is in.
    fn hosts(self) -> impl Iterator<Item = Ipv4Addr> {
        let mask = self.mask | LARGEST_MASK;
        let first = self.ip.to_bits() & mask;
        let last = first | !mask;
        // The first address names the network, the last one reaches everybody in it.
        (first.saturating_add(1)..last).map(Ipv4Addr::from_bits)
    }
}

/// Returns the addresses to probe from a machine with the addresses `own`: the machine itself and, for each address
/// that is private, all others of its network, at most a /24. Without a private address, returns only the machine
/// itself.
pub fn scanned(own: &[OwnAddress]) -> Vec<ScanAddress> {
    let networks = own.iter().filter(|own| own.ip.is_private()).take(MAX_NETWORKS);
    let mut listed: BTreeSet<Ipv4Addr> = own.iter().map(|own| own.ip).collect();
    let beside = networks.flat_map(|own| own.hosts()).filter(|address| listed.insert(*address));
    iter::once(Ipv4Addr::LOCALHOST).chain(beside).map(ScanAddress).collect()
}

/// Returns this machine's addresses, one for each network that it is connected to, starting with the network of the
/// default route. Empty if there is no network or the operating system does not provide the information.
pub fn own_addresses() -> Vec<OwnAddress> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    own_of(&read(ROUTES), &read(ADDRESSES))
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

    /// Returns whether the interface leads to containers, virtual machines or a tunnel.
    fn is_virtual(&self) -> bool {
        VIRTUAL_INTERFACES.iter().any(|beginning| self.interface.starts_with(beginning))
    }
}

fn own_of(routes: &str, addresses: &str) -> Vec<OwnAddress> {
    let routes: Vec<RoutingEntry<'_>> = routes.lines().skip(1).filter_map(RoutingEntry::read).collect();
    let ways_out = routes.iter().filter(|route| route.network == 0 && route.mask == 0);
    let outward = ways_out.min_by_key(|route| route.metric).map(|route| route.interface);
    let mut connected: Vec<_> =
        routes.iter().filter(|route| route.gateway == 0 && route.mask != 0 && route.interface != "lo").collect();
    if connected.iter().any(|route| !route.is_virtual()) {
        connected.retain(|route| !route.is_virtual());
    }
    // Stable: otherwise in the order of the table.
    connected.sort_by_key(|route| Some(route.interface) != outward);
    let local = local_addresses(addresses);
    let mut own: Vec<OwnAddress> = Vec::new();
    for route in connected {
        let is_in = |ip: &Ipv4Addr| ip.to_bits() & route.mask == route.network && !ip.is_loopback();
        let address = local.iter().copied().find(is_in).map(|ip| OwnAddress { ip, mask: route.mask });
        own.extend(address.filter(|address| !own.contains(address)));
    }
    own
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
    const MASK_24: u32 = 0xffff_ff00;

    fn own(ip: [u8; 4], mask: u32) -> OwnAddress {
        OwnAddress { ip: ip.into(), mask }
    }

    fn ips(own: &[OwnAddress]) -> Vec<Ipv4Addr> {
        scanned(own).into_iter().map(ScanAddress::ip).collect()
    }

    /// Returns this machine and the addresses 192.168.7.`first` to `last`, without `except`.
    fn expected(first: u8, last: u8, except: u8) -> Vec<Ipv4Addr> {
        let beside = (first..=last).filter(|one| *one != except).map(|one| Ipv4Addr::new(192, 168, 7, one));
        iter::once(Ipv4Addr::LOCALHOST).chain(beside).collect()
    }

    #[test]
    fn this_machine_and_all_others_of_its_network_are_asked() {
        assert_eq!(ips(&[own([192, 168, 7, 99], MASK_24)]), expected(1, 254, 99));
        assert_eq!(ips(&[own([192, 168, 7, 99], 0xffff_0000)]), expected(1, 254, 99), "of a larger one, a /24");
        assert_eq!(ips(&[own([192, 168, 7, 99], 0xffff_fff0)]), expected(97, 110, 99), "no more than it has");
        for mask in [0xffff_fffe, 0xffff_ffff] {
            assert_eq!(ips(&[own([192, 168, 7, 99], mask)]), [Ipv4Addr::LOCALHOST], "{mask:x}");
        }
    }

    #[test]
    fn each_network_of_this_machine_is_asked_once_and_no_more_than_a_few_are() {
        let of = |third: u8| own([10, 0, third, 5], MASK_24);
        let two = ips(&[of(1), of(2)]);
        assert_eq!(
            (two.len(), two[1], two[254]),
            (1 + 2 * 253, Ipv4Addr::new(10, 0, 1, 1), Ipv4Addr::new(10, 0, 2, 1))
        );
        // By cable and by air in the same network.
        let twice = ips(&[of(1), own([10, 0, 1, 6], MASK_24)]);
        assert_eq!(twice.len(), 1 + 252, "no address twice, and none of its own");
        let many: Vec<OwnAddress> = (0..20).map(of).collect();
        assert_eq!(ips(&many).len(), 1 + MAX_NETWORKS * 253);
    }

    #[test]
    fn without_a_private_network_only_this_machine_is_asked() {
        let others = [[8, 8, 8, 8], [169, 254, 3, 4], [100, 64, 0, 9], [127, 0, 0, 5], [255, 255, 255, 255]];
        assert_eq!(ips(&[]), [Ipv4Addr::LOCALHOST]);
        for ip in others {
            assert_eq!(ips(&[own(ip, MASK_24)]), [Ipv4Addr::LOCALHOST], "{ip:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_ever_asked(ip: [u8; 4], mask: u32) {
            let addresses = ips(&[own(ip, mask)]);
            prop_assert!(addresses.len() <= 254);
            for address in addresses {
                let [a, b, c, d] = address.octets();
                let near = [a, b, c] == ip[..3] && (1..=254).contains(&d) && address.is_private();
                prop_assert!(address == Ipv4Addr::LOCALHOST || near, "{address}");
                prop_assert!(address != Ipv4Addr::from(ip), "this machine by another name");
            }
        }

        #[test]
        fn no_table_makes_it_panic(routes in "\\PC{0,200}", addresses in "\\PC{0,200}") {
            let _ = own_of(&format!("{HEAD}{routes}"), &addresses);
        }
    }

    #[test]
    fn the_local_networks_begin_with_that_of_the_way_out() {
        // docker0 172.17.0.1/16, wlan0 10.3.0.8/24, eth0 192.168.7.40/24 with the default route.
        let routes = format!(
            "{HEAD}eth0\t00000000\t0107A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
             docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n\
             wlan0\t0000030A\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0\n\
             eth0\t0007A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
        );
        let addresses = "Main:\n  +-- 127.0.0.0/8 2 0 2\n     |-- 127.0.0.1\n        /32 host LOCAL\n\
             |-- 172.17.0.1\n        /32 host LOCAL\n     |-- 192.168.7.0\n        /24 link UNICAST\n\
             |-- 10.3.0.8\n        /32 host LOCAL\n\
             |-- 192.168.7.40\n        /32 host LOCAL\n     |-- 192.168.7.255\n        /32 link BROADCAST\n";
        let (by_cable, by_air) = (own([192, 168, 7, 40], MASK_24), own([10, 3, 0, 8], MASK_24));
        assert_eq!(own_of(&routes, addresses), [by_cable, by_air], "containers are no printers");
        let without = |interface: &str| {
            let lines = routes.lines().filter(|line| !line.starts_with(interface));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(own_of(&without("wlan0"), addresses), [by_cable]);
        let alone = without("eth0").lines().filter(|line| !line.starts_with("wlan0")).collect::<Vec<_>>().join("\n");
        assert_eq!(own_of(&alone, addresses), [own([172, 17, 0, 1], 0xffff_0000)]);
        assert_eq!(own_of(HEAD, addresses), []);
    }
}
