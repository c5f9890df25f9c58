//! Spool manager of the shop, at the port of its client: a server that counts the first material as well. People use
//! from its spool without the shop, and it fails for a while.
//!
//! As the real one does, it stores the used weight as a floating-point number, and no reference to whoever used it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::http::header::DATE;
use axum::http::{HeaderValue, Method, Response as HttpResponse, StatusCode};
use fastrand::Rng;
use futures::future::pending;
use reqwest::{Request, Response};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::chance::branch;
use crate::clock::WorldClock;
use crate::endpoints::Spell;
use crate::faults::{FaultKind, FaultPlan};
use crate::plants::{Plant, Planter};
use crate::power::Power;
use crate::size::Size;
use crate::story::Story;
use services::peer_client::{NoPeerResponse, PeerTransport};

/// Host of the server.
pub const SPOOLS_HOST: &str = "spools.example.org";
/// Number of the filament that the shop's first material is.
pub const FILAMENT: i64 = 7;

/// Number of its only spool.
const SPOOL: i64 = 12;
/// Weight of the filament on the full spool, in grams. There is room for whatever is delivered.
const FULL_GRAMS: f64 = 90_000.0;
/// Grams of it used before the story. The remainder is the shop's stock.
const USED_GRAMS: f64 = 40_000.0;
/// Thousandths of a gram in a gram.
const THOUSANDTHS: f64 = 1000.0;
/// One in this many stories has a spool manager.
const STORIES_PER_MANAGER: u8 = 3;
/// Most uses by people.
const MOST_USES: usize = 3;
/// Most grams of one use.
const MOST_GRAMS: u32 = 40;
/// Longest spell of one fault.
const MAX_SPELL_MS: i64 = 600_000;
/// Faults that end again.
const SPELLS: [FaultKind; 2] = [FaultKind::SpoolsDown, FaultKind::SpoolsHang];
/// Time that a request takes to the server and back.
const WAY: Duration = Duration::from_millis(15);

/// Plan of a spool manager.
#[derive(Clone)]
pub struct SpoolPlan {
    /// Time at which the staff links the material, in milliseconds since the beginning.
    pub link_ms: i64,
    /// Uses by people, each with its time and grams, in order.
    pub uses: Vec<(i64, u32)>,
    /// Spells in which the server fails.
    spells: Vec<Spell>,
}

impl SpoolPlan {
    /// Draws the spool manager of a seed, if it has one.
    pub fn draw(seed: u64, size: Size, faults: &FaultPlan) -> Option<Self> {
        let mut chance = branch(seed, "spool manager");
        let (exists, healed_at) = (chance.u8(..STORIES_PER_MANAGER) == 0, size.healed_at_ms());
        let link_ms = chance.i64(60_000..300_000) * size.stretch();
        let mut uses: Vec<(i64, u32)> = (0..chance.usize(..=MOST_USES))
            .map(|_| (chance.i64(link_ms..healed_at), chance.u32(1..=MOST_GRAMS)))
            .collect();
        uses.sort_unstable();
        let mut spells = Vec::new();
        for fault in SPELLS {
            let mut chance = branch(seed, &format!("{fault} spells"));
            for _ in 0..faults.times(fault, size.most_outages()) {
                let from_ms = chance.i64(60_000..healed_at);
                let until_ms = (from_ms + chance.i64(1_000..MAX_SPELL_MS)).min(healed_at);
                spells.push(Spell { from_ms, until_ms, fault });
            }
        }
        exists.then_some(Self { link_ms, uses, spells })
    }
}

/// Spool manager. In stories without one, it receives no requests.
pub struct SpoolManager {
    /// The shop is configured to use it.
    pub is_used: bool,
    clock: Arc<WorldClock>,
    story: Arc<Story>,
    power: Arc<Power>,
    planter: Arc<Planter>,
    state: Mutex<ManagerState>,
}

struct ManagerState {
    chance: Rng,
    spells: Vec<Spell>,
    /// Frequency with which a request that changes something is lost, or its response.
    lost: f64,
    /// Grams used from the spool.
    used: f64,
    /// Time of the last use, with a resolution of one second.
    last_used: Option<String>,
    /// Grams that people have used, other than the shop.
    used_by_people: i64,
}

/// `SpoolFate` of a request.
enum SpoolFate {
    /// It is answered.
    Answered(StatusCode, Value),
    /// It is not answered, whether or not it was carried out.
    Unanswered(NoPeerResponse),
    /// Nothing ever happens.
    Forgotten,
}

fn unanswered(words: &str, is_unsent: bool) -> SpoolFate {
    SpoolFate::Unanswered(NoPeerResponse { words: words.to_owned(), is_unsent })
}

fn filament() -> Value {
    json!({"id": FILAMENT, "name": "Black", "material": "PLA", "vendor": {"id": 1, "name": "Acme"}})
}

impl SpoolManager {
    /// Creates the spool manager of a plan.
    pub fn new(
        seed: u64,
        plan: Option<&SpoolPlan>,
        clock: Arc<WorldClock>,
        story: Arc<Story>,
        power: Arc<Power>,
        planter: Arc<Planter>,
    ) -> Self {
        let state = ManagerState {
            chance: branch(seed, "calls of the spool manager"),
            spells: plan.map(|plan| plan.spells.clone()).unwrap_or_default(),
            lost: 0.0,
            used: USED_GRAMS,
            last_used: None,
            used_by_people: 0,
        };
        Self { is_used: plan.is_some(), clock, story, power, planter, state: Mutex::new(state) }
    }

