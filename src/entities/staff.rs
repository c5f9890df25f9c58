//! Tables for staff members, with their permissions, sessions and API keys.

/// `access`: single snapshot row whose version guards staff, API keys and sessions.
pub mod access {
    use sea_orm::entity::prelude::*;

    /// Row of the `access` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "access")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
    }

    entity_tail!();
}

/// `users`: staff members, as rows of the access aggregate; `email_key` is released when a user is archived.
pub mod users {
    use sea_orm::entity::prelude::*;

    /// Row of the `users` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "users")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub email_key: String,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `staff_sessions`: staff sessions, as rows of the access aggregate.
pub mod staff_sessions {
    use sea_orm::entity::prelude::*;

    /// Row of the `staff_sessions` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "staff_sessions")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub hash: String,
        pub user_id: String,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `api_keys`: API keys, as rows of the access aggregate.
pub mod api_keys {
    use sea_orm::entity::prelude::*;

    /// Row of the `api_keys` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "api_keys")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub hash: String,
        pub created_at: i64,
    }

    entity_tail!();
}
