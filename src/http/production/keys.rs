//! API keys: admins make, list and revoke them. The key itself is shown once, by the answer that makes it.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use super::auth::{TAG, TAG_ABOUT, unexpected};
use crate::actors::kernel::directory::Directory;
use crate::config::Config;
use crate::domain::access::{Access, AccessAnswer, AccessCommand, ApiKey};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::time::Timestamp;
use crate::http::access::{RequiredAccess, with_access};
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::last_used::LastUsed;
use crate::http::page::{PageQuery, Query, cut};
use crate::http::path_id::PathId;
use crate::http::reply::{Created, Listed, NoContent};
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{Components, EmailAddress, Filled, Flattened, MaxChars, Member, ONE_LINE, response_member};
use crate::secrets::credentials;

const PATH: &str = "/api/auth/api-keys";
/// The id that examples use for a key.
const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

handles! {
    /// What the routes of API keys use.
    pub(crate) struct KeyHandles {
        access: Directory<Access>,
        last_used: Arc<LastUsed>,
        config: Arc<Config>,
    }
}

/// The routes of API keys.
pub fn routes() -> ResourceRoutes {
    let admin = RequiredAccess::Role(Role::Admin);
    ResourceRoutes::new(TAG, TAG_ABOUT, "api_key")
        .get(admin, PATH, list, |op| {
            op.named("listApiKeys", "List the API keys")
                .about("Revoked keys are listed too. The keys themselves are never shown.")
        })
        .post(admin, PATH, create, |op| {
            op.named("createApiKey", "Make an API key")
                .about("The answer shows the whole key, and nothing shows it again: not even a repeat with the same `Idempotency-Key`.")
                .error(409, "answer_withheld", "The first answer to this `Idempotency-Key` carried a secret, which is shown once only.")
        })
        .delete(admin, "/api/auth/api-keys/{id}", revoke, |op| {
            op.named("revokeApiKey", "Revoke an API key")
                .about("The next request with the key is refused, and streams that were opened with it are closed.")
        })
}

/// An API key to make.
#[derive(Request, Debug)]
#[api(example = json!({
    "name": "web shop", "role": "customer", "expiresAt": "2030-01-31T12:00:00.000Z", "customerEmail": "kim@example.org",
}))]
pub struct NewApiKey {
    /// What the key is used for.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    name: String,
    /// What callers with the key may do.
    role: Role,
    /// When the key stops to work, in the future; without it the key works until it is revoked.
    expires_at: Option<Timestamp>,
    /// For a key with the role `customer` only: the customer whose orders the key sees and places.
    #[api(EmailAddress)]
    customer_email: Option<String>,
}

/// An API key without its secret.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ApiKey", many = "apiKeys", example = json!({
    "id": EXAMPLE_ID, "name": "web shop", "prefix": "key_test_", "last4": "x9Qz", "role": "customer",
    "customerEmail": null, "expiresAt": "2030-01-31T12:00:00.000Z", "revokedAt": null, "lastUsedAt": null,
    "createdAt": "2026-11-01T08:00:00.000Z",
}))]
struct ApiKeyView {
    /// Id of the key, which is not secret.
    id: Id,
    /// What the key is used for.
    name: String,
    /// The first characters of the key, by which people recognise it.
    prefix: String,
    /// The last four characters of the key.
    last4: String,
    /// What callers with the key may do.
    role: Role,
    /// The customer whose orders the key sees and places.
    customer_email: Option<String>,
    /// When the key stops to work.
    expires_at: Option<Timestamp>,
    /// When the key was revoked.
    revoked_at: Option<Timestamp>,
    /// When the key was last used, exact to the minute after a restart of the server.
    last_used_at: Option<Timestamp>,
    /// When the key was made.
    created_at: Timestamp,
}

impl ApiKeyView {
    fn new(app: &KeyHandles, key: &ApiKey) -> Self {
        let ApiKey { id, role, expires_at, revoked_at, created_at, .. } = *key;
        Self {
            id,
            name: key.name.clone(),
            prefix: key.prefix.clone(),
            last4: key.last4.clone(),
            role,
            customer_email: key.customer_email.clone(),
            expires_at,
            revoked_at,
            last_used_at: last_use(app, key),
            created_at,
        }
    }
}

/// When a key was last used; `None` if never.
pub(crate) fn last_use(app: &KeyHandles, key: &ApiKey) -> Option<Timestamp> {
    app.last_used.key_seen(key.id).or(key.last_used_at)
}

