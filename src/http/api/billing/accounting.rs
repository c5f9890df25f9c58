//! Routes through which an admin connects the accounting system: the redirect to the provider's consent page, and the
//! callback. As everywhere in the billing API, the session is a customer session; its email address must be that of an
//! active admin.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response as HttpResponse};
use serde::Serialize;
use serde_json::json;
use url::form_urlencoded;
use uuid::Builder;

use super::reply::Success;
use actors::integrations::{AccountingConnector, AccountingWake, Integrations};
use config::Config;
use domain::access::{Access, normal_email};
use domain::accounting::{Accounting, AccountingCommand, INVALID_STATE, RedeemState};
use domain::id::Id;
use http::access::{Caller, RequiredAccess, with_access};
use http::error::{ApiError, PROVIDER_UNAVAILABLE};
use http::handler::{Argument, Reply};
use http::handles::handles;
use http::operation::{DescribedContent, DescribedOperation};
use http::page::OpenQuery;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::{Components, MaxChars};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use platform::secrets::credentials;
use platform::secrets::encryption::SecretCipher;
use platform::secrets::random::secret_bytes;

/// Error code: the session's email address does not belong to an active admin.
const NOT_AN_ADMIN: &str = "not_an_admin";
/// Error code: no accounting system is configured.
const NOT_CONFIGURED: &str = "accounting_not_configured";
/// Maximum length of an authorization code, in characters.
const MAX_CODE_CHARS: usize = 4_000;

handles! {
    /// Dependencies of the routes for connecting the accounting system.
    pub struct ConnectHandles {
        accounting: Directory<Accounting>,
        access: Directory<Access>,
        integrations: Arc<Integrations>,
        wake: AccountingWake,
        cipher: Arc<SecretCipher>,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// Returns the routes that connect the accounting system.
pub fn routes() -> ResourceRoutes {
    let customer = RequiredAccess::Customer;
    ResourceRoutes::new("Integrations", "Connection to the accounting system; requires an admin.", "accounting")
        .get(customer, "/api/v1/integrations/accounting/connect", connect, |op| {
            of_admins(op.named("connectAccounting", "Connect the accounting system")).about(
                "Redirects to the provider's consent page (OAuth 2.0 with PKCE). The authorization can be completed \
                 once, in this session, within 10 minutes.",
            )
        })
        .get(customer, "/api/v1/integrations/accounting/callback", callback, |op| {
            of_admins(op.named("accountingCallback", "Return from the accounting provider"))
                .about("Exchanges the code for tokens and stores them, encrypted.")
                .error(400, INVALID_STATE, "The state is invalid, has expired or was already used.")
                .error(400, "consent_refused", "Consent was denied on the provider's page.")
                .error(400, "code_refused", "The provider returned no tokens or no organisation for this code.")
                .error(403, "other_session", "The connection was started in another session.")
                .error(500, PROVIDER_UNAVAILABLE, "The provider does not respond; start again.")
        })
}

fn of_admins(op: DescribedOperation) -> DescribedOperation {
    op.error(403, NOT_AN_ADMIN, "The session's email address is not that of an active admin.").error(
        500,
        NOT_CONFIGURED,
        "No accounting system is configured.",
    )
}

/// Returns the caller's session ID and email address if the address belongs to an active admin.
fn admin<'a>(app: &ConnectHandles, who: &'a Caller) -> Result<(Id, &'a str), ApiError> {
    let (_, email) = who.customer()?;
    let admins = with_access(&app.access, Access::admin_emails)?;
    let own = |admin: &String| normal_email(admin).is_ok_and(|admin| admin == email);
    if !admins.iter().any(own) {
        let words = "only an admin can connect the accounting system; sign in with an admin's email address";
        return Err(ApiError::forbidden(NOT_AN_ADMIN, words));
    }
    Ok((who.session.ok_or_else(|| ApiError::unauthorized("sign in first"))?, email))
}

fn desk(app: &ConnectHandles) -> Result<AccountingConnector<'_>, ApiError> {
    let words = "no accounting system is configured (accounting.client_id), or its settings are invalid";
    app.integrations
        .accounting(&app.config)
        .ok_or_else(|| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, NOT_CONFIGURED, words))
}

