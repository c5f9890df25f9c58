//! Sign-in with an emailed link, and sign-out.
//!
//! Requesting a link does the same work whether or not the address belongs to a customer: it creates the link and its
//! email in one commit and does not look up any customer. Therefore, neither the response nor its timing reveals
//! whether the address belongs to a customer.

use std::net::IpAddr;
use std::sync::Arc;

use api_derive::Request;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use url::form_urlencoded;

use super::reply::{Done, Success};
use config::Config;
use domain::access::normal_email;
use domain::customer::{Customer, CustomerCommand, EMAIL_TAKEN, SESSION_LIFE_MS};
use domain::limits::LimitKind;
use domain::principal::Principal;
use domain::sign_in_link::{CreateSignInLink, INVALID_OR_EXPIRED, RedeemSignInLink, SignInLink, invalid_or_expired};
use http::access::{CUSTOMER_COOKIE, Caller, RequiredAccess};
use http::command_request::{CommandRequest, CommandTarget};
use http::csrf;
use http::error::ApiError;
use http::handler::{Argument, Reply};
use http::handles::handles;
use http::language::accepted_language;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http::next_path::{MAX_NEXT_CHARS, own_path, with_error};
use http::operation::{DescribedContent, DescribedOperation};
use http::page::OpenQuery;
use http::reply::{Plain, WithCookie};
use http::request_id::RequestId;
use http::routes::ResourceRoutes;
use http::wire::{Components, EmailAddress, MaxChars};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::AskError;
use platform::secrets::credentials;
use platform::secrets::encryption::SecretCipher;
use store::queries::Queries;

/// Path that redeems a link.
pub const VERIFY_PATH: &str = "/api/v1/auth/verify";
/// Path of the page that an emailed link opens.
pub const CONFIRM_PATH: &str = "/sign-in/confirm";

/// Maximum number of attempts to look up a customer while another request is creating the customer record.
const MAX_TRIES: usize = 3;

handles! {
    /// Dependencies of sign-in and sign-out.
    pub struct SignInHandles {
        customers: Directory<Customer>,
        links: Directory<SignInLink>,
        queries: Queries,
        limits: Arc<RateLimiter>,
        environment: Arc<Environment>,
        config: Arc<Config>,
        cipher: Arc<SecretCipher>,
    }
}

/// Returns the routes of sign-in and sign-out.
pub fn routes() -> ResourceRoutes {
    let about = "Customers have no password; an emailed link signs them in.";
    ResourceRoutes::new("Authentication", about, "link")
        .post(RequiredAccess::Open, "/api/v1/auth/magic-link", ask_for_link, |op| {
            op.named("requestMagicLink", "Request a sign-in link")
                .about("The response is the same for every address. The link can be used once, within 10 minutes.")
        })
        .get(RequiredAccess::Open, VERIFY_PATH, verify, |op| {
            op.named("verifyMagicLink", "Redeem a sign-in link")
                .about(
                    "Redirects a browser to `next`, or to `/`; an invalid link redirects there with `error` in the \
                     query. A HEAD request does not redeem the link.",
                )
                .error(
                    400,
                    INVALID_OR_EXPIRED,
                    "The link is invalid, was already used or has expired; browsers are redirected instead.",
                )
                .error(
                    403,
                    "cross_site",
                    "The request comes from a page of another site; browsers are redirected to a page that asks for \
                     confirmation.",
                )
                .error(403, "prefetch", "A browser prefetched the link.")
        })
        .delete(RequiredAccess::Customer, "/api/v1/auth/session", sign_out, |op| {
            op.named("signOut", "Sign out").about("Ends the session immediately and clears the cookie.")
        })
}

/// Request for a sign-in link.
#[derive(Request, Debug)]
#[api(name = "MagicLinkRequest", example = json!({"email": "buyer@example.org", "next": "/orders"}))]
pub struct LinkRequest {
    /// Email address that the link is sent to, and whose owner it signs in.
    #[api(EmailAddress)]
    email: String,
    /// Path on this server to redirect to after sign-in. URLs on other origins are ignored.
    #[api(MaxChars(MAX_NEXT_CHARS))]
    next: Option<String>,
}

async fn ask_for_link(
    State(app): State<SignInHandles>,
    ClientAddress(from): ClientAddress,
    call: CommandRequest<LinkRequest>,
) -> Result<LimitedReply<Plain<Done>>, ApiError> {
    let LinkRequest { email, next } = call.read_body()?;
    mail_link(&app, &call, from, &email, next.as_deref()).await
}

