//! Commands of an agent gateway (decisions §9): `POST /webhooks/agent {skill, params?, userId?}`, with the gateway's token.
//!
//! Each command is written to the audit log before it is carried out, an emergency stop after it went out. What the skills do
//! is in `skills`.

mod skills;

use crate::actors::kernel::envelope::CommandOrigin;
use crate::domain::access::AccessCommand;
use crate::domain::agent::{Skill, may_ask};
use crate::domain::id::Id;
use crate::domain::principal::Principal;
use crate::domain::refusal::Refusal;
use crate::domain::signing::same;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::command_request::CommandRequest;
use crate::http::error::{Answer, ApiError};
use crate::http::reply;
use axum::extract::State;
use axum::http::header;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

const USER_LONGEST: usize = 200;

/// What a skill answers: words for the chat, facts for programs.
struct Told {
    message: String,
    data: Value,
}

/// A command of an agent: who asks and what with.
struct Asked {
    app: AppState,
    who: Caller,
    params: Map<String, Value>,
}

/// `POST /webhooks/agent`
pub async fn receive(State(app): State<AppState>, call: CommandRequest) -> Answer {
    let token = app.config.agent.token.expose();
    if token.is_empty() {
        return Err(ApiError::unavailable("agent_not_configured", "AGENT_TOKEN is not set", 300));
    }
    let given = call.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given =
        given.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    // Digests have one length, so the comparison tells nothing of the token's.
    let digest = |text: &str| <[u8; 32]>::from(Sha256::digest(text));
    if !given.is_some_and(|(_, given)| same(&digest(token), &digest(given.trim()))) {
        return Err(ApiError::unauthorized("the bearer token is missing or wrong"));
    }
    let body = bounded_json::read(&call.body, bounded_json::REQUEST)
        .map_err(|error| ApiError::bad_request("malformed_json", format!("the body is not JSON: {error}")))?;
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let user: String = text("userId").unwrap_or_default().chars().take(USER_LONGEST).collect();
    if !may_ask(&app.config.agent.allowed_users, &user) {
        return Err(ApiError::forbidden("user_not_allowed", "this user may not give commands"));
    }
    let skill = text("skill").unwrap_or_default();
    let skill = Skill::of(skill)
        .ok_or_else(|| Refusal::field("skill", format!("{skill:?} is not one of {}", Skill::list())))?;
    let params = match body.get("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params.clone(),
        Some(_) => return Err(Refusal::field("params", "must be an object").into()),
    };
    let by = Arc::new(Principal::Agent { user });
    let who = Caller { by, session: None, request_id: call.who.request_id.clone() };
    let asked = Asked { app, who, params };
    if skill == Skill::EmergencyStop {
        let told = asked.emergency_stop().await;
        if let Err(error) = asked.audit(skill).await {
            tracing::warn!(code = error.code(), "an agent's emergency stop is not in the audit log");
        }
        return answer(told?);
    }
    asked.audit(skill).await?;
    answer(asked.carry_out(skill).await?)
}

fn answer(told: Told) -> Answer {
    reply::ok(json!({"ok": true, "message": told.message, "data": told.data}))
}

impl Asked {
    fn caller(&self) -> CommandOrigin {
        CommandOrigin { by: self.who.by.clone(), request_id: self.who.request_id.clone(), key: None }
    }

    async fn audit(&self, skill: Skill) -> Result<(), ApiError> {
        self.app.access.ask(Id::ONLY, self.caller(), AccessCommand::Asked(skill)).await?;
        Ok(())
    }

    /// A parameter's text, whichever of its names is used; numbers count as text.
    fn param(&self, names: &[&str]) -> Option<String> {
        let found = names.iter().find_map(|name| self.params.get(*name))?;
        match found {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn needed(&self, names: &[&str]) -> Result<String, ApiError> {
        let name = names.first().copied().unwrap_or_default();
        self.param(names).ok_or_else(|| Refusal::field(&format!("params.{name}"), "is required").into())
    }
}
