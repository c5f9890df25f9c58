//! Commands from an agent gateway: `POST /webhooks/agent`, authenticated by the gateway's token.
//!
//! Every command that has run is written to the audit log with its outcome, even if the gateway disconnects before the
//! response. If the power fails, the command's own changes are still logged: each change to an order, a job or a
//! printer commits its own audit log entry. Requests rejected before a command runs (unreadable body, user not allowed,
//! rate limit) are logged as a bounded sample, including the user if known. The skills are in `skills`.

mod skills;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::production::{jobs, printers};
use config::Config;
use domain::access::{Access, AccessCommand};
use domain::agent::{Skill, may_ask};
use domain::id::Id;
use domain::limits::LimitKind;
use domain::material::Material;
use domain::order::Order;
use domain::principal::Principal;
use domain::refusal::Refusal;
use http::access::{Caller, RequiredAccess};
use http::agent_token;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::handles::handles;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::{self, AnyJson, JsonObject};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use store::queries::Queries;

/// Maximum length of a user ID, in characters; longer IDs are truncated.
const MAX_USER_CHARS: usize = 200;
/// OpenAPI tag for operations called by other systems rather than by API users.
pub(super) const TAG: &str = "Inbound webhooks";
/// OpenAPI description of [`TAG`].
pub(super) const ABOUT: &str = "Events from the payment processor and commands from an agent gateway.";

handles! {
    /// Dependencies of the agent route.
    pub struct AgentHandles {
        access: Directory<Access>,
        orders: Directory<Order>,
        materials: Directory<Material>,
        queries: Queries,
        config: Arc<Config>,
        limits: Arc<RateLimiter>,
        environment: Arc<Environment>,
        job_handles: jobs::JobHandles,
        printer_handles: printers::PrinterHandles,
    }
}

/// Returns the route of the agent gateway.
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new(TAG, ABOUT, "event").post(RequiredAccess::Open, agent_token::PATH, receive, |op| {
        op.named("receiveAgentCommand", "Run an agent gateway command")
            .about(
                "Requires the gateway's token. Unknown fields are ignored. The audit log contains every executed \
                 command with its result, and a sample of the rejected ones.",
            )
            .by_token()
            .error(401, "unauthorized", "The token is missing or incorrect.")
            .error(403, "user_not_allowed", "This user is not allowed to send commands.")
            .error(404, "not_found", "A record named in the parameters does not exist.")
            .error(409, "invalid_transition", "The current state does not allow this; other codes are more specific.")
            .error(502, "printer_refused", "The printer rejected the command; the message is from the printer.")
            .error(503, "agent_not_configured", "No agent token is configured.")
            .error(504, "printer_timeout", "The printer did not respond in time or cannot be reached.")
    })
}

/// Command sent by the agent gateway.
#[derive(Request, Clone, Debug)]
#[api(open, example = json!({
    "skill": "pause-print", "params": {"jobId": "01890a5d-ac96-774b-bcce-b302099a8067"}, "userId": "telegram:123",
}))]
pub struct AgentCommand {
    /// Skill to run.
    skill: Skill,
    /// Parameters of the skill, such as `jobId`, `printerId`, `orderId` or `materialId`.
    params: Option<JsonObject>,
    /// User who sent the command, prefixed with the channel: `telegram:123`.
    user_id: Option<String>,
}

/// Result of a command from an agent gateway.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "AgentAnswer", example = json!({
    "ok": true, "message": "Asked the printer to pause JOB-000245.",
    "data": {"printerId": "01890a5d-ac96-774b-bcce-b302099a8069"},
}))]
struct AgentAnswer {
    /// Always `true`; failures return an error object.
    ok: bool,
    /// Message to show in the chat.
    message: String,
    /// Machine-readable result, which depends on the skill.
    data: AnyJson,
}

/// Result of a skill: a message for the chat and data for programs.
struct AgentReply {
    message: String,
    data: Value,
}

/// Command from an agent, with its caller and parameters.
struct AgentCall {
    app: AgentHandles,
    who: Caller,
    params: Map<String, Value>,
}

async fn receive(
    State(app): State<AgentHandles>,
    call: CommandRequest<AgentCommand>,
) -> Result<LimitedReply<Plain<AgentAnswer>>, ApiError> {
    if app.config.agent.token.is_empty() {
        return Err(ApiError::unavailable("agent_not_configured", "AGENT_TOKEN is not set", 300));
    }
    if !agent_token::is_shown(&app.config, &call.headers) {
        return Err(ApiError::unauthorized("the bearer token is missing or incorrect"));
    }
    // Gateways do not all say that what they send is JSON.
    let gateway = || Arc::new(Principal::Agent { user: String::new() });
    let read = wire::read_body::<AgentCommand>(&call.body);
    let AgentCommand { skill, params, user_id } = read.map_err(|error| error.by(gateway()))?;
    let user: String = user_id.unwrap_or_default().chars().take(MAX_USER_CHARS).collect();
    let allowed = may_ask(&app.config.agent.allowed_users, &user);
    let facts = json!({ "skill": skill.word() });
    let JsonObject(params) = params.unwrap_or_default();
    // Nothing delays an emergency stop.
    let counted = (skill != Skill::EmergencyStop).then(|| WindowKey::of_text(LimitKind::Agent, &user));
    let charges: Vec<WindowKey> = counted.into_iter().collect();
    let by = Arc::new(Principal::Agent { user });
    if !allowed {
        let error = ApiError::forbidden("user_not_allowed", "this user is not allowed to send commands");
        return Err(error.by(by).facts(facts));
    }
    let Caller { request_id, language, .. } = call.who.clone();
    let who = Caller { by: by.clone(), session: None, request_id, language };
    let agent_call = AgentCall { app, who, params };
    let (limits, now) = (agent_call.app.limits.clone(), agent_call.app.environment.now());
    Ok(within(&limits, now, &charges, carried_out(agent_call, skill)).await?.noting(by, facts))
}

/// Runs the command in its own task, so that it is written to the audit log even if the client disconnects.
async fn carried_out(agent_call: AgentCall, skill: Skill) -> Result<Plain<AgentAnswer>, ApiError> {
    let going_on = tokio::spawn(async move {
        let outcome = agent_call.carry_out(skill).await;
        agent_call.audit(skill, outcome.as_ref().err()).await;
        outcome
    });
    Ok(answer(going_on.await.map_err(ApiError::internal)??))
}

fn answer(reply: AgentReply) -> Plain<AgentAnswer> {
    Plain(AgentAnswer { ok: true, message: reply.message, data: AnyJson(reply.data) })
}

impl AgentCall {
    fn caller(&self) -> CommandOrigin {
        CommandOrigin { by: self.who.by.clone(), request_id: self.who.request_id.clone(), key: None }
    }

    /// Records the command's outcome in the audit log. If the database is unavailable, the failure is only logged: an
    /// error response would invite a retry of a command that has already run.
    async fn audit(&self, skill: Skill, error: Option<&ApiError>) {
        let refused = error.map(|error| error.code().to_owned());
        if let Err(error) = self.app.access.ask(Id::ONLY, self.caller(), AccessCommand::Asked { skill, refused }).await
        {
            tracing::warn!(action = skill.action().name(), %error, "an agent's command could not be written to the audit log");
        }
    }

    /// Returns a parameter as text, under the first of the given names that is present. Numbers are converted to text.
    fn param(&self, names: &[&str]) -> Option<String> {
        let value = names.iter().find_map(|name| self.params.get(*name))?;
        match value {
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
