//! The customer's own profile.

use serde_json::json;

use super::customer;
use crate::api::{fault_paths, paths};
use crate::support::{App, Db, on_sqlite};

on_sqlite! {
    async fn only_what_is_supplied_changes(db: Db) {
        let mut app = App::new(db).await;
        let ann = customer(&app, "ann@example.org").await;
        let fresh = ann.get("/api/v1/me").await.expect(200)["profile"].clone();
        assert_eq!(fresh["addresses"], json!([]));
        assert_eq!(fresh["paymentMethods"], json!([]));
        assert!(fresh["name"].is_null());

        let address = json!({
            "kind": "shipping", "line1": "1 Main Street", "city": "Springfield", "region": "IL", "postalCode": "62701",
            "country": "us",
        });
        let change = json!({"name": " Ann ", "phone": "+1 555", "locale": "en-US", "addresses": [address, address]});
        let changed = ann.patch("/api/v1/profile", &change).await.expect(200);
        let profile = &changed["profile"];
        assert_eq!((&changed["success"], &profile["name"], &profile["phone"]), (&json!(true), &json!("Ann"), &json!("+1 555")));
        assert_eq!((&profile["addresses"][0]["isDefault"], &profile["addresses"][1]["isDefault"]), (&json!(true), &json!(false)));
        assert_eq!(profile["addresses"][0]["country"], "US");

        let second = profile["addresses"][1].clone();
        let answer = ann.patch("/api/v1/profile", &json!({"phone": null, "addresses": [second]})).await.expect(200);
        assert_eq!((&answer["profile"]["name"], &answer["profile"]["phone"]), (&json!("Ann"), &json!(null)));
        assert_eq!(answer["profile"]["addresses"][0]["id"], second["id"]);
        assert_eq!(answer["profile"]["addresses"][0]["isDefault"], true);
        app.kill_9();
        app.start().await;
        assert_eq!(ann.get("/api/v1/me").await.expect(200)["profile"], answer["profile"]);
    }
}

#[tokio::test]
async fn every_fault_is_told_at_once() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    let wrong = json!({
        "name": "a\nb", "email": "other@example.org", "locale": "english",
        "addresses": [{"kind": "home", "line1": "", "city": "x", "postalCode": "1", "country": "USA"}],
    });
    let refusal = ann.patch("/api/v1/profile", &wrong).await.expect(400);
    let expected = ["addresses.0.country", "addresses.0.kind", "addresses.0.line1", "email", "locale", "name"];
    assert_eq!(paths(&refusal), expected);
    let unknown = json!({"addresses": [{
        "id": crate::api::NOTHING, "kind": "billing", "line1": "x", "city": "x", "postalCode": "1", "country": "US",
    }]});
    assert_eq!(fault_paths(&ann.patch("/api/v1/profile", &unknown).await.expect(400)), ["addresses.0.id"]);
    let default = json!({
        "kind": "billing", "line1": "x", "city": "x", "postalCode": "1", "country": "US", "isDefault": true,
    });
    let two = json!({"addresses": [default, default]});
    assert_eq!(fault_paths(&ann.patch("/api/v1/profile", &two).await.expect(400)), ["addresses.1.isDefault"]);
}

#[tokio::test]
async fn the_staff_sees_customers() {
    let app = App::new(Db::sqlite()).await;
    let ann = customer(&app, "ann@example.org").await;
    customer(&app, "bob@example.org").await;
    ann.patch("/api/v1/profile", &json!({"name": "Ann Smith"})).await.expect(200);
    let matches = app.get("/api/customers?q=smith").await.expect(200);
    assert_eq!(
        (&matches["pagination"]["total"], &matches["customers"][0]["email"]),
        (&json!(1), &json!("ann@example.org"))
    );
    let id = matches["customers"][0]["id"].as_str().unwrap();
    assert_eq!(app.get(&format!("/api/customers/{id}")).await.expect(200)["name"], "Ann Smith");
    assert_eq!(app.get("/api/customers").await.expect(200)["customers"][0]["email"], "bob@example.org");

    // Who is ordered for has a record, too.
    let sku = crate::api::some_sku(&app).await;
    let mut order = crate::api::one_of(&sku);
    order["customerEmail"] = json!("New@example.org");
    let placed = app.post("/api/orders", &order).await.expect(201);
    let record = app.get("/api/customers?email=new@example.org").await.expect(200)["customers"][0].clone();
    assert_eq!(placed["customerId"], record["id"]);
    let again = app.post("/api/orders", &order).await.expect(201);
    assert_eq!(again["customerId"], record["id"]);
}
