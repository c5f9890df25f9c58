//! `events`: the outbox of committed events, numbered by the writer in commit order.

use sea_orm::entity::prelude::*;

/// Row of the `events` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "events")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub seq: i64,
    pub id: String,
    pub event: String,
    pub subject_kind: String,
    pub subject_id: String,
    pub order_id: Option<String>,
    pub actor: String,
    pub data: String,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
