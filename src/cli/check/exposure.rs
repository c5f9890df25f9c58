//! Checks who can reach the server, and how it identifies them: its public address, the proxies in front of it, and
//! settings that expose it more than the defaults do. Pure.

use std::net::IpAddr;

use super::report::CheckReport;
use crate::config::Config;
use crate::domain::limits::address::Network;

/// Addresses that are assigned to no one, so that no proxy ever has them: a network that contains one of them is too
/// wide.
const NOBODYS: [&str; 2] = ["192.0.2.1", "2001:db8::1"];

/// Reports what the operator should know.
pub fn check(report: &mut CheckReport, config: &Config) {
    let all = notes(config);
    if all.is_empty() {
        let words = if config.server.listen.ip().is_loopback() { "this machine only" } else { "the network" };
        report.fine("exposure", format!("reached at {} from {words}", config.public_url()));
    }
    for words in all {
        report.note("exposure", words);
    }
}

/// Returns a sentence for each setting, or missing one, that could give someone more access than intended.
fn notes(config: &Config) -> Vec<String> {
    let server = &config.server;
    let (listen, url) = (server.listen, config.public_url());
    let is_local = listen.ip().is_loopback();
    let is_encrypted = url.starts_with("https://");
    let mut all = Vec::new();
    if server.public_url.is_empty() && !is_local {
        all.push(format!("server.public_url is not set: links in mails lead to {url}, where customers may not get"));
    }
    if !server.public_url.is_empty() && !is_encrypted && !is_this_machine(&url) {
        all.push(format!("{url} is not encrypted: put a proxy with TLS in front of the server (docs/OPERATIONS.md)"));
    }
    if is_encrypted && server.trusted_proxies.is_empty() {
        all.push(
            "server.public_url is https://, so a proxy is in front of the server, but server.trusted_proxies is empty: \
             all clients share their limits and attempts to sign in"
                .to_owned(),
        );
    }
    if is_encrypted && !is_local {
        all.push(format!(
            "server.listen is {listen}: clients can go around the proxy, unless a firewall keeps them out"
        ));
    }
    let wide = server.trusted_proxies.iter().filter(|text| text.parse().is_ok_and(has_everybody));
    all.extend(wide.map(|text| {
        format!("server.trusted_proxies has {text}, in which clients are too: they can choose their address")
    }));
    if config.webhooks.allow_private_targets {
        all.push("webhooks.allow_private_targets is on: webhooks may be sent into your own network".to_owned());
    }
    if config.metrics.public {
        all.push("metrics.public is on: whoever reaches the server may read /metrics".to_owned());
    }
    all
}

/// Returns whether a URL leads to the machine that opens it.
fn is_this_machine(url: &str) -> bool {
    ["http://127.", "http://localhost", "http://[::1]"].iter().any(|beginning| url.starts_with(beginning))
}

/// Returns whether a network has more addresses than proxies can have.
fn has_everybody(network: Network) -> bool {
    NOBODYS.iter().filter_map(|text| text.parse::<IpAddr>().ok()).any(|address| network.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the notes on the defaults with some changes.
    fn notes_with(change: impl Fn(&mut Config)) -> Vec<String> {
        let mut config = Config::default();
        change(&mut config);
        notes(&config)
    }

    #[test]
    fn the_defaults_and_a_server_behind_its_proxy_are_fine() {
        assert_eq!(notes_with(|_| ()), Vec::<String>::new());
        let behind = notes_with(|config| {
            "https://shop.example.com".clone_into(&mut config.server.public_url);
            config.server.trusted_proxies = vec!["127.0.0.1".to_owned(), "10.0.0.0/8".to_owned()];
        });
        assert_eq!(behind, Vec::<String>::new());
    }

    #[test]
    fn each_opening_is_noted() {
        let open = notes_with(|config| {
            config.server.listen = ([0, 0, 0, 0], 8787).into();
            config.webhooks.allow_private_targets = true;
            config.metrics.public = true;
        });
        let expected = ["server.public_url is not set", "webhooks.allow_private_targets", "metrics.public"];
        assert_eq!(open.len(), expected.len(), "{open:?}");
        assert!(open.iter().zip(expected).all(|(words, beginning)| words.starts_with(beginning)), "{open:?}");

        let unknown = notes_with(|config| "https://shop.example.com".clone_into(&mut config.server.public_url));
        assert!(unknown.len() == 1 && unknown[0].contains("server.trusted_proxies is empty"), "{unknown:?}");
        let around = notes_with(|config| {
            "https://shop.example.com".clone_into(&mut config.server.public_url);
            config.server.listen = ([0, 0, 0, 0], 8787).into();
            config.server.trusted_proxies = vec!["0.0.0.0/0".to_owned(), "::/0".to_owned(), "10.0.0.5".to_owned()];
        });
        assert!(around.len() == 3 && around[0].contains("can go around the proxy"), "{around:?}");
        assert!(around[1].contains("0.0.0.0/0") && around[2].contains("::/0"), "{around:?}");
        let plain = notes_with(|config| "http://shop.example.com".clone_into(&mut config.server.public_url));
        assert!(plain.len() == 1 && plain[0].contains("is not encrypted"), "{plain:?}");
    }
}
