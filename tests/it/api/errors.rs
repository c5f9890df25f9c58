//! Error responses: the same shape everywhere, all errors at once, and no internal details.

use serde_json::{Value, json};

use super::{NOTHING, count, id, paths};
use crate::support::{App, Client, Db, client::Answer, on_both};

const JSON: Option<&str> = Some("application/json");

async fn send(app: &Client, method: &str, path: &str, content: Option<&str>, body: &str) -> Answer {
    let mut request = app.request(method, path).body(body.to_owned());
    if let Some(content) = content {
        request = request.header("Content-Type", content);
    }
    app.send(request).await
}

/// Checks that a response has the one shape of errors, and words that betray nothing; returns its body.
#[track_caller]
fn is_an_error(answer: &Answer, what: &str) -> Value {
    let body = answer.json();
    assert_eq!(answer.header("content-type"), Some("application/json"), "{what}");
    assert_eq!(body["success"], false, "{what}: {body}");
    let code = body["code"].as_str().unwrap_or_else(|| panic!("{what}: {body}"));
    assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{what}: {code}");
    assert!(!body["message"].as_str().unwrap().is_empty(), "{what}");
    let members = ["success", "message", "code", "errors"];
    assert!(body.as_object().unwrap().keys().all(|member| members.contains(&member.as_str())), "{what}: {body}");
    let faulty = body.get("errors").is_some();
    assert_eq!(faulty, code == "validation_failed", "{what}: {body}");
    for inside in ["/home", "/root", "/tmp", "src/", ".rs:", "SELECT", "sqlx", "sea_orm", "Debug", "panicked", "ractor"]
    {
        assert!(!answer.text.contains(inside), "{what} betrays {inside}: {}", answer.text);
    }
    body
}

