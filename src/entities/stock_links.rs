//! `stock_links`: links from materials to items in other systems, rows of the material.

use sea_orm::entity::prelude::*;

/// Row of the `stock_links` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "stock_links")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub material_id: String,
    pub system: String,
    pub entry: i64,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
