//! Public storefront, which serves products and collections in pages and requires no key.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::ShopHost;

/// Maximum number of products per page.
const MAX_PAGE: usize = 250;

/// Product in the storefront.
#[derive(Clone, Debug)]
pub struct Product {
    /// Product ID on the platform.
    pub id: u64,
    /// URL handle of the product, also used as its title.
    pub handle: String,
    /// SKU code of the product's only variant.
    pub code: String,
    /// Price in cents.
    pub cents: i64,
    /// Handles of the collections that contain the product.
    pub collections: Vec<String>,
}

impl Product {
    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "title": self.handle, "handle": self.handle, "body_html": "<p>Something</p>",
            // The higher the ID, the newer.
            "published_at": format!("2026-10-01T{:02}:{:02}:00Z", self.id / 60 % 24, self.id % 60),
            "variants": [{
                "id": self.id * 10, "sku": self.code, "price": format!("{}.{:02}", self.cents / 100, self.cents % 100),
            }],
            "images": [{"src": format!("https://cdn.example.org/{}.png", self.handle)}],
        })
    }
}

fn page(
    host: &ShopHost,
    query: &BTreeMap<String, String>,
    member: &str,
    all: impl FnOnce(&[Product]) -> Vec<Value>,
) -> Response {
    let number = |name: &str| query.get(name).and_then(|text| text.parse::<usize>().ok());
    let limit = number("limit").unwrap_or(30).min(MAX_PAGE);
    let before = number("page").unwrap_or(1).saturating_sub(1) * limit;
    host.with(|inside| {
        inside.pages += 1;
        if let Some(text) = &inside.nonsense {
            return text.clone().into_response();
        }
        let items: Vec<Value> = all(&inside.products).into_iter().skip(before).take(limit).collect();
        let mut body = json!({});
        body[member] = items.into();
        Json(body).into_response()
    })
}

pub(super) async fn products(State(host): State<ShopHost>, Query(query): Query<BTreeMap<String, String>>) -> Response {
    page(&host, &query, "products", |all| all.iter().map(Product::to_json).collect())
}

pub(super) async fn collections(
    State(host): State<ShopHost>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    page(&host, &query, "collections", |all| {
        let handles: BTreeSet<&String> = all.iter().flat_map(|one| &one.collections).collect();
        let collection = |(at, handle): (usize, &String)| json!({"id": at + 1, "handle": handle, "title": handle});
        handles.into_iter().enumerate().map(collection).collect()
    })
}

pub(super) async fn in_collection(
    State(host): State<ShopHost>,
    Path(handle): Path<String>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    page(&host, &query, "products", |all| {
        all.iter().filter(|one| one.collections.contains(&handle)).map(Product::to_json).collect()
    })
}
