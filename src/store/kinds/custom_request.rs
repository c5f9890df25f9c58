//! Storage for custom requests: only a snapshot row. The photos are files created in the same commit.

use crate::load::Load;
use crate::rows::{RowSink, StoredRow, WriteError, snapshot_row, word};
use domain::custom_request::{CustomRequest, CustomRequestCreated};

snapshot_row!(CustomRequest in custom_requests, |this, at_rest| {
    status: word(&this.status)?,
    site: this.site.clone(),
    customer_email: this.customer_email.clone(),
    customer_name: this.customer_name.clone(),
    created_at: this.created_at.0,
    unanswered: this.unanswered,
});

impl StoredRow for CustomRequestCreated {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Mail(mail) => mail.write(to),
            Self::Photo(file) => to.create(file.id, &**file),
        }
    }
}

impl Load for CustomRequest {}
