//! Middleware that runs before every handler: authorizes the caller, bounds bodies and in-flight requests, and records
//! rejected attempts.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures::FutureExt as _;
use serde_json::json;
use tokio::time::timeout;

use crate::access::{AccessHandles, Credentials, CustomerToken, LocalOwner, RequiredAccess, admit};
use crate::admission::{AcceptSlot, Admission};
use crate::audit_sampling::{self, AttemptSource, AuditHandles, RefusedAttempt};
use crate::bodies::UnfinishedBodies;
use crate::error::{ApiError, ErrorMeta, panicked};
use crate::limits::layer::{ClientAddress, RateLimitClass, overloaded};
use crate::meter::RouteMeter;
use crate::middleware::{InnerRoute, Middleware};
use crate::request_id::RequestId;
use crate::wire::refuse_query;
use domain::limits::address;
use domain::principal::Principal;

/// Settings and dependencies for checking requests to a route; one per route.
pub struct RouteGuard {
    /// Dependencies for authentication by API key, session or machine token.
    pub access: AccessHandles,
    /// Dependencies for recording rejected attempts in the audit log.
    pub audit: AuditHandles,
    /// Access that the route requires.
    pub need: RequiredAccess,
    /// Maximum duration of a request; `None` for streams and downloads.
    pub within: Option<Duration>,
    /// Counter of the route's requests, by status.
    pub meter: Arc<RouteMeter>,
    /// Admission limits that apply to the route.
    pub treatment: RateLimitClass,
    /// `true` if the handler streams the body; otherwise the body is read completely first.
    pub streamed: bool,
    /// `true` if query parameters are rejected because the route has none.
    pub refuses_query: bool,
    /// Limits on bodies that are still being received.
    pub bodies: Arc<UnfinishedBodies>,
    /// Limits on in-flight requests.
    pub admission: Arc<Admission>,
}

impl RouteGuard {
    /// Receives the body, acquires a permit for an in-flight request, and runs the handler.
    async fn pass(&self, mut request: Request, next: &InnerRoute) -> Result<Response, ApiError> {
        if self.treatment == RateLimitClass::Always {
            // What is in the body of an emergency stop changes nothing, so nobody waits for it.
            return Ok(next.run(request.map(|_| Body::empty())).await);
        }
        if self.refuses_query {
            refuse_query(request.uri())?;
        }
        let body_place = if request.body().is_end_stream() || request.method().is_safe() {
            None
        } else if self.streamed {
            let place = self.bodies.place(caller_of(&request))?;
            request = request.map(|body| self.bodies.paced(body));
            Some(place)
        } else {
            let (parts, body) = request.into_parts();
            request = Request::from_parts(parts, Body::empty());
            let (bytes, at_once) = self.bodies.whole(body, caller_of(&request)).await?;
            if !at_once {
                // The key or session may have ended while the body came.
                request.extensions_mut().remove::<Credentials>();
                if self.need == RequiredAccess::Customer {
                    let token = CustomerToken::from_headers(request.headers());
                    let again = Box::pin(Credentials::of_customer(&self.access, token)).await;
                    request.extensions_mut().insert(again);
                }
                let who = admit(&self.access, self.need, &request)?;
                request.extensions_mut().insert(who);
            }
            *request.body_mut() = Body::from(bytes);
            None
        };
        // The owner of the machine is admitted whatever the load is. An upload has its place among the bodies.
        let from_machine = request.extensions().get::<LocalOwner>().is_some();
        let exempt = from_machine || body_place.is_some();
        let place = if exempt { None } else { Some(self.admission.enter()) };
        if matches!(place, Some(None)) {
            return Ok(overloaded());
        }
        Ok(in_time(self.within, next.run(request)).await)
    }
}

/// Returns the ID whose limit applies to an unfinished body: the API key or session, or the address of an
/// unauthenticated client.
fn caller_of(request: &Request) -> u128 {
    let credentials = request.extensions().get::<Credentials>().and_then(Credentials::id);
    let client = || request.extensions().get::<ClientAddress>().map_or(0, |client| address::scope(client.0));
    credentials.map_or_else(client, |id| id.0.as_u128())
}

impl Middleware for RouteGuard {
    /// Passes authorized requests to the handler and rejects all others. Counts requests, and records rejected attempts
    /// in the audit log.
    async fn respond(&self, mut request: Request, next: &InnerRoute) -> Response {
        let began = Instant::now();
        let admitted = admit(&self.access, self.need, &request);
        let by = admitted.as_ref().ok().map(|who| who.by.clone());
        let refusable = Refusable::of(&request);
        let answer = async {
            match admitted {
                Ok(who) => {
                    if self.treatment == RateLimitClass::Always
                        && let Some(place) = request.extensions().get::<AcceptSlot>()
                    {
                        place.keep();
                    }
                    request.extensions_mut().insert(who);
                    self.pass(request, next).await.unwrap_or_else(IntoResponse::into_response)
                }
                Err(error) => error.into_response(),
            }
        };
        let response = count_response(&self.meter, began, answer).await;
        let status = response.status();
        let named = response.extensions().get::<ErrorMeta>().is_some_and(|meta| meta.by.is_some());
        if named || refusable.is_refused(status) {
            refusable.note(self, by.as_deref(), &response);
        }
        response
    }
}

