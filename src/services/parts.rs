//! Clients of external stock systems: a parts management system (`InvenTree`) and a spool manager (Spoolman). Both
//! implement one port, [`StockClient`], and all their responses are bounded in size, number and time.
//!
//! [`domain::parts_sync`] decides the consequences for this shop's stock, and `integrations/stock_sync` the
//! times of calls.

mod inventree;
mod rest;
mod spoolman;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use reqwest::Client;
use serde_json::Value;

use self::inventree::InvenTree;
use self::spoolman::Spoolman;
use crate::peer_client::PeerSettingError;
use domain::amount::{Amount, MAX_AMOUNT};
use domain::parts_sync::{Booking, BookingVerdict, StockLink, StockReading, StockSystem};

/// Maximum number of entries, items or history entries read from one list.
pub const MAX_LISTED: usize = 5000;
/// Number of entries requested per page.
const PAGE_SIZE: usize = 200;
/// Maximum number of characters of a displayed name.
const MAX_NAME_CHARS: usize = 200;

/// An entry of a stock system to which a material can be linked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockEntry {
    /// Number in the stock system.
    pub number: i64,
    /// Display name.
    pub name: String,
}

/// Reason why a call to a stock system failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StockError {
    /// The address or the token is invalid.
    #[error(transparent)]
    Settings(#[from] PeerSettingError),
    /// No connection was established, so nothing was sent.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The request was sent, but no complete response arrived.
    #[error("no response: {0}")]
    NoAnswer(String),
    /// The token is missing, wrong, or lacks the permission.
    #[error("the token was rejected (status {0})")]
    Credentials(u16),
    /// The request was rejected.
    #[error("status {status}: {words}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Message of the system, shortened.
        words: String,
    },
    /// The response is not in the format of such a system.
    #[error("invalid response: {0}")]
    Nonsense(String),
}

impl StockError {
    /// Returns whether the requested object does not exist.
    pub(super) const fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }

    /// Returns whether the failure persists until an operator changes something: the response cannot be understood, or
    /// the token is wrong or lacks the permission.
    pub const fn needs_person(&self) -> bool {
        matches!(self, Self::Nonsense(_) | Self::Credentials(_))
    }

    /// Returns whether the failure concerns only the requested object and not the system. A token that lacks one
    /// permission (403) may have others, but a wrong one (401) has none.
    pub const fn is_of_one_thing(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Nonsense(_) | Self::Credentials(403))
    }
}

/// Client of a system that counts stock.
#[async_trait]
pub trait StockClient: Send + Sync + 'static {
    /// Returns the system that this client talks to.
    fn system(&self) -> StockSystem;
    /// Returns the entries to which a material can be linked, at most as many as are read of one list.
    async fn entries(&self) -> Result<Vec<StockEntry>, StockError>;
    /// Returns the current content of an entry. Items of `link` that no list shows are looked up one by one, because a
    /// list that changes while it is read may omit some.
    async fn look(&self, link: &StockLink) -> Result<StockReading, StockError>;
    /// Sends a booking once and returns its outcome.
    async fn book(&self, booking: &Booking) -> Result<BookingVerdict, StockError>;
    /// Returns the amount left of an item; `None` if the item is gone or the amount unknown.
    async fn left(&self, item: i64) -> Result<Option<Amount>, StockError>;
    /// Determines whether a booking that was sent earlier was booked. [`BookingVerdict::NotBooked`] means: not so far.
    async fn verdict(&self, booking: &Booking) -> Result<BookingVerdict, StockError>;
}

/// Creates the client of a system at this base address; an empty token is not sent. `client` is the HTTP client for
/// configured services.
pub fn stock_client(
    system: StockSystem,
    client: Client,
    url: &str,
    token: &str,
) -> Result<Box<dyn StockClient>, PeerSettingError> {
    Ok(match system {
        StockSystem::Parts => Box::new(InvenTree::new(client, url, token)?),
        StockSystem::Spools => Box::new(Spoolman::new(client, url, token)?),
    })
}

/// Tests the connection to the spool manager; returns a human-readable description of it.
pub async fn test_spools(client: &Client, url: &str, token: &str) -> Result<String, StockError> {
    Spoolman::new(client.clone(), url, token)?.test().await
}

/// Parses an amount, either a number or a decimal string, and rounds it to thousandths.
fn amount(value: &Value) -> Option<Amount> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    let thousandths = (number * 1000.0).round();
    (thousandths.abs() <= MAX_AMOUNT.0 as f64).then_some(Amount(thousandths as i64))
}

/// Returns the error for an entry with more items than are read.
fn too_many() -> StockError {
    StockError::Nonsense(format!("more than {MAX_LISTED} items"))
}

/// Returns a text as one line of bounded length for display.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_NAME_CHARS).collect()
}
