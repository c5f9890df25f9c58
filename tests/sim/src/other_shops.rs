//! Other shops whose orders are produced here, at the port of their clients: they store what is reported to them, and
//! fail for a while.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::http::{Response as HttpResponse, StatusCode};
use fastrand::Rng;
use futures::future::pending;
use reqwest::{Request, Response};
use serde_json::{Value, json};
use simulator::shops::ShopOrder;
use tokio::time::sleep;

use crate::chance::branch;
use crate::clock::WorldClock;
use crate::endpoints::Spell;
use crate::faults::{FaultKind, FaultPlan};
use crate::plants::{Plant, Planter};
use crate::power::Power;
use crate::sold::{SaleStage, ShopPlan, SoldPlan};
use crate::story::Story;
use services::peer_client::{NoPeerResponse, PeerTransport};

/// API token shared by all shops.
pub const SHOP_TOKEN: &str = "simulated token of another shop";
/// Secret that every shop uses to sign its messages.
pub const SHOP_SECRET: &str = "simulated secret of another shop";

/// Round-trip time of a request to a shop.
const WAY: Duration = Duration::from_millis(30);

/// All other shops of a story.
pub struct SimulatedShops {
    clock: Arc<WorldClock>,
    story: Arc<Story>,
    power: Arc<Power>,
    /// Shops by their numbers.
    state: Mutex<BTreeMap<usize, SimulatedShop>>,
}

/// Another shop.
struct SimulatedShop {
    chance: Rng,
    spells: Vec<Spell>,
    /// Probability that the response to a request is lost.
    answer_lost: f64,
    orders: BTreeMap<u64, ShopOrder>,
    /// `true` if the shop confirms fulfillments without storing them.
    is_forgetful: bool,
}

/// Fate of a request.
enum Fate {
    /// The shop responds.
    Answered(StatusCode, Value),
    /// No response arrives, whether or not the request was executed.
    Unanswered(NoPeerResponse),
    /// The request hangs forever.
    Forgotten,
}

/// Returns the base URL of a shop.
pub fn address_of(shop: usize) -> String {
    format!("https://shop-{shop}.example.org")
}

/// Returns the variant ID by which every shop refers to a product.
pub fn variant_of(product: usize) -> String {
    (39_000 + product).to_string()
}

/// Returns an order as its shop represents it at this stage.
pub fn order_of(plan: &SoldPlan, stage: SaleStage) -> ShopOrder {
    let variants: Vec<_> = plan.lines.iter().map(|(product, ..)| variant_of(*product)).collect();
    let lines =
        variants.iter().zip(&plan.lines).map(|(variant, (_, quantity, cents))| (variant.as_str(), *quantity, *cents));
    let mut order = ShopOrder::new(plan.id, &lines.collect::<Vec<_>>());
    if stage >= SaleStage::Paid {
        order.change(|order| order.paid = true);
    }
    if stage >= SaleStage::Cancelled {
        order.change(|order| (order.cancelled, order.refunded_cents) = (true, plan.total_cents()));
    }
    order
}

impl SimulatedShops {
    /// Creates the planned shops.
    pub fn new(
        seed: u64,
        plans: &[ShopPlan],
        clock: Arc<WorldClock>,
        story: Arc<Story>,
        power: Arc<Power>,
        planter: &Planter,
    ) -> Self {
        let shop = |plan: &ShopPlan| {
            let shop = SimulatedShop {
                chance: branch(seed, &format!("interface of other shop {}", plan.number)),
                spells: plan.spells.clone(),
                answer_lost: 0.0,
                orders: plan.orders.iter().map(|order| (order.id, order_of(order, SaleStage::Paid))).collect(),
                is_forgetful: planter.has(Plant::LostFulfillment),
            };
            (plan.number, shop)
        };
        Self { clock, story, power, state: Mutex::new(plans.iter().map(shop).collect()) }
    }

    /// Sets the rate of lost responses according to a plan.
    pub fn set_rates(&self, plan: &FaultPlan) {
        let rate = plan.rate(FaultKind::ShopAnswerLost) / 2.0;
        self.state().values_mut().for_each(|shop| shop.answer_lost = rate);
    }

