//! `sales_channel_variants`: variant map entries, rows of their sales channel: the SKU to make for each variant that
//! another shop sells.

use sea_orm::entity::prelude::*;

/// Row of the `sales_channel_variants` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sales_channel_variants")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub channel_id: String,
    pub variant: String,
    pub sku_id: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
