//! A delivery, an email and an upload that are in progress when the database becomes read-only. Each of them gets a
//! response that cannot be recorded; only the recording may be repeated, not the action.

use sea_orm::{ConnectOptions, ConnectionTrait, Database};
use serde_json::json;
use simulator::faults::SlowUpload;
use simulator::printer::PhysicalEvent;
use simulator::sink::{ReceivedRequest, Sink, SinkMode};
use simulator::{Fleet, FleetOptions, PrinterKind};

use crate::api::webhooks::{newest_is, register};
use crate::machines::big_gcode;
use crate::store::proxy::{Proxy, Wire};
use crate::support::app::Builder;
use crate::support::database::until;
use crate::support::waiting::LONG;
use crate::support::{App, Db};

/// Returns a predicate for emails that warn about this material, because other alerts may be sent before.
fn warns_of(material: &str) -> impl Fn(&ReceivedRequest) -> bool {
    let warning = format!("Low stock: {material}");
    move |mail| mail.json()["subject"].as_str().is_some_and(|subject| subject.contains(&warning))
}

/// A shop whose endpoint, email provider and printer have each started to receive something and have not responded yet.
pub struct UnderWay {
    pub app: App,
    pub material: String,
    hook: Sink,
    post: Sink,
    fleet: Fleet,
    endpoint: String,
    order: String,
}

impl UnderWay {
    /// Starts this server and the three effects.
    pub async fn on(app: Builder) -> Self {
        let (hook, post) = (Sink::start().await.unwrap(), Sink::start().await.unwrap());
        let options = FleetOptions { speed: 2000.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) };
        let fleet = Fleet::start(options).await.unwrap();
        let app = app
            .env("EMAIL_API_KEY", "key")
            .env("PRINTFLOOR_MAIL__API_URL", post.url())
            .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
            .env("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", 300)
            .env("PRINTFLOOR_LOG__FILTER", "info,kernel::effects=debug")
            .start()
            .await;
        app.printer(&fleet.printers[0]).await;
        let endpoint = register(&app, &hook, &["order.paid"]).await;
        let material = app.material("PLA", 1000.0).await;
        let file = app.upload("big.gcode", big_gcode(400_000)).await.expect(201);
        let sku = app.sku("BIG", &material, file["id"].as_str().unwrap(), 900).await;

        hook.set_mode(SinkMode::Hold);
        post.set_mode(SinkMode::Hold);
        fleet.printers[0].handle.update_faults(|faults| {
            faults.slow_upload = Some(SlowUpload { bytes_per_second: 20_000 });
        });
        let order = app.paid_order(&sku, 1).await;
        let low = json!({
            "name": "PETG", "type": "filament", "color": "#000000", "brand": "Acme", "quantity": 1, "unit": "g",
            "reorderPoint": 500, "reorderQuantity": 1000,
        });
        app.post("/api/inventory/materials", &low).await.expect(201);
        hook.wait_until(|all| all.len() == 1, LONG).await.expect("the delivery to be under way");
        post.wait_until(|all| all.iter().any(warns_of("PETG")), LONG).await.expect("the mail to be under way");
        let job = app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        app.job_is(&job, "DISPATCHING").await;
        until("the upload to be under way", async || fleet.printers[0].handle.uploads_begun() == 1).await;
        Self { app, material, hook, post, fleet, endpoint, order }
    }

    /// Adjusts stock until the server refuses with 503 and this code.
    pub async fn until_refused(&self, code: &str) {
        let path = format!("/api/inventory/materials/{}/adjustments", self.material);
        until("nothing to be written any more", async || {
            let answer = self.app.post(&path, &json!({"delta": 1, "reason": "fill"})).await;
            answer.status == 503 && answer.json()["code"] == code
        })
        .await;
    }

    /// Lets all three receivers respond while the database is read-only.
    pub async fn answered(&self) {
        self.hook.set_mode(SinkMode::Ok);
        self.post.set_mode(SinkMode::Ok);
        self.fleet.printers[0].handle.update_faults(|faults| faults.slow_upload = None);
        for kind in ["endpoint", "mail", "printer"] {
            until("the outcome to be told again and again", async || {
                let lines = self.app.log().into_iter().filter(|line| {
                    line.contains("recording an outcome failed") && line.contains(&format!("kind=\"{kind}\""))
                });
                lines.count() >= 4
            })
            .await;
        }
    }

    /// Checks that all three are recorded once the database is writable again, and that none was done twice.
    pub async fn was_done_once(&self) {
        newest_is(&self.app, &self.endpoint, "delivered").await;
        self.app.order_is(&self.order, "ready").await;
        until("the mail to be noted", async || {
            self.app.get("/metrics").await.text.lines().any(|line| line == "printfloor_mails_pending 0")
        })
        .await;
        let log = self.fleet.printers[0].handle.log();
        let uploads = log.iter().filter(|one| matches!(one.what, PhysicalEvent::Uploaded { .. })).count();
        let low = warns_of("PETG");
        let mails = self.post.received().iter().filter(|mail| low(mail)).count();
        assert_eq!((self.hook.received().len(), mails, uploads), (1, 1, 1));
        assert_eq!(self.fleet.printers[0].handle.uploads_begun(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgres_is_unreachable_nothing_that_was_answered_is_done_again() {
    let Some(db) = Db::postgres().await else { return };
    let mut url = url::Url::parse(&db.url().unwrap()).unwrap();
    let proxy = Proxy::to((url.host_str().unwrap().to_owned(), url.port().unwrap_or(5432))).await;
    url.set_port(Some(proxy.port)).unwrap();
    let shop = UnderWay::on(App::on(db).env("DATABASE_URL", url)).await;
    proxy.is(Wire::Cut);
    shop.until_refused("unavailable").await;
    shop.answered().await;
    proxy.is(Wire::Whole);
    shop.was_done_once().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgres_is_read_only_nothing_that_was_answered_is_done_again() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let (server, url) = (std::env::var("PRINTFLOOR_TEST_POSTGRES").unwrap(), db.url().unwrap());
    let name = url.rsplit('/').next().unwrap();
    let mut options = ConnectOptions::new(server);
    options.max_connections(1).sqlx_logging(false);
    let admin = Database::connect(options).await.unwrap();
    let shop = UnderWay::on(App::on(db)).await;
    // New sessions may only read; the present ones are ended.
    for sql in [
        format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"),
    ] {
        admin.execute_unprepared(&sql).await.unwrap();
    }
    shop.until_refused("read_only").await;
    shop.answered().await;
    admin.execute_unprepared(&format!("ALTER DATABASE {name} RESET default_transaction_read_only")).await.unwrap();
    // What the sessions of the outage are set to stays so; the server leaves those that cannot write.
    shop.was_done_once().await;
    admin.close().await.unwrap();
}
