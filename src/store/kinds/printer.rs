//! Storage for printers, with separate rows for reminders and the maintenance log. The log only grows, and is not
//! loaded.

use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, DbErr};

use crate::load::{Load, LoadedAggregate, SnapshotsToLoad};
use crate::rows::{RowSink, StoredRow, WriteError, part_row, snapshot_row};
use domain::maintenance::{MaintenanceEntry, Reminder};
use domain::printer::{Printer, PrinterRow};
use entities::printers;

snapshot_row!(Printer in printers, |this, at_rest| {
    name: this.fields.name.clone(),
    kind: this.fields.kind.clone(),
    active: !at_rest,
    archived: this.archived,
    created_at: this.created_at.0,
});
part_row!(Reminder in maintenance_reminders of printer_id, |this| {
    created_at: this.created_at.0,
});
part_row!(MaintenanceEntry in maintenance_entries of printer_id, |this| {
    created_at: this.created_at.0,
});

impl StoredRow for PrinterRow {
    fn write(&self, to: &mut RowSink<'_>) -> Result<(), WriteError> {
        match self {
            Self::Reminder(reminder) => to.replace(&**reminder),
            Self::ReminderGone(id) => {
                to.delete::<Reminder>(id);
                Ok(())
            }
            Self::Entry(entry) => to.insert(&**entry),
        }
    }
}

impl Load for Printer {
    fn resident() -> Option<Condition> {
        Some(Condition::all().add(printers::Column::Active.eq(true)))
    }

    async fn hydrate(loading: SnapshotsToLoad<'_, Self>) -> Result<Vec<LoadedAggregate<Self>>, DbErr> {
        let mut reminders = loading.parts::<Reminder>().await?;
        Ok(loading.complete(|id, printer| Ok(printer.hydrate(reminders.take(id)?))))
    }
}
