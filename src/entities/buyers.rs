//! Tables for customers, their custom requests and their quotes.

snapshots! {
    /// `customers`: snapshot rows of customers; `email` is unique.
    customers = "customers" {
        pub email: String,
        pub name: Option<String>,
        pub created_at: i64,
    }
}

rows! {
    /// `customer_sessions`: customer sessions, as rows of the customer.
    customer_sessions = "customer_sessions" {
        pub customer_id: String,
        pub hash: String,
        pub created_at: i64,
    }
}

snapshots! {
    /// `sign_in_links`: snapshot rows of the sign-in links emailed to customers.
    sign_in_links = "sign_in_links" {
        pub hash: String,
        pub expires_at: i64,
        pub created_at: i64,
    }
}

snapshots! {
    /// `custom_requests`: snapshot rows of custom requests.
    custom_requests = "custom_requests" {
        pub status: String,
        pub site: String,
        pub customer_email: String,
        pub customer_name: String,
        pub created_at: i64,
        pub unanswered: bool,
    }
}

snapshots! {
    /// `quotes`: snapshot rows of quotes.
    quotes = "quotes" {
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
}
