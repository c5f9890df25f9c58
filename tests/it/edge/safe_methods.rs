//! Safe methods: no GET changes anything, because any page elsewhere can make a browser send one with its cookie.

use serde_json::{Value, json};

use crate::api::{NOTHING, id, one_of, signed_in, some_sku, staff};
use crate::billing::customer;
use crate::support::contract::{BILLING, CONTRACT};
use crate::support::{App, Db};

/// Returns the latest changes in the audit log that people or their keys made.
async fn changes(app: &App) -> Vec<Value> {
    let log = app.get("/api/audit-log?limit=200").await.expect(200);
    let by_people = |entry: &&Value| entry["outcome"] == "done" && entry["actor"] != "machine";
    log["entries"].as_array().unwrap().iter().filter(by_people).cloned().collect()
}

/// Returns the ID of the first entry in a list; `None` if it is empty.
fn first_id(list: &Value) -> Option<String> {
    let entries = list.as_object()?.values().find_map(Value::as_array)?;
    entries.first()?["id"].as_str().map(str::to_owned)
}

/// Returns the paths of an operation for these IDs; other parameters have no meaning in any operation.
fn paths(pattern: &str, ids: &[String]) -> Vec<String> {
    let without_others = |path: String| {
        let mut parts = path.split('{');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |path, part| path + NOTHING + part.split_once('}').map_or("", |(_, rest)| rest))
    };
    let mut paths: Vec<String> = ids.iter().map(|id| without_others(pattern.replace("{id}", id))).collect();
    paths.dedup();
    paths
}

#[tokio::test]
async fn no_get_of_the_api_changes_anything() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "boss@example.org", "admin").await;
    let boss = signed_in(&app, "boss@example.org").await;
    let ann = customer(&app, "ann@example.org").await;
    let sku = some_sku(&app).await;
    let mut order = one_of(&sku);
    order["customerEmail"] = json!("ann@example.org");
    let order = id(&app.post("/api/orders", &order).await.expect(201));
    app.paid_order(&sku, 1).await;
    let mut ids = vec![order, sku, NOTHING.to_owned()];
    for list in ["/api/inventory/materials", "/api/files", "/api/jobs", "/api/invoices", "/api/customers"] {
        ids.extend(first_id(&app.get(list).await.expect(200)));
    }
    assert!(ids.len() >= 6, "{ids:?}");
    let before = (changes(&app).await, app.get("/api/events").await.expect(200));
    let mut answered = [0; 3];
    for route in CONTRACT.served.iter().chain(&BILLING.served).filter(|route| route.method.as_str() == "GET") {
        for path in paths(route.path, &ids) {
            for (count, client) in answered.iter_mut().zip([&boss, &ann, &*app]) {
                // The head says that the work is done; streams never end.
                let answer = client.request("GET", &path).send().await.unwrap();
                *count += u32::from(answer.status().is_success());
            }
        }
    }
    assert!(answered[0] > 50 && answered[1] > 8 && answered[2] > 50, "{answered:?}");
    assert!(!before.0.is_empty(), "the orders and their product");
    assert_eq!((changes(&app).await, app.get("/api/events").await.expect(200)), before);
}

#[test]
fn parameters_of_paths_are_filled_in() {
    let ids = ["1".to_owned(), "2".to_owned()];
    assert_eq!(paths("/a/{id}/b", &ids), ["/a/1/b", "/a/2/b"]);
    assert_eq!(paths("/a/{name}", &ids), [format!("/a/{NOTHING}")]);
    assert_eq!(paths("/a/{id}/{n}/c", &ids[..1]), [format!("/a/1/{NOTHING}/c")]);
}
