//! External shops, as configured in the settings: connections for shipment notifications, and the storefront that
//! provides the catalogue.

use std::sync::Arc;

use dashmap::DashMap;

use super::{ShopStartError, own_secrets};
use crate::channel_orders::ShopClients;
use config::Config;
use domain::schedule::Delays;
use platform::http::{LanSettings, lan};
use services::circuit::CircuitSettings;
use services::peer_client::PeerHttp;
use services::storefront::{STOREFRONT_WORD, Storefront};

/// Creates the connections to the external shops whose orders are fulfilled here. Makes no calls yet.
pub(super) fn lines(config: &Config, http: PeerHttp) -> Result<Arc<ShopClients>, ShopStartError> {
    Ok(Arc::new(ShopClients {
        http,
        cipher: Arc::new(own_secrets::cipher(config)?),
        settings: circuit(config),
        lines: DashMap::new(),
    }))
}

/// Returns the circuit breaker's settings: the call timeout, and the time for which a failing shop is not called.
pub fn circuit(config: &Config) -> CircuitSettings {
    let calls = &config.integrations;
    let first = calls.retry_first_seconds.duration();
    let pauses = Delays { first, longest: calls.retry_longest_seconds.duration().max(first) };
    CircuitSettings { timeout: calls.request_timeout_seconds.duration(), pauses }
}

/// Creates the storefront that provides the catalogue; `None` if the catalogue consists of our own products.
pub(super) fn storefront(config: &Config) -> Result<Option<Arc<Storefront>>, ShopStartError> {
    let settings = &config.catalog;
    if settings.provider == "local" {
        return Ok(None);
    }
    if settings.provider != STOREFRONT_WORD {
        return Err(ShopStartError::Catalog(format!("provider must be local or {STOREFRONT_WORD}")));
    }
    let storefront = Storefront::new(lan(&LanSettings::default())?, &settings.url, catalog_currency(config));
    storefront.map(|storefront| Some(Arc::new(storefront))).map_err(|error| ShopStartError::Catalog(error.to_string()))
}

/// Returns the currency of the catalogue prices.
pub fn catalog_currency(config: &Config) -> &str {
    let own = &config.catalog.currency;
    if own.is_empty() { &config.orders.currency } else { own }
}
