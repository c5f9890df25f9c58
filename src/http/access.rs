//! Authentication and authorization of requests: API keys, the staff cookie and roles.

mod api_key;
mod checked_keys;
mod customer;
mod staff;

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};

use self::api_key::{by_key, shown_key};
pub use self::checked_keys::CheckedKeys;
pub use self::customer::{CUSTOMER_COOKIE, CustomerToken};
pub use self::staff::SignedInStaff;
use self::staff::by_cookie;
use crate::csrf;
use crate::error::ApiError;
use crate::handles::handles;
use crate::language::accepted_language;
use crate::last_used::LastUsed;
use crate::paths::{is_billing, is_customer_page};
use crate::request_id::RequestId;
use crate::setup_desk::{self, SetupService};
use config::Config;
use domain::access::Access;
use domain::id::Id;
use domain::order::Order;
use domain::principal::{Principal, Role};
use kernel::directory::Directory;
use kernel::environment::Environment;
use store::Unavailable;
use store::queries::{OwnOrders, Queries};
use words::Language;

/// Name of the staff session cookie.
pub const COOKIE: &str = "service_session";
/// Name of the API key header.
pub const KEY_HEADER: &str = "x-api-key";

/// Access required by a route, which is checked before the route's handler runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequiredAccess {
    /// No credentials required: the handler checks the request itself (sign-in, signatures), or there is nothing to
    /// protect (health).
    Open,
    /// API key or session with at least the given role.
    Role(Role),
    /// Staff session: the cookie, but not an API key.
    Session,
    /// Customer session: only the customer cookie.
    Customer,
    /// Before the shop's setup is complete, the setup session opened by the one-time code; an admin at any time.
    Setup,
}

/// Marker for requests from the control socket, whose caller is the machine's owner.
#[derive(Clone, Copy, Debug)]
pub struct LocalOwner;

/// Authenticated caller of a request, as passed to handlers.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Principal of the caller, used in domain rules, events and the audit log.
    pub by: Arc<Principal>,
    /// ID of the session; `None` if the caller used an API key.
    pub session: Option<Id>,
    /// `X-Request-Id` of the request.
    pub request_id: Option<Arc<str>>,
    /// Language of the page for the caller: the one that the account of a member of staff is set to, otherwise the one
    /// that the browser prefers.
    pub language: Language,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| ApiError::internal("a route without a guard"))
    }
}

impl Caller {
    /// Returns whether the caller has at least the given role.
    pub fn has(&self, role: Role) -> bool {
        self.by.role().is_some_and(|own| own >= role)
    }

    /// Returns whether the caller is a customer, who can see only their own orders.
    pub fn is_customer(&self) -> bool {
        self.by.role() == Some(Role::Customer)
    }

    /// Returns the API key or staff user to record as the creator of a new order. Orders placed by customers themselves
    /// are linked to them by email address.
    pub fn maker(&self) -> Option<Id> {
        match &*self.by {
            Principal::Key { id, .. } | Principal::User { id, .. } => Some(*id),
            _ => None,
        }
    }

    /// Returns the filter that limits a customer to their own orders; `None` for staff, who see all.
    pub fn own(&self) -> Option<OwnOrders> {
        match &*self.by {
            Principal::Key { id, role: Role::Customer, customer_email, .. } => {
                Some(OwnOrders { made_by: *id, customer_email: customer_email.clone() })
            }
            Principal::Customer { id, email } => Some(OwnOrders { made_by: *id, customer_email: Some(email.clone()) }),
            _ => None,
        }
    }

    /// Returns whether the caller may see the order.
    pub fn sees(&self, order: &Order) -> bool {
        order.visible_to(&self.by)
    }

    /// Returns the customer's ID and email address; fails with 401 for any other caller.
    pub fn customer(&self) -> Result<(Id, &str), ApiError> {
        match &*self.by {
            Principal::Customer { id, email } => Ok((*id, email)),
            _ => Err(ApiError::unauthorized(customer::SIGN_IN_FIRST)),
        }
    }

    /// Returns the ID of the signed-in staff user; fails with 403 for API keys.
    pub fn user(&self) -> Result<Id, ApiError> {
        match &*self.by {
            Principal::User { id, .. } => Ok(*id),
            _ => Err(session_required()),
        }
    }
}

