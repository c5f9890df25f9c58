//! Spools reported by printers: identified by the vendor code of a material, matched by their remaining amount, and
//! used for prints.

use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::bambu::setup::{Ams, Tray};
use simulator::printer::FilamentGate;
use simulator::{PrinterKind, SimPrinter};

use super::{FAST, Floor, JUDGE_LATE, register, words};
use crate::support::{App, on_sqlite, waiting::until_seen};

const BLACK: &str = "1B1B22FF";
const WHITE: &str = "F4F1E6FF";

/// Colours of the spools, in the order of the slots: black and white.
pub const COLOURS: [&str; 2] = ["#1b1b22", "#f4f1e6"];

/// Registers a printer with a spool of each of these materials; returns its ID.
pub async fn with_spools(app: &App, sim: &SimPrinter, materials: &[&String]) -> String {
    let changer = Bambu::of(&sim.handle);
    if let Some(changer) = &changer {
        let tray = |colour: &&str| Tray { tray_color: format!("{}FF", &colour[1..]), ..Tray::default() };
        let trays = std::array::from_fn(|slot| COLOURS[..materials.len()].get(slot).map(tray));
        changer.change(|setup| setup.ams = vec![Ams { trays }]);
    }
    let printer = register(app, sim, json!({})).await;
    for (slot, material) in materials.iter().enumerate() {
        let spool = json!({"materialId": material});
        if changer.is_some() {
            app.bind_slot(&printer, slot, &spool).await;
        } else {
            app.post(&format!("/api/printers/{printer}/slots/{slot}"), &spool).await.expect(200);
        }
    }
    printer
}

/// Sets the vendor code and the spool colour of the shop's material.
async fn coded(floor: &Floor, code: &str, color: &str) {
    let words = json!({"vendorCode": code, "color": color});
    let material = floor.app.patch(&format!("/api/inventory/materials/{}", floor.material), &words).await.expect(200);
    assert_eq!(material["vendorCode"], code, "{material}");
}

/// Waits until the slots of a printer have these materials; returns the slots.
async fn slots_are(floor: &Floor, printer: usize, expected: &[Option<&str>]) -> Value {
    until_seen(&format!("the slots of printer {printer} to be {expected:?}"), || async {
        let slots = floor.app.get(&floor.path(printer, "")).await.expect(200)["slots"].clone();
        let materials: Vec<Option<&str>> =
            slots.as_array().unwrap().iter().map(|one| one["materialId"].as_str()).collect();
        if materials == expected { Ok(slots) } else { Err(slots) }
    })
    .await
}

fn spool(color: &str) -> Tray {
    Tray { tray_color: color.to_owned(), ..Tray::default() }
}

/// Returns a tagged spool whose remaining amount the printer reports, in percent of 1000 g.
fn weighed(color: &str, remain: i32) -> Tray {
    Tray { tag_uid: "A1B2C3D400000100".to_owned(), remain, ..spool(color) }
}

fn fit(floor: &Floor, printer: usize, trays: [Option<Tray>; 4]) {
    Bambu::of(&floor.sim(printer).handle).unwrap().change(|setup| setup.ams = vec![Ams { trays }]);
}

