//! Adds `print_sums`, in which the store keeps sums over attempts by hour or day, so that statistics of any period are
//! read without going through its prints. The sums themselves are in no index: PostgreSQL then changes them in place.
//! Failed prints, and those with rejected parts, are indexed by time.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

const OUTCOMES: &str = "COUNT(*), COUNT(print_ms), CAST(COALESCE(SUM(print_ms), 0) AS BIGINT), 0, 0, 0, 0, 0, 0, 0";
const QUALITY: &str = "COUNT(*), 0, 0, CAST(COALESCE(SUM(parts), 0) AS BIGINT), \
    CAST(COALESCE(SUM(good), 0) AS BIGINT), \
    CAST(COALESCE(SUM(CASE WHEN first_pass THEN parts ELSE 0 END), 0) AS BIGINT), \
    CAST(COALESCE(SUM(CASE WHEN first_pass THEN good ELSE 0 END), 0) AS BIGINT), \
    CAST(COALESCE(SUM(print_ms * (parts - good) / NULLIF(parts, 0)), 0) AS BIGINT), \
    CAST(COALESCE(SUM(used * (parts - good) / NULLIF(parts, 0)), 0) AS BIGINT), 0";
const MATERIAL: &str = "COUNT(*), 0, 0, 0, 0, 0, 0, 0, 0, CAST(COALESCE(SUM(CAST(part.value AS BIGINT)), 0) AS BIGINT)";
const SCRAP: &str = "COUNT(*), 0, 0, 0, 0, 0, 0, 0, 0, CAST(COALESCE(SUM(CAST(CASE WHEN CAST(part.value AS BIGINT) \
    > 1000000000 THEN 1e9 ELSE CAST(part.value AS DOUBLE PRECISION) END * (attempts.parts - attempts.good) \
    / NULLIF(attempts.parts, 0) * 720720 AS BIGINT)), 0) AS BIGINT)";
const PARTS_SQLITE: &str = "CROSS JOIN json_each(CASE WHEN json_valid(attempts.used_of) THEN attempts.used_of \
    ELSE json_object(jobs.material_id, attempts.used) END) AS part";
const PARTS_POSTGRES: &str = "CROSS JOIN LATERAL json_each_text(COALESCE(attempts.used_of, \
    json_build_object(jobs.material_id, attempts.used)::text)::json) AS part (key, value)";

/// Returns the queries whose rows are the sums.
fn queries(parts: &str) -> [String; 9] {
    let jobs = "JOIN jobs ON jobs.id = attempts.job_id";
    let (hour, day, judged_day) =
        ("attempts.created_at / 3600000", "attempts.created_at / 86400000", "attempts.judged_end / 86400000");
    let is_judged = "attempts.judged_end IS NOT NULL";
    let reason = "CASE WHEN attempts.scrap_reason IS NULL THEN '-' ELSE '+' || attempts.scrap_reason END";
    let scrap = |list: &str, key: &str| {
        format!(
            "SELECT '{list}', {judged_day}, {key}, part.key, {SCRAP} FROM attempts {jobs} {parts} \
             WHERE {is_judged} AND attempts.good < attempts.parts"
        )
    };
    [
        format!("SELECT 'hours', {hour}, '', attempts.state, {OUTCOMES} FROM attempts"),
        format!("SELECT 'printers', {day}, attempts.printer_id, attempts.state, {OUTCOMES} FROM attempts"),
        format!(
            "SELECT 'sku_quality', {judged_day}, jobs.sku_id, jobs.material_id, {QUALITY} \
             FROM attempts {jobs} WHERE {is_judged}"
        ),
        format!(
            "SELECT 'printer_quality', {judged_day}, attempts.printer_id, jobs.material_id, {QUALITY} \
             FROM attempts {jobs} WHERE {is_judged}"
        ),
        format!(
            "SELECT 'reasons', {judged_day}, {reason}, jobs.material_id, {QUALITY} \
             FROM attempts {jobs} WHERE {is_judged} AND attempts.good < attempts.parts"
        ),
        format!(
            "SELECT 'materials', {day}, part.key, '', {MATERIAL} FROM attempts {jobs} {parts} WHERE attempts.used > 0"
        ),
        scrap("sku_scrap", "jobs.sku_id"),
        scrap("printer_scrap", "attempts.printer_id"),
        scrap("reason_scrap", reason),
    ]
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let (clustered, parts) = match db.get_database_backend() {
            DatabaseBackend::Sqlite => (" WITHOUT ROWID", PARTS_SQLITE),
            _ => ("", PARTS_POSTGRES),
        };
        let table = format!(
            "CREATE TABLE print_sums (list TEXT NOT NULL, slot BIGINT NOT NULL, key TEXT NOT NULL, \
             kind TEXT NOT NULL, attempts BIGINT NOT NULL, prints BIGINT NOT NULL, print_ms BIGINT NOT NULL, \
             parts BIGINT NOT NULL, good BIGINT NOT NULL, first_parts BIGINT NOT NULL, first_good BIGINT NOT NULL, \
             lost_ms BIGINT NOT NULL, lost_material BIGINT NOT NULL, used BIGINT NOT NULL, \
             CONSTRAINT uq__print_sums__list__slot__key__kind PRIMARY KEY (list, slot, key, kind)){clustered}"
        );
        db.execute_unprepared(&table).await?;
        for query in queries(parts) {
            let fill = format!(
                "INSERT INTO print_sums (list, slot, key, kind, attempts, prints, print_ms, parts, good, first_parts, \
                 first_good, lost_ms, lost_material, used) {query} GROUP BY 1, 2, 3, 4"
            );
            db.execute_unprepared(&fill).await?;
        }
        for sql in [
            "CREATE INDEX ix__attempts__failed ON attempts (created_at) WHERE state IN ('failed', 'abandoned')",
            "CREATE INDEX ix__attempts__rejected ON attempts (judged_end) WHERE good < parts",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
