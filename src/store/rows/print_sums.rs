//! Sums over attempts by hour or day, in the table `print_sums`, from which statistics of any period are read. Each
//! transaction that writes attempts also updates their sums. Hours and days are in UTC.

mod statements;

pub(super) use statements::{PrintTotals, change_sums, read_sums};

use sea_orm::{DbBackend, Value};

use domain::time::{DAY_MS, HOUR_MS, Timestamp};

/// Time at which an attempt claimed its printer.
const CLAIMED: &str = "attempts.created_at";
/// Time at which a print ended that was signed off.
const JUDGED: &str = "attempts.judged_end";

/// Key of a reason for which parts were rejected: it begins with a sign, and prints without one have another sign.
const REASON: &str = "CASE WHEN attempts.scrap_reason IS NULL THEN '-' ELSE '+' || attempts.scrap_reason END";
/// Condition for prints that ended and have rejected parts.
const REJECTED: &str = "attempts.judged_end IS NOT NULL AND attempts.good < attempts.parts";

/// Columns of the sums, in the order of [`PrintSum::sums`].
pub(super) const SUMS: [&str; 10] = [
    "attempts",
    "prints",
    "print_ms",
    "parts",
    "good",
    "first_parts",
    "first_good",
    "lost_ms",
    "lost_material",
    "used",
];

/// Sums of attempts' outcomes.
const OUTCOMES: [&str; 10] = [
    "1",
    "CASE WHEN attempts.print_ms IS NULL THEN 0 ELSE 1 END",
    "attempts.print_ms",
    "0",
    "0",
    "0",
    "0",
    "0",
    "0",
    "0",
];

/// Sums of signed-off prints. A plate has at least one part; a damaged row that states otherwise counts as having lost
/// nothing.
const QUALITY: [&str; 10] = [
    "1",
    "0",
    "0",
    "attempts.parts",
    "attempts.good",
    "CASE WHEN attempts.first_pass THEN attempts.parts ELSE 0 END",
    "CASE WHEN attempts.first_pass THEN attempts.good ELSE 0 END",
    "attempts.print_ms * (attempts.parts - attempts.good) / NULLIF(attempts.parts, 0)",
    "attempts.used * (attempts.parts - attempts.good) / NULLIF(attempts.parts, 0)",
    "0",
];

/// Sums of the material that prints used.
const MATERIAL: [&str; 10] = ["1", "0", "0", "0", "0", "0", "0", "0", "0", "CAST(part.value AS BIGINT)"];

/// Number of units, in the sums of scrap, per thousandth of a material's unit. It is divisible by all numbers up to 16,
/// which covers the part counts of most plates.
pub(crate) const SCRAP_UNITS: f64 = 720_720.0;

/// Sums of the material in rejected parts, in [`SCRAP_UNITS`]. At most a million units of each material count for a
/// print, such as a tonne in grams, so that no sum passes 64 bits.
const SCRAP: [&str; 10] = [
    "1",
    "0",
    "0",
    "0",
    "0",
    "0",
    "0",
    "0",
    "0",
    "CAST(CASE WHEN CAST(part.value AS BIGINT) > 1000000000 THEN 1e9 ELSE CAST(part.value AS DOUBLE PRECISION) END \
     * (attempts.parts - attempts.good) / NULLIF(attempts.parts, 0) * 720720 AS BIGINT)",
];

/// List of sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrintList {
    /// Outcomes by hour of the claim and state.
    Hours,
    /// Outcomes by day of the claim, printer and state.
    Printers,
    /// Quality by day of the end, SKU and material.
    SkuQuality,
    /// Quality by day of the end, printer and material.
    PrinterQuality,
    /// Quality of prints with rejected parts by day of the end, reason and material.
    Reasons,
    /// Material used by day of the claim.
    Materials,
    /// Material in rejected parts by day of the end, SKU and material.
    SkuScrap,
    /// Material in rejected parts by day of the end, printer and material.
    PrinterScrap,
    /// Material in rejected parts by day of the end, reason and material.
    ReasonScrap,
}

