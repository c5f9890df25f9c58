//! Queries for a printer's history: its print attempts, and their totals.

use std::collections::BTreeMap;

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Statement};

use super::orders::json;
use super::{Page, Queries};
use crate::rows::{Doc, LoadError, word};
use domain::amount::Amount;
use domain::id::Id;
use domain::insights::PrintTally;
use domain::job::{Attempt, AttemptState, Job};
use domain::time::Timestamp;
use entities::{attempts, jobs};

/// Maximum number of failed attempts whose reasons are counted; the newest are used.
const MAX_FAILURES_READ: u64 = 1000;
/// Maximum number of reasons returned; rarer ones are combined.
const MAX_REASONS: usize = 20;

/// Totals of a printer's attempts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AttemptTotals {
    /// Number of prints that finished.
    pub finished: i64,
    /// Number of prints that failed or were abandoned.
    pub failed: i64,
    /// Number of prints cancelled after they had begun.
    pub cancelled: i64,
    /// Number of attempts that ended without printing.
    pub not_started: i64,
    /// Observed printing time, in milliseconds.
    pub print_ms: i64,
    /// Material used by the prints, in thousandths of each material's unit.
    pub used: Amount,
    /// Failure reasons, each with the number of prints, most frequent first; `None` represents all other reasons and
    /// prints without a reason.
    pub reasons: Vec<(Option<String>, i64)>,
}

impl Queries {
    /// Returns a page of a printer's attempts with their jobs, most recently claimed first, and their total number.
    pub async fn attempts_on(
        &self,
        printer: Id,
        state: Option<AttemptState>,
        page: Page,
    ) -> Result<(Vec<(Attempt, Option<Job>)>, u64), LoadError> {
        use attempts::Column as C;
        let state = state.as_ref().map(word).transpose().map_err(json)?;
        let is_counted = |own: &str| state.as_deref().is_none_or(|state| state == own);
        let total = self.row_total(&format!("attempts {printer}"), is_counted).await?;
        let select = attempts::Entity::find()
            .filter(C::PrinterId.eq(printer.to_string()))
            .apply_if(state, |all, state| all.filter(C::State.eq(state)))
            .order_by_desc(C::CreatedAt)
            .order_by_desc(C::Id);
        let (some, total) = self.rows_of::<_, Attempt>(select, page, Some(total)).await?;
        let ids = some.iter().map(|attempt| attempt.job_id.to_string());
        let rows = jobs::Entity::find().filter(jobs::Column::Id.is_in(ids)).all(&self.db).await?;
        let jobs: BTreeMap<Id, Job> =
            self.readable::<_, Job>(&rows, Doc::read).into_iter().map(|job| (job.id, job)).collect();
        let with_job = |attempt: Attempt| {
            let job = jobs.get(&attempt.job_id).cloned();
            (attempt, job)
        };
        Ok((some.into_iter().map(with_job).collect(), total))
    }

    /// Returns the totals of the attempts that claimed a printer between `from` (inclusive) and `to` (exclusive).
    pub async fn attempt_totals(
        &self,
        printer: Id,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<AttemptTotals, LoadError> {
        // PostgreSQL sums whole numbers to decimals. How long it took is kept of attempts that printed alone.
        let sql = "SELECT state, COUNT(*) AS attempts, COUNT(print_ms) AS prints, \
                   CAST(COALESCE(SUM(print_ms), 0) AS BIGINT) AS print_ms, CAST(COALESCE(SUM(used), 0) AS BIGINT) AS used \
                   FROM attempts WHERE printer_id = $1 AND created_at >= $2 AND created_at < $3 GROUP BY state";
        let values = [printer.to_string().into(), from.0.into(), to.0.into()];
        let statement = Statement::from_sql_and_values(self.db.get_database_backend(), sql, values);
        let (mut tally, mut used_sum) = (PrintTally::default(), Amount::ZERO);
        for row in self.db.query_all_raw(statement).await? {
            let state: String = row.try_get("", "state")?;
            let state = serde_json::from_value::<AttemptState>(state.into()).map_err(json)?;
            tally.add(state, row.try_get("", "attempts")?, row.try_get("", "prints")?, row.try_get("", "print_ms")?);
            used_sum += Amount(row.try_get("", "used")?);
        }
        let PrintTally { finished, failed, cancelled, not_started, print_ms } = tally;
        let reasons = self.failure_reasons(Some(printer), from, to).await?;
        Ok(AttemptTotals { finished, failed, cancelled, not_started, print_ms, used: used_sum, reasons })
    }

    /// Returns the failure reasons for the last thousand failed prints whose attempts claimed the given printer (or, if
    /// none is given, any printer) between `from` (inclusive) and `to` (exclusive), each with the number of prints,
    /// most frequent first.
    pub async fn failure_reasons(
        &self,
        printer: Option<Id>,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<(Option<String>, i64)>, LoadError> {
        use attempts::Column as C;
        let select = attempts::Entity::find()
            .filter(failed())
            .apply_if(printer, |all, printer| all.filter(C::PrinterId.eq(printer.to_string())))
            .filter(C::CreatedAt.gte(from.0))
            .filter(C::CreatedAt.lt(to.0))
            .order_by_desc(C::CreatedAt)
            .limit(MAX_FAILURES_READ);
        let rows = select.all(&self.db).await?;
        let mut counts: BTreeMap<Option<String>, i64> = BTreeMap::new();
        for attempt in self.readable::<_, Attempt>(&rows, Doc::read) {
            *counts.entry(attempt.reason).or_default() += 1;
        }
        let mut other = counts.remove(&None).unwrap_or(0);
        let mut reasons: Vec<(Option<String>, i64)> = counts.into_iter().collect();
        reasons.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
        other += reasons.iter().skip(MAX_REASONS).map(|(_, count)| count).sum::<i64>();
        reasons.truncate(MAX_REASONS);
        reasons.extend((other > 0).then_some((None, other)));
        Ok(reasons)
    }

    /// Returns the recorded reasons for the last `limit` prints with rejected parts, latest first. Prints without a
    /// reason are left out.
    pub async fn last_reject_reasons(&self, limit: u64) -> Result<Vec<String>, LoadError> {
        use attempts::Column as C;
        let select = attempts::Entity::find().select_only().column(C::ScrapReason).filter(rejected());
        let select = select.order_by_desc(C::JudgedEnd).limit(limit);
        let reasons: Vec<Option<String>> = select.into_tuple().all(&self.db).await?;
        Ok(reasons.into_iter().flatten().collect())
    }
}

/// Returns the condition that parts of an attempt's print were rejected. Must match the partial index exactly;
/// otherwise SQLite does not use the index.
fn rejected() -> Expr {
    Expr::cust("good < parts")
}

/// Returns the condition that an attempt failed or was abandoned. Must match the partial index exactly; otherwise
/// SQLite does not use the index.
fn failed() -> Expr {
    Expr::cust("state IN ('failed', 'abandoned')")
}

#[cfg(test)]
mod tests;
