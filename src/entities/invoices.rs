//! `invoices`: snapshot rows of invoices.

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
    /// Checkout session id at the payment processor, for an invoice without an order.
    pub payment_session: Option<String>,
    /// `true` while the invoice has work in progress at the payment processor.
    pub active: bool,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