handles! {
    /// Dependencies for authenticating requests.
    pub struct AccessHandles {
        access: Directory<Access>,
        checked_keys: Arc<CheckedKeys>,
        last_used: Arc<LastUsed>,
        environment: Arc<Environment>,
        config: Arc<Config>,
        setup: Arc<SetupService>,
        queries: Queries,
    }
}

fn session_required() -> ApiError {
    ApiError::forbidden("session_required", "this requires a signed-in session, not an API key")
}

pub(super) fn admit(app: &AccessHandles, need: RequiredAccess, request: &Request) -> Result<Caller, ApiError> {
    let request_id = request.extensions().get::<RequestId>().map(|id| id.0.clone());
    let (headers, language) = (request.headers(), accepted_language(request.headers()));
    if request.extensions().get::<LocalOwner>().is_some() {
        return Ok(Caller { by: Arc::new(Principal::Machine), session: None, request_id, language });
    }
    if is_billing(request.uri().path()) || is_customer_page(request.uri().path()) {
        return customer::admit(app, need, request, request_id);
    }
    if need == RequiredAccess::Open {
        same_site(app, request.method(), headers)?;
        return Ok(Caller { by: Arc::new(Principal::Anonymous), session: None, request_id, language });
    }
    if need == RequiredAccess::Setup && in_setup(app, headers)? {
        same_site(app, request.method(), headers)?;
        return Ok(Caller { by: Arc::new(Principal::Setup), session: None, request_id, language });
    }
    let credentials = match request.extensions().get::<Credentials>() {
        Some(credentials) => credentials.clone(),
        None => Credentials::by(app, headers),
    };
    let (by, session, language) = match credentials {
        Credentials::Key(principal) if need != RequiredAccess::Session => (principal?, None, language),
        Credentials::Cookie(signed_in) => of_staff(signed_in?, language),
        // A key beside the cookie does not count for a session.
        Credentials::Key(principal) if cookie(headers, COOKIE).is_none() => {
            principal?;
            return Err(session_required());
        }
        Credentials::Key(_) | Credentials::Customer(_) | Credentials::Nothing => {
            of_staff(by_cookie(app, headers)?, language)
        }
    };
    if session.is_some() {
        same_site(app, request.method(), headers)?;
    }
    let role = match need {
        RequiredAccess::Role(role) => role,
        RequiredAccess::Setup => Role::Admin,
        RequiredAccess::Open | RequiredAccess::Session | RequiredAccess::Customer => Role::Operator,
    };
    let caller = Caller { by, session, request_id, language };
    if caller.has(role) {
        Ok(caller)
    } else {
        Err(ApiError::forbidden("insufficient_role", format!("this requires the role {}", role.word())))
    }
}

/// Returns principal, session and language of a member of staff. `accepted` is the language that the browser prefers.
fn of_staff(signed_in: SignedInStaff, accepted: Language) -> (Arc<Principal>, Option<Id>, Language) {
    let SignedInStaff { by, session, language } = signed_in;
    (by, Some(session), language.unwrap_or(accepted))
}

/// Returns whether the request carries the setup session, which ends when the setup is complete.
fn in_setup(app: &AccessHandles, headers: &HeaderMap) -> Result<bool, ApiError> {
    let Some(token) = cookie(headers, setup_desk::COOKIE) else { return Ok(false) };
    let open = with_access(&app.access, |access| access.setup_completed_at.is_none())?;
    Ok(open && app.setup.holds(token, app.environment.now()))
}

fn same_site(app: &AccessHandles, method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
    if csrf::allowed(method, headers, &app.config.public_url()) {
        Ok(())
    } else {
        Err(ApiError::forbidden("cross_site", "requests from other sites are not allowed"))
    }
}

/// Reads the last committed users, keys and sessions without taking a lock.
pub fn with_access<T>(access: &Directory<Access>, read: impl FnOnce(&Access) -> T) -> Result<T, ApiError> {
    let handle = access.resident(Id::ONLY).ok_or(Unavailable::Database)?;
    let state = handle.read();
    // Until the first key or user is made, the aggregate does not exist.
    match &state.state {
        Some(access) => Ok(read(access)),
        None => Ok(read(&Access::default())),
    }
}

