//! The shop's own catalogue.

use serde_json::{Value, json};

use crate::support::{App, Db};

const PATH: &str = "/api/v1/store/catalog";

async fn shop() -> App {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__CORS_ORIGINS", "https://blog.example").start().await;
    let material = app.material("PLA", 1_000_000.0).await;
    let file = app.gcode("part", 60, 10.0).await;
    for (n, (code, collections, public, file)) in [
        ("VASE", json!(["home-decor"]), true, Some(&file)),
        ("POT", json!(["garden", "home-decor"]), true, Some(&file)),
        ("LATER", json!([]), true, None),
        ("SECRET", json!(["garden"]), false, Some(&file)),
    ]
    .into_iter()
    .enumerate()
    {
        let sku = json!({
            "code": code, "name": code.to_lowercase(), "materialId": material, "estimatedConsumption": 10,
            "machineType": "fdm_standard", "priceCents": 100 * (n + 1), "gcodeFileId": file, "public": public,
            "collections": collections,
        });
        app.post("/api/skus", &sku).await.expect(201);
    }
    app
}

fn slugs(answer: &Value) -> Vec<&str> {
    answer["items"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn anybody_sees_what_is_sold() {
    let app = shop().await;
    let nobody = app.nobody();
    let answer = nobody.get(PATH).await;
    let caching = "public, max-age=60, s-maxage=120, stale-while-revalidate=300";
    assert_eq!(answer.header("cache-control"), Some(caching));
    let all = answer.expect(200);
    assert_eq!((&all["success"], &all["source"]), (&json!(true), &json!("local")));
    assert_eq!(slugs(&all), ["later", "pot", "vase"]);
    assert!(all["items"][0]["skuId"].is_null() && all["items"][1]["skuId"].is_string());
    let collections = json!([
        {"id": "garden", "slug": "garden", "title": "Garden"},
        {"id": "home-decor", "slug": "home-decor", "title": "Home decor"},
    ]);
    assert_eq!(all["collections"], collections);

    let get = async |query: &str| nobody.get(&format!("{PATH}?{query}")).await.expect(200);
    assert_eq!(slugs(&get("collection=garden").await), ["pot"]);
    assert_eq!(slugs(&get("collection=garden,home-decor").await), ["pot", "vase"]);
    assert_eq!(slugs(&get("featured=true&limit=1").await), ["later"]);
    assert_eq!(slugs(&get("featured=vase").await), ["vase"]);
    let id = all["items"][2]["id"].as_str().unwrap();
    assert_eq!(slugs(&get(&format!("featured={id}")).await), ["vase"]);
    // Without `featured=true` it acts on nothing, and unknown parameters never do.
    assert_eq!(slugs(&get("limit=1&surprise=1").await), ["later", "pot", "vase"]);
    for wrong in ["limit=0", "limit=13", "limit=x", "featured=true&limit=-1", "site=mars"] {
        let refused = nobody.get(&format!("{PATH}?{wrong}")).await;
        assert_eq!((refused.status, refused.header("cache-control")), (400, Some("no-store")), "{wrong}");
    }
    assert_eq!(slugs(&get("site=dev").await).len(), 3);
}

#[tokio::test]
async fn the_catalogue_is_kept_for_a_minute() {
    let app = shop().await;
    let before = app.nobody().get(PATH).await.expect(200);
    let vase = before["items"][2]["id"].as_str().unwrap();
    app.patch(&format!("/api/skus/{vase}"), &json!({"priceCents": 999})).await.expect(200);
    let after = app.nobody().get(PATH).await.expect(200);
    assert_eq!(after["generatedAt"], before["generatedAt"]);
    assert_eq!(after["items"], before["items"]);
}

#[tokio::test]
async fn blocked_pages_and_addresses_are_refused() {
    let app = shop().await;
    let nobody = app.nobody();
    let from = async |origin: &str| nobody.send(nobody.request("GET", PATH).header("origin", origin)).await;
    assert_eq!(from("https://blog.example").await.status, 200);
    assert_eq!(from(&nobody.base).await.status, 200);
    for evil in ["https://evil.example", "null", "https://blog.example.evil.example"] {
        assert_eq!(from(evil).await.error(403), "blocked", "{evil}");
    }
    let closed = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__BLOCKED_ADDRESSES", "127.0.0.0/8").start().await;
    assert_eq!(closed.nobody().get(PATH).await.error(403), "blocked");
    closed.nobody().get("/api/v1/openapi.json").await.expect(200);
}
