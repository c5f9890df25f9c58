//! Tables for orders and their jobs, and for the sales channels that orders come from.

/// `orders`: snapshot rows of orders.
pub mod orders {
    use sea_orm::entity::prelude::*;

    /// Row of the `orders` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "orders")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub number: i64,
        pub kind: String,
        pub status: String,
        pub site: String,
        pub customer_email: Option<String>,
        pub made_by: Option<String>,
        pub total_cents: i64,
        pub active: bool,
        pub flags: String,
        pub payment_session: Option<String>,
        pub created_at: i64,
        pub updated_at: i64,
    }

    entity_tail!();
}

/// `jobs`: print jobs, as rows of the order.
pub mod jobs {
    use sea_orm::entity::prelude::*;

    /// Row of the `jobs` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "jobs")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub order_id: String,
        pub number: i64,
        pub state: String,
        pub unsigned: bool,
        pub sku_id: String,
        pub material_id: String,
        pub file_id: Option<String>,
        pub printer_id: Option<String>,
        pub priority: i64,
        pub due_at: Option<i64>,
        pub version: i64,
        pub created_at: i64,
        pub updated_at: i64,
    }

    entity_tail!();
}

/// `attempts`: print attempts, as rows of the order.
pub mod attempts {
    use sea_orm::entity::prelude::*;

    /// Row of the `attempts` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "attempts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub job_id: String,
        pub order_id: String,
        pub number: i64,
        pub printer_id: String,
        pub state: String,
        pub created_at: i64,
        pub judged_end: Option<i64>,
        pub parts: Option<i64>,
        pub good: Option<i64>,
        pub scrap_reason: Option<String>,
        pub first_pass: Option<bool>,
        pub print_ms: Option<i64>,
        pub used: Option<i64>,
        pub used_of: Option<String>,
    }

    entity_tail!();
}

/// `sales_channels`: snapshot rows of external shops whose orders are fulfilled here.
pub mod sales_channels {
    use sea_orm::entity::prelude::*;

    /// Row of the `sales_channels` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "sales_channels")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub name: String,
        pub kind: String,
        pub archived: bool,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `sales_channel_variants`: variant map entries, as rows of the sales channel. An entry specifies the SKU that is made
/// for a variant sold by the external shop.
pub mod sales_channel_variants {
    use sea_orm::entity::prelude::*;

    /// Row of the `sales_channel_variants` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "sales_channel_variants")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub channel_id: String,
        pub variant: String,
        pub sku_id: String,
    }

    entity_tail!();
}

/// `channel_orders`: snapshot rows of orders sold by external shops.
pub mod channel_orders {
    use sea_orm::entity::prelude::*;

    /// Row of the `channel_orders` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "channel_orders")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub channel_id: String,
        pub number: String,
        pub status: String,
        pub attention: bool,
        pub active: bool,
        pub order_id: String,
        pub created_at: i64,
    }

    entity_tail!();
}
