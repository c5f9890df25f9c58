//! The catalogue of another shop's storefront: cached for a minute, and still shown while the storefront is down.

use serde_json::Value;
use simulator::shops::{OtherShop, Product, ShopSystem};
use simulator::stock::NetworkCondition;

use crate::support::app::Builder;
use crate::support::redis::RedisServer;
use crate::support::{App, Db, until};

const PATH: &str = "/api/v1/store/catalog";

fn product(id: u64, code: &str, collections: &[&str]) -> Product {
    Product {
        id,
        handle: format!("thing-{id}"),
        code: code.to_owned(),
        cents: 1250,
        collections: collections.iter().map(|one| (*one).to_owned()).collect(),
    }
}

fn with(shop: &OtherShop) -> Builder {
    App::on(Db::sqlite())
        .env("PRINTFLOOR_CATALOG__PROVIDER", "shopify")
        .env("PRINTFLOOR_CATALOG__URL", shop.url())
        .env("PRINTFLOOR_INTEGRATIONS__REQUEST_TIMEOUT_SECONDS", 5)
        .env("PRINTFLOOR_INTEGRATIONS__RETRY_FIRST_SECONDS", 0.05)
        .env("PRINTFLOOR_INTEGRATIONS__RETRY_LONGEST_SECONDS", 0.1)
}

async fn app(shop: &OtherShop) -> App {
    with(shop).start().await
}

fn slugs(answer: &Value) -> Vec<&str> {
    answer["items"].as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_the_storefront_sells_is_matched_to_our_products() {
    let shop = OtherShop::start(ShopSystem::Shopify, "t").await.unwrap();
    let mut all: Vec<Product> = (1..=300).map(|id| product(id, "OTHER", &[])).collect();
    all[9] = product(10, "PART", &["home"]);
    all[299] = product(300, "OTHER", &["home", "garden"]);
    shop.sell(all);
    let app = app(&shop).await;
    let material = app.material("PLA", 1_000_000.0).await;
    let file = app.gcode("part", 60, 10.0).await;
    let sku = app.sku("PART", &material, &file, 900).await;
    let nobody = app.nobody();
    let answer = nobody.get(PATH).await;
    assert!(answer.header("cache-control").is_some_and(|caching| caching.starts_with("public, max-age=60")));
    let answer = answer.expect(200);
    assert_eq!((answer["source"].as_str(), slugs(&answer).len()), (Some("shopify"), 300));
    assert_eq!(slugs(&answer)[0], "thing-300", "the newest first");
    let get = async |query: &str| nobody.get(&format!("{PATH}?{query}")).await.expect(200);
    let home = get("collection=home").await;
    assert_eq!(slugs(&home), ["thing-300", "thing-10"]);
    assert_eq!((&home["items"][1]["skuId"], &home["items"][0]["skuId"]), (&Value::from(sku), &Value::Null));
    assert_eq!(home["items"][1]["priceCents"], 1250, "at the price there");
    assert_eq!(slugs(&get("featured=true&limit=2").await), ["thing-300", "thing-299"]);
    assert_eq!(slugs(&get("featured=thing-7").await), ["thing-7"]);
    assert_eq!(slugs(&get("featured=7").await), ["thing-7"]);
    let pages = shop.calls().1;
    futures::future::join_all((0..50).map(|_| nobody.get(PATH))).await;
    assert_eq!(shop.calls().1, pages, "it is not asked again within the minute");
}

#[tokio::test]
async fn a_storefront_that_is_away_slow_or_mad_is_no_fault_of_ours() {
    let shop = OtherShop::start(ShopSystem::Shopify, "t").await.unwrap();
    shop.sell(vec![product(1, "PART", &[])]);
    shop.weather(NetworkCondition::Down);
    let mut app = app(&shop).await;
    let nobody = app.nobody();
    let away = nobody.get(PATH).await;
    assert!(away.header("cache-control").is_none_or(|caching| !caching.contains("public")), "{away:?}");
    assert_eq!(away.error(503), "catalog_unavailable");
    shop.weather(NetworkCondition::Hangs);
    nobody.get(PATH).await.expect(503);
    shop.weather(NetworkCondition::Fair);
    for text in ["<html>", "[]", r#"{"products": 7}"#] {
        shop.talk_nonsense(Some(text));
        nobody.get(PATH).await.expect(503);
    }
    shop.talk_nonsense(None);
    let well = until("the storefront to be asked again", || async {
        let answer = nobody.get(PATH).await;
        (answer.status == 200).then(|| answer.json())
    })
    .await;
    assert_eq!(slugs(&well), ["thing-1"]);
    // A server that starts while it is away shows what was there.
    shop.weather(NetworkCondition::Down);
    app.stop().await;
    app.start().await;
    assert_eq!(slugs(&app.nobody().get(PATH).await.expect(200)), ["thing-1"]);
}

#[tokio::test]
async fn redis_keeps_the_last_good_answer_for_a_server_without_one() {
    let Some(redis) = RedisServer::start().await else { return };
    let shop = OtherShop::start(ShopSystem::Shopify, "t").await.unwrap();
    shop.sell(vec![product(1, "PART", &[])]);
    let mut app = with(&shop).env("REDIS_URL", redis.url()).start().await;
    app.nobody().get(PATH).await.expect(200);
    until("redis to have it", || async {
        let entry: Option<String> = redis.ask(&["GET", "printfloor:catalog"]).await.ok()?;
        entry.filter(|entry| entry.contains("thing-1")).map(drop)
    })
    .await;
    app.stop().await;
    std::fs::remove_file(app.data().join("catalog.json")).unwrap();
    shop.weather(NetworkCondition::Down);
    app.start().await;
    assert_eq!(slugs(&app.nobody().get(PATH).await.expect(200)), ["thing-1"]);
}