/// Returns the response to a request that began at the given time, and counts it. If the handler panics, it is a 500.
async fn count_response(meter: &RouteMeter, began: Instant, answer: impl Future<Output = Response>) -> Response {
    let response = AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(panicked);
    meter.answered(response.status().as_u16(), began.elapsed());
    response
}

/// Aborts a request that takes too long. Its changes may still take effect. The time limit begins when the handler
/// first waits for something: most handlers never do, and need no timer.
async fn in_time(within: Option<Duration>, answer: impl Future<Output = Response>) -> Response {
    let Some(within) = within else { return answer.await };
    let mut answer = pin!(answer);
    if let Poll::Ready(response) = poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx))).await {
        return response;
    }
    timeout(within, answer)
        .await
        .unwrap_or_else(|_| ApiError::unavailable("timeout", "the request took too long", 2).into_response())
}

/// Request details for the audit log in case the request is rejected.
struct Refusable {
    changes: bool,
    path: Uri,
    request_id: Option<Arc<str>>,
    client: Option<ClientAddress>,
}

impl Refusable {
    fn of(request: &Request) -> Self {
        let request_id = request.extensions().get::<RequestId>().map(|id| id.0.clone());
        let client = request.extensions().get::<ClientAddress>().copied();
        Self { changes: !request.method().is_safe(), path: request.uri().clone(), request_id, client }
    }

    /// Returns whether the status means that the caller is not authenticated or not permitted or, for changes, that the
    /// current state does not allow the request.
    fn is_refused(&self, status: StatusCode) -> bool {
        use StatusCode as S;
        match status {
            S::UNAUTHORIZED | S::FORBIDDEN => true,
            S::CONFLICT | S::PRECONDITION_FAILED | S::UNPROCESSABLE_ENTITY => self.changes,
            _ => false,
        }
    }

    fn note(self, gate: &RouteGuard, by: Option<&Principal>, response: &Response) {
        let Some(meta) = response.extensions().get::<ErrorMeta>() else { return };
        let by = meta.by.as_deref().or(by).unwrap_or(&Principal::Anonymous);
        let mut detail = json!({"status": response.status().as_u16(), "path": self.path.path()});
        if let Some(facts) = &meta.facts {
            detail["about"] = facts.clone();
        }
        // Unauthenticated callers are told apart by address, so that one cannot hide the attempts of another.
        let address = self.client.filter(|_| *by == Principal::Anonymous).map(|client| client.0);
        let attempt = RefusedAttempt {
            source: AttemptSource { actor: by.to_string(), address },
            action: format!("{} {}", gate.meter.method, gate.meter.path),
            subject: self.path.path().split('/').find_map(|part| part.parse().ok()),
            request_id: self.request_id.as_deref().map(str::to_owned),
            code: meta.code.clone(),
            detail,
        };
        audit_sampling::note(&gate.audit, attempt);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn, ready};
    use std::task::Poll;

    use tokio::task::yield_now;

    use super::*;
    use crate::meter::RouteMeters;

    const LONG: Option<Duration> = Some(Duration::from_mins(1));

    #[test]
    fn a_handler_that_does_not_wait_needs_no_timer() {
        // Outside of a runtime, a timer would panic.
        let response = in_time(LONG, ready(StatusCode::OK.into_response())).now_or_never();
        assert_eq!(response.map(|response| response.status()), Some(StatusCode::OK));
    }

    #[tokio::test]
    async fn a_handler_that_waits_too_long_is_aborted() {
        let after_a_turn = async || {
            yield_now().await;
            StatusCode::OK.into_response()
        };
        assert_eq!(in_time(LONG, after_a_turn()).await.status(), StatusCode::OK);
        assert_eq!(in_time(None, after_a_turn()).await.status(), StatusCode::OK);
        let response = in_time(Some(Duration::from_millis(1)), pending()).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[tokio::test]
    async fn a_request_whose_handler_panics_is_counted_as_a_500() {
        let meter = RouteMeters::default().of("GET", "/broken");
        let broken = poll_fn(|_| -> Poll<Response> { panic!("the handler is broken") });
        let response = count_response(&meter, Instant::now(), broken).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(meter.by_status().collect::<Vec<_>>(), [(500, 1)]);
        assert_eq!(meter.time().count, 1);
    }
}
