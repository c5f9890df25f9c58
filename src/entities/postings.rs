//! `postings`: snapshot rows of documents to be posted to the accounting system.

use sea_orm::entity::prelude::*;

/// Row of the `postings` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "postings")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version: i64,
    pub schema: i64,
    pub doc: String,
    pub document_id: String,
    pub invoice_id: String,
    pub state: String,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
