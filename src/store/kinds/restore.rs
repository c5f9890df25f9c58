//! Storage for restores from a backup: a snapshot row, and separate rows for gaps in number series. The gaps are not
//! loaded; the store itself takes them into account when it assigns numbers.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::{RowSink, StoredRow, WriteError, part_row, snapshot_row};
use domain::restore::numbers::NumberGap;
use domain::restore::{Restore, RestoreRow};
use entities::restores;

snapshot_row!(Restore in restores, |this, at_rest| {
    last_event: this.last_event,
    first_event: this.first_event,
    active: !at_rest,
    created_at: this.restored_at.0,
});
part_row!(NumberGap in number_gaps of restore_id, |this| {
    series: this.series.clone(),
    first_number: this.first,
    last_number: this.last,
});

impl StoredRow for RestoreRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Gap(gap) => to.replace(gap),
            Self::NoGap(id) => {
                to.delete::<NumberGap>(id);
                Ok(())
            }
        }
    }
}

impl Load for Restore {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(restores::Column::Active.eq(true)))
    }
}
