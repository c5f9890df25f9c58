//! Compatibility of migrations with the previous release: servers of both versions run side by side for a while, and
//! the older one completes its requests and downloads after the newer one has migrated.

use migrations::label::{MigrationKind, MigrationLabel, Release};
use migrations::{Migrator, MigratorTrait as _};
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use super::connection;
use super::schema::{DatabaseSchema, IndexSchema, TableSchema};
use crate::releases::fixtures::newest_release;
use crate::support::database::{TestDatabase, on_both_databases};

/// Tables (`orders`), columns (`orders.notes`) and indexes (`orders: ix__orders__notes`) that a release no longer uses,
/// each with that release. A migration of a later release may drop them if its name contains `contract`.
const RETIRED: &[(&str, &str)] = &[];

/// Difference in a schema that breaks the previous release.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct SchemaBreak {
    /// Name of the table, column or index, written as in [`RETIRED`].
    subject: String,
    fault: &'static str,
}

const GONE: &str = "is gone";
const OTHER_TYPE: &str = "has another type";
const NO_NULL: &str = "can no longer be null";
const NEWLY_NULL: &str = "can newly be null";
const NO_DEFAULT: &str = "is required and has no default";
const OTHER_INDEX: &str = "is another index";
const NEWLY_UNIQUE: &str = "is newly unique";
const NEWLY_CHECKED: &str = "is a new constraint";
const NEW_TRIGGER: &str = "is a new trigger";

/// Lists all changes from `before` to `after` that would break a release with the schema `before`.
fn breaks(before: &DatabaseSchema, after: &DatabaseSchema) -> Vec<SchemaBreak> {
    let mut all = Vec::new();
    for (name, table) in &before.tables {
        let mut add = |subject: String, fault| all.push(SchemaBreak { subject, fault });
        match after.tables.get(name) {
            None => add(name.clone(), GONE),
            Some(later) => {
                compare_columns(name, (table, later), &mut add);
                compare_indexes(name, (table, later), &mut add);
                for constraint in later.constraints.difference(&table.constraints) {
                    add(format!("{name}: {constraint}"), NEWLY_CHECKED);
                }
                let triggers = later.triggers.iter();
                for (trigger, _) in triggers.filter(|(name, definition)| table.triggers.get(*name) != Some(*definition))
                {
                    add(format!("{name}: {trigger}"), NEW_TRIGGER);
                }
            }
        }
    }
    all.sort();
    all
}

