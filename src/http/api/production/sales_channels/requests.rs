//! Bodies of sales channel requests.

use api_derive::Request;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::site::Site;
use super::super::skus;
use domain::bounds::MAX_QUANTITY;
use domain::channel_order::MAX_VARIANT_CHARS;
use domain::id::Id;
use domain::peer_address::PeerAddress;
use domain::refusal::Faults;
use domain::sales_channel::ChannelChange;
use domain::signing::SECRET_MAX_BYTES;
use http::openapi::shape::{Shape, url, word};
use http::wire::{
    Filled, FromJson, ItemsWithin, MaxChars, ONE_LINE, Optional, Rule, SecretText, ToSchema, ValuePath, Within, like,
};
use platform::secrets::encryption::SecretCipher;
use services::sales_channels::WORDS;

/// Maximum number of variant mappings in a request.
const MAX_GIVEN: usize = 200;
/// Maximum length of an access token, in characters.
const MAX_TOKEN_CHARS: usize = 500;

like!(CURRENCY, "^[A-Za-z]{3}$", "must be a three-letter currency code");

/// Shop system of a sales channel.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelKind(pub(super) String);

impl ToSchema for ChannelKind {
    const NAME: Option<&'static str> = Some("SalesChannelKind");
    fn schema() -> Shape {
        word(WORDS).about("Shop system; `csv` stands for files that an operator imports.")
    }
}

impl FromJson for ChannelKind {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::String(kind) if WORDS.contains(&kind.as_str()) => Some(Self(kind)),
            _ => place.fault(faults, format!("must be one of {}", WORDS.join(", "))),
        }
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

/// URL of an external system, without credentials.
struct ShopAddress;

impl Rule<String> for ShopAddress {
    fn judge(&self, text: &String) -> Result<(), String> {
        PeerAddress::web(text).map(drop).map_err(|error| error.to_string())
    }
    fn mark(&self, _: Shape) -> Shape {
        url()
    }
}

/// Sales channel to create.
#[derive(Request, Clone, Debug)]
#[api(name = "NewSalesChannel", example = json!({
    "kind": WORDS[0], "name": "Web shop", "secret": "the secret that its webhooks are signed with",
    "baseUrl": "https://shop.example.org", "accessToken": "the token of its interface",
}))]
pub struct ChannelRequest {
    /// Shop system; cannot be changed later.
    pub(super) kind: ChannelKind,
    /// Display name of the shop.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    pub(super) name: String,
    /// Site that the channel's orders belong to.
    pub(super) site: Option<Site>,
    /// Three-letter ISO 4217 currency code. Orders in a different currency are put on hold until an operator acts.
    #[api(&CURRENCY)]
    pub(super) currency: Option<String>,
    /// Secret with which the shop signs its messages. Without a secret, no messages are accepted.
    #[api(MaxChars(SECRET_MAX_BYTES), SecretText)]
    pub(super) secret: Option<String>,
    /// URL of the shop's API, to which shipments are reported. Without a URL, no shipments are reported.
    #[api(ShopAddress)]
    pub(super) base_url: Option<String>,
    /// Access token for the shop's API. If the API requires a key and a secret, specify both, separated by a colon.
    #[api(MaxChars(MAX_TOKEN_CHARS), SecretText)]
    pub(super) access_token: Option<String>,
}

/// Changes to a sales channel. Omitted fields are left unchanged.
#[derive(Request, Clone, Debug)]
#[api(name = "SalesChannelChange", example = json!({"active": false}))]
pub struct ChannelChangeRequest {
    /// Display name of the shop.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    name: Optional<String>,
    /// Site to which new orders will belong; existing orders are not affected.
    site: Optional<Site>,
    /// Three-letter ISO 4217 currency code.
    #[api(&CURRENCY)]
    currency: Optional<String>,
    /// Secret with which the shop signs its messages; null removes the secret.
    #[api(MaxChars(SECRET_MAX_BYTES), SecretText)]
    secret: Optional<Option<String>>,
    /// URL of the shop's API; if null, shipments are no longer reported.
    #[api(ShopAddress)]
    base_url: Optional<Option<String>>,
    /// Access token for the shop's API; null removes the token.
    #[api(MaxChars(MAX_TOKEN_CHARS), SecretText)]
    access_token: Optional<Option<String>>,
    /// `true` if messages are accepted and shipments reported.
    active: Optional<bool>,
}

impl ChannelChangeRequest {
    /// Converts the request into a change, with secrets encrypted.
    pub(super) fn change(self, cipher: &SecretCipher, if_version: Option<i64>) -> ChannelChange {
        let sealed = |secret: Optional<Option<String>>| {
            secret.present().map(|secret| cipher.encrypt_or_empty(secret.as_deref().unwrap_or_default()))
        };
        ChannelChange {
            if_version,
            name: self.name.present(),
            site: self.site.present().map(|site| site.0),
            currency: self.currency.present(),
            encrypted_secret: sealed(self.secret),
            base_url: self.base_url.present(),
            encrypted_token: sealed(self.access_token),
            active: self.active.present(),
        }
    }
}

/// Mapping of a variant to a SKU.
#[derive(Request, Clone, Debug)]
#[api(name = "NewVariant", example = json!({"variant": "39072856", "skuId": skus::EXAMPLE_ID}))]
pub struct VariantRequest {
    /// ID of the variant in the other shop or, if it has none, its SKU code in that shop; for a line with neither, its
    /// title.
    #[api(Filled, ONE_LINE, MaxChars(MAX_VARIANT_CHARS))]
    pub(super) variant: String,
    /// ID of the SKU to produce.
    pub(super) sku_id: Id,
    /// Number of parts per variant.
    #[api(Within(1..=MAX_QUANTITY), default = 1)]
    pub(super) quantity: u32,
}

/// Variant mappings to set.
#[derive(Request, Clone, Debug)]
#[api(name = "VariantMap", example = json!({"variants": [{"variant": "39072856", "skuId": skus::EXAMPLE_ID}]}))]
pub struct VariantsRequest {
    /// Mappings, one for each variant.
    #[api(ItemsWithin(1..=MAX_GIVEN))]
    pub(super) variants: Vec<VariantRequest>,
}
