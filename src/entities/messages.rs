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

/// `endpoints`: snapshot rows of webhook endpoints.
pub mod endpoints {
    use sea_orm::entity::prelude::*;

    /// Row of the `endpoints` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "endpoints")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub url: String,
        pub state: String,
        pub active: bool,
        pub archived: bool,
        pub cursor: i64,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `deliveries`: webhook deliveries, as rows of the endpoint; the body is in the document.
pub mod deliveries {
    use sea_orm::entity::prelude::*;

    /// Row of the `deliveries` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "deliveries")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
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

    entity_tail!();
}

/// `mails`: snapshot rows of outgoing emails.
pub mod mails {
    use sea_orm::entity::prelude::*;

    /// Row of the `mails` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "mails")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub state: String,
        pub next_at: i64,
        pub created_at: i64,
    }

    entity_tail!();
}
