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
    let ids = [order, sku, NOTHING.to_owned()];
    let before = changes(&app).await;
    let mut requests = 0;
    for route in CONTRACT.served.iter().chain(&BILLING.served).filter(|route| route.method.as_str() == "GET") {
        for path in paths(route.path, &ids) {
            for client in [&boss, &ann, &*app] {
                // The head says that the work is done; streams never end.
                client.request("GET", &path).send().await.unwrap();
                requests += 1;
            }
        }
    }
    assert!(requests > 200, "{requests}");
    assert!(!before.is_empty(), "the order and its product");
    assert_eq!(changes(&app).await, before);
}

#[test]
fn parameters_of_paths_are_filled_in() {
    let ids = ["1".to_owned(), "2".to_owned()];
    assert_eq!(paths("/a/{id}/b", &ids), ["/a/1/b", "/a/2/b"]);
    assert_eq!(paths("/a/{name}", &ids), [format!("/a/{NOTHING}")]);
    assert_eq!(paths("/a/{id}/{n}/c", &ids[..1]), [format!("/a/1/{NOTHING}/c")]);
}
