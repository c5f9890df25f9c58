//! Tests that are made once for each kind of printer.

/// The embedded database, in the place of a test's `db`.
macro_rules! sqlite {
    ($db:ident) => {
        Db::sqlite()
    };
}

/// Makes the test once for each kind of printer, on the embedded database; one that takes `db: Db` once more on
/// PostgreSQL, with printers of the first kind.
macro_rules! each_kind {
    ($(async fn $name:ident($kind:ident: PrinterKind $(, $db:ident: Db)?) $body:block)*) => { $(
        mod $name {
            use super::*;
            async fn run($kind: PrinterKind $(, $db: Db)?) $body
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
        }
    )* };
}
