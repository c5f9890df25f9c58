//! Entity tags and versions: no one overwrites changes that they have not seen.

use serde_json::{Value, json};
use simulator::sink::Sink;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{id, some_sku};
use crate::support::client::Answer;
use crate::support::waiting::LONG;
use crate::support::{App, Db, on_sqlite, until};

async fn patch_if(app: &App, path: &str, tag: &str, body: &Value) -> Answer {
    app.send(app.request("PATCH", path).header("If-Match", tag).json(body)).await
}

on_sqlite! {
    async fn a_stale_version_changes_nothing(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let material = app.material("PETG", 10.0).await;
        let order = app.paid_order(&sku, 1).await;
        let job = id(&app.jobs(&order).await[0]);
        app.job_is(&job, "SLICED").await;
        let printer = json!({
            "name": "P", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://127.0.0.1:9", "buildVolume": {"x": 1, "y": 1, "z": 1},
        });
        let printer = id(&app.post("/api/printers", &printer).await.expect(201));
        let endpoint = json!({"url": "http://127.0.0.1:9/", "events": ["order.cancelled"]});
        let endpoint = id(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(201));
        let bodies = |member: &str, values: [Value; 3]| values.map(|value| json!({ member: value }));
        for (path, [first, stale, last]) in [
            (format!("/api/skus/{sku}"), bodies("name", [json!("a"), json!("b"), json!("c")])),
            (format!("/api/inventory/materials/{material}"), bodies("brand", [json!("a"), json!("b"), json!("c")])),
            (format!("/api/inventory/materials/{material}"), bodies("quantity", [json!(1), json!(2), json!(3)])),
            (format!("/api/orders/{order}"), bodies("notes", [json!("a"), json!("b"), json!("c")])),
            (format!("/api/jobs/{job}"), bodies("priority", [json!(1), json!(2), json!(3)])),
            (format!("/api/printers/{printer}"), bodies("name", [json!("a"), json!("b"), json!("c")])),
            (format!("/api/webhooks/endpoints/{endpoint}"), bodies("events", [json!(["order.paid"]), json!(["order.ready"]), json!(["order.shipped"])])),
        ] {
            let read = app.get(&path).await;
            let tag = read.header("etag").unwrap_or_else(|| panic!("{path}: no ETag")).to_owned();
            let version = read.json()["version"].clone();
            assert_eq!(tag, format!("\"{version}\""), "{path}");
            let changed = patch_if(&app, &path, &tag, &first).await;
            assert_eq!(changed.status, 200, "{path}: {}", changed.text);
            let newer = changed.header("etag").unwrap().to_owned();
            assert_eq!(newer, format!("\"{}\"", changed.json()["version"]), "{path}");
            assert_ne!(newer, tag, "{path}");
            for old in [tag.as_str(), "\"999\"", "nonsense", "\"\""] {
                let refused = patch_if(&app, &path, old, &stale).await;
                assert_eq!(refused.status, 412, "{path} {old}: {}", refused.text);
            }
            let (member, value) = stale.as_object().unwrap().iter().next().unwrap();
            assert_ne!(&app.get(&path).await.expect(200)[member], value, "{path}");
            patch_if(&app, &path, &format!("W/{newer}"), &last).await.expect(200);
            patch_if(&app, &path, "*", &first).await.expect(200);
            app.patch(&path, &last).await.expect(200);
        }
        // A job's version is its own: the order's changes do not count.
        let before = app.get(&format!("/api/jobs/{job}")).await.expect(200)["version"].clone();
        app.patch(&format!("/api/orders/{order}"), &json!({"notes": "again"})).await.expect(200);
        assert_eq!(app.get(&format!("/api/jobs/{job}")).await.expect(200)["version"], before);
    }
}

#[tokio::test]
async fn changes_of_different_members_at_once_are_both_kept() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let path = format!("/api/skus/{sku}");
    for round in 0..5 {
        let changes = [
            json!({"name": format!("n{round}")}),
            json!({"description": format!("d{round}")}),
            json!({"priceCents": round}),
            json!({"kind": format!("k{round}")}),
        ];
        let answers = futures::future::join_all(changes.iter().map(|change| app.patch(&path, change))).await;
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        let now = app.get(&path).await.expect(200);
        assert_eq!(
            (&now["name"], &now["description"], &now["priceCents"], &now["kind"]),
            (&json!(format!("n{round}")), &json!(format!("d{round}")), &json!(round), &json!(format!("k{round}")))
        );
    }
}

#[tokio::test]
async fn what_the_server_does_by_itself_moves_no_version() {
    let app = App::new(Db::sqlite()).await;
    let fleet =
        Fleet::start(FleetOptions { speed: 300.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) }).await.unwrap();
    let material = app.material("PLA", 1000.0).await;
    let file = app.gcode("part", 60, 10.0).await;
    let sku = app.sku("PART", &material, &file, 1250).await;
    let order = app.paid_order(&sku, 1).await;
    let job = id(&app.jobs(&order).await[0]);
    let sink = Sink::start().await.unwrap();
    let endpoint = json!({"url": sink.url(), "events": ["order.ready"], "secret": "a-secret-of-the-test-0123456789"});
    let endpoint = id(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(201));
    let printer = app.printer(&fleet.printers[0]).await;
    let paths = [
        (format!("/api/printers/{printer}"), json!({"name": "seen"})),
        (format!("/api/webhooks/endpoints/{endpoint}"), json!({"events": ["order.paid"]})),
        (format!("/api/orders/{order}"), json!({"notes": "seen"})),
        (format!("/api/jobs/{job}"), json!({})),
        (format!("/api/inventory/materials/{material}"), json!({"brand": "seen"})),
    ];
    let mut tags = Vec::new();
    for (path, _) in &paths {
        tags.push(app.get(path).await.header("etag").unwrap().to_owned());
    }
    // Stock is reserved, the part printed, the material used, the order ready, a program told of it, the printer lost:
    // nobody changed a thing.
    app.order_is(&order, "ready").await;
    sink.wait_until(|all| !all.is_empty(), LONG).await.expect("the webhook to come");
    fleet.printers[0].handle.update_faults(|faults| faults.disconnect = true);
    until("the printer to be known as away", || async {
        let read = app.get(&format!("/api/printers/{printer}")).await.expect(200);
        read["status"]["attention"].as_array().unwrap().contains(&json!("unreachable")).then_some(())
    })
    .await;
    until("the material to be used", || async {
        (app.get(&format!("/api/inventory/materials/{material}")).await.expect(200)["quantity"] == 990).then_some(())
    })
    .await;
    for ((path, change), tag) in paths.iter().zip(&tags) {
        let now = app.get(path).await;
        assert_eq!(now.header("etag").unwrap(), tag, "{path}: {}", now.text);
        if change.as_object().unwrap().is_empty() {
            continue; // The job is over, and takes no change.
        }
        let changed = patch_if(&app, path, tag, change).await;
        assert_eq!(changed.status, 200, "{path}: {}", changed.text);
        assert_eq!(patch_if(&app, path, tag, change).await.status, 412, "{path}: a person's change counts");
    }
}
