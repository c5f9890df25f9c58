//! A machine is registered once, at an address where a printer can be, and its key stays with its address.

use serde_json::json;

use super::{FAST, Floor, JUDGE_LATE, PrinterKind, elsewhere, keyless, needs_serial};

each_kind! {
    async fn the_same_machine_is_not_registered_twice(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_LATE]).await;
        let body = |base_url: &str, serial: Option<&str>| json!({
            "name": "Again", "type": kind.as_str(), "machineType": "fdm_standard", "baseUrl": base_url,
            // Some are not reached without.
            "serial": serial.or(needs_serial(kind).then_some(&floor.sim(0).serial)),
            "apiKey": floor.sim(0).api_key,
        });
        let first = &floor.sim(0).base_url;
        let slash = first.split_once('?').map_or(format!("{first}/"), |(host, query)| format!("{host}/?{query}"));
        for written in [first.clone(), slash, first.replace("127.0.0.1", "localhost")] {
            let refused = floor.app.post("/api/printers", &body(&written, None)).await;
            assert_eq!(refused.error(409), "printer_exists", "{written}");
        }
        // At the same moment: one of them.
        floor.app.delete(&floor.path(0, "")).await.expect(204);
        let again = body(first, Some("01P00A"));
        let both = tokio::join!(floor.app.post("/api/printers", &again), floor.app.post("/api/printers", &again));
        let mut statuses = [both.0.status, both.1.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409]);
        let by_serial = body(elsewhere(kind), Some("01p00a"));
        assert_eq!(floor.app.post("/api/printers", &by_serial).await.error(409), "printer_exists", "by its serial");
        let moved = floor.app.patch(&floor.path(1, ""), &json!({"baseUrl": first})).await;
        assert_eq!(moved.error(409), "printer_exists");
        floor.app.patch(&floor.path(1, ""), &json!({"name": "Right"})).await.expect(200);
    }

    async fn a_key_does_not_follow_a_printer_to_another_address(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let home = floor.sim(0).base_url.clone();
        let moved = floor.app.patch(&floor.path(0, ""), &json!({"baseUrl": elsewhere(kind)})).await.expect(200);
        assert_eq!(moved["hasApiKey"], false, "{moved}");
        let back = floor.app.patch(&floor.path(0, ""), &json!({"baseUrl": home})).await.expect(200);
        assert_eq!(back["hasApiKey"], false, "gone for good: {back}");
        floor.connection_is(0, if keyless(kind) { "connected" } else { "wrong_key" }).await;
        let with_key = json!({"apiKey": floor.sim(0).api_key});
        assert_eq!(floor.app.patch(&floor.path(0, ""), &with_key).await.expect(200)["hasApiKey"], true);
        floor.connection_is(0, "connected").await;
    }

    async fn only_http_urls_of_possible_printers_are_registered(kind: PrinterKind) {
        let floor = Floor::new(kind, 0, FAST, &[JUDGE_LATE]).await;
        for base_url in [
            "127.0.0.1:7125", "octopi.local", "ftp://127.0.0.1", "http://169.254.169.254/latest", "http://[fe80::1]:7125",
            "http://metadata.google.internal", "http://[::ffff:169.254.1.1]/",
        ] {
            let body = json!({"name": "X", "type": kind.as_str(), "machineType": "fdm_standard", "baseUrl": base_url});
            let refused = floor.app.post("/api/printers", &body).await.expect(400);
            let faults = refused["errors"].as_array().unwrap();
            assert!(faults.iter().any(|fault| fault["path"] == "baseUrl"), "{base_url}: {refused}");
        }
    }
}
