//! Lists: one shape, pages, newest first (decisions §1).

use super::{one_of, paths, some_sku};
use crate::support::{App, Db, on_both};
use serde_json::{Value, json};

const LISTS: [(&str, &str); 9] = [
    ("/api/orders", "orders"),
    ("/api/jobs", "jobs"),
    ("/api/skus", "skus"),
    ("/api/files", "files"),
    ("/api/printers", "printers"),
    ("/api/inventory/materials", "materials"),
    ("/api/webhooks/endpoints", "endpoints"),
    ("/api/users", "users"),
    ("/api/auth/api-keys", "apiKeys"),
];

#[tokio::test]
async fn every_list_has_the_one_shape_and_limits() {
    let app = App::new(Db::sqlite()).await;
    for (path, plural) in LISTS {
        let list = app.get(path).await.expect(200);
        assert!(list[plural].is_array(), "{path}: {list}");
        let page = &list["pagination"];
        assert_eq!(
            (&page["limit"], &page["offset"], &page["hasMore"]),
            (&json!(50), &json!(0), &json!(false)),
            "{path}: {list}"
        );
        assert_eq!(page["total"], list[plural].as_array().unwrap().len(), "{path}: {list}");
        for (query, member) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("limit=x", "limit"),
            ("limit=1.5", "limit"),
            ("offset=-1", "offset"),
        ] {
            assert_eq!(paths(&app.get(&format!("{path}?{query}")).await.expect(400)), [member], "{path}?{query}");
        }
        app.get(&format!("{path}?limit=200")).await.expect(200);
    }
}

on_both! {
    async fn pages_are_the_whole_list_newest_first(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let mut made = Vec::new();
        for _ in 0..7 {
            made.push(app.post("/api/orders", &one_of(&sku)).await.expect(201)["number"].clone());
        }
        made.reverse();
        let mut read: Vec<Value> = Vec::new();
        loop {
            let page = app.get(&format!("/api/orders?limit=3&offset={}", read.len())).await.expect(200);
            let orders = page["orders"].as_array().unwrap();
            assert_eq!(page["pagination"], json!({"limit": 3, "offset": read.len(), "total": 7, "hasMore": read.len() + orders.len() < 7}));
            read.extend(orders.iter().map(|order| order["number"].clone()));
            if page["pagination"]["hasMore"] == false {
                break;
            }
        }
        assert_eq!(read, made);
        let beyond = app.get("/api/orders?offset=70").await.expect(200);
        assert_eq!((&beyond["orders"], &beyond["pagination"]["total"]), (&json!([]), &json!(7)));
    }
}
