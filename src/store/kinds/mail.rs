//! Storage for emails: only a snapshot row, which is created by a different aggregate's commit.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::{RowSink, StoredRow, WriteError, snapshot_row, word};
use domain::mail::{Mail, MailState};
use entities::mails;

snapshot_row!(Mail in mails, |this, at_rest| {
    state: word(&this.state)?,
    next_at: this.next_at.0,
    created_at: this.created_at.0,
});

impl StoredRow for Mail {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        to.create(self.id, self)
    }
}

impl Load for Mail {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(mails::Column::State.eq(word(&MailState::Queued).ok()?)))
    }
}
