//! Finds printers in the network: asks this machine and a few addresses beside it where printers of each type answer,
//! and listens for those that announce themselves. A printer is found by what it answered, never by an open port alone.
//!
//! Which addresses are asked is decided in `range` alone, whose type every door and every page is asked by. No secret
//! is sent, and no redirect is followed.
//! Not for: registering what was found, or speaking to it afterwards ([`super::registry`]).

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

pub(super) use self::announcements::Announcement;
use self::range::ScanAddress;
pub use self::range::{own_address, scanned};
pub(super) use self::web::{WebAnswer, WebProbe};
use super::{PRINTER_TYPES, PrinterType};

/// Addresses and ports that are asked at the same time.
const MAX_PARALLEL: usize = 16;
/// Longest time to open a connection: in a local network it takes a few milliseconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest time for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest time of a whole search.
const LONGEST_SEARCH: Duration = Duration::from_secs(45);
/// Most printers of one search; a stranger who announces more is not believed.
const MAX_FOUND: usize = 200;
/// Most characters of a name that a printer says of itself.
const MAX_NAME_CHARS: usize = 80;

/// How printers of a type are told by another protocol than the web's: a port, and a conversation on a connection to
/// it.
pub(super) struct OwnProbe {
    /// The port that is asked.
    pub(super) port: u16,
    /// Speaks on the connection; `None` if something else answers.
    pub(super) ask: fn(TcpStream) -> BoxFuture<'static, Option<Recognised>>,
    /// The base URL of a printer at this host and port.
    pub(super) base_url: fn(Ipv4Addr, u16) -> String,
}

/// What a printer said of itself, by which it is known to be one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Recognised {
    /// Its own name, where it says one.
    pub(super) name: Option<String>,
    /// Its serial number, where it says one.
    pub(super) serial: Option<String>,
    /// What it answered, in words for people.
    pub(super) evidence: String,
}

/// A printer that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundPrinter {
    /// The word of its type.
    pub kind: &'static str,
    /// Its base URL, as a printer is registered with it.
    pub base_url: String,
    /// Its own name, or what it is and where.
    pub name: String,
    /// Its serial number, where it says one.
    pub serial: Option<String>,
    /// What it answered, in words for people.
    pub evidence: String,
    host: Ipv4Addr,
    says_its_name: bool,
    /// At the port that is usual for its type; several doors of one printer are one find.
    usual_port: bool,
}

/// What a search tells while it goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchStep {
    /// So many of all doors (addresses with a port each) were asked.
    Asked {
        /// Doors that were asked.
        done: usize,
        /// Doors that are asked in all.
        total: usize,
    },
    /// A printer was found; the result may leave out that it was found twice.
    Found(FoundPrinter),
    /// Something could not be done, in words for people.
    Note(String),
}

/// One search: where, how, and how long announcements are listened for.
pub struct Search {
    client: reqwest::Client,
    addresses: Vec<ScanAddress>,
    listening: Duration,
    /// Whether announcements of other machines are heard, too.
    whole_network: bool,
    /// Other ports than the usual ones, by the usual ones.
    moved_ports: BTreeMap<u16, u16>,
}

impl Search {
    /// A search of these addresses. `client` must be one that sends no secrets and follows no redirects.
    pub fn new(client: reqwest::Client, addresses: Vec<ScanAddress>, listening: Duration) -> Self {
        let whole_network = addresses.iter().any(|address| !address.ip().is_loopback());
        Self { client, addresses, listening, whole_network, moved_ports: BTreeMap::new() }
    }

    /// Searches to the end; says on `told` what happens meanwhile.
    pub async fn run(&self, told: mpsc::Sender<SearchStep>) -> Vec<FoundPrinter> {
        let finds = Finds { printers: Mutex::default(), told: &told };
        let doors = self.doors();
        let total = doors.len();
        let questions: Vec<BoxFuture<'_, _>> =
            doors.into_iter().map(|(address, port)| self.ask(address, port).boxed()).collect();
        let asking = async {
            let mut asked = iter(questions).buffer_unordered(MAX_PARALLEL);
            let mut done = 0;
            while let Some(answer) = asked.next().await {
                done += 1;
                if let Some(printer) = answer {
                    finds.note(printer).await;
                }
                finds.tell(SearchStep::Asked { done, total }).await;
            }
        };
        let announced = PRINTER_TYPES.iter().filter_map(|declared| Some((declared, declared.announced.as_ref()?)));
        let ears: Vec<BoxFuture<'_, ()>> =
            announced.map(|(declared, how)| self.listen(declared, how, &finds).boxed()).collect();
        let listening = join_all(ears);
        let _ = timeout(LONGEST_SEARCH, join(asking, listening)).await;
        let found = finds.printers.into_inner().unwrap_or_else(PoisonError::into_inner);
        once_each(found)
    }

