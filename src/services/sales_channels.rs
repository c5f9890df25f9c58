//! Clients for other shops whose orders are produced here: Shopify, `WooCommerce`, and files of comma-separated values.
//!
//! Each kind of shop has one declaration ([`ChannelType`]) with its API name, the parsing of its signed webhooks, and
//! the client that reports shipments to it. [`domain::channel_order`] decides what to do with such a shop's orders;
//! [`super::storefront`] reads the shops' catalogues.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod rest;
mod shopify;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod woocommerce;

use async_trait::async_trait;
use reqwest::header::HeaderMap;

pub use self::table::{COLUMNS, RowFault, TableOrder, TableReader};

use super::peer_client::{PeerHttp, PeerSettingError};
use super::peer_fault::PeerFault;
use domain::channel_order::{ReportedShipment, ShopOrderUpdate, SoldLine};
use domain::signing::{hmac_sha256, same};

/// All kinds of shops, in listing order.
const ALL_TYPES: [&ChannelType; 3] = [&shopify::TYPE, &woocommerce::TYPE, &table::TYPE];

/// API names of all kinds of shops.
pub const WORDS: [&str; 3] = [shopify::TYPE.word, woocommerce::TYPE.word, table::TYPE.word];

/// Declaration of a kind of shop.
pub struct ChannelType {
    /// API name of the kind of shop.
    pub word: &'static str,
    /// Verification and parsing of the shop's webhooks; `None` if it sends none.
    pub messages: Option<MessageType>,
    /// Constructor of the client that reports shipments to the shop; `None` if shipments are not reported.
    pub connect: Option<ConnectShop>,
}

/// Verification and parsing of webhooks from one kind of shop.
pub struct MessageType {
    /// Name of the signature header.
    pub signature_header: &'static str,
    /// Parser for a webhook whose signature has been verified.
    read: fn(&HeaderMap, &[u8]) -> Result<Option<ShopOrderUpdate>, MessageError>,
    /// Predicate that recognises the unsigned initial request that only tests the webhook's URL.
    is_trial: fn(&HeaderMap, &[u8]) -> bool,
}

/// Constructor of a shop's client from its address and credentials.
pub type ConnectShop = fn(PeerHttp, &str, &str) -> Result<Box<dyn ShopClient>, PeerSettingError>;

/// Reason why a webhook is rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MessageError {
    /// The signature is missing or wrong.
    #[error("the signature in {0} is missing or does not match the body")]
    Unsigned(&'static str),
    /// The webhook is signed, but does not have the format of this kind of shop.
    #[error("{0}")]
    Malformed(String),
}

/// Returns the kind of shop with the given API name.
pub fn channel_type(word: &str) -> Option<&'static ChannelType> {
    ALL_TYPES.into_iter().find(|one| one.word == word)
}

impl MessageType {
    /// Verifies the signature over the raw bytes and parses the webhook; returns `None` if the webhook contains nothing
    /// relevant.
    pub fn receive(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        secret: &str,
    ) -> Result<Option<ShopOrderUpdate>, MessageError> {
        if (self.is_trial)(headers, body) {
            return Ok(None);
        }
        let signature = headers.get(self.signature_header).and_then(|value| value.to_str().ok());
        // An empty key signs nothing that could be believed.
        if secret.is_empty() || !signature.is_some_and(|signature| is_signed(secret, body, signature)) {
            return Err(MessageError::Unsigned(self.signature_header));
        }
        (self.read)(headers, body)
    }
}

/// Returns whether `signature` is the base64-encoded HMAC-SHA256 of the body. The comparison takes constant time.
fn is_signed(secret: &str, body: &[u8], signature: &str) -> bool {
    use base64::Engine as _;
    let decoded = base64::engine::general_purpose::STANDARD.decode(signature.trim()).unwrap_or_default();
    same(&hmac_sha256(secret.as_bytes(), &[body]), &decoded)
}

/// Shipment to report to the shop that sold the order.
#[derive(Clone, Debug)]
pub struct ShipmentNotice<'a> {
    /// ID of the order in the shop.
    pub external_id: &'a str,
    /// Order lines as sold in the shop.
    pub lines: &'a [SoldLine],
    /// Shipment to report, including its tracking number.
    pub shipment: &'a ReportedShipment,
    /// Number of units of each line in all shipments with this tracking number, up to and including this one. Once all
    /// of them have been reported, the shop has recorded this number of units under the tracking number.
    pub so_far: &'a [u64],
    /// Marker that identifies this server's order, by which an earlier notification is recognised.
    pub mark: &'a str,
}

/// The shop's response to a reported shipment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShipmentResponse {
    /// The shop has recorded the shipment, through this call or an earlier one.
    Known,
    /// The shop permanently rejects the shipment, with the given message.
    Refused(String),
}

/// Client for a shop whose orders are produced here.
#[async_trait]
pub trait ShopClient: Send + Sync {
    /// Reports a shipment, unless the shop has already recorded it. After an error, the call may be retried.
    async fn tell(&self, notice: &ShipmentNotice<'_>) -> Result<ShipmentResponse, PeerFault>;
}
