//! `custom_requests`: snapshot rows of custom requests.

use sea_orm::entity::prelude::*;

/// Row of the `custom_requests` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "custom_requests")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub schema: i64,
    pub doc: String,
    pub status: String,
    pub site: String,
    pub customer_email: String,
    pub customer_name: String,
    pub created_at: i64,
    pub unanswered: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