/// Emails a sign-in link to the address, whether or not it belongs to a customer. Used by both the API and the pages.
pub async fn mail_link<B>(
    app: &SignInHandles,
    call: &CommandRequest<B>,
    from: IpAddr,
    email: &str,
    next: Option<&str>,
) -> Result<LimitedReply<Plain<Done>>, ApiError> {
    let email = normal_email(email)?;
    let charges =
        [WindowKey::of_mailbox(LimitKind::LinkOfEmail, &email), WindowKey::of_address(LimitKind::LinkOfAddress, from)];
    let mailed = async {
        let token = credentials::session_token();
        let url = link(&app.config, &token, next);
        let (hash, encrypted_url) = (credentials::session_hash(&token), app.cipher.encrypt_or_empty(&url));
        // A customer's own setting is not looked up, because that would take longer for customers than for others.
        let create = CreateSignInLink { email, language: accepted_language(&call.headers), hash, encrypted_url };
        call.ask(&app.links, CommandTarget::New, create).await?;
        Ok(Plain(Done { success: Success }))
    };
    within(&app.limits, app.environment.now(), &charges, mailed).await
}

/// Builds the URL in the email: the page with the confirmation button, or the URL that redeems the token directly.
fn link(config: &Config, token: &str, next: Option<&str>) -> String {
    let base = config.public_url();
    let path = if config.auth.confirm_page { CONFIRM_PATH } else { VERIFY_PATH };
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("token", token);
    if let Some(next) = next.and_then(|next| own_path(&base, next)) {
        query.append_pair("next", &next);
    }
    format!("{}{path}?{}", base.trim_end_matches('/'), query.finish())
}

/// Query parameters of an emailed link.
#[derive(Request, Clone, Debug)]
#[api(name = "LinkQuery")]
pub struct SignInLinkQuery {
    /// Token of the emailed link.
    #[api(MaxChars(200))]
    pub token: Option<String>,
    /// Path on this server to redirect to after sign-in. URLs on other origins are ignored.
    pub next: Option<String>,
}

/// Properties of a request to redeem a link, apart from its query parameters.
struct RedemptionRequest {
    /// `true` for a HEAD request, which does not redeem the link.
    only_looks: bool,
    /// `true` for a browser, which is redirected instead of receiving a JSON error.
    browser: bool,
    /// `true` if the browser is prefetching or prerendering the page, without any action by the user.
    in_advance: bool,
    headers: HeaderMap,
    request_id: Option<Arc<str>>,
}

impl<S: Sync> FromRequestParts<S> for RedemptionRequest {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut accepts = parts.headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
        Ok(Self {
            only_looks: parts.method == Method::HEAD,
            browser: accepts.any(|accept| accept.contains("text/html")),
            in_advance: ["sec-purpose", "purpose", "x-moz"].iter().any(|name| {
                let purpose = parts.headers.get(*name).and_then(|value| value.to_str().ok());
                purpose.is_some_and(|purpose| purpose.contains("prefetch") || purpose.contains("prerender"))
            }),
            headers: parts.headers.clone(),
            request_id: parts.extensions.get::<RequestId>().map(|id| id.0.clone()),
        })
    }
}

impl Argument for RedemptionRequest {}

/// Outcome of a request to redeem a link.
enum RedemptionOutcome {
    /// Redirect with the cookie of a new session.
    SignedIn(String, HeaderValue),
    /// Redirect to a URL with the error in the query, or to the page with the confirmation button.
    LedBack(String),
    /// Nothing was redeemed.
    Looked,
}

impl IntoResponse for RedemptionOutcome {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        let status = match self {
            Self::SignedIn(to, cookie) => {
                headers.insert(header::SET_COOKIE, cookie);
                location(&mut headers, &to)
            }
            Self::LedBack(to) => location(&mut headers, &to),
            Self::Looked => StatusCode::OK,
        };
        (status, headers).into_response()
    }
}

fn location(headers: &mut HeaderMap, to: &str) -> StatusCode {
    // A path that was found to be one of this origin is ASCII.
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    headers.insert(header::LOCATION, to);
    StatusCode::FOUND
}

impl Reply for RedemptionOutcome {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.answer = (302, DescribedContent::Nothing);
        (operation.located, operation.sets_cookie) = (true, true);
    }
}

