//! Queries for the activity in a period, regardless of part quality: attempts by printer and by day, the material that
//! prints used, and the orders placed.

use std::collections::BTreeMap;

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Statement};

use super::orders::json;
use super::{Queries, id_of, versioned};
use crate::rows::{LoadError, PeriodQuery, PrintList, period_sums, word};
use domain::aggregate::Versioned;
use domain::amount::Amount;
use domain::id::Id;
use domain::insights::PrintTally;
use domain::job::AttemptState;
use domain::order::{Order, OrderStatus};
use domain::time::{DAY_MS, HOUR_MS, Timestamp};
use entities::orders;

/// Maximum number of orders read for lead times and promises, newest first.
const MAX_ORDERS_READ: u64 = 2000;

/// Property by which attempts are grouped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActivityGrouping {
    /// Printer that was claimed, by ID.
    Printer,
    /// Day of the claim, as the number of days since 1970. The value is how far the local clock is ahead of UTC, in
    /// milliseconds.
    Day(i64),
}

impl Queries {
    /// Returns the totals of the attempts that claimed a printer between `from` (inclusive) and `to` (exclusive),
    /// grouped and ordered by group key.
    pub async fn activity(
        &self,
        by: ActivityGrouping,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<BTreeMap<String, PrintTally>, LoadError> {
        let (list, key) = match by {
            ActivityGrouping::Printer => (PrintList::Printers, "key".to_owned()),
            ActivityGrouping::Day(ahead_ms) if ahead_ms % HOUR_MS == 0 => {
                (PrintList::Hours, format!("CAST((slot * {HOUR_MS} + ({ahead_ms})) / {DAY_MS} AS TEXT)"))
            }
            ActivityGrouping::Day(ahead_ms) => return self.activity_by_day(ahead_ms, from, to).await,
        };
        let db = self.db.get_database_backend();
        let PeriodQuery { sql, values } = period_sums(db, list, from, to);
        // PostgreSQL sums whole numbers to decimals. How long it took is kept of attempts that printed alone.
        let sql = format!(
            "SELECT {key} AS key, kind AS state, CAST(SUM(attempts) AS BIGINT) AS attempts, \
             CAST(SUM(prints) AS BIGINT) AS prints, CAST(SUM(print_ms) AS BIGINT) AS print_ms \
             FROM ({sql}) AS sums GROUP BY 1, 2"
        );
        self.tallies(Statement::from_sql_and_values(db, sql, values)).await
    }

    /// Returns the totals of attempts by day where the clock is not a number of hours ahead of UTC.
    async fn activity_by_day(
        &self,
        ahead_ms: i64,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<BTreeMap<String, PrintTally>, LoadError> {
        // The attempts of each printer are found by their time. PostgreSQL sums whole numbers to decimals.
        let sql = format!(
            "SELECT CAST((attempts.created_at + ({ahead_ms})) / {DAY_MS} AS TEXT) AS key, attempts.state AS state, \
             COUNT(*) AS attempts, COUNT(attempts.print_ms) AS prints, \
             CAST(COALESCE(SUM(attempts.print_ms), 0) AS BIGINT) AS print_ms \
             FROM printers JOIN attempts ON attempts.printer_id = printers.id \
             WHERE attempts.created_at >= $1 AND attempts.created_at < $2 GROUP BY 1, 2",
        );
        let values = [from.0.into(), to.0.into()];
        self.tallies(Statement::from_sql_and_values(self.db.get_database_backend(), sql, values)).await
    }

    /// Reads the totals of attempts by key and state.
    async fn tallies(&self, statement: Statement) -> Result<BTreeMap<String, PrintTally>, LoadError> {
        let mut groups: BTreeMap<String, PrintTally> = BTreeMap::new();
        for row in self.db.query_all_raw(statement).await? {
            let state: String = row.try_get("", "state")?;
            let state = serde_json::from_value::<AttemptState>(state.into()).map_err(json)?;
            let group = groups.entry(row.try_get("", "key")?).or_default();
            group.add(state, row.try_get("", "attempts")?, row.try_get("", "prints")?, row.try_get("", "print_ms")?);
        }
        Ok(groups)
    }

    /// Returns how much of each material was used by prints whose attempts claimed a printer between `from` (inclusive)
    /// and `to` (exclusive), largest amount first.
    pub async fn material_used(&self, from: Timestamp, to: Timestamp) -> Result<Vec<(Id, Amount)>, LoadError> {
        let db = self.db.get_database_backend();
        let PeriodQuery { sql, values } = period_sums(db, PrintList::Materials, from, to);
        let sql = format!("SELECT key, CAST(SUM(used) AS BIGINT) AS used FROM ({sql}) AS sums GROUP BY 1");
        let statement = Statement::from_sql_and_values(db, sql, values);
        let mut used = Vec::new();
        for row in self.db.query_all_raw(statement).await? {
            let key: String = row.try_get("", "key")?;
            used.push((id_of("materials", &key)?, Amount(row.try_get("", "used")?)));
        }
        used.sort_by(|(one, a), (other, b)| b.cmp(a).then_with(|| one.cmp(other)));
        Ok(used)
    }

    /// Returns the orders placed between `from` (inclusive) and `to` (exclusive) that have been paid, printed or
    /// shipped; at most the newest two thousand.
    pub async fn orders_placed(&self, from: Timestamp, to: Timestamp) -> Result<Vec<Order>, LoadError> {
        use orders::Column as C;
        let bought = [OrderStatus::Paid, OrderStatus::Printing, OrderStatus::Ready, OrderStatus::Shipped];
        let bought = bought.iter().map(word).collect::<Result<Vec<_>, _>>().map_err(json)?;
        let select = orders::Entity::find()
            .filter(C::Status.is_in(bought))
            .filter(C::CreatedAt.gte(from.0))
            .filter(C::CreatedAt.lt(to.0))
            .order_by_desc(C::CreatedAt)
            .limit(MAX_ORDERS_READ);
        let rows = select.all(&self.db).await?;
        let placed: Vec<Versioned<Order>> = self.readable(&rows, versioned);
        Ok(placed.into_iter().filter_map(|one| one.state).collect())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::sync::Arc;

    use super::*;
    use crate::rows::samples::{at, attempt, id, job, on_each, order, printer, write};
    use crate::rows::{Batch, Snapshot};
    use domain::job::Attempt;
    use domain::order::OrderRow;

    #[tokio::test]
    async fn attempts_are_summed_up_by_printer_and_by_day() {
        on_each(async |db| {
            let mut batch = Batch::default();
            batch.push_snapshot(printer(500).snapshot(id(500), 1, true).unwrap());
            batch.push_row(&OrderRow::Job(Arc::new(job(1, 1)))).unwrap();
            for (n, day, state) in
                [(1, 0, AttemptState::Finished), (2, 0, AttemptState::Failed), (3, 1, AttemptState::Finished)]
            {
                let began = at(day * DAY_MS);
                let ended_at = Some(began.plus_ms(60_000));
                let used = Amount::units(10);
                let own = attempt(n, 1, 1, n as u32);
                let reason = (state == AttemptState::Failed).then(|| "jammed".to_owned());
                let own = Attempt { state, created_at: began, started_at: Some(began), ended_at, used, reason, ..own };
                batch.push_row(&OrderRow::Attempt(own)).unwrap();
            }
            write(db, batch).await.unwrap();
            let queries = Queries::new(db.clone());
            let (from, to) = (at(0), at(3 * DAY_MS));
            let all = PrintTally { finished: 2, failed: 1, print_ms: 180_000, ..PrintTally::default() };
            let by_printer = queries.activity(ActivityGrouping::Printer, from, to).await.unwrap();
            assert_eq!(by_printer, BTreeMap::from([(id(500).to_string(), all)]));
            let by_day = queries.activity(ActivityGrouping::Day(0), from, to).await.unwrap();
            let day = |n: i64| (from.0.div_euclid(DAY_MS) + n).to_string();
            let first = PrintTally { finished: 1, failed: 1, print_ms: 120_000, ..PrintTally::default() };
            let second = PrintTally { finished: 1, print_ms: 60_000, ..PrintTally::default() };
            assert_eq!(by_day, BTreeMap::from([(day(0), first), (day(1), second)]));
            assert!(
                queries.activity(ActivityGrouping::Day(0), at(-DAY_MS), from).await.unwrap().is_empty(),
                "before the end"
            );
            assert_eq!(queries.material_used(from, to).await.unwrap(), [(id(200), Amount::units(30))]);
            let reasons = queries.failure_reasons(None, from, to).await.unwrap();
            assert_eq!(reasons, [(Some("jammed".to_owned()), 1)]);
        })
        .await;
    }

    #[tokio::test]
    async fn orders_are_found_by_when_they_were_placed() {
        on_each(async |db| {
            let mut batch = Batch::default();
            for (n, status) in [(1, OrderStatus::Shipped), (2, OrderStatus::Cancelled), (3, OrderStatus::Paid)] {
                let one = Order { status, ..order(n) };
                batch.push_snapshot(one.snapshot(one.id, 1, false).unwrap());
            }
            write(db, batch).await.unwrap();
            let queries = Queries::new(db.clone());
            let placed = async |from, to| {
                let orders = queries.orders_placed(at(from), at(to)).await.unwrap();
                orders.iter().map(|order| order.id).collect::<Vec<_>>()
            };
            assert_eq!(placed(0, 9).await, [id(3), id(1)], "newest first, without what was cancelled");
            assert_eq!(placed(1, 3).await, [id(1)], "from on, and before");
        })
        .await;
    }
}
