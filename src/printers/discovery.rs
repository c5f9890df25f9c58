//! Finds printers on the local network: probes this machine and the addresses of its networks for each printer type,
//! and listens for printers that announce themselves. A printer is recognised by its response, never by an open port
//! alone.
//!
//! Only `range` decides which addresses are probed, because every probe requires its `ScanAddress` type. No secret is
//! sent and no redirect is followed. Registering a printer and communicating with it afterwards are the responsibility
//! of [`super::registry`].

mod announcements;
mod range;
#[cfg(test)]
mod tests;
mod web;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, join, join_all};
use futures::stream::iter;
use futures::{FutureExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::range::ScanAddress;
pub use self::range::{OwnAddress, own_addresses, scanned};
use super::{PRINTER_TYPES, PrinterType};
use crate::probes::{OwnProbe, PrinterIdentity};

/// Maximum number of endpoints probed in parallel. Most addresses in a network do not answer, and each of their
/// endpoints takes the whole time limit for a connection: a /24 network takes about a quarter of a minute.
const MAX_PARALLEL: usize = 96;
/// Time limit for opening a connection; on a local network this takes a few milliseconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit for one response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// Time limit for a whole search.
const LONGEST_SEARCH: Duration = Duration::from_secs(75);
/// Maximum number of reports on how many endpoints have been probed.
const MAX_REPORTS: usize = 200;
/// Maximum number of printers found by one search, so that a malicious device cannot flood the result with
/// announcements.
const MAX_FOUND: usize = 200;
/// Maximum length of a printer's self-reported name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// Printer found by a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundPrinter {
    /// API name of the printer type, such as `fw_rest`.
    pub kind: &'static str,
    /// Base URL for registering the printer.
    pub base_url: String,
    /// Name reported by the printer, or a description of its type and host.
    pub name: String,
    /// Serial number; `None` if the printer reports none.
    pub serial: Option<String>,
    /// Human-readable summary of the response that identified the printer.
    pub evidence: String,
    host: Ipv4Addr,
    says_its_name: bool,
    /// `true` if the printer responded at the usual port of its type. A printer with several endpoints is reported
    /// once.
    usual_port: bool,
}

/// Progress report of a running search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchStep {
    /// Some of the endpoints (pairs of an address and a port) have been probed.
    Asked {
        /// Number of endpoints probed so far.
        done: usize,
        /// Total number of endpoints to probe.
        total: usize,
    },
    /// A printer was found. The same printer may be reported twice; the final result is deduplicated.
    Found(FoundPrinter),
    /// Human-readable note about something that could not be done.
    Note(String),
}

/// One search: the addresses to probe, the client, and the time to listen for announcements.
pub struct Search {
    client: reqwest::Client,
    addresses: Vec<ScanAddress>,
    listening: Duration,
    /// `true` to also listen for announcements from other machines.
    whole_network: bool,
    /// Replacements for the usual ports, keyed by the usual port.
    moved_ports: BTreeMap<u16, u16>,
}

impl Search {
    /// Creates a search of the given addresses. `client` must send no secrets and must not follow redirects;
    /// `listening` is the time to listen for announcements.
    pub fn new(client: reqwest::Client, addresses: Vec<ScanAddress>, listening: Duration) -> Self {
        let whole_network = addresses.iter().any(|address| !address.ip().is_loopback());
        Self { client, addresses, listening, whole_network, moved_ports: BTreeMap::new() }
    }

    /// Runs the whole search and reports its progress to `steps`. A search that is cancelled, or takes too long, ends
    /// with what it has found so far.
    pub async fn run(&self, steps: mpsc::Sender<SearchStep>, cancel: &CancellationToken) -> Vec<FoundPrinter> {
        let finds = SearchResults { printers: Mutex::default(), steps: &steps };
        let announced = PRINTER_TYPES.iter().filter_map(|declared| Some((declared, declared.announced.as_ref()?)));
        let ears: Vec<BoxFuture<'_, ()>> =
            announced.map(|(declared, how)| self.listen(declared, how, &finds).boxed()).collect();
        let whole = join(self.ask_all(&finds), join_all(ears));
        let is_over_in_time = tokio::select! {
            biased; // the cancellation before one more answer
            () = cancel.cancelled() => true,
            ended = timeout(LONGEST_SEARCH, whole) => ended.is_ok(),
        };
        if !is_over_in_time {
            let words = format!(
                "the search was ended after {} seconds, before all addresses were checked",
                LONGEST_SEARCH.as_secs()
            );
            finds.tell(SearchStep::Note(words)).await;
        }
        let printers = finds.printers.into_inner().unwrap_or_else(PoisonError::into_inner);
        once_each(printers)
    }

    /// Probes all endpoints, a limited number at a time, and reports how many have been probed.
    async fn ask_all(&self, finds: &SearchResults<'_>) {
        let doors = self.doors();
        let total = doors.len();
        let questions: Vec<BoxFuture<'_, _>> =
            doors.into_iter().map(|(address, port)| self.ask(address, port).boxed()).collect();
        let mut answers = iter(questions).buffer_unordered(MAX_PARALLEL);
        let mut done = 0;
        while let Some(answer) = answers.next().await {
            done += 1;
            if let Some(printer) = answer {
                finds.note(printer).await;
            }
            if is_reported(done, total) {
                finds.tell(SearchStep::Asked { done, total }).await;
            }
        }
    }

