//! Rate limits at the HTTP edge: the windows in which a request is counted, and the response headers that report them.
//!
//! Requests are always counted in this process; with Redis, the counts are also shared between servers, and the shared
//! count is reported. The arithmetic is in `domain/limits`.

pub mod layer;
mod sessions;
mod windows;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::error::ApiError;
use config::Config;
use domain::limits::address::{self, Network};
use domain::limits::{LimitKind, LimitRule, RateLimitStatus};
use domain::mailbox::mailbox;
use domain::principal::Principal;
use domain::time::Timestamp;
use services::redis::{Redis, SharedWindow};
use sessions::SessionCustomers;
use windows::Windows;

const LIMIT_HEADER: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING_HEADER: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const FORWARDED_HEADER: &str = "x-forwarded-for";

/// Window in which a request is counted: a kind of limit and its scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WindowKey {
    /// Kind of limit.
    pub named: LimitKind,
    /// Scope of the limit: an ID, an address, or the digest of a text.
    pub scope: u128,
}

impl WindowKey {
    /// Returns the window for an address.
    pub fn of_address(named: LimitKind, address: IpAddr) -> Self {
        Self { named, scope: address::scope(address) }
    }

    /// Returns the window for a text (such as an email address), regardless of the client's address.
    pub fn of_text(named: LimitKind, word: &str) -> Self {
        Self { named, scope: shortened(Sha256::new().chain_update(word)) }
    }

    /// Returns the window for the mailbox behind an email address, regardless of how the address is spelled.
    pub fn of_mailbox(named: LimitKind, email: &str) -> Self {
        Self::of_text(named, &mailbox(email))
    }

    /// Returns the window for a text (such as an email address) combined with a client address.
    pub fn of_pair(named: LimitKind, word: &str, address: IpAddr) -> Self {
        Self {
            named,
            scope: shortened(Sha256::new().chain_update(address::scope(address).to_be_bytes()).chain_update(word)),
        }
    }
}

/// Returns 128 bits of a digest: enough to ensure that no two callers share a window by chance.
fn shortened(hash: Sha256) -> u128 {
    hash.finalize().iter().take(16).fold(0, |scope: u128, byte| scope << 8 | u128::from(*byte))
}

/// Rate-limit windows of all callers, with the configured limits.
pub struct RateLimiter {
    rules: [LimitRule; LimitKind::ALL.len()],
    windows: Windows,
    shared: Option<Arc<Redis>>,
    trusted: Vec<Network>,
    refused: [AtomicU64; LimitKind::ALL.len()],
    session_customers: SessionCustomers,
}

impl RateLimiter {
    /// Creates the limits from the configuration; with `shared`, all servers share the windows through Redis.
    pub fn new(config: &Config, shared: Option<Arc<Redis>>) -> Self {
        let limits = &config.limits;
        let rules = LimitKind::ALL.map(|named| LimitRule {
            limit: match named {
                LimitKind::Staff => limits.staff_requests_per_minute,
                LimitKind::Customer => limits.customer_requests_per_minute,
                LimitKind::Anonymous => limits.anonymous_requests_per_minute,
                LimitKind::Login => limits.login_attempts_per_15_minutes,
                LimitKind::Account => limits.account_attempts_per_15_minutes,
                LimitKind::Agent => limits.agent_commands_per_minute,
                LimitKind::LinkOfEmail => limits.sign_in_links_of_email_per_15_minutes,
                LimitKind::LinkOfAddress => limits.sign_in_links_of_address_per_15_minutes,
                LimitKind::DraftOrder => limits.draft_orders_per_hour,
                LimitKind::OrderCheckout => limits.order_checkouts_per_hour,
                LimitKind::Intake => limits.intakes_per_hour,
                LimitKind::Export => limits.exports_per_hour,
            },
            period_ms: named.period_ms(),
        });
        // Networks that cannot be parsed were refused when the configuration was checked.
        let trusted = config.server.trusted_proxies.iter().filter_map(|text| text.parse().ok()).collect();
        let (windows, refused) = (Windows::new(limits.rate_limit_max_entries), Default::default());
        Self { rules, windows, shared, trusted, refused, session_customers: SessionCustomers::default() }
    }

