//! `materials`: snapshot rows of materials; amounts in thousandths of their unit.

use sea_orm::entity::prelude::*;

/// Row of the `materials` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "materials")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub schema: i64,
    pub doc: String,
    pub name: String,
    pub kind: String,
    pub active: bool,
    pub archived: bool,
    pub quantity: i64,
    pub reserved: i64,
    pub created_at: i64,
    pub unit_cost: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
