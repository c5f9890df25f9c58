//! Members of staff, managed by admins.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use domain::access::{self, Access, StaffCommand, User, UserAnswer, normal_email};
use domain::id::Id;
use domain::password::own_password_fault;
use domain::principal::Role;
use domain::refusal::{Faults, Refusal};
use domain::second_factor::SecondFactor;
use domain::time::Timestamp;
use http::access::{RequiredAccess, with_access};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handles::handles;
use http::hashing::Hashing;
use http::page::{PageQuery, Query, cut};
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmailAddress, Filled, MaxChars, NewPassword, ONE_LINE, Optional, enumeration};
use kernel::directory::Directory;
use platform::secrets::credentials;
use words::Language;

const PATH: &str = "/api/users";
const MAX_NAME_CHARS: usize = 200;

handles! {
    /// Dependencies of the staff routes.
    pub struct UserHandles {
        access: Directory<Access>,
        hashing: Hashing,
    }
}

/// Returns the routes for members of staff.
pub fn routes() -> ResourceRoutes {
    let admin = RequiredAccess::Role(Role::Admin);
    ResourceRoutes::new("Users", "The members of staff, who sign in with an email address and a password.", "user")
        .get(admin, PATH, list, |op| op.named("listUsers", "List members of staff"))
        .get(admin, "/api/users/{id}", one, |op| op.named("getUser", "Retrieve a member of staff"))
        .post(admin, PATH, create, |op| {
            op.named("createUser", "Add a member of staff").error(
                409,
                "email_taken",
                "Another member of staff has this email address.",
            )
        })
        .patch(admin, "/api/users/{id}", update, |op| {
            op.named("updateUser", "Update a member of staff")
                .about("A different role, a new password or `active: false` ends the sessions of this member of staff.")
                .error(
                    403,
                    "own_password",
                    "You cannot set your own password this way, because it requires the current one.",
                )
                .error(409, "last_admin", "The last active admin cannot be given another role or be deactivated.")
        })
        .delete(admin, "/api/users/{id}", remove, |op| {
            op.named("deleteUser", "Remove a member of staff")
                .about("Ends all sessions of this member of staff.")
                .error(409, "last_admin", "The last active admin cannot be removed.")
        })
}

/// Role of a member of staff; customers have API keys only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StaffRole {
    Operator,
    Admin,
}
enumeration! {
    /// Role of a member of staff; `admin` includes `operator`.
    StaffRole,
}

impl From<StaffRole> for Role {
    fn from(role: StaffRole) -> Self {
        match role {
            StaffRole::Operator => Self::Operator,
            StaffRole::Admin => Self::Admin,
        }
    }
}

impl From<Role> for StaffRole {
    fn from(role: Role) -> Self {
        match role {
            // The domain admits no member of staff with the role of a customer.
            Role::Customer | Role::Operator => Self::Operator,
            Role::Admin => Self::Admin,
        }
    }
}

/// Language in which a member of staff sees the pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum StaffLanguage {
    #[serde(rename = "en")]
    English,
    #[serde(rename = "de")]
    German,
}
enumeration! {
    /// Language in which a member of staff sees the pages, as a language tag.
    StaffLanguage,
}

impl From<StaffLanguage> for Language {
    fn from(language: StaffLanguage) -> Self {
        match language {
            StaffLanguage::English => Self::English,
            StaffLanguage::German => Self::German,
        }
    }
}

impl From<Language> for StaffLanguage {
    fn from(language: Language) -> Self {
        match language {
            Language::English => Self::English,
            Language::German => Self::German,
        }
    }
}

/// Member of staff to add.
#[derive(Request, Debug)]
#[api(example = json!({
    "email": "sam@example.org", "name": "Sam", "password": "correct horse battery", "role": "operator",
}))]
pub struct NewUser {
    /// Email address for signing in, unique among members of staff. Stored in lowercase.
    #[api(EmailAddress)]
    email: String,
    /// Display name.
    #[api(Filled, ONE_LINE, MaxChars(MAX_NAME_CHARS))]
    name: String,
    /// Password for signing in: at least 10 characters and at most 1024 bytes; neither blank, nor among the most common
    /// passwords, nor the email address of the account.
    #[api(NewPassword)]
    password: String,
    /// Role, which determines the account's permissions.
    role: StaffRole,
}

/// Changes to a member of staff. Omitted fields are left unchanged.
#[derive(Request, Debug)]
#[api(example = json!({"role": "admin"}))]
pub struct UserChange {
    /// Display name.
    #[api(Filled, ONE_LINE, MaxChars(MAX_NAME_CHARS))]
    name: Optional<String>,
    /// Language of the pages; null for the one that the browser prefers.
    language: Optional<Option<StaffLanguage>>,
    /// Role, which determines the account's permissions.
    role: Optional<StaffRole>,
    /// `true` if this member of staff can sign in.
    active: Optional<bool>,
    /// New password for signing in: at least 10 characters and at most 1024 bytes; neither blank, nor among the most
    /// common passwords, nor the email address of the account.
    #[api(NewPassword)]
    password: Optional<String>,
}

/// Member of staff, without the password hash.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "User", many = "users", example = UserView::example_of_sam())]
pub struct UserView {
    /// ID of the account.
    id: Id,
    /// Email address for signing in.
    email: String,
    /// Display name.
    name: String,
    /// Language of the pages; null if it is the one that the browser prefers.
    language: Option<StaffLanguage>,
    /// Role, which determines the account's permissions.
    role: StaffRole,
    /// `true` if this member of staff can sign in.
    active: bool,
    /// `true` if each sign-in requires a code in addition to the password.
    second_factor: bool,
    /// Time at which the account was created.
    created_at: Timestamp,
    /// Time of the last change.
    updated_at: Timestamp,
    /// Version number: starts at 1 and increases with each change.
    version: i64,
}

