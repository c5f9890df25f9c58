//! API keys: admins create, list and revoke them. The key itself is shown once, in the response that creates it.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::auth::{TAG, TAG_ABOUT};
use config::Config;
use domain::access::{Access, AddKey, ApiKey, KeyAnswer, RevokeKey};
use domain::id::Id;
use domain::principal::Role;
use domain::time::Timestamp;
use http::access::{RequiredAccess, with_access};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handles::handles;
use http::last_used::LastUsed;
use http::page::{PageQuery, Query, cut};
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent};
use http::routes::ResourceRoutes;
use http::wire::{Components, EmailAddress, Filled, Flattened, MaxChars, Member, ONE_LINE, response_member};
use kernel::directory::Directory;
use platform::secrets::credentials;

const PATH: &str = "/api/auth/api-keys";
/// Example ID of an API key.
const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

handles! {
    /// Dependencies of the API key routes.
    pub struct KeyHandles {
        access: Directory<Access>,
        last_used: Arc<LastUsed>,
        config: Arc<Config>,
    }
}

/// Returns the API key routes.
pub fn routes() -> ResourceRoutes {
    let admin = RequiredAccess::Role(Role::Admin);
    ResourceRoutes::new(TAG, TAG_ABOUT, "api_key")
        .get(admin, PATH, list, |op| {
            op.named("listApiKeys", "List the API keys")
                .about("Includes revoked keys. The keys themselves are never returned.")
        })
        .post(admin, PATH, create, |op| {
            op.named("createApiKey", "Create an API key")
                .about(
                    "Returns the complete key. It is returned only once: not even a retry with the same \
                     `Idempotency-Key` returns it again.",
                )
                .error(
                    409,
                    "answer_withheld",
                    "The first response for this `Idempotency-Key` contained a secret, which is returned only once.",
                )
        })
        .delete(admin, "/api/auth/api-keys/{id}", remove, |op| {
            op.named("revokeApiKey", "Revoke an API key")
                .about("Requests with the key are rejected from now on, and its open streams are closed.")
        })
}

/// New API key.
#[derive(Request, Debug)]
#[api(example = json!({
    "name": "web shop", "role": "customer", "expiresAt": "2030-01-31T12:00:00.000Z", "customerEmail": "kim@example.org",
}))]
pub struct NewApiKey {
    /// Purpose of the key.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    name: String,
    /// Role of callers that use the key.
    role: Role,
    /// Time in the future at which the key expires. If omitted, it remains valid until it is revoked.
    expires_at: Option<Timestamp>,
    /// Email address of the customer whose orders the key can read and for whom it can place orders; only for keys with
    /// the role `customer`.
    #[api(EmailAddress)]
    customer_email: Option<String>,
}

/// API key without its secret.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ApiKey", many = "apiKeys", example = json!({
    "id": EXAMPLE_ID, "name": "web shop", "prefix": "key_test_", "last4": "x9Qz", "role": "customer",
    "customerEmail": null, "expiresAt": "2030-01-31T12:00:00.000Z", "revokedAt": null, "lastUsedAt": null,
    "createdAt": "2026-11-01T08:00:00.000Z",
}))]
struct ApiKeyView {
    /// ID of the key, which is not secret.
    id: Id,
    /// Purpose of the key.
    name: String,
    /// First characters of the key, by which it can be recognised.
    prefix: String,
    /// Last four characters of the key.
    last4: String,
    /// Role of callers that use the key.
    role: Role,
    /// Email address of the customer whose orders the key can read and for whom it can place orders.
    customer_email: Option<String>,
    /// Time at which the key expires.
    expires_at: Option<Timestamp>,
    /// Time at which the key was revoked.
    revoked_at: Option<Timestamp>,
    /// Time at which the key was last used; accurate to the minute after the server has been restarted.
    last_used_at: Option<Timestamp>,
    /// Time at which the key was created.
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

/// Returns the time at which a key was last used; `None` if it has never been used.
pub fn last_use(app: &KeyHandles, key: &ApiKey) -> Option<Timestamp> {
    app.last_used.key_seen(key.id).or(key.last_used_at)
}

/// New API key with its secret.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CreatedApiKey", example = json!({
    "id": EXAMPLE_ID, "name": "web shop", "key": "key_test_3oQmWn2Yc7Vb5Rk8Tz1Xp4Ls6Hd9Gf0Ja2Ke5Mu7Ni8",
    "role": "customer", "createdAt": "2026-11-01T08:00:00.000Z", "expiresAt": "2030-01-31T12:00:00.000Z",
}))]
struct CreatedApiKeyView {
    /// ID of the key, which is not secret.
    id: Id,
    /// Purpose of the key.
    name: String,
    /// The complete key, for the `X-API-Key` header; returned only once. It begins with `key_live_`, or with
    /// `key_test_` on a server that is not in production.
    key: String,
    /// Role of callers that use the key.
    role: Role,
    /// Time at which the key was created.
    created_at: Timestamp,
    /// Time at which the key expires.
    expires_at: Option<Timestamp>,
    #[serde(flatten)]
    customer: KeyCustomer,
}

