//! Rate limits at the edge: who is counted in which window, and what the answer says of it (billing API §8).
//!
//! Windows are counted in this process always; with Redis they are shared, and its count is the one that is told. The
//! arithmetic is `domain/limits`.

pub mod layer;
pub mod windows;

use crate::config::Config;
use crate::domain::limits::address::{self, Network};
use crate::domain::limits::{Named, Rule, Standing};
use crate::domain::time::Timestamp;
use crate::http::AppState;
use crate::http::error::{Answer, ApiError};
use crate::services::redis::{Redis, Shared};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use windows::Windows;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const FORWARDED: &str = "x-forwarded-for";

/// One window that a request counts in: its kind, and whose it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Charge {
    /// The kind of window.
    pub named: Named,
    /// Whose: an id, an address, a digest.
    pub scope: u128,
}

impl Charge {
    /// A window of one address.
    pub fn of_address(named: Named, address: IpAddr) -> Self {
        Self { named, scope: address::scope(address) }
    }

    /// A window of a word (an e-mail address) and one address.
    pub fn of_pair(named: Named, word: &str, address: IpAddr) -> Self {
        let digest = Sha256::new().chain_update(address::scope(address).to_be_bytes()).chain_update(word).finalize();
        let scope = digest.iter().take(16).fold(0, |scope: u128, byte| scope << 8 | u128::from(*byte));
        Self { named, scope }
    }
}

/// The windows of all callers, and what holds of them.
pub struct Limits {
    rules: [Rule; Named::ALL.len()],
    windows: Windows,
    shared: Option<Arc<Redis>>,
    trusted: Vec<Network>,
    refused: [AtomicU64; Named::ALL.len()],
}

impl Limits {
    /// As configured; with `shared` the windows are those of all servers.
    pub fn new(config: &Config, shared: Option<Arc<Redis>>) -> Self {
        let limits = &config.limits;
        let rules = Named::ALL.map(|named| Rule {
            limit: match named {
                Named::Staff => limits.staff_requests_per_minute,
                Named::Customer => limits.customer_requests_per_minute,
                Named::Anonymous => limits.anonymous_requests_per_minute,
                Named::Login => limits.login_attempts_per_15_minutes,
            },
            period_ms: named.period_ms(),
        });
        // The configuration was checked: what is no network is not there.
        let trusted = config.server.trusted_proxies.iter().filter_map(|text| text.parse().ok()).collect();
        let (windows, refused) = (Windows::new(limits.rate_limit_max_entries), Default::default());
        Self { rules, windows, shared, trusted, refused }
    }

    /// What holds of windows of one kind.
    pub const fn rule(&self, named: Named) -> Rule {
        self.rules[named as usize]
    }

    /// Whose request it is, by address.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let values = headers.get_all(FORWARDED).iter().filter_map(|value| value.to_str().ok());
        address::client(peer, values, &self.trusted)
    }

    /// Counts a request in all these windows, or in none when one of them is full; tells of the tightest.
    pub async fn charge(&self, charges: &[Charge], now: Timestamp) -> Standing {
        let here = self.charge_here(charges, now);
        let Some(shared) = self.shared.as_ref().filter(|_| !here.refused) else { return here };
        // Refused here is refused everywhere: this server alone let that many pass.
        let window = |charge: &Charge| Shared::at(charge.named.word(), charge.scope, self.rule(charge.named), now);
        let windows: Vec<Shared> = charges.iter().map(window).collect();
        let Some(counted) = shared.count(&windows).await else { return here };
        let standings = charges.iter().zip(counted.counts).map(|(charge, count)| {
            let rule = self.rule(charge.named);
            let refused = counted.full && count >= rule.limit;
            self.note(charge, rule.standing(count, refused, now))
        });
        standings.reduce(Standing::tighter).unwrap_or(here)
    }

    /// The same, in this process only.
    pub fn charge_here(&self, charges: &[Charge], now: Timestamp) -> Standing {
        let mut told: Option<Standing> = None;
        for (at, charge) in charges.iter().enumerate() {
            let standing = self.windows.count(charge, self.rule(charge.named), now);
            let tightest = told.map_or(standing, |told| told.tighter(standing));
            if standing.refused {
                for counted in &charges[..at] {
                    self.windows.take_back(counted, self.rule(counted.named), now);
                }
                self.note(charge, standing);
                return tightest;
            }
            told = Some(tightest);
        }
        told.unwrap_or(Standing { limit: u32::MAX, remaining: u32::MAX, ends_in_ms: 0, refused: false })
    }

    fn note(&self, charge: &Charge, standing: Standing) -> Standing {
        if standing.refused {
            self.refused[charge.named as usize].fetch_add(1, Relaxed);
        }
        standing
    }

    /// Requests refused so far, by kind of window.
    pub fn refused(&self) -> impl Iterator<Item = (Named, u64)> {
        Named::ALL.into_iter().map(|named| (named, self.refused[named as usize].load(Relaxed)))
    }

    /// Windows in memory.
    pub fn held(&self) -> usize {
        self.windows.len()
    }

    /// Forgets windows that are over.
    pub fn sweep(&self, now: Timestamp) {
        self.windows.sweep(|named| self.rules[named as usize], now);
    }
}

/// Runs `rest` unless one of these windows is full: for windows that only a handler can name, such as those of an e-mail
/// address in the body. The answer tells of the tightest of all its windows.
pub async fn within(app: &AppState, charges: &[Charge], rest: impl Future<Output = Answer>) -> Answer {
    let standing = app.limits.charge(charges, app.environment.now()).await;
    let mut response = if standing.refused { refusal(standing) } else { rest.await.into_response() };
    response.extensions_mut().insert(Told(standing));
    Ok(response)
}

/// What a handler's own windows said.
#[derive(Clone, Copy)]
struct Told(Standing);

fn refusal(standing: Standing) -> Response {
    let message = format!("more than {} requests in a window; wait", standing.limit);
    let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message);
    error.retry_after(standing.retry_after()).into_response()
}

/// Says in an answer how its caller stands.
fn tell(response: &mut Response, standing: Standing) {
    let told = response.extensions_mut().remove::<Told>();
    let standing = told.map_or(standing, |Told(own)| own.tighter(standing));
    let headers = response.headers_mut();
    headers.insert(LIMIT, HeaderValue::from(standing.limit));
    headers.insert(REMAINING, HeaderValue::from(standing.remaining));
}
