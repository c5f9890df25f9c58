//! Settings of the accounting system.

use serde::Deserialize;

use super::Seconds;
use crate::values::Secret;

/// `[accounting]`: accounting system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountingConfig {
    /// OAuth 2.0 client id; empty: no accounting.
    pub client_id: String,
    /// OAuth 2.0 client secret.
    pub client_secret: Secret,
    /// URL of the page on which an admin consents.
    pub authorize_url: String,
    /// URL at which authorization codes and refresh tokens are exchanged for tokens.
    pub token_url: String,
    /// URL at which tokens are revoked; empty: they are not revoked.
    pub revocation_url: String,
    /// Base address of the API.
    pub url: String,
    /// OAuth 2.0 scopes to request.
    pub scopes: Vec<String>,
    /// Code of the account to which sales are booked.
    pub sales_account: String,
    /// Code of the account to which invoice payments are booked; empty: none are booked.
    pub payment_account: String,
    /// Tax type of the accounting system for each tax rate, as `1900=OUTPUT` with the rate in basis points.
    pub tax_types: Vec<String>,
    /// Interval between two checks for records that have yet to be transferred.
    pub interval_seconds: Seconds,
}

impl AccountingConfig {
    /// Returns the tax types by tax rate in basis points; entries of `tax_types` that cannot be parsed are omitted.
    pub fn tax_words(&self) -> Vec<(i64, String)> {
        self.tax_types.iter().filter_map(|entry| tax_word(entry)).map(|(rate, word)| (rate, word.to_owned())).collect()
    }

    /// Returns the first entry of `tax_types` that cannot be parsed.
    pub fn unreadable_tax_type(&self) -> Option<&str> {
        self.tax_types.iter().map(String::as_str).find(|entry| tax_word(entry).is_none())
    }
}

fn tax_word(entry: &str) -> Option<(i64, &str)> {
    let (rate, word) = entry.split_once('=')?;
    let rate = rate.trim().parse().ok().filter(|rate| (0..=10_000).contains(rate))?;
    Some((rate, word.trim())).filter(|(_, word)| !word.is_empty())
}
