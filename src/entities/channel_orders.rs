//! `channel_orders`: snapshot rows of orders sold by other shops.

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

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
