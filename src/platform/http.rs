//! The server's HTTP clients, which are built only in this module.
//!
//! There are two, with opposite policies, and they are never mixed. [`Outbound`] delivers webhooks to addresses that
//! users choose. It rejects all addresses that are not public, and does so when it connects, because the name may then
//! resolve to a different address than when the endpoint was registered. [`lan`] connects to printers and services that
//! staff configured, so it allows private addresses. Link-local addresses and metadata service addresses, which no
//! printer or service uses, are rejected when a name is resolved for a connection, including by [`lan_connect`] and
//! [`lan_addresses`]. Literal IP addresses are not checked at that time: `services::peer_client` and the printer
//! adapters check them beforehand. Neither client follows redirects, uses a proxy from the environment, or retries
//! requests on its own.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::TcpStream;
use url::Host;

use domain::printer::denied_address;
use domain::target::{self, TargetError};

/// `User-Agent` header sent with every request.
pub const USER_AGENT: &str = concat!("Printfloor/", env!("CARGO_PKG_VERSION"));

/// Time for which an idle connection is kept open.
const IDLE_CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);

/// Settings for the webhook client.
#[derive(Debug, Clone)]
pub struct OutboundSettings {
    /// Time limit for connecting, including name resolution.
    pub connect_timeout: Duration,
    /// Time limit for the whole exchange, from sending the request to the end of the response.
    pub timeout: Duration,
    /// `true` to also allow webhooks to private and local addresses.
    pub allow_private: bool,
    /// Maximum number of idle connections kept open per host: the maximum number of concurrent deliveries to an
    /// endpoint, so that a burst of events requires no additional connections.
    pub idle_per_host: usize,
}

/// Settings for the client that connects to printers and configured services. Callers can set a different time limit
/// for a single request.
#[derive(Debug, Clone)]
pub struct LanSettings {
    /// Time limit for connecting.
    pub connect_timeout: Duration,
    /// Maximum time without data while receiving a response.
    pub read_timeout: Duration,
    /// Time limit for the whole exchange.
    pub timeout: Duration,
    /// Time for which an idle connection is kept open.
    pub idle_timeout: Duration,
}

impl Default for LanSettings {
    /// Returns time limits of 3 s for connecting, 10 s without data and 30 s in total. Uploads set their own limit.
    /// Idle connections are kept open for 30 s.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(3),
            read_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
            idle_timeout: IDLE_CONNECTION_TIMEOUT,
        }
    }
}

/// Error returned if the HTTP client cannot be set up, for example because the system has no certificate store.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client could not be set up: {0}")]
pub struct BuildError(#[from] reqwest::Error);

/// Host name resolver, which is passed in so that tests do not require DNS.
pub trait Lookup: Send + Sync + 'static {
    /// Returns all addresses for the host name, in the order in which they should be tried.
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}

/// Error returned for a host whose addresses are all blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host's address is not allowed: {range}")]
pub struct BlockedHost {
    /// Name of the blocked range that contains the host's first address.
    pub range: &'static str,
}

/// HTTP client for webhooks.
#[derive(Clone)]
pub struct Outbound {
    client: reqwest::Client,
    settings: OutboundSettings,
}

impl Outbound {
    /// Builds the client with the operating system's resolver.
    pub fn new(settings: OutboundSettings) -> Result<Self, BuildError> {
        Self::with_lookup(settings, Arc::new(SystemLookup))
    }

    /// Builds the client with the given resolver, whose results are checked like those of the system's resolver.
    pub fn with_lookup(settings: OutboundSettings, lookup: Arc<dyn Lookup>) -> Result<Self, BuildError> {
        let denied: DenyFn = if settings.allow_private { |_| None } else { target::denied_range };
        let guard = FilteringResolver { lookup, denied };
        let client = builder(settings.connect_timeout)
            .timeout(settings.timeout)
            .pool_max_idle_per_host(settings.idle_per_host)
            .dns_resolver(guard)
            .build()?;
        Ok(Self { client, settings })
    }