/// Sums of attempts in a list, by slot, key and kind. The texts are SQL.
#[derive(Clone, Copy, Debug)]
struct PrintSum {
    /// Name of the list.
    list: &'static str,
    /// Time by which an attempt belongs to a slot.
    time: &'static str,
    /// Length of a slot, in milliseconds.
    slot_ms: i64,
    key: &'static str,
    kind: &'static str,
    /// Rows joined with the attempts.
    join: PrintJoin,
    /// Condition for the attempts.
    which: &'static str,
    /// Values to sum, for each of [`SUMS`].
    sums: [&'static str; 10],
}

/// Rows that attempts are joined with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PrintJoin {
    None,
    Jobs,
    Materials,
}

/// All sums. The migration that creates the table fills it with the same expressions.
const PRINT_SUMS: [PrintSum; 9] =
    [HOURS, PRINTERS, SKU_QUALITY, PRINTER_QUALITY, REASONS, MATERIALS, SKU_SCRAP, PRINTER_SCRAP, REASON_SCRAP];

const HOURS: PrintSum = PrintSum {
    list: "hours",
    time: CLAIMED,
    slot_ms: HOUR_MS,
    key: "''",
    kind: "attempts.state",
    join: PrintJoin::None,
    which: "TRUE",
    sums: OUTCOMES,
};

const PRINTERS: PrintSum = PrintSum {
    list: "printers",
    time: CLAIMED,
    slot_ms: DAY_MS,
    key: "attempts.printer_id",
    kind: "attempts.state",
    join: PrintJoin::None,
    which: "TRUE",
    sums: OUTCOMES,
};

const SKU_QUALITY: PrintSum = PrintSum {
    list: "sku_quality",
    time: JUDGED,
    slot_ms: DAY_MS,
    key: "jobs.sku_id",
    kind: "jobs.material_id",
    join: PrintJoin::Jobs,
    which: "attempts.judged_end IS NOT NULL",
    sums: QUALITY,
};

const PRINTER_QUALITY: PrintSum = PrintSum {
    list: "printer_quality",
    time: JUDGED,
    slot_ms: DAY_MS,
    key: "attempts.printer_id",
    kind: "jobs.material_id",
    join: PrintJoin::Jobs,
    which: "attempts.judged_end IS NOT NULL",
    sums: QUALITY,
};

const REASONS: PrintSum = PrintSum {
    list: "reasons",
    time: JUDGED,
    slot_ms: DAY_MS,
    key: REASON,
    kind: "jobs.material_id",
    join: PrintJoin::Jobs,
    which: REJECTED,
    sums: QUALITY,
};

const MATERIALS: PrintSum = PrintSum {
    list: "materials",
    time: CLAIMED,
    slot_ms: DAY_MS,
    key: "part.key",
    kind: "''",
    join: PrintJoin::Materials,
    which: "attempts.used > 0",
    sums: MATERIAL,
};

const SKU_SCRAP: PrintSum = PrintSum {
    list: "sku_scrap",
    time: JUDGED,
    slot_ms: DAY_MS,
    key: "jobs.sku_id",
    kind: "part.key",
    join: PrintJoin::Materials,
    which: REJECTED,
    sums: SCRAP,
};

const PRINTER_SCRAP: PrintSum = PrintSum { list: "printer_scrap", key: "attempts.printer_id", ..SKU_SCRAP };

const REASON_SCRAP: PrintSum = PrintSum { list: "reason_scrap", key: REASON, ..SKU_SCRAP };

impl PrintList {
    fn sum(self) -> PrintSum {
        match self {
            Self::Hours => HOURS,
            Self::Printers => PRINTERS,
            Self::SkuQuality => SKU_QUALITY,
            Self::PrinterQuality => PRINTER_QUALITY,
            Self::Reasons => REASONS,
            Self::Materials => MATERIALS,
            Self::SkuScrap => SKU_SCRAP,
            Self::PrinterScrap => PRINTER_SCRAP,
            Self::ReasonScrap => REASON_SCRAP,
        }
    }
}

impl PrintJoin {
    fn sql(self, backend: DbBackend) -> String {
        match self {
            Self::None => String::new(),
            Self::Jobs => " JOIN jobs ON jobs.id = attempts.job_id".to_owned(),
            Self::Materials => format!(" JOIN jobs ON jobs.id = attempts.job_id {}", used_parts(backend)),
        }
    }
}

