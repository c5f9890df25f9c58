//! Checks of a database before a start: they detect what a start would refuse, and change nothing.

use printfloor::store::connect::{self, DatabaseSettings, OpenError};
use printfloor::store::start_check::{StartObstacle, check_start};
use url::Url;

use crate::support::database::{TestDatabase, on_both_databases, on_postgres};

/// Returns the number of recorded migrations and the epoch, read directly from the database.
async fn state(database: &TestDatabase) -> (i64, i64) {
    let migrations = database.number("SELECT COUNT(*) FROM seaql_migrations").await;
    (migrations, database.number("SELECT epoch FROM writer").await)
}

/// Returns the settings for another database.
fn elsewhere() -> DatabaseSettings {
    TestDatabase::sqlite().settings
}

/// Opens the database once, which creates the tables, and closes it.
async fn started(database: &TestDatabase) {
    connect::start(&database.settings).await.unwrap().db.close().await.unwrap();
}

async fn what_a_start_would_refuse_is_known_before(database: TestDatabase) {
    started(&database).await;
    let before = state(&database).await;
    let check = async || check_start(&elsewhere(), &database.settings).await;
    check().await.unwrap();
    assert_eq!(state(&database).await, before, "looking changes nothing");
    database.execute("CREATE TABLE printfloor_restore_unfinished (at TEXT)").await;
    assert!(matches!(check().await, Err(StartObstacle::Open(OpenError::RestoreUnfinished))));
    database.execute("DROP TABLE printfloor_restore_unfinished").await;
    check().await.unwrap();
    database.execute("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m29990101_000001_newer', 0)").await;
    assert!(matches!(check().await, Err(StartObstacle::Open(OpenError::NewerTables(_)))));
    let before = state(&database).await;
    let refused = connect::start(&database.settings).await;
    assert!(matches!(refused, Err(OpenError::NewerTables(_))), "the start says the same: {:?}", refused.err());
    assert_eq!(state(&database).await, before, "and takes no epoch from a newer server");
}

on_both_databases!(empty: what_a_start_would_refuse_is_known_before);

#[tokio::test]
async fn the_lock_of_another_server_is_an_obstacle_and_the_own_one_is_none() {
    on_postgres(|database| async move {
        let writing = connect::start(&database.settings).await.unwrap();
        let held = check_start(&elsewhere(), &database.settings).await;
        assert!(matches!(held, Err(StartObstacle::Open(OpenError::InUse))), "{held:?}");
        // The same database by another address.
        let mut url = Url::parse(&database.settings.url).unwrap();
        url.query_pairs_mut().append_pair("application_name", "shop");
        let renamed = DatabaseSettings { url: url.to_string(), ..database.settings.clone() };
        check_start(&database.settings, &renamed).await.unwrap();
        writing.db.close().await.unwrap();
        check_start(&elsewhere(), &database.settings).await.unwrap();
        started(&database).await;
    })
    .await;
}

#[tokio::test]
async fn a_user_who_may_not_make_or_write_tables_is_an_obstacle() {
    on_postgres(|database| async move {
        let url = Url::parse(&database.settings.url).unwrap();
        let name = format!("guest_of_{}", url.path().trim_start_matches('/'));
        let of_guest = |url: &Url| {
            let mut url = url.clone();
            url.set_username(&name).unwrap();
            url.set_password(Some("guest")).unwrap();
            DatabaseSettings { url: url.to_string(), ..database.settings.clone() }
        };
        database.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC").await;
        database.execute(&format!("CREATE ROLE {name} LOGIN PASSWORD 'guest'")).await;
        let refused = check_start(&elsewhere(), &of_guest(&url)).await;
        assert!(matches!(refused, Err(StartObstacle::NoCreateRight)), "{refused:?}");
        database.execute(&format!("GRANT CREATE ON SCHEMA public TO {name}")).await;
        check_start(&elsewhere(), &of_guest(&url)).await.unwrap();
        database.execute(&format!("ALTER ROLE {name} SET default_transaction_read_only = on")).await;
        let refused = check_start(&elsewhere(), &of_guest(&url)).await;
        assert!(matches!(refused, Err(StartObstacle::ReadOnly)), "{refused:?}");
        database.execute(&format!("ALTER ROLE {name} RESET default_transaction_read_only")).await;
        started(&database).await;
        database.execute(&format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")).await;
        let refused = check_start(&elsewhere(), &of_guest(&url)).await;
        assert!(matches!(refused, Err(StartObstacle::NoWriteRight)), "{refused:?}");
        database.execute(&format!("DROP OWNED BY {name}")).await;
        database.execute(&format!("DROP ROLE {name}")).await;
    })
    .await;
}
