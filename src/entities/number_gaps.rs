//! `number_gaps`: numbers that are skipped because they may have been issued before a restore.

use sea_orm::entity::prelude::*;

/// Row of the `number_gaps` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "number_gaps")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub restore_id: String,
    /// Number series: `INV-2026`, `ORD`, …
    pub series: String,
    pub first_number: i64,
    pub last_number: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
