//! Tables for payments, invoices and bookkeeping.

rows! {
    /// `payments`: payments and refunds, as rows of the order, or of the invoice if it has no order.
    payments = "payments" {
        pub owner_id: String,
        /// Payment intent ID, by which the processor's events refer to the payment.
        pub intent: Option<String>,
        pub created_at: i64,
    }
}

snapshots! {
    /// `inbound`: snapshot rows of signed payment events that have not been matched to an order yet.
    inbound = "inbound" {
        pub event_id: String,
        pub done: bool,
        pub next_at: i64,
        pub created_at: i64,
    }
}

snapshots! {
    /// `invoices`: snapshot rows of invoices.
    invoices = "invoices" {
        pub status: String,
        pub site: String,
        pub order_id: Option<String>,
        pub customer_email: Option<String>,
        pub due_at: Option<i64>,
        pub issued_at: Option<i64>,
        pub total_cents: i64,
        /// Checkout session ID at the payment processor, for an invoice without an order.
        pub payment_session: Option<String>,
        /// `true` while work for the invoice is in progress at the payment processor.
        pub active: bool,
        pub created_at: i64,
    }
}

rows! {
    /// `invoice_documents`: issued documents, as rows of the invoice. They are inserted and never changed.
    invoice_documents = "invoice_documents" {
        pub invoice_id: String,
        pub kind: String,
        /// Gapless number series, such as `INV-2026`.
        pub series: String,
        /// Sequence number within the series, starting at 1; assigned by the writer.
        pub number: i64,
        pub created_at: i64,
    }
}

rows! {
    /// `number_gaps`: numbers skipped because they may already have been issued before a restore.
    number_gaps = "number_gaps" {
        pub restore_id: String,
        /// Number series, such as `INV-2026` or `ORD`.
        pub series: String,
        pub first_number: i64,
        pub last_number: i64,
    }
}

snapshots! {
    /// `postings`: snapshot rows of documents to post to the accounting system.
    postings = "postings" {
        pub document_id: String,
        pub invoice_id: String,
        pub state: String,
        pub created_at: i64,
    }
}

snapshots! {
    /// `accounting`: snapshot row of the accounting connection.
    accounting = "accounting" {
        pub connected: bool,
    }
}
