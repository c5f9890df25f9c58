//! Clients of systems that count stock besides us: a parts management system (`InvenTree`), and one that knows spools
//! (Spoolman). Both are behind one port, [`StockClient`], and everything that they answer is bounded in size, number
//! and time.
//!
//! What the answers mean for our stock is [`crate::domain::parts_sync`]'s affair; when to ask,
//! `integrations/stock_sync`'s.

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
use crate::domain::amount::{Amount, MAX_AMOUNT};
use crate::domain::parts_sync::{Booking, BookingVerdict, StockLink, StockLook, StockSystem};
use crate::services::peer_client::PeerSettingError;

/// Most entries, items or entries of a history that are read of one list.
pub(crate) const MAX_LISTED: usize = 5000;
/// How many are asked for at once.
const PAGE_SIZE: usize = 200;
/// Most characters of a name that is shown.
const MAX_NAME_CHARS: usize = 200;

/// An entry that a material can be linked to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockEntry {
    /// Its number there.
    pub number: i64,
    /// Its name for people.
    pub name: String,
}

/// Why something could not be asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StockError {
    /// The address or the token cannot be used.
    #[error(transparent)]
    Settings(#[from] PeerSettingError),
    /// No connection was made, so nothing was sent.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// Something was sent, and no whole answer came.
    #[error("it did not answer: {0}")]
    NoAnswer(String),
    /// The token is missing, wrong, or may not do this.
    #[error("it refuses the token (status {0})")]
    Credentials(u16),
    /// It said no.
    #[error("it answered {status}: {words}")]
    Refused {
        /// As HTTP has it.
        status: u16,
        /// What it said, shortened.
        words: String,
    },
    /// The answer is not what such a system says.
    #[error("its answer cannot be understood: {0}")]
    Nonsense(String),
}

impl StockError {
    /// Whether there is no such thing.
    pub(super) const fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }

    /// Whether it stays as it is until a person changes something: the answer cannot be understood, or the token may
    /// not do this.
    pub const fn needs_person(&self) -> bool {
        matches!(self, Self::Nonsense(_) | Self::Credentials(403))
    }

    /// Whether it says something about the thing that was asked for alone, and nothing against the system.
    pub const fn is_of_one_thing(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Nonsense(_) | Self::Credentials(403))
    }
}

/// A system that counts stock.
#[async_trait]
pub trait StockClient: Send + Sync + 'static {
    /// Which it is.
    fn system(&self) -> StockSystem;
    /// The entries that a material can be linked to, at most so many as are read of one list.
    async fn entries(&self) -> Result<Vec<StockEntry>, StockError>;
    /// What an entry holds now. Items of `link` that no list shows are looked for one by one, since a list that changes
    /// while it is read may leave some out.
    async fn look(&self, link: &StockLink) -> Result<StockLook, StockError>;
    /// Sends a booking, once; what came of it.
    async fn book(&self, booking: &Booking) -> Result<BookingVerdict, StockError>;
    /// What is left on an item; `None` when it is gone, or nobody knows.
    async fn left(&self, item: i64) -> Result<Option<Amount>, StockError>;
    /// Finds out whether a booking that was sent earlier was booked. [`BookingVerdict::NotBooked`] means: so far.
    async fn verdict(&self, booking: &Booking) -> Result<BookingVerdict, StockError>;
}

/// The client of a system at this base address; an empty token is not shown. `client` is the one for configured
/// services.
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

/// Asks the system that knows spools who it is; its words for people.
pub async fn test_spools(client: &Client, url: &str, token: &str) -> Result<String, StockError> {
    Spoolman::new(client.clone(), url, token)?.test().await
}

/// An amount as such systems write it: a number, or a decimal in a text. Rounded to thousandths.
fn amount(value: &Value) -> Option<Amount> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    let thousandths = (number * 1000.0).round();
    (thousandths.abs() <= MAX_AMOUNT.0 as f64).then_some(Amount(thousandths as i64))
}

/// That an entry has more items than are read.
fn too_many() -> StockError {
    StockError::Nonsense(format!("it has more than {MAX_LISTED} items"))
}

/// One line of text for people, within bounds.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_NAME_CHARS).collect()
}
