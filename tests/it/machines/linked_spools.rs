//! Spools of an external system in slots of printers: consumption is booked on the spool that was actually used.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use simulator::moonraker::SpoolmanComponent;
use simulator::stock::spools::SpoolSystem;

use super::{FAST, Floor, GRAMS, JUDGE_LATE, PrinterKind, STOCK};
use crate::billing::pages::{send, token};
use crate::staff::{is_sound, operator};
use crate::support::{Db, on_sqlite, until};

/// Starts a floor with one printer, whose material is linked to a filament with two spools in the external system.
/// Returns the floor, the filament's number, and the numbers of a full spool and a partly used one.
async fn linked(db: Db, there: &SpoolSystem) -> (Floor, i64, [i64; 2]) {
    let filament = there.add_filament("Black", Some(1_000_000));
    let spools = [0, 1_000_000 - STOCK as i64 * 100].map(|used| there.add_spool(filament, None, used));
    let url = there.url();
    let env = [
        JUDGE_LATE,
        ("PRINTFLOOR_SPOOLS__URL", &*url),
        ("PRINTFLOOR_STOCK_SYNC__INTERVAL_SECONDS", "0.1"),
        ("PRINTFLOOR_STOCK_SYNC__SETTLE_SECONDS", "0.3"),
    ];
    let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &env).await;
    let app = &floor.app;
    let links = format!("/api/inventory/materials/{}/links", floor.material);
    until("the filament to be read", || async {
        let list = app.get("/api/inventory/stock-entries?system=spools").await.expect(200);
        (list["pagination"]["total"] == 1).then_some(())
    })
    .await;
    app.post(&links, &json!({"system": "spools", "entryId": filament})).await.expect(201);
    let preview = link(&floor, "the preview", |link| link["theirs"].is_number()).await;
    let agreement = json!({"right": "theirs", "theirs": preview["theirs"]});
    app.post(&format!("{links}/spools/agree"), &agreement).await.expect(200);
    (floor, filament, spools)
}

/// Waits until the stock link meets a condition; returns the link.
async fn link(floor: &Floor, what: &str, condition: fn(&Value) -> bool) -> Value {
    until(what, || async {
        let body = floor.app.get("/api/inventory/stock-links").await.expect(200);
        Some(body["links"][0].clone()).filter(condition)
    })
    .await
}

/// Waits until the printer's slot meets a condition, in the list of printers too; returns the slot.
async fn slot(floor: &Floor, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
    until(what, || async {
        let slot = floor.app.get(&floor.path(0, "")).await.expect(200)["slots"][0].clone();
        let listed = floor.app.get("/api/printers").await.expect(200)["printers"][0]["slots"][0].clone();
        Some(slot).filter(|slot| condition(slot) && condition(&listed))
    })
    .await
}