    /// Builds a POST request if calls to the URL are allowed. Literal IP addresses are checked here, because they are
    /// not resolved; names are checked when the client connects.
    pub fn post(&self, url: &str) -> Result<reqwest::RequestBuilder, TargetError> {
        Ok(self.client.post(target::check(url, self.settings.allow_private)?))
    }

    /// Returns the settings that the client was built with.
    pub fn settings(&self) -> &OutboundSettings {
        &self.settings
    }
}

/// Builds the client for printers and configured services.
pub fn lan(settings: &LanSettings) -> Result<reqwest::Client, BuildError> {
    let builder = builder(settings.connect_timeout).dns_resolver(lan_guard()).pool_idle_timeout(settings.idle_timeout);
    Ok(builder.timeout(settings.timeout).read_timeout(settings.read_timeout).build()?)
}

/// Builds the client that searches for printers. It never sends secrets, so it accepts any certificate, including
/// self-signed ones.
pub fn searching(settings: &LanSettings) -> Result<reqwest::Client, BuildError> {
    let builder = builder(settings.connect_timeout).dns_resolver(lan_guard()).tls_danger_accept_invalid_certs(true);
    Ok(builder.timeout(settings.timeout).read_timeout(settings.read_timeout).pool_max_idle_per_host(0).build()?)
}

#[expect(clippy::disallowed_methods, reason = "the one place that builds clients")]
fn builder(connect_timeout: Duration) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .retry(reqwest::retry::never())
        .referer(false)
        .pool_idle_timeout(IDLE_CONNECTION_TIMEOUT)
        .pool_max_idle_per_host(2)
}

