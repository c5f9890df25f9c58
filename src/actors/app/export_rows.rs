//! Export rows. Each record type has its columns and a query that returns a page of rows.
//!
//! To add a type, create a submodule with `COLUMNS` and `page`, and add a line to each `match` in this module.

mod invoices;
mod quotes;

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use crate::exports::{ExportPage, ExportRows};
use domain::export::{ExportCursor, ExportScope, ExportType};
use domain::time::Timestamp;
use store::queries::{ExportRange, Queries};
use store::rows::LoadError;

/// Source of export rows that runs its queries on the read pool.
pub(super) struct QueriedExportRows(pub(super) Queries);

#[async_trait]
impl ExportRows for QueriedExportRows {
    fn columns(&self, kind: ExportType) -> &'static [&'static str] {
        match kind {
            ExportType::Invoices => invoices::COLUMNS,
            ExportType::Quotes => quotes::COLUMNS,
        }
    }

    async fn page(
        &self,
        scope: &ExportScope,
        upto: Timestamp,
        after: Option<ExportCursor>,
        limit: u64,
    ) -> Result<ExportPage, LoadError> {
        match scope.kind {
            ExportType::Invoices => invoices::page(&self.0, &range(scope, upto), after, limit).await,
            ExportType::Quotes => quotes::page(&self.0, &range(scope, upto), after, limit).await,
        }
    }
}

/// Returns the range of records that an export covers. The name of its status was validated when it was requested.
fn range<S: DeserializeOwned>(scope: &ExportScope, upto: Timestamp) -> ExportRange<S> {
    ExportRange {
        customer_email: scope.customer_email.clone(),
        status: scope.status.as_deref().and_then(|word| serde_json::from_value(word.into()).ok()),
        site: scope.site.clone(),
        from: scope.from,
        before: scope.to,
        upto,
    }
}
