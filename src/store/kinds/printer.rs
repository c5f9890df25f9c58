//! Printers: a snapshot row alone.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use crate::domain::printer::Printer;
use crate::entities::printers;
use crate::store::load::Load;
use crate::store::rows::snapshot_row;

snapshot_row!(Printer in printers, |this, at_rest| {
    name: this.fields.name.clone(),
    kind: this.fields.kind.clone(),
    active: !at_rest,
    archived: this.archived,
    created_at: this.created_at.0,
});

impl Load for Printer {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(printers::Column::Active.eq(true)))
    }
}
