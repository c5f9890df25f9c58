//! `audit`: the audit log: who gave which command, and its outcome.

use sea_orm::entity::prelude::*;

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub at: i64,
    pub actor: String,
    pub action: String,
    pub subject_kind: String,
    pub subject_id: String,
    pub request_id: Option<String>,
    pub outcome: String,
    pub detail: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
