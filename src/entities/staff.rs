//! Tables for staff members, with their permissions, sessions and API keys.

snapshots! {
    /// `access`: single snapshot row whose version guards staff, API keys and sessions.
    access = "access" {}
}

rows! {
    /// `users`: staff members, as rows of the access aggregate; `email_key` is released when a user is archived.
    users = "users" {
        pub email_key: String,
        pub created_at: i64,
    }
}

rows! {
    /// `staff_sessions`: staff sessions, as rows of the access aggregate.
    staff_sessions = "staff_sessions" {
        pub hash: String,
        pub user_id: String,
        pub created_at: i64,
    }
}

rows! {
    /// `api_keys`: API keys, as rows of the access aggregate.
    api_keys = "api_keys" {
        pub hash: String,
        pub created_at: i64,
    }
}
