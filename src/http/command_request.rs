//! A request with its body read, and the one way from it to an aggregate: look for a kept answer, ask, say what came of
//! it.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRef as _, FromRequest, FromRequestParts as _, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};

use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::envelope::{CommandOrigin, IdempotencyKey};
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::handle::AskError;
use crate::domain::aggregate::Versioned;
use crate::domain::id::Id;
use crate::domain::refusal::{Class, Refusal};
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::idempotency::{self, KeptAnswer, Running, RunningKeys};
use crate::http::wire::{self, RequestBody};
use crate::store::StoredAggregate;
use crate::store::queries::Queries;

/// How often a change that names no version is merged anew when the aggregate changed in between.
const MAX_MERGE_TRIES: usize = 8;

handles! {
    /// What reading a request and asking an aggregate take.
    pub(crate) struct RequestHandles {
        environment: Arc<Environment>,
        queries: Queries,
        running: RunningKeys,
    }
}

/// A request: who asks, with which body and key. `B` is what its body is (a [`RequestBody`]); `()` when it has none, or
/// the handler reads it by hand.
pub struct CommandRequest<B = ()> {
    app: RequestHandles,
    /// The caller, as the guard of the route let it in.
    pub who: Caller,
    /// As they were sent, for `If-Match` and signatures.
    pub headers: HeaderMap,
    /// The whole body, as it was sent.
    pub body: Bytes,
    /// Scope of its idempotency key, with the place of the running request.
    key: Option<(String, Running)>,
    kind: PhantomData<fn() -> B>,
}

/// Whom a command is for.
#[derive(Clone, Copy, Debug)]
pub enum CommandTarget {
    /// An aggregate that it makes.
    New,
    /// An aggregate that exists.
    Id(Id),
}

/// What an aggregate answered.
pub struct CommandOutcome<A> {
    /// The identifier of the aggregate that answered.
    pub id: Id,
    /// Its version after the commit.
    pub version: i64,
    /// What the aggregate answered.
    pub answer: A,
    /// Whether this is the kept answer to the first request with the same key.
    pub replayed: bool,
}

impl<B> FromRequest<AppState> for CommandRequest<B> {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &AppState) -> Result<Self, ApiError> {
        let app = RequestHandles::from_ref(app);
        let (mut parts, body) = request.into_parts();
        let who = Caller::from_request_parts(&mut parts, &app).await?;
        let key = idempotency::scope(&who, &parts.method, parts.uri.path(), &parts.headers)?
            .map(|scope| Running::take(&app.running, &scope).map(|running| (scope, running)))
            .transpose()?;
        // The guard of the route has read it within its bounds.
        let body = axum::body::to_bytes(body, usize::MAX).await.map_err(ApiError::internal)?;
        Ok(Self { app, who, headers: parts.headers, body, key, kind: PhantomData })
    }
}

impl CommandRequest {
    /// A request whose body was read by the handler itself.
    pub(crate) fn without_body(
        app: &RequestHandles,
        who: Caller,
        parts: &axum::http::request::Parts,
    ) -> Result<Self, ApiError> {
        let key = idempotency::scope(&who, &parts.method, parts.uri.path(), &parts.headers)?
            .map(|scope| Running::take(&app.running, &scope).map(|running| (scope, running)))
            .transpose()?;
        Ok(Self { app: app.clone(), who, headers: parts.headers.clone(), body: Bytes::new(), key, kind: PhantomData })
    }

    /// The same request with this body in place of the form of a page that it was sent as: what the form says, as the
    /// API takes it. So a page does what the API does, by the very handler of the operation.
    pub(crate) fn with_body<B>(self, said: &serde_json::Value) -> CommandRequest<B> {
        let Self { app, who, mut headers, key, .. } = self;
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        CommandRequest { app, who, headers, body: Bytes::from(said.to_string()), key, kind: PhantomData }
    }

