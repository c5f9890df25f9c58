//! Planted faults in the rows of commits: a skipped invoice number, and an email that is not written.

use crate::plants::{Plant, Planter};
use domain::id::Id;
use domain::invoice::{DocumentKind, IssuedDocument};
use domain::restore::numbers::NumberGap;
use domain::time::Timestamp;
use store::Submission;
use store::memory::MemoryStore;
use store::rows::{RowSink, StoredRow, WriteError};

/// Invoice series of all stories, which start in November 2026.
const SERIES: &str = "INV-2026";

/// New invoice whose number is not the next one.
#[derive(Debug)]
struct MisnumberedRow {
    row: Box<dyn StoredRow>,
    gap: NumberGap,
}

impl StoredRow for MisnumberedRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        to.insert(&self.gap)?;
        self.row.write(to)?;
        // Nothing says any more that the number was left out.
        to.delete::<NumberGap>(self.gap.id);
        Ok(())
    }
}

impl Planter {
    /// Alters the rows of a new submission.
    pub fn alter_rows(&self, submission: &mut Submission, memory: &MemoryStore) {
        if !(self.has(Plant::SkippedNumber) || self.has(Plant::UnwrittenMail)) {
            return;
        }
        for command in &mut submission.commands {
            if self.has(Plant::UnwrittenMail) {
                command.rows.retain(|row| !(is_mail(&**row) && self.strikes(Plant::UnwrittenMail)));
            }
            let rows = std::mem::take(&mut command.rows).into_iter();
            command.rows = rows.map(|row| self.misnumber(row, memory)).collect();
        }
    }

    /// Skips a number before a new invoice's, if the fault strikes. Returns the row to write.
    fn misnumber(&self, row: Box<dyn StoredRow>, memory: &MemoryStore) -> Box<dyn StoredRow> {
        if is_invoice(&*row) && self.strikes(Plant::SkippedNumber) {
            Box::new(MisnumberedRow { gap: gap_after(memory), row })
        } else {
            row
        }
    }
}

/// Returns whether a row is a new email. The type of a row is hidden, but its debug output is not.
fn is_mail(row: &dyn StoredRow) -> bool {
    let words = format!("{row:?}");
    words.starts_with("Mail(Mail {") || words.starts_with("Mail {")
}

/// Returns whether a row is a new invoice.
fn is_invoice(row: &dyn StoredRow) -> bool {
    format!("{row:?}").starts_with("Invoice(NewInvoice {")
}

/// Returns the gap of one number after the last invoice.
fn gap_after(memory: &MemoryStore) -> NumberGap {
    let tables = memory.tables();
    let invoices = tables.parts::<IssuedDocument>().filter(|one| one.kind == DocumentKind::Invoice);
    let skipped = invoices.map(|one| one.number).max().unwrap_or_default() + 1;
    NumberGap {
        id: Id::ONLY,
        restore_id: Id::ONLY,
        series: SERIES.to_owned(),
        first: skipped,
        last: skipped,
        reason: "planted".to_owned(),
        noted_at: Timestamp(0),
    }
}
