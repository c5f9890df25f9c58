//! Queries for accounting postings, and for documents that still have to be posted.

use sea_orm::sea_query::{Condition, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::orders::json;
use super::{Page, Queries, id_of};
use crate::rows::{LoadError, word};
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::invoice::InvoiceStatus;
use domain::posting::{Posting, PostingState};
use domain::time::Timestamp;
use entities::{invoice_documents, invoices, postings};

/// Invoice states that are final and therefore belong in the books: paid, refunded, or reversed by a credit note.
const SETTLED: [InvoiceStatus; 3] = [InvoiceStatus::Paid, InvoiceStatus::Refunded, InvoiceStatus::Void];

impl Queries {
    /// Returns a page of postings, newest first, and their total number.
    pub async fn postings(
        &self,
        state: Option<PostingState>,
        page: Page,
    ) -> Result<(Vec<Versioned<Posting>>, u64), LoadError> {
        use postings::Column as C;
        let state = state.as_ref().map(word).transpose().map_err(json)?;
        let select = postings::Entity::find().apply_if(state, |all, state| all.filter(C::State.eq(state)));
        self.snapshots(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// Returns the number of rejected postings.
    pub async fn refused_postings(&self) -> Result<u64, LoadError> {
        let refused = Page { limit: 0, offset: 0 };
        Ok(self.postings(Some(PostingState::Refused), refused).await?.1)
    }

    /// Returns documents of settled invoices, issued since the given time, that are not known to be in the books, in
    /// order of issue; omits rejected ones.
    pub async fn unposted(&self, since: Timestamp, limit: u64) -> Result<Vec<Id>, LoadError> {
        use invoice_documents::Column as D;
        let settled = SETTLED.iter().map(word).collect::<Result<Vec<_>, _>>().map_err(json)?;
        let settled = Query::select()
            .column(invoices::Column::Id)
            .from(invoices::Entity)
            .cond_where(Condition::all().add(invoices::Column::Status.is_in(settled)))
            .to_owned();
        let sending = word(&PostingState::Sending).map_err(json)?;
        let posted = Query::select()
            .column(postings::Column::DocumentId)
            .from(postings::Entity)
            .cond_where(Condition::all().add(postings::Column::State.ne(sending)))
            .to_owned();
        let select = invoice_documents::Entity::find()
            .select_only()
            .column(D::Id)
            .filter(D::CreatedAt.gte(since.0))
            .filter(D::InvoiceId.in_subquery(settled))
            .filter(D::Id.not_in_subquery(posted))
            .order_by_asc(D::CreatedAt)
            .order_by_asc(D::Id)
            .limit(limit);
        let ids: Vec<String> = select.into_tuple().all(&self.db).await?;
        ids.iter().map(|id| id_of("invoice_documents", id)).collect()
    }
}
