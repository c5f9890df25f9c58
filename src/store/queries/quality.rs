//! How many parts of judged prints are good, and what the others cost.

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement};

use super::Queries;
use crate::domain::amount::Amount;
use crate::domain::material::MaterialType;
use crate::domain::time::Timestamp;
use crate::store::rows::LoadError;

/// Most groups of one answer.
const MAX_GROUPS: usize = 200;

/// What prints are grouped by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QualityBy {
    /// Not at all: one group.
    All,
    /// The SKU that was made.
    Sku,
    /// The printer that printed.
    Printer,
    /// Why parts are not good. Only prints with such parts.
    Reason,
}

/// A group of judged prints.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct QualityCounts {
    /// The id of the SKU or printer, or the reason; `None` for all, and where no reason was given.
    pub key: Option<String>,
    /// Number of prints that ended and were counted.
    pub prints: i64,
    /// Parts on their plates.
    pub parts: i64,
    /// Parts that are good.
    pub good: i64,
    /// Parts of prints that were the first of their job and replaced nothing.
    pub first_parts: i64,
    /// Parts of those prints that are good.
    pub first_good: i64,
    /// Time that printers spent on parts that are not good, in milliseconds.
    pub lost_ms: i64,
    /// Material in parts that are not good, by its unit.
    pub lost_material: Vec<(&'static str, Amount)>,
}

impl Queries {
    /// Judged prints that ended from `from` on and before `to`, in groups: the most parts that are not good first, at most
    /// 200 groups.
    pub async fn quality(
        &self,
        by: QualityBy,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<QualityCounts>, LoadError> {
        let (key, more) = match by {
            QualityBy::All => ("CAST(NULL AS TEXT)", ""),
            QualityBy::Sku => ("jobs.sku_id", ""),
            QualityBy::Printer => ("attempts.printer_id", ""),
            QualityBy::Reason => ("attempts.scrap_reason", "AND attempts.good < attempts.parts"),
        };
        // PostgreSQL sums whole numbers to decimals. A plate has one part at least.
        let sum = |what: &str| format!("CAST(COALESCE(SUM({what}), 0) AS BIGINT)");
        let scrap = "(attempts.parts - attempts.good)";
        let sql = format!(
            "SELECT {key} AS key, materials.kind AS kind, COUNT(*) AS prints, {} AS parts, {} AS good, {} AS first_parts, \
             {} AS first_good, {} AS lost_ms, {} AS lost_material \
             FROM attempts JOIN jobs ON jobs.id = attempts.job_id LEFT JOIN materials ON materials.id = jobs.material_id \
             WHERE attempts.judged_end >= $1 AND attempts.judged_end < $2 {more} GROUP BY 1, 2",
            sum("attempts.parts"),
            sum("attempts.good"),
            sum("CASE WHEN attempts.first_pass THEN attempts.parts ELSE 0 END"),
            sum("CASE WHEN attempts.first_pass THEN attempts.good ELSE 0 END"),
            sum(&format!("attempts.print_ms * {scrap} / attempts.parts")),
            sum(&format!("attempts.used * {scrap} / attempts.parts")),
        );
        let statement =
            Statement::from_sql_and_values(self.db.get_database_backend(), sql, [from.0.into(), to.0.into()]);
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
        Ok(groups)
    }
}

/// A row of the answer: the counts of one group and one type of material, and the unit of its amounts.
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
        match self.lost_material.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, amount)) => *amount += lost,
            None if lost > Amount::ZERO => self.lost_material.push((unit, lost)),
            None => {}
        }
    }
}
