//! Tables for the server itself: writer, stored responses, audit log, exports, restores and integrations.

/// `writer`: single row with the epoch of the server allowed to write, and the head of the audit log. The epoch is
/// incremented each time the database is opened for writing.
pub mod writer {
    use sea_orm::entity::prelude::*;

    /// Row of the `writer` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "writer")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        pub epoch: i64,
        /// Number of the last line of the audit log; 0 if there is none.
        pub audit_number: i64,
        /// Hash of that line, in hex; empty if there is none.
        pub audit_chain: String,
    }

    entity_tail!();
}

/// `idempotency`: response or rejection stored for each idempotency key, as JSON.
pub mod idempotency {
    use sea_orm::entity::prelude::*;

    /// Row of the `idempotency` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "idempotency")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub key: String,
        pub body_hash: String,
        pub kind: String,
        pub aggregate_id: String,
        pub version: i64,
        pub answer: String,
        pub created_at: i64,
        pub expires_at: i64,
    }

    entity_tail!();
}

/// `audit`: audit log, with the caller and outcome of each command. Its lines are never changed or deleted.
pub mod audit {
    use sea_orm::entity::prelude::*;

    /// Row of the `audit` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "audit")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub at: i64,
        pub actor: String,
        pub action: String,
        pub subject_kind: String,
        pub subject_id: String,
        pub request_id: Option<String>,
        pub outcome: String,
        pub detail: Option<String>,
        /// Place in the log, in commit order; the first line has 1.
        pub number: i64,
        /// Hash of the line and of that before it, in hex.
        pub chain: String,
    }

    entity_tail!();
}

snapshots! {
    /// `exports`: snapshot rows of the table exports that staff requested.
    exports = "exports" {
        pub state: String,
        pub customer_email: Option<String>,
        pub token_hash: Option<String>,
        pub created_at: i64,
    }
}

snapshots! {
    /// `restores`: snapshot rows of restores from a backup.
    restores = "restores" {
        /// Number of the last event in the backup.
        pub last_event: i64,
        /// Number of the first event after the restore. Events between this one and `last_event` were undone.
        pub first_event: i64,
        /// `true` until the restore has been reviewed.
        pub active: bool,
        pub created_at: i64,
    }
}

snapshots! {
    /// `integrations`: snapshot rows of integrations that follow events.
    integrations = "integrations" {
        pub name: String,
        pub created_at: i64,
    }
}
