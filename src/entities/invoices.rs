//! `invoices`: snapshot rows of invoices.

use sea_orm::entity::prelude::*;

/// A row of the table.
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
    /// The processor's checkout session of an invoice without an order.
    pub payment_session: Option<String>,
    /// Whether something of it is under way at the payment processor.
    pub active: bool,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