impl PrintSum {
    /// Returns the query for the sums over the attempts that satisfy a condition, with the names of their columns.
    fn query(&self, backend: DbBackend, condition: &str) -> String {
        let Self { list, time, slot_ms, key, kind, which, .. } = self;
        let join = self.join.sql(backend);
        let sum = |(name, value): (&&str, &&str)| format!("CAST(COALESCE(SUM({value}), 0) AS BIGINT) AS {name}");
        let sums: Vec<String> = SUMS.iter().zip(&self.sums).map(sum).collect();
        format!(
            "SELECT '{list}' AS list, {time} / {slot_ms} AS slot, {key} AS key, {kind} AS kind, {} FROM attempts{join} \
             WHERE {condition} AND {which} GROUP BY 1, 2, 3, 4",
            sums.join(", ")
        )
    }
}

/// Returns the query for the sums of all attempts, which are those to be stored.
pub(super) fn all_sums(backend: DbBackend) -> String {
    PRINT_SUMS.map(|sum| sum.query(backend, "TRUE")).join(" UNION ALL ")
}

/// Returns the assignments that add sums to the stored ones.
pub(super) fn added_sums() -> String {
    SUMS.map(|name| format!("{name} = print_sums.{name} + excluded.{name}")).join(", ")
}

/// Returns the time at which a slot of a list begins.
pub(super) fn slot_start(list: &str, slot: i64) -> Timestamp {
    let slot_ms = PRINT_SUMS.iter().find(|sum| sum.list == list).map_or(DAY_MS, |sum| sum.slot_ms);
    Timestamp(slot.saturating_mul(slot_ms))
}

/// Query for the sums over a period, one for each slot, key and kind, and for the remainders at its ends.
#[derive(Debug)]
pub(crate) struct PeriodQuery {
    /// Query with the columns of `print_sums`.
    pub(crate) sql: String,
    /// Values of its parameters.
    pub(crate) values: [Value; 6],
}

/// Returns the query for the sums of a list between `from` (inclusive) and `to` (exclusive). Whole slots are read from
/// the sums, and the attempts before and after them are added up.
pub(crate) fn period_sums(backend: DbBackend, list: PrintList, from: Timestamp, to: Timestamp) -> PeriodQuery {
    let sum = list.sum();
    let (first, last) = whole_slots(sum.slot_ms, from.0, to.0);
    let (start, end) = if first < last { (first * sum.slot_ms, last * sum.slot_ms) } else { (to.0, to.0) };
    // The attempts of each printer are found by their time.
    let of_printers = if sum.time == CLAIMED { "attempts.printer_id IN (SELECT id FROM printers) AND " } else { "" };
    let before = sum.query(backend, &format!("{of_printers}{0} >= $3 AND {0} < $4", sum.time));
    let after = sum.query(backend, &format!("{of_printers}{0} >= $5 AND {0} < $6", sum.time));
    let sql = format!(
        "SELECT list, slot, key, kind, {} FROM print_sums WHERE list = '{}' AND slot >= $1 AND slot < $2 \
         UNION ALL {before} UNION ALL {after}",
        SUMS.join(", "),
        sum.list
    );
    PeriodQuery { sql, values: [first, last, from.0, start, end, to.0].map(Value::from) }
}

/// Returns the first whole slot of a period and the first behind its last; there are none if the second is not greater.
fn whole_slots(slot_ms: i64, from: i64, to: i64) -> (i64, i64) {
    (from.div_euclid(slot_ms) + i64::from(from.rem_euclid(slot_ms) > 0), to.div_euclid(slot_ms))
}

/// Returns the SQL that joins attempts and their jobs with the material that each print used, as rows named `part` with
/// the material ID and the amount in thousandths of its unit. If a print ended before usage was recorded per material,
/// its entire usage is attributed to the job's first material. So it is if SQLite cannot read what was recorded: that
/// is no error of one value there, but one of the whole transaction.
fn used_parts(db: DbBackend) -> &'static str {
    if db == DbBackend::Postgres {
        "CROSS JOIN LATERAL json_each_text(COALESCE(attempts.used_of, \
         json_build_object(jobs.material_id, attempts.used)::text)::json) AS part (key, value)"
    } else {
        "CROSS JOIN json_each(CASE WHEN json_valid(attempts.used_of) THEN attempts.used_of \
         ELSE json_object(jobs.material_id, attempts.used) END) AS part"
    }
}

#[cfg(test)]
mod tests;
