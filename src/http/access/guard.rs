//! What stands before every handler: who asks is admitted or refused, bodies and places among the requests under way
//! are bounded, and refused attempts are noted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::{AccessHandles, Credentials, CustomerToken, FromMachine, RequiredAccess, admit};
use crate::domain::limits::address;
use crate::domain::principal::Principal;
use crate::http::admission::{Admission, FrontPlace};
use crate::http::audit_sampling::{self, AttemptSource, AuditHandles, RefusedAttempt};
use crate::http::bodies::Bodies;
use crate::http::error::{ApiError, ErrorMeta};
use crate::http::limits::layer::{ClientAddress, Treatment, overloaded};
use crate::http::meter::RouteMeter;
use crate::http::request_id::RequestId;
use crate::http::wire::refuse_query;

/// What a route needs to judge its requests; one for each route.
pub(crate) struct Gate {
    /// Finds out who asks, from the API key, the session or the machine token.
    pub access: AccessHandles,
    /// Takes refused attempts for the audit log.
    pub audit: AuditHandles,
    /// Who may use the route.
    pub need: RequiredAccess,
    /// The longest time that a request may take; `None` for streams and downloads.
    pub within: Option<Duration>,
    /// Counts the requests of the route by status.
    pub meter: Arc<RouteMeter>,
    /// How the route is bounded.
    pub treatment: Treatment,
    /// Whether the handler takes the body as it comes; otherwise it is read whole first.
    pub streamed: bool,
    /// Whether parameters in the query are refused, because the route has none.
    pub refuses_query: bool,
    /// Bounds bodies that have not come as a whole.
    pub bodies: Arc<Bodies>,
    /// Bounds requests under way.
    pub admission: Arc<Admission>,
}

impl Gate {
    /// Takes the body, then a place among the requests under way, and runs the handler.
    async fn pass(&self, mut request: Request, next: Next) -> Result<Response, ApiError> {
        if self.treatment == Treatment::Always {
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
                    let token = CustomerToken::shown(request.headers());
                    let again = Credentials::of_customer(&self.access, token).await;
                    request.extensions_mut().insert(again);
                }
                let who = admit(&self.access, self.need, &request)?;
                request.extensions_mut().insert(who);
            }
            *request.body_mut() = Body::from(bytes);
            None
        };
        // The owner of the machine is admitted whatever the load is. An upload has its place among the bodies.
        let from_machine = request.extensions().get::<FromMachine>().is_some();
        let exempt = from_machine || body_place.is_some();
        let place = if exempt { None } else { Some(self.admission.enter()) };
        if matches!(place, Some(None)) {
            return Ok(overloaded());
        }
        Ok(in_time(self.within, next.run(request)).await)
    }
}

/// Who an unfinished body counts for: the key or session, or the address of a stranger.
fn caller_of(request: &Request) -> u128 {
    let known = request.extensions().get::<Credentials>().and_then(Credentials::id);
    let client = || request.extensions().get::<ClientAddress>().map_or(0, |client| address::scope(client.0));
    known.map_or_else(client, |id| id.0.as_u128())
}

/// Lets a request through to its handler, or refuses it. Counts it, and notes refused attempts for the audit log.
pub(crate) async fn guard(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let admitted = admit(&gate.access, gate.need, &request);
    let by = admitted.as_ref().ok().map(|who| who.by.clone());
    let refusable = Refusable::of(&request);
    let response = match admitted {
        Ok(who) => {
            if gate.treatment == Treatment::Always
                && let Some(place) = request.extensions().get::<FrontPlace>()
            {
                place.keep();
            }
            request.extensions_mut().insert(who);
            gate.pass(request, next).await.unwrap_or_else(IntoResponse::into_response)
        }
        Err(error) => error.into_response(),
    };
    let status = response.status();
    gate.meter.answered(status.as_u16(), began.elapsed());
    let named = response.extensions().get::<ErrorMeta>().is_some_and(|told| told.by.is_some());
    if named || refusable.is_refused(status) {
        refusable.note(&gate, by.as_deref(), &response);
    }
    response
}

/// Ends a request that takes too long, the reading of its body included. What it asked for may still happen.
async fn in_time(within: Option<Duration>, answer: impl Future<Output = Response>) -> Response {
    let Some(within) = within else { return answer.await };
    tokio::time::timeout(within, answer)
        .await
        .unwrap_or_else(|_| ApiError::unavailable("timeout", "the request took too long", 2).into_response())
}

/// What the audit log says of a request if it is refused.
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

    /// True for answers that say: not who they claim to be, not allowed, or not possible in the present state.
    fn is_refused(&self, status: StatusCode) -> bool {
        use StatusCode as S;
        match status {
            S::UNAUTHORIZED | S::FORBIDDEN => true,
            S::CONFLICT | S::PRECONDITION_FAILED | S::UNPROCESSABLE_ENTITY => self.changes,
            _ => false,
        }
    }

    fn note(self, gate: &Gate, by: Option<&Principal>, response: &Response) {
        let Some(told) = response.extensions().get::<ErrorMeta>() else { return };
        let by = told.by.as_deref().or(by).unwrap_or(&Principal::Anonymous);
        let mut detail = json!({"status": response.status().as_u16(), "path": self.path.path()});
        if let Some(facts) = &told.facts {
            detail["about"] = facts.clone();
        }
        // Unauthenticated callers are told apart by address, so that one cannot hide the attempts of another.
        let address = self.client.filter(|_| *by == Principal::Anonymous).map(|client| client.0);
        let attempt = RefusedAttempt {
            source: AttemptSource { actor: by.to_string(), address },
            action: format!("{} {}", gate.meter.method, gate.meter.path),
            subject: self.path.path().split('/').find_map(|part| part.parse().ok()),
            request_id: self.request_id.as_deref().map(str::to_owned),
            code: told.code.clone(),
            detail,
        };
        audit_sampling::note(&gate.audit, attempt);
    }
}