/// Credentials of a request, looked up once before it is routed. An API key takes precedence over a cookie.
#[derive(Clone)]
pub enum Credentials {
    /// Neither API key nor cookie.
    Nothing,
    /// API key sent by the client, with its principal or the reason it was rejected.
    Key(Result<Arc<Principal>, ApiError>),
    /// Staff session cookie sent by the client, with the member of staff or the reason it was rejected.
    Cookie(Result<SignedInStaff, ApiError>),
    /// Customer cookie sent by the client, with its principal and session ID or the reason it was rejected.
    Customer(Result<(Arc<Principal>, Id), ApiError>),
}

impl Credentials {
    /// Reads the headers and looks up the credentials in them.
    pub fn by(app: &AccessHandles, headers: &HeaderMap) -> Self {
        if let Some(key) = shown_key(headers) {
            Self::Key(by_key(app, key))
        } else if cookie(headers, COOKIE).is_some() {
            Self::Cookie(by_cookie(app, headers))
        } else {
            Self::Nothing
        }
    }

    /// Returns the language that the account of a signed-in member of staff is set to, if any.
    pub fn language(&self) -> Option<Language> {
        match self {
            Self::Cookie(Ok(signed_in)) => signed_in.language,
            _ => None,
        }
    }

    /// Returns the ID of a valid API key, staff session or customer; `None` if there are no valid credentials.
    pub fn id(&self) -> Option<Id> {
        match self {
            Self::Key(Ok(by)) => match &**by {
                Principal::Key { id, .. } => Some(*id),
                _ => None,
            },
            Self::Cookie(Ok(signed_in)) => Some(signed_in.session),
            // A customer counts once, whatever number of browsers they are signed in with.
            Self::Customer(Ok((by, _))) => match &**by {
                Principal::Customer { id, .. } => Some(*id),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns whether the caller who opened a stream may keep reading it: the key or session is still valid and the role
/// is unchanged.
pub fn still(app: &AccessHandles, who: &Caller) -> bool {
    let (now, auth) = (app.environment.now(), &app.config.auth);
    let (idle, life) = (auth.session_idle_timeout_hours.millis(), auth.session_max_age_days.millis());
    let checked = with_access(&app.access, |access| match &*who.by {
        Principal::Key { id, role, .. } => access.key(*id).is_some_and(|key| {
            key.revoked_at.is_none() && key.expires_at.is_none_or(|at| at > now) && key.role == *role
        }),
        Principal::User { id, role, .. } => {
            let mut sessions = access.sessions.values();
            let session = sessions.find(|session| Some(session.id) == who.session);
            session.is_some_and(|session| !session.over(now, idle, life))
                && access.user(*id).is_some_and(|user| user.active && user.role == *role)
        }
        other => other.role().is_some(),
    });
    // While the aggregate of access restarts, open streams stay open.
    checked.unwrap_or(true)
}

/// Returns the value of the cookie with the given name.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let texts = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn who(by: Principal) -> Caller {
        Caller { by: Arc::new(by), session: None, request_id: None, language: Language::English }
    }

    fn key(role: Role) -> Caller {
        who(Principal::Key { id: Id(uuid::Uuid::from_u128(7)), name: "k".to_owned(), role, customer_email: None })
    }

    #[test]
    fn roles_contain_the_lower_ones() {
        assert!(key(Role::Admin).has(Role::Operator));
        assert!(!key(Role::Customer).has(Role::Operator));
        assert!(!who(Principal::Anonymous).has(Role::Customer));
        assert!(who(Principal::Machine).has(Role::Admin));
    }

    #[test]
    fn only_a_customers_key_is_kept_to_its_own_orders() {
        assert!(key(Role::Customer).own().is_some());
        assert!(key(Role::Operator).own().is_none() && who(Principal::Machine).own().is_none());
    }

    #[test]
    fn a_key_may_come_as_a_bearer_token_and_its_own_header_wins() {
        let mut headers = HeaderMap::new();
        assert_eq!(shown_key(&headers), None);
        headers.insert(header::AUTHORIZATION, "Basic abc".parse().unwrap());
        assert_eq!(shown_key(&headers), None);
        headers.insert(header::AUTHORIZATION, "bearer key_test_1".parse().unwrap());
        assert_eq!(shown_key(&headers), Some("key_test_1"));
        headers.insert(KEY_HEADER, "key_test_2".parse().unwrap());
        assert_eq!(shown_key(&headers), Some("key_test_2"));
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=1; service_session=abc; b=2".parse().unwrap());
        assert_eq!(cookie(&headers, COOKIE), Some("abc"));
        assert_eq!(cookie(&headers, "session"), None);
    }
}