    /// Sets how often requests and responses are lost, according to a plan.
    pub fn set_rates(&self, plan: &FaultPlan) {
        self.state().lost = plan.rate(FaultKind::SpoolsLost) / 2.0;
    }

    /// Uses filament outside the shop.
    pub fn use_up(&self, grams: u32) {
        let now = self.now();
        let mut state = self.state();
        state.take(f64::from(grams), now);
        state.used_by_people += i64::from(grams);
        self.story.tell(format!("people use {grams} g of the spool"));
    }

    /// Returns the thousandths of a gram that people have used without the shop.
    pub fn used_by_people(&self) -> i64 {
        self.state().used_by_people * 1000
    }

    /// Returns the remaining thousandths of a gram.
    pub fn left(&self) -> i64 {
        ((FULL_GRAMS - self.state().used) * THOUSANDTHS).round() as i64
    }

    /// Returns the time of the calendar as the server writes it.
    fn now(&self) -> String {
        self.clock.now().jiff().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    fn state(&self) -> MutexGuard<'_, ManagerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a request arrive.
    fn receive(&self, request: &Request) -> SpoolFate {
        let (now_ms, now, is_change) = (self.clock.elapsed_ms(), self.now(), is_change(request));
        let mut state = self.state();
        // Always as many draws, so that the story without one of the faults has the others at the same requests.
        let (lost, is_request) = (state.chance.f64(), state.chance.bool());
        match state.spells.iter().find(|spell| (spell.from_ms..spell.until_ms).contains(&now_ms)) {
            Some(Spell { fault: FaultKind::SpoolsHang, .. }) => return SpoolFate::Forgotten,
            Some(_) => return unanswered("it refused the connection", true),
            None => {}
        }
        let is_lost = is_change && lost < state.lost;
        if is_lost && is_request {
            return unanswered("it closed the connection", false);
        }
        let is_pretended = is_change && self.planter.strikes(Plant::LostUse);
        let (status, body) = state.answer(request, now, is_pretended);
        drop(state);
        if is_change {
            self.story.tell(format!("spool manager: {} g are left", body["remaining_weight"]));
        }
        if is_lost { unanswered("it closed the connection", false) } else { SpoolFate::Answered(status, body) }
    }
}

fn is_change(request: &Request) -> bool {
    *request.method() == Method::PUT
}

fn is_number(text: &str, number: i64) -> bool {
    text.parse::<i64>() == Ok(number)
}

impl ManagerState {
    /// Records that grams were used, or returned if the number is negative.
    fn take(&mut self, grams: f64, now: String) {
        self.used = (self.used + grams).max(0.0);
        self.last_used = Some(now);
    }

    fn spool(&self) -> Value {
        json!({
            "id": SPOOL, "filament": filament(), "initial_weight": FULL_GRAMS, "used_weight": self.used,
            "remaining_weight": FULL_GRAMS - self.used, "archived": false, "last_used": self.last_used,
        })
    }

    /// Carries out a request, or only pretends to.
    fn answer(&mut self, request: &Request, now: String, is_pretended: bool) -> (StatusCode, Value) {
        let path: Vec<&str> = request.url().path().split('/').filter(|part| !part.is_empty()).collect();
        match path.as_slice() {
            ["api", "v1", "filament"] => (StatusCode::OK, json!([filament()])),
            ["api", "v1", "filament", id] if is_number(id, FILAMENT) => (StatusCode::OK, filament()),
            ["api", "v1", "spool"] => (StatusCode::OK, json!([self.spool()])),
            ["api", "v1", "spool", id] if is_number(id, SPOOL) => (StatusCode::OK, self.spool()),
            ["api", "v1", "spool", id, "use"] if is_number(id, SPOOL) && is_change(request) => {
                let bytes = request.body().and_then(|body| body.as_bytes()).unwrap_or_default();
                let body = bounded_json::read(bytes, bounded_json::REQUEST).unwrap_or_default();
                let before = (self.used, self.last_used.clone());
                self.take(body["use_weight"].as_f64().unwrap_or_default(), now);
                let spool = self.spool();
                if is_pretended {
                    (self.used, self.last_used) = before;
                }
                (StatusCode::OK, spool)
            }
            _ => (StatusCode::NOT_FOUND, json!({"message": "Not Found"})),
        }
    }
}

#[async_trait]
impl PeerTransport for SpoolManager {
    async fn exchange(&self, request: Request) -> Result<Response, NoPeerResponse> {
        // Looks come all the time, and are no steps.
        let is_change = is_change(&request);
        if is_change {
            self.power.pass().await;
        }
        let fate = self.receive(&request);
        sleep(WAY).await;
        if is_change {
            self.power.pass().await;
        }
        self.power.hold().await;
        match fate {
            SpoolFate::Answered(status, body) => {
                // By this clock the client sees how long ago the spool was used.
                let date = self.clock.now().jiff().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
                let mut response = HttpResponse::new(body.to_string());
                *response.status_mut() = status;
                let headers = response.headers_mut();
                headers.extend(HeaderValue::from_str(&date).ok().map(|date| (DATE, date)));
                if let Value::Array(all) = &body {
                    headers.insert("x-total-count", HeaderValue::from(all.len()));
                }
                Ok(response.into())
            }
            SpoolFate::Unanswered(error) => Err(error),
            SpoolFate::Forgotten => pending().await,
        }
    }
}
