//! `idempotency`: the answer or refusal stored for each idempotency key, as JSON.

use sea_orm::entity::prelude::*;

/// Row of the `idempotency` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    pub body_hash: String,
    pub kind: String,
    pub aggregate_id: String,
    pub version: i64,
    pub answer: String,
    pub created_at: i64,
    pub expires_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