    /// Returns the limit and window length for a kind of limit.
    pub const fn rule(&self, named: LimitKind) -> LimitRule {
        self.rules[named as usize]
    }

    /// Returns the client address of a request, taking trusted proxies into account.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let values = headers.get_all(FORWARDED_HEADER).iter().filter_map(|value| value.to_str().ok());
        address::client(peer, values, &self.trusted)
    }

    /// Counts a request in all the given windows, or in none if any of them is full, and returns the state of the
    /// tightest window.
    pub async fn charge(&self, charges: &[WindowKey], now: Timestamp) -> RateLimitStatus {
        let here = self.charge_here(charges, now);
        let Some(shared) = self.shared.as_ref().filter(|_| !here.refused) else { return here };
        // What this server alone counts as too much is too much for all together.
        let Some(counted) = Box::pin(shared.count(&self.shared_windows(charges, now))).await else { return here };
        let standings = charges.iter().zip(counted.counts).map(|(charge, count)| {
            let rule = self.rule(charge.named);
            let refused = counted.full && count >= rule.limit;
            self.note(charge, rule.standing(count, refused, now))
        });
        standings.reduce(RateLimitStatus::tighter).unwrap_or(here)
    }

    /// Does the same as [`Self::charge`], but in this process only.
    fn charge_here(&self, charges: &[WindowKey], now: Timestamp) -> RateLimitStatus {
        let mut tightest_so_far: Option<RateLimitStatus> = None;
        for (at, charge) in charges.iter().enumerate() {
            let standing = self.windows.count(charge, self.rule(charge.named), now);
            let tightest = tightest_so_far.map_or(standing, |so_far| so_far.tighter(standing));
            if standing.refused {
                for counted in &charges[..at] {
                    self.windows.take_back(counted, self.rule(counted.named), now);
                }
                self.note(charge, standing);
                return tightest;
            }
            tightest_so_far = Some(tightest);
        }
        tightest_so_far.unwrap_or(RateLimitStatus {
            limit: u32::MAX,
            remaining: u32::MAX,
            ends_in_ms: 0,
            refused: false,
        })
    }

    /// Removes a request that was counted at `now` from all the given windows, because it turned out not to be subject
    /// to the limit.
    pub async fn take_back(&self, charges: &[WindowKey], now: Timestamp) {
        for charge in charges {
            self.windows.take_back(charge, self.rule(charge.named), now);
        }
        if let Some(shared) = &self.shared {
            shared.take_back(&self.shared_windows(charges, now)).await;
        }
    }

    /// Returns the windows in the format that servers share.
    fn shared_windows(&self, charges: &[WindowKey], now: Timestamp) -> Vec<SharedWindow> {
        let window =
            |charge: &WindowKey| SharedWindow::at(charge.named.word(), charge.scope, self.rule(charge.named), now);
        charges.iter().map(window).collect()
    }

    /// Returns whether a window is full in this process, so that a request counted in it would be rejected.
    fn is_full(&self, charge: &WindowKey, now: Timestamp) -> bool {
        self.windows.is_full(charge, self.rule(charge.named), now)
    }

    /// Returns the state of an unused window, for a request to which no window of this kind applies.
    fn untouched(&self, named: LimitKind) -> RateLimitStatus {
        let limit = self.rule(named).limit;
        RateLimitStatus { limit, remaining: limit, ends_in_ms: 0, refused: false }
    }

    fn note(&self, charge: &WindowKey, standing: RateLimitStatus) -> RateLimitStatus {
        if standing.refused {
            self.refused[charge.named as usize].fetch_add(1, Relaxed);
        }
        standing
    }

    /// Returns the number of rejected requests by kind of limit.
    pub fn refused(&self) -> impl Iterator<Item = (LimitKind, u64)> {
        LimitKind::ALL.into_iter().map(|named| (named, self.refused[named as usize].load(Relaxed)))
    }

    /// Returns the number of customer session lookups.
    pub fn sessions_looked_up(&self) -> u64 {
        self.session_customers.lookups()
    }

    /// Returns the number of windows in memory.
    pub fn held(&self) -> usize {
        self.windows.len()
    }

    /// Removes windows that have ended.
    pub fn sweep(&self, now: Timestamp) {
        self.windows.sweep(|named| self.rules[named as usize], now);
    }
}

