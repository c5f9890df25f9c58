//! `quotes`: snapshot rows of quotes.

use sea_orm::entity::prelude::*;

/// Row of the `quotes` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "quotes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub schema: i64,
    pub doc: String,
    pub number: i64,
    pub status: String,
    pub site: String,
    pub customer_email: Option<String>,
    pub custom_request_id: Option<String>,
    pub order_id: Option<String>,
    pub model_file_id: Option<String>,
    pub valid_until: Option<i64>,
    pub total_cents: i64,
    pub active: bool,
    pub archived: bool,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
