//! `orders`: snapshot rows of orders.

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

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
