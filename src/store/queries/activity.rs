//! Queries for the activity in a period, regardless of part quality: attempts by printer and by day, the material that
//! prints used, and the orders placed.

use std::collections::BTreeMap;

use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QueryResult, QuerySelect, Statement,
};

use super::orders::json;
use super::{Queries, id_of, versioned};
use crate::rows::{LoadError, PeriodQuery, PrintList, json_number, json_rows, period_sums, word};
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
    /// Claimed printer, by ID.
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
            ActivityGrouping::Day(ahead_ms) => {
                (PrintList::Hours, format!("CAST((slot * {HOUR_MS} + ({ahead_ms})) / {DAY_MS} AS TEXT)"))
            }
        };
        let db = self.db.get_database_backend();
        let PeriodQuery { sql, values } = period_sums(db, list, from, to);
        // PostgreSQL sums whole numbers to decimals. How long it took is kept of attempts that printed alone.
        let sql = format!(
            "SELECT {key} AS key, kind AS state, CAST(SUM(attempts) AS BIGINT) AS attempts, \
             CAST(SUM(prints) AS BIGINT) AS prints, CAST(SUM(print_ms) AS BIGINT) AS print_ms \
             FROM ({sql}) AS sums GROUP BY 1, 2"
        );
        let mut groups: BTreeMap<String, PrintTally> = BTreeMap::new();
        for row in self.db.query_all_raw(Statement::from_sql_and_values(db, sql, values)).await? {
            let sums = AttemptSums::of(&row)?;
            sums.add_to(groups.entry(row.try_get("", "key")?).or_default());
        }
        if let ActivityGrouping::Day(ahead_ms) = by {
            self.split_hours(&mut groups, ahead_ms, from, to).await?;
        }
        Ok(groups)
    }

    /// Moves attempts to their day that are counted for the day before because the clock is not a whole number of hours
    /// ahead of UTC: in an hour with a midnight, those behind it. Only these parts of hours are read.
    async fn split_hours(
        &self,
        groups: &mut BTreeMap<String, PrintTally>,
        ahead_ms: i64,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<(), LoadError> {
        let parts = parts_behind_midnight(ahead_ms, from.0, to.0);
        if parts.is_empty() {
            return Ok(());
        }
        let db = self.db.get_database_backend();
        // The attempts of each printer are found by their time. PostgreSQL sums whole numbers to decimals.
        let sql = format!(
            "SELECT (attempts.created_at + ({ahead_ms})) / {DAY_MS} AS day, attempts.state AS state, \
             COUNT(*) AS attempts, COUNT(attempts.print_ms) AS prints, \
             CAST(COALESCE(SUM(attempts.print_ms), 0) AS BIGINT) AS print_ms \
             FROM {} CROSS JOIN printers CROSS JOIN attempts WHERE attempts.printer_id = printers.id \
             AND attempts.created_at >= {} AND attempts.created_at < {} GROUP BY 1, 2",
            json_rows(db, 1),
            json_number(db, 0),
            json_number(db, 1)
        );
        let parts = serde_json::to_string(&parts).map_err(json)?;
        for row in self.db.query_all_raw(Statement::from_sql_and_values(db, sql, [parts.into()])).await? {
            let (day, sums): (i64, AttemptSums) = (row.try_get("", "day")?, AttemptSums::of(&row)?);
            sums.add_to(groups.entry(day.to_string()).or_default());
            sums.minus().add_to(groups.entry((day - 1).to_string()).or_default());
        }
        groups.retain(|_, tally| *tally != PrintTally::default());
        Ok(())
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
    /// shipped; at most the latest two thousand.
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

/// Sums of attempts in one state.
#[derive(Clone, Copy, Debug)]
struct AttemptSums {
    state: AttemptState,
    attempts: i64,
    prints: i64,
    print_ms: i64,
}

impl AttemptSums {
    /// Parses the sums in a row.
    fn of(row: &QueryResult) -> Result<Self, LoadError> {
        let state: String = row.try_get("", "state")?;
        Ok(Self {
            state: serde_json::from_value(state.into()).map_err(json)?,
            attempts: row.try_get("", "attempts")?,
            prints: row.try_get("", "prints")?,
            print_ms: row.try_get("", "print_ms")?,
        })
    }

    fn minus(self) -> Self {
        Self { attempts: -self.attempts, prints: -self.prints, print_ms: -self.print_ms, ..self }
    }

    fn add_to(self, tally: &mut PrintTally) {
        tally.add(self.state, self.attempts, self.prints, self.print_ms);
    }
}

/// Returns the parts of a period between each midnight of a clock and the next full hour of UTC, as their start
/// (inclusive) and end (exclusive). There are none if the clock is a whole number of hours ahead of UTC.
fn parts_behind_midnight(ahead_ms: i64, from: i64, to: i64) -> Vec<(i64, i64)> {
    if ahead_ms % HOUR_MS == 0 {
        return Vec::new();
    }
    let days = (from + ahead_ms).div_euclid(DAY_MS)..=(to + ahead_ms).div_euclid(DAY_MS);
    let part = |day: i64| {
        let midnight = day * DAY_MS - ahead_ms;
        let next_hour = (midnight.div_euclid(HOUR_MS) + 1) * HOUR_MS;
        let (start, end) = (midnight.max(from), next_hour.min(to));
        (start < end).then_some((start, end))
    };
    days.filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::sync::Arc;

    use sea_orm::DatabaseConnection;

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

    /// Clocks that are 5:30, 12:45 and 0:15 hours ahead of UTC, and 3:30 behind it.
    const ODD_CLOCKS: [i64; 4] = [19_800_000, 45_900_000, 900_000, -12_600_000];

    /// Writes an attempt for each ten minutes of four days; returns the times.
    async fn plant_attempts(db: &DatabaseConnection) -> Vec<Timestamp> {
        let times: Vec<Timestamp> = (0..576).map(|n| at(n * 600_000)).collect();
        let mut batch = Batch::default();
        batch.push_snapshot(printer(500).snapshot(id(500), 1, true).unwrap());
        batch.push_row(&OrderRow::Job(Arc::new(job(1, 1)))).unwrap();
        for (n, began) in (10..).zip(&times) {
            let (state, ended_at) = (AttemptState::Finished, Some(began.plus_ms(1_000)));
            let own = attempt(n, 1, 1, n as u32);
            let own = Attempt { state, created_at: *began, started_at: Some(*began), ended_at, ..own };
            batch.push_row(&OrderRow::Attempt(own)).unwrap();
        }
        write(db, batch).await.unwrap();
        times
    }

    #[tokio::test]
    async fn days_of_any_clock_have_the_attempts_of_their_hours() {
        on_each(async |db| {
            let times = plant_attempts(db).await;
            let queries = Queries::new(db.clone());
            for ahead_ms in ODD_CLOCKS.into_iter().chain([0, 7_200_000]) {
                for (from, to) in [(0, 4 * DAY_MS), (DAY_MS + 17, 3 * DAY_MS - 5), (60_000_000, 60_600_000), (5, 5)] {
                    let (from, to) = (at(from), at(to));
                    let mut expected: BTreeMap<String, PrintTally> = BTreeMap::new();
                    for began in times.iter().filter(|began| (from..to).contains(*began)) {
                        let day = (began.0 + ahead_ms).div_euclid(DAY_MS).to_string();
                        expected.entry(day).or_default().add(AttemptState::Finished, 1, 1, 1_000);
                    }
                    let by_day = queries.activity(ActivityGrouping::Day(ahead_ms), from, to).await.unwrap();
                    assert_eq!(by_day, expected, "{ahead_ms} ms ahead, from {from} to {to}");
                }
            }
        })
        .await;
    }

    #[tokio::test]
    async fn of_an_odd_clock_only_parts_of_hours_are_read() {
        on_each(async |db| {
            plant_attempts(db).await;
            // The sums count, which shows that the attempts were not read.
            db.execute_unprepared("UPDATE print_sums SET attempts = attempts * 100").await.unwrap();
            let queries = Queries::new(db.clone());
            for ahead_ms in ODD_CLOCKS {
                let by_day = queries.activity(ActivityGrouping::Day(ahead_ms), at(0), at(4 * DAY_MS)).await.unwrap();
                let finished: i64 = by_day.values().map(|tally| tally.finished).sum();
                assert!(finished > 50_000, "{ahead_ms} ms ahead: {finished}");
                let parts = parts_behind_midnight(ahead_ms, at(0).0, at(4 * DAY_MS).0);
                assert!((4..=5).contains(&parts.len()), "{parts:?}");
                assert!(parts.iter().all(|(start, end)| (1..HOUR_MS).contains(&(end - start))), "{parts:?}");
            }
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
