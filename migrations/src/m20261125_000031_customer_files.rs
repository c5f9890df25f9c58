//! Adds to `files` their size, whether a customer uploaded them, and the custom request that a photo belongs to, so
//! that uploads that the shop has not processed yet can be counted and looked up by age. Existing photos are
//! recognised; the uploader of existing models is unknown, so they are treated as the shop's.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQLITE: [&str; 2] = [
    "UPDATE files SET size = COALESCE(json_extract(doc, '$.size'), 0)",
    "UPDATE files SET from_customer = TRUE, custom_request_id = photos.request_id FROM \
     (SELECT r.id AS request_id, json_extract(p.value, '$.fileId') AS file_id FROM custom_requests r, \
     json_each(r.doc, '$.photos') p) AS photos WHERE photos.file_id = files.id",
];
const POSTGRES: [&str; 2] = [
    "UPDATE files SET size = COALESCE((doc::json->>'size')::bigint, 0)",
    "UPDATE files SET from_customer = TRUE, custom_request_id = photos.request_id FROM \
     (SELECT r.id AS request_id, p->>'fileId' AS file_id FROM custom_requests r, \
     json_array_elements(r.doc::json->'photos') p) AS photos WHERE photos.file_id = files.id",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for sql in [
            "ALTER TABLE files ADD COLUMN size BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE files ADD COLUMN from_customer BOOLEAN NOT NULL DEFAULT FALSE",
            "ALTER TABLE files ADD COLUMN custom_request_id TEXT",
        ] {
            db.execute_unprepared(sql).await?;
        }
        let stored = match db.get_database_backend() {
            DatabaseBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        for sql in stored {
            db.execute_unprepared(sql).await?;
        }
        let index =
            "CREATE INDEX ix__files__from_customer ON files (created_at, id) WHERE from_customer AND NOT archived";
        db.execute_unprepared(index).await?;
        Ok(())
    }
}
