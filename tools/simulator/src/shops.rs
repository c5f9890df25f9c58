//! Simulated external shops: Shopify and `WooCommerce` with their APIs and webhooks, and Shopify's public storefront.
//!
//! Orders can be placed, paid, changed, cancelled and refunded in the same way as by the shop's customers and staff.
//! Each change sends a signed message, which may arrive immediately, late, twice or out of order. Tests can inspect the
//! shipments reported to the shop.

mod message;
mod orders;
mod storefront;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router, middleware};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub use self::message::signature;
pub use self::orders::ShopOrder;
pub use self::storefront::Product;

use self::message::ShopMessage;
use crate::courier::{Courier, DeliveryConditions};
use crate::stock::{NetworkCondition, SharedCondition, on_the_way};
use crate::wire::SimServer;

/// Maximum size of a request body in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// E-commerce platform of a shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShopSystem {
    /// Shopify: token in a dedicated header; fulfillments.
    Shopify,
    /// `WooCommerce`: key and secret as user name and password; notes and a status.
    WooCommerce,
}

impl ShopSystem {
    /// Returns the name of the platform, as its maker writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shopify => "Shopify",
            Self::WooCommerce => "WooCommerce",
        }
    }

    /// Returns the name of the platform in APIs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shopify => "shopify",
            Self::WooCommerce => "woocommerce",
        }
    }
}

#[derive(Debug)]
struct OtherShopState {
    system: ShopSystem,
    token: String,
    orders: BTreeMap<u64, ShopOrder>,
    products: Vec<Product>,
    /// Product names, by variant.
    titles: BTreeMap<String, String>,
    /// Text that every storefront page returns instead of products; `None` for normal pages.
    nonsense: Option<String>,
    last_id: u64,
    /// Number of API calls with the correct token.
    calls: usize,
    /// Number of storefront pages requested.
    pages: usize,
}

impl OtherShopState {
    /// Returns the name of the product that a variant belongs to, or `Item` for a variant without one.
    fn title(&self, variant: &str) -> String {
        let of_storefront = || self.products.iter().find(|one| one.code == variant).map(|one| &one.handle);
        self.titles.get(variant).or_else(of_storefront).map_or("Item", String::as_str).to_owned()
    }
}

#[derive(Clone, Debug)]
struct ShopHost {
    inside: Arc<Mutex<OtherShopState>>,
    courier: Courier<ShopMessage>,
}

