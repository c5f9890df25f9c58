//! `movements`: the ledger of a material; amounts in thousandths of its unit.

use sea_orm::entity::prelude::*;

/// Row of the `movements` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "movements")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub material_id: String,
    pub kind: String,
    pub delta_quantity: i64,
    pub delta_reserved: i64,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
