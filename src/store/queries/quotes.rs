//! Queries for quotes.

use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};

use super::orders::json;
use super::{Page, Queries, versioned};
use crate::rows::{LoadError, word};
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::quote::{Quote, QuoteStatus};
use domain::time::Timestamp;
use entities::quotes;

/// Filter for quotes; absent fields match all. Deleted drafts are never listed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QuoteFilter {
    /// Status as displayed at `now`; `sent` excludes expired quotes.
    pub status: Option<QuoteStatus>,
    /// Site of the quote.
    pub site: Option<String>,
    /// Customer's email address in normalised form.
    pub customer_email: Option<String>,
    /// Custom request that the quote was made for.
    pub custom_request_id: Option<Id>,
    /// Order created from the quote.
    pub order_id: Option<Id>,
    /// `true` to list only quotes that have been sent.
    pub sent: bool,
    /// Reference time for deciding which quotes have expired.
    pub now: Timestamp,
}

impl Queries {
    /// Returns a page of quotes, newest first, and their total number.
    pub async fn quotes(&self, filter: &QuoteFilter, page: Page) -> Result<(Vec<Versioned<Quote>>, u64), LoadError> {
        use quotes::Column as C;
        let status = filter.status.map(|status| shown_as(status, filter.now)).transpose()?;
        let draft = word(&QuoteStatus::Draft).map_err(json)?;
        let select = quotes::Entity::find()
            .filter(C::Archived.eq(false))
            .apply_if(status, QueryFilter::filter)
            .apply_if(filter.site.as_deref(), |all, site| all.filter(C::Site.eq(site)))
            .apply_if(filter.customer_email.as_deref(), |all, email| all.filter(C::CustomerEmail.eq(email)))
            .apply_if(filter.custom_request_id, |all, id| all.filter(C::CustomRequestId.eq(id.to_string())))
            .apply_if(filter.order_id, |all, id| all.filter(C::OrderId.eq(id.to_string())))
            .apply_if(filter.sent.then_some(draft), |all, draft| all.filter(C::Status.ne(draft)))
            .order_by_desc(C::CreatedAt)
            .order_by_desc(C::Id);
        self.snapshots(select, page).await
    }

    /// Returns the quote whose first model is the given file.
    pub async fn quote_of_model(&self, file: Id) -> Result<Option<Quote>, LoadError> {
        use quotes::Column as C;
        let select = quotes::Entity::find().filter(C::ModelFileId.eq(file.to_string())).filter(C::Archived.eq(false));
        let row = select.order_by_asc(C::CreatedAt).one(&self.db).await?;
        Ok(row.map(|row| versioned::<_, Quote>(&row)).transpose()?.and_then(|quote| quote.state))
    }
}

/// Returns the condition that selects quotes displayed with the given status at the given time.
pub(super) fn shown_as(status: QuoteStatus, now: Timestamp) -> Result<Condition, LoadError> {
    use quotes::Column as C;
    let is = |status: QuoteStatus| Ok::<_, LoadError>(C::Status.eq(word(&status).map_err(json)?));
    let late = Condition::all().add(C::ValidUntil.is_not_null()).add(C::ValidUntil.lte(now.0));
    Ok(match status {
        QuoteStatus::Expired => Condition::all().add(is(QuoteStatus::Sent)?).add(late),
        QuoteStatus::Sent => Condition::all().add(is(QuoteStatus::Sent)?).add(late.not()),
        QuoteStatus::Draft | QuoteStatus::Accepted | QuoteStatus::Declined => Condition::all().add(is(status)?),
    })
}
