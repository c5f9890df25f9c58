//! Search of orders by number and email address, and their total number without counting them.

use sea_orm::sea_query::{Condition, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::counts::MailMatches;
use super::orders::json;
use super::{OrderFilter, Queries, contains};
use crate::rows::{LoadError, word};
use domain::aggregate::NumberSeries;
use entities::orders;

/// Orders that match a text: the order with this number, and the orders whose email address contains it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OrderSearch {
    text: String,
    number: Option<i64>,
    mails: MailMatches,
}

impl OrderSearch {
    /// Returns the condition that selects the orders. Few orders are found by their indexes.
    pub(super) fn condition(&self) -> Condition {
        use orders::Column as C;
        let mails = match &self.mails {
            MailMatches::Few(mails) if mails.is_empty() => None,
            MailMatches::Few(mails) => Some(C::CustomerEmail.is_in(mails.iter().map(String::as_str))),
            MailMatches::Many => Some(contains(C::CustomerEmail, &self.text)),
        };
        let number = self.number.map(|number| C::Number.eq(number));
        if mails.is_none() && number.is_none() {
            // No order is found, and databases see it in an index.
            return Condition::all().add(C::Id.eq(""));
        }
        Condition::any().add_option(mails).add_option(number)
    }
}

impl OrderFilter {
    /// Returns whether the filter selects by status only, or not at all.
    pub fn has_status_at_most(&self) -> bool {
        *self == Self { status: self.status, ..Self::default() }
    }
}

impl Queries {
    /// Resolves a filter's text to what it matches, if it has one.
    pub(super) async fn order_search(&self, filter: &OrderFilter) -> Result<Option<OrderSearch>, LoadError> {
        let Some(text) = filter.q.as_deref().map(str::trim) else { return Ok(None) };
        let number = NumberSeries::Order.parse(text);
        let text = text.to_lowercase();
        let mails = self.mails_with(&text).await?;
        Ok(Some(OrderSearch { text, number, mails }))
    }

    /// Returns the total number of orders that match a filter, if it is known without counting them: the numbers that
    /// each transaction updates have it.
    pub(super) async fn order_total(
        &self,
        filter: &OrderFilter,
        search: Option<&OrderSearch>,
    ) -> Result<Option<u64>, LoadError> {
        let counted = OrderFilter {
            status: filter.status,
            kind: filter.kind,
            site: filter.site.clone(),
            q: filter.q.clone(),
            ..OrderFilter::default()
        };
        if *filter != counted {
            return Ok(None);
        }
        let Some(search) = search else { return Ok(Some(self.orders_by_key(filter).await?)) };
        let has_more = filter.status.is_some() || filter.kind.is_some() || filter.site.is_some();
        match search.mails {
            MailMatches::Many if !has_more => Ok(Some(self.search_total(search).await?)),
            MailMatches::Many | MailMatches::Few(_) => Ok(None),
        }
    }

    /// Adds up the numbers of orders by status, kind and site.
    async fn orders_by_key(&self, filter: &OrderFilter) -> Result<u64, LoadError> {
        let status = filter.status.as_ref().map(word).transpose().map_err(json)?;
        let kind = filter.kind.as_ref().map(word).transpose().map_err(json)?;
        let requested = [status.as_deref(), kind.as_deref(), filter.site.as_deref()];
        let matches = |key: &str| {
            let mut words = key.splitn(requested.len(), ' ');
            requested.iter().all(|one| {
                let word = words.next();
                one.is_none() || *one == word
            })
        };
        self.row_total("orders", matches).await
    }

    /// Returns the number of orders that a search finds.
    async fn search_total(&self, search: &OrderSearch) -> Result<u64, LoadError> {
        use orders::Column as C;
        let total = self.orders_with_mail(&search.text).await?;
        let Some(number) = search.number else { return Ok(total) };
        let other =
            Condition::any().add(C::CustomerEmail.is_null()).add(contains(C::CustomerEmail, &search.text).not());
        let select = orders::Entity::find().filter(C::Number.eq(number)).filter(other);
        Ok(total + select.count(&self.db).await?)
    }
}

#[cfg(test)]
mod tests;
