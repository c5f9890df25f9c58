//! Staff, administered by admins (decisions §2).

use super::auth::{check_password, slowly, unexpected};
use crate::credentials;
use crate::domain::access::{AccessAnswer, AccessCommand, User, normal_email};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::http::AppState;
use crate::http::access::with_access;
use crate::http::body::sure;
use crate::http::call::{Call, To};
use crate::http::error::Answer;
use crate::http::lookup::ThingId;
use crate::http::page::{Params, body, cut};
use crate::http::reply;
use axum::extract::State;
use serde_json::{Value, json};

/// A staff member as they are shown; never with the password's hash.
pub fn view(user: &User) -> Value {
    json!({
        "id": user.id, "email": user.email, "name": user.name, "role": user.role,
        "createdAt": user.created_at, "updatedAt": user.updated_at,
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

/// `POST /api/users {email, name, password, role}`
pub async fn create(State(app): State<AppState>, call: Call) -> Answer {
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
        let password_hash = slowly(move || credentials::hash_password(&password)).await?;
        Ok(AccessCommand::AddUser { email: sure(email)?, name: sure(name)?, password_hash, role: sure(role)? })
    };
    let done = call.ask_with(&app.shop.access, To::Id(Id::ONLY), command).await?;
    let AccessAnswer::User(user) = &done.answer else { return Err(unexpected(&done.answer)) };
    reply::created(&done, &format!("/api/users/{}", user.id), view(user))
}

/// `PATCH /api/users/{id} {name?, role?, password?}`: a new role or password ends their sessions.
pub async fn update(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
    let mut fields = call.fields()?;
    let name = fields.opt_text("name", 200);
    let role: Option<Role> = fields.opt("role");
    let password: Option<String> = fields.opt("password");
    if let Some(password) = &password {
        check_password(&mut fields, "password", password);
    }
    fields.finish()?;
    let password_hash = match password {
        Some(password) => Some(slowly(move || credentials::hash_password(&password)).await?),
        None => None,
    };
    let change = AccessCommand::UpdateUser { id, name, role, password_hash, keep: call.who.session };
    let done = call.ask(&app.shop.access, To::Id(Id::ONLY), change).await?;
    let AccessAnswer::User(user) = &done.answer else { return Err(unexpected(&done.answer)) };
    reply::ok(view(user))
}

/// `DELETE /api/users/{id}`: not the last admin (409 `last_admin`).
pub async fn remove(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
    call.ask(&app.shop.access, To::Id(Id::ONLY), AccessCommand::RemoveUser(id)).await?;
    reply::no_content()
}
