//! Queries for invoices and issued documents.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::{Condition, Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::orders::json;
use super::{Page, Queries};
use crate::kinds::read_document;
use crate::rows::{LoadError, word};
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceStatus, IssuedDocument};
use domain::order::OrderStatus;
use domain::restore::numbers::NumberGap;
use domain::time::Timestamp;
use entities::{invoice_documents, invoices, orders};

/// Maximum number of missing numbers listed per series.
const MAX_NAMED_GAPS: usize = 100;

/// Filter for invoices; absent fields match all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InvoiceFilter {
    /// Status as displayed at `now`; overdue invoices are neither open nor partially paid.
    pub status: Option<InvoiceStatus>,
    /// Site of the invoice.
    pub site: Option<String>,
    /// Customer's email address, in lowercase.
    pub customer_email: Option<String>,
    /// Order that the invoice belongs to.
    pub order_id: Option<Id>,
    /// `true` to list only issued invoices.
    pub issued: bool,
    /// Reference time for deciding which invoices are overdue.
    pub now: Timestamp,
}

/// Numbering status of a series.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NumberingSeries {
    /// Name of the number series, such as `INV-2026`.
    pub series: String,
    /// Number of documents in the series.
    pub count: i64,
    /// Lowest number in use.
    pub first: i64,
    /// Highest number in use.
    pub last: i64,
    /// Missing numbers between 1 and the highest, excluding those skipped on purpose; at most a hundred.
    pub missing: Vec<i64>,
    /// Numbers skipped on purpose, with the reason, in ascending order.
    pub gaps: Vec<NumberGap>,
}

impl NumberingSeries {
    /// Returns whether every number from 1 to the highest is in use or was skipped on purpose.
    pub fn is_gapless(&self) -> bool {
        self.missing.is_empty()
    }
}

impl Queries {
    /// Returns a page of invoices, newest first, and their total number.
    pub async fn invoices(
        &self,
        filter: &InvoiceFilter,
        page: Page,
    ) -> Result<(Vec<Versioned<Invoice>>, u64), LoadError> {
        use invoices::Column as C;
        let status = filter.status.map(|status| shown_as(status, filter.now)).transpose()?;
        let select = invoices::Entity::find()
            .apply_if(status, QueryFilter::filter)
            .apply_if(filter.site.as_deref(), |all, site| all.filter(C::Site.eq(site)))
            .apply_if(filter.customer_email.as_deref(), |all, email| all.filter(C::CustomerEmail.eq(email)))
            .apply_if(filter.order_id, |all, order| all.filter(C::OrderId.eq(order.to_string())))
            .apply_if(filter.issued.then_some(()), |all, ()| all.filter(C::IssuedAt.is_not_null()))
            .order_by_desc(C::CreatedAt)
            .order_by_desc(C::Id);
        let total = self.invoice_total(filter).await?;
        self.snapshots_of(select, page, total).await
    }

    /// Returns the total number of invoices that match a filter, if it is known without counting them. It is not for
    /// statuses that depend on the time, but few invoices have those.
    async fn invoice_total(&self, filter: &InvoiceFilter) -> Result<Option<u64>, LoadError> {
        let InvoiceFilter { status, site, customer_email: None, order_id: None, issued, now: _ } = filter else {
            return Ok(None);
        };
        if matches!(status, Some(InvoiceStatus::Open | InvoiceStatus::PartiallyPaid | InvoiceStatus::Overdue)) {
            return Ok(None);
        }
        let status = status.as_ref().map(word).transpose().map_err(json)?;
        let matches = |key: &str| {
            let mut words = key.splitn(3, ' ');
            let (own_status, is_issued) = (words.next(), words.next() == Some("issued"));
            let own_site = words.next();
            (status.is_none() || status.as_deref() == own_status)
                && (!issued || is_issued)
                && (site.is_none() || site.as_deref() == own_site)
        };
        Ok(Some(self.row_total("invoices", matches).await?))
    }

    /// Returns the IDs of the given invoices that have an amount due but will not be paid, because the order was
    /// cancelled. Uses a single query.
    pub async fn open_of_cancelled(&self, invoices: &[Invoice]) -> Result<HashSet<Id>, LoadError> {
        use orders::Column as C;
        let owing = invoices.iter().filter(|one| one.due_cents() > 0);
        let owing: Vec<(Id, Id)> = owing.filter_map(|one| Some((one.id, one.order_id?))).collect();
        if owing.is_empty() {
            return Ok(HashSet::new());
        }
        let cancelled = word(&OrderStatus::Cancelled).map_err(json)?;
        let ids = owing.iter().map(|(_, order)| order.to_string());
        let select = orders::Entity::find().select_only().column(C::Id).filter(C::Id.is_in(ids));
        let cancelled_ids: Vec<String> = select.filter(C::Status.eq(cancelled)).into_tuple().all(&self.db).await?;
        let cancelled_ids: HashSet<Id> =
            cancelled_ids.iter().map(|id| super::id_of("orders", id)).collect::<Result<_, _>>()?;
        Ok(owing.into_iter().filter(|(_, order)| cancelled_ids.contains(order)).map(|(invoice, _)| invoice).collect())
    }

