//! Slots: the location of spools decides which printer takes a job, and prints consume the spools.

use printfloor::domain::file::GcodeForm;
use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::bambu::setup::{Ams, Tray};
use simulator::faults::SlowUpload;
use simulator::printer::{FilamentGate, PhysicalEvent};

use super::files::printable_of_several;
use super::{FAST, Floor, GRAMS, JUDGE_LATE, PrinterKind, maps_slots, prints, register, slot_label, words};
use crate::support::{Db, on_sqlite, until};

/// Starts printers that do not clear their beds, each with these slots, given by material and remaining amount in
/// grams.
async fn floor(db: Db, kind: PrinterKind, printers: &[&[(&str, Option<f64>)]]) -> (Floor, String) {
    let mut floor = Floor::empty(db, kind, printers.len(), FAST, &[JUDGE_LATE]).await;
    let other = floor.app.material("PETG white", 1000.0).await;
    for (n, slots) in printers.iter().enumerate() {
        if slots.len() > 1 {
            fit_changer(&floor, n, slots.len());
        }
        let printer = register(&floor.app, floor.sim(n), json!({})).await;
        floor.printers.push(printer);
        floor.connection_is(n, "connected").await;
        floor.recorded(n).await;
        for (slot, (word, left)) in slots.iter().enumerate() {
            let material = match *word {
                "black" => json!(floor.material),
                "white" => json!(other),
                // What a printer reports and nobody binds is unknown.
                _ if slots.len() > 1 && reports_slots(kind) => continue,
                _ => Value::Null,
            };
            if slots.len() > 1 {
                reported(&floor, n, slot).await;
            }
            load(&floor, n, slot, json!({"materialId": material, "remaining": left})).await;
        }
    }
    (floor, other)
}

/// Returns whether printers of a kind report what is in their changers.
pub fn reports_slots(kind: PrinterKind) -> bool {
    matches!(kind, PrinterKind::MqttLan | PrinterKind::FwRest)
}

/// Fits a changer with this many spools, whose colours are unique in the hall, to a printer that reports them.
pub fn fit_changer(floor: &Floor, printer: usize, spools: usize) {
    let sim = &floor.sim(printer).handle;
    let shade = |slot: usize| (10 * printer + slot + 1) as u8;
    if let Some(bambu) = Bambu::of(sim) {
        let tray = |slot: usize| Tray { tray_color: format!("{:02X}4040FF", shade(slot)), ..Tray::default() };
        let trays = std::array::from_fn(|slot| (slot < spools).then(|| tray(slot)));
        bambu.change(|setup| setup.ams = vec![Ams { trays }]);
    } else if floor.sim(printer).kind == PrinterKind::FwRest {
        let gate = |slot| FilamentGate::filled("Acme", "PLA", &format!("Shade {}", shade(slot)), [0.5, 0.5, 0.5]);
        sim.with(|machine| machine.set_gates((0..spools).map(gate).collect()));
    }
}

/// Waits until a printer has reported this slot; returns at once for types that report none.
pub async fn reported(floor: &Floor, printer: usize, slot: usize) {
    if !reports_slots(floor.sim(printer).kind) {
        return;
    }
    until("the slot to be reported", || async {
        let view = floor.app.get(&floor.path(printer, "")).await.expect(200);
        view["slots"][slot]["vendorCode"].is_string().then_some(())
    })
    .await;
}

/// Returns the slots that physically fed the tools of each print, in the order of the prints.
pub fn fed(floor: &Floor, printer: usize) -> Vec<Vec<(u32, i64)>> {
    let log = floor.sim(printer).handle.log().into_iter();
    log.filter_map(|entry| match entry.what {
        PhysicalEvent::Fed { slots, .. } => Some(slots),
        _ => None,
    })
    .collect()
}

pub async fn load(floor: &Floor, printer: usize, slot: usize, spool: Value) -> Value {
    floor.app.post(&floor.path(printer, &format!("/slots/{slot}")), &spool).await.expect(200)
}

/// Returns what a printer lacks for a job of one part.
async fn missing(floor: &Floor, job: &str, printer: usize) -> Value {
    let comparison = floor.app.get(&format!("/api/jobs/{job}/match")).await.expect(200);
    let of_it = |one: &&Value| one["printerId"] == floor.printers[printer];
    comparison["printers"].as_array().unwrap().iter().find(of_it).unwrap()["missing"].clone()
}

