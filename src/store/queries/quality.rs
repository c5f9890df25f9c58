//! Queries for print quality: the good parts of signed-off prints, and the cost of rejected parts.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement};

use super::Queries;
use crate::rows::{LoadError, PeriodQuery, PrintList, SCRAP_UNITS, period_sums};
use domain::amount::Amount;
use domain::material::MaterialType;
use domain::time::Timestamp;

/// Number of summed cost units per cent. Costs are summed in thousandths of a material unit times thousandths of a
/// cent.
const PARTS_OF_A_CENT: f64 = 1_000_000.0;
/// Amount added to a cost before it is rounded, in cents: sums may be too low by a fraction of it.
const COST_ERROR: f64 = 0.000_001;
/// SQL for the reason in the key of a sum, which begins with a sign; prints without a reason have another sign as key.
const REASON: &str = "CASE WHEN sums.key = '-' THEN NULL ELSE SUBSTR(sums.key, 2) END";
/// Maximum number of groups returned.
const MAX_GROUPS: usize = 200;

/// Property by which prints are grouped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QualityGrouping {
    /// No property: all prints form a single group.
    All,
    /// SKU that was produced.
    Sku,
    /// Printer used.
    Printer,
    /// Reason that parts were rejected; covers only prints with rejected parts.
    Reason,
}

/// Quality figures for one group of signed-off prints.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct QualityCounts {
    /// ID of the SKU or printer, or the reason; `None` for the single group, and for prints without a reason.
    pub key: Option<String>,
    /// Number of prints that ended and were signed off.
    pub prints: i64,
    /// Number of parts on the plates of these prints.
    pub parts: i64,
    /// Number of good parts.
    pub good: i64,
    /// Number of parts from first attempts: the first print of a job, excluding reprints.
    pub first_parts: i64,
    /// Number of good parts from first attempts, excluding reprints.
    pub first_good: i64,
    /// Printing time spent on rejected parts, in milliseconds.
    pub lost_ms: i64,
    /// Amount of material in rejected parts, by unit.
    pub lost_material: Vec<(&'static str, Amount)>,
    /// Current cost of the material in rejected parts, in the smallest currency unit; `None` if no costs are known.
    pub lost_cents: Option<i64>,
}

