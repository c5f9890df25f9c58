//! Tables for payments, invoices and bookkeeping.

/// `payments`: payments and refunds, as rows of the order, or of the invoice if it has no order.
pub mod payments {
    use sea_orm::entity::prelude::*;

    /// Row of the `payments` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "payments")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub owner_id: String,
        /// Payment intent ID, by which the processor's events refer to the payment.
        pub intent: Option<String>,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `inbound`: snapshot rows of signed payment events that have not been matched to an order yet.
pub mod inbound {
    use sea_orm::entity::prelude::*;

    /// Row of the `inbound` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "inbound")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub event_id: String,
        pub done: bool,
        pub next_at: i64,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `invoices`: snapshot rows of invoices.
pub mod invoices {
    use sea_orm::entity::prelude::*;

    /// Row of the `invoices` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "invoices")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
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

    entity_tail!();
}

/// `invoice_documents`: issued documents, as rows of the invoice. They are inserted and never changed.
pub mod invoice_documents {
    use sea_orm::entity::prelude::*;

    /// Row of the `invoice_documents` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "invoice_documents")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub invoice_id: String,
        pub kind: String,
        /// Gapless number series, such as `INV-2026`.
        pub series: String,
        /// Sequence number within the series, starting at 1; assigned by the writer.
        pub number: i64,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `number_gaps`: numbers skipped because they may already have been issued before a restore.
pub mod number_gaps {
    use sea_orm::entity::prelude::*;

    /// Row of the `number_gaps` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "number_gaps")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub restore_id: String,
        /// Number series, such as `INV-2026` or `ORD`.
        pub series: String,
        pub first_number: i64,
        pub last_number: i64,
    }

    entity_tail!();
}

/// `postings`: snapshot rows of documents to post to the accounting system.
pub mod postings {
    use sea_orm::entity::prelude::*;

    /// Row of the `postings` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "postings")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub document_id: String,
        pub invoice_id: String,
        pub state: String,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `accounting`: snapshot row of the accounting connection.
pub mod accounting {
    use sea_orm::entity::prelude::*;

    /// Row of the `accounting` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "accounting")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub connected: bool,
    }

    entity_tail!();
}
