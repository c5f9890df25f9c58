//! The catalogue.

use serde_json::{Value, json};

use super::{NOTHING, count, customer_of, id, paths};
use crate::support::{App, Db, on_both, on_sqlite, until};

fn sku(code: &str, material: &str) -> Value {
    json!({
        "code": code, "name": "Vase", "materialId": material, "estimatedConsumption": 12.5, "machineType": "fdm_large", "priceCents": 999,
    })
}

fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

on_sqlite! {
    async fn what_is_said_is_shown_and_the_rest_has_defaults(db: Db) {
        let app = App::new(db).await;
        let material = app.material("PLA", 100.0).await;
        let plain = app.post("/api/skus", &sku("Vase_01 / Blue", &material)).await.expect(201);
        let defaults = json!({
            "slug": "vase-01-blue", "currency": "usd", "unitsPerPlate": 1, "public": true, "active": true, "collections": [], "images": [],
            "description": null, "dimensions": null, "gcodeFileId": null, "estimatedConsumption": 12.5,
        });
        for (member, value) in defaults.as_object().unwrap() {
            assert_eq!(&plain[member], value, "{member} of {plain}");
        }
        let file = app.gcode("vase", 60, 1.0).await;
        let more = json!({
            "slug": "vase", "description": "A vase", "kind": "decor", "collections": ["home"], "dimensions": {"x": 10, "y": 20.5, "z": 30},
            "currency": "eur", "unitsPerPlate": 4, "gcodeFileId": file, "slicerProfile": "fine", "estimatedSeconds": 60, "images": ["a.png"],
            "public": false, "active": false,
        });
        let body = with(sku("VASE-2", &material), more);
        let entry = app.post("/api/skus", &body).await.expect(201);
        for (member, value) in body.as_object().unwrap() {
            let same = match value.as_object() {
                Some(axes) => axes.iter().all(|(axis, mm)| entry[member][axis].as_f64() == mm.as_f64()),
                None => &entry[member] == value,
            };
            assert!(same, "{member} of {entry}");
        }
        assert_eq!(app.get(&format!("/api/skus/{}", id(&entry))).await.expect(200), entry);
        for (query, total) in [("active=true", 1), ("public=false", 1), ("code=VASE-2", 1), ("slug=vase", 1), ("q=vase", 2), ("q=nothing", 0)] {
            assert_eq!(count(&app, &format!("/api/skus?{query}")).await, total, "{query}");
        }
        assert_eq!(count(&app, &format!("/api/skus?materialId={material}")).await, 2);
        assert_eq!(count(&app, &format!("/api/skus?materialId={NOTHING}")).await, 0);
    }

    async fn a_code_is_used_once(db: Db) {
        let app = App::new(db).await;
        let material = app.material("PLA", 100.0).await;
        let first = id(&app.post("/api/skus", &sku("VASE", &material)).await.expect(201));
        let cup = with(sku("CUP", &material), json!({"slug": "cup"}));
        let answers = futures::future::join_all((0..4).map(|_| app.post("/api/skus", &cup))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 409)), "{answers:?}");
        let again = app.post("/api/skus", &with(sku("VASE", &material), json!({"slug": "other"}))).await;
        assert!(again.json()["message"].as_str().unwrap().contains("code"), "{}", again.text);
        let second = id(&app.post("/api/skus", &sku("BOWL", &material)).await.expect(201));
        app.patch(&format!("/api/skus/{second}"), &json!({"code": "VASE"})).await.error(409);
        assert_eq!(app.get(&format!("/api/skus/{second}")).await.expect(200)["code"], "BOWL");
        // Who keeps its own code changes nothing that clashes.
        app.patch(&format!("/api/skus/{first}"), &json!({"code": "VASE", "name": "x"})).await.expect(200);
    }
}

#[tokio::test]
async fn a_patch_changes_what_it_names_and_null_clears() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 100.0).await;
    let body = with(sku("VASE", &material), json!({"description": "A vase", "dimensions": {"x": 1, "y": 1, "z": 1}}));
    let before = app.post("/api/skus", &body).await.expect(201);
    let path = format!("/api/skus/{}", id(&before));
    let changed =
        app.patch(&path, &json!({"priceCents": 1, "description": null, "dimensions": null})).await.expect(200);
    assert_eq!(
        (&changed["priceCents"], &changed["description"], &changed["dimensions"]),
        (&json!(1), &Value::Null, &Value::Null)
    );
    assert_eq!(
        (&changed["name"], &changed["code"], &changed["estimatedConsumption"]),
        (&before["name"], &before["code"], &before["estimatedConsumption"])
    );
    for member in ["name", "priceCents", "materialId", "active"] {
        assert_eq!(paths(&app.patch(&path, &json!({member: null})).await.expect(400)), [member]);
    }
    assert_eq!(paths(&app.patch(&path, &json!({"id": NOTHING, "version": 9})).await.expect(400)), ["id", "version"]);
}