impl Queries {
    /// Returns the quality of prints that ended between `from` (inclusive) and `to` (exclusive), by group. Groups with
    /// the most rejected parts come first; at most 200 groups are returned.
    pub async fn quality(
        &self,
        by: QualityGrouping,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<QualityCounts>, LoadError> {
        let (list, key) = match by {
            QualityGrouping::All => (PrintList::PrinterQuality, "CAST(NULL AS TEXT)"),
            QualityGrouping::Sku => (PrintList::SkuQuality, "sums.key"),
            QualityGrouping::Printer => (PrintList::PrinterQuality, "sums.key"),
            QualityGrouping::Reason => (PrintList::Reasons, REASON),
        };
        let db = self.db.get_database_backend();
        let PeriodQuery { sql, values } = period_sums(db, list, from, to);
        // PostgreSQL sums whole numbers to decimals.
        let sum = |what: &str| format!("CAST(SUM({what}) AS BIGINT)");
        let sql = format!(
            "SELECT {key} AS key, materials.kind AS kind, {} AS prints, {} AS parts, {} AS good, {} AS first_parts, \
             {} AS first_good, {} AS lost_ms, {} AS lost_material \
             FROM ({sql}) AS sums LEFT JOIN materials ON materials.id = sums.kind GROUP BY 1, 2",
            sum("sums.attempts"),
            sum("sums.parts"),
            sum("sums.good"),
            sum("sums.first_parts"),
            sum("sums.first_good"),
            sum("sums.lost_ms"),
            sum("sums.lost_material"),
        );
        let statement = Statement::from_sql_and_values(db, sql, values);
        let mut groups: Vec<QualityCounts> = Vec::new();
        for row in self.db.query_all_raw(statement).await? {
            let (of_kind, unit) = read(&row)?;
            match groups.iter_mut().find(|group| group.key == of_kind.key) {
                Some(group) => group.add(of_kind, unit),
                None => {
                    let mut group = QualityCounts { key: of_kind.key.clone(), ..QualityCounts::default() };
                    group.add(of_kind, unit);
                    groups.push(group);
                }
            }
        }
        groups.sort_by(|one, other| {
            let scrap = |group: &QualityCounts| group.parts - group.good;
            scrap(other).cmp(&scrap(one)).then_with(|| one.key.cmp(&other.key))
        });
        groups.truncate(MAX_GROUPS);
        let mut costs = self.costs(by, from, to).await?;
        for group in &mut groups {
            group.lost_cents = costs.remove(&group.key).unwrap_or(Some(0));
        }
        Ok(groups)
    }

    /// Returns the cost of the material in rejected parts, by group; omits groups without a loss.
    async fn costs(
        &self,
        by: QualityGrouping,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<HashMap<Option<String>, Option<i64>>, LoadError> {
        let (list, key) = match by {
            QualityGrouping::All => (PrintList::PrinterScrap, "CAST(NULL AS TEXT)"),
            QualityGrouping::Sku => (PrintList::SkuScrap, "sums.key"),
            QualityGrouping::Printer => (PrintList::PrinterScrap, "sums.key"),
            QualityGrouping::Reason => (PrintList::ReasonScrap, REASON),
        };
        let db = self.db.get_database_backend();
        let PeriodQuery { sql, values } = period_sums(db, list, from, to);
        let sql = format!(
            "SELECT {key} AS key, SUM(CAST(sums.used AS DOUBLE PRECISION) * materials.unit_cost) AS cost \
             FROM ({sql}) AS sums LEFT JOIN materials ON materials.id = sums.kind GROUP BY 1",
        );
        let statement = Statement::from_sql_and_values(db, sql, values);
        let mut costs = HashMap::new();
        for row in self.db.query_all_raw(statement).await? {
            let cost: Option<f64> = row.try_get("", "cost")?;
            costs.insert(row.try_get("", "key")?, cost.map(cents));
        }
        Ok(costs)
    }
}

/// Returns the smallest currency units in a cost that was summed in units of scrap times thousandths of a cent.
fn cents(cost: f64) -> i64 {
    (cost / SCRAP_UNITS / PARTS_OF_A_CENT + COST_ERROR).round() as i64
}

/// Parses a result row, which has the counts for one group and one type of material; returns them with the unit of the
/// amounts.
fn read(row: &QueryResult) -> Result<(QualityCounts, &'static str), DbErr> {
    let kind: Option<String> = row.try_get("", "kind")?;
    let kind = kind.and_then(|kind| serde_json::from_value::<MaterialType>(kind.into()).ok());
    let lost: i64 = row.try_get("", "lost_material")?;
    let unit = kind.map_or("unit", MaterialType::unit);
    let counts = QualityCounts {
        key: row.try_get("", "key")?,
        prints: row.try_get("", "prints")?,
        parts: row.try_get("", "parts")?,
        good: row.try_get("", "good")?,
        first_parts: row.try_get("", "first_parts")?,
        first_good: row.try_get("", "first_good")?,
        lost_ms: row.try_get("", "lost_ms")?,
        lost_material: vec![(unit, Amount(lost))],
        lost_cents: None,
    };
    Ok((counts, unit))
}

impl QualityCounts {
    fn add(&mut self, other: Self, unit: &'static str) {
        self.prints += other.prints;
        self.parts += other.parts;
        self.good += other.good;
        self.first_parts += other.first_parts;
        self.first_good += other.first_good;
        self.lost_ms += other.lost_ms;
        let lost: Amount = other.lost_material.into_iter().map(|(_, amount)| amount).sum();
        match self.lost_material.iter_mut().find(|(listed_unit, _)| *listed_unit == unit) {
            Some((_, amount)) => *amount += lost,
            None if lost > Amount::ZERO => self.lost_material.push((unit, lost)),
            None => {}
        }
    }
}
