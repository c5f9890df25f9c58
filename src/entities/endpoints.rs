//! `endpoints`: snapshot rows of webhook endpoints.

use sea_orm::entity::prelude::*;

/// Row of the `endpoints` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "endpoints")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub schema: i64,
    pub doc: String,
    pub url: String,
    pub state: String,
    pub active: bool,
    pub archived: bool,
    pub cursor: i64,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
