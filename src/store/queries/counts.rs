//! Row counts that each transaction updates, so that lists know their totals without counting.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbBackend, Statement};
use serde::de::DeserializeOwned;

use super::{Queries, parse_word};
use crate::rows::LoadError;

/// Maximum number of email addresses used to select orders.
const MAX_MAILS: usize = 2_000;
/// Maximum number of orders that are sorted to find a page of them.
const MAX_ORDERS_SORTED: u64 = 2_000;

/// Email addresses that contain a text, with the orders placed by them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum MailMatches {
    /// All matching addresses: there are few, with few orders.
    Few(Vec<String>),
    /// Too many addresses to select orders by, or too many orders to sort. A page of them is found soon by going
    /// through the newest orders.
    Many,
}

impl Queries {
    /// Returns the numbers of rows in a list, by key.
    pub(super) async fn row_counts(&self, list: &str) -> Result<Vec<(String, u64)>, LoadError> {
        let sql = "SELECT key, entries FROM row_counts WHERE list = $1";
        let statement = Statement::from_sql_and_values(self.db.get_database_backend(), sql, [list.into()]);
        let mut counts = Vec::new();
        for row in self.db.query_all_raw(statement).await? {
            counts.push((row.try_get("", "key")?, unsigned(row.try_get("", "entries")?)));
        }
        Ok(counts)
    }

    /// Returns the number of a list's rows whose key satisfies a condition.
    pub(super) async fn row_total(&self, list: &str, is_counted: impl Fn(&str) -> bool) -> Result<u64, LoadError> {
        let counts = self.row_counts(list).await?;
        Ok(counts.iter().filter(|(key, _)| is_counted(key)).map(|(_, count)| count).sum())
    }

    /// Returns the numbers of a list's rows by the first word of their key.
    pub(super) async fn counts_by_first_word<W: DeserializeOwned>(
        &self,
        list: &'static str,
    ) -> Result<Vec<(W, u64)>, LoadError> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (key, count) in self.row_counts(list).await? {
            let word = key.split(' ').next().unwrap_or_default();
            *counts.entry(word.to_owned()).or_default() += count;
        }
        counts.into_iter().map(|(word, count)| Ok((parse_word(list, word)?, count))).collect()
    }

    /// Returns the email addresses of orders that contain a text in lowercase. Addresses are compared one by one, but
    /// there are far fewer of them than orders, and nothing else is read.
    pub(super) async fn mails_with(&self, text: &str) -> Result<MailMatches, LoadError> {
        let backend = self.db.get_database_backend();
        let contains = contains_text(backend);
        let most = MAX_MAILS + 1;
        let sql = format!("SELECT key, entries FROM row_counts WHERE list = 'order_mails' AND {contains} LIMIT {most}");
        let statement = Statement::from_sql_and_values(backend, sql, [text.into()]);
        let (mut mails, mut orders) = (Vec::new(), 0_u64);
        for row in self.db.query_all_raw(statement).await? {
            mails.push(row.try_get("", "key")?);
            orders += unsigned(row.try_get("", "entries")?);
        }
        let are_few = mails.len() <= MAX_MAILS && orders <= MAX_ORDERS_SORTED;
        Ok(if are_few { MailMatches::Few(mails) } else { MailMatches::Many })
    }

    /// Returns the number of orders whose email address contains a text in lowercase.
    pub(super) async fn orders_with_mail(&self, text: &str) -> Result<u64, LoadError> {
        let backend = self.db.get_database_backend();
        let contains = contains_text(backend);
        // PostgreSQL sums 64-bit integers as numeric.
        let sql = format!(
            "SELECT CAST(COALESCE(SUM(entries), 0) AS BIGINT) AS entries FROM row_counts \
             WHERE list = 'order_mails' AND {contains}"
        );
        let row = self.db.query_one_raw(Statement::from_sql_and_values(backend, sql, [text.into()])).await?;
        Ok(row.map(|row| row.try_get("", "entries")).transpose()?.map_or(0, unsigned))
    }
}

/// Returns the condition that the key contains the text of the first parameter. It is faster than LIKE.
fn contains_text(backend: DbBackend) -> &'static str {
    if backend == DbBackend::Postgres { "strpos(key, $1) > 0" } else { "instr(key, $1) > 0" }
}

/// Returns a number from the database, which is not negative.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests;
