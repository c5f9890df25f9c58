//! `attempts`: attempts of jobs, rows of the order.

use sea_orm::entity::prelude::*;

/// Row of the `attempts` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "attempts")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub job_id: String,
    pub order_id: String,
    pub number: i64,
    pub printer_id: String,
    pub state: String,
    pub created_at: i64,
    pub judged_end: Option<i64>,
    pub parts: Option<i64>,
    pub good: Option<i64>,
    pub scrap_reason: Option<String>,
    pub first_pass: Option<bool>,
    pub print_ms: Option<i64>,
    pub used: Option<i64>,
    pub used_of: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
