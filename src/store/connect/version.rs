//! Refusal of a database whose schema was created by a newer version of Printfloor.

use std::fmt::{self, Display, Formatter};

use migrations::label::{MigrationLabel, Release};
use migrations::{Migrator, MigratorTrait as _};
use sea_orm::{ConnectionTrait, DatabaseBackend, DbErr, Statement};

use super::OpenError;

/// Table with the names of the migrations that made the others.
pub(crate) const MIGRATION_TABLE: &str = "seaql_migrations";

/// Migration that this version does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewerMigration {
    name: String,
}

impl NewerMigration {
    /// Returns the latest of these migrations that this version does not have; `None` if it has all of them.
    pub fn find<'a>(applied: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let own = Migrator::migrations();
        let newer = applied.into_iter().filter(|name| own.iter().all(|migration| migration.name() != *name));
        newer.max().map(|name| Self { name: name.to_owned() })
    }

    /// Returns the first version that has it, if its name states one.
    fn release(&self) -> Option<Release> {
        MigrationLabel::of(&self.name).map(|label| label.release)
    }
}

impl Display for NewerMigration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "version {} does not have its migration {}; ", env!("CARGO_PKG_VERSION"), self.name)?;
        match self.release() {
            Some(release) => write!(f, "use version {release} or newer"),
            None => f.write_str("use the version that wrote it, or a newer one"),
        }
    }
}

/// Fails if a newer version has changed the schema: this one could not read or write the tables. Changes nothing.
///
/// # Errors
///
/// Fails also if the database cannot be queried.
pub async fn refuse_newer(db: &impl ConnectionTrait) -> Result<(), OpenError> {
    if !has_table(db, MIGRATION_TABLE).await? {
        return Ok(());
    }
    let query = format!("SELECT version FROM {MIGRATION_TABLE}");
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), query)).await?;
    let applied: Vec<String> = rows.iter().map(|row| row.try_get("", "version")).collect::<Result<_, _>>()?;
    match NewerMigration::find(applied.iter().map(String::as_str)) {
        Some(newer) => Err(OpenError::NewerTables(newer)),
        None => Ok(()),
    }
}

/// Returns whether the database has a table of this name.
pub(crate) async fn has_table(db: &impl ConnectionTrait, name: &str) -> Result<bool, DbErr> {
    let backend = db.get_database_backend();
    let sql = match backend {
        DatabaseBackend::Postgres => {
            "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = $1"
        }
        _ => "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1",
    };
    Ok(db.query_one_raw(Statement::from_sql_and_values(backend, sql, [name.into()])).await?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_migration_of_another_version_is_named_with_the_version_to_use() {
        let own = Migrator::migrations();
        let own: Vec<&str> = own.iter().map(|migration| migration.name()).collect();
        assert_eq!(NewerMigration::find(own.iter().copied()), None);
        let words = |newer: &[&'static str]| {
            let all = own.iter().copied().chain(newer.iter().copied());
            NewerMigration::find(all).map(|newer| newer.to_string()).unwrap_or_default()
        };
        let labelled = words(&["m29990101_900001_v9_0_0_expand_a", "m29990102_900002_v9_1_0_contract_b"]);
        assert!(labelled.contains("migration m29990102_900002_v9_1_0_contract_b;"), "{labelled}");
        assert!(labelled.contains(concat!("version ", env!("CARGO_PKG_VERSION"), " ")), "{labelled}");
        assert!(labelled.ends_with("use version 9.1.0 or newer"), "{labelled}");
        let unlabelled = words(&["m29990101_000001_newer"]);
        assert!(unlabelled.ends_with("use the version that wrote it, or a newer one"), "{unlabelled}");
    }
}