/// Changes the floor's SKU to a file with two filaments: black (10 g) and white (3.5 g).
async fn two_colours(floor: &Floor, white: &str) -> Value {
    let (name, content) = printable_of_several(floor.sim(0).kind, "two", &[(GRAMS, "#1b1b22"), (3.5, "#f4f1e6")]);
    let file = floor.app.upload(&name, content).await.expect(201);
    assert_eq!(file["plates"][0]["filaments"][1]["grams"], 3.5, "{file}");
    let two = json!({
        "gcodeFileId": file["id"],
        "materials": [{"materialId": white, "estimatedConsumption": 3.5, "filament": 1}],
    });
    let sku = floor.app.patch(&format!("/api/skus/{}", floor.sku), &two).await.expect(200);
    assert_eq!((&sku["materials"], &sku["plate"]), (&two["materials"], &json!(1)));
    sku
}

async fn left(floor: &Floor, printer: usize) -> Vec<Value> {
    let view = floor.app.get(&floor.path(printer, "")).await.expect(200);
    view["slots"].as_array().unwrap().iter().map(|slot| slot["remaining"].clone()).collect()
}

async fn stock(floor: &Floor, material: &str) -> Value {
    floor.app.get(&format!("/api/inventory/materials/{material}")).await.expect(200)
}

async fn two_materials(db: Db, kind: PrinterKind) {
    let mapped = maps_slots(kind);
    // The file takes black from its first tool, and white from its second.
    let own: &[(&str, Option<f64>)] = &[("black", Some(100.0)), ("white", Some(500.0))];
    let turned: &[(&str, Option<f64>)] = &[("white", Some(500.0)), ("nobody knows", None), ("black", Some(100.0))];
    let last = if mapped { turned } else { own };
    let spools: [&[(&str, Option<f64>)]; 3] = [&[("black", None)], &[("white", None), ("nobody knows", None)], last];
    let (floor, white) = floor(db, kind, &spools).await;
    two_colours(&floor, &white).await;
    let (order, job) = floor.one().await;
    floor.app.order_is(&order, "ready").await;
    let job = floor.job(&job).await;
    assert_eq!(job["printerId"], floor.printers[2], "{job}");
    let needs = job["needs"].as_array().unwrap();
    let of = |material: &str| needs.iter().find(|need| need["materialId"] == material).unwrap();
    assert_eq!((&of(&floor.material)["need"], &of(&white)["need"]), (&json!(10), &json!(3.5)), "{job}");
    assert_eq!((&of(&white)["consumed"], &job["consumed"]), (&json!(3.5), &json!(10)), "{job}");
    assert_eq!([floor.started(0), floor.started(1), floor.started(2)], [0, 0, 1]);
    let left = left(&floor, 2).await;
    if mapped {
        assert_eq!(left[..3], [json!(496.5), Value::Null, json!(90)], "as much as the print took");
        assert_eq!(fed(&floor, 2), [[(0, 2), (1, 0)]], "each tool from the slot of its colour");
    } else {
        assert_eq!(left, [json!(90), json!(496.5)], "as much as the print took");
    }
    if kind == PrinterKind::FwRest {
        assert_eq!(fed(&floor, 2), [[(0, 0), (1, 1)]]);
    }
    floor.truth().await;
    floor.app.ledger_is_even(&white).await;
    assert_eq!(stock(&floor, &white).await["quantity"], 996.5);
}

