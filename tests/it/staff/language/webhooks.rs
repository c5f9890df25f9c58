//! Webhook pages in German.

use serde_json::json;
use simulator::sink::{Sink, SinkMode};

use super::shows;
use crate::api::some_sku;
use crate::api::webhooks::{QUICK, endpoint_is, happen, register};
use crate::billing::pages::{send, token};
use crate::staff::done;
use crate::staff::settings::boss;
use crate::support::{App, Db};

#[tokio::test]
async fn webhooks_pages_are_german() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", QUICK).start().await;
    let (sku, boss, sink) = (some_sku(&app).await, boss(&app).await, Sink::start().await.unwrap());
    boss.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let none = boss.get("/shop/webhooks").await;
    shows(&none, &["<html lang=\"de\">", ">Noch keine Endpunkte.</p>", ">Endpunkt anlegen</a>"]);
    let own = token(&boss.get("/shop/webhooks/new").await);
    let fields = [("form_token", &*own), ("url", "ftp://example.org"), ("event-order.paid", "true")];
    let wrong = send(&boss, "/shop/webhooks/new", &fields).await;
    shows(&wrong, &["URL des Endpunkts: die URL muss mit http oder https beginnen.", "> order.paid</label>"]);

    sink.set_mode(SinkMode::Status(503));
    let endpoint = register(&app, &sink, &["order.created"]).await;
    happen(&app, &sku).await;
    endpoint_is(&app, &endpoint, "disabled").await;
    let texts =
        [">Deaktiviert</span>", "Die Zustellung wurde eingestellt: <span lang=\"en\">", "Ereignisse: order.created"];
    shows(&boss.get("/shop/webhooks").await, &texts);
    let path = format!("/shop/webhooks/{endpoint}");
    let page = boss.get(&path).await;
    shows(&page, &[">Webhook-Endpunkt <span", ">Fehlgeschlagen</span>", "Antwort <strong>503</strong>", "6 Versuche"]);
    shows(&page, &[">Endpunkt aktivieren</button>", ">Ereignisse nachsenden</summary>", ">Erneut senden</button>"]);
    let fields = [("form_token", &*own), ("since", "2020-01-01T00:00")];
    let old = send(&boss, &format!("{path}/replay"), &fields).await;
    shows(&old, &["Seit: muss innerhalb der letzten 30 Tage liegen."]);
    let rotated = done(&boss, &format!("{path}/rotate"), &[("form_token", &own)]).await;
    shows(&rotated, &["<h1>Signaturschlüssel erneuert</h1>", ">Endpunkt ansehen</a>", ">Kopieren"]);
}
