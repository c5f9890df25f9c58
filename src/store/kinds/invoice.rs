//! Storage for invoices. Issued documents are separate rows that are only ever added, and are not loaded. If an invoice
//! has no order, its payments are part of the invoice and are also stored as rows, so that they can be listed and
//! looked up. Each document gets the next number in its series when it is inserted, within the transaction, so that the
//! series has no gaps.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::{
    Doc as _, LoadError, NumberedPart, NumberedRow, RowSink, StoredRow, WriteError, part_row, snapshot_row, text, word,
};
use domain::invoice::{Invoice, InvoiceRow, IssuedDocument, NewInvoice};
use domain::order::OrderCreated;
use entities::{invoice_documents, invoices};

snapshot_row!(Invoice in invoices, |this, at_rest| {
    status: word(&this.status)?,
    site: this.site.clone(),
    order_id: text(this.order_id),
    customer_email: this.customer_email.clone(),
    due_at: this.due_at.map(|at| at.0),
    issued_at: this.issued_at.map(|at| at.0),
    total_cents: this.content.sums.payable_cents(),
    payment_session: this.ledger.payment_session.clone(),
    active: !at_rest,
    created_at: this.created_at.0,
});
part_row!(IssuedDocument in invoice_documents of invoice_id unique [series number], |this| {
    kind: word(&this.kind)?,
    series: this.series(),
    number: this.number,
    created_at: this.issued_at.0,
});

impl NumberedPart for IssuedDocument {
    fn series(&self) -> String {
        Self::series(self)
    }
    fn number(&self) -> i64 {
        self.number
    }
    fn with_number(&self, number: i64) -> Self {
        Self { number, ..self.clone() }
    }
}

impl NumberedRow for invoice_documents::Model {
    fn series(&self) -> &str {
        &self.series
    }
    fn set_number(&mut self, number: i64) {
        self.number = number;
    }
}

/// Parses the document from a row, including its number.
pub(crate) fn read_document(row: &invoice_documents::Model) -> Result<IssuedDocument, LoadError> {
    Ok(IssuedDocument { number: row.number, ..row.read()? })
}

impl StoredRow for InvoiceRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Issued(document) => to.insert_numbered(&**document),
            Self::Payment(payment) => to.replace(payment),
        }
    }
}

impl StoredRow for NewInvoice {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        to.create(self.invoice.id, &self.invoice)?;
        self.rows.iter().try_for_each(|row| row.write(to))
    }
}

impl StoredRow for OrderCreated {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Mail(mail) => mail.write(to),
            Self::Invoice(new) => new.write(to),
        }
    }
}

impl Load for Invoice {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(invoices::Column::Active.eq(true)))
    }
}