    /// Returns the human-readable numbers of the given documents, by document ID.
    pub async fn document_numbers(&self, documents: &[Id]) -> Result<HashMap<Id, String>, LoadError> {
        use invoice_documents::Column as C;
        if documents.is_empty() {
            return Ok(HashMap::new());
        }
        if let Some(memory) = &self.memory {
            let tables = memory.tables();
            let issued = documents.iter().filter_map(|id| tables.issued_document(*id));
            return Ok(issued.map(|one| (one.id, one.number_text())).collect());
        }
        let ids = documents.iter().map(ToString::to_string);
        let select = invoice_documents::Entity::find().select_only().columns([C::Id, C::Series, C::Number]);
        let rows: Vec<(String, String, i64)> = select.filter(C::Id.is_in(ids)).into_tuple().all(&self.db).await?;
        let numbered = |(id, series, number): (String, String, i64)| {
            Ok((super::id_of("invoice_documents", &id)?, format!("{series}-{number:06}")))
        };
        rows.into_iter().map(numbered).collect()
    }

    /// Returns a document with its number; `None` if there is no document with the given ID.
    pub async fn document(&self, id: Id) -> Result<Option<IssuedDocument>, LoadError> {
        if let Some(memory) = &self.memory {
            return Ok(memory.tables().issued_document(id).cloned());
        }
        let row = invoice_documents::Entity::find_by_id(id.to_string()).one(&self.db).await?;
        row.as_ref().map(read_document).transpose()
    }

    /// Returns the numbering status of every series, computed from the stored documents.
    pub async fn numbering(&self) -> Result<Vec<NumberingSeries>, LoadError> {
        use invoice_documents::Column as C;
        let number = || Expr::col(C::Number);
        let select = invoice_documents::Entity::find()
            .select_only()
            .column(C::Series)
            .column_as(number().count(), "n")
            .column_as(number().min(), "first")
            .column_as(number().max(), "last")
            .group_by(C::Series)
            .order_by_asc(C::Series);
        let rows: Vec<(String, i64, i64, i64)> = select.into_tuple().all(&self.db).await?;
        let mut gaps = self.number_gaps().await?;
        let mut all = Vec::with_capacity(rows.len());
        for (series, count, first, last) in rows {
            let gaps: Vec<_> = gaps.extract_if(.., |gap| gap.series == series).collect();
            let missing = if count == last { Vec::new() } else { self.missing(&series, last, &gaps).await? };
            all.push(NumberingSeries { series, count, first, last, missing, gaps });
        }
        Ok(all)
    }

    async fn missing(&self, series: &str, last: i64, gaps: &[NumberGap]) -> Result<Vec<i64>, LoadError> {
        use invoice_documents::Column as C;
        let select = invoice_documents::Entity::find().select_only().column(C::Number).filter(C::Series.eq(series));
        let numbers: Vec<i64> = select.order_by_asc(C::Number).into_tuple().all(&self.db).await?;
        Ok(missing_numbers(&numbers, last, gaps))
    }
}

/// Returns the lowest numbers from 1 to `last` that are neither in `numbers` nor in a gap, up to [`MAX_NAMED_GAPS`] of
/// them. `numbers` must be in ascending order.
fn missing_numbers(numbers: &[i64], last: i64, gaps: &[NumberGap]) -> Vec<i64> {
    let assigned = numbers.iter().map(|number| (*number, *number));
    let left_out = gaps.iter().map(|gap| (gap.first, gap.last));
    let mut ranges: Vec<(i64, i64)> = assigned.chain(left_out).chain([(last + 1, last + 1)]).collect();
    ranges.sort_unstable();
    let (mut missing, mut next) = (Vec::new(), 1);
    for (from, to) in ranges {
        while next < from && missing.len() < MAX_NAMED_GAPS {
            missing.push(next);
            next += 1;
        }
        next = Ord::max(next, to.saturating_add(1));
    }
    missing
}

/// Returns the condition that selects invoices displayed with the given status at the given time.
pub(super) fn shown_as(status: InvoiceStatus, now: Timestamp) -> Result<Condition, LoadError> {
    use invoices::Column as C;
    let is = |status: InvoiceStatus| Ok::<_, LoadError>(C::Status.eq(word(&status).map_err(json)?));
    let late = Condition::all().add(C::DueAt.is_not_null()).add(C::DueAt.lt(now.0));
    Ok(match status {
        InvoiceStatus::Overdue => {
            let owing = Condition::any().add(is(InvoiceStatus::Open)?).add(is(InvoiceStatus::PartiallyPaid)?);
            Condition::all().add(owing).add(late)
        }
        InvoiceStatus::Open | InvoiceStatus::PartiallyPaid => Condition::all().add(is(status)?).add(late.not()),
        InvoiceStatus::Draft | InvoiceStatus::Paid | InvoiceStatus::Refunded | InvoiceStatus::Void => {
            Condition::all().add(is(status)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::Id;

    #[test]
    fn numbers_that_were_left_out_on_purpose_are_not_missing() {
        let gap = |first, last| NumberGap {
            id: Id::ONLY,
            restore_id: Id::ONLY,
            series: "INV-2026".to_owned(),
            first,
            last,
            reason: String::new(),
            noted_at: Timestamp(0),
        };
        assert!(missing_numbers(&[1, 2, 6, 7], 7, &[gap(3, 5)]).is_empty());
        assert_eq!(missing_numbers(&[1, 6, 7], 7, &[gap(3, 5)]), [2], "before the gap");
        assert_eq!(missing_numbers(&[1, 2, 7], 7, &[gap(3, 5)]), [6], "behind the gap");
        assert!(missing_numbers(&[1, 2], 2, &[gap(3, 50)]).is_empty(), "nothing was issued since");
        assert!(missing_numbers(&[1, 2, 4, 9], 9, &[gap(3, 8)]).is_empty(), "one was issued inside the gap");
        assert_eq!(missing_numbers(&[1_000], 1_000, &[]).len(), MAX_NAMED_GAPS);
    }
}