on_sqlite! {
    async fn spools_in_a_changer_are_known_by_the_vendors_code_matched_and_printed_from(db: Db) {
        let floor = Floor::on(db, PrinterKind::MqttLan, 2, FAST, &[JUDGE_LATE]).await;
        coded(&floor, "GFA00", "#1B1B22").await;
        let black = Some(floor.material.as_str());
        fit(&floor, 0, [Some(spool(WHITE)), None, Some(weighed(BLACK, 40)), Some(spool(WHITE))]);
        fit(&floor, 1, [Some(spool(WHITE)), None, None, None]);
        // Nobody said anything of these spools: the code and the colour do. What the shop does not know is of nothing.
        let slots = slots_are(&floor, 0, &[None, None, black, None]).await;
        let members = ["slot", "source", "vendorCode", "color", "remaining"].map(|member| slots[2][member].clone());
        assert_eq!(json!(members), json!([2, "printer", "GFA00", "#1b1b22", 400]), "{slots}");
        assert_eq!((&slots[1]["vendorCode"], &slots[0]["remaining"]), (&Value::Null, &Value::Null), "{slots}");
        slots_are(&floor, 1, &[None; 4]).await;

        for printer in 0..2 {
            floor.app.post(&floor.path(printer, "/maintenance"), &json!({"on": true, "note": "nozzle"})).await.expect(200);
        }
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "SLICED").await;
        let body = floor.app.get(&format!("/api/jobs/{job}/match")).await.expect(200);
        let of = |n: usize| {
            let mut all = body["printers"].as_array().unwrap().iter();
            all.find(|one| one["printerId"] == floor.printers[n]).unwrap()
        };
        let from = json!([{"materialId": black, "need": 10, "slot": 2, "remaining": 400, "loaded": true}]);
        assert_eq!((&of(0)["fits"], &of(0)["slots"]), (&json!(true), &from), "{body}");
        let reason = json!("PLA black is not loaded");
        assert_eq!((&of(1)["fits"], &of(1)["missing"][0]), (&json!(false), &reason), "{body}");
        for printer in 0..2 {
            floor.app.post(&floor.path(printer, "/maintenance"), &json!({"on": false})).await.expect(200);
        }
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 0));
        let bambu = Bambu::of(&floor.sim(0).handle).unwrap();
        assert_eq!(bambu.last_start(), Some(("Metadata/plate_1.gcode".to_owned(), vec![2])), "from the tray that was matched");

        // The printer weighs its spool: nothing is left. A new one at the other printer is known at once.
        fit(&floor, 0, [Some(spool(WHITE)), None, Some(weighed(BLACK, 0)), Some(spool(WHITE))]);
        until_seen("the empty spool to be shown", || async {
            let slots = floor.app.get(&floor.path(0, "")).await.expect(200)["slots"].clone();
            if slots[2]["remaining"] == 0 { Ok(()) } else { Err(slots) }
        })
        .await;
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        let reason = words(&waits, "waitingReason");
        assert!(reason.contains("needs a fuller spool of PLA black (0 g left, 10 g needed)"), "{reason}");
        fit(&floor, 1, [Some(spool(WHITE)), Some(spool(BLACK)), None, None]);
        slots_are(&floor, 1, &[None, black, None, None]).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 1));
        floor.truth().await;
    }

    async fn a_code_that_is_given_to_a_material_later_binds_the_spools_that_are_there(db: Db) {
        let hardly_ever = ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "600");
        let floor = Floor::on(db, PrinterKind::MqttLan, 2, FAST, &[JUDGE_LATE, hardly_ever]).await;
        let black = Some(floor.material.as_str());
        fit(&floor, 0, [Some(spool(WHITE)), None, Some(weighed(BLACK, 40)), None]);
        fit(&floor, 1, [Some(spool(WHITE)), None, None, None]);
        for printer in 0..2 {
            slots_are(&floor, printer, &[None; 4]).await;
        }
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        let why = words(&waits, "waitingReason");
        assert!(why.contains("PLA black loaded") || why.contains("that it is PLA black"), "{waits}");
        // Nothing changes at the printers, and nobody comes by there for minutes.
        coded(&floor, "GFA00", "#1B1B22").await;
        let slots = slots_are(&floor, 0, &[None, None, black, None]).await;
        assert_eq!(slots[2]["remaining"], 400, "{slots}");
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 0));
        let white = floor.app.material("PLA white", 100.0).await;
        let words = json!({"vendorCode": "GFA00", "color": "#F4F1E6"});
        floor.app.patch(&format!("/api/inventory/materials/{white}"), &words).await.expect(200);
        slots_are(&floor, 0, &[Some(&white), None, black, None]).await;
        slots_are(&floor, 1, &[Some(&white), None, None, None]).await;
        floor.truth().await;
    }

    async fn a_gate_is_known_by_the_vendors_code_of_a_material(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        coded(&floor, "Acme PLA Black", "#FF0000").await;
        let gate = |name: &str| FilamentGate::filled("Acme", "PLA", name, [1.0, 0.0, 0.0]);
        floor.sim(0).handle.with(|machine| machine.set_gates(vec![gate("Black"), gate("Red")]));
        slots_are(&floor, 0, &[Some(&floor.material), None]).await;
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        // The same code in another colour is another spool.
        let other = FilamentGate { color: [0.0; 3], ..gate("Black") };
        floor.sim(0).handle.with(|machine| machine.set_gates(vec![other, gate("Red")]));
        slots_are(&floor, 0, &[None, None]).await;
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        let why = words(&waits, "waitingReason");
        assert!(why.contains("PLA black loaded") || why.contains("that it is PLA black"), "{waits}");
        floor.app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        floor.truth().await;
    }
}
