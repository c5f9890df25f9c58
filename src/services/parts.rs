//! Clients for external stock systems: a parts management system (`InvenTree`) and a spool manager (Spoolman). Both
//! clients implement the trait [`StockClient`], and both limit the size, number and duration of responses.
//!
//! [`domain::parts_sync`] decides how the responses affect this shop's stock, and `integrations/stock_sync` when calls
//! are made.

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
use crate::peer_client::{PeerHttp, PeerSettingError};
use domain::amount::{Amount, MAX_AMOUNT};
use domain::parts_sync::{Booking, BookingVerdict, StockLink, StockReading, StockSystem};

/// Maximum number of entries, items or history entries read from one list.
pub const MAX_LISTED: usize = 5000;
/// Number of entries requested per page.
const PAGE_SIZE: usize = 200;
/// Maximum length of a displayed name, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Entry in a stock system to which a material can be linked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockEntry {
    /// Entry number in the stock system.
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
    /// The connection could not be opened, so nothing was sent.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The request was sent, but no complete response arrived.
    #[error("no response: {0}")]
    NoAnswer(String),
    /// The token is missing or wrong, or lacks the necessary permission.
    #[error("the token was rejected (status {0})")]
    Credentials(u16),
    /// The request was rejected.
    #[error("status {status}: {words}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Message from the system, shortened.
        words: String,
    },
    /// The response does not have the format of this stock system.
    #[error("invalid response: {0}")]
    Nonsense(String),
}

impl StockError {
    /// Returns whether the requested object does not exist.
    pub(super) const fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }

    /// Returns whether the failure persists until an operator changes something, because the response cannot be parsed,
    /// or the token is wrong or lacks a permission.
    pub const fn needs_person(&self) -> bool {
        matches!(self, Self::Nonsense(_) | Self::Credentials(_))
    }

    /// Returns whether the failure affects only the requested object rather than the whole system. A token that lacks
    /// one permission (403) may have others, but a wrong token (401) has none.
    pub const fn is_of_one_thing(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Nonsense(_) | Self::Credentials(403))
    }
}

/// Client for a system that manages stock.
#[async_trait]
pub trait StockClient: Send + Sync + 'static {
    /// Returns the kind of stock system that the client uses.
    fn system(&self) -> StockSystem;
    /// Returns the entries to which a material can be linked, up to [`MAX_LISTED`].
    async fn entries(&self) -> Result<Vec<StockEntry>, StockError>;
    /// Returns an entry's current contents. Items of `link` that are missing from all lists are read one by one,
    /// because a list that changes during the read may omit some.
    async fn look(&self, link: &StockLink) -> Result<StockReading, StockError>;
    /// Sends a stock change once, without retries, and returns the outcome.
    async fn book(&self, booking: &Booking) -> Result<BookingVerdict, StockError>;
    /// Returns the remaining amount of an item; `None` if the item no longer exists or the amount is unknown.
    async fn left(&self, item: i64) -> Result<Option<Amount>, StockError>;
    /// Determines whether a previously sent stock change was recorded. [`BookingVerdict::NotBooked`] means that it has
    /// not been recorded yet.
    async fn verdict(&self, booking: &Booking) -> Result<BookingVerdict, StockError>;
}

/// Creates the client for a stock system at the given base address; an empty token is not sent. `http` is the HTTP
/// client for configured services.
pub fn stock_client(
    system: StockSystem,
    http: impl Into<PeerHttp>,
    url: &str,
    token: &str,
) -> Result<Box<dyn StockClient>, PeerSettingError> {
    Ok(match system {
        StockSystem::Parts => Box::new(InvenTree::new(http, url, token)?),
        StockSystem::Spools => Box::new(Spoolman::new(http, url, token)?),
    })
}

/// Tests the connection to the spool manager, and returns a human-readable description of it.
pub async fn test_spools(client: &Client, url: &str, token: &str) -> Result<String, StockError> {
    Spoolman::new(client.clone(), url, token)?.test().await
}

/// Reads a response from each system, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub(crate) fn parse_answer(answer: &Value) {
    inventree::parse(answer);
    spoolman::parse(answer);
}

/// Parses an amount, which may be a number or a decimal string, and rounds it to thousandths.
fn amount(value: &Value) -> Option<Amount> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    let thousandths = (number * 1000.0).round();
    (thousandths.abs() <= MAX_AMOUNT.0 as f64).then_some(Amount(thousandths as i64))
}

/// Returns the error for an entry with too many items to read.
fn too_many() -> StockError {
    StockError::Nonsense(format!("more than {MAX_LISTED} items"))
}

/// Reduces a string to one line of limited length for display.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_NAME_CHARS).collect()
}