async fn verify(
    State(app): State<SignInHandles>,
    OpenQuery(query): OpenQuery<SignInLinkQuery>,
    request: RedemptionRequest,
) -> Result<RedemptionOutcome, ApiError> {
    if request.only_looks {
        return Ok(RedemptionOutcome::Looked);
    }
    if request.in_advance {
        return Err(ApiError::forbidden(
            "prefetch",
            "browsers cannot redeem the link by prefetching it; open it instead",
        ));
    }
    let base = app.config.public_url();
    // A stranger's page could sign a visitor in as somebody else, who would then see what the visitor enters. Where
    // links open our own page only its button leads here; else they come from wherever mails are read.
    let others = &app.config.server.cors_origins;
    if app.config.auth.confirm_page && !csrf::allowed_for_customers(&Method::POST, &request.headers, &base, others) {
        if let (true, Some(token)) = (request.browser, &query.token) {
            return Ok(RedemptionOutcome::LedBack(link(&app.config, token, query.next.as_deref())));
        }
        let words = "open the link in the email and press the button on its page";
        return Err(ApiError::forbidden("cross_site", words));
    }
    let to = query.next.as_deref().and_then(|next| own_path(&base, next)).unwrap_or_else(|| "/".to_owned());
    match redeem(&app, query.token.as_deref(), request.request_id).await {
        Ok(token) => Ok(RedemptionOutcome::SignedIn(to, cookie(&token, SESSION_LIFE_MS / 1000)?)),
        Err(error) if request.browser && error.code() == INVALID_OR_EXPIRED => {
            Ok(RedemptionOutcome::LedBack(with_error(&base, &to, INVALID_OR_EXPIRED)))
        }
        Err(error) => Err(error),
    }
}

/// Redeems the link with the given token, opens a session for its customer and returns the session token. The first
/// sign-in with an address creates the customer.
async fn redeem(app: &SignInHandles, token: Option<&str>, request_id: Option<Arc<str>>) -> Result<String, ApiError> {
    let link_id = match token.filter(|token| credentials::is_token(token)) {
        Some(token) => app.queries.sign_in_link(&credentials::session_hash(token)).await?,
        None => None,
    };
    let link = link_id.ok_or_else(invalid_or_expired)?;
    let origin = |by: Principal| CommandOrigin { by: Arc::new(by), request_id: request_id.clone(), key: None };
    let email = app.links.ask(link, origin(Principal::Anonymous), RedeemSignInLink).await?.answer;
    let token = credentials::session_token();
    let hash = credentials::session_hash(&token);
    for _ in 0..MAX_TRIES {
        if let Some(id) = app.queries.customer_by_email(&email).await? {
            let by = Principal::Customer { id, email: email.clone() };
            app.customers.ask(id, origin(by), CustomerCommand::OpenSession { hash }).await?;
            return Ok(token);
        }
        let create = CustomerCommand::Create { email: email.clone(), session_hash: Some(hash.clone()) };
        match app.customers.create(origin(Principal::Anonymous), create).await {
            Ok(_) => return Ok(token),
            // Another request made the record in between.
            Err(AskError::Refused(refusal)) if refusal.code == EMAIL_TAKEN => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(ApiError::internal("a customer's record was neither found nor created"))
}

/// Builds the customer cookie from the given token and maximum age in seconds; an age of 0 removes the cookie.
fn cookie(token: &str, age: i64) -> Result<HeaderValue, ApiError> {
    let text = format!("{CUSTOMER_COOKIE}={token}; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age={age}");
    HeaderValue::from_str(&text).map_err(ApiError::internal)
}

async fn sign_out(State(app): State<SignInHandles>, who: Caller) -> Result<WithCookie<Plain<Done>>, ApiError> {
    let cookie = end_session(&app, &who).await?;
    Ok(WithCookie { reply: Plain(Done { success: Success }), cookie })
}

/// Ends the customer's session immediately and returns the `Set-Cookie` value that removes the cookie.
pub async fn end_session(app: &SignInHandles, who: &Caller) -> Result<HeaderValue, ApiError> {
    let (customer, session) = (who.customer()?.0, who.session);
    if let Some(session) = session {
        let origin = CommandOrigin { by: who.by.clone(), request_id: who.request_id.clone(), key: None };
        app.customers.ask(customer, origin, CustomerCommand::EndSession(session)).await?;
    }
    cookie("", 0)
}
