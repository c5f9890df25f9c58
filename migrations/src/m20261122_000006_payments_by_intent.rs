//! Adds `payments.intent`, which identifies the order for an event that refers to nothing else. An order may have
//! several payments, so the single intent in `orders` is removed. SKU slugs and codes become unique among the SKUs that
//! are not deleted.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let [reference, method, cents] = match db.get_database_backend() {
            DatabaseBackend::Postgres => {
                ["doc::json->>'reference'", "doc::json->>'method'", "(doc::json->>'amountCents')::bigint"]
            }
            _ => [
                "json_extract(doc, '$.reference')",
                "json_extract(doc, '$.method')",
                "json_extract(doc, '$.amountCents')",
            ],
        };
        let again = match db.get_database_backend() {
            DatabaseBackend::Postgres => ["SELECT 1", "SELECT 1"],
            _ => ["DROP INDEX uq__skus__code", "CREATE UNIQUE INDEX uq__skus__code ON skus (code)"],
        };
        let [no, yes, doc_slug] = match db.get_database_backend() {
            DatabaseBackend::Postgres => {
                ["false", "true", "jsonb_set(doc::jsonb, '{slug}', to_jsonb(slug || '-' || id))::text"]
            }
            _ => ["0", "1", "json_set(doc, '$.slug', slug || '-' || id)"],
        };
        let older = format!(
            "EXISTS (SELECT 1 FROM skus AS older WHERE older.slug = skus.slug AND older.archived = {no} AND older.id < skus.id)"
        );
        for sql in [
            // Of several SKUs with one slug the others than the oldest get one of their own, in their documents too.
            &format!("UPDATE skus SET slug = slug || '-' || id, doc = {doc_slug} WHERE archived = {no} AND {older}"),
            // What is deleted holds neither code nor slug.
            &format!("UPDATE skus SET code = code || ' ' || id, slug = slug || ' ' || id WHERE archived = {yes}"),
            "DROP INDEX ix__skus__slug",
            "CREATE UNIQUE INDEX uq__skus__slug ON skus (slug)",
            // SQLite looks at the newest index first, PostgreSQL at the oldest. Of a SKU whose code and slug are both
            // taken people hear of the code, of which the slug is made.
            again[0],
            again[1],
            "ALTER TABLE payments ADD COLUMN intent TEXT",
            &format!("UPDATE payments SET intent = {reference} WHERE {method} = 'processor' AND {cents} >= 0"),
            "CREATE INDEX ix__payments__intent ON payments (intent)",
            "DROP INDEX ix__orders__payment_intent",
            "ALTER TABLE orders DROP COLUMN payment_intent",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