fn compare_columns(
    table: &str,
    (before, after): (&TableSchema, &TableSchema),
    add: &mut impl FnMut(String, &'static str),
) {
    for (name, column) in &before.columns {
        let subject = format!("{table}.{name}");
        let Some(later) = after.columns.get(name) else {
            add(subject, GONE);
            continue;
        };
        if later.kind != column.kind {
            add(subject.clone(), OTHER_TYPE);
        }
        if later.is_required && !column.is_required {
            add(subject.clone(), NO_NULL);
        }
        if column.is_required && !later.is_required {
            add(subject.clone(), NEWLY_NULL);
        }
        if later.is_required && later.fallback.is_none() && column.fallback.is_some() {
            add(subject, NO_DEFAULT);
        }
    }
    let added = after.columns.iter().filter(|(name, _)| !before.columns.contains_key(*name));
    for (name, _) in added.filter(|(_, column)| column.is_required && column.fallback.is_none()) {
        add(format!("{table}.{name}"), NO_DEFAULT);
    }
}

fn compare_indexes(
    table: &str,
    (before, after): (&TableSchema, &TableSchema),
    add: &mut impl FnMut(String, &'static str),
) {
    for (name, index) in &before.indexes {
        match after.indexes.get(name) {
            None => add(format!("{table}: {name}"), GONE),
            Some(later) if later != index => add(format!("{table}: {name}"), OTHER_INDEX),
            Some(_) => {}
        }
    }
    // What the last release writes may clash, unless a column that it does not know is null then.
    let is_left_null = |column: &String| {
        let is_new = !before.columns.contains_key(column);
        is_new && after.columns.get(column).is_some_and(|column| column.fallback.is_none())
    };
    let clashes = |index: &IndexSchema| index.is_unique && !index.columns.iter().any(is_left_null);
    let added = after.indexes.iter().filter(|(name, _)| !before.indexes.contains_key(*name));
    for (name, _) in added.filter(|(_, index)| clashes(index)) {
        add(format!("{table}: {name}"), NEWLY_UNIQUE);
    }
}

/// Returns whether a migration with this name may make this change, given the previous release.
fn is_permitted(one: &SchemaBreak, migration: &str, retired: &[(&str, &str)], last: Release) -> bool {
    let is_contract = MigrationLabel::of(migration).is_some_and(|label| label.kind == MigrationKind::Contract);
    let is_unused = |(subject, release): &(&str, &str)| {
        *subject == one.subject && Release::parse(release).is_some_and(|release| release <= last)
    };
    one.fault == GONE && is_contract && retired.iter().any(is_unused)
}

async fn each_migration_since_the_last_release_leaves_it_what_it_uses(database: TestDatabase) {
    let (last, released) = newest_release();
    let db = connection(&database.settings.url, false).await;
    Migrator::up(&db, Some(released.len() as u32)).await.unwrap();
    let before = DatabaseSchema::read(&db).await;
    let mut earlier = Vec::new();
    for migration in Migrator::migrations().iter().skip(released.len()) {
        let name = migration.name();
        let is_later = MigrationLabel::of(name).is_some_and(|label| label.release > last);
        assert!(is_later, "{name} is to name a release after {last}: raise the version in Cargo.toml");
        Migrator::up(&db, Some(1)).await.unwrap();
        let all = breaks(&before, &DatabaseSchema::read(&db).await);
        let new = all.iter().filter(|one| !earlier.contains(*one));
        let faults: Vec<String> = new
            .filter(|one| !is_permitted(one, name, RETIRED, last))
            .map(|one| format!("{} {}", one.subject, one.fault))
            .collect();
        assert!(faults.is_empty(), "{name} breaks release {last} (see Add a migration in CONTRIBUTING.md): {faults:?}");
        earlier = all;
    }
    db.close().await.unwrap();
}

/// Statements that break the previous release, with the expected finding.
const PLANTED: [(&str, &str, &str); 7] = [
    ("DROP TABLE quotes", "quotes", GONE),
    ("ALTER TABLE materials RENAME TO stock", "materials", GONE),
    ("ALTER TABLE materials DROP COLUMN reserved", "materials.reserved", GONE),
    ("ALTER TABLE materials RENAME COLUMN reserved TO held", "materials.reserved", GONE),
    ("DROP INDEX ix__files__archived__kind", "files: ix__files__archived__kind", GONE),
    ("CREATE UNIQUE INDEX uq__materials__name ON materials (name)", "materials: uq__materials__name", NEWLY_UNIQUE),
    (
        "ALTER TABLE materials ADD COLUMN place BIGINT NOT NULL DEFAULT 0; \
         CREATE UNIQUE INDEX uq__materials__place ON materials (place)",
        "materials: uq__materials__place",
        NEWLY_UNIQUE,
    ),
];

/// Statements like [`PLANTED`] in the SQL dialect of SQLite.
const PLANTED_ON_SQLITE: [(&str, &str, &str); 2] = [
    (
        "CREATE TRIGGER orders_refuse BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'no'); END",
        "orders: orders_refuse",
        NEW_TRIGGER,
    ),
    (
        "DROP TABLE secret_checks; \
         CREATE TABLE secret_checks (name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (value))",
        "secret_checks: sqlite_autoindex_secret_checks_1",
        OTHER_INDEX,
    ),
];

/// Statements like [`PLANTED`] that SQLite does not support.
const PLANTED_ON_POSTGRES: [(&str, &str, &str); 8] = [
    ("ALTER TABLE orders ALTER COLUMN customer_email SET NOT NULL", "orders.customer_email", NO_NULL),
    ("ALTER TABLE materials ADD COLUMN colour TEXT NOT NULL", "materials.colour", NO_DEFAULT),
    ("ALTER TABLE files ALTER COLUMN size DROP DEFAULT", "files.size", NO_DEFAULT),
    ("ALTER TABLE materials ALTER COLUMN reserved TYPE TEXT", "materials.reserved", OTHER_TYPE),
    ("ALTER TABLE materials ADD CONSTRAINT positive CHECK (quantity >= 0)", "materials: positive", NEWLY_CHECKED),
    ("ALTER TABLE materials ALTER COLUMN reserved DROP NOT NULL", "materials.reserved", NEWLY_NULL),
    (
        "CREATE TRIGGER orders_refuse BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()",
        "orders: orders_refuse",
        NEW_TRIGGER,
    ),
    (
        "CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'otherwise'; END $$",
        "audit: audit_refuses_change",
        NEW_TRIGGER,
    ),
];

/// Statements that do not affect the previous release.
const INNOCENT: [&str; 6] = [
    "CREATE TABLE colours (id TEXT PRIMARY KEY, name TEXT NOT NULL)",
    "ALTER TABLE materials ADD COLUMN colour TEXT",
    "ALTER TABLE materials ADD COLUMN is_shiny BOOLEAN NOT NULL DEFAULT FALSE",
    "CREATE INDEX ix__materials__name ON materials (name)",
    "ALTER TABLE materials ADD COLUMN code TEXT; CREATE UNIQUE INDEX uq__materials__code ON materials (code)",
    "UPDATE materials SET archived = FALSE",
];

async fn what_the_last_release_would_not_survive_is_found(database: TestDatabase) {
    let db = connection(&database.settings.url, false).await;
    Migrator::up(&db, None).await.unwrap();
    let before = DatabaseSchema::read(&db).await;
    assert!(before.tables.len() > 30 && before.tables["orders"].indexes.len() > 3, "{:?}", before.tables.keys());
    let after = async |statement: &str| {
        let transaction = db.begin().await.unwrap();
        transaction.execute_unprepared(statement).await.unwrap();
        let after = DatabaseSchema::read(&transaction).await;
        transaction.rollback().await.unwrap();
        breaks(&before, &after)
    };
    let on_this = if database.is_postgres() { &PLANTED_ON_POSTGRES[..] } else { &PLANTED_ON_SQLITE[..] };
    for &(statement, subject, fault) in PLANTED.iter().chain(on_this) {
        let all = after(statement).await;
        let expected = SchemaBreak { subject: subject.to_owned(), fault };
        assert!(all.contains(&expected), "{statement}: {all:?}");
    }
    for statement in INNOCENT {
        let all = after(statement).await;
        assert!(all.is_empty(), "{statement}: {all:?}");
    }
    db.close().await.unwrap();
}

on_both_databases!(empty:
    each_migration_since_the_last_release_leaves_it_what_it_uses,
    what_the_last_release_would_not_survive_is_found
);

#[test]
fn only_a_contract_drops_what_the_last_release_no_longer_uses() {
    let last = Release::parse("0.2.0").unwrap();
    let retired = [("orders.notes", "0.2.0"), ("orders.site", "0.3.0")];
    let permitted = |subject: &str, fault, migration| {
        is_permitted(&SchemaBreak { subject: subject.to_owned(), fault }, migration, &retired, last)
    };
    let (expand, contract) = ("m20270115_000050_v0_3_0_expand_a", "m20270115_000051_v0_3_0_contract_b");
    assert!(permitted("orders.notes", GONE, contract));
    assert!(!permitted("orders.notes", GONE, expand), "it does not say so");
    assert!(!permitted("orders.site", GONE, contract), "the last release uses it");
    assert!(!permitted("orders.kind", GONE, contract), "nobody says that it is unused");
    assert!(!permitted("orders.notes", NO_NULL, contract), "the last release may write null");
}
