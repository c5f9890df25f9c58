//! Request with its body, and the single path from a request to an aggregate: look up the stored response for its
//! idempotency key, send the command, build the response.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRef as _, FromRequest, FromRequestParts as _, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::AppState;
use crate::access::Caller;
use crate::error::ApiError;
use crate::handles::handles;
use crate::idempotency::{self, RunningKey, RunningKeys, StoredAnswer};
use crate::wire::{self, RequestBody};
use domain::aggregate::{Command, Versioned};
use domain::id::Id;
use domain::refusal::{Class, Refusal};
use domain::shop_clock::ShopClock;
use kernel::directory::Directory;
use kernel::envelope::{AnyAnswer, CommandAnswer, CommandOrigin, IdempotencyKey, PendingCommand};
use kernel::environment::Environment;
use kernel::handle::{self, AskError};
use store::StoredAggregate;
use store::queries::Queries;

/// Maximum number of attempts to merge a change without a version while the aggregate keeps changing concurrently.
const MAX_MERGE_TRIES: usize = 8;

handles! {
    /// Dependencies for reading a request and sending a command to an aggregate.
    pub struct RequestHandles {
        environment: Arc<Environment>,
        queries: Queries,
        running: RunningKeys,
    }
}

/// Request with its caller, body and idempotency key. `B` is the type of the body (a [`RequestBody`]); `()` if it has
/// none or the handler parses it itself.
pub struct CommandRequest<B = ()> {
    app: RequestHandles,
    /// Caller, already authorized for the route.
    pub who: Caller,
    /// Raw headers, for `If-Match` and signatures.
    pub headers: HeaderMap,
    /// Complete raw body.
    pub body: Bytes,
    key: Option<RequestKey>,
    kind: PhantomData<fn() -> B>,
}

/// Idempotency key for a request.
struct RequestKey {
    scope: String,
    /// Guard that marks the request as running; `None` for the key of an HTML form, whose second request is answered
    /// as the first one instead of with an error.
    running: Option<RunningKey>,
}

impl RequestKey {
    /// Reads the `Idempotency-Key` header; fails with 409 while an earlier request with the same key is running.
    fn of_header(
        app: &RequestHandles,
        who: &Caller,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, ApiError> {
        let Some(scope) = idempotency::scope(who, method, path, headers)? else { return Ok(None) };
        let running = Some(RunningKey::take(&app.running, &scope)?);
        Ok(Some(Self { scope, running }))
    }
}

/// Target aggregate of a command.
#[derive(Clone, Copy, Debug)]
pub enum CommandTarget {
    /// New aggregate that the command creates.
    New,
    /// Existing aggregate.
    Id(Id),
}

/// Result of a command.
pub struct CommandOutcome<A> {
    /// ID of the aggregate.
    pub id: Id,
    /// Version of the aggregate after the commit.
    pub version: i64,
    /// Response from the aggregate.
    pub answer: A,
    /// `true` if this is the stored response to the first request with the same idempotency key.
    pub replayed: bool,
}

impl<B> FromRequest<AppState> for CommandRequest<B> {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &AppState) -> Result<Self, ApiError> {
        let app = RequestHandles::from_ref(app);
        let (mut parts, body) = request.into_parts();
        let who = Caller::from_request_parts(&mut parts, &app).await?;
        let key = RequestKey::of_header(&app, &who, &parts.method, parts.uri.path(), &parts.headers)?;
        // The guard of the route has read it within its bounds.
        let body = axum::body::to_bytes(body, usize::MAX).await.map_err(ApiError::internal)?;
        Ok(Self { app, who, headers: parts.headers, body, key, kind: PhantomData })
    }
}

impl CommandRequest {
    /// Creates a request whose handler reads the body itself.
    pub fn without_body(
        app: &RequestHandles,
        who: Caller,
        parts: &axum::http::request::Parts,
    ) -> Result<Self, ApiError> {
        let key = RequestKey::of_header(app, &who, &parts.method, parts.uri.path(), &parts.headers)?;
        Ok(Self { app: app.clone(), who, headers: parts.headers.clone(), body: Bytes::new(), key, kind: PhantomData })
    }

