//! Repairs orders that older releases left in a wrong state: a part that was rejected after shipping was not owed
//! again.
//!
//! Such an order is shipped and at rest, so nothing would ever load it. Some shipped orders have rejected parts and
//! were shipped before prints recorded their departures. They are loaded at the next start, which reconstructs and
//! stores the departures, flags the orders that owe parts again, and then lets all of them come to rest.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQLITE: &str = "UPDATE orders SET active = TRUE WHERE status = 'shipped' \
    AND json_array_length(doc, '$.shipments') > 0 \
    AND EXISTS (SELECT 1 FROM attempts WHERE attempts.order_id = orders.id \
    AND (json_extract(attempts.doc, '$.signOff.good') < json_extract(attempts.doc, '$.signOff.parts') \
    OR json_extract(attempts.doc, '$.withdrawn') = 1)) \
    AND NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.order_id = orders.id \
    AND json_array_length(attempts.doc, '$.departures') > 0)";
const POSTGRES: &str = "UPDATE orders SET active = TRUE WHERE status = 'shipped' \
    AND json_array_length(doc::json->'shipments') > 0 \
    AND EXISTS (SELECT 1 FROM attempts WHERE attempts.order_id = orders.id \
    AND ((attempts.doc::json->'signOff'->>'good')::bigint < (attempts.doc::json->'signOff'->>'parts')::bigint \
    OR attempts.doc::json->>'withdrawn' = 'true')) \
    AND NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.order_id = orders.id \
    AND json_array_length(attempts.doc::json->'departures') > 0)";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let sql = match db.get_database_backend() {
            DatabaseBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        db.execute_unprepared(sql).await?;
        Ok(())
    }
}
