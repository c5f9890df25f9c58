//! The caller's identity, as returned by `GET /api/auth/me`.

use api_derive::Response;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::SignedIn;
use crate::production::users::UserView;
use domain::access::Access;
use domain::id::Id;
use domain::principal::{Principal, Role};
use domain::refusal::Refusal;
use http::access::with_access;
use http::error::ApiError;
use http::openapi::shape::{Shape, either};
use http::wire::{self, Components, ToSchema, schema_of};
use kernel::directory::Directory;

/// Identity of the caller: a user, an API key or a machine.
pub(super) enum Identity {
    User(SignedIn),
    ApiKey(ApiKeyCaller),
    Machine(MachineCaller),
}

impl Serialize for Identity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::User(user) => user.serialize(serializer),
            Self::ApiKey(key) => key.serialize(serializer),
            Self::Machine(machine) => machine.serialize(serializer),
        }
    }
}

impl Identity {
    /// Returns the identity of a principal; for a user, it includes the user's current details.
    pub(super) fn of(access: &Directory<Access>, by: &Principal) -> Result<Self, ApiError> {
        Ok(match by {
            Principal::User { id, .. } => {
                let user = with_access(access, |access| access.user(*id).cloned())?;
                let user = user.ok_or_else(|| Refusal::not_found("user"))?;
                Self::User(SignedIn { user: UserView::new(&user) })
            }
            Principal::Key { id, name, role, customer_email } => {
                let (name, customer_email) = (name.clone(), customer_email.clone());
                Self::ApiKey(ApiKeyCaller { api_key: KeyIdentity { id: *id, name, role: *role, customer_email } })
            }
            other => {
                let role = other.role().ok_or_else(|| ApiError::internal(format!("{other} has no role")))?;
                Self::Machine(MachineCaller { machine: MachineIdentity { name: other.to_string(), role } })
            }
        })
    }
}

impl ToSchema for Identity {
    const NAME: Option<&'static str> = Some("Identity");
    fn schema() -> Shape {
        either([schema_of::<SignedIn>(), schema_of::<ApiKeyCaller>(), schema_of::<MachineCaller>()])
            .about("Caller of the request; exactly one of the fields is present.")
    }
    fn components(components: &mut Components) {
        components.add::<SignedIn>();
        components.add::<ApiKeyCaller>();
        components.add::<MachineCaller>();
    }
    fn example() -> Value {
        SignedIn::example()
    }
}
impl wire::Response for Identity {}

/// Caller authenticated with an API key.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(example = json!({"apiKey": KeyIdentity::example()}))]
pub(super) struct ApiKeyCaller {
    api_key: KeyIdentity,
}

/// Caller authenticated as the owner of the server's machine or as the agent gateway.
#[derive(Response, Serialize)]
#[api(example = json!({"machine": MachineIdentity::example()}))]
pub(super) struct MachineCaller {
    machine: MachineIdentity,
}

/// API key used by the caller.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8057", "name": "web shop", "role": "customer", "customerEmail": null,
}))]
pub(super) struct KeyIdentity {
    id: Id,
    /// Purpose of the key.
    name: String,
    /// Role of callers that use the key.
    role: Role,
    /// Email address of the customer whose orders the key can read and for whom it can place orders.
    customer_email: Option<String>,
}

/// Owner of the machine that the server runs on.
#[derive(Response, Serialize)]
#[api(example = json!({"name": "machine", "role": "admin"}))]
pub(super) struct MachineIdentity {
    /// Name of the caller in the audit log.
    name: String,
    /// Role of the caller.
    role: Role,
}
