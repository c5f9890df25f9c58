//! Unreadable rows: the server starts, and everything that does not need them works.

use serde_json::{Value, json};

use crate::support::{App, on_both, until};

/// JSON document that no release can parse.
const SPOILT: &str = "{\"id\": 1e400}";

const TOKEN: &str = "a-token-of-the-tests-0123456789";

on_both! {
    async fn text_with_nul_is_refused_wherever_it_enters(db: Db) {
        let app = App::on(db).env("AGENT_TOKEN", TOKEN).start().await;
        for path in [
            "/api/orders?q=%00", "/api/skus?code=a%00", "/api/inventory/materials?q=%00", "/api/audit-log?actor=%00",
            "/api/files?sha256=%00",
        ] {
            assert_eq!(app.get(path).await.error(400), "malformed_query", "{path}");
        }
        let material = json!({"name": "a\u{0}", "type": "filament"});
        app.post("/api/inventory/materials", &material).await.error(400);
        let agent = async |body: Value| {
            let request = app.nobody().request("POST", "/webhooks/agent").json(&body);
            app.send(request.header("Authorization", format!("Bearer {TOKEN}"))).await
        };
        agent(json!({"skill": "order-status", "userId": "telegram:\u{0}"})).await.error(400);
        let answer = agent(json!({"skill": "order-status", "params": {"orderId": "\u{0}"}, "userId": "telegram:1"})).await;
        assert!(matches!(answer.status, 400 | 404 | 409 | 422), "{}", answer.text);
        assert_eq!(app.get("/readyz").await.expect(200)["status"], "ready");
    }

    async fn a_damaged_row_stops_only_its_own_aggregate(db: Db) {
        let mut app = App::new(db).await;
        let material = app.material("PLA", 1000.0).await;
        let file = app.gcode("vase", 60, 1.0).await;
        let skus = [app.sku("A", &material, &file, 100).await, app.sku("B", &material, &file, 100).await];
        // The first is paid and therefore in memory from the start on.
        let orders = [app.paid_order(&skus[0], 1).await, app.order(&skus[1], 1).await];
        let printer = json!({
            "name": "left", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://127.0.0.1:9", "apiKey": "",
            "buildVolume": {"x": 220, "y": 220, "z": 250},
        });
        let printer = app.post("/api/printers", &printer).await.expect(201)["id"].as_str().unwrap().to_owned();
        app.stop().await;
        for (table, id) in [("orders", &orders[0]), ("skus", &skus[0]), ("printers", &printer)] {
            app.db.execute(&app, &format!("UPDATE {table} SET doc = '{SPOILT}' WHERE id = '{id}'")).await;
        }
        app.start().await;

        // The others are there and work.
        let path = format!("/api/orders/{}", orders[1]);
        assert_eq!(app.get(&path).await.expect(200)["status"], "created");
        app.post(&format!("{path}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        app.order(&skus[1], 1).await;
        // Lists leave out what they cannot show. Rows are counted all the same; printers are listed from memory. The
        // jobs of what is damaged are there.
        for (list, readable_count, total) in [("orders", 2, 3), ("skus", 1, 2), ("printers", 0, 0), ("jobs", 2, 2)] {
            let listed = app.get(&format!("/api/{list}")).await.expect(200);
            assert_eq!(listed[list].as_array().unwrap().len(), readable_count, "{listed}");
            assert_eq!(listed["pagination"]["total"], total, "{listed}");
        }
        // What is damaged says so, to whoever reads or asks it.
        assert_eq!(app.get(&format!("/api/orders/{}", orders[0])).await.error(500), "internal");
        let refused = app.post(&format!("/api/orders/{}/confirm", orders[0]), &json!({})).await;
        assert_eq!(refused.error(503), "parked");
        // Operators hear which rows; others only that something is wrong.
        let ready = until("what is damaged to be told", || async {
            let body = app.get("/readyz").await.expect(200);
            let named = [&orders[0], &skus[0], &printer].iter().all(|id| body["degraded"].to_string().contains(*id));
            named.then_some(body)
        })
        .await;
        assert_eq!(ready["status"], "degraded", "{ready}");
        let problems = ready["degraded"].to_string();
        for problem in ["lists lack 2 rows that cannot be read", "out of service: 1 of kind printer"] {
            assert!(problems.contains(problem), "{problem}: {problems}");
        }
        // The rows that lists met: the order's and the SKU's. The printer is counted among what is out of service.
        let metrics = app.get("/metrics").await.text;
        for counted in ["printfloor_damaged_rows 2", "printfloor_actors{kind=\"printer\",status=\"parked\"} 1"] {
            assert!(metrics.lines().any(|line| line == counted), "{counted}: {metrics}");
        }
        let actors = app.get("/api/system/actors").await.expect(200).to_string();
        for id in [&orders[0], &printer] {
            assert!(actors.contains(&format!("{id} is damaged")), "{actors}");
        }
        let nobody = app.nobody().get("/readyz").await.expect(200);
        assert_eq!(nobody["status"], "degraded", "{nobody}");
        let nobody = nobody.to_string();
        assert!([&orders[0], &skus[0], &printer].iter().all(|id| !nobody.contains(*id)), "{nobody}");
    }
}
