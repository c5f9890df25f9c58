//! Settings of the accounting system.

use serde::Deserialize;

use super::Seconds;
use crate::config::values::Secret;
use crate::services::accounting::AccountingSettings;

/// `[accounting]`: the system that keeps the books.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accounting {
    /// The name by which the provider knows this shop's program; empty: no accounting.
    pub client_id: String,
    /// What the program proves itself with.
    pub client_secret: Secret,
    /// The page on which an admin consents.
    pub authorize_url: String,
    /// Where codes and tokens are given for tokens.
    pub token_url: String,
    /// Where tokens are given up; empty: nowhere.
    pub revocation_url: String,
    /// Base address of the API.
    pub url: String,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// Code of the account that sales go to.
    pub sales_account: String,
    /// Code of the account that payments of invoices are booked on; empty: none are booked.
    pub payment_account: String,
    /// The system's word for each tax rate, as `1900=OUTPUT` with the rate in basis points.
    pub tax_types: Vec<String>,
    /// Time between two looks for what has still to be told.
    pub interval_seconds: Seconds,
}

impl Accounting {
    /// The settings as the client uses them; entries of `tax_types` that cannot be read are left out.
    pub fn client_settings(&self) -> AccountingSettings {
        let words = self.tax_types.iter().filter_map(|entry| tax_word(entry));
        AccountingSettings {
            client_id: self.client_id.clone(),
            client_secret: self.client_secret.expose().to_owned(),
            authorize_url: self.authorize_url.clone(),
            token_url: self.token_url.clone(),
            revocation_url: self.revocation_url.clone(),
            url: self.url.clone(),
            scopes: self.scopes.clone(),
            sales_account: self.sales_account.clone(),
            payment_account: self.payment_account.clone(),
            tax_words: words.map(|(rate, word)| (rate, word.to_owned())).collect(),
        }
    }

    /// The first entry of `tax_types` that cannot be read.
    pub fn unreadable_tax_type(&self) -> Option<&str> {
        self.tax_types.iter().map(String::as_str).find(|entry| tax_word(entry).is_none())
    }
}

fn tax_word(entry: &str) -> Option<(i64, &str)> {
    let (rate, word) = entry.split_once('=')?;
    let rate = rate.trim().parse().ok().filter(|rate| (0..=10_000).contains(rate))?;
    Some((rate, word.trim())).filter(|(_, word)| !word.is_empty())
}
