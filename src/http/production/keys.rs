//! API keys: made, listed, revoked by admins. The key itself is shown once (production spec §2).

use super::auth::unexpected;
use crate::domain::access::{AccessAnswer, AccessCommand, ApiKey};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::time::Timestamp;
use crate::http::AppState;
use crate::http::access::with_access;
use crate::http::body::sure;
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::{Answer, ApiError};
use crate::http::page::{Params, body, cut};
use crate::http::path_id::PathId;
use crate::http::reply;
use crate::secrets::credentials;
use axum::extract::State;
use serde_json::{Value, json};

fn view(app: &AppState, key: &ApiKey) -> Value {
    json!({
        "id": key.id, "name": key.name, "prefix": key.prefix, "last4": key.last4, "role": key.role,
        "customerEmail": key.customer_email, "expiresAt": key.expires_at, "revokedAt": key.revoked_at,
        "lastUsedAt": app.last_used.key_seen(key.id).or(key.last_used_at), "createdAt": key.created_at,
    })
}

/// `GET /api/auth/api-keys`: all, revoked ones included; never the key itself.
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let page = params.page()?;
    let mut all = with_access(&app, |access| access.keys.values().cloned().collect::<Vec<_>>())?;
    all.sort_by_key(|key| std::cmp::Reverse(key.id));
    let (some, total) = cut(page, all);
    reply::ok(body(page, "apiKeys", some.iter().map(|key| view(&app, key)).collect(), total))
}

/// `POST /api/auth/api-keys {name, role, expiresAt?, customerEmail?}`: 201 with the key, this once.
pub async fn create(State(app): State<AppState>, call: CommandRequest) -> Answer {
    let key = credentials::new_api_key(credentials::api_key_prefix(app.config.mode));
    let command = async {
        let mut fields = call.fields()?;
        let name = fields.need_text("name", 200);
        let role: Option<Role> = fields.need("role");
        let expires_at: Option<Timestamp> = fields.nullable("expiresAt").flatten();
        let customer_email = fields.nullable_text("customerEmail", 254).flatten();
        fields.finish()?;
        Ok(AccessCommand::AddKey {
            name: sure(name)?,
            hash: credentials::api_key_hash(app.config.auth.api_key_salt.expose(), &key),
            prefix: credentials::api_key_prefix(app.config.mode).to_owned(),
            last4: credentials::last4(&key),
            role: sure(role)?,
            customer_email,
            expires_at,
        })
    };
    let done = call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await?;
    if done.replayed {
        return Err(withheld());
    }
    let AccessAnswer::Key(made) = &done.answer else { return Err(unexpected(&done.answer)) };
    let mut shown = json!({
        "id": made.id, "name": made.name, "key": key, "role": made.role, "createdAt": made.created_at,
        "expiresAt": made.expires_at,
    });
    if made.customer_email.is_some() {
        shown["customerEmail"] = json!(made.customer_email);
    }
    reply::created(&done, &format!("/api/auth/api-keys/{}", made.id), shown)
}

/// 409: the first answer carried a secret and was not kept.
pub fn withheld() -> ApiError {
    ApiError::conflict("answer_withheld", "the first answer carried a secret, which is shown once only").replayed()
}

/// `DELETE /api/auth/api-keys/{id}`: acts on the next request.
pub async fn revoke(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), AccessCommand::RevokeKey(id)).await?;
    reply::no_content()
}
