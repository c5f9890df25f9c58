//! Storage for SKUs: only a snapshot row.

use crate::load::Load;
use crate::rows::{snapshot_row, text};
use domain::sku::Sku;

snapshot_row!(Sku in skus unique code, |this, at_rest| {
    // Code and slug are free again when their SKU is deleted.
    code: if this.archived { format!("{} {}", this.fields.code, this.id) } else { this.fields.code.clone() },
    slug: if this.archived { format!("{} {}", this.fields.slug, this.id) } else { this.fields.slug.clone() },
    name: this.fields.name.clone(),
    // Empty for kits: the column is not null.
    material_id: text(this.fields.material_id).unwrap_or_default(),
    gcode_file_id: text(this.fields.gcode_file_id),
    model_file_id: text(this.fields.model_file_id),
    public: this.fields.public,
    active: this.fields.active,
    archived: this.archived,
    created_at: this.created_at.0,
});

impl Load for Sku {}
