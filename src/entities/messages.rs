//! Tables for events, and for the webhook deliveries and emails sent about them.

/// `events`: outbox of committed events, numbered by the writer in commit order.
pub mod events {
    use sea_orm::entity::prelude::*;

    /// Row of the `events` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "events")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub seq: i64,
        pub id: String,
        pub event: String,
        pub subject_kind: String,
        pub subject_id: String,
        pub order_id: Option<String>,
        pub actor: String,
        pub data: String,
        pub created_at: i64,
    }

    entity_tail!();
}

snapshots! {
    /// `endpoints`: snapshot rows of webhook endpoints.
    endpoints = "endpoints" {
        pub url: String,
        pub state: String,
        pub active: bool,
        pub archived: bool,
        pub cursor: i64,
        pub created_at: i64,
    }
}

rows! {
    /// `deliveries`: webhook deliveries, as rows of the endpoint; the body is in the document.
    deliveries = "deliveries" {
        pub endpoint_id: String,
        pub event_id: String,
        pub event_seq: i64,
        pub replay: i64,
        pub state: String,
        pub next_at: i64,
        pub attempts: i64,
        pub created_at: i64,
        pub event: String,
    }
}

snapshots! {
    /// `mails`: snapshot rows of outgoing emails.
    mails = "mails" {
        pub state: String,
        pub next_at: i64,
        pub created_at: i64,
    }
}
