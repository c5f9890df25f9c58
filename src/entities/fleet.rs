//! Tables for printers and their maintenance.

snapshots! {
    /// `printers`: snapshot rows of printers.
    printers = "printers" {
        pub name: String,
        pub kind: String,
        pub active: bool,
        pub archived: bool,
        pub created_at: i64,
    }
}

rows! {
    /// `maintenance_entries`: maintenance log entries, as rows of the printer.
    maintenance_entries = "maintenance_entries" {
        pub printer_id: String,
        pub created_at: i64,
    }
}

rows! {
    /// `maintenance_reminders`: maintenance tasks that become due after an amount of work, as rows of the printer.
    maintenance_reminders = "maintenance_reminders" {
        pub printer_id: String,
        pub created_at: i64,
    }
}
