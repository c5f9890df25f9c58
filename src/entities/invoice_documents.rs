//! `invoice_documents`: what was issued, rows of their invoice. They are inserted and never changed.

use sea_orm::entity::prelude::*;

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "invoice_documents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub invoice_id: String,
    pub kind: String,
    /// The series whose numbers have no gap: `INV-2026`.
    pub series: String,
    /// Counts the documents of the series from 1; the writer gives it out.
    pub number: i64,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