#[tokio::test]
async fn every_error_has_the_one_shape() {
    let app = App::new(Db::sqlite()).await;
    let deep = "[".repeat(100_000);
    let big = format!("{{\"notes\":\"{}\"}}", "x".repeat(1024 * 1024));
    let cases = [
        ("POST", "/api/orders".to_owned(), JSON, "{", 400, "malformed_json"),
        ("POST", "/api/orders".to_owned(), JSON, "", 400, "malformed_json"),
        ("POST", "/api/orders".to_owned(), JSON, "[1]", 400, "malformed_json"),
        ("POST", "/api/orders".to_owned(), JSON, "null", 400, "malformed_json"),
        ("POST", "/api/orders".to_owned(), JSON, "{} {}", 400, "malformed_json"),
        ("POST", "/api/orders".to_owned(), JSON, "{\"notes\": \"\\ud800\"}", 400, "malformed_json"),
        ("POST", "/api/orders".to_owned(), JSON, &deep, 400, "malformed_json"),
        ("POST", "/api/orders".to_owned(), JSON, "{}", 400, "validation_failed"),
        ("POST", "/api/orders".to_owned(), JSON, "{\"notes\": \"a\\u0000b\"}", 400, "validation_failed"),
        ("POST", "/api/orders".to_owned(), None, "{}", 415, "unsupported_media_type"),
        ("POST", "/api/orders".to_owned(), Some("text/plain"), "{}", 415, "unsupported_media_type"),
        ("POST", "/api/files".to_owned(), JSON, "{}", 415, "unsupported_media_type"),
        ("POST", "/api/orders".to_owned(), JSON, &big, 413, "too_large"),
        ("PATCH", format!("/api/orders/{NOTHING}"), JSON, &big, 413, "too_large"),
        ("GET", "/api/nothing".to_owned(), None, "", 404, "not_found"),
        ("POST", "/api".to_owned(), JSON, "{}", 404, "not_found"),
        ("GET", "/api/orders/".to_owned(), None, "", 404, "not_found"),
        ("GET", "/api/orders/7".to_owned(), None, "", 404, "not_found"),
        ("GET", "/api/orders/%00".to_owned(), None, "", 404, "not_found"),
        ("GET", "/api/orders/%ff".to_owned(), None, "", 404, "not_found"),
        ("PUT", "/api/orders".to_owned(), JSON, "{}", 405, "method_not_allowed"),
        ("GET", format!("/api/orders/{NOTHING}"), None, "", 404, "order_not_found"),
        ("GET", format!("/api/orders/{NOTHING}/timeline"), None, "", 404, "order_not_found"),
        ("PATCH", format!("/api/orders/{NOTHING}"), JSON, "{\"notes\":\"x\"}", 404, "order_not_found"),
        ("POST", format!("/api/orders/{NOTHING}/cancel"), None, "", 404, "order_not_found"),
        ("GET", format!("/api/jobs/{NOTHING}"), None, "", 404, "job_not_found"),
        ("POST", format!("/api/jobs/{NOTHING}/release"), None, "", 404, "job_not_found"),
        ("GET", format!("/api/skus/{NOTHING}"), None, "", 404, "sku_not_found"),
        ("DELETE", format!("/api/skus/{NOTHING}"), None, "", 404, "sku_not_found"),
        ("GET", format!("/api/files/{NOTHING}"), None, "", 404, "file_not_found"),
        ("GET", format!("/api/files/{NOTHING}/content"), None, "", 404, "file_not_found"),
        ("GET", format!("/api/inventory/materials/{NOTHING}"), None, "", 404, "material_not_found"),
        ("GET", format!("/api/inventory/materials/{NOTHING}/movements"), None, "", 404, "material_not_found"),
        ("DELETE", format!("/api/inventory/materials/{NOTHING}"), None, "", 404, "material_not_found"),
        ("GET", format!("/api/printers/{NOTHING}"), None, "", 404, "printer_not_found"),
        ("GET", format!("/api/printers/{NOTHING}/status"), None, "", 404, "printer_not_found"),
        ("POST", format!("/api/printers/{NOTHING}/pause"), None, "", 404, "printer_not_found"),
        ("GET", format!("/api/webhooks/endpoints/{NOTHING}"), None, "", 404, "endpoint_not_found"),
        ("GET", format!("/api/webhooks/endpoints/{NOTHING}/deliveries"), None, "", 404, "endpoint_not_found"),
        ("POST", format!("/api/webhooks/deliveries/{NOTHING}/redeliver"), None, "", 404, "delivery_not_found"),
        ("DELETE", format!("/api/auth/api-keys/{NOTHING}"), None, "", 404, "api_key_not_found"),
        ("DELETE", format!("/api/users/{NOTHING}"), None, "", 404, "user_not_found"),
        ("GET", "/api/orders?limit=0".to_owned(), None, "", 400, "validation_failed"),
        ("GET", "/api/orders?status=lost".to_owned(), None, "", 400, "validation_failed"),
        ("GET", "/api/orders?site=moon".to_owned(), None, "", 400, "validation_failed"),
        ("GET", "/api/jobs?orderId=7".to_owned(), None, "", 400, "validation_failed"),
        ("GET", "/api/events?after=x".to_owned(), None, "", 400, "validation_failed"),
        ("POST", "/webhooks/payments".to_owned(), JSON, "{}", 400, "invalid_signature"),
    ];
    for (method, path, content, body, status, code) in cases {
        let what = format!("{method} {path} {}", body.chars().take(40).collect::<String>());
        let answer = send(&app, method, &path, content, body).await;
        assert_eq!(answer.status, status, "{what}: {}", answer.text);
        let body = is_an_error(&answer, &what);
        assert_eq!(body["code"], code, "{what}");
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let app = App::new(Db::sqlite()).await;
    for (method, path, allowed) in [
        ("PUT", "/api/orders".to_owned(), &["GET", "POST"][..]),
        ("POST", format!("/api/skus/{NOTHING}"), &["GET", "PATCH", "DELETE"][..]),
        ("GET", "/api/auth/login".to_owned(), &["POST"][..]),
        ("DELETE", "/healthz".to_owned(), &["GET"][..]),
    ] {
        let answer = send(&app, method, &path, None, "").await;
        assert_eq!(answer.status, 405, "{method} {path}");
        let allow = answer.header("allow").unwrap_or_else(|| panic!("{method} {path}: no Allow"));
        for method in allowed {
            assert!(allow.split(',').any(|one| one.trim() == *method), "{path}: {allow} lacks {method}");
        }
    }
}

#[tokio::test]
async fn all_faults_of_a_body_are_told_at_once() {
    let app = App::new(Db::sqlite()).await;
    let order = json!({
        "lines": [{"skuId": "no", "quantity": 0}, {"skuId": NOTHING, "quantity": 1.5, "colour": "red"}, 7],
        "priority": 10, "customerEmail": "nobody", "dueAt": "tomorrow", "site": "moon", "surprise": 1,
        "shippingAddress": {"line1": "1 Way", "city": "", "postalCode": "1", "country": "Germany", "planet": "Earth"},
    });
    let faults = paths(&app.post("/api/orders", &order).await.expect(400));
    let expected = [
        "customerEmail",
        "dueAt",
        "lines.0.quantity",
        "lines.0.skuId",
        "lines.1.colour",
        "lines.1.quantity",
        "lines.2",
        "priority",
        "shippingAddress.city",
        "shippingAddress.country",
        "shippingAddress.planet",
        "site",
        "surprise",
    ];
    assert_eq!(faults, expected);

    let material = json!({"type": "wood", "quantity": -1, "reorderPoint": 0.1234, "brand": 7, "extra": true});
    let faults = paths(&app.post("/api/inventory/materials", &material).await.expect(400));
    assert_eq!(faults, ["brand", "extra", "name", "quantity", "reorderPoint", "type"]);

    let sku = json!({"code": " ", "priceCents": -1, "machineType": "lunar", "unitsPerPlate": 0, "currency": "USD", "dimensions": {"x": 1}});
    let faults = paths(&app.post("/api/skus", &sku).await.expect(400));
    let expected = [
        "code",
        "currency",
        "dimensions.y",
        "dimensions.z",
        "estimatedConsumption",
        "machineType",
        "materialId",
        "name",
        "priceCents",
        "unitsPerPlate",
    ];
    assert_eq!(faults, expected);
    // A kit may leave them out, also where something else is wrong with it.
    let kit = json!({"code": " ", "name": "A", "priceCents": 1, "components": [{"skuId": NOTHING, "quantity": 1}]});
    assert_eq!(paths(&app.post("/api/skus", &kit).await.expect(400)), ["code"]);
    let faults = paths(&app.post("/api/skus", &json!({"code": "A", "name": "A", "priceCents": 1})).await.expect(400));
    assert_eq!(faults, ["estimatedConsumption", "machineType", "materialId"]);

    let faults =
        paths(&app.post("/api/users", &json!({"email": "x", "password": "short", "role": "king"})).await.expect(400));
    assert_eq!(faults, ["email", "name", "password", "role"]);

    let endpoint = json!({"url": "ftp://example.org", "secret": "", "event": []});
    let faults = paths(&app.post("/api/webhooks/endpoints", &endpoint).await.expect(400));
    assert_eq!(faults, ["event", "events", "secret", "url"]);

    let printer =
        json!({"type": "fax", "machineType": "x", "baseUrl": "nowhere", "buildVolume": {"x": 0}, "colour": 1});
    let faults = paths(&app.post("/api/printers", &printer).await.expect(400));
    for path in ["name", "type", "machineType", "colour"] {
        assert!(faults.iter().any(|one| one == path), "{path} in {faults:?}");
    }
}

/// Checks that names with line breaks are refused, because names appear in email subjects, headers and log lines.
#[tokio::test]
async fn a_name_with_a_line_break_is_refused() {
    let app = App::new(Db::sqlite()).await;
    let sku = super::some_sku(&app).await;
    let material = app.get(&format!("/api/skus/{sku}")).await.expect(200)["materialId"].clone();
    let printer =
        json!({"name": "Left", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://127.0.0.1:9"});
    let new_sku = json!({
        "code": "B", "name": "B", "materialId": material, "estimatedConsumption": 1, "machineType": "fdm_standard", "priceCents": 1,
    });
    let user = json!({"email": "ann@example.org", "name": "Ann", "password": super::PASSWORD, "role": "operator"});
    for (path, body, members) in [
        ("/api/printers", printer, &["name"][..]),
        ("/api/skus", new_sku, &["name", "code"]),
        ("/api/inventory/materials", json!({"name": "PLA", "type": "filament"}), &["name", "brand"]),
        ("/api/users", user, &["name"]),
    ] {
        for (member, broken) in members.iter().flat_map(|member| {
            ["a\nb", "a\r\nBcc: x@example.org", "a\u{2028}b", "a\u{85}b"].map(|text| (*member, text))
        }) {
            let mut wrong = body.clone();
            wrong[member] = json!(broken);
            let refused = app.post(path, &wrong).await.expect(400);
            assert_eq!(paths(&refused), [member], "{path} with {broken:?}: {refused}");
        }
        // Without it the same body is taken; nor can it be changed to one.
        let answer = app.post(path, &body).await.expect(201);
        let changed = app.patch(&format!("{path}/{}", id(&answer)), &json!({"name": "a\nb"})).await.expect(400);
        assert_eq!(paths(&changed), ["name"], "{path}");
    }
    let printers = app.get("/api/printers").await.expect(200);
    let maintenance = format!("/api/printers/{}/maintenance", id(&printers["printers"][0]));
    let refused = app.post(&maintenance, &json!({"on": true, "note": "new\nnozzle"})).await.expect(400);
    assert_eq!(paths(&refused), ["note"]);
}

/// Checks that a misspelt or misplaced parameter is not ignored silently.
#[tokio::test]
async fn a_query_is_refused_where_there_are_no_parameters() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 5.0).await;
    let path = format!("/api/inventory/materials/{material}");
    let more = json!({"name": "PETG", "type": "filament"});
    for refused in [
        app.get(&format!("{path}?surprise=1")).await,
        app.post("/api/inventory/materials?surprise=1", &more).await,
        app.patch(&format!("{path}?surprise=1"), &json!({"name": "ABS"})).await,
        app.delete(&format!("{path}?surprise=1")).await,
    ] {
        assert_eq!(paths(&is_an_error(&refused, "a query")), ["surprise"]);
        assert_eq!(refused.error(400), "validation_failed");
    }
    let unchanged = app.get(&format!("{path}?")).await.expect(200);
    assert_eq!((&unchanged["name"], count(&app, "/api/inventory/materials").await), (&json!("PLA"), 1), "{unchanged}");
    // Who may not ask at all is told that first; what is not of the API's own shape takes whatever it is sent.
    assert_eq!(app.nobody().get(&format!("{path}?surprise=1")).await.error(401), "unauthorized");
    for open in ["/api/openapi.json?v=2", "/healthz?probe=1"] {
        app.get(open).await.expect(200);
    }
    // An emergency stop is never held up.
    let stop = app.act(&format!("/api/printers/{NOTHING}/emergency-stop?surprise=1")).await;
    assert_eq!(stop.error(404), "printer_not_found");
}

#[tokio::test]
async fn absent_is_not_null() {
    let app = App::new(Db::sqlite()).await;
    let material = app.material("PLA", 5.0).await;
    let path = format!("/api/inventory/materials/{material}");
    assert_eq!(paths(&app.patch(&path, &json!({"quantity": null})).await.expect(400)), ["quantity"]);
    assert_eq!(paths(&app.patch(&path, &json!({"name": null})).await.expect(400)), ["name"]);
    let cleared = app.patch(&path, &json!({"brand": null})).await.expect(200);
    assert_eq!((&cleared["brand"], &cleared["quantity"]), (&Value::Null, &json!(5)), "{cleared}");
    let untouched = app.patch(&path, &json!({})).await.expect(200);
    assert_eq!((id(&untouched), &untouched["version"]), (material, &cleared["version"]));
}

#[tokio::test]
async fn a_request_id_is_echoed_or_made() {
    let app = App::new(Db::sqlite()).await;
    let with =
        |request_id: &'static str| app.send(app.request("GET", "/api/nothing").header("X-Request-Id", request_id));
    assert_eq!(with("my-request-7").await.header("x-request-id"), Some("my-request-7"));
    let unfit = with("two words").await;
    let request_id = unfit.header("x-request-id").expect("one is made");
    assert!(request_id.len() == 36 && request_id != "two words", "{request_id}");
    let one = app.get("/healthz").await;
    let other = app.nobody().get("/api/orders").await;
    assert!(one.header("x-request-id").is_some() && other.header("x-request-id").is_some());
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
}

on_both! {
    async fn odd_texts_in_queries_and_bodies_are_no_fault_of_ours(db: Db) {
        let app = App::new(db).await;
        for path in [
            "/api/orders?q=", "/api/orders?customerEmail=", "/api/skus?q=", "/api/skus?slug=", "/api/skus?code=", "/api/files?q=",
            "/api/files?sha256=", "/api/inventory/materials?q=", "/api/events?event=", "/api/events?subject=",
        ] {
            for odd in ["%00", "a%00b", "%25", "_", "%5C", "'", "%22;--", "%F0%9F%8D%95", "%ED%A0%80", "%FF", "order:x"] {
                let answer = app.get(&format!("{path}{odd}")).await;
                assert!(matches!(answer.status, 200 | 400), "{path}{odd}: {} {}", answer.status, answer.text);
            }
        }
        for page in ["limit=200&offset=9223372036854775807", "offset=99999"] {
            for list in ["orders", "jobs", "skus", "files", "printers", "inventory/materials", "webhooks/endpoints", "users", "auth/api-keys"] {
                let answer = app.get(&format!("/api/{list}?{page}")).await.expect(200);
                assert_eq!(answer["pagination"]["hasMore"], false, "{list}: {answer}");
            }
        }
        for name in ["O'Brien \"x\" \\ %_", "Ünïcödé 🍕", "\u{202e}rtl"] {
            let body = json!({"name": name, "type": "filament", "quantity": 1});
            let material = app.post("/api/inventory/materials", &body).await.expect(201);
            let read = app.get(&format!("/api/inventory/materials/{}", id(&material))).await.expect(200);
            assert_eq!(read["name"], name);
        }
        // What people look for is text, not a pattern.
        assert_eq!(count(&app, "/api/inventory/materials?q=%25_").await, 1);
        // The edges of what a database can tell of time.
        for at in ["9999-12-31T23:59:59.999Z", "-009999-01-02T00:00:00Z", "1970-01-01T00:00:00Z"] {
            let body = json!({"name": "k", "role": "operator", "expiresAt": at});
            let answer = app.post("/api/auth/api-keys", &body).await;
            assert!(matches!(answer.status, 201 | 400), "{at}: {} {}", answer.status, answer.text);
        }
    }
}