impl ShopHost {
    fn with<T>(&self, act: impl FnOnce(&mut OtherShopState) -> T) -> T {
        act(&mut self.inside.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Running simulated shop; stops when dropped.
#[derive(Debug)]
pub struct OtherShop {
    host: ShopHost,
    way: SharedCondition,
    server: SimServer,
    courier: JoinHandle<()>,
}

impl Drop for OtherShop {
    fn drop(&mut self) {
        self.courier.abort();
    }
}

impl OtherShop {
    /// Starts the shop on a free loopback port; its API requires the given token.
    pub async fn start(system: ShopSystem, token: &str) -> std::io::Result<Self> {
        let inside = OtherShopState {
            system,
            token: token.to_owned(),
            orders: BTreeMap::new(),
            products: Vec::new(),
            titles: BTreeMap::new(),
            nonsense: None,
            last_id: 1000,
            calls: 0,
            pages: 0,
        };
        let host = ShopHost { inside: Arc::new(Mutex::new(inside)), courier: Courier::new() };
        let way = SharedCondition::default();
        let router = Router::new()
            .route("/products.json", get(storefront::products))
            .route("/collections.json", get(storefront::collections))
            .route("/collections/{handle}/products.json", get(storefront::in_collection))
            .route("/admin/api/{version}/orders/{id}/fulfillments.json", get(fulfillments))
            .route("/admin/api/{version}/orders/{id}/fulfillment_orders.json", get(fulfillment_orders))
            .route("/admin/api/{version}/fulfillments.json", post(fulfill))
            .route("/wp-json/wc/v3/orders/{id}/notes", get(notes).post(add_note))
            .route("/wp-json/wc/v3/orders/{id}", put(set_status))
            .layer(middleware::from_fn_with_state(way.clone(), on_the_way))
            .with_state(host.clone());
        let server = SimServer::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), router).await?;
        let courier = tokio::spawn(host.courier.clone().work());
        Ok(Self { host, way, server, courier })
    }

    /// Returns the shop's base URL.
    pub fn url(&self) -> String {
        self.server.base_url()
    }

    /// Sets the network condition for all subsequent calls.
    pub fn weather(&self, weather: NetworkCondition) {
        self.way.set(weather);
    }

    /// Sends all subsequent messages to `path` on the server at `to`, signed with the given secret.
    pub fn messages_go_to(&self, to: SocketAddr, path: &str, secret: &str) {
        self.host.courier.go_to(to, path, secret);
    }

    /// Sets the conditions under which subsequent messages are delivered.
    pub fn messages_travel(&self, travel: DeliveryConditions) {
        self.host.courier.travel(travel);
    }

    /// Returns the numbers of pending, accepted and abandoned messages.
    pub fn message_counts(&self) -> (usize, usize, usize) {
        self.host.courier.counts()
    }

    /// Makes order numbers continue after `last`, unless they are already higher than that.
    pub fn number_from(&self, last: u64) {
        self.host.with(|inside| inside.last_id = inside.last_id.max(last));
    }

    /// Places an order with the given lines: variant, quantity, and unit price in cents. Returns the ID of the order,
    /// which is unpaid.
    pub fn place(&self, lines: &[(&str, u32, i64)]) -> u64 {
        let id = self.host.with(|inside| {
            inside.last_id += 1;
            let id = inside.last_id;
            inside.orders.insert(id, ShopOrder::new(id, lines));
            id
        });
        self.tell(id, "create");
        id
    }

    /// Marks an order as paid.
    pub fn pay(&self, order: u64) {
        self.change(order, "paid", |order| order.paid = true);
    }

    /// Cancels an order.
    pub fn cancel(&self, order: u64) {
        self.change(order, "cancelled", |order| order.cancelled = true);
    }

    /// Refunds part of an order's payment.
    pub fn refund(&self, order: u64, cents: i64) {
        self.change(order, "updated", |order| order.refunded_cents += cents);
    }

    /// Sends another message about the current state of an order.
    pub fn tell(&self, order: u64, what: &str) {
        let letter = self.host.with(|inside| {
            let sold = inside.orders.get(&order)?;
            let title = |variant: &str| inside.title(variant);
            Some(match inside.system {
                ShopSystem::Shopify => ShopMessage {
                    topic: ("X-Shopify-Topic", format!("orders/{what}")),
                    signature: "X-Shopify-Hmac-Sha256",
                    ids: ["X-Shopify-Webhook-Id", "X-Shopify-Event-Id"],
                    body: sold.of_shopify(title).to_string(),
                },
                ShopSystem::WooCommerce => ShopMessage {
                    topic: (
                        "X-WC-Webhook-Topic",
                        if what == "create" { "order.created" } else { "order.updated" }.to_owned(),
                    ),
                    signature: "X-WC-Webhook-Signature",
                    ids: ["X-WC-Webhook-ID", "X-WC-Webhook-Delivery-ID"],
                    body: sold.of_woocommerce(title).to_string(),
                },
            })
        });
        self.host.courier.take(letter);
    }

    fn change(&self, order: u64, what: &str, change: impl FnOnce(&mut ShopOrder)) {
        self.host.with(|inside| {
            if let Some(order) = inside.orders.get_mut(&order) {
                order.change(change);
            }
        });
        self.tell(order, what);
    }

    /// Returns an order as the shop stores it; `None` if there is no such order.
    pub fn order(&self, order: u64) -> Option<ShopOrder> {
        self.host.with(|inside| inside.orders.get(&order).cloned())
    }

    /// Sets the name of a variant's product, which is stated on the lines of orders.
    pub fn name_variant(&self, variant: &str, title: &str) {
        self.host.with(|inside| inside.titles.insert(variant.to_owned(), title.to_owned()));
    }

    /// Sets the products of the storefront.
    pub fn sell(&self, products: Vec<Product>) {
        self.host.with(|inside| inside.products = products);
    }

    /// Makes every storefront page return the given text; `None` makes them return products again.
    pub fn talk_nonsense(&self, text: Option<&str>) {
        self.host.with(|inside| inside.nonsense = text.map(str::to_owned));
    }

    /// Returns the number of API calls with the correct token, and the number of storefront pages requested.
    pub fn calls(&self) -> (usize, usize) {
        self.host.with(|inside| (inside.calls, inside.pages))
    }
}

/// Runs an action on an order if the caller presents the correct token.
fn admitted<T>(
    host: &ShopHost,
    headers: &HeaderMap,
    id: u64,
    act: impl FnOnce(&mut ShopOrder) -> Result<T, (StatusCode, Value)>,
) -> Result<T, (StatusCode, Value)> {
    host.with(|inside| {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let presented = match inside.system {
            ShopSystem::Shopify => text("x-shopify-access-token"),
            ShopSystem::WooCommerce => {
                let basic = text("authorization");
                let basic = basic.strip_prefix("Basic ").unwrap_or_default();
                String::from_utf8(STANDARD.decode(basic).unwrap_or_default()).unwrap_or_default()
            }
        };
        if presented != inside.token {
            return Err((StatusCode::UNAUTHORIZED, json!({"errors": "[API] Invalid API key or access token"})));
        }
        inside.calls += 1;
        let order = inside.orders.get_mut(&id);
        act(order.ok_or_else(|| (StatusCode::NOT_FOUND, json!({"errors": "Not Found"})))?)
    })
}

fn answer(done: Result<Value, (StatusCode, Value)>) -> Response {
    match done {
        Ok(value) => Json(value).into_response(),
        Err((status, value)) => (status, Json(value)).into_response(),
    }
}

async fn body(request: Request) -> Value {
    let bytes = axum::body::to_bytes(request.into_body(), MAX_BODY_BYTES).await.unwrap_or_default();
    bounded_json::read(&bytes, bounded_json::REQUEST).unwrap_or_default()
}

async fn fulfillments(
    State(host): State<ShopHost>,
    Path((_, id)): Path<(String, u64)>,
    headers: HeaderMap,
) -> Response {
    answer(admitted(&host, &headers, id, |order| Ok(json!({"fulfillments": order.fulfillments}))))
}

async fn fulfillment_orders(
    State(host): State<ShopHost>,
    Path((_, id)): Path<(String, u64)>,
    headers: HeaderMap,
) -> Response {
    answer(admitted(&host, &headers, id, |order| Ok(json!({"fulfillment_orders": [order.fulfillment_order()]}))))
}

async fn fulfill(State(host): State<ShopHost>, headers: HeaderMap, request: Request) -> Response {
    let body = body(request).await;
    let fulfillment = &body["fulfillment"];
    let part = &fulfillment["line_items_by_fulfillment_order"][0];
    let order = part["fulfillment_order_id"].as_u64().unwrap_or_default() / 10;
    answer(admitted(&host, &headers, order, |order| order.fulfill(fulfillment)))
}

async fn notes(State(host): State<ShopHost>, Path(id): Path<u64>, headers: HeaderMap) -> Response {
    answer(admitted(&host, &headers, id, |order| {
        Ok(order.notes.iter().map(|note| json!({"note": note})).collect::<Vec<_>>().into())
    }))
}

async fn add_note(State(host): State<ShopHost>, Path(id): Path<u64>, headers: HeaderMap, request: Request) -> Response {
    let body = body(request).await;
    answer(admitted(&host, &headers, id, |order| {
        order.notes.push(body["note"].as_str().unwrap_or_default().to_owned());
        Ok(json!({"id": order.notes.len()}))
    }))
}

async fn set_status(
    State(host): State<ShopHost>,
    Path(id): Path<u64>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let body = body(request).await;
    answer(admitted(&host, &headers, id, |order| {
        order.completed |= body["status"] == "completed";
        Ok(json!({"id": id, "status": body["status"]}))
    }))
}
