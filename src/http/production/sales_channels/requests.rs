//! What requests about a sales channel say.

use api_derive::Request;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::site::Site;
use super::super::skus;
use crate::domain::bounds::MAX_QUANTITY;
use crate::domain::channel_order::MAX_VARIANT_CHARS;
use crate::domain::id::Id;
use crate::domain::peer_address::PeerAddress;
use crate::domain::refusal::Faults;
use crate::domain::sales_channel::ChannelChange;
use crate::domain::signing::SECRET_MAX_BYTES;
use crate::http::openapi::shape::{Shape, url, word};
use crate::http::wire::{
    Filled, FromJson, ItemsWithin, MaxChars, ONE_LINE, Optional, Rule, SecretText, ToSchema, ValuePath, Within, like,
};
use crate::secrets::encryption::SecretCipher;
use crate::services::sales_channels::WORDS;

/// Most entries of a map that one request names.
const MAX_GIVEN: usize = 200;
/// Most characters of an access token.
const MAX_TOKEN_CHARS: usize = 500;

like!(CURRENCY, "^[A-Za-z]{3}$", "must be a currency code of three letters");

/// The system that a shop works with.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelKind(pub(super) String);

impl ToSchema for ChannelKind {
    const NAME: Option<&'static str> = Some("SalesChannelKind");
    fn schema() -> Shape {
        word(WORDS).about("The system that a shop works with; `csv` is a file that an operator imports.")
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

/// The address of another system, without credentials.
struct ShopAddress;

impl Rule<String> for ShopAddress {
    fn judge(&self, text: &String) -> Result<(), String> {
        PeerAddress::web(text).map(drop).map_err(|error| error.to_string())
    }
    fn mark(&self, _: Shape) -> Shape {
        url()
    }
}

/// A sales channel to set up.
#[derive(Request, Clone, Debug)]
#[api(name = "NewSalesChannel", example = json!({
    "kind": WORDS[0], "name": "Web shop", "secret": "the secret that its webhooks are signed with",
    "baseUrl": "https://shop.example.org", "accessToken": "the token of its interface",
}))]
pub struct ChannelRequest {
    /// The system that the shop works with; it cannot be changed.
    pub(super) kind: ChannelKind,
    /// What people call the shop.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    pub(super) name: String,
    /// The site that its orders belong to.
    pub(super) site: Option<Site>,
    /// ISO 4217; orders of another currency wait for a person.
    #[api(&CURRENCY)]
    pub(super) currency: Option<String>,
    /// The secret that its messages are signed with. Without one no message is taken.
    #[api(MaxChars(SECRET_MAX_BYTES), SecretText)]
    pub(super) secret: Option<String>,
    /// Where its interface is, which is told of shipments; without one it is told nothing.
    #[api(ShopAddress)]
    pub(super) base_url: Option<String>,
    /// What is shown to that interface; where it asks for a key and a secret, both with a colon between them.
    #[api(MaxChars(MAX_TOKEN_CHARS), SecretText)]
    pub(super) access_token: Option<String>,
}

/// Members that are left out stay as they are.
#[derive(Request, Clone, Debug)]
#[api(name = "SalesChannelChange", example = json!({"active": false}))]
pub struct ChannelChangeRequest {
    /// What people call the shop.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    name: Optional<String>,
    /// The site of orders that come from now on.
    site: Optional<Site>,
    /// ISO 4217.
    #[api(&CURRENCY)]
    currency: Optional<String>,
    /// The secret that its messages are signed with; null: none any more.
    #[api(MaxChars(SECRET_MAX_BYTES), SecretText)]
    secret: Optional<Option<String>>,
    /// Where its interface is; null: it is told nothing any more.
    #[api(ShopAddress)]
    base_url: Optional<Option<String>>,
    /// What is shown to that interface; null: nothing any more.
    #[api(MaxChars(MAX_TOKEN_CHARS), SecretText)]
    access_token: Optional<Option<String>>,
    /// Whether messages are taken and shipments told.
    active: Optional<bool>,
}

impl ChannelChangeRequest {
    /// The change, with what is secret encrypted.
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

/// What is made for one variant.
#[derive(Request, Clone, Debug)]
#[api(name = "NewVariant", example = json!({"variant": "39072856", "skuId": skus::EXAMPLE_ID}))]
pub struct VariantRequest {
    /// Id of the variant there, or its SKU code there; of a line that has neither, its title.
    #[api(Filled, ONE_LINE, MaxChars(MAX_VARIANT_CHARS))]
    pub(super) variant: String,
    /// The SKU that is made.
    pub(super) sku_id: Id,
    /// Parts of it that one variant has.
    #[api(Within(1..=MAX_QUANTITY), default = 1)]
    pub(super) quantity: u32,
}

/// Entries of the map.
#[derive(Request, Clone, Debug)]
#[api(name = "VariantMap", example = json!({"variants": [{"variant": "39072856", "skuId": skus::EXAMPLE_ID}]}))]
pub struct VariantsRequest {
    /// What is made for each.
    #[api(ItemsWithin(1..=MAX_GIVEN))]
    pub(super) variants: Vec<VariantRequest>,
}
