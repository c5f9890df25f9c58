//! Tables for orders and their jobs, and for the sales channels that orders come from.

snapshots! {
    /// `orders`: snapshot rows of orders.
    orders = "orders" {
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
}

rows! {
    /// `jobs`: print jobs, as rows of the order.
    jobs = "jobs" {
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
}

rows! {
    /// `attempts`: print attempts, as rows of the order.
    attempts = "attempts" {
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
}

snapshots! {
    /// `sales_channels`: snapshot rows of external shops whose orders are fulfilled here.
    sales_channels = "sales_channels" {
        pub name: String,
        pub kind: String,
        pub archived: bool,
        pub created_at: i64,
    }
}

rows! {
    /// `sales_channel_variants`: variant map entries, as rows of the sales channel. An entry specifies the SKU that is
    /// made for a variant sold by the external shop.
    sales_channel_variants = "sales_channel_variants" {
        pub channel_id: String,
        pub variant: String,
        pub sku_id: String,
    }
}

snapshots! {
    /// `channel_orders`: snapshot rows of orders sold by external shops.
    channel_orders = "channel_orders" {
        pub channel_id: String,
        pub number: String,
        pub status: String,
        pub attention: bool,
        pub active: bool,
        pub order_id: String,
        pub created_at: i64,
    }
}