impl UserView {
    /// Builds the view of the given user.
    pub fn new(user: &User) -> Self {
        let User { id, active, created_at, updated_at, version, .. } = *user;
        let (email, name, role) = (user.email.clone(), user.name.clone(), user.role.into());
        let second_factor = user.second_factor.as_ref().is_some_and(SecondFactor::is_on);
        let language = user.language.map(Into::into);
        Self { id, email, name, language, role, active, second_factor, created_at, updated_at, version }
    }

    /// Returns an example for the API description.
    fn example_of_sam() -> Value {
        json!({
            "id": "01890a5d-ac96-774b-bcce-b302099a8059", "email": "sam@example.org", "name": "Sam", "language": "de",
            "role": "operator", "active": true, "secondFactor": false, "createdAt": "2026-11-01T08:00:00.000Z",
            "updatedAt": "2026-11-01T08:00:00.000Z", "version": 1,
        })
    }
}

/// Returns all members of staff, newest first.
pub fn newest_users(app: &UserHandles) -> Result<Vec<Arc<User>>, ApiError> {
    let mut all = with_access(&app.access, |access| {
        access.users.values().filter(|user| !user.archived).cloned().collect::<Vec<_>>()
    })?;
    all.sort_by_key(|user| std::cmp::Reverse(user.id));
    Ok(all)
}

/// Returns a member of staff who has not been removed; fails with 404 otherwise.
pub fn present_user(app: &UserHandles, id: Id) -> Result<Arc<User>, ApiError> {
    Ok(with_access(&app.access, |access| access.user(id).cloned())?.ok_or_else(|| Refusal::not_found("user"))?)
}

async fn list(State(app): State<UserHandles>, Query(page): Query<PageQuery>) -> Result<ListPage<UserView>, ApiError> {
    let page = page.into();
    let (some, total) = cut(page, newest_users(&app)?);
    Ok(ListPage::new(page, some.iter().map(|user| UserView::new(user)), total))
}

async fn one(State(app): State<UserHandles>, PathId(id): PathId) -> Result<Resource<UserView>, ApiError> {
    let user = present_user(&app, id)?;
    Ok(Resource::new(user.version, UserView::new(&user)))
}

/// Rejects a new password that equals the account's email address; `member` is the name of the password field in the
/// request body.
pub(super) fn refuse_own_address(member: &'static str, password: &str, email: &str) -> Result<(), Refusal> {
    let mut faults = Faults::default();
    if let Some(fault) = own_password_fault(password, email) {
        faults.note(member, fault);
    }
    faults.refuse()
}

async fn hash(app: &UserHandles, password: String) -> Result<String, ApiError> {
    app.hashing.run(move || credentials::hash_password(&password)).await
}

/// Adds the member of staff described by the request.
pub async fn add(app: &UserHandles, call: &CommandRequest<NewUser>) -> Result<CommandOutcome<UserAnswer>, ApiError> {
    let command = async {
        let NewUser { email, name, password, role } = call.read_body()?;
        refuse_own_address("password", &password, &email)?;
        let (email, password_hash) = (normal_email(&email)?, hash(app, password).await?);
        Ok(StaffCommand::Add { email, name, password_hash, role: role.into() })
    };
    call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await
}

async fn create(State(app): State<UserHandles>, call: CommandRequest<NewUser>) -> Result<Created<UserView>, ApiError> {
    let done = add(&app, &call).await?;
    let user = &done.answer.user;
    Ok(Created::part(format!("{PATH}/{}", user.id), user.version, done.replayed, UserView::new(user)))
}

/// Changes a member of staff.
pub async fn change(
    app: &UserHandles,
    id: Id,
    call: &CommandRequest<UserChange>,
) -> Result<CommandOutcome<UserAnswer>, ApiError> {
    let UserChange { name, language, role, active, password } = call.read_body()?;
    let password_hash = match password {
        Optional::Present(password) => {
            refuse_own_address("password", &password, &present_user(app, id)?.email)?;
            Some(hash(app, password).await?)
        }
        Optional::Absent => None,
    };
    let (name, role, active) = (name.present(), role.present().map(Into::into), active.present());
    let language = language.present().map(|chosen| chosen.map(Into::into));
    let change = access::UserEdit { name, language, role, active, password_hash };
    let (if_version, keep) = (call.if_match(), call.who.session);
    let command = StaffCommand::Update { id, if_version, checked_hash: None, change, keep };
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), command).await
}

async fn update(
    State(app): State<UserHandles>,
    PathId(id): PathId,
    call: CommandRequest<UserChange>,
) -> Result<Resource<UserView>, ApiError> {
    let done = change(&app, id, &call).await?;
    let user = &done.answer.user;
    Ok(Resource::new(user.version, UserView::new(user)))
}

/// Removes a member of staff, which ends their sessions.
pub async fn delete(app: &UserHandles, id: Id, call: &CommandRequest) -> Result<CommandOutcome<UserAnswer>, ApiError> {
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), StaffCommand::Remove(id)).await
}

async fn remove(
    State(app): State<UserHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    delete(&app, id, &call).await?;
    Ok(NoContent)
}
