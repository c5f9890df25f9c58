//! Queries for exports and for the records to export.

use sea_orm::sea_query::ExprTrait as _;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::invoices::shown_as;
use super::orders::json;
use super::quotes::shown_as as quotes_shown_as;
use super::{Page, Queries, id_of};
use crate::rows::{Doc as _, LoadError, word};
use domain::aggregate::Versioned;
use domain::export::{Export, ExportCursor, ExportState};
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceStatus};
use domain::quote::{Quote, QuoteStatus};
use domain::time::Timestamp;
use entities::{exports, invoices, quotes};

/// Selection of the records to export; `S` is the type of their status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExportRange<S> {
    /// Customer's email address, in lowercase.
    pub customer_email: Option<String>,
    /// Status of the record as displayed at time `upto`.
    pub status: Option<S>,
    /// Site of the record.
    pub site: Option<String>,
    /// Earliest creation time, inclusive.
    pub from: Option<Timestamp>,
    /// Latest creation time, exclusive.
    pub before: Option<Timestamp>,
    /// Latest creation time, inclusive; it is also the time at which the export takes its snapshot.
    pub upto: Timestamp,
}

impl<S> ExportRange<S> {
    /// Selects the next records in the range, oldest first; the two columns contain the creation time and the ID.
    fn next_of<E: EntityTrait, C: ColumnTrait>(
        &self,
        select: Select<E>,
        (created, id): (C, C),
        after: Option<ExportCursor>,
        limit: u64,
    ) -> Select<E> {
        select
            .filter(created.lte(self.upto.0))
            .apply_if(self.from, |all, from| all.filter(created.gte(from.0)))
            .apply_if(self.before, |all, before| all.filter(created.lt(before.0)))
            .apply_if(after, |all, after| {
                let later = created.gt(after.at.0);
                all.filter(later.or(created.eq(after.at.0).and(id.gt(after.id.to_string()))))
            })
            .order_by_asc(created)
            .order_by_asc(id)
            .limit(limit)
    }
}

impl Queries {
    /// Returns a page of exports, newest first, and their total number.
    pub async fn exports(&self, page: Page) -> Result<(Vec<Versioned<Export>>, u64), LoadError> {
        use exports::Column as C;
        self.snapshots(exports::Entity::find().order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// Returns the export whose link token has the given hash, even if the link has expired.
    pub async fn export_by_token(&self, hash: &str) -> Result<Option<Id>, LoadError> {
        use exports::Column as C;
        let select = exports::Entity::find().select_only().column(C::Id).filter(C::TokenHash.eq(hash));
        let id: Option<String> = select.into_tuple().one(&self.db).await?;
        id.map(|id| id_of("exports", &id)).transpose()
    }

    /// Returns the number of a customer's exports that are queued or being written.
    pub async fn pending_exports(&self, customer_email: &str) -> Result<u64, LoadError> {
        use exports::Column as C;
        let pending = [ExportState::Queued, ExportState::Running];
        let pending = pending.iter().map(word).collect::<Result<Vec<_>, _>>().map_err(json)?;
        let select =
            exports::Entity::find().filter(C::CustomerEmail.eq(customer_email)).filter(C::State.is_in(pending));
        Ok(select.count(&self.db).await?)
    }

    /// Returns the next issued invoices in a range, oldest first, each with the cursor to continue from. A damaged
    /// invoice is registered and returned as `None`.
    pub async fn invoices_of_range(
        &self,
        range: &ExportRange<InvoiceStatus>,
        after: Option<ExportCursor>,
        limit: u64,
    ) -> Result<Vec<(ExportCursor, Option<Invoice>)>, LoadError> {
        use invoices::Column as C;
        let status = range.status.map(|status| shown_as(status, range.upto)).transpose()?;
        let select = invoices::Entity::find()
            .filter(C::IssuedAt.is_not_null())
            .apply_if(status, QueryFilter::filter)
            .apply_if(range.customer_email.as_deref(), |all, email| all.filter(C::CustomerEmail.eq(email)))
            .apply_if(range.site.as_deref(), |all, site| all.filter(C::Site.eq(site)));
        let rows = range.next_of(select, (C::CreatedAt, C::Id), after, limit).all(&self.db).await?;
        let read = |row: &invoices::Model| {
            let cursor = ExportCursor { at: Timestamp(row.created_at), id: id_of("invoices", &row.id)? };
            Ok((cursor, self.damaged.sort_out("invoices", &row.id, row.read())))
        };
        rows.iter().map(read).collect()
    }

    /// Returns the next sent quotes in a range, oldest first, each with the cursor to continue from. A damaged quote is
    /// registered and returned as `None`.
    pub async fn quotes_of_range(
        &self,
        range: &ExportRange<QuoteStatus>,
        after: Option<ExportCursor>,
        limit: u64,
    ) -> Result<Vec<(ExportCursor, Option<Quote>)>, LoadError> {
        use quotes::Column as C;
        let status = range.status.map(|status| quotes_shown_as(status, range.upto)).transpose()?;
        let select = quotes::Entity::find()
            .filter(C::Archived.eq(false))
            .filter(C::Status.ne(word(&QuoteStatus::Draft).map_err(json)?))
            .apply_if(status, QueryFilter::filter)
            .apply_if(range.customer_email.as_deref(), |all, email| all.filter(C::CustomerEmail.eq(email)))
            .apply_if(range.site.as_deref(), |all, site| all.filter(C::Site.eq(site)));
        let rows = range.next_of(select, (C::CreatedAt, C::Id), after, limit).all(&self.db).await?;
        let read = |row: &quotes::Model| {
            let cursor = ExportCursor { at: Timestamp(row.created_at), id: id_of("quotes", &row.id)? };
            Ok((cursor, self.damaged.sort_out("quotes", &row.id, row.read())))
        };
        rows.iter().map(read).collect()
    }
}
