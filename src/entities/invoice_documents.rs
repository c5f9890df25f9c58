//! `invoice_documents`: issued documents, rows of their invoice. They are inserted and never changed.

use sea_orm::entity::prelude::*;

/// Row of the `invoice_documents` table.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "invoice_documents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub schema: i64,
    pub doc: String,
    pub invoice_id: String,
    pub kind: String,
    /// Number series without gaps: `INV-2026`.
    pub series: String,
    /// Sequence number in the series, starting at 1; assigned by the writer.
    pub number: i64,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
