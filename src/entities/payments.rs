//! `payments`: payments and refunds, rows of their order, or of an invoice without an order.

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
    /// Payment intent id, by which the processor's events refer to the payment.
    pub intent: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
