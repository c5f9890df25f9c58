//! Other shops whose orders are made here: Shopify, `WooCommerce`, and files of comma-separated values.
//!
//! A kind of shop is one declaration ([`ChannelType`]): its word, how its signed messages are read, and how it is told
//! of shipments. What its orders mean here is [`crate::domain::channel_order`]'s affair. Not for the shops' catalogues:
//! [`super::storefront`].

mod rest;
mod shopify;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod woocommerce;

use async_trait::async_trait;
use reqwest::Client;
use reqwest::header::HeaderMap;

pub use self::table::{COLUMNS, RowFault, TableOrder, TableReader};

use super::peer_client::PeerSettingError;
use super::peers::PeerFault;
use crate::domain::channel_order::{ShipmentThere, SoldLine, SoldNews};
use crate::domain::signing::{hmac_sha256, same};

/// Every kind of shop, in the order in which they are listed.
const ALL_TYPES: [&ChannelType; 3] = [&shopify::TYPE, &woocommerce::TYPE, &table::TYPE];

/// The words of all kinds, for the API.
pub const WORDS: [&str; 3] = [shopify::TYPE.word, woocommerce::TYPE.word, table::TYPE.word];

/// A kind of shop.
pub struct ChannelType {
    /// Its word in the API.
    pub word: &'static str,
    /// How its messages are checked and read; `None`: it sends none.
    pub messages: Option<MessageType>,
    /// How it is told of shipments; `None`: it is told nothing.
    pub connect: Option<Connect>,
}

/// The messages of a kind of shop.
pub struct MessageType {
    /// The header that holds the signature.
    pub signature_header: &'static str,
    /// Reads a message whose signature was checked.
    read: fn(&HeaderMap, &[u8]) -> Result<Option<SoldNews>, MessageError>,
    /// Whether it is a first call that tries the address, carries nothing and is not signed.
    is_trial: fn(&HeaderMap, &[u8]) -> bool,
}

/// Makes the client of a shop of its address and what is shown there.
pub type Connect = fn(Client, &str, &str) -> Result<Box<dyn ShopClient>, PeerSettingError>;

/// Why a message is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MessageError {
    /// Its signature is missing or wrong.
    #[error("the signature in {0} is missing, or does not match the body")]
    Unsigned(&'static str),
    /// It is signed, and not what such a shop sends.
    #[error("{0}")]
    Malformed(String),
}

/// The kind with this word.
pub fn channel_type(word: &str) -> Option<&'static ChannelType> {
    ALL_TYPES.into_iter().find(|one| one.word == word)
}

impl MessageType {
    /// Checks a message over its raw bytes and reads it; `None` when nothing in it is of use.
    pub fn receive(&self, headers: &HeaderMap, body: &[u8], secret: &str) -> Result<Option<SoldNews>, MessageError> {
        if (self.is_trial)(headers, body) {
            return Ok(None);
        }
        let given = headers.get(self.signature_header).and_then(|value| value.to_str().ok());
        // An empty key signs nothing that could be believed.
        if secret.is_empty() || !given.is_some_and(|given| is_signed(secret, body, given)) {
            return Err(MessageError::Unsigned(self.signature_header));
        }
        (self.read)(headers, body)
    }
}

/// Whether a text is the base64 of the HMAC-SHA256 of the body. Takes the same time wherever they differ.
fn is_signed(secret: &str, body: &[u8], given: &str) -> bool {
    use base64::Engine as _;
    let given = base64::engine::general_purpose::STANDARD.decode(given.trim()).unwrap_or_default();
    same(&hmac_sha256(secret.as_bytes(), &[body]), &given)
}

/// A shipment for the shop that sold the order.
#[derive(Clone, Debug)]
pub struct ShipmentNotice<'a> {
    /// Id of the order there.
    pub external_id: &'a str,
    /// The lines as they were sold there.
    pub lines: &'a [SoldLine],
    /// What has left.
    pub shipment: &'a ShipmentThere,
    /// Units of each line in all shipments with this tracking number up to this one: so many the shop has under it once
    /// it knows of them.
    pub so_far: &'a [u64],
    /// Our order, as a mark by which what was told is found again.
    pub mark: &'a str,
}

/// What a shop said to a shipment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// It knows it, by this call or an earlier one.
    Known,
    /// It will never take it as it is, in these words.
    Refused(String),
}

/// The interface of a shop that orders came from.
#[async_trait]
pub trait ShopClient: Send + Sync {
    /// Tells it of a shipment, unless it knows it already. A fault says why it may be told again.
    async fn tell(&self, notice: &ShipmentNotice<'_>) -> Result<Told, PeerFault>;
}
