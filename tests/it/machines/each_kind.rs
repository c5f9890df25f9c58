//! Tests that run for each type of printer.
//!
//! Protocol-dependent behaviour is tested with every type in each run. A test marked `#[drawn]` is about the server's
//! own rules, for which any printer will do: each run uses the type that its seed selects, so that the types share
//! these tests, and the long profile uses every type for each test. A test marked `#[long]` is also in
//! `tests/sim/tests/floor`, where it runs for every type in virtual time: over the protocols, only the long profile
//! runs it.

use super::PrinterKind;
use crate::support::drawing::{draw_by, run_seed};

/// Selects the printer type for a test from the run's seed and the test's name.
pub fn drawn_kind(test: &str) -> PrinterKind {
    let seed = run_seed();
    let kind = kind_of(seed, test);
    eprintln!("printers of the kind {} (PRINTFLOOR_TEST_SEED={seed})", kind.as_str());
    kind
}

fn kind_of(seed: u64, test: &str) -> PrinterKind {
    PrinterKind::ALL[draw_by(seed, test, PrinterKind::ALL.len() as u64) as usize]
}

#[test]
fn a_seed_draws_the_same_kind_again_and_every_kind_for_some_test() {
    let tests: Vec<String> = (0..60).map(|n| format!("machines::test_{n}")).collect();
    for seed in [1, 7, 1_764] {
        let kinds: Vec<PrinterKind> = tests.iter().map(|test| kind_of(seed, test)).collect();
        assert!(kinds.iter().zip(&tests).all(|(kind, test)| *kind == kind_of(seed, test)));
        assert!(PrinterKind::ALL.iter().all(|kind| kinds.contains(kind)), "{seed}: {kinds:?}");
    }
    let other = |test: &String| kind_of(1, test) != kind_of(2, test);
    assert!(tests.iter().any(other), "another seed draws other kinds");
}

/// The embedded database, in place of a test's `db`.
macro_rules! sqlite {
    ($db:ident) => {
        Db::sqlite()
    };
}

/// The database that the run's seed selects, in place of a test's `db`.
macro_rules! drawn_database {
    ($db:ident) => {
        Db::drawn(module_path!()).await
    };
}

/// Generates a test for each printer type, on the embedded database, or only for the selected type if it is marked
/// `#[drawn]`, or only in the long profile if it is marked `#[long]`. A test that takes `db: Db` also runs on
/// PostgreSQL, with printers of the first type; if it is marked `#[drawn]`, each run selects its database as well.
macro_rules! each_kind {
    (@kinds $($db:ident)?) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn fw_rest() {
            run(PrinterKind::FwRest $(, sqlite!($db))?).await;
        }
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn server_rest() {
            run(PrinterKind::ServerRest $(, sqlite!($db))?).await;
        }
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn prusa_link() {
            run(PrinterKind::PrusaLink $(, sqlite!($db))?).await;
        }
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn sdcp() {
            run(PrinterKind::Sdcp $(, sqlite!($db))?).await;
        }
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn mqtt_lan() {
            run(PrinterKind::MqttLan $(, sqlite!($db))?).await;
        }
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                if let Some($db) = Db::postgres_with_shop().await {
                    run(PrinterKind::FwRest, $db).await;
                }
            }
        )?
    };
    (@tests of $($db:ident)?) => {
        each_kind!(@kinds $($db)?);
    };
    (@tests drawn of $($db:ident)?) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn drawn() {
            let kind = $crate::machines::each_kind::drawn_kind(module_path!());
            run(kind $(, drawn_database!($db))?).await;
        }
        mod long {
            use super::*;
            each_kind!(@kinds $($db)?);
        }
    };
    (@tests long of $($db:ident)?) => {
        mod long {
            use super::*;
            each_kind!(@kinds $($db)?);
        }
    };
    ($($(#[$share:ident])? async fn $name:ident($kind:ident: PrinterKind $(, $db:ident: Db)?) $body:block)*) => { $(
        mod $name {
            use super::*;
            async fn run($kind: PrinterKind $(, $db: Db)?) $body
            each_kind!(@tests $($share)? of $($db)?);
        }
    )* };
}