    /// As [`Self::with_body`], of a form that is shown again when it is refused. Forms have no idempotency key.
    pub(crate) fn of_form<B>(&self, said: &serde_json::Value) -> CommandRequest<B> {
        let (app, who, mut headers) = (self.app.clone(), self.who.clone(), self.headers.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        CommandRequest { app, who, headers, body: Bytes::from(said.to_string()), key: None, kind: PhantomData }
    }
}

impl<B: RequestBody> CommandRequest<B> {
    /// Reads the body, or refuses it with all its faults. Another content type than JSON is 415.
    ///
    /// Commands that are kept for an `Idempotency-Key` read it within [`Self::ask_with`]: a repeat gets the first
    /// answer, whatever its body would be judged now.
    pub fn read_body(&self) -> Result<B::Value, ApiError> {
        if !(B::OPTIONAL && self.body.is_empty()) {
            self.must_be_json()?;
        }
        wire::read_body::<B>(&self.body)
    }
}

impl<B> CommandRequest<B> {
    fn must_be_json(&self) -> Result<(), ApiError> {
        let given = self.headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
        if given.is_some_and(is_json) {
            return Ok(());
        }
        let message = "the body must be JSON, with Content-Type: application/json";
        Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message))
    }

    /// The version that the caller wants to change (`If-Match`); one that cannot be is stale.
    pub fn if_match(&self) -> Option<i64> {
        let text = self.headers.get(header::IF_MATCH)?.to_str().unwrap_or_default().trim();
        if text == "*" {
            return None;
        }
        let tag = text.strip_prefix("W/").unwrap_or(text);
        Some(tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')?.parse().ok()).unwrap_or(-1))
    }

    /// Who asks, without the idempotency key: for what is recorded besides the command.
    pub fn origin(&self) -> CommandOrigin {
        self.caller(None)
    }

    /// What stands for the request's `Idempotency-Key`, its caller and its route, if it has one.
    pub fn key_scope(&self) -> Option<&str> {
        self.key.as_ref().map(|(scope, _)| scope.as_str())
    }

    fn caller(&self, key: Option<IdempotencyKey>) -> CommandOrigin {
        CommandOrigin { by: self.who.by.clone(), request_id: self.who.request_id.clone(), key }
    }

    /// Asks a command that is known at once.
    pub async fn ask<T: StoredAggregate>(
        &self,
        directory: &Directory<T>,
        to: CommandTarget,
        command: T::Command,
    ) -> Result<CommandOutcome<T::Answer>, ApiError> {
        self.ask_with(directory, to, async { Ok(command) }).await
    }

    /// Asks a command that takes some looking up: only when no answer is kept for the request's key.
    pub async fn ask_with<T: StoredAggregate>(
        &self,
        directory: &Directory<T>,
        to: CommandTarget,
        command: impl Future<Output = Result<T::Command, ApiError>>,
    ) -> Result<CommandOutcome<T::Answer>, ApiError> {
        let hash = idempotency::short(&Sha256::digest(&self.body));
        self.ask_hashed(directory, to, hash, command).await
    }

    /// As [`Self::ask_with`], with a hash that stands for the body.
    pub async fn ask_hashed<T: StoredAggregate>(
        &self,
        directory: &Directory<T>,
        to: CommandTarget,
        body_hash: String,
        command: impl Future<Output = Result<T::Command, ApiError>>,
    ) -> Result<CommandOutcome<T::Answer>, ApiError> {
        let now = self.app.environment.now();
        let key = self.key.as_ref().map(|(scope, _)| idempotency::key(scope, body_hash, now));
        if let Some(key) = &key
            && let Some(kept) = idempotency::look_up::<T>(&self.app.queries, key, now).await?
        {
            return replay(kept);
        }
        let command = command.await?;
        let caller = self.caller(key.clone());
        let asked = match to {
            CommandTarget::New => directory.create(caller, command).await,
            CommandTarget::Id(id) => directory.ask(id, caller, command).await.map(|answered| (id, answered)),
        };
        match (asked, key) {
            (Ok((id, answered)), _) => {
                Ok(CommandOutcome { id, version: answered.version, answer: answered.answer, replayed: false })
            }
            // Somebody was quicker with the same key, or this very request had got through before a crash.
            (Err(AskError::KeyTaken), Some(key)) => {
                match idempotency::look_up::<T>(&self.app.queries, &key, now).await? {
                    Some(kept) => replay(kept),
                    None => Err(AskError::KeyTaken.into()),
                }
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Changes an aggregate by merging into its present state. `merge` makes the command, guarded by the version it is
    /// given; without an `If-Match` of the caller a change in between is merged into anew.
    pub async fn merge<T: StoredAggregate>(
        &self,
        directory: &Directory<T>,
        id: Id,
        merge: impl Fn(&T, i64) -> Result<T::Command, ApiError>,
    ) -> Result<CommandOutcome<T::Answer>, ApiError> {
        let wanted = self.if_match();
        let mut tries = 0;
        loop {
            tries += 1;
            let (version, state) = found(directory, id).await?;
            let command = merge(state_of(&state)?, wanted.unwrap_or(version))?;
            match directory.ask(id, self.caller(None), command).await {
                Ok(done) => {
                    return Ok(CommandOutcome { id, version: done.version, answer: done.answer, replayed: false });
                }
                Err(AskError::Refused(Refusal { class: Class::Stale, .. }))
                    if wanted.is_none() && tries < MAX_MERGE_TRIES => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn replay<T: StoredAggregate>(kept: KeptAnswer<T>) -> Result<CommandOutcome<T::Answer>, ApiError> {
    match kept.verdict {
        Ok(answer) => Ok(CommandOutcome { id: kept.id, version: kept.version, answer, replayed: true }),
        Err(refusal) => Err(ApiError::from(refusal).replayed()),
    }
}

/// An aggregate's last commit and its version; 404 when there is none.
pub async fn found<T: StoredAggregate>(directory: &Directory<T>, id: Id) -> Result<(i64, Arc<Versioned<T>>), ApiError> {
    let state = directory.read(id).await?.ok_or_else(|| Refusal::not_found(T::KIND))?;
    Ok((state.revision(), state))
}

/// What is in a version that [`found`] gave.
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
