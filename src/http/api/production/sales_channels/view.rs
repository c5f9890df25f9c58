//! Sales channels and their variant mappings, as shown in responses.

use api_derive::Response;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::orders::site::Site;
use super::super::skus;
use super::EXAMPLE_ID;
use super::requests::ChannelKind;
use config::Config;
use domain::id::Id;
use domain::sales_channel::{SalesChannel, Variant};
use domain::time::Timestamp;
use services::sales_channels::WORDS;

/// Sales channel: another shop whose orders are produced here.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SalesChannel", many = "salesChannels", example = example())]
pub(super) struct ChannelView {
    /// ID of the channel.
    id: Id,
    /// Shop system.
    kind: ChannelKind,
    /// Display name of the shop.
    name: String,
    /// Site that the channel's orders belong to.
    site: Site,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// URL to which the shop sends its messages.
    messages_url: String,
    /// `true` if a secret is stored; without a secret, no messages are accepted.
    has_secret: bool,
    /// URL of the shop's API; null if shipments are not reported.
    base_url: Option<String>,
    /// `true` if an access token for the shop's API is stored.
    has_access_token: bool,
    /// `true` if messages are accepted and shipments reported.
    active: bool,
    /// Time at which the channel was created.
    created_at: Timestamp,
    /// Time at which the channel or its variant mappings last changed.
    updated_at: Timestamp,
    /// Version number: starts at 1 and increases with each change; also the `ETag`.
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

/// Mapping of a variant sold by another shop.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "MappedVariant", many = "variants", example = variant_example())]
pub(super) struct VariantView {
    /// ID of the mapping.
    id: Id,
    /// ID of the variant in the other shop or, if it has none, its SKU code in that shop; for a line with neither, its
    /// title.
    variant: String,
    /// ID of the SKU to produce.
    sku_id: Id,
    /// Number of parts per variant.
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

/// Variant mappings.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "MappedVariants", example = json!({"variants": [variant_example()]}))]
pub(super) struct VariantsView {
    /// Mappings of the variants in the request, in the same order.
    pub(super) variants: Vec<VariantView>,
}
