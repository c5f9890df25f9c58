//! Tests of the file and the hosts that an address refers to, and of how a connection writes.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::time::Duration;

use sea_orm::{ConnectionTrait, Statement};
use sqlx::sqlite::SqliteConnectOptions;

use super::{DatabaseSettings, OpenError, WritingHost, connect_writer, display_url, reach, readable, sqlite_file};

#[test]
fn the_file_of_an_address_is_the_one_that_the_driver_opens() {
    for (address, file) in [
        ("sqlite://data/shop.db?mode=rwc", "data/shop.db"),
        ("sqlite:data/shop.db", "data/shop.db"),
        ("sqlite:///srv/shop.db", "/srv/shop.db"),
        ("sqlite:////srv/shop.db", "//srv/shop.db"),
        ("sqlite:///srv/the%20shop/a%2Fb.db?mode=rwc", "/srv/the shop/a/b.db"),
        ("sqlite:///srv/the shop/a+b.db", "/srv/the shop/a+b.db"),
        ("sqlite://no%23%201%3f.db?mode=rw", "no# 1?.db"),
        ("sqlite://W%C3%A4rmetauscher/gr\u{f6}\u{df}e.db", "W\u{e4}rmetauscher/gr\u{f6}\u{df}e.db"),
        ("sqlite://100%25.db", "100%.db"),
        ("sqlite://%2523.db", "%23.db"),
        ("sqlite://50%zz.db", "50%zz.db"),
    ] {
        let options: SqliteConnectOptions = address.parse().unwrap();
        assert_eq!(options.get_filename(), Path::new(file), "{address}");
        assert_eq!(sqlite_file(address).as_deref(), Some(Path::new(file)), "{address}");
    }
}

#[test]
fn an_address_that_the_driver_refuses_names_the_text_of_its_file() {
    assert!("sqlite://%ff.db".parse::<SqliteConnectOptions>().is_err());
    assert_eq!(sqlite_file("sqlite://%ff.db?mode=rwc").as_deref(), Some(Path::new("%ff.db")));
    assert!("sqlite://a%20b.db?mode=never".parse::<SqliteConnectOptions>().is_err());
    assert_eq!(sqlite_file("sqlite://a%20b.db?mode=never").as_deref(), Some(Path::new("a b.db")));
}

#[test]
fn a_database_in_memory_or_on_a_server_has_no_file() {
    for address in ["sqlite::memory:", "sqlite://:memory:", "postgres://shop@localhost/shop"] {
        assert_eq!(sqlite_file(address), None, "{address}");
    }
    assert_eq!(display_url("sqlite::memory:"), "SQLite in memory");
    assert_eq!(display_url("sqlite:///nowhere%20at%20all/a%20b.db"), "SQLite /nowhere at all/a b.db");
}

#[test]
fn several_hosts_are_shown_without_the_password() {
    let url = "postgres://sam:hunter2@db1:5432,db2,[fd00::3]:5433/shop?target_session_attrs=read-write";
    assert_eq!(display_url(url), "PostgreSQL db1:5432,db2,[fd00::3]:5433/shop");
    assert_eq!(display_url("postgres://sam@db1/shop"), "PostgreSQL db1/shop");
    assert_eq!(display_url("postgres://sam:hunter2,/x@db1,db2/shop"), "the database");
}

#[tokio::test]
async fn hosts_on_which_nothing_listens_are_all_named() {
    // Ports of the system, which nobody listens on.
    let url = "postgres://sam:hunter2@127.0.0.1:1,127.0.0.1:2/shop";
    let settings = DatabaseSettings {
        url: url.to_owned(),
        read_connections: 1,
        statement_timeout: Duration::from_secs(5),
        hosts: WritingHost::default(),
    };
    readable(&settings).unwrap();
    for error in [reach(url).await.unwrap_err(), connect_writer(&settings).await.unwrap_err()] {
        let words = error.to_string();
        assert!(matches!(error, OpenError::Unreachable(_) | OpenError::NoWritingHost(_)), "{words}");
        for host in ["127.0.0.1:1 (connection refused)", "127.0.0.1:2 (connection refused)"] {
            assert!(words.contains(host), "{words}");
        }
        assert!(!words.contains("hunter2"), "{words}");
    }
}

// A `kill -9` does not show whether a commit waits for the disk; only a power cut does.
#[tokio::test]
async fn a_commit_waits_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/shop.db?mode=rwc", folder.path().display());
    let hosts = WritingHost::default();
    let settings = DatabaseSettings { url, read_connections: 1, statement_timeout: Duration::from_secs(5), hosts };
    let db = connect_writer(&settings).await.unwrap();
    let synchronous = Statement::from_string(db.get_database_backend(), "PRAGMA synchronous");
    let row = db.query_one_raw(synchronous).await.unwrap().unwrap();
    assert_eq!(row.try_get_by_index::<i32>(0).unwrap(), 2, "FULL");
}
