//! List of staff accounts, with the most frequent actions on them, and the form for adding one.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::SettingsPageHandles;
use crate::design::{Icon, icon};
use crate::form::{Form, PageForm};
use crate::frame::{see_other, time};
use crate::staff::filled_form::{address, field, hinted_field, options, turns};
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use crate::staff::{ACCOUNT_PATH, SETTINGS_PATH};
use domain::access::User;
use domain::id::Id;
use domain::principal::Role;
use domain::second_factor::SecondFactor;
use domain::time::Timestamp;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::{OpenQuery, cut};
use http_api::production::auth::{ListedSession, SessionHandles, list_sessions};
use http_api::production::users::{self, UserHandles};
use store::queries::Page;
use words::Language;
use words::staff::{access as texts, shell};

/// Path of the staff list.
pub(super) const PATH: &str = "/shop/settings/users";
/// Path of the form for adding a staff member.
pub(super) const NEW_PATH: &str = "/shop/settings/users/new";
/// Number of staff members per page.
const USERS_PER_PAGE: u64 = 50;
/// Name of the form field that holds the list's offset, so that the user returns to the same position in the list.
pub(super) const FROM_FIELD: &str = "from";

handles! {
    /// Dependencies of the staff account pages.
    pub(crate) struct UserPageHandles {
        settings: SettingsPageHandles,
        users: UserHandles,
        sessions: SessionHandles,
    }
}

/// Query parameters of the staff list.
#[derive(api_derive::Request, Debug)]
pub(super) struct UserListQuery {
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Returns the path of the list from the given entry on.
pub(super) fn list_path(from: u64) -> String {
    let from = if from == 0 { String::new() } else { from.to_string() };
    address(PATH, &[(FROM_FIELD, &from)])
}

/// Returns the path of an action on a staff member.
pub(super) fn act_path(user: &User, word: &str) -> String {
    format!("{PATH}/{}/{word}", user.id)
}

/// Returns a user's status as a tone and a label that shows whether the user can sign in.
pub(super) fn state_of(language: Language, user: &User) -> (Tone, String) {
    if user.active {
        (Tone::Working, texts::user_active(language))
    } else {
        (Tone::Idle, texts::user_disabled(language))
    }
}

/// Returns the name of a role.
pub(super) fn role_name(language: Language, role: Role) -> String {
    match role {
        Role::Operator => texts::operator(language),
        Role::Admin => texts::admin(language),
        Role::Customer => texts::customer_role(language),
    }
}

/// Renders the options for the role of a staff member.
pub(super) fn roles(language: Language, chosen: &str) -> Markup {
    let (operator, admin) = (texts::operator_option(language), texts::admin_user_option(language));
    options(&[("operator", operator.as_str()), ("admin", admin.as_str())], chosen)
}

/// Serves the staff list.
pub(super) async fn list(
    State(app): State<UserPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<UserListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::users_title(viewer.language()));
    let from = u64::from(query.from);
    let (some, total) = cut(Page { limit: USERS_PER_PAGE, offset: from }, users::newest_users(&app.users)?);
    let sessions = list_sessions(&app.sessions, &who)?;
    let sightings = last_seen(&sessions);
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        div class="head" {
            h1 { (title) }
            span class="push" {}
            a class="btn primary" href=(NEW_PATH) { (icon(Icon::Plus)) (texts::add_user(language)) }
        }
        div id="users" data-fresh="" { (table(language, &some, &sightings, who.user()?, from)) }
        p class="soft" { (texts::users_total(language, total)) }
        (turns(language, from, total, USERS_PER_PAGE, list_path))
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Returns when each user with an open session was last seen, by email address.
fn last_seen(sessions: &[ListedSession]) -> HashMap<&str, Timestamp> {
    let mut sightings = HashMap::new();
    for session in sessions {
        let latest = sightings.entry(session.email.as_str()).or_insert(session.seen_at);
        *latest = session.seen_at.max(*latest);
    }
    sightings
}

/// Returns what a role may do, as in the form for adding a user.
fn role_option(language: Language, role: Role) -> String {
    match role {
        Role::Admin => texts::admin_user_option(language),
        Role::Operator => texts::operator_option(language),
        Role::Customer => texts::customer_option(language),
    }
}

/// Returns the class of the word that a user signs in without a second step: a warning for an admin, who may do
/// everything.
fn off_class(user: &User) -> &'static str {
    if user.active && user.role == Role::Admin { Tone::Attention.class() } else { "soft" }
}

