//! Foundation of every test: the real binary in its own folder, on SQLite or PostgreSQL; simulated printers and
//! services; waiting for conditions.

pub mod app;
pub mod browser;
pub mod builders;
pub mod client;
pub mod clock;
pub mod contents;
pub mod contract;
pub mod database;
pub mod db;
pub mod drawing;
pub mod moto;
pub mod ports;
pub mod prometheus;
pub mod redis;
pub mod seller;
pub mod stream;
mod template;
pub mod variables;
pub mod waiting;
pub mod wire;

pub use app::App;
pub use client::Client;
pub use clock::Clock;
pub use db::Db;
pub use template::{StaffMember, Template};
pub use waiting::until;

/// Runs a test on SQLite and again on PostgreSQL. Without a PostgreSQL server for tests, the latter is skipped, unless
/// services are required (`PRINTFLOOR_TEST_SERVICES`).
macro_rules! on_both {
    ($($(#[$meta:meta])* async fn $name:ident($db:ident: Db) $body:block)*) => { $(
        mod $name {
            use super::*;
            async fn run($db: $crate::support::Db) $body
            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                run($crate::support::Db::sqlite()).await;
            }
            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                if let Some(db) = $crate::support::Db::postgres_with_shop().await {
                    run(db).await;
                }
            }
        }
    )* };
}
pub(crate) use on_both;

/// Counterpart of [`on_both`] for tests whose SQL other tests run on PostgreSQL: each run uses SQLite, and the long
/// profile also PostgreSQL.
macro_rules! on_sqlite {
    ($($(#[$meta:meta])* async fn $name:ident($db:ident: Db) $body:block)*) => { $(
        mod $name {
            use super::*;
            async fn run($db: $crate::support::Db) $body
            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                run($crate::support::Db::sqlite()).await;
            }
            mod long {
                $(#[$meta])*
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn on_postgres() {
                    if let Some(db) = $crate::support::Db::postgres_with_shop().await {
                        super::run(db).await;
                    }
                }
            }
        }
    )* };
}
pub(crate) use on_sqlite;

/// Counterpart of [`on_both`] for tests of which the SQL is not the point: each run uses the database that its seed
/// selects, and the long profile uses both.
macro_rules! on_drawn {
    ($($(#[$meta:meta])* async fn $name:ident($db:ident: Db) $body:block)*) => { $(
        mod $name {
            use super::*;
            async fn run($db: $crate::support::Db) $body
            $(#[$meta])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn drawn() {
                run($crate::support::Db::drawn(module_path!()).await).await;
            }
            mod long {
                $(#[$meta])*
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn on_sqlite() {
                    super::run($crate::support::Db::sqlite()).await;
                }
                $(#[$meta])*
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn on_postgres() {
                    if let Some(db) = $crate::support::Db::postgres_with_shop().await {
                        super::run(db).await;
                    }
                }
            }
        }
    )* };
}
pub(crate) use on_drawn;