/// Runs `rest` unless one of the given windows is full. Intended for windows that only the handler can determine, such
/// as that of an email address in the body. The response reports the tightest of all windows.
pub async fn within<R>(
    limits: &RateLimiter,
    now: Timestamp,
    charges: &[WindowKey],
    rest: impl Future<Output = Result<R, ApiError>>,
) -> Result<LimitedReply<R>, ApiError> {
    let standing = limits.charge(charges, now).await;
    let answer = if standing.refused { Err(refusal(standing, charges)) } else { rest.await };
    Ok(LimitedReply { answer, standing })
}

/// Response from a handler that has its own windows, or the error sent instead.
pub struct LimitedReply<R> {
    answer: Result<R, ApiError>,
    standing: RateLimitStatus,
}

impl<R> LimitedReply<R> {
    /// Returns the handler's result or its error without rate-limit headers, for a page built from it.
    pub fn into_answer(self) -> Result<R, ApiError> {
        self.answer
    }
    /// Replaces the handler's result, for a response built from it that reports the same windows.
    pub fn map_answer<P>(self, build: impl FnOnce(Result<R, ApiError>) -> Result<P, ApiError>) -> LimitedReply<P> {
        LimitedReply { answer: build(self.answer), standing: self.standing }
    }
    /// Adds the rejected principal and details for the audit log, if a window rejected the request.
    pub fn noting(mut self, by: Arc<Principal>, facts: Value) -> Self {
        if self.standing.refused {
            self.answer = self.answer.map_err(|error| error.by(by).facts(facts));
        }
        self
    }
}

impl<R: IntoResponse> IntoResponse for LimitedReply<R> {
    fn into_response(self) -> Response {
        let mut response = self.answer.map_or_else(IntoResponse::into_response, IntoResponse::into_response);
        response.extensions_mut().insert(RateHeaders(self.standing));
        response
    }
}

/// State of the tightest window that a handler counted a request in.
#[derive(Clone, Copy)]
struct RateHeaders(RateLimitStatus);

/// Builds the 429 error. All windows in which a request is counted limit the same action and have the same length.
fn refusal(standing: RateLimitStatus, charges: &[WindowKey]) -> ApiError {
    let (what, period) = charges.first().map_or(LimitKind::Anonymous, |charge| charge.named).words();
    let (limit, seconds) = (standing.limit, standing.retry_after());
    let message = format!("the limit of {limit} {what} in {period} is reached; try again in {seconds} seconds");
    let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message);
    error.retry_after(standing.retry_after())
}

/// Sets the rate-limit headers from the tightest window.
fn tell(response: &mut Response, standing: RateLimitStatus) {
    let own_headers = response.extensions_mut().remove::<RateHeaders>();
    let standing = own_headers.map_or(standing, |RateHeaders(own)| own.tighter(standing));
    let headers = response.headers_mut();
    headers.insert(LIMIT_HEADER, number(standing.limit));
    headers.insert(REMAINING_HEADER, number(standing.remaining));
}

/// Returns the header value of a number. Unlike the framework's, it needs a single allocation.
fn number(number: u32) -> HeaderValue {
    let mut digits = [b'0'; u32::MAX.ilog10() as usize + 1];
    let (mut rest, mut first) = (number, digits.len() - 1);
    for (at, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + (rest % 10) as u8;
        first = at;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    HeaderValue::from_bytes(&digits[first..]).unwrap_or_else(|_| number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_headers_are_decimal() {
        for value in [0, 7, 10, 600, 99_999, 1_000_000_000, u32::MAX] {
            assert_eq!(number(value), value.to_string());
        }
    }
}
