//! HTTP controls of the simulated processor, for integrators who test their payments: event delivery, actions by payers
//! and banks, and the passage of time. Each call requires the processor's secret key as a bearer token.

use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::DeliveryConditions;
use super::acts::{self, DisputeVerdict};
use super::books::ProcessorObjects;
use super::fault::ErrorResponse;
use super::params::Params;
use super::{ProcessorHost, page, refunds, sessions, shown_key};

/// Maximum delay before an event is sent.
const MAX_DELAY: Duration = Duration::from_secs(3600);

/// Returns the routes below `/control`.
pub(super) fn routes() -> Router<ProcessorHost> {
    Router::new()
        .route("/control", get(overview))
        .route("/control/events", put(set_travel))
        .route("/control/sessions/{session}/{act}", post(act_on_session))
        .route("/control/payments/{payment}/{act}", post(act_on_payment))
        .route("/control/refunds/{refund}/fail", post(fail_refund))
}

/// Conditions under which subsequent events are delivered; omitted ones are switched off.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct DeliveryConditionsRequest {
    /// `true` to hold back all events until the next change.
    hold: bool,
    /// `true` to send pending events in a different order from the one in which they happened.
    shuffle: bool,
    /// Number of times to send each event: 1, 2 or 10.
    repeat: Option<u8>,
    /// Delay before each event is sent, in milliseconds; at most one hour.
    delay_ms: u64,
}

impl DeliveryConditionsRequest {
    fn travel(&self) -> Result<DeliveryConditions, ErrorResponse> {
        let repeat = self.repeat.unwrap_or(1);
        if !matches!(repeat, 1 | 2 | 10) {
            return Err(ErrorResponse::invalid("repeat must be 1, 2 or 10".to_owned(), "repeat"));
        }
        let late = Duration::from_millis(self.delay_ms);
        if late > MAX_DELAY {
            return Err(ErrorResponse::invalid("delayMs must be at most 3600000".to_owned(), "delayMs"));
        }
        Ok(DeliveryConditions {
            held: self.hold,
            shuffled: self.shuffle,
            twice: repeat == 2,
            tenfold: repeat == 10,
            late,
        })
    }
}

async fn overview(State(host): State<ProcessorHost>, headers: HeaderMap) -> Response {
    answer(authorized(&host, &headers).map(|()| state(&host)))
}

async fn set_travel(
    State(host): State<ProcessorHost>,
    headers: HeaderMap,
    Json(request): Json<DeliveryConditionsRequest>,
) -> Response {
    answer(authorized(&host, &headers).and_then(|()| request.travel()).map(|travel| {
        host.courier.travel(travel);
        state(&host)
    }))
}

async fn act_on_session(
    State(host): State<ProcessorHost>,
    Path((session, act)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    answer(authorized(&host, &headers).and_then(|()| {
        change(&host, |books| match act.as_str() {
            "arrive" => sessions::settle(books, &session, true),
            "fail" => sessions::settle(books, &session, false),
            "expire" => sessions::expire(books, &session, &Params::parse("")?),
            act => match page::payer(act) {
                Some(payer) => sessions::act(books, &session, payer),
                None => Err(ErrorResponse::no_such_call("POST", &format!("/control/sessions/{session}/{act}"))),
            },
        })
    }))
}

async fn act_on_payment(
    State(host): State<ProcessorHost>,
    Path((payment, act)): Path<(String, String)>,
    headers: HeaderMap,
    query: axum::extract::RawQuery,
) -> Response {
    answer(authorized(&host, &headers).and_then(|()| {
        change(&host, |books| match act.as_str() {
            "dispute" => acts::dispute(books, &payment, DisputeVerdict::Asks),
            "dispute-won" => acts::dispute(books, &payment, DisputeVerdict::Won),
            "dispute-lost" => acts::dispute(books, &payment, DisputeVerdict::Lost),
            "refund" => {
                let amount = query.0.as_deref().filter(|query| !query.is_empty());
                let amount = amount.map_or_else(String::new, |query| format!("&{query}"));
                refunds::create(books, &Params::parse(&format!("payment_intent={payment}{amount}"))?)
            }
            act => Err(ErrorResponse::no_such_call("POST", &format!("/control/payments/{payment}/{act}"))),
        })
    }))
}

async fn fail_refund(State(host): State<ProcessorHost>, Path(refund): Path<String>, headers: HeaderMap) -> Response {
    answer(authorized(&host, &headers).and_then(|()| change(&host, |books| refunds::fail(books, &refund))))
}

fn authorized(host: &ProcessorHost, headers: &HeaderMap) -> Result<(), ErrorResponse> {
    let key = shown_key(headers);
    let is_right = host.with(|inside| key.as_deref() == Some(inside.secret_key.as_str()));
    if is_right { Ok(()) } else { Err(ErrorResponse::wrong_key(key.as_deref())) }
}

fn change(
    host: &ProcessorHost,
    act: impl FnOnce(&mut ProcessorObjects) -> Result<Value, ErrorResponse>,
) -> Result<Value, ErrorResponse> {
    host.with(|inside| act(&mut inside.books)).map(|object| sessions::public_view(&object))
}

/// Returns the event counts, the delivery conditions, and the newest sessions and payments.
fn state(host: &ProcessorHost) -> Value {
    /// Maximum number of sessions and payments in a response.
    const MAX_SHOWN: usize = 20;
    let (waiting, delivered, given_up) = host.courier.counts();
    let travel = host.courier.current_travel();
    let repeat = if travel.tenfold { 10 } else { 1 + u8::from(travel.twice) };
    let newest = |kind: &str| {
        host.with(|inside| inside.books.all(kind).take(MAX_SHOWN).map(sessions::public_view).collect::<Vec<Value>>())
    };
    json!({
        "events": {
            "waiting": waiting, "delivered": delivered, "givenUp": given_up,
            "hold": travel.held, "shuffle": travel.shuffled, "repeat": repeat,
            "delayMs": u64::try_from(travel.late.as_millis()).unwrap_or(u64::MAX),
        },
        "sessions": newest("checkout.session"),
        "payments": newest("payment_intent"),
        "refunds": newest("refund"),
    })
}

fn answer(result: Result<Value, ErrorResponse>) -> Response {
    result.map_or_else(ErrorResponse::into_response, |body| (StatusCode::OK, Json(body)).into_response())
}