    /// Returns a request with the given JSON body in place of the HTML form. Pages use it to call the corresponding API
    /// operation. Forms have no idempotency key, except with [`CommandRequest::with_key`].
    pub fn of_form<B>(&self, json: &serde_json::Value) -> CommandRequest<B> {
        let (app, who, mut headers) = (self.app.clone(), self.who.clone(), self.headers.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        CommandRequest { app, who, headers, body: Bytes::from(json.to_string()), key: None, kind: PhantomData }
    }
}

impl<B: RequestBody> CommandRequest<B> {
    /// Parses the body, or returns all its validation errors. A content type other than JSON results in a 415 error.
    ///
    /// Commands with an `Idempotency-Key` parse the body within [`Self::ask_with`]: a retry receives the first
    /// response, even if its body would be invalid now.
    pub fn read_body(&self) -> Result<B::Value, ApiError> {
        if !(B::OPTIONAL && self.body.is_empty()) {
            self.must_be_json()?;
        }
        wire::read_body::<B>(&self.body)
    }
}

impl<B> CommandRequest<B> {
    /// Returns the request with the given idempotency key, for an HTML form that must not act twice. The form must send
    /// only one command.
    pub fn with_key(self, method: &Method, path: &str, key: &str) -> Self {
        let scope = idempotency::scope_of(&self.who, method, path, key);
        Self { key: Some(RequestKey { scope, running: None }), ..self }
    }

    /// Returns the shop's clock, in whose time zone people enter times.
    pub fn clock(&self) -> &ShopClock {
        &self.app.environment.rules.clock
    }

