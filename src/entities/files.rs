//! `files`: snapshot rows of uploaded files.

use sea_orm::entity::prelude::*;

/// Row of the `files` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "files")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub schema: i64,
    pub doc: String,
    pub name: String,
    pub kind: String,
    pub sha256: String,
    pub attempt_id: Option<String>,
    pub size: i64,
    pub from_customer: bool,
    pub custom_request_id: Option<String>,
    pub archived: bool,
    pub created_at: i64,
    pub model_file_id: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
