//! The audit log: who did what, and a sample of the refused requests.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{NOTHING, PASSWORD, count, id, new_key, paths, signed_in, staff, with_role};
use crate::support::{App, Db, on_sqlite, until};

async fn entries(app: &App, query: &str) -> Vec<Value> {
    app.get(&format!("/api/audit-log?limit=200&{query}")).await.expect(200)["entries"].as_array().unwrap().clone()
}

fn actions(entries: &[Value]) -> Vec<&str> {
    entries.iter().rev().map(|one| one["action"].as_str().unwrap()).collect()
}

on_sqlite! {
    async fn every_change_and_sign_in_is_written_with_who_what_and_when(db: Db) {
        let mut app = App::new(db).await;
        let user = staff(&app, "ann@example.org", "admin").await;
        let ann = signed_in(&app, "ann@example.org").await;
        let (key, operator) = new_key(&app, &json!({"name": "till", "role": "operator"})).await;
        let material = id(&operator.post("/api/inventory/materials", &json!({"name": "PLA", "type": "filament", "quantity": 5})).await.expect(201));
        let named = operator.request("PATCH", &format!("/api/inventory/materials/{material}")).header("X-Request-Id", "stock-take-1");
        operator.send(named.json(&json!({"quantity": 7}))).await.expect(200);
        app.patch(&format!("/api/users/{user}"), &json!({"name": "Anna"})).await.expect(200);
        app.delete(&format!("/api/auth/api-keys/{key}")).await.expect(204);
        ann.act("/api/auth/logout").await.expect(204);
        app.kill_9();
        app.start().await;

        let of_ann = entries(&app, &format!("actor=user:{user}")).await;
        assert_eq!(actions(&of_ann), ["session.open", "session.end"]);
        assert_eq!(of_ann[0]["subject"], of_ann[1]["subject"], "the same session");
        assert_eq!(actions(&entries(&app, &format!("subject=user:{user}")).await), ["user.create", "user.update"]);
        assert_eq!(actions(&entries(&app, &format!("subject={key}")).await), ["api_key.create", "api_key.revoke"]);
        let stock = entries(&app, &format!("actor=key:{key}")).await;
        assert_eq!(stock.len(), 2, "{stock:?}");
        assert_eq!((&stock[0]["requestId"], &stock[0]["outcome"]), (&json!("stock-take-1"), &json!("done")));
        assert_eq!(stock[0]["subject"], json!({"kind": "material", "id": material}));
        // Times: from is in, to is out.
        let at = stock[0]["at"].as_str().unwrap();
        let within = entries(&app, &format!("from={at}&subject=material")).await;
        assert!(within.iter().any(|one| one["id"] == stock[0]["id"]));
        let before = entries(&app, &format!("to={at}&subject=material")).await;
        assert!(!before.iter().any(|one| one["id"] == stock[0]["id"]));
        // A day is in the span that it begins or ends.
        let day = at.split('T').next().unwrap();
        let that_day = entries(&app, &format!("from={day}&to={day}&subject=material")).await;
        assert!(that_day.iter().any(|one| one["id"] == stock[0]["id"]), "{that_day:?}");
        assert!(entries(&app, "to=2000-01-01&subject=material").await.is_empty());
        assert_eq!(paths(&app.get("/api/audit-log?from=2026-01-05&to=2026-01-01").await.expect(400)), ["to"]);
        assert_eq!(paths(&app.get("/api/audit-log?from=yesterday").await.expect(400)), ["from"]);
        // Nothing that is secret.
        let text = app.get("/api/audit-log?limit=200").await.text;
        assert!(!text.contains("argon") && !text.contains(PASSWORD) && !text.contains("key_test_"), "{text}");
        // Pages: newest first, none twice.
        let all = count(&app, "/api/audit-log").await;
        let mut ids = HashSet::new();
        for offset in 0..all {
            let page = app.get(&format!("/api/audit-log?limit=1&offset={offset}")).await.expect(200);
            assert_eq!(page["pagination"]["hasMore"], json!(offset + 1 < all));
            assert!(ids.insert(page["entries"][0]["id"].as_str().unwrap().to_owned()));
        }
    }
}

#[tokio::test]
async fn a_refused_change_leaves_no_line_of_a_change() {
    let app = App::new(Db::sqlite()).await;
    let first = staff(&app, "first@example.org", "admin").await;
    assert_eq!(app.delete(&format!("/api/users/{first}")).await.error(409), "last_admin");
    assert!(entries(&app, "action=user.delete").await.is_empty());
    let refused = until("the refusal to be noted", || async {
        entries(&app, "action=DELETE%20/api/users/{id}").await.into_iter().next()
    })
    .await;
    assert_eq!((&refused["outcome"], &refused["subject"]["id"]), (&json!("last_admin"), &json!(first)));
    assert_eq!(refused["detail"]["status"], 409);
}

#[tokio::test]
async fn refused_attempts_are_a_sample_however_many_come() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "ann@example.org", "admin").await;
    let wrong = json!({"email": "Ann@example.org", "password": "a wrong password"});
    app.nobody().post("/api/auth/login", &wrong).await.error(401);
    let line = until("the sign-in to be noted", || async {
        entries(&app, "action=POST%20/api/auth/login").await.into_iter().next()
    })
    .await;
    assert_eq!((&line["actor"], &line["outcome"]), (&json!("anonymous"), &json!("wrong_credentials")));
    assert_eq!(line["detail"]["about"], json!({"email": "ann@example.org"}));
    assert_eq!(line["detail"]["address"], "127.0.0.1");
    let (customer, stranger) = (with_role(&app, "customer").await, app.with_key("key_test_nobody"));
    for n in 0..150 {
        customer.get(&format!("/api/jobs/{NOTHING}")).await.error(403);
        stranger.get(&format!("/api/orders?n={n}")).await.error(401);
    }
    until("a customer's attempt", || async { entries(&app, "action=GET%20/api/jobs/{id}").await.into_iter().next() })
        .await;
    let refused = entries(&app, "subject=request").await;
    // At most five a minute of each of two sources; the test may see two turns of the minute.
    assert!(refused.len() <= 30 + 6, "{} lines", refused.len());
    let summed = refused.iter().filter(|one| one["action"] == "refused").count();
    assert!(summed <= 6, "{summed} sums");
}

#[tokio::test]
async fn an_emergency_stop_of_nobody_is_noted_with_its_address() {
    let app = App::new(Db::sqlite()).await;
    for path in ["/api/printers", "/floor/printers"] {
        assert_eq!(app.nobody().act(&format!("{path}/{NOTHING}/emergency-stop")).await.status, 401, "{path}");
        let line = until("the attempt to be noted", || async {
            entries(&app, &format!("action=POST%20{path}/{{id}}/emergency-stop")).await.into_iter().next()
        })
        .await;
        assert_eq!((&line["actor"], &line["detail"]["address"]), (&json!("anonymous"), &json!("127.0.0.1")), "{line}");
    }
}
