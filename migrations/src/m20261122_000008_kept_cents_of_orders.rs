//! Adds an order's net payments, which lists show, to the documents of orders written before the field existed. Net
//! payments are the payments in the order's currency less their refunds, in minor units.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let sql = match db.get_database_backend() {
            DatabaseBackend::Postgres => {
                "UPDATE orders SET doc = jsonb_set(doc::jsonb, '{keptCents}', to_jsonb(GREATEST(0, COALESCE((\
                 SELECT SUM((paid.doc::json->>'amountCents')::bigint)::bigint FROM payments AS paid \
                 WHERE paid.order_id = orders.id AND paid.doc::json->>'currency' = orders.doc::json->>'currency'), 0))))::text \
                 WHERE doc::json->'keptCents' IS NULL"
            }
            _ => {
                "UPDATE orders SET doc = json_set(doc, '$.keptCents', MAX(0, COALESCE((\
                 SELECT SUM(json_extract(paid.doc, '$.amountCents')) FROM payments AS paid \
                 WHERE paid.order_id = orders.id AND json_extract(paid.doc, '$.currency') = json_extract(orders.doc, '$.currency')), 0))) \
                 WHERE json_extract(doc, '$.keptCents') IS NULL"
            }
        };
        db.execute_unprepared(sql).await?;
        Ok(())
    }
}