/// A new API key with its secret.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CreatedApiKey", example = json!({
    "id": EXAMPLE_ID, "name": "web shop", "key": "key_test_3oQmWn2Yc7Vb5Rk8Tz1Xp4Ls6Hd9Gf0Ja2Ke5Mu7Ni8",
    "role": "customer", "createdAt": "2026-11-01T08:00:00.000Z", "expiresAt": "2030-01-31T12:00:00.000Z",
}))]
struct CreatedApiKeyView {
    /// Id of the key, which is not secret.
    id: Id,
    /// What the key is used for.
    name: String,
    /// The whole key, for the header `X-API-Key`: shown this once. It begins with `key_live_`, or with `key_test_` on a
    /// server that is not in production.
    key: String,
    /// What callers with the key may do.
    role: Role,
    /// When the key was made.
    created_at: Timestamp,
    /// When the key stops to work.
    expires_at: Option<Timestamp>,
    #[serde(flatten)]
    customer: KeyCustomer,
}

/// The customer of a key, who is left out of the answer when the key has none.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyCustomer {
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_email: Option<String>,
}

impl Flattened for KeyCustomer {
    fn members() -> Vec<Member> {
        let about = "The customer whose orders the key sees and places.";
        vec![Member { required: false, ..response_member::<String>("customerEmail", about) }]
    }
    fn components(_: &mut Components) {}
}

/// All keys, the newest first.
pub(crate) fn newest_keys(app: &KeyHandles) -> Result<Vec<Arc<ApiKey>>, ApiError> {
    let mut all = with_access(&app.access, |access| access.keys.values().cloned().collect::<Vec<_>>())?;
    all.sort_by_key(|key| std::cmp::Reverse(key.id));
    Ok(all)
}

async fn list(State(app): State<KeyHandles>, Query(page): Query<PageQuery>) -> Result<Listed<ApiKeyView>, ApiError> {
    let page = page.into();
    let (some, total) = cut(page, newest_keys(&app)?);
    Ok(Listed { page, items: some.iter().map(|key| ApiKeyView::new(&app, key)).collect(), total })
}

async fn create(
    State(app): State<KeyHandles>,
    call: CommandRequest<NewApiKey>,
) -> Result<Created<CreatedApiKeyView>, ApiError> {
    let key = credentials::new_api_key(credentials::api_key_prefix(app.config.mode));
    let command = async {
        let NewApiKey { name, role, expires_at, customer_email } = call.read_body()?;
        let hash = credentials::api_key_hash(app.config.auth.api_key_salt.expose(), &key);
        let (prefix, last4) = (credentials::api_key_prefix(app.config.mode).to_owned(), credentials::last4(&key));
        Ok(AccessCommand::AddKey { name, hash, prefix, last4, role, customer_email, expires_at })
    };
    let done = call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await?;
    if done.replayed {
        return Err(withheld());
    }
    let AccessAnswer::Key(made) = &done.answer else { return Err(unexpected(&done.answer)) };
    let ApiKey { id, role, created_at, expires_at, .. } = **made;
    let customer = KeyCustomer { customer_email: made.customer_email.clone() };
    let view = CreatedApiKeyView { id, name: made.name.clone(), key, role, created_at, expires_at, customer };
    Ok(Created::part(format!("{PATH}/{id}"), done.version, done.replayed, view))
}

/// 409: the first answer carried a secret and was not kept.
pub fn withheld() -> ApiError {
    ApiError::conflict("answer_withheld", "the first answer carried a secret, which is shown once only").replayed()
}

async fn revoke(
    State(app): State<KeyHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), AccessCommand::RevokeKey(id)).await?;
    Ok(NoContent)
}

/// Makes a key by the form of a page, which says the body that the API takes; its name, and the whole key, which
/// nothing shows again.
pub(crate) async fn create_by_page(
    app: KeyHandles,
    call: &CommandRequest,
    said: &Value,
) -> Result<(String, String), ApiError> {
    let CreatedApiKeyView { name, key, .. } = create(State(app), call.of_form(said)).await?.into_body();
    Ok((name, key))
}

/// Revokes a key by the form of a page.
pub(crate) async fn revoke_by_page(app: KeyHandles, id: Id, call: &CommandRequest) -> Result<(), ApiError> {
    revoke(State(app), PathId(id), call.of_form(&json!({}))).await.map(|_| ())
}
