//! Storage of postings: a snapshot row only, read by the integration that sends it.

use crate::domain::posting::Posting;
use crate::store::load::Load;
use crate::store::rows::{snapshot_row, word};

snapshot_row!(Posting in postings unique document_id, |this, at_rest| {
    document_id: this.document_id.to_string(),
    invoice_id: this.invoice_id.to_string(),
    state: word(&this.state)?,
    created_at: this.created_at.0,
});

impl Load for Posting {}