/// Resolves the host of a printer or configured service to the addresses to which connections are allowed; fails if
/// there are none.
pub async fn lan_addresses(host: Host<&str>, port: u16) -> io::Result<Vec<SocketAddr>> {
    let addresses = lan_guard().addresses(host).await.map_err(io::Error::other)?;
    Ok(addresses.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
}

/// Opens a TCP connection to a printer or configured service that uses a protocol other than HTTP.
pub async fn lan_connect(host: Host<&str>, port: u16) -> io::Result<TcpStream> {
    let addresses = lan_addresses(host, port).await?;
    let stream = TcpStream::connect(&addresses[..]).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn lan_guard() -> FilteringResolver {
    FilteringResolver { lookup: Arc::new(SystemLookup), denied: denied_address }
}

/// Function that checks an address. Returns the name of the blocked range that contains the address; `None` if
/// connections to it are allowed.
type DenyFn = fn(IpAddr) -> Option<&'static str>;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Resolver that passes only allowed addresses to the HTTP client.
struct FilteringResolver {
    lookup: Arc<dyn Lookup>,
    denied: DenyFn,
}

impl FilteringResolver {
    /// Resolves a host to the addresses to which connections are allowed; fails if there are none.
    async fn addresses(&self, host: Host<&str>) -> Result<Vec<IpAddr>, AnyError> {
        let addresses = match host {
            Host::Domain(name) => self.lookup.lookup(name.to_owned()).await?,
            Host::Ipv4(ip) => vec![ip.into()],
            Host::Ipv6(ip) => vec![ip.into()],
        };
        allowed(addresses, self.denied)
    }
}

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let lookup = self.lookup.lookup(name.as_str().to_owned());
        let denied = self.denied;
        Box::pin(async move {
            // The client puts the port of the URL in place of 0.
            let addresses: Addrs =
                Box::new(allowed(lookup.await?, denied)?.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

/// Removes the blocked addresses; fails if none are left.
fn allowed(addresses: Vec<IpAddr>, denied: DenyFn) -> Result<Vec<IpAddr>, AnyError> {
    let first = *addresses.first().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))?;
    let allowed: Vec<IpAddr> = addresses.into_iter().filter(|ip| denied(*ip).is_none()).collect();
    match denied(first) {
        Some(range) if allowed.is_empty() => Err(Box::new(BlockedHost { range })),
        _ => Ok(allowed),
    }
}

/// Reads the beginning of a response of any length: stops after `most` bytes and keeps the first `kept_bytes`. If
/// reading stops earlier because of an error, also returns the error. The rest of the response is left unread, which
/// closes the connection.
pub async fn read_beginning(
    answer: &mut reqwest::Response,
    most: usize,
    kept_bytes: usize,
) -> (Vec<u8>, Option<reqwest::Error>) {
    let mut read = 0;
    let mut beginning = Vec::new();
    while read < most {
        match answer.chunk().await {
            Ok(Some(chunk)) => {
                read += chunk.len();
                let room = kept_bytes.saturating_sub(beginning.len());
                beginning.extend_from_slice(&chunk[..chunk.len().min(room)]);
            }
            Ok(None) => break,
            Err(error) => return (beginning, Some(error)),
        }
    }
    (beginning, None)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn ips(list: &[&str]) -> Vec<IpAddr> {
        list.iter().map(|ip| ip.parse().unwrap()).collect()
    }

    #[test]
    fn only_the_allowed_addresses_of_a_host_are_dialled() {
        let addresses = ips(&["10.0.0.1", "8.8.8.8", "::1", "2606:4700::1", "::ffff:127.0.0.1"]);
        assert_eq!(allowed(addresses.clone(), target::denied_range).unwrap(), ips(&["8.8.8.8", "2606:4700::1"]));
        assert_eq!(allowed(addresses.clone(), |_| None).unwrap(), addresses);
    }

    #[test]
    fn a_host_with_denied_addresses_only_is_blocked_and_one_without_any_is_not_found() {
        let error = allowed(ips(&["192.168.1.4", "::1"]), target::denied_range).unwrap_err();
        assert_eq!(error.downcast_ref(), Some(&BlockedHost { range: "private network" }));
        let error = allowed(Vec::new(), target::denied_range).unwrap_err();
        assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::NotFound);
    }

    /// Resolver that always returns the same addresses.
    struct Answers(Vec<IpAddr>);

    impl Lookup for Answers {
        fn lookup(&self, _: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
            let addresses = self.0.clone();
            Box::pin(async move { Ok(addresses) })
        }
    }

    #[tokio::test]
    async fn no_name_of_a_printer_leads_to_a_metadata_service() {
        let guard = |addresses: &[&str]| FilteringResolver {
            lookup: Arc::new(Answers(ips(addresses))),
            denied: denied_address,
        };
        let mixed = guard(&["169.254.169.254", "192.168.1.4"]).addresses(Host::Domain("printer.lan")).await;
        assert_eq!(mixed.unwrap(), ips(&["192.168.1.4"]));
        for denied in [
            guard(&["169.254.169.254"]).addresses(Host::Domain("printer.lan")).await,
            guard(&[]).addresses(Host::Ipv4([169, 254, 1, 1].into())).await,
            guard(&[]).addresses(Host::Ipv6("fe80::1".parse().unwrap())).await,
        ] {
            assert!(denied.unwrap_err().downcast_ref::<BlockedHost>().is_some());
        }
    }

    #[test]
    fn the_outbound_client_refuses_literal_addresses_before_dialling() {
        crate::tls::install_provider();
        let client = Outbound::new(OutboundSettings {
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(15),
            allow_private: false,
            idle_per_host: 2,
        })
        .unwrap();
        for url in
            ["http://127.0.0.1/", "http://[::ffff:10.0.0.1]/", "http://169.254.169.254/latest", "ftp://example.com/"]
        {
            assert!(client.post(url).is_err(), "{url}");
        }
        assert!(client.post("http://8.8.8.8/").is_ok());
        assert!(lan(&LanSettings::default()).is_ok());
    }
}
