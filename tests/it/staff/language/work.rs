//! The to-do page and the pages of jobs in German.

use serde_json::json;
use simulator::PrinterKind;

use super::{OPERATOR, german, operator, shows};
use crate::machines::{FAST, Floor, JUDGE_LATE};
use crate::support::{on_sqlite, until};

on_sqlite! {
    async fn jobs_pages_are_german(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let empty = german(&sam, "/shop/jobs").await;
        shows(&empty, &["<html lang=\"de\">", ">Druckaufträge</h1>", ">Noch keine Druckaufträge</h2>", "<b>0</b> Alle</a>"]);
        floor.app.post(&floor.path(0, "/maintenance"), &json!({"on": true, "note": "new nozzle"})).await.expect(200);
        floor.app.patch(&floor.path(1, ""), &json!({"machineType": "resin_large"})).await.expect(200);
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "SLICED").await;
        let page = german(&sam, &format!("/shop/jobs/{job}")).await;
        let texts = [
            "<html lang=\"de\">",
            "Druckauftrag JOB-",
            ">Wartet auf einen Drucker</span>",
            "Wartet auf einen Drucker mit PLA black.",
            " ist außer Betrieb.",
            "10 g PLA black",
            "reserviert",
            ">Eignung der Drucker</h2>",
            ">Später<",
            "der Drucker ist außer Betrieb",
            "der Maschinentyp ist nicht Standard-Filamentdrucker",
            "Position 1 · 1 Teil · Priorität",
            ">Bearbeiten oder abbrechen</summary>",
            "Alle Druckaufträge</a>",
        ];
        shows(&page, &texts);
        assert!(page.text.contains(&format!("/shop/orders/{order}")), "{}", page.text);
        let list = german(&sam, "/shop/jobs").await;
        shows(&list, &["<b>1</b> Wartet auf einen Drucker</a>", ">Priorität</th>", ">Wartet auf einen Drucker</span>"]);
        shows(&list, &[">Alle Drucker</option>", ">Angelegt</label>", ">Letzte 7 Tage</option>", ">Bild</th>"]);
        let none = german(&sam, "/shop/jobs?state=FAILED").await;
        shows(&none, &["Keine passenden Druckaufträge. <a", ">Alle anzeigen</a>"]);
        let view = floor.job(&job).await;
        let reason = view["waitingReason"].as_str().unwrap();
        assert!(reason.starts_with("Waiting for a printer"), "the API stays in English: {reason}");
    }

    async fn to_do_page_is_german(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let sam = operator(&floor.app).await;
        let empty = german(&sam, "/to-do").await;
        shows(&empty, &["<html lang=\"de\">", "<h1>Aufgaben</h1>", ">Alles erledigt</h2>", "Zur Werkstatt</a>"]);
        let (_, job) = floor.one().await;
        floor.attention(0, "bed_not_cleared", true).await;
        floor.app.job_is(&job, "COMPLETED").await;
        let page = until("the bed to be named", || async {
            let page = german(&sam, "/to-do").await;
            page.text.contains("Ausschuss\u{a0}…").then_some(page)
        })
        .await;
        let texts = [
            "Druckbetten abräumen (1)",
            "Macht 1 Drucker frei",
            "Nächste Stunden",
            "In dieser Schicht erledigt",
            "Druckbett ist frei</button>",
            " Aufgabe",
            ">Mangel</label>",
            "<time",
        ];
        shows(&page, &texts);
        floor.order(1).await;
        let waits = until("the next job to wait for the bed", || async {
            let page = german(&sam, "/to-do").await;
            page.text.contains("1 Druckauftrag wartet auf dieses Druckbett").then_some(page)
        })
        .await;
        shows(&waits, &["Druckbetten abräumen (1)"]);
        assert!(!waits.text.contains("wartet auf ein freies Druckbett."), "the bed is the task: {}", waits.text);
    }
}