    fn must_be_json(&self) -> Result<(), ApiError> {
        let content_type = self.headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
        if content_type.is_some_and(is_json) {
            return Ok(());
        }
        let message = "the body must be JSON, with Content-Type: application/json";
        Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message))
    }

    /// Returns the version that the change is based on (`If-Match`); an invalid version is treated as stale.
    pub fn if_match(&self) -> Option<i64> {
        let text = self.headers.get(header::IF_MATCH)?.to_str().unwrap_or_default().trim();
        if text == "*" {
            return None;
        }
        let tag = text.strip_prefix("W/").unwrap_or(text);
        Some(tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')?.parse().ok()).unwrap_or(-1))
    }

    /// Returns the origin of the request without its idempotency key, for records made in addition to the command.
    pub fn origin(&self) -> CommandOrigin {
        self.caller(None)
    }

    /// Returns the scope derived from the request's `Idempotency-Key`, caller and route, if it has a key.
    pub fn key_scope(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.scope.as_str())
    }

    fn caller(&self, key: Option<IdempotencyKey>) -> CommandOrigin {
        CommandOrigin { by: self.who.by.clone(), request_id: self.who.request_id.clone(), key }
    }

    /// Sends a command that needs no preparation.
    pub async fn ask<T: StoredAggregate, C: Command<T>>(
        &self,
        directory: &Directory<T>,
        to: CommandTarget,
        command: C,
    ) -> Result<CommandOutcome<C::Answer>, ApiError> {
        self.ask_with(directory, to, async { Ok(command) }).await
    }

    /// Sends a command that requires lookups to build; `command` runs only if no response is stored for the request's
    /// key.
    pub async fn ask_with<T: StoredAggregate, C: Command<T>>(
        &self,
        directory: &Directory<T>,
        to: CommandTarget,
        command: impl Future<Output = Result<C, ApiError>>,
    ) -> Result<CommandOutcome<C::Answer>, ApiError> {
        let hash = idempotency::short(&Sha256::digest(&self.body));
        self.ask_hashed(directory, to, hash, command).await
    }

    /// Does the same as [`Self::ask_with`], but uses the given hash for the body.
    pub async fn ask_hashed<T: StoredAggregate, C: Command<T>>(
        &self,
        directory: &Directory<T>,
        to: CommandTarget,
        body_hash: String,
        command: impl Future<Output = Result<C, ApiError>>,
    ) -> Result<CommandOutcome<C::Answer>, ApiError> {
        let key = self.idempotency_key(body_hash);
        if let Some(stored) = self.stored_answer(T::KIND, key.as_ref()).await? {
            return replay(&stored);
        }
        let request = PendingCommand::new(self.caller(key.clone()), command.await?);
        match self.send(directory, to, request, key).await? {
            SentOutcome::Done(id, answered) => {
                let CommandAnswer { answer, version } = handle::typed(Ok(answered))?;
                Ok(CommandOutcome { id, version, answer, replayed: false })
            }
            SentOutcome::Stored(stored) => replay(&stored),
        }
    }

    fn idempotency_key(&self, body_hash: String) -> Option<IdempotencyKey> {
        let now = self.app.environment.now();
        self.key.as_ref().map(|key| idempotency::key(&key.scope, body_hash, now))
    }

    async fn stored_answer(&self, kind: &str, key: Option<&IdempotencyKey>) -> Result<Option<StoredAnswer>, ApiError> {
        match key {
            Some(key) => idempotency::look_up(&self.app.queries, kind, key).await,
            None => Ok(None),
        }
    }

    /// Sends a command of any type. Boxed, because each operation contains it.
    fn send<'a, T: StoredAggregate>(
        &'a self,
        directory: &'a Directory<T>,
        to: CommandTarget,
        request: PendingCommand<T>,
        key: Option<IdempotencyKey>,
    ) -> BoxFuture<'a, Result<SentOutcome, ApiError>> {
        async move {
            let (id, outcome) = match to {
                CommandTarget::New => directory.send_new(request).await,
                CommandTarget::Id(id) => (id, directory.send(id, request).await),
            };
            match (outcome, key) {
                (Ok(answered), _) => Ok(SentOutcome::Done(id, answered)),
                // Somebody was quicker with the same key, or this very request had got through before a crash.
                (Err(AskError::KeyTaken), Some(key)) => match self.stored_answer(T::KIND, Some(&key)).await? {
                    Some(stored) => Ok(SentOutcome::Stored(stored)),
                    None => Err(AskError::KeyTaken.into()),
                },
                // Only clients that sent the key themselves can repeat the request with it.
                (Err(error), _) if self.key.as_ref().is_some_and(|key| key.running.is_some()) => {
                    Err(ApiError::of_keyed(error))
                }
                (Err(error), _) => Err(error.into()),
            }
        }
        .boxed()
    }

    /// Changes an aggregate by merging into its current state. `merge` builds the command, guarded by the version
    /// passed to it. Without `If-Match`, the merge is retried after a concurrent change.
    pub async fn merge<T: StoredAggregate, C: Command<T>>(
        &self,
        directory: &Directory<T>,
        id: Id,
        merge: impl Fn(&T, i64) -> Result<C, ApiError>,
    ) -> Result<CommandOutcome<C::Answer>, ApiError> {
        let if_match = self.if_match();
        let mut tries = 0;
        loop {
            tries += 1;
            let (version, state) = find_existing(directory, id).await?;
            let command = merge(state_of(&state)?, if_match.unwrap_or(version))?;
            match directory.ask(id, self.caller(None), command).await {
                Ok(done) => {
                    return Ok(CommandOutcome { id, version: done.version, answer: done.answer, replayed: false });
                }
                Err(AskError::Refused(Refusal { class: Class::Stale, .. }))
                    if if_match.is_none() && tries < MAX_MERGE_TRIES => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Outcome of a command of any type.
enum SentOutcome {
    /// Response to the command, with the ID of its aggregate.
    Done(Id, CommandAnswer<AnyAnswer>),
    /// Stored response to an earlier request with the same idempotency key.
    Stored(StoredAnswer),
}

fn replay<A: DeserializeOwned>(stored: &StoredAnswer) -> Result<CommandOutcome<A>, ApiError> {
    Ok(CommandOutcome { id: stored.id, version: stored.version, answer: stored.read()?, replayed: true })
}

/// Returns the version and last committed state of an aggregate; fails with 404 if it does not exist.
pub async fn find_existing<T: StoredAggregate>(
    directory: &Directory<T>,
    id: Id,
) -> Result<(i64, Arc<Versioned<T>>), ApiError> {
    let state = directory.read(id).await?.ok_or_else(|| Refusal::not_found(T::KIND))?;
    Ok((state.revision(), state))
}

/// Returns the version and last committed state of an aggregate; fails with 404 if it does not exist or is archived.
pub async fn find_present<T: StoredAggregate>(directory: &Directory<T>, id: Id) -> Result<(i64, T), ApiError> {
    let state = directory.present(id).await?;
    let state = state.as_ref().ok_or_else(|| Refusal::not_found(T::KIND))?;
    Ok((state.revision(), present_state(state)?.clone()))
}

/// Returns the aggregate's state from the result of [`find_existing`]; fails with 404 if the aggregate is archived.
pub fn present_state<T: StoredAggregate>(state: &Versioned<T>) -> Result<&T, ApiError> {
    state.present().ok_or_else(|| Refusal::not_found(T::KIND).into())
}

/// Returns the aggregate's state from the result of [`find_existing`].
pub fn state_of<T: StoredAggregate>(state: &Versioned<T>) -> Result<&T, ApiError> {
    state.state.as_ref().ok_or_else(|| Refusal::not_found(T::KIND).into())
}

fn is_json(content_type: &str) -> bool {
    let media = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media == "application/json" || (media.starts_with("application/") && media.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_told_by_its_media_type() {
        for yes in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
            assert!(is_json(yes), "{yes}");
        }
        for no in ["", "text/json", "application/x-www-form-urlencoded", "text/plain; application/json"] {
            assert!(!is_json(no), "{no}");
        }
    }
}
