//! Creates all tables and the single row in `writer`.

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in tables() {
            table.create(manager).await?;
        }
        manager
            .execute(
                Query::insert()
                    .into_table("writer")
                    .columns(["id", "epoch"])
                    .values_panic([1.into(), 0.into()])
                    .to_owned(),
            )
            .await
    }

    /// Enables the transaction on SQLite as well.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

#[expect(clippy::too_many_lines, reason = "one list; a released migration is never edited")]
fn tables() -> Vec<Table> {
    vec![
        // snapshot rows of orders
        Table::snapshot("orders")
            .int("number")
            .text("kind")
            .text("status")
            .text("site")
            .text_or_null("customer_email")
            .text_or_null("made_by")
            .int("total_cents")
            .flag("active")
            .text_or_null("payment_session")
            .text_or_null("payment_intent")
            .int("created_at")
            .int("updated_at")
            .unique(&["number"])
            .index(&["created_at"])
            .index(&["status", "created_at"])
            .index(&["customer_email", "created_at"])
            .index(&["made_by", "created_at"])
            .index(&["active"])
            .index(&["payment_session"])
            .index(&["payment_intent"]),
        // snapshot rows of materials; amounts in thousandths of their unit
        Table::snapshot("materials")
            .text("name")
            .text("kind")
            .flag("active")
            .flag("archived")
            .int("quantity")
            .int("reserved")
            .int("created_at")
            .index(&["archived", "created_at"]),
        // snapshot rows of SKUs
        Table::snapshot("skus")
            .text("code")
            .text("slug")
            .text("name")
            .text("material_id")
            .text_or_null("gcode_file_id")
            .text_or_null("model_file_id")
            .flag("public")
            .flag("active")
            .flag("archived")
            .int("created_at")
            .unique(&["code"])
            .index(&["slug"])
            .index(&["archived", "created_at"])
            .index(&["material_id"])
            .index(&["gcode_file_id"])
            .index(&["model_file_id"]),
        // snapshot rows of uploaded files
        Table::snapshot("files")
            .text("name")
            .text("kind")
            .text("sha256")
            .flag("archived")
            .int("created_at")
            .index(&["sha256"])
            .index(&["archived", "created_at"]),
        // snapshot rows of printers
        Table::snapshot("printers")
            .text("name")
            .text("kind")
            .flag("active")
            .flag("archived")
            .int("created_at")
            .index(&["archived", "created_at"]),
        // snapshot rows of webhook endpoints
        Table::snapshot("endpoints")
            .text("url")
            .text("state")
            .flag("active")
            .flag("archived")
            .int("cursor")
            .int("created_at")
            .index(&["archived", "created_at"]),
        // snapshot rows of mails to be sent
        Table::snapshot("mails").text("state").int("next_at").int("created_at").index(&["state", "next_at"]),
        // snapshot rows of signed payment events that matched no order yet
        Table::snapshot("inbound")
            .text("event_id")
            .flag("done")
            .int("next_at")
            .int("created_at")
            .unique(&["event_id"])
            .index(&["done", "next_at"]),
        // the one snapshot row whose version guards staff, API keys and sessions
        Table::snapshot("access"),
        // jobs, rows of their order
        Table::row("jobs")
            .text("order_id")
            .int("number")
            .text("state")
            .text("sku_id")
            .text("material_id")
            .text_or_null("file_id")
            .text_or_null("printer_id")
            .int("priority")
            .int_or_null("due_at")
            .int("version")
            .int("created_at")
            .int("updated_at")
            .index(&["order_id"])
            .index(&["number"])
            .index(&["state", "created_at"])
            .index(&["created_at"])
            .index(&["printer_id"])
            .index(&["sku_id"])
            .index(&["material_id"])
            .index(&["file_id"]),
        // attempts of jobs, rows of the order
        Table::row("attempts")
            .text("job_id")
            .text("order_id")
            .int("number")
            .text("printer_id")
            .text("state")
            .int("created_at")
            .index(&["job_id"])
            .index(&["order_id"]),
        // payments and refunds, rows of their order
        Table::row("payments").text("order_id").int("created_at").index(&["order_id"]),
        // the ledger of a material; amounts in thousandths of its unit
        Table::row("movements")
            .clustered()
            .text("material_id")
            .text("kind")
            .int("delta_quantity")
            .int("delta_reserved")
            .int("created_at")
            .index(&["material_id", "created_at"]),
        // reservations and the waiting line of a material; the id is `job/number`
        Table::row("claims")
            .clustered()
            .text("job_id")
            .text("material_id")
            .text("order_id")
            .text("state")
            .index(&["material_id"]),
        // deliveries of an endpoint; the doc holds the body
        Table::row("deliveries")
            .text("endpoint_id")
            .text("event_id")
            .int("event_seq")
            .int("replay")
            .text("state")
            .int("next_at")
            .int("attempts")
            .int("created_at")
            .unique(&["endpoint_id", "event_id", "replay"])
            .index(&["endpoint_id", "state", "next_at"])
            .index(&["endpoint_id", "created_at"])
            .index(&["created_at"]),
        // staff, rows of access; `email_key` is free again when archived
        Table::row("users").text("email_key").int("created_at").unique(&["email_key"]),
        // API keys, rows of access
        Table::row("api_keys").text("hash").int("created_at").unique(&["hash"]),
        // sessions of staff, rows of access
        Table::row("staff_sessions")
            .text("hash")
            .text("user_id")
            .int("created_at")
            .unique(&["hash"])
            .index(&["user_id"]),
        // the outbox: what happened, numbered by the writer in commit order
        Table::new("events")
            .int("seq")
            .key("seq")
            .clustered()
            .text("id")
            .text("event")
            .text("subject_kind")
            .text("subject_id")
            .text_or_null("order_id")
            .text("actor")
            .text("data")
            .int("created_at")
            .index(&["event", "seq"])
            .index(&["subject_kind", "subject_id"])
            .index(&["order_id"])
            .index(&["created_at"]),
        // the audit log: who gave which command, and its outcome
        Table::new("audit")
            .text("id")
            .key("id")
            .clustered()
            .int("at")
            .text("actor")
            .text("action")
            .text("subject_kind")
            .text("subject_id")
            .text_or_null("request_id")
            .text("outcome")
            .index(&["at"])
            .index(&["subject_kind", "subject_id", "at"])
            .index(&["actor", "at"]),
        // the answer of each idempotency key, or its refusal, as JSON. Not clustered: keys come in no order, and whole
        // rows among them would each dirty a page of their own
        Table::new("idempotency")
            .text("key")
            .key("key")
            .text("body_hash")
            .text("kind")
            .text("thing_id")
            .int("version")
            .text("answer")
            .int("created_at")
            .int("expires_at")
            .index(&["expires_at"]),
        // one row with the epoch of the server that may write; each opening of the database takes the next epoch
        Table::new("writer").int("id").key("id").int("epoch"),
    ]
}