fn table(language: Language, users: &[Arc<User>], sightings: &HashMap<&str, Timestamp>, own: Id, from: u64) -> Markup {
    let (second_factor, last_seen) = (texts::second_factor_column(language), texts::last_seen_column(language));
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::users_title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::name(language)) }
                        th scope="col" { (texts::role(language)) }
                        th scope="col" { (texts::status(language)) }
                        th scope="col" { (second_factor) }
                        th scope="col" { (last_seen) }
                        th scope="col" { (texts::actions_column(language)) }
                    }
                }
                tbody {
                    @for user in users {
                        @let (tone, words) = state_of(language, user);
                        tr {
                            th scope="row" class="grow" {
                                a href={ (PATH) "/" (user.id) } { (user.name) }
                                span class="below" { (user.email) }
                            }
                            td title=(role_option(language, user.role)) { (role_name(language, user.role)) }
                            td { span class=(tone.class()) { (words) } }
                            td class="spare" data-label=(second_factor) {
                                @if user.second_factor.as_ref().is_some_and(SecondFactor::is_on) {
                                    (texts::second_factor_on(language))
                                } @else {
                                    span class=(off_class(user)) { (texts::second_factor_off(language)) }
                                }
                            }
                            td class="wide" data-label=(last_seen) {
                                @match sightings.get(user.email.as_str()) {
                                    Some(at) => { (time(language, *at)) },
                                    None => { span class="soft" { (texts::not_signed_in_now(language)) } },
                                }
                            }
                            // On a phone, they are on the page that the row links to.
                            td class="spare" {
                                @if user.id == own { a href=(ACCOUNT_PATH) { (texts::your_account(language)) } }
                                @else { (acts(language, user, from)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the most frequent actions on another user's account; the others are on the user's page. An action that ends
/// their sessions has to be unfolded first, and says so.
fn acts(language: Language, user: &User, from: u64) -> Markup {
    let name = &user.name;
    let (other_role, change) = if user.role == Role::Admin {
        (Role::Operator, texts::make_operator(language, name))
    } else {
        (Role::Admin, texts::make_admin(language, name))
    };
    let head = html! { (hidden()) input type="hidden" name=(FROM_FIELD) value=(from); };
    html! {
        div class="acts" {
            details {
                summary class="btn" { (texts::reset_password(language)) }
                form method="post" action=(act_path(user, "password")) {
                    (head)
                    (password_field(language, &format!("password-{}", user.id), &texts::new_password(language)))
                    p class="hint" { (texts::reset_password_hint(language)) }
                    button class="second" type="submit" { (texts::reset_password_of(language, name)) }
                }
            }
            details {
                summary class="btn" { (texts::change_role(language)) }
                form method="post" action=(act_path(user, "role")) {
                    (head)
                    input type="hidden" name="role" value=(other_role.word());
                    p { (texts::role_hint(language)) }
                    button class="second" type="submit" { (change) }
                }
            }
            @if user.active {
                details {
                    summary class="btn" { (texts::disable_account(language)) }
                    form method="post" action=(act_path(user, "disable")) {
                        (head)
                        p { (texts::disable_text(language, name)) }
                        button class="second" type="submit" { (texts::disable(language, name)) }
                    }
                }
            } @else {
                form method="post" action=(act_path(user, "enable")) {
                    (head)
                    button class="second" type="submit" { (texts::enable(language, name)) }
                }
            }
        }
    }
}

/// Serves the form for adding a staff member.
pub(super) async fn show_form(State(app): State<UserPageHandles>, who: Caller) -> Result<Response, ApiError> {
    new_page(&app, &who, &Form::default())
}

/// Renders the field for a password that an admin sets for another user. The field has the given ID.
pub(super) fn password_field(language: Language, id: &str, label: &str) -> Markup {
    hinted_field(
        id,
        label,
        &texts::password_hint(language),
        &html! {
            input id=(id) name="password" type="password" minlength="10" maxlength="1024" required
                autocomplete="new-password" aria-describedby={ "about-" (id) };
        },
    )
}

fn new_page(app: &UserPageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::add_user(viewer.language()));
    let role = form.value("role", "operator");
    let content = html! {
        p { a href=(PATH) { (texts::users_title(language)) } }
        h1 { (title) }
        (form.alert())
        form class="card form" method="post" action=(NEW_PATH) {
            (hidden())
            (field("name", &texts::name(language), &html! {
                input id="name" name="name" maxlength="200" required autocomplete="off" value=(form.value("name", ""));
            }))
            (hinted_field("email", &texts::email(language), &texts::email_hint(language), &html! {
                input id="email" name="email" type="email" maxlength="254" required autocomplete="off"
                    value=(form.value("email", "")) aria-describedby="about-email";
            }))
            (field("role", &texts::role(language), &html! { select id="role" name="role" { (roles(language, role)) } }))
            (password_field(language, "password", &texts::password(language)))
            button type="submit" { (texts::add_user(language)) }
        }
        p class="soft" { (texts::share_password(language)) }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Adds a staff member.
pub(super) async fn add(State(app): State<UserPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    who.user()?;
    let body = sent.body().with("password", sent.raw("password"));
    match users::add(&app.users, &sent.request_of(body)).await {
        Ok(_) => Ok(see_other(PATH)),
        Err(error) => {
            let form = Form::submitted(&sent).with_refusal(error)?;
            Ok(form.answer(new_page(&app, who, &form)?))
        }
    }
}
