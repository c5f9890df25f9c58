//! Tables for customers, their custom requests and their quotes.

/// `customers`: snapshot rows of customers; `email` is unique.
pub mod customers {
    use sea_orm::entity::prelude::*;

    /// Row of the `customers` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "customers")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub email: String,
        pub name: Option<String>,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `customer_sessions`: customer sessions, as rows of the customer.
pub mod customer_sessions {
    use sea_orm::entity::prelude::*;

    /// Row of the `customer_sessions` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "customer_sessions")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub customer_id: String,
        pub schema: i64,
        pub doc: String,
        pub hash: String,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `sign_in_links`: snapshot rows of the sign-in links emailed to customers.
pub mod sign_in_links {
    use sea_orm::entity::prelude::*;

    /// Row of the `sign_in_links` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "sign_in_links")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub hash: String,
        pub expires_at: i64,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `custom_requests`: snapshot rows of custom requests.
pub mod custom_requests {
    use sea_orm::entity::prelude::*;

    /// Row of the `custom_requests` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "custom_requests")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub status: String,
        pub site: String,
        pub customer_email: String,
        pub customer_name: String,
        pub created_at: i64,
        pub unanswered: bool,
    }

    entity_tail!();
}

/// `quotes`: snapshot rows of quotes.
pub mod quotes {
    use sea_orm::entity::prelude::*;

    /// Row of the `quotes` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "quotes")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub number: i64,
        pub status: String,
        pub site: String,
        pub customer_email: Option<String>,
        pub custom_request_id: Option<String>,
        pub order_id: Option<String>,
        pub model_file_id: Option<String>,
        pub valid_until: Option<i64>,
        pub total_cents: i64,
        pub active: bool,
        pub archived: bool,
        pub created_at: i64,
    }

    entity_tail!();
}
