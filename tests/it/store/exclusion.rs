//! Races between deletion and use: if one caller deletes what another starts to use, they never both succeed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{App, Client, on_both};

/// Number of runs of each race on each database.
const RACES: usize = 60;

/// Outcome of a race: the statuses of the deletion and of the use.
type Outcome = (u16, u16);

/// Sends a deletion and a use concurrently; the use is sent first in every other race.
async fn race(app: &Client, n: usize, gone: &str, uses: (&str, &str, Value)) -> Outcome {
    let (method, path, body) = uses;
    let delete = app.delete(gone);
    let begin = async {
        match method {
            "PATCH" => app.patch(path, &body).await,
            _ => app.post(path, &body).await,
        }
    };
    let (deleted, used) = if n.is_multiple_of(2) {
        tokio::join!(delete, begin)
    } else {
        let (used, deleted) = tokio::join!(begin, delete);
        (deleted, used)
    };
    (deleted.status, used.status)
}

/// Checks that in each race exactly one of the two succeeded, and that the other was refused with the expected status.
fn excluded(what: &str, outcomes: &[Outcome]) {
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    outcomes.iter().for_each(|outcome| *counts.entry(*outcome).or_default() += 1);
    let fine = |(deleted, used): &Outcome| matches!((*deleted, *used), (204, 400) | (409, 200 | 201));
    assert!(counts.keys().all(fine), "{what}: deletion and use: {counts:?}");
    assert_eq!(outcomes.len(), RACES);
}

on_both! {
    async fn delete_and_use_exclude_each_other(db: Db) {
        let app = App::new(db).await;
        let spare = app.material("spare", 100.0).await;
        let file = app.gcode("spare", 60, 1.0).await;
        let (mut files, mut materials, mut skus) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..RACES {
            let sku = app.sku(&format!("F-{n}"), &spare, &file, 100).await;
            let raced = app.gcode(&format!("raced-{n}"), 60, 1.0).await;
            let uses = ("PATCH", &*format!("/api/skus/{sku}"), json!({"gcodeFileId": raced}));
            files.push(race(&app, n, &format!("/api/files/{raced}"), uses).await);

            let raced = app.material(&format!("raced-{n}"), 100.0).await;
            let uses = ("PATCH", &*format!("/api/skus/{sku}"), json!({"materialId": raced}));
            materials.push(race(&app, n, &format!("/api/inventory/materials/{raced}"), uses).await);

            let order = json!({"lines": [{"skuId": sku, "quantity": 1}]});
            skus.push(race(&app, n, &format!("/api/skus/{sku}"), ("POST", "/api/orders", order)).await);
        }
        excluded("file and SKU", &files);
        excluded("material and SKU", &materials);
        excluded("SKU and order", &skus);
    }

    async fn a_material_is_not_deleted_while_it_is_loaded(db: Db) {
        let app = App::new(db).await;
        let body = json!({
            "name": "left", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://127.0.0.1:9", "apiKey": "",
            "buildVolume": {"x": 220, "y": 220, "z": 250},
        });
        let answer = app.post("/api/printers", &body).await.expect(201);
        let printer = format!("/api/printers/{}", answer["id"].as_str().unwrap());
        let mut outcomes = Vec::new();
        for n in 0..RACES {
            let raced = app.material(&format!("raced-{n}"), 100.0).await;
            let path = format!("/api/inventory/materials/{raced}");
            outcomes.push(race(&app, n, &path, ("PATCH", &printer, json!({"loadedMaterialId": raced}))).await);
        }
        excluded("material and printer", &outcomes);
        // Unloaded, it may go.
        let last = app.material("last", 100.0).await;
        let path = format!("/api/inventory/materials/{last}");
        app.patch(&printer, &json!({"loadedMaterialId": last})).await.expect(200);
        assert_eq!(app.delete(&path).await.error(409), "material_in_use");
        app.patch(&printer, &json!({"loadedMaterialId": null})).await.expect(200);
        assert_eq!(app.delete(&path).await.status, 204);
    }
}