    /// Returns the endpoints to probe: each combination of an address and a port.
    fn doors(&self) -> Vec<(ScanAddress, u16)> {
        let ports = ports();
        self.addresses.iter().flat_map(|address| ports.iter().map(|port| (*address, *port))).collect()
    }

    fn moved(&self, port: u16) -> u16 {
        self.moved_ports.get(&port).copied().unwrap_or(port)
    }

    /// Probes one endpoint; returns `None` if no printer type recognises it.
    async fn ask(&self, address: ScanAddress, port: u16) -> Option<FoundPrinter> {
        let (host, at) = (address.ip(), self.moved(port));
        // Here and in `web::recognise` is dialled, and only a `ScanAddress` comes to either.
        let stream = timeout(CONNECT_TIMEOUT, TcpStream::connect((host, at))).await.ok()?.ok()?;
        if let Some((declared, probe)) = own_probe(port) {
            let recognised = timeout(ANSWER_TIMEOUT, (probe.ask)(stream)).await.ok()??;
            return Some(found_printer(declared, host, (probe.base_url)(host, at), port, recognised));
        }
        drop(stream);
        let (declared, recognised) = web::recognise(&self.client, address, port, at).await?;
        Some(found_printer(declared, host, web::base_url(address, port, at), port, recognised))
    }
}

/// Returns whether it is reported that `done` of `total` endpoints have been probed: all of a few, some of many, and
/// always the last.
fn is_reported(done: usize, total: usize) -> bool {
    let share = |done: usize| done * MAX_REPORTS / total.max(1);
    done == total || share(done) > share(done.saturating_sub(1))
}

/// Returns the printer type, with its probe, that is probed by its own protocol at the given port.
fn own_probe(port: u16) -> Option<(&'static PrinterType, &'static OwnProbe)> {
    let mut all = PRINTER_TYPES.iter().filter_map(|declared| Some((declared, declared.own_probe.as_ref()?)));
    all.find(|(_, probe)| probe.port == port)
}

/// Printers found so far by a search, and the channel that reports its progress.
struct SearchResults<'a> {
    printers: Mutex<Vec<FoundPrinter>>,
    steps: &'a mpsc::Sender<SearchStep>,
}

impl SearchResults<'_> {
    /// Adds a printer and reports it, unless it has already been found.
    async fn note(&self, printer: FoundPrinter) {
        let new = {
            let mut printers = self.printers.lock().unwrap_or_else(PoisonError::into_inner);
            let new = printers.len() < MAX_FOUND && !printers.contains(&printer);
            if new {
                printers.push(printer.clone());
            }
            new
        };
        if new {
            self.tell(SearchStep::Found(printer)).await;
        }
    }

    /// Reports a step; does nothing if the receiver no longer exists.
    async fn tell(&self, step: SearchStep) {
        let _ = self.steps.send(step).await;
    }
}

/// Returns all ports at which any printer type is probed.
fn ports() -> BTreeSet<u16> {
    let types = PRINTER_TYPES.iter();
    types
        .flat_map(|declared| {
            let web = declared.web_probes.iter().flat_map(|probe| probe.ports).copied();
            web.chain(declared.own_probe.as_ref().map(|probe| probe.port))
        })
        .collect()
}

fn found_printer(
    declared: &'static PrinterType,
    host: Ipv4Addr,
    base_url: String,
    port: u16,
    recognised: PrinterIdentity,
) -> FoundPrinter {
    let name = recognised.name.map(|name| plain(&name)).filter(|name| !name.is_empty());
    FoundPrinter {
        kind: declared.word,
        base_url,
        says_its_name: name.is_some(),
        name: name.unwrap_or_else(|| format!("{} at {host}", declared.program)),
        serial: recognised.serial,
        evidence: recognised.evidence,
        host,
        usual_port: port == declared.default_port,
    }
}

/// Reduces untrusted text to one line of limited length.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect::<String>().trim().to_owned()
}

/// Deduplicates printers. If a host has several endpoints of one type, the one at the usual port is kept, otherwise the
/// first. If a printer both responded to a probe and announced itself, the details from both are combined.
fn once_each(mut candidates: Vec<FoundPrinter>) -> Vec<FoundPrinter> {
    // This machine first: what is found there is reached there. Doors answer in any order.
    candidates.sort_by_key(|printer| {
        (!printer.host.is_loopback(), printer.host, printer.kind, !printer.usual_port, printer.base_url.clone())
    });
    let mut printers: Vec<FoundPrinter> = Vec::new();
    for printer in candidates {
        let same = |other: &FoundPrinter| {
            other.kind == printer.kind
                && match (&other.serial, &printer.serial) {
                    (Some(one), Some(two)) => one == two,
                    _ => other.host == printer.host,
                }
        };
        let Some(existing) = printers.iter_mut().find(|other| same(other)) else {
            printers.push(printer);
            continue;
        };
        // Behind the usual door is the printer itself, behind the others what stands before it.
        if existing.serial.is_some()
            && existing.serial == printer.serial
            && !existing.evidence.contains(&printer.evidence)
        {
            existing.evidence = format!("{}; {}", existing.evidence, printer.evidence);
            if printer.says_its_name && !existing.says_its_name {
                (existing.name, existing.says_its_name) = (printer.name, true);
            }
        }
    }
    printers
}
