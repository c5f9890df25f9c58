//! How sales channels and their maps are shown.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::site::Site;
use super::super::skus;
use super::EXAMPLE_ID;
use super::requests::ChannelKind;
use crate::config::Config;
use crate::domain::id::Id;
use crate::domain::sales_channel::{SalesChannel, Variant};
use crate::domain::time::Timestamp;
use crate::services::sales_channels::WORDS;

/// Another shop whose orders are made here.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SalesChannel", many = "salesChannels", example = example())]
pub(super) struct ChannelView {
    /// Id of the channel.
    id: Id,
    /// The system that the shop works with.
    kind: ChannelKind,
    /// What people call the shop.
    name: String,
    /// The site that its orders belong to.
    site: Site,
    /// ISO 4217, in lower case.
    currency: String,
    /// The address to which it sends its messages.
    messages_url: String,
    /// Whether it has a secret, without which no message is taken.
    has_secret: bool,
    /// Where its interface is; null: it is told nothing.
    base_url: Option<String>,
    /// Whether a token is shown to that interface.
    has_access_token: bool,
    /// Whether messages are taken and shipments told.
    active: bool,
    /// When it was set up.
    created_at: Timestamp,
    /// When it or its map last changed.
    updated_at: Timestamp,
    /// Counts the changes from 1; also its `ETag`.
    version: i64,
}

fn example() -> Value {
    json!({
        "id": EXAMPLE_ID, "kind": WORDS[0], "name": "Web shop", "site": "industries", "currency": "usd",
        "messagesUrl": format!("https://print.example.org/webhooks/sales-channels/{EXAMPLE_ID}"), "hasSecret": true,
        "baseUrl": "https://shop.example.org", "hasAccessToken": true, "active": true,
        "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-01T08:00:00.000Z", "version": 1,
    })
}

impl ChannelView {
    pub(super) fn new(channel: &SalesChannel, version: i64, config: &Config) -> Self {
        Self {
            id: channel.id,
            kind: ChannelKind(channel.kind.clone()),
            name: channel.name.clone(),
            site: Site(channel.site.clone()),
            currency: channel.currency.clone(),
            messages_url: format!("{}/webhooks/sales-channels/{}", config.public_url(), channel.id),
            has_secret: !channel.encrypted_secret.is_empty(),
            base_url: channel.base_url.clone(),
            has_access_token: !channel.encrypted_token.is_empty(),
            active: channel.active,
            created_at: channel.created_at,
            updated_at: channel.updated_at,
            version,
        }
    }
}

/// What is made for a variant that another shop sells.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "MappedVariant", many = "variants", example = variant_example())]
pub(super) struct VariantView {
    /// Id of the entry.
    id: Id,
    /// Id of the variant there, or its SKU code there; of a line that has neither, its title.
    variant: String,
    /// The SKU that is made.
    sku_id: Id,
    /// Parts of it that one variant has.
    quantity: u32,
}

fn variant_example() -> Value {
    json!({"id": "01890a5d-ac96-774b-bcce-b302099a8091", "variant": "39072856", "skuId": skus::EXAMPLE_ID, "quantity": 1})
}

impl From<&Variant> for VariantView {
    fn from(entry: &Variant) -> Self {
        let Variant { id, variant, sku_id, quantity, .. } = entry.clone();
        Self { id, variant, sku_id, quantity }
    }
}

/// Entries of a map.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "MappedVariants", example = json!({"variants": [variant_example()]}))]
pub(super) struct VariantsView {
    /// The entries that were named, in that order.
    pub(super) variants: Vec<VariantView>,
}
