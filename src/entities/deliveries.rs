//! `deliveries`: webhook deliveries, rows of their endpoint; the document holds the body.

use sea_orm::entity::prelude::*;

/// Row of the `deliveries` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "deliveries")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub endpoint_id: String,
    pub event_id: String,
    pub event_seq: i64,
    pub replay: i64,
    pub state: String,
    pub next_at: i64,
    pub attempts: i64,
    pub created_at: i64,
    pub event: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