each_kind! {
    async fn colours_in_exchanged_slots_are_mapped_or_waited_for(kind: PrinterKind) {
        let exchanged: &[(&str, Option<f64>)] = &[("white", None), ("black", None)];
        let (floor, white) = floor(Db::sqlite(), kind, &[exchanged]).await;
        two_colours(&floor, &white).await;
        let (order, job) = floor.one().await;
        if maps_slots(kind) {
            floor.app.order_is(&order, "ready").await;
            assert_eq!(fed(&floor, 0), [[(0, 1), (1, 0)]]);
            floor.truth().await;
            return;
        }
        // Both are there, and would come out exchanged.
        let waits = floor.app.job_is(&job, "SLICED").await;
        let [first, second] = [0, 1].map(|slot| slot_label(kind, slot));
        let of = |material: &str, slot: &str| format!("{material} is not in slot {slot}, the only place this file can take it from");
        let mut reasons = missing(&floor, &job, 0).await;
        reasons.as_array_mut().unwrap().sort_by_key(ToString::to_string);
        assert_eq!(reasons, json!([of("PETG white", &second), of("PLA black", &first)]), "{waits}");
        let reason = words(&waits, "waitingReason");
        for (material, slot) in [("PLA black", &first), ("PETG white", &second)] {
            assert!(reason.contains(&format!("{material} in slot {slot}")), "{reason}");
        }
        assert_eq!(floor.started(0), 0);
        // A person exchanges them.
        load(&floor, 0, 0, json!({"materialId": floor.material})).await;
        load(&floor, 0, 1, json!({"materialId": white})).await;
        floor.app.order_is(&order, "ready").await;
        if reports_slots(kind) {
            assert_eq!(fed(&floor, 0), [[(0, 0), (1, 1)]]);
        }
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    #[drawn]
    async fn a_job_of_two_materials_goes_where_both_are_and_uses_both_spools_up(kind: PrinterKind) {
        two_materials(Db::sqlite(), kind).await;
    }

    #[drawn]
    async fn nozzle_and_build_plate_are_those_that_the_file_was_sliced_for(kind: PrinterKind, db: Db) {
        let (floor, _) = floor(db, kind, &[&[("black", None)], &[("black", None)], &[("black", None)]]).await;
        let change = |n: usize, fields: Value| {
            let path = floor.path(n, "");
            let app = &floor.app;
            async move { app.patch(&path, &fields).await.expect(200) }
        };
        // The file was sliced for a nozzle of 0.4 mm, and says nothing of a plate.
        change(0, json!({"nozzle": {"diameter": 0.6, "kind": "hardened steel"}})).await;
        let view = change(1, json!({"nozzle": {"diameter": 0.4}, "plateType": "Cool Plate"})).await;
        let nozzle = json!({"diameter": 0.4, "kind": null});
        assert_eq!((&view["nozzle"], &view["plateType"]), (&nozzle, &json!("Cool Plate")));
        change(2, json!({"nozzle": {"diameter": 0.8, "kind": null}})).await;
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!([floor.started(0), floor.started(1), floor.started(2)], [0, 1, 0]);
        let refused = floor.app.patch(&floor.path(0, ""), &json!({"nozzle": {"diameter": 0}})).await.expect(400);
        assert_eq!(refused["errors"][0]["path"], "nozzle.diameter", "{refused}");
        floor.truth().await;
    }

    #[drawn]
    async fn a_file_goes_to_the_model_that_it_was_sliced_for(kind: PrinterKind) {
        let (floor, _) = floor(Db::sqlite(), kind, &[&[("black", None)], &[("black", None)]]).await;
        for (n, model) in ["MINI", "mk4"].into_iter().enumerate() {
            let view = floor.app.patch(&floor.path(n, ""), &json!({"model": model})).await.expect(200);
            assert_eq!(view["model"], model);
        }
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        // Packages of this simulator do not say for which model they are: then any is right, and the first has been
        // idle longer.
        let is_said = prints(kind, GcodeForm::Text);
        assert_eq!((floor.started(0), floor.started(1)), if is_said { (0, 1) } else { (1, 0) });
        // One that still has the job in hand says so, too.
        floor.free(0).await;
        let reasons = if is_said { json!(["its model is MINI, but the file was sliced for MK4"]) } else { json!([]) };
        assert_eq!(missing(&floor, &job, 0).await, reasons);
        floor.truth().await;
    }

    #[drawn]
    async fn a_job_waits_for_its_second_material_names_who_holds_it_and_keeps_the_first(kind: PrinterKind, db: Db) {
        let (floor, white) = floor(db, kind, &[&[("nobody knows", None)]]).await;
        // Nothing is printed: one slot, two materials.
        let two = |grams: f64| json!({"materials": [{"materialId": white, "estimatedConsumption": grams, "filament": 1}]});
        floor.app.patch(&format!("/api/skus/{}", floor.sku), &two(700.0)).await.expect(200);
        let (_, first) = floor.one().await;
        let first = floor.app.job_is(&first, "SLICED").await;
        assert_eq!(first["reserved"], true, "{first}");
        let (order, second) = floor.one().await;
        let waits = floor.app.job_is(&second, "awaiting_manual_review").await;
        let reason = words(&waits, "waitingReason");
        let expected = format!("Needs 700 g of PETG white, 300 g free; held by {}.", first["number"].as_str().unwrap());
        assert_eq!(reason, expected);
        let held: Vec<&Value> = waits["needs"].as_array().unwrap().iter().map(|need| &need["reserved"]).collect();
        assert_eq!((held, &waits["reserved"]), (vec![&json!(true), &json!(false)], &json!(false)), "{waits}");
        assert_eq!(stock(&floor, &floor.material).await["reserved"], 2.0 * GRAMS, "what is held stays held");
        // A count takes one of the two claims of the first job away; the other job keeps its first.
        floor.app.patch(&format!("/api/inventory/materials/{white}"), &json!({"quantity": 600})).await.expect(200);
        let number = first["id"].as_str().unwrap();
        floor.app.job_is(number, "awaiting_manual_review").await;
        floor.app.post(&format!("/api/inventory/materials/{white}/adjustments"), &json!({"delta": 1400, "reason": "new spool"})).await.expect(200);
        for job in [number, &second] {
            floor.app.job_is(job, "SLICED").await;
        }
        floor.app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        let first_order = first["orderId"].as_str().unwrap();
        floor.app.act(&format!("/api/orders/{first_order}/cancel")).await.expect(200);
        floor.truth().await;
        floor.app.ledger_is_even(&white).await;
    }
}

/// Waits until a printer shows these slots, given by vendor code and material.
async fn slots_are(floor: &Floor, printer: usize, expected: Value) -> Value {
    until(&format!("the slots to be {expected}"), || async {
        let slots = floor.app.get(&floor.path(printer, "")).await.expect(200)["slots"].clone();
        let codes = slots.as_array().unwrap().iter().map(|slot| json!([slot["vendorCode"], slot["materialId"]]));
        (codes.collect::<Vec<_>>() == *expected.as_array().unwrap()).then_some(slots)
    })
    .await
}

on_sqlite! {
    async fn spools_that_a_printer_reports_are_bound_by_a_person_once_and_matched(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE]).await;
        let black = || FilamentGate::filled("Acme", "PLA", "Black", [0.1, 0.1, 0.1]);
        let red = || FilamentGate::filled("Acme", "PLA", "Red", [1.0, 0.0, 0.0]);
        let fit = |printer: usize, gates: Vec<FilamentGate>| floor.sim(printer).handle.with(|machine| machine.set_gates(gates));
        let [code, other] = ["Acme PLA Black", "Acme PLA Red"];
        let empty = || FilamentGate { filled: Some(false), ..FilamentGate::default() };
        fit(0, vec![black(), empty(), red()]);
        fit(1, vec![red(), red()]);
        let slots = slots_are(&floor, 0, json!([[code, null], [null, null], [other, null]])).await;
        assert_eq!((&slots[2]["source"], &slots[2]["color"]), (&json!("printer"), &json!("#ff0000")), "{slots}");
        slots_are(&floor, 1, json!([[other, null], [other, null]])).await;
        // Of which material they are nobody has said: on a printer of several slots that fits nothing.
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        let why = words(&waits, "waitingReason");
        assert!(why.contains("PLA black loaded") || why.contains("that it is PLA black"), "{waits}");
        load(&floor, 0, 0, json!({"materialId": floor.material})).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 0));
        // The same spool is known from now on: at another printer, and back after another one.
        fit(1, vec![black()]);
        slots_are(&floor, 1, json!([[code, floor.material]])).await;
        fit(0, vec![red(), red(), red()]);
        slots_are(&floor, 0, json!([[other, null], [other, null], [other, null]])).await;
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 1));
        fit(0, vec![black()]);
        slots_are(&floor, 0, json!([[code, floor.material]])).await;
        floor.truth().await;
    }

    async fn spools_of_two_materials_are_used_up(db: Db) {
        two_materials(db, PrinterKind::FwRest).await;
    }

    async fn a_job_that_fits_no_printer_says_what_is_missing_on_each_and_goes_on_after_a_swap(db: Db) {
        let (floor, white) = floor(db, PrinterKind::FwRest, &[&[("white", None)], &[("black", Some(GRAMS - 1.0))]]).await;
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        let causes = waits["waitingCauses"].as_array().unwrap();
        assert!(causes.iter().all(|cause| cause["materialIds"] == json!([floor.material])), "{waits}");
        let mut codes: Vec<&str> = causes.iter().map(|cause| words(cause, "code")).collect();
        codes.sort_unstable();
        assert_eq!(codes, ["material_not_loaded", "spool_runs_out"], "{waits}");
        let reason = words(&waits, "waitingReason");
        let names = [&floor.sim(0).serial, &floor.sim(1).serial];
        assert!(reason.contains(&format!("{} needs PLA black loaded", names[0])), "{reason}");
        assert!(reason.contains(&format!("{} needs a fuller spool of PLA black (9 g left, 10 g needed)", names[1])), "{reason}");
        let body = floor.app.get(&format!("/api/jobs/{job}/match")).await.expect(200);
        assert_eq!((&body["possible"], &body["waitingReason"]), (&json!(false), &waits["waitingReason"]), "{body}");
        let of = |n: usize| {
            let mut all = body["printers"].as_array().unwrap().iter();
            all.find(|one| one["printerId"] == floor.printers[n]).unwrap().clone()
        };
        assert_eq!(of(0)["missing"], json!(["PLA black is not loaded"]), "{body}");
        assert_eq!((&of(1)["fits"], &of(1)["ready"]), (&json!(false), &json!(true)), "{body}");
        // One call swaps the spool; its material cannot be deleted as long as it is in a slot.
        let swapped = load(&floor, 0, 0, json!({"materialId": floor.material, "color": "#101010", "remaining": 250})).await;
        assert_eq!(swapped["loadedMaterialId"], json!(floor.material), "{swapped}");
        assert_eq!((&swapped["slots"][0]["source"], &swapped["slots"][0]["color"]), (&json!("manual"), &json!("#101010")));
        floor.app.order_is(&order, "ready").await;
        assert_eq!((floor.started(0), floor.started(1)), (1, 0));
        assert_eq!(left(&floor, 0).await, [json!(240)]);
        floor.app.delete(&format!("/api/inventory/materials/{white}")).await.expect(204);
        let gone = json!({"materialId": white});
        let refused = floor.app.post(&floor.path(0, "/slots/1"), &gone).await.expect(400);
        assert_eq!(refused["errors"][0]["path"], "materialId", "{refused}");
        let orange = floor.app.material("PLA orange", 5.0).await;
        load(&floor, 0, 1, json!({"materialId": orange})).await;
        assert_eq!(floor.app.delete(&format!("/api/inventory/materials/{orange}")).await.error(409), "material_in_use");
        floor.app.delete(&floor.path(0, "/slots/1")).await.expect(200);
        floor.app.delete(&format!("/api/inventory/materials/{orange}")).await.expect(204);
        assert_eq!(floor.app.delete(&floor.path(0, "/slots/0")).await.error(409), "last_slot");
        assert_eq!(floor.app.delete(&floor.path(0, "/slots/7")).await.error(404), "slot_not_found");
        floor.truth().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_chosen_from_a_changer_that_goes_away_is_not_printed_from_the_spool_beside_it() {
    let spools: &[(&str, Option<f64>)] = &[("white", None), ("black", None)];
    let (floor, _) = floor(Db::sqlite(), PrinterKind::MqttLan, &[spools]).await;
    let bambu = Bambu::of(&floor.sim(0).handle).unwrap();
    let fitted = bambu.setup().ams;
    let file = floor.big_file("big", 200_000).await;
    let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
    for (n, gone) in [true, false].into_iter().enumerate() {
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 10_000 }));
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        floor.attempt_is(&job, "uploading").await;
        // While the file is on its way the changer is unplugged, or the spool is swapped for one that nobody knows.
        bambu.change(|setup| {
            if gone {
                setup.ams.clear();
            } else if let Some(tray) = &mut setup.ams[0].trays[1] {
                tray.tray_color = "00FF00FF".to_owned();
            }
        });
        floor.wait_for_poll(0).await;
        floor.faults(0, |faults| faults.slow_upload = None);
        let given_back = |job: &Value| job["attempts"][0]["endedAt"].is_string();
        let back = floor.job_until("the attempt to be given back", &job, given_back).await;
        let why = words(&back["attempts"][0], "reason");
        let expected = if gone { "slot A2 of the filament changer is gone" } else { "slot A2 " };
        assert!(why.contains(expected), "{back}");
        assert_eq!(floor.started(0), n, "neither from the changer nor from beside it");
        bambu.change(|setup| setup.ams.clone_from(&fitted));
        floor.app.act(&floor.path(0, "/clear-attention")).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(fed(&floor, 0)[n], [(0, 1)]);
    }
    floor.truth().await;
}
