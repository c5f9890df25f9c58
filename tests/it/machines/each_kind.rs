//! Tests of what printers do, made for each kind of them.
//!
//! What depends on the protocol is tested with every kind in each run. A test that says `#[drawn]` is about the
//! server's own rules, for which the printer only has to print: each run takes the kind that its seed draws, so that
//! all kinds have some of these tests, and the long profile takes every kind for each.

use super::PrinterKind;
use crate::support::drawing::{draw_by, run_seed};

/// Draws the kind of printers for a test by the seed of the run and the test's name.
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

/// The embedded database, in the place of a test's `db`.
macro_rules! sqlite {
    ($db:ident) => {
        Db::sqlite()
    };
}

/// Test for each kind of printer, on the embedded database, or for the kind that is drawn where it says `#[drawn]`; one
/// that takes `db: Db` is made once more for PostgreSQL, with printers of the first kind.
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
    };
    (@tests of $($db:ident)?) => {
        each_kind!(@kinds $($db)?);
    };
    (@tests drawn of $($db:ident)?) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn drawn() {
            let kind = $crate::machines::each_kind::drawn_kind(module_path!());
            run(kind $(, sqlite!($db))?).await;
        }
        mod long {
            use super::*;
            each_kind!(@kinds $($db)?);
        }
    };
    ($($(#[$drawn:ident])? async fn $name:ident($kind:ident: PrinterKind $(, $db:ident: Db)?) $body:block)*) => { $(
        mod $name {
            use super::*;
            async fn run($kind: PrinterKind $(, $db: Db)?) $body
            each_kind!(@tests $($drawn)? of $($db)?);
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn on_postgres() {
                    if let Some($db) = Db::postgres_with_shop().await {
                        run(PrinterKind::FwRest, $db).await;
                    }
                }
            )?
        }
    )* };
}