on_sqlite! {
    async fn a_slot_shows_what_is_left_on_its_spool_and_prints_are_booked_on_it(db: Db) {
        let there = SpoolSystem::start((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
        let (floor, _, [full, begun]) = linked(db, &there).await;
        // The begun spool is put in; nobody says what it is of.
        floor.app.post(&floor.path(0, "/slots/0"), &json!({"spoolId": begun})).await.expect(200);
        let left = |grams: i64| move |slot: &Value| (&slot["remaining"], &slot["materialId"].is_string()) == (&json!(grams), &true);
        let before = there.used(begun).unwrap();
        let view = slot(&floor, "the slot to show what is left", left((1_000_000 - before) / 1000)).await;
        assert_eq!((&view["spoolId"], &view["materialId"]), (&json!(begun), &json!(floor.material)));
        assert_eq!((&view["bookedByPrinter"], &view["spoolWarning"]), (&json!(false), &Value::Null), "{view}");
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        let grams = GRAMS as i64;
        until("the print to be booked there", || async {
            (there.used(begun) == Some(before + grams * 1000)).then_some(())
        })
        .await;
        assert_eq!(there.used(full), Some(0), "nothing was drawn from the other spool");
        slot(&floor, "the slot to show what is left", left((1_000_000 - before) / 1000 - grams)).await;
        let link = link(&floor, "both sides to agree", |link| link["state"] == "in_step" && link["ours"] == link["theirs"]).await;
        assert_eq!(link["ours"], (2_000_000 - before) / 1000 - grams, "{link}");
        floor.truth().await;
    }

    async fn what_a_printer_books_on_its_spool_by_itself_is_booked_once(db: Db) {
        let there = SpoolSystem::start((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
        let (floor, filament, [full, begun]) = linked(db, &there).await;
        let component = SpoolmanComponent::install(&floor.sim(0).handle, &there);
        floor.app.post(&floor.path(0, "/slots/0"), &json!({"spoolId": begun})).await.expect(200);
        // Somebody chose the other spool at the printer.
        component.set_active(Some(full));
        let warned = slot(&floor, "the warning", |slot| slot["spoolWarning"].is_string()).await;
        assert!(warned["spoolWarning"].as_str().unwrap().contains(&format!("spool {begun} is set for slot T0")), "{warned}");
        // And one of another filament is put in.
        let red = there.add_filament("Red", Some(1_000_000));
        let other = there.add_spool(red, None, 0);
        let (slots, black) = (floor.path(0, "/slots/0"), &floor.material);
        floor.app.post(&slots, &json!({"spoolId": other, "materialId": black})).await.expect(200);
        component.set_active(Some(other));
        let foreign = |slot: &Value| slot["spoolWarning"].as_str().is_some_and(|words| words.contains("which does not hold"));
        slot(&floor, "the spool of another filament to be told", foreign).await;
        floor.app.post(&slots, &json!({"spoolId": begun, "materialId": black})).await.expect(200);
        component.set_active(Some(begun));
        let right = |slot: &Value| slot["bookedByPrinter"] == true && slot["spoolWarning"].is_null();
        slot(&floor, "the printer to book on the spool in its slot", right).await;
        component.set_connected(false);
        let cut_off = |slot: &Value| slot["spoolWarning"].as_str().is_some_and(|words| words.contains("cannot reach"));
        slot(&floor, "the printer to be cut off from the spool system", cut_off).await;
        component.set_connected(true);
        slot(&floor, "the printer to reach it again", right).await;
        let (before, total, uses) = (there.used(begun).unwrap(), there.total(filament), there.uses());
        // The second print is reported late.
        for connected in [true, false] {
            component.set_connected(connected);
            let (order, _) = floor.one().await;
            floor.app.order_is(&order, "ready").await;
        }
        component.set_connected(true);
        // What it extruded by its own measure, which is not what the file states: 2.98 g a metre.
        let extruded = (2.0 * GRAMS * 330.0 * 2.98).round() as i64;
        assert_ne!(extruded, 2 * GRAMS as i64 * 1000);
        until("both prints to be booked", || async { (there.used(begun) == Some(before + extruded)).then_some(()) }).await;
        let grams_left = (total - extruded) as f64 / 1000.0;
        let agreed = until("both sides to agree", || async {
            let body = floor.app.get("/api/inventory/stock-links").await.expect(200);
            let link = &body["links"][0];
            let is_level = link["ours"] == link["theirs"] && link["ours"] == json!(grams_left);
            (link["state"] == "in_step" && is_level).then(|| link.clone())
        })
        .await;
        assert_eq!((there.total(filament), there.used(full)), (total - extruded, Some(0)), "{agreed}");
        assert_eq!(there.uses(), uses, "nobody but the printer booked anything");
        floor.app.ledger_is_even(&floor.material).await;
        // What the printer does not book is booked by us again.
        component.set_active(None);
        slot(&floor, "the printer to book nothing", |slot| slot["bookedByPrinter"] == false).await;
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        until("the print to be booked by us", || async {
            (there.used(begun) == Some(before + extruded + GRAMS as i64 * 1000)).then_some(())
        })
        .await;
    }

    async fn what_a_printer_lost_count_of_waits_until_a_person_decides(db: Db) {
        let there = SpoolSystem::start((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
        let (floor, _, [full, begun]) = linked(db, &there).await;
        let (app, grams, sam) = (&floor.app, GRAMS as i64, operator(&floor.app).await);
        let component = SpoolmanComponent::install(&floor.sim(0).handle, &there);
        app.post(&floor.path(0, "/slots/0"), &json!({"spoolId": begun})).await.expect(200);
        component.set_active(Some(begun));
        let booking = |slot: &Value| slot["bookedByPrinter"] == true && slot["materialId"].is_string();
        slot(&floor, "the printer to book on the spool in its slot", booking).await;
        let (before, uses) = (there.used(begun).unwrap(), there.uses());
        let whole = 2_000 - before / 1000;
        // Its firmware was restarted.
        component.set_counting(false);
        let (order, _) = floor.one().await;
        app.order_is(&order, "ready").await;
        let missing: fn(&Value) -> bool = |link| link["conflict"]["kind"] == "print_not_booked" && link["theirs"].is_number();
        let entry = link(&floor, "the missing booking to be told", missing).await;
        let amounts = (json!(whole - grams), json!(whole));
        assert_eq!((&entry["ours"], &entry["theirs"]), (&amounts.0, &amounts.1), "nothing was given back: {entry}");
        let words = format!("{grams} g of spool {begun}");
        assert!(entry["conflict"]["message"].as_str().unwrap().contains(&words), "{entry}");
        let warned = |slot: &Value| slot["spoolWarning"].as_str().is_some_and(|warning| warning.contains(&words));
        slot(&floor, "the slot to warn", warned).await;
        let own = format!("/shop/stock/materials/{}", floor.material);
        for path in ["/shop/stock/slots".to_owned(), format!("/shop/stock/spools/{begun}"), own.clone(), "/to-do".to_owned()] {
            let page = sam.get(&path).await;
            is_sound(&page);
            assert!(page.text.contains(&words), "{words} on {path}: {}", page.text);
        }
        let to_do = sam.get("/to-do").await;
        assert!(to_do.text.contains("Stock conflicts to resolve (1)") && to_do.text.contains("Keep count"), "{}", to_do.text);
        let (form_token, path) = (token(&to_do), format!("{own}/agree"));
        for (theirs, status) in [("1".to_owned(), 409), (whole.to_string(), 200)] {
            let sides = [("system", "spools"), ("right", "ours"), ("theirs", &*theirs)];
            let fields = [("form_token", &*form_token), ("back", "/to-do"), sides[0], sides[1], sides[2]];
            let page = send(&sam, &path, &fields).await;
            assert_eq!(page.status, status, "{}", page.text);
            is_sound(&page);
        }
        until("it to be booked by us", || async { (there.used(begun) == Some(before + grams * 1000)).then_some(()) }).await;
        let agreed: fn(&Value) -> bool = |link| link["state"] == "in_step" && link["ours"] == link["theirs"];
        let settled = link(&floor, "both sides to agree", agreed).await;
        assert_eq!((&settled["ours"], there.used(full), there.uses()), (&json!(whole - grams), Some(0), uses + 1), "{settled}");
        slot(&floor, "the warning to go", |slot| slot["spoolWarning"].is_null()).await;
        assert!(!sam.get("/to-do").await.text.contains("Stock conflicts to resolve"));

        // The next is left as it is counted there.
        let (order, _) = floor.one().await;
        app.order_is(&order, "ready").await;
        let entry = link(&floor, "the missing booking to be told", missing).await;
        assert_eq!((&entry["ours"], &entry["theirs"]), (&json!(whole - 2 * grams), &json!(whole - grams)), "{entry}");
        let agree = format!("/api/inventory/materials/{}/links/spools/agree", floor.material);
        app.post(&agree, &json!({"right": "theirs", "theirs": whole - grams})).await.expect(200);
        let settled = link(&floor, "both sides to agree", agreed).await;
        assert_eq!((&settled["ours"], there.uses()), (&json!(whole - grams), uses + 1), "{settled}");

        // It counts again.
        component.set_counting(true);
        let used = there.used(begun).unwrap();
        let (order, _) = floor.one().await;
        app.order_is(&order, "ready").await;
        until("the printer to book it", || async { there.used(begun).is_some_and(|now| now > used).then_some(()) }).await;
        link(&floor, "both sides to agree", agreed).await;
        assert_eq!(there.uses(), uses + 1, "by the printer alone");
        app.nothing_reserved(&floor.material).await;
        app.ledger_is_even(&floor.material).await;
    }
}
