//! The HTTP clients of the server: the only place that builds any.
//!
//! There are two, with opposite policies, and they are never mixed. [`Outbound`] carries webhooks to addresses that users chose: it
//! refuses everything that is not public, and it refuses at dial time, because a name may resolve to something else than it did when the
//! endpoint was registered. [`lan`] talks to printers and services that the shop's own people configured, so private addresses are what
//! it is for. Neither follows redirects or uses a proxy from the environment, and neither sends a request twice on its own.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::domain::printer::denied_address;
use crate::domain::target::{self, TargetError};

/// What every request says of its sender.
pub const USER_AGENT: &str = concat!("Printfloor/", env!("CARGO_PKG_VERSION"));

/// How long a connection without work is kept.
const IDLE: Duration = Duration::from_secs(30);

/// How webhooks are sent.
#[derive(Debug, Clone)]
pub struct OutboundSettings {
    /// To reach the other side, name resolution included.
    pub connect_timeout: Duration,
    /// For the whole exchange, from the call to the end of the answer.
    pub timeout: Duration,
    /// Lets webhooks go to private and local addresses too.
    pub allow_private: bool,
    /// Connections to one host that are kept open when they are idle: as many as deliveries may be under way at an
    /// endpoint, so that a burst of events needs no more.
    pub idle_per_host: usize,
}

/// How printers and configured services are spoken to. A caller may set another time limit on a single request.
#[derive(Debug, Clone)]
pub struct LanSettings {
    /// To reach the other side.
    pub connect_timeout: Duration,
    /// The longest silence within an answer.
    pub read_timeout: Duration,
    /// For the whole exchange.
    pub timeout: Duration,
}

impl Default for LanSettings {
    /// Connect 3 s, silence 10 s, whole 30 s. Uploads set their own limit.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(3),
            read_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
        }
    }
}

/// The HTTP client could not be set up, for example because the system has no certificate store.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client could not be set up: {0}")]
pub struct BuildError(#[from] reqwest::Error);

/// Turns a host name into addresses. Handed in, so that tests need no DNS.
pub trait Lookup: Send + Sync + 'static {
    /// All addresses of the name, in the order to try them.
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A host has addresses, but none that a webhook may go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host's address is not allowed: {range}")]
pub struct Blocked {
    /// What its first address belongs to.
    pub range: &'static str,
}

/// The client for webhooks.
#[derive(Clone)]
pub struct Outbound {
    client: reqwest::Client,
    settings: OutboundSettings,
}

impl Outbound {
    /// Builds it with the resolver of the operating system.
    pub fn new(settings: OutboundSettings) -> Result<Self, BuildError> {
        Self::with_lookup(settings, Arc::new(SystemLookup))
    }

    /// Builds it with another resolver. Its answers are judged like those of any other.
    pub fn with_lookup(settings: OutboundSettings, lookup: Arc<dyn Lookup>) -> Result<Self, BuildError> {
        let guard = Guard { lookup, allow_private: settings.allow_private };
        let client = builder(settings.connect_timeout)
            .timeout(settings.timeout)
            .pool_max_idle_per_host(settings.idle_per_host)
            .dns_resolver(guard)
            .build()?;
        Ok(Self { client, settings })
    }

    /// Begins a POST, if the URL may be called at all. Literal addresses are judged here, since no resolver is asked for them; names are
    /// judged when they are dialled.
    pub fn post(&self, url: &str) -> Result<reqwest::RequestBuilder, TargetError> {
        Ok(self.client.post(target::check(url, self.settings.allow_private)?))
    }

    /// What it was built with.
    pub fn settings(&self) -> &OutboundSettings {
        &self.settings
    }
}

/// Builds the client for printers and configured services.
pub fn lan(settings: &LanSettings) -> Result<reqwest::Client, BuildError> {
    let builder = builder(settings.connect_timeout).dns_resolver(LanGuard);
    Ok(builder.timeout(settings.timeout).read_timeout(settings.read_timeout).build()?)
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
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(2)
}

/// Stands between the client and the resolver and lets only allowed addresses through to be dialled.
struct Guard {
    lookup: Arc<dyn Lookup>,
    allow_private: bool,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let found = self.lookup.lookup(name.as_str().to_owned());
        let allow_private = self.allow_private;
        Box::pin(async move {
            let allowed = allowed(found.await?, allow_private)?;
            // The client puts the port of the URL in place of 0.
            let addresses: Addrs = Box::new(allowed.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

/// Lets no name lead to a link-local address or to a cloud's metadata service, where no printer and no configured
/// service is.
struct LanGuard;

impl Resolve for LanGuard {
    fn resolve(&self, name: Name) -> Resolving {
        let found = SystemLookup.lookup(name.as_str().to_owned());
        Box::pin(async move {
            let found = found.await?;
            let denied = found.first().and_then(|ip| denied_address(*ip));
            let allowed: Vec<IpAddr> = found.into_iter().filter(|ip| denied_address(*ip).is_none()).collect();
            match denied {
                Some(range) if allowed.is_empty() => Err(Blocked { range }.into()),
                _ => Ok(Box::new(allowed.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs),
            }
        })
    }
}

/// Those addresses that may be dialled; an error when there are some and none may.
fn allowed(found: Vec<IpAddr>, allow_private: bool) -> Result<Vec<IpAddr>, Box<dyn std::error::Error + Send + Sync>> {
    let first = *found.first().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))?;
    if allow_private {
        return Ok(found);
    }
    let allowed: Vec<IpAddr> = found.into_iter().filter(|ip| target::address_allowed(*ip)).collect();
    match target::denied_range(first) {
        Some(range) if allowed.is_empty() => Err(Box::new(Blocked { range })),
        _ => Ok(allowed),
    }
}

/// Reads the beginning of an answer of any length: stops after `most` bytes and keeps the first `kept` of them. Also gives what stopped it
/// before that. The rest is left unread, which closes the connection.
pub async fn read_beginning(
    answer: &mut reqwest::Response,
    most: usize,
    kept: usize,
) -> (Vec<u8>, Option<reqwest::Error>) {
    let mut read = 0;
    let mut beginning = Vec::new();
    while read < most {
        match answer.chunk().await {
            Ok(Some(chunk)) => {
                read += chunk.len();
                let room = kept.saturating_sub(beginning.len());
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
        let found = ips(&["10.0.0.1", "8.8.8.8", "::1", "2606:4700::1", "::ffff:127.0.0.1"]);
        assert_eq!(allowed(found.clone(), false).unwrap(), ips(&["8.8.8.8", "2606:4700::1"]));
        assert_eq!(allowed(found.clone(), true).unwrap(), found);
    }

    #[test]
    fn a_host_with_denied_addresses_only_is_blocked_and_one_without_any_is_not_found() {
        let error = allowed(ips(&["192.168.1.4", "::1"]), false).unwrap_err();
        assert_eq!(error.downcast_ref(), Some(&Blocked { range: "private network" }));
        let error = allowed(Vec::new(), false).unwrap_err();
        assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_outbound_client_refuses_literal_addresses_before_dialling() {
        crate::services::tls::install_provider();
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
