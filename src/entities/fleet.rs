//! Tables for printers and their maintenance.

/// `printers`: snapshot rows of printers.
pub mod printers {
    use sea_orm::entity::prelude::*;

    /// Row of the `printers` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "printers")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub version: i64,
        pub schema: i64,
        pub doc: String,
        pub name: String,
        pub kind: String,
        pub active: bool,
        pub archived: bool,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `maintenance_entries`: maintenance log entries, as rows of the printer.
pub mod maintenance_entries {
    use sea_orm::entity::prelude::*;

    /// Row of the `maintenance_entries` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "maintenance_entries")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub printer_id: String,
        pub created_at: i64,
    }

    entity_tail!();
}

/// `maintenance_reminders`: maintenance tasks that become due after an amount of work, as rows of the printer.
pub mod maintenance_reminders {
    use sea_orm::entity::prelude::*;

    /// Row of the `maintenance_reminders` table.
    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "maintenance_reminders")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub schema: i64,
        pub doc: String,
        pub printer_id: String,
        pub created_at: i64,
    }

    entity_tail!();
}
