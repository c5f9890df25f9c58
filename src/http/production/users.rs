//! Staff, administered by admins (decisions §2).

use super::auth::{check_password, unexpected};
use crate::domain::access::{AccessAnswer, AccessCommand, User, UserChange, normal_email};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::refusal::Refusal;
use crate::http::AppState;
use crate::http::access::with_access;
use crate::http::body::sure;
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::Answer;
use crate::http::page::{Params, body, cut};
use crate::http::path_id::PathId;
use crate::http::reply;
use crate::secrets::credentials;
use axum::extract::State;
use serde_json::{Value, json};

/// A staff member as they are shown; never with the password's hash.
pub fn view(user: &User) -> Value {
    json!({
        "id": user.id, "email": user.email, "name": user.name, "role": user.role, "active": user.active,
        "createdAt": user.created_at, "updatedAt": user.updated_at, "version": user.version,
    })
}

/// `GET /api/users`
pub async fn list(State(app): State<AppState>, params: Params) -> Answer {
    let page = params.page()?;
    let mut all =
        with_access(&app, |access| access.users.values().filter(|user| !user.archived).cloned().collect::<Vec<_>>())?;
    all.sort_by_key(|user| std::cmp::Reverse(user.id));
    let (some, total) = cut(page, all);
    reply::ok(body(page, "users", some.iter().map(|user| view(user)).collect(), total))
}

/// `GET /api/users/{id}`
pub async fn one(State(app): State<AppState>, PathId(id): PathId) -> Answer {
    let user = with_access(&app, |access| access.user(id).cloned())?.ok_or_else(|| Refusal::not_found("user"))?;
    reply::resource(user.version, &view(&user))
}

/// `POST /api/users {email, name, password, role}`
pub async fn create(State(app): State<AppState>, call: CommandRequest) -> Answer {
    let command = async {
        let mut fields = call.fields()?;
        let email: Option<String> = fields.need("email");
        let email = email.and_then(|email| fields.judge("email", normal_email(&email)));
        let name = fields.need_text("name", 200);
        let role: Option<Role> = fields.need("role");
        let password: Option<String> = fields.need("password");
        if let Some(password) = &password {
            check_password(&mut fields, "password", password);
        }
        fields.finish()?;
        let password = sure(password)?;
        let password_hash = app.hashing.run(move || credentials::hash_password(&password)).await?;
        Ok(AccessCommand::AddUser { email: sure(email)?, name: sure(name)?, password_hash, role: sure(role)? })
    };
    let done = call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await?;
    let AccessAnswer::User(user) = &done.answer else { return Err(unexpected(&done.answer)) };
    reply::created_part(done.replayed, user.version, &format!("/api/users/{}", user.id), view(user))
}

/// `PATCH /api/users/{id} {name?, role?, active?, password?}`: another role, a new password or `active: false` ends their
/// sessions.
pub async fn update(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut fields = call.fields()?;
    let name = fields.opt_text("name", 200);
    let role: Option<Role> = fields.opt("role");
    let active: Option<bool> = fields.opt("active");
    let password: Option<String> = fields.opt("password");
    if let Some(password) = &password {
        check_password(&mut fields, "password", password);
    }
    fields.finish()?;
    let password_hash = match password {
        Some(password) => Some(app.hashing.run(move || credentials::hash_password(&password)).await?),
        None => None,
    };
    let change = UserChange { name, role, active, password_hash };
    let (if_version, keep) = (call.if_match(), call.who.session);
    let command = AccessCommand::UpdateUser { id, if_version, change, keep };
    let done = call.ask(&app.access, CommandTarget::Id(Id::ONLY), command).await?;
    let AccessAnswer::User(user) = &done.answer else { return Err(unexpected(&done.answer)) };
    reply::resource(user.version, &view(user))
}

/// `DELETE /api/users/{id}`: not the last active admin (409 `last_admin`).
pub async fn remove(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), AccessCommand::RemoveUser(id)).await?;
    reply::no_content()
}
