//! Slots that supply the filament for a manual print: those that the operator chooses, otherwise those that match with
//! certainty.

use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::bambu::setup::{Ams, Tray};
use simulator::printer::PhysicalEvent;

use super::slots::fed;
use super::{FAST, Floor, JUDGE_LATE, PrinterKind};
use crate::support::until;

/// Colour of the filament in a package, as hexadecimal RGBA.
const COLOR: &str = "FF7A1AFF";

#[expect(clippy::unnecessary_wraps, reason = "it stands where a place may be empty")]
fn tray(kind: &str, color: &str) -> Option<Tray> {
    Some(Tray { tray_type: kind.into(), tray_color: color.into(), tray_info_idx: kind.into(), ..Tray::default() })
}

/// Changes the spools, and waits until the printer has reported them.
async fn fit(floor: &Floor, trays: [Option<Tray>; 4], external: Option<Tray>) {
    let color = |tray: &Tray| json!(format!("#{}", tray.tray_color[..6].to_ascii_lowercase()));
    let colors: Vec<Value> = trays.iter().map(|tray| tray.as_ref().map_or(Value::Null, color)).collect();
    let bambu = Bambu::of(&floor.sim(0).handle).unwrap();
    bambu.change(|setup| (setup.ams, setup.external) = (vec![Ams { trays }], external));
    until("the spools to be reported", || async {
        let slots = floor.app.get(&floor.path(0, "")).await.expect(200);
        let slots: Vec<Value> = slots["slots"].as_array().unwrap().iter().map(|slot| slot["color"].clone()).collect();
        (slots == colors).then_some(())
    })
    .await;
}

/// Prints a file manually to the end; returns the slot that fed each tool.
async fn printed(floor: &Floor, body: &Value) -> Vec<(u32, i64)> {
    let done = floor.finished(0);
    floor.app.post(&floor.path(0, "/print"), body).await.expect(200);
    until("it to be done", || async { (floor.finished(0) == done + 1).then_some(()) }).await;
    floor.status_until("it to be idle", 0, |status| status["state"] == "idle").await;
    floor.attention(0, "foreign_print", false).await;
    fed(floor, 0).last().unwrap().clone()
}

fn uploads(floor: &Floor) -> usize {
    floor.count(0, |what| matches!(what, PhysicalEvent::Uploaded { .. }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_changer_is_printed_from_although_nothing_feeds_the_nozzle() {
    let floor = Floor::new(PrinterKind::MqttLan, 1, FAST, &[JUDGE_LATE]).await;
    let file = floor.file("by hand", 60, 1.0).await;
    fit(&floor, [tray("PETG", "1B1B22FF"), tray("PETG", COLOR), tray("PLA", COLOR), None], tray("PETG", COLOR)).await;
    assert_eq!(printed(&floor, &json!({"fileId": file})).await, [(0, 1)], "its plastic and its colour");
    for named in [0, 254] {
        assert_eq!(printed(&floor, &json!({"fileId": file, "slots": [named]})).await, [(0, named)], "as it is said");
    }
    fit(&floor, [None, None, tray("PETG", "1B1B22FF"), None], None).await;
    assert_eq!(printed(&floor, &json!({"fileId": file})).await, [(0, 2)], "the only spool");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_certain_is_refused_with_words_before_anything_is_uploaded() {
    let floor = Floor::new(PrinterKind::MqttLan, 1, FAST, &[JUDGE_LATE]).await;
    let file = floor.file("by hand", 60, 1.0).await;
    let path = floor.path(0, "/print");
    fit(&floor, [tray("PETG", "1B1B22FF"), tray("PETG", "F4F1E6FF"), None, None], None).await;
    let refused = floor.app.post(&path, &json!({"fileId": file})).await.expect(409);
    assert_eq!(refused["code"], "no_slot", "{refused}");
    let words = refused["message"].as_str().unwrap();
    for part in
        ["needs PETG #ff7a1a", "slot A1 contains PETG #1b1b22", "slot A2 contains PETG #f4f1e6", "specify a slot"]
    {
        assert!(words.contains(part), "{words}");
    }
    for slots in [json!([9]), json!([0, 1])] {
        let refused = floor.app.post(&path, &json!({"fileId": file, "slots": slots})).await;
        assert_eq!(refused.error(409), "no_slot");
    }
    for slots in [json!([]), json!([-1]), json!("0"), json!(vec![0; 33])] {
        let refused = floor.app.post(&path, &json!({"fileId": file, "slots": slots})).await;
        assert_eq!(refused.error(400), "validation_failed");
    }
    assert_eq!((uploads(&floor), floor.started(0)), (0, 0));
    // Nothing holds the printer up: a person says what to take.
    assert_eq!(printed(&floor, &json!({"fileId": file, "slots": [1]})).await, [(0, 1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn printers_that_are_told_no_slots_refuse_them() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let file = floor.file("by hand", 60, 1.0).await;
    let refused = floor.app.post(&floor.path(0, "/print"), &json!({"fileId": file, "slots": [0]})).await;
    assert_eq!(refused.error(409), "unsupported_by_printer");
    assert_eq!((uploads(&floor), floor.started(0)), (0, 0));
    floor.app.post(&floor.path(0, "/print"), &json!({"fileId": file})).await.expect(200);
}
