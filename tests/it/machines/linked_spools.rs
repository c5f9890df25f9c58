//! Spools of another system in slots of printers: what prints use is booked on the spool that it was drawn from.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use simulator::stock::spools::SpoolSystem;

use super::{FAST, Floor, GRAMS, JUDGE_LATE, PrinterKind, STOCK};
use crate::support::{on_both, until};

on_both! {
    async fn a_slot_shows_what_is_left_on_its_spool_and_prints_are_booked_on_it(db: Db) {
        let there = SpoolSystem::start((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
        let filament = there.add_filament("Black", Some(1_000_000));
        let [full, begun] = [0, 1_000_000 - STOCK as i64 * 100].map(|used| there.add_spool(filament, None, used));
        let url = there.url();
        let env = [
            JUDGE_LATE,
            ("PRINTFLOOR_SPOOLS__URL", &*url),
            ("PRINTFLOOR_STOCK_SYNC__INTERVAL_SECONDS", "0.1"),
            ("PRINTFLOOR_STOCK_SYNC__SETTLE_SECONDS", "0.3"),
        ];
        let floor = &Floor::on(db, PrinterKind::FwRest, 1, FAST, &env).await;
        let app = &floor.app;
        let links = format!("/api/inventory/materials/{}/links", floor.material);
        until("the filament to be read", || async {
            let list = app.get("/api/inventory/stock-entries?system=spools").await.expect(200);
            (list["pagination"]["total"] == 1).then_some(())
        })
        .await;
        app.post(&links, &json!({"system": "spools", "entryId": filament})).await.expect(201);
        let shown = |what: &'static str, wanted: fn(&Value) -> bool| async move {
            until(what, || async {
                let shown = app.get("/api/inventory/stock-links").await.expect(200);
                Some(shown["links"][0].clone()).filter(wanted)
            })
            .await
        };
        shown("the preview", |link| link["theirs"].is_number()).await;
        app.post(&format!("{links}/spools/agree"), &json!({"right": "theirs"})).await.expect(200);
        // The begun spool is put in; nobody says what it is of.
        let slot = floor.path(0, "/slots/0");
        app.post(&slot, &json!({"spoolId": begun})).await.expect(200);
        let slot_is = |left: Value| async move {
            until("the slot to show what is left", || async {
                let slot = app.get(&floor.path(0, "")).await.expect(200)["slots"][0].clone();
                (slot["remaining"] == left && slot["spoolId"] == begun && slot["materialId"] == floor.material).then_some(())
            })
            .await;
        };
        let before = there.used(begun).unwrap();
        slot_is(json!((1_000_000 - before) / 1000)).await;
        let (order, _) = floor.one().await;
        app.order_is(&order, "ready").await;
        let grams = GRAMS as i64;
        until("the print to be booked there", || async {
            (there.used(begun) == Some(before + grams * 1000)).then_some(())
        })
        .await;
        assert_eq!(there.used(full), Some(0), "nothing was drawn from the other spool");
        slot_is(json!((1_000_000 - before) / 1000 - grams)).await;
        let link = shown("both sides to agree", |link| link["state"] == "in_step" && link["ours"] == link["theirs"]).await;
        assert_eq!(link["ours"], (2_000_000 - before) / 1000 - grams, "{link}");
        floor.truth().await;
    }
}
