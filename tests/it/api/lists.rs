//! Lists: one shape, pages, newest first.

use serde_json::{Value, json};

use super::{one_of, paths, some_sku};
use crate::support::{App, Db, on_both};

const LISTS: [(&str, &str); 10] = [
    ("/api/orders", "orders"),
    ("/api/jobs", "jobs"),
    ("/api/skus", "skus"),
    ("/api/files", "files"),
    ("/api/printers", "printers"),
    ("/api/inventory/materials", "materials"),
    ("/api/webhooks/endpoints", "endpoints"),
    ("/api/users", "users"),
    ("/api/customers", "customers"),
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
        let mut numbers = Vec::new();
        for _ in 0..7 {
            numbers.push(app.post("/api/orders", &one_of(&sku)).await.expect(201)["number"].clone());
        }
        numbers.reverse();
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
        assert_eq!(read, numbers);
        let beyond = app.get("/api/orders?offset=70").await.expect(200);
        assert_eq!((&beyond["orders"], &beyond["pagination"]["total"]), (&json!([]), &json!(7)));
    }
}

/// Returns the names of a list's items, sorted.
async fn names(app: &App, path: &str, plural: &str, member: &str) -> Vec<String> {
    let list = app.get(path).await.expect(200);
    let items = list[plural].as_array().unwrap();
    assert_eq!(list["pagination"]["total"], items.len(), "{path}: {list}");
    let mut names: Vec<String> = items.iter().map(|item| item[member].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

on_both! {
    async fn filters_take_what_they_name_and_refuse_what_they_do_not_know(db: Db) {
        let app = App::new(db).await;
        for (name, machine, tags) in [("a1", "fdm_large", json!(["left"])), ("a2", "fdm_standard", json!(["left", "old"])), ("b1", "laser_cutter", json!([]))] {
            let printer = json!({
                "name": name, "type": "fw_rest", "machineType": machine, "baseUrl": format!("http://127.0.0.1:9/{name}"), "tags": tags,
            });
            app.post("/api/printers", &printer).await.expect(201);
        }
        crate::support::until("them to be away", || async {
            (names(&app, "/api/printers?state=offline&attention=unreachable", "printers", "name").await.len() == 3).then_some(())
        })
        .await;
        for (query, expected) in [
            ("", vec!["a1", "a2", "b1"]),
            ("?machineType=fdm_large", vec!["a1"]),
            ("?type=fw_rest&tag=left", vec!["a1", "a2"]),
            ("?tag=old", vec!["a2"]),
            ("?q=A", vec!["a1", "a2"]),
            ("?type=server_rest", vec![]),
            ("?state=idle", vec![]),
            ("?attention=true", vec!["a1", "a2", "b1"]),
            ("?attention=needs_home", vec![]),
        ] {
            assert_eq!(names(&app, &format!("/api/printers{query}"), "printers", "name").await, expected, "{query}");
        }
        let page = app.get("/api/printers?limit=2&offset=1").await.expect(200);
        assert_eq!(page["pagination"], json!({"limit": 2, "offset": 1, "total": 3, "hasMore": false}));
        for (query, member) in [("state=sleeping", "state"), ("machineType=x", "machineType"), ("attention=x", "attention")] {
            assert_eq!(paths(&app.get(&format!("/api/printers?{query}")).await.expect(400)), [member]);
        }

        let sku = some_sku(&app).await;
        let order = app.paid_order(&sku, 2).await;
        let job = app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        app.job_is(&job, "SLICED").await;
        app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
        let total = |query: &'static str| {
            let app = &app;
            async move { app.get(&format!("/api/jobs?{query}")).await.expect(200)["pagination"]["total"].clone() }
        };
        assert_eq!((total("waiting=true").await, total("waiting=false").await), (json!(1), json!(1)));
        assert_eq!(paths(&app.get("/api/jobs?waiting=perhaps").await.expect(400)), ["waiting"]);
        assert_eq!((total("awaitsSignOff=true").await, total("awaitsSignOff=false").await), (json!(0), json!(2)));
        let mine = app.get("/api/orders?email=Buyer@Example.org").await.expect(200);
        assert_eq!(mine["pagination"]["total"], 1, "{mine}");
    }
}

/// Returns the text of a list of these resources, joined from the text of each.
async fn joined(app: &App, path: &str, plural: &str, ids: &[String]) -> String {
    let mut texts = Vec::new();
    for id in ids {
        texts.push(app.get(&format!("{path}/{id}")).await.text);
    }
    let pagination = format!("{{\"limit\":50,\"offset\":0,\"total\":{},\"hasMore\":false}}", ids.len());
    format!("{{\"{plural}\":[{}],\"pagination\":{pagination}}}", texts.join(","))
}

on_both! {
    async fn materials_are_listed_as_each_of_them_is_read_after_every_change(db: Db) {
        const PATH: &str = "/api/inventory/materials";
        let mut app = App::new(db).await;
        let mut ids = Vec::new();
        for name in ["a", "b", "c"] {
            ids.insert(0, app.material(name, 100.0).await);
        }
        let one = format!("{PATH}/{}", ids[1]);
        for quantity in 101..105 {
            let delivery = json!({"delta": 1, "reason": "new spool"});
            app.post(&format!("{one}/adjustments"), &delivery).await.expect(200);
            for _ in 0..2 {
                let list = app.get(PATH).await;
                assert_eq!(list.text, joined(&app, PATH, "materials", &ids).await);
                assert_eq!(list.json()["materials"][1]["quantity"], quantity);
            }
        }
        app.patch(&one, &json!({"name": "bronze"})).await.expect(200);
        assert_eq!(app.get(PATH).await.text, joined(&app, PATH, "materials", &ids).await);
        assert_eq!(names(&app, &format!("{PATH}?q=bronze"), "materials", "name").await, ["bronze"]);
        let page = app.get(&format!("{PATH}?limit=1&offset=1")).await.expect(200);
        assert_eq!((&page["materials"][0]["name"], &page["pagination"]["hasMore"]), (&json!("bronze"), &json!(true)));
        app.delete(&format!("{PATH}/{}", ids.remove(0))).await.expect(204);
        assert_eq!(app.get(PATH).await.text, joined(&app, PATH, "materials", &ids).await);
        app.stop().await;
        app.start().await;
        for _ in 0..2 {
            assert_eq!(app.get(PATH).await.text, joined(&app, PATH, "materials", &ids).await);
        }
    }
}

#[tokio::test]
async fn printers_are_listed_as_each_of_them_is_read_after_every_change() {
    const PATH: &str = "/api/printers";
    let app = App::new(Db::sqlite()).await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        let printer = json!({
            "name": name, "type": "fw_rest", "machineType": "fdm_standard",
            "baseUrl": format!("http://127.0.0.1:9/{name}"),
        });
        ids.insert(0, super::id(&app.post(PATH, &printer).await.expect(201)));
    }
    for id in &ids {
        app.act(&format!("{PATH}/{id}/disconnect")).await.expect(200);
    }
    crate::support::until("the printers to be left alone", || async {
        let expected = joined(&app, PATH, "printers", &ids).await;
        (app.get(PATH).await.text == expected).then_some(())
    })
    .await;
    let material = app.material("PLA", 100.0).await;
    let one = format!("{PATH}/{}", ids[1]);
    let service = |note: &str| json!({"on": true, "note": note});
    let reminder = json!({"name": "Clean the nozzle", "everyHours": 100});
    for (path, body, member, expected) in [
        ("maintenance", service("new nozzle"), "/maintenance", json!("new nozzle")),
        ("maintenance", service("new belt"), "/maintenance", json!("new belt")),
        ("slots/0", json!({"materialId": material, "remaining": 80}), "/slots/0/remaining", json!(80)),
        ("slots/1", json!({"color": "#00ff7f"}), "/slots/1/color", json!("#00ff7f")),
        ("slots/0", json!({"remaining": 70}), "/slots/0/remaining", json!(70)),
        ("reminders", reminder, "/maintenance", json!("new belt")),
    ] {
        let answer = app.post(&format!("{one}/{path}"), &body).await;
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text);
        for _ in 0..2 {
            let list = app.get(PATH).await;
            assert_eq!(list.text, joined(&app, PATH, "printers", &ids).await);
            assert_eq!(list.json()["printers"][1].pointer(member), Some(&expected), "{path}: {body}");
        }
    }
    app.patch(&one, &json!({"name": "bronze"})).await.expect(200);
    assert_eq!(names(&app, "/api/printers?q=BRONZE", "printers", "name").await, ["bronze"]);
    let bronze = app.get(&one).await;
    assert_eq!(bronze.header("etag"), Some(&*format!("\"{}\"", bronze.json()["version"])));
    app.delete(&format!("{PATH}/{}", ids.remove(0))).await.expect(204);
    assert_eq!(app.get(PATH).await.text, joined(&app, PATH, "printers", &ids).await);
}