    /// What is asked: every address at every port.
    fn doors(&self) -> Vec<(ScanAddress, u16)> {
        let ports = ports();
        self.addresses.iter().flat_map(|address| ports.iter().map(|port| (*address, *port))).collect()
    }

    fn moved(&self, port: u16) -> u16 {
        self.moved_ports.get(&port).copied().unwrap_or(port)
    }

    /// The printer behind one door; `None` if there is none that a type recognises.
    async fn ask(&self, address: ScanAddress, port: u16) -> Option<FoundPrinter> {
        let (host, at) = (address.ip(), self.moved(port));
        // Here and in `web::recognise` is dialled, and only a `ScanAddress` comes to either.
        let stream = timeout(CONNECT_TIMEOUT, TcpStream::connect((host, at))).await.ok()?.ok()?;
        if let Some((declared, probe)) = own_probe(port) {
            let known = timeout(ANSWER_TIMEOUT, (probe.ask)(stream)).await.ok()??;
            return Some(found(declared, host, (probe.base_url)(host, at), port, known));
        }
        drop(stream);
        let (declared, known) = web::recognise(&self.client, address, port, at).await?;
        Some(found(declared, host, web::base_url(address, port, at), port, known))
    }
}

/// The type that is asked in its own protocol at a port.
fn own_probe(port: u16) -> Option<(&'static PrinterType, &'static OwnProbe)> {
    let mut all = PRINTER_TYPES.iter().filter_map(|declared| Some((declared, declared.own_probe.as_ref()?)));
    all.find(|(_, probe)| probe.port == port)
}

/// What a search has found so far, and whom it tells.
struct Finds<'a> {
    printers: Mutex<Vec<FoundPrinter>>,
    told: &'a mpsc::Sender<SearchStep>,
}

impl Finds<'_> {
    /// Keeps a printer and tells of it, unless it is known.
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

    /// Tells of a step, if anybody listens.
    async fn tell(&self, step: SearchStep) {
        let _ = self.told.send(step).await;
    }
}

/// Every port that a type is looked for at.
fn ports() -> BTreeSet<u16> {
    let types = PRINTER_TYPES.iter();
    types
        .flat_map(|declared| {
            let web = declared.web_probes.iter().flat_map(|probe| probe.ports).copied();
            web.chain(declared.own_probe.as_ref().map(|probe| probe.port))
        })
        .collect()
}

fn found(
    declared: &'static PrinterType,
    host: Ipv4Addr,
    base_url: String,
    port: u16,
    known: Recognised,
) -> FoundPrinter {
    let name = known.name.map(|name| plain(&name)).filter(|name| !name.is_empty());
    FoundPrinter {
        kind: declared.word,
        base_url,
        says_its_name: name.is_some(),
        name: name.unwrap_or_else(|| format!("{} at {host}", declared.program)),
        serial: known.serial,
        evidence: known.evidence,
        host,
        usual_port: port == declared.default_port,
    }
}

/// One line of what a stranger said, of bounded length.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect::<String>().trim().to_owned()
}

/// Each printer once: of several doors of a type at one host that at its usual port, else the first; of one that
/// announced itself and was asked, both words in one.
fn once_each(mut found: Vec<FoundPrinter>) -> Vec<FoundPrinter> {
    // This machine first: what is found there is reached there. Doors answer in any order.
    found.sort_by_key(|printer| {
        (!printer.host.is_loopback(), printer.host, printer.kind, !printer.usual_port, printer.base_url.clone())
    });
    let mut printers: Vec<FoundPrinter> = Vec::new();
    for printer in found {
        let same = |other: &FoundPrinter| {
            other.kind == printer.kind
                && match (&other.serial, &printer.serial) {
                    (Some(one), Some(two)) => one == two,
                    _ => other.host == printer.host,
                }
        };
        let Some(known) = printers.iter_mut().find(|other| same(other)) else {
            printers.push(printer);
            continue;
        };
        // Behind the usual door is the printer itself, behind the others what stands before it.
        if known.serial.is_some() && known.serial == printer.serial && !known.evidence.contains(&printer.evidence) {
            known.evidence = format!("{}; {}", known.evidence, printer.evidence);
            if printer.says_its_name && !known.says_its_name {
                (known.name, known.says_its_name) = (printer.name, true);
            }
        }
    }
    printers
}
