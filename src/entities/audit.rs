//! `audit`: the audit log: each command with its caller and outcome.

use sea_orm::entity::prelude::*;

/// Row of the `audit` table.
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
