//! List of staff accounts, and the form for adding one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::SettingsPageHandles;
use crate::form::PageForm;
use crate::frame::{see_other, time};
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::{address, field, hinted_field, options, ways};
use crate::staff::form::Form;
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use domain::access::User;
use domain::principal::Role;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::{OpenQuery, cut};
use http_api::production::auth::SessionHandles;
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
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        p { a class="button" href=(NEW_PATH) { (texts::add_user(language)) } }
        div id="users" data-fresh="" { (table(language, &some)) }
        (ways(language, from, total, USERS_PER_PAGE, |from| address(PATH, &[("from", &from.to_string())])))
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

fn table(language: Language, users: &[Arc<User>]) -> Markup {
    html! {
        div class="table" tabindex="0" role="region" aria-label=(texts::users_title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::name(language)) }
                        th scope="col" { (texts::email(language)) }
                        th scope="col" { (texts::role(language)) }
                        th scope="col" { (texts::status(language)) }
                        th scope="col" { (texts::added_column(language)) }
                    }
                }
                tbody {
                    @for user in users {
                        @let (tone, words) = state_of(language, user);
                        tr {
                            th scope="row" { a href={ (PATH) "/" (user.id) } { (user.name) } }
                            td { (user.email) }
                            td { (role_name(language, user.role)) }
                            td { span class=(tone.class()) { (words) } }
                            td { (time(language, user.created_at)) }
                        }
                    }
                }
            }
        }
    }
}

/// Serves the form for adding a staff member.
pub(super) async fn show_form(State(app): State<UserPageHandles>, who: Caller) -> Result<Response, ApiError> {
    new_page(&app, &who, &Form::default())
}

/// Renders the field for a password that an admin sets for another user.
pub(super) fn password_field(language: Language, label: &str) -> Markup {
    hinted_field(
        "password",
        label,
        &texts::password_hint(language),
        &html! {
            input id="password" name="password" type="password" minlength="10" maxlength="1024" required
                autocomplete="new-password" aria-describedby="about-password";
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
            (password_field(language, &texts::password(language)))
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
