//! Storage for postings: only a snapshot row, which is read by the integration that sends the posting.

use crate::load::Load;
use crate::rows::{snapshot_row, word};
use domain::posting::Posting;

snapshot_row!(Posting in postings unique document_id, |this, at_rest| {
    document_id: this.document_id.to_string(),
    invoice_id: this.invoice_id.to_string(),
    state: word(&this.state)?,
    created_at: this.created_at.0,
});

impl Load for Posting {}
