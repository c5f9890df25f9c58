//! The print farm interface: its printers are listed and imported, subject to the rules of every registration.

use serde_json::json;
use simulator::peers::ResponseMode;
use simulator::peers::farm_ui::SimFarmUi;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::quick;
use crate::support::{Db, on_sqlite};

const PRINTERS: &str = "/api/integrations/farm_ui/printers";
const IMPORT: &str = "/api/integrations/farm_ui/import";

on_sqlite! {
    async fn its_printers_are_shown_and_taken_over(db: Db) {
        let farm = SimFarmUi::start(Some("farm-key")).await.unwrap();
        let fleet = Fleet::start(FleetOptions { speed: 1.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 2) });
        let fleet = fleet.await.unwrap();
        for (name, sim) in ["Left", "Right"].iter().zip(&fleet.printers) {
            farm.add(json!({"name": name, "printerURL": sim.base_url, "printerType": 1, "apiKey": sim.api_key, "enabled": true}));
        }
        farm.add(json!({"name": "Resting", "printerURL": "http://127.0.0.1:9", "printerType": 1, "enabled": false}));
        farm.add(json!({"name": "Strange", "printerURL": "http://127.0.0.1:8", "printerType": 77, "enabled": true}));
        let app = quick(db).env("FARM_UI_URL", farm.url()).env("FARM_UI_TOKEN", "farm-key").start().await;
        app.printer(&fleet.printers[0]).await;

        let body = app.get(PRINTERS).await.expect(200);
        let printers = body["printers"].as_array().unwrap();
        assert_eq!(printers.len(), 4);
        assert!(printers[0]["printerId"].is_string() && printers[1]["printerId"].is_null(), "{printers:?}");
        assert_eq!((&printers[1]["type"], &printers[1]["name"]), (&json!("fw_rest"), &json!("Right")));
        assert!(printers[3]["problem"].as_str().unwrap().contains("77"));

        let done = app.post(IMPORT, &json!({"machineType": "fdm_standard"})).await.expect(200);
        assert_eq!(done["imported"].as_array().unwrap().len(), 1, "{done}");
        assert_eq!(done["imported"][0]["name"], "Right");
        assert_eq!(done["skipped"][0]["name"], "Strange");
        let printer = done["imported"][0]["printerId"].as_str().unwrap();
        assert_eq!(app.get(&format!("/api/printers/{printer}")).await.expect(200)["name"], "Right");
        // Named ones are taken whatever they are; what is registered is not registered twice.
        let some = json!({"machineType": "fdm_standard", "ids": ["1", "3", "99"]});
        let done = app.post(IMPORT, &some).await.expect(200);
        assert_eq!(done["imported"][0]["name"], "Resting", "{done}");
        assert_eq!(done["skipped"].as_array().unwrap().len(), 2, "{done}");
    }
}

// It lists printers that are reached by their serial number with a web address.
#[tokio::test]
async fn printers_that_are_reached_by_their_serial_number_are_taken_over_with_the_address_of_their_own_protocol() {
    let farm = SimFarmUi::start(Some("farm-key")).await.unwrap();
    for (url, serial) in [
        ("http://127.0.0.1", "01S00A0000001"),
        ("https://printer.invalid:443/", "01S00A0000002"),
        ("mqtts://[::1]:9999", "01S00A0000003"),
    ] {
        farm.add(json!({
            "name": serial, "printerURL": url, "printerType": 3, "username": serial, "password": "12345678",
            "enabled": true,
        }));
    }
    let app = quick(Db::sqlite()).env("FARM_UI_URL", farm.url()).env("FARM_UI_TOKEN", "farm-key").start().await;
    let body = app.get(PRINTERS).await.expect(200);
    let printers = body["printers"].as_array().unwrap();
    assert!(printers.iter().all(|printer| printer["problem"].is_null()), "{printers:?}");
    let addresses: Vec<_> = printers.iter().map(|printer| printer["baseUrl"].as_str().unwrap()).collect();
    assert_eq!(addresses, ["mqtts://127.0.0.1", "mqtts://printer.invalid", "mqtts://[::1]:9999"]);
    let done = app.post(IMPORT, &json!({"machineType": "fdm_standard", "ids": ["1"]})).await.expect(200);
    assert_eq!(done["skipped"], json!([]), "{done}");
    let id = done["imported"][0]["printerId"].as_str().unwrap();
    let printer = app.get(&format!("/api/printers/{id}")).await.expect(200);
    let registered = (&printer["type"], &printer["baseUrl"], &printer["serial"]);
    assert_eq!(registered, (&json!("mqtt_lan"), &json!("mqtts://127.0.0.1"), &json!("01S00A0000001")));
    let again = app.get(PRINTERS).await.expect(200);
    assert_eq!(again["printers"][0]["printerId"], id, "{again}");
}

#[tokio::test]
async fn what_is_wrong_with_it_is_said() {
    let off = quick(Db::sqlite()).start().await;
    assert_eq!(off.get(PRINTERS).await.error(409), "farm_ui_off");
    let farm = SimFarmUi::start(Some("farm-key")).await.unwrap();
    let app = quick(Db::sqlite()).env("FARM_UI_URL", farm.url()).env("FARM_UI_TOKEN", "other").start().await;
    let refused = app.get(PRINTERS).await;
    assert!(
        refused.text.contains("rejects the API key") || refused.text.contains("several failures in a row"),
        "{}",
        refused.text
    );
    assert_eq!(refused.error(502), "farm_ui_failed");
    farm.set_mood(ResponseMode::Status(500));
    assert_eq!(app.post(IMPORT, &json!({"machineType": "fdm_standard"})).await.error(502), "farm_ui_failed");
}
