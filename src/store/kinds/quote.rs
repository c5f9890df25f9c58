//! Storage for quotes: only a snapshot row. Their commits also create emails, and private SKUs for the models.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::{RowSink, StoredRow, WriteError, snapshot_row, text, word};
use domain::quote::{Quote, QuoteCreation};
use entities::quotes;

snapshot_row!(Quote in quotes unique number, |this, at_rest| {
    number: this.number,
    status: word(&this.status)?,
    site: this.site.clone(),
    customer_email: this.customer_email.clone(),
    custom_request_id: text(this.custom_request_id),
    order_id: text(this.order_id),
    model_file_id: text(this.lines.iter().find_map(|line| line.model.as_ref()).map(|model| model.file_id)),
    valid_until: this.valid_until.map(|at| at.0),
    total_cents: this.total_cents,
    active: !at_rest,
    archived: this.archived,
    created_at: this.created_at.0,
});

impl StoredRow for QuoteCreation {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Mail(mail) => mail.write(to),
            Self::Sku(sku) => to.create(sku.id, &**sku),
        }
    }
}

impl Load for Quote {
    /// Selects quotes whose model still has to be sliced, or whose order still has to be created.
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(quotes::Column::Active.eq(true)))
    }
}