fn origin(who: &Caller) -> CommandOrigin {
    CommandOrigin { by: who.by.clone(), request_id: who.request_id.clone(), key: None }
}

/// 302 redirect to an external page.
struct ExternalRedirect(HeaderValue);

impl IntoResponse for ExternalRedirect {
    fn into_response(self) -> HttpResponse {
        let mut headers = HeaderMap::new();
        headers.insert(header::LOCATION, self.0);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        (StatusCode::FOUND, headers).into_response()
    }
}

impl Reply for ExternalRedirect {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        (operation.answer, operation.located) = ((302, DescribedContent::Nothing), true);
    }
}

async fn connect(State(app): State<ConnectHandles>, who: Caller) -> Result<ExternalRedirect, ApiError> {
    let (session, _) = admin(&app, &who)?;
    let desk = desk(&app)?;
    let state = Builder::from_random_bytes(secret_bytes()).into_uuid().to_string();
    // 43 letters and digits, the least that PKCE allows.
    let verifier = credentials::session_token();
    let page = desk.consent_page(&state, &verifier);
    let begin = AccountingCommand::Begin {
        state_hash: credentials::session_hash(&state),
        session,
        sealed_verifier: app.cipher.encrypt_or_empty(&verifier),
    };
    app.accounting.ask(Id::ONLY, origin(&who), begin).await?;
    HeaderValue::from_str(page.as_str()).map(ExternalRedirect).map_err(ApiError::internal)
}

/// Query parameters of the provider's redirect back to the shop.
#[derive(Request, Clone, Debug)]
pub struct CallbackQuery {
    /// Authorization code issued by the provider.
    #[api(MaxChars(MAX_CODE_CHARS))]
    code: String,
    /// `state` value that was sent to the provider.
    state: Id,
}

/// Callback parameters from the provider; an `error` parameter results in a 400 with the code `consent_refused`.
struct FromProvider(CallbackQuery);

impl<S: Send + Sync> FromRequestParts<S> for FromProvider {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let parameter = |name: &str| form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
        if let (Some((_, word)), None) = (parameter("error"), parameter("code")) {
            let plain: String = word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
            let words = format!("the accounting provider did not grant access: {plain}");
            return Err(ApiError::bad_request("consent_refused", words));
        }
        let OpenQuery(query) = OpenQuery::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

impl Argument for FromProvider {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        OpenQuery::<CallbackQuery>::describe(operation, components);
    }
}

/// The accounting system is connected.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "AccountingConnectedResponse", example = json!({
    "success": true, "message": "connected to Shop Ltd", "tenantId": "70784a63-d24b-46a9-a4db-0e70a274b056",
}))]
struct ConnectedReply {
    success: Success,
    /// Confirmation message that names the connected organisation.
    message: String,
    /// The provider's ID for the organisation.
    tenant_id: String,
}

async fn callback(
    State(app): State<ConnectHandles>,
    who: Caller,
    FromProvider(CallbackQuery { code, state }): FromProvider,
) -> Result<Plain<ConnectedReply>, ApiError> {
    let (session, email) = admin(&app, &who)?;
    let desk = desk(&app)?;
    let redeem = RedeemState { state_hash: credentials::session_hash(&state.to_string()), session };
    let sealed = app.accounting.ask(Id::ONLY, origin(&who), redeem).await?.answer;
    let verifier = app.cipher.decrypt(&sealed).map_err(ApiError::internal)?;
    let (tenant, tokens) = desk.connect(&code, &verifier, (&app.cipher, app.environment.now())).await?;
    let connected = ConnectedReply {
        success: Success,
        message: format!("connected to {}", tenant.name),
        tenant_id: tenant.id.clone(),
    };
    let connect = AccountingCommand::Connect { tenant, by: email.to_owned(), tokens };
    app.accounting.ask(Id::ONLY, origin(&who), connect).await?;
    app.wake.wake();
    Ok(Plain(connected))
}