#[tokio::test]
async fn what_a_sku_names_must_be_there_and_fit() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 100.0).await;
    let counted = json!({"name": "Lens", "type": "laser_consumable"});
    let counted = id(&app.post("/api/inventory/materials", &counted).await.expect(201));
    let gcode = app.gcode("a", 60, 1.0).await;
    for (more, wrong) in [
        (json!({"materialId": NOTHING}), "materialId"),
        (json!({"materialId": counted}), "materialId"),
        (json!({"gcodeFileId": NOTHING}), "gcodeFileId"),
        (json!({"modelFileId": gcode}), "modelFileId"),
        (json!({"estimatedConsumption": 0}), "estimatedConsumption"),
        (json!({"estimatedConsumption": 1.2345}), "estimatedConsumption"),
        (json!({"priceCents": 1.5}), "priceCents"),
        (json!({"slug": "No Slug"}), "slug"),
        (json!({"machineType": "prusa"}), "machineType"),
        (json!({"dimensions": {"x": 0, "y": 1, "z": 1}}), "dimensions.x"),
    ] {
        let body = with(sku("VASE", &material), more);
        assert_eq!(paths(&app.post("/api/skus", &body).await.expect(400)), [wrong], "{body}");
    }
    assert_eq!(count(&app, "/api/skus").await, 0);
}

#[tokio::test]
async fn what_has_no_file_is_ordered_by_staff_alone_and_made_when_the_file_comes() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 1_000.0).await;
    let body = json!({
        "code": "EARLY", "name": "Early", "materialId": material, "estimatedConsumption": 10,
        "machineType": "fdm_standard", "priceCents": 500, "unitsPerPlate": 2,
    });
    let sku = id(&app.post("/api/skus", &body).await.expect(201));
    let customer = customer_of(&app, "ann@example.org").await;
    let order = json!({"lines": [{"skuId": sku, "quantity": 3}]});
    assert_eq!(customer.post("/api/orders", &order).await.error(409), "not_orderable");
    let placed = id(&app.post("/api/orders", &order).await.expect(201));
    app.post(&format!("/api/orders/{placed}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    let jobs = until("the jobs to say what is missing", || async {
        let jobs = app.jobs(&placed).await;
        assert!(jobs.iter().all(|job| job["state"] == "CREATED" && job["fileId"].is_null()), "{jobs:?}");
        jobs[0]["waitingReason"].as_str().unwrap().contains("neither a G-code file").then_some(jobs)
    })
    .await;
    // Its file comes, with another number of units: the order was placed with two on a plate.
    let file = app.gcode("early", 60, 7.0).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"gcodeFileId": file, "unitsPerPlate": 1})).await.expect(200);
    for job in &jobs {
        app.job_is(&id(job), "SLICED").await;
    }
    let jobs = app.jobs(&placed).await;
    assert_eq!(jobs.len(), 2, "{jobs:?}");
    assert!(jobs.iter().all(|job| job["fileId"] == file.as_str() && job["need"] == 7), "{jobs:?}");
    // What a job is made from is kept, and an order that is not paid yet follows the SKU.
    let later = id(&app.post("/api/orders", &order).await.expect(201));
    let second = app.gcode("second", 60, 9.0).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"gcodeFileId": second})).await.expect(200);
    app.post(&format!("/api/orders/{later}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    for job in &app.jobs(&later).await {
        app.job_is(&id(job), "SLICED").await;
    }
    assert!(app.jobs(&placed).await.iter().all(|job| job["fileId"] == file.as_str()));
    assert!(app.jobs(&later).await.iter().all(|job| job["fileId"] == second.as_str()));
    customer.post("/api/orders", &order).await.expect(201);
}

on_both! {
    async fn a_deleted_sku_frees_its_code_and_slugs_are_unique(db: Db) {
        let app = App::new(db).await;
        let material = app.material("PLA", 1.0).await;
        let first = id(&app.post("/api/skus", &sku("VASE-1", &material)).await.expect(201));
        assert_eq!(app.post("/api/skus", &sku("VASE-1", &material)).await.error(409), "code_taken");
        // Another code that makes the same slug, and one that is given.
        assert_eq!(app.post("/api/skus", &sku("vase 1", &material)).await.error(409), "slug_taken");
        let other = id(&app.post("/api/skus", &sku("CUP", &material)).await.expect(201));
        let conflict = app.patch(&format!("/api/skus/{other}"), &json!({"slug": "vase-1"})).await;
        assert_eq!(conflict.error(409), "slug_taken");
        app.delete(&format!("/api/skus/{first}")).await.expect(204);
        let again = id(&app.post("/api/skus", &sku("VASE-1", &material)).await.expect(201));
        assert_ne!(again, first);
        let list = app.get("/api/skus?slug=vase-1").await.expect(200);
        assert_eq!((&list["skus"][0]["id"], &list["pagination"]["total"]), (&json!(again), &json!(1)), "{list}");
    }
}

#[tokio::test]
async fn a_picture_is_a_web_address_a_path_or_a_file() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 1.0).await;
    for address in ["javascript:alert(1)", "data:text/html,<script>", "//evil.example/a.png", "https://"] {
        let refused = app.post("/api/skus", &with(sku("VASE", &material), json!({"images": [address]}))).await;
        assert_eq!(paths(&refused.expect(400)), ["images.0"], "{address}");
    }
    let fine = json!({"images": ["https://cdn.example/a.png", "/a.png"]});
    let sku_id = id(&app.post("/api/skus", &with(sku("VASE", &material), fine)).await.expect(201));
    let change = json!({"images": ["https://cdn.example/a.png", "javascript:alert(1)"]});
    assert_eq!(paths(&app.patch(&format!("/api/skus/{sku_id}"), &change).await.expect(400)), ["images.1"]);
}
