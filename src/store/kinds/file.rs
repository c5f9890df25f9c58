//! Storage for files: only a snapshot row. The content is a blob on disk.

use crate::load::Load;
use crate::rows::{snapshot_row, text, word};
use domain::file::{CustomerUpload, File};

snapshot_row!(File in files, |this, at_rest| {
    name: this.name.clone(),
    kind: word(&this.kind)?,
    sha256: this.sha256.clone(),
    attempt_id: text(this.photo_of.map(|of| of.attempt)),
    size: this.size,
    from_customer: this.customer_upload.is_some(),
    custom_request_id: match this.customer_upload {
        Some(CustomerUpload::PhotoOf(request)) => text(Some(request)),
        _ => None,
    },
    archived: this.archived,
    created_at: this.created_at.0,
    model_file_id: match this.customer_upload {
        Some(CustomerUpload::GcodeOf(model)) => text(Some(model)),
        _ => None,
    },
});

impl Load for File {}
