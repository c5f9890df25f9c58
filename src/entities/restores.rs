//! `restores`: snapshot rows of restores of a backup.

use sea_orm::entity::prelude::*;

/// Row of the `restores` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "restores")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub schema: i64,
    pub doc: String,
    /// Number of the newest event in the backup.
    pub last_event: i64,
    /// Number of the first event after the restore; the events between the two were undone.
    pub first_event: i64,
    /// `true` until the restore is reviewed.
    pub active: bool,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
