//! Attacks through ordinary requests: values that the database's row parser would reject, and files that decompress to
//! far more than their size.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{app, stops_in_time};
use crate::api::{PASSWORD, id, paths, some_sku};
use crate::support::{App, on_both, on_sqlite, until};

on_both! {
    async fn what_was_taken_can_be_read_after_the_next_start(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        let notes = "; filament used [g] = 1e12\n; filament used [mm] = 1e300\n; estimated printing time (normal mode) = 99999999999d\n";
        let file = app.upload("far.gcode", format!("G28\n{notes}G1 X1\n").into_bytes()).await.expect(201);
        assert!(file["metadata"]["grams"].is_null() && file["metadata"]["filamentMm"].is_null(), "{file}");
        let material = app.material("Far", 1e9).await;
        let far = app.sku("FAR", &material, file["id"].as_str().unwrap(), 10_000_000).await;
        let late = json!({"lines": [{"skuId": sku, "quantity": 1}], "dueAt": "9999-12-30T22:00:00.001Z"});
        assert_eq!(paths(&app.post("/api/orders", &late).await.expect(400)), ["dueAt"]);
        let latest = json!({"lines": [{"skuId": far, "quantity": 1}], "dueAt": "2999-12-31T23:59:59.999Z"});
        let order = id(&app.post("/api/orders", &latest).await.expect(201));
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        app.kill_9();
        app.start().await;
        assert_eq!(app.get("/readyz").await.expect(200)["status"], "ready");
        assert_eq!(app.get(&format!("/api/orders/{order}")).await.expect(200)["dueAt"], latest["dueAt"]);
        for list in ["files", "skus", "orders", "jobs"] {
            app.get(&format!("/api/{list}")).await.expect(200);
        }
    }
}

on_sqlite! {
    async fn no_hash_of_a_password_or_key_is_in_a_kept_answer(db: Db) {
        let app = App::new(db).await;
        let user = json!({"email": "a@example.org", "name": "A", "password": PASSWORD, "role": "operator"});
        let user = id(&app.post_keyed("/api/users", "user", &user).await.expect(201));
        app.post_keyed("/api/auth/api-keys", "key", &json!({"name": "k", "role": "operator"})).await.expect(201);
        app.patch(&format!("/api/users/{user}"), &json!({"name": "B"})).await.expect(200);
        let count = async |of: &str| app.db.query_number(&app, &format!("SELECT COUNT(*) FROM idempotency{of}")).await;
        assert_eq!(count("").await, 2, "both are kept");
        assert_eq!(count(" WHERE answer LIKE '%argon2%'").await, 0);
        let leaks = app.db.query_number(
            &app,
            "SELECT COUNT(*) FROM idempotency JOIN api_keys ON idempotency.answer LIKE '%' || api_keys.hash || '%'",
        );
        assert_eq!(leaks.await, 0, "the key's hash");
    }
}

/// Builds binary G-code of some hundred kilobytes whose comments unpack to hundreds of megabytes.
fn bomb() -> Vec<u8> {
    const BLOCK_BYTES: usize = 4 << 20;
    let text = vec![b' '; BLOCK_BYTES];
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&text).unwrap();
    let data = packer.finish().unwrap();
    let mut block = [2u16.to_le_bytes(), 1u16.to_le_bytes()].concat();
    for size in [BLOCK_BYTES, data.len()] {
        block.extend((size as u32).to_le_bytes());
    }
    block.extend(0u16.to_le_bytes());
    block.extend(&data);
    let head = [b"GCDE".as_slice(), &1u32.to_le_bytes(), &0u16.to_le_bytes()].concat();
    [head, block.repeat(90)].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_unpack_to_much_more_delay_no_emergency_stop() {
    let app = app(&[]).await;
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let printer = app.printer(&fleet.printers[0]).await;
    let bomb = bomb();
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    let uploads: Vec<_> = (0..6)
        .map(|n| {
            let (client, bomb) = ((*app).clone(), bomb.clone());
            tokio::spawn(async move { client.upload(&format!("{n}.bgcode"), bomb).await.status })
        })
        .collect();
    for _ in 0..10 {
        stops_in_time(&app, &printer).await;
    }
    let stopped = || fleet.printers[0].handle.log().iter().any(|one| matches!(one.what, PhysicalEvent::EmergencyStop));
    until("the stop to have arrived", || async { stopped().then_some(()) }).await;
    for upload in uploads {
        let status = upload.await.unwrap();
        assert!(matches!(status, 201 | 400), "{status}");
    }
}
