//! `jobs`: jobs, rows of their order.

use sea_orm::entity::prelude::*;

/// Row of the `jobs` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "jobs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub order_id: String,
    pub number: i64,
    pub state: String,
    pub unsigned: bool,
    pub sku_id: String,
    pub material_id: String,
    pub file_id: Option<String>,
    pub printer_id: Option<String>,
    pub priority: i64,
    pub due_at: Option<i64>,
    pub version: i64,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
