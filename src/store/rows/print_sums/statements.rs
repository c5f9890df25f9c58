//! Statements by which a transaction updates the sums of the attempts that it writes.

use std::sync::LazyLock;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement};

use super::{PRINT_SUMS, SUMS, added_sums};
use crate::rows::WriteError;
use crate::rows::json_parameter::{has_key, json_number, json_rows, json_text};
use crate::rows::statement::map_db_error;

/// Sums of a list, slot, key and kind, in the order of the columns.
pub(in crate::rows) type PrintTotals = Vec<serde_json::Value>;

/// Texts of the statements about sums, for one of the databases.
struct SumStatements {
    /// Statement that reads the sums of the attempts in the parameter.
    read: String,
    /// Statement that adds the sums of the attempts in the first parameter and subtracts those in the second.
    change: String,
    /// Statement that deletes any of the sums in the parameter to which no attempt contributes.
    remove: String,
}

static OF_SQLITE: LazyLock<SumStatements> = LazyLock::new(|| SumStatements::new(DbBackend::Sqlite));
static OF_POSTGRES: LazyLock<SumStatements> = LazyLock::new(|| SumStatements::new(DbBackend::Postgres));

impl SumStatements {
    fn of(backend: DbBackend) -> &'static Self {
        if backend == DbBackend::Postgres { &OF_POSTGRES } else { &OF_SQLITE }
    }

    fn new(backend: DbBackend) -> Self {
        let is_written = has_key(backend, "attempts.id", 1);
        let read = PRINT_SUMS.map(|sum| sum.query(backend, &is_written)).join(" UNION ALL ");
        let (names, rows) = (SUMS.join(", "), json_rows(backend, 2));
        let [list, key, kind] = [0, 2, 3].map(|place| json_text(backend, place));
        let slot = json_number(backend, 1);
        let minus = |place| format!("-{}", json_number(backend, place));
        let former: Vec<String> = (4..4 + SUMS.len()).map(minus).collect();
        let sums = SUMS.map(|name| format!("CAST(SUM({name}) AS BIGINT)"));
        // In the order of the key, as all that lock several rows should.
        let change = format!(
            "INSERT INTO print_sums (list, slot, key, kind, {names}) SELECT list, slot, key, kind, {} \
             FROM ({read} UNION ALL SELECT {list}, {slot}, {key}, {kind}, {} FROM {rows}) AS summed \
             GROUP BY list, slot, key, kind HAVING {} ORDER BY list, slot, key, kind \
             ON CONFLICT (list, slot, key, kind) DO UPDATE SET {} RETURNING list, slot, key, kind, {names}",
            sums.join(", "),
            former.join(", "),
            SUMS.map(|name| format!("SUM({name}) <> 0")).join(" OR "),
            added_sums(),
        );
        let remove = format!(
            "DELETE FROM print_sums WHERE (list, slot, key, kind) IN (SELECT zero.list, zero.slot, zero.key, zero.kind \
             FROM {} CROSS JOIN print_sums AS zero WHERE zero.list = {list} AND zero.slot = {slot} \
             AND zero.key = {key} AND zero.kind = {kind} AND zero.attempts = 0)",
            json_rows(backend, 1)
        );
        Self { read, change, remove }
    }
}

/// Reads the sums of attempts, as they are now.
pub(in crate::rows) async fn read_sums(
    tx: &impl ConnectionTrait,
    attempts: &[String],
) -> Result<Vec<PrintTotals>, WriteError> {
    let backend = tx.get_database_backend();
    let attempts = serde_json::to_string(attempts)?;
    let read = SumStatements::of(backend).read.as_str();
    let rows = tx.query_all_raw(Statement::from_sql_and_values(backend, read, [attempts.into()])).await;
    rows.map_err(map_db_error)?.iter().map(totals).collect::<Result<_, _>>().map_err(map_db_error)
}

/// Adds attempts to their sums as they are now, and subtracts the former sums of those that were replaced.
pub(in crate::rows) async fn change_sums(
    tx: &impl ConnectionTrait,
    attempts: &[&String],
    former: &[PrintTotals],
) -> Result<(), WriteError> {
    let backend = tx.get_database_backend();
    let statements = SumStatements::of(backend);
    let values = [serde_json::to_string(attempts)?.into(), serde_json::to_string(former)?.into()];
    let change = Statement::from_sql_and_values(backend, statements.change.as_str(), values);
    let rows = tx.query_all_raw(change).await.map_err(map_db_error)?;
    let mut unused = Vec::new();
    for row in &rows {
        if row.try_get::<i64>("", "attempts").map_err(map_db_error)? == 0 {
            unused.push(totals(row).map_err(map_db_error)?);
        }
    }
    if unused.is_empty() {
        return Ok(());
    }
    let unused = serde_json::to_string(&unused)?;
    let remove = Statement::from_sql_and_values(backend, statements.remove.as_str(), [unused.into()]);
    tx.execute_raw(remove).await.map_err(map_db_error)?;
    Ok(())
}

/// Parses sums from a row.
fn totals(row: &QueryResult) -> Result<PrintTotals, DbErr> {
    let text = |name: &str| Ok::<_, DbErr>(row.try_get::<String>("", name)?.into());
    let number = |name: &str| Ok::<_, DbErr>(row.try_get::<i64>("", name)?.into());
    let mut totals = vec![text("list")?, number("slot")?, text("key")?, text("kind")?];
    for name in SUMS {
        totals.push(number(name)?);
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::rows::samples::on_each;

    #[tokio::test]
    async fn sums_of_no_attempts_are_found_by_their_keys() {
        on_each(async |db| {
            if db.get_database_backend() != DbBackend::Sqlite {
                return;
            }
            let sql = format!("EXPLAIN QUERY PLAN {}", SumStatements::of(DbBackend::Sqlite).remove);
            let statement = Statement::from_sql_and_values(DbBackend::Sqlite, sql, ["[]".into()]);
            let rows = db.query_all_raw(statement).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.try_get("", "detail").unwrap()).collect();
            let search = "SEARCH print_sums USING PRIMARY KEY (list=? AND slot=? AND key=? AND kind=?)";
            assert!(plan.iter().any(|line| line == search), "{plan:?}");
        })
        .await;
    }
}
