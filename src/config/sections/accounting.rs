//! Settings for the accounting system.

use serde::Deserialize;

use super::Seconds;
use crate::values::Secret;

/// `[accounting]`: connection to the accounting system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountingConfig {
    /// OAuth 2.0 client ID; if empty, accounting is disabled.
    pub client_id: String,
    /// OAuth 2.0 client secret.
    pub client_secret: Secret,
    /// URL of the consent page on which an admin grants access.
    pub authorize_url: String,
    /// URL for exchanging authorization codes and refresh tokens for tokens.
    pub token_url: String,
    /// URL for revoking tokens; if empty, tokens are not revoked.
    pub revocation_url: String,
    /// Base URL of the API.
    pub url: String,
    /// OAuth 2.0 scopes to request.
    pub scopes: Vec<String>,
    /// Code of the account that sales are posted to.
    pub sales_account: String,
    /// Code of the account that invoice payments are recorded in; if empty, no payments are recorded.
    pub payment_account: String,
    /// Tax type in the accounting system for each tax rate, such as `1900=OUTPUT`, with the rate in basis points.
    pub tax_types: Vec<String>,
    /// Interval between checks for records that still have to be transferred.
    pub interval_seconds: Seconds,
}

impl AccountingConfig {
    /// Returns the tax type for each tax rate in basis points; omits entries of `tax_types` that cannot be parsed.
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