/// Customer that a key belongs to; omitted from the response if the key has none.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyCustomer {
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_email: Option<String>,
}

impl Flattened for KeyCustomer {
    fn members() -> Vec<Member> {
        let about = "Email address of the customer whose orders the key can read and for whom it can place orders.";
        vec![Member { required: false, ..response_member::<String>("customerEmail", about) }]
    }
    fn components(_: &mut Components) {}
}

/// Returns all API keys, newest first.
pub fn newest_keys(app: &KeyHandles) -> Result<Vec<Arc<ApiKey>>, ApiError> {
    let mut all = with_access(&app.access, |access| access.keys.values().cloned().collect::<Vec<_>>())?;
    all.sort_by_key(|key| std::cmp::Reverse(key.id));
    Ok(all)
}

async fn list(State(app): State<KeyHandles>, Query(page): Query<PageQuery>) -> Result<ListPage<ApiKeyView>, ApiError> {
    let page = page.into();
    let (some, total) = cut(page, newest_keys(&app)?);
    Ok(ListPage::new(page, some.iter().map(|key| ApiKeyView::new(&app, key)), total))
}

/// Creates the API key described by the request, and returns it with the complete key, which is never returned again.
/// Fails for a retried request.
pub async fn add(
    app: &KeyHandles,
    call: &CommandRequest<NewApiKey>,
) -> Result<(CommandOutcome<KeyAnswer>, String), ApiError> {
    let key = credentials::new_api_key(app.config.mode.key_prefix());
    let command = async {
        let NewApiKey { name, role, expires_at, customer_email } = call.read_body()?;
        let hash = credentials::api_key_hash(app.config.auth.api_key_salt.expose(), &key);
        let (prefix, last4) = (app.config.mode.key_prefix().to_owned(), credentials::last4(&key));
        Ok(AddKey { name, hash, prefix, last4, role, customer_email, expires_at })
    };
    let done = call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await?;
    if done.replayed { Err(withheld()) } else { Ok((done, key)) }
}

async fn create(
    State(app): State<KeyHandles>,
    call: CommandRequest<NewApiKey>,
) -> Result<Created<CreatedApiKeyView>, ApiError> {
    let (done, key) = add(&app, &call).await?;
    let created = &done.answer.key;
    let ApiKey { id, role, created_at, expires_at, .. } = **created;
    let customer = KeyCustomer { customer_email: created.customer_email.clone() };
    let view = CreatedApiKeyView { id, name: created.name.clone(), key, role, created_at, expires_at, customer };
    Ok(Created::part(format!("{PATH}/{id}"), done.version, done.replayed, view))
}

/// Returns the 409 error for a retried request whose original response was not stored because it contained a secret.
pub fn withheld() -> ApiError {
    ApiError::conflict("answer_withheld", "the first response contained a secret, which is returned only once")
        .replayed()
}

/// Revokes an API key.
pub async fn revoke(app: &KeyHandles, id: Id, call: &CommandRequest) -> Result<CommandOutcome<KeyAnswer>, ApiError> {
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), RevokeKey(id)).await
}

async fn remove(
    State(app): State<KeyHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    revoke(&app, id, &call).await?;
    Ok(NoContent)
}
