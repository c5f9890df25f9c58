//! `skus`: snapshot rows of SKUs.

use sea_orm::entity::prelude::*;

/// Row of the `skus` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "skus")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub schema: i64,
    pub doc: String,
    pub code: String,
    pub slug: String,
    pub name: String,
    pub material_id: String,
    pub gcode_file_id: Option<String>,
    pub model_file_id: Option<String>,
    pub public: bool,
    pub active: bool,
    pub archived: bool,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