    /// Returns a shop's fulfillments of an order.
    pub fn fulfillments(&self, shop: usize, order: u64) -> Vec<Value> {
        let state = self.state();
        let order = state.get(&shop).and_then(|shop| shop.orders.get(&order));
        order.map(|order| order.fulfillments.clone()).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, BTreeMap<usize, SimulatedShop>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers a request to its shop; returns its fate.
    fn receive(&self, request: &Request) -> Fate {
        let now = self.clock.elapsed_ms();
        let host = request.url().host_str().and_then(|host| host.strip_prefix("shop-")?.split('.').next());
        let number: usize = host.and_then(|number| number.parse().ok()).unwrap_or(usize::MAX);
        let mut state = self.state();
        let Some(shop) = state.get_mut(&number) else {
            return Fate::Unanswered(unanswered("its host name is unknown", true));
        };
        let fate = shop.receive(request, now);
        drop(state);
        if request.method() == "POST" {
            let word = if matches!(fate, Fate::Answered(StatusCode::OK, _)) { "has" } else { "has perhaps not" };
            self.story.tell(format!("another shop {word} a fulfillment"));
        }
        fate
    }
}

fn unanswered(words: &str, is_unsent: bool) -> NoPeerResponse {
    NoPeerResponse { words: words.to_owned(), is_unsent }
}

impl SimulatedShop {
    fn receive(&mut self, request: &Request, now_ms: i64) -> Fate {
        let is_lost = self.chance.f64() < self.answer_lost;
        let spell = self.spells.iter().find(|spell| (spell.from_ms..spell.until_ms).contains(&now_ms));
        match spell.map(|spell| spell.fault) {
            Some(FaultKind::ShopHangs) => return Fate::Forgotten,
            Some(_) => return Fate::Unanswered(unanswered("it refused the connection", true)),
            None => {}
        }
        let (status, body) = self.carry_out(request);
        if is_lost {
            Fate::Unanswered(unanswered("it closed the connection", false))
        } else {
            Fate::Answered(status, body)
        }
    }

    fn carry_out(&mut self, request: &Request) -> (StatusCode, Value) {
        let token = request.headers().get("x-shopify-access-token").and_then(|value| value.to_str().ok());
        if token != Some(SHOP_TOKEN) {
            return (StatusCode::UNAUTHORIZED, json!({"errors": "Invalid API key or access token"}));
        }
        let path: Vec<&str> = request.url().path().split('/').skip(4).collect();
        let order = |id: &str| id.parse().ok().and_then(|id: u64| self.orders.get(&id));
        let answer = match path.as_slice() {
            ["orders", id, "fulfillments.json"] => {
                order(id).map(|order| (StatusCode::OK, json!({"fulfillments": order.fulfillments})))
            }
            ["orders", id, "fulfillment_orders.json"] => {
                order(id).map(|order| (StatusCode::OK, json!({"fulfillment_orders": [order.fulfillment_order()]})))
            }
            ["fulfillments.json"] => self.fulfill(request),
            _ => None,
        };
        answer.unwrap_or_else(|| (StatusCode::NOT_FOUND, json!({"errors": "Not Found"})))
    }

    fn fulfill(&mut self, request: &Request) -> Option<(StatusCode, Value)> {
        let bytes = request.body().and_then(|body| body.as_bytes()).unwrap_or_default();
        let body = bounded_json::read(bytes, bounded_json::REQUEST).unwrap_or_default();
        let fulfillment = &body["fulfillment"];
        let id = fulfillment["line_items_by_fulfillment_order"][0]["fulfillment_order_id"].as_u64().unwrap_or_default();
        // The ID of a fulfillment order is that of its order, followed by a zero.
        let order = self.orders.get_mut(&(id / 10))?;
        if self.is_forgetful {
            return Some((StatusCode::OK, json!({"fulfillment": {"id": id, "status": "success"}})));
        }
        Some(match order.fulfill(fulfillment) {
            Ok(body) => (StatusCode::OK, body),
            Err(refusal) => refusal,
        })
    }
}

#[async_trait]
impl PeerTransport for SimulatedShops {
    async fn exchange(&self, request: Request) -> Result<Response, NoPeerResponse> {
        self.power.pass().await;
        let fate = self.receive(&request);
        sleep(WAY).await;
        self.power.pass().await;
        match fate {
            Fate::Answered(status, body) => {
                let mut response = HttpResponse::new(body.to_string());
                *response.status_mut() = status;
                Ok(response.into())
            }
            Fate::Unanswered(error) => Err(error),
            Fate::Forgotten => pending().await,
        }
    }
}
