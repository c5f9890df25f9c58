//! Shops recorded by releases (`tests/fixtures/releases/`): this build opens them without losses and continues to work
//! with them. `scripts/release-fixtures` records one with this build.

pub mod answers;
pub mod fixtures;
mod shop;

use std::path::PathBuf;

use migrations::{Migrator, MigratorTrait as _};
use serde_json::json;
use simulator::{Fleet, FleetOptions, PrinterKind};

use self::answers::{Answers, common_answers, losses, read, read_all};
use self::fixtures::{OpenedRelease, ReleaseFixture, fixtures};
use crate::api::id;
use crate::machines::FAST;
use crate::store::migrations::connection;
use crate::store::migrations::schema::DatabaseSchema;
use crate::support::database::TestDatabase;
use crate::support::{App, Db, on_both, on_sqlite, until};

/// Environment variable with the folder for the recording of a release; if it is not set, the recording exists only
/// during the test.
const KEEP: &str = "PRINTFLOOR_TEST_KEEP_RELEASE";
/// Maximum size of a recorded shop, in bytes.
const MAX_BYTES: u64 = 250_000;

/// Checks through the API of this build that everything recorded is present.
async fn nothing_is_lost(opened: &OpenedRelease, recorded: &Answers) {
    let mut faults = Vec::new();
    for (path, earlier) in recorded {
        faults.extend(losses(path, earlier, &read(&opened.app, path).await));
    }
    assert!(faults.is_empty(), "{} losses:\n{}", faults.len(), faults.join("\n"));
    assert!(recorded.len() > 60, "{}", recorded.len());
}

/// Pays, prints, signs off and ships in a shop whose former printers are unreachable.
async fn goes_on(opened: OpenedRelease, fixture: &ReleaseFixture) {
    let (mut opened, facts) = (opened, fixture.facts());
    let app = &mut opened.app;
    app.stop().await;
    app.set_env("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "1");
    app.start().await;
    let app = &opened.app;
    let former = app.get("/api/printers").await.expect(200)["printers"].clone();
    for printer in former.as_array().unwrap() {
        let path = format!("/api/printers/{}/status", id(printer));
        until("the former printers to be gone", || async {
            (app.get(&path).await.expect(200)["connection"] != "connected").then_some(())
        })
        .await;
    }
    let options = FleetOptions { speed: FAST, seed: 6, ..FleetOptions::of(PrinterKind::FwRest, 1) };
    let fleet = Fleet::start(options).await.unwrap();
    app.printer(&fleet.printers[0]).await;
    app.post(&format!("/api/orders/{}/mark-paid", facts.order), &json!({"method": "cash"})).await.expect(200);
    let later = app.paid_order(&facts.sku, 2).await;
    for order in [&facts.order, &later] {
        app.order_is(order, "ready").await;
        let job = id(&app.jobs(order).await[0]);
        app.post(&format!("/api/jobs/{job}/sign-off"), &json!({"goodCount": 1})).await.expect(200);
        let shipment = json!({"carrier": "DHL", "trackingNumber": "1", "estimatedDelivery": "2030-01-01"});
        let shipped = app.post(&format!("/api/orders/{order}/ship"), &shipment).await.expect(200);
        assert_eq!(shipped["status"], "shipped", "{shipped}");
    }
    let numbering = app.get("/api/invoices/numbering").await.expect(200);
    assert_eq!(numbering["gapless"], true, "{numbering}");
    // The migration that made the chain of the audit log used the rules of that time.
    app.command(&["audit", "verify"], "");
}

async fn schema_of(url: &str) -> DatabaseSchema {
    let db = connection(url, false).await;
    let schema = DatabaseSchema::read(&db).await;
    db.close().await.unwrap();
    schema
}

/// Checks that the migrations of a release still create the same tables: migrations are never edited.
async fn has_tables_of_its_migrations(fixture: &ReleaseFixture, databases: [Db; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let [recorded, fresh] = databases;
    let recorded = schema_of(&fixture.copy_to(&folder.path().join("data"), &recorded).await).await;
    let names = fixture.facts().migrations;
    let own = Migrator::migrations();
    let is_beginning = own.iter().map(|migration| migration.name()).take(names.len()).eq(names.iter());
    assert!(is_beginning, "the migrations of a release stay, in their order: {names:?}");
    let fresh_database = fresh.url().map_or_else(TestDatabase::sqlite, |url| TestDatabase::at(&url));
    let db = connection(&fresh_database.settings.url, false).await;
    Migrator::up(&db, Some(names.len() as u32)).await.unwrap();
    db.close().await.unwrap();
    assert_eq!(schema_of(&fresh_database.settings.url).await, recorded);
}

/// Returns an empty database of this kind.
async fn empty(is_postgres: bool) -> Db {
    if is_postgres { Db::postgres().await.unwrap() } else { Db::sqlite() }
}

/// Returns the folder in which this run records a shop.
fn record_folder(app: &App, is_postgres: bool) -> PathBuf {
    let folder = std::env::var_os(KEEP).map_or_else(|| app.folder().join("release"), PathBuf::from);
    folder.join(if is_postgres { "postgres" } else { "sqlite" })
}

on_both! {
    async fn a_shop_of_each_release_is_whole_and_goes_on(db: Db) {
        for fixture in fixtures(db.url().is_some()) {
            let opened = Box::pin(fixture.open()).await;
            Box::pin(nothing_is_lost(&opened, &fixture.read("answers"))).await;
            Box::pin(goes_on(opened, &fixture)).await;
        }
    }

    async fn the_migrations_of_each_release_make_its_tables(db: Db) {
        let is_postgres = db.url().is_some();
        for fixture in fixtures(is_postgres) {
            has_tables_of_its_migrations(&fixture, [empty(is_postgres).await, empty(is_postgres).await]).await;
        }
    }
}

on_sqlite! {
    async fn a_shop_of_this_build_is_recorded_and_opened(db: Db) {
        let (app, facts) = Box::pin(shop::make(db)).await;
        let fixture = ReleaseFixture::record(&app, record_folder(&app, app.db.url().is_some()), &facts);
        // What follows from the start itself, or from the time, is not the same twice.
        let (first, second) = (Box::pin(fixture.open()).await, Box::pin(fixture.open()).await);
        let recorded = common_answers(&read_all(&first.app).await, &read_all(&second.app).await);
        drop(second);
        fixture.write("answers", &recorded);
        assert!(fixture.size() < MAX_BYTES, "{} bytes", fixture.size());
        Box::pin(nothing_is_lost(&first, &recorded)).await;
        Box::pin(goes_on(first, &fixture)).await;
    }
}
