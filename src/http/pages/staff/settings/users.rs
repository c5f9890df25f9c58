//! List of staff accounts, and the form for adding one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::json;

use super::SettingsPageHandles;
use crate::form::PageForm;
use crate::frame::{see_other, time};
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::{address, field, hinted_field, options, ways};
use crate::staff::form::Form;
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use domain::access::User;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::{OpenQuery, cut};
use http_api::production::auth::SessionHandles;
use http_api::production::users::{self, UserHandles};
use store::queries::Page;

/// Path of the staff list.
pub(super) const PATH: &str = "/shop/settings/users";
/// Path of the form for adding a staff member.
pub(super) const NEW_PATH: &str = "/shop/settings/users/new";
/// Number of staff members per page.
const USERS_PER_PAGE: u64 = 50;
/// Roles that a staff member can have, with their labels.
pub(super) const ROLES: [(&str, &str); 2] = [
    ("operator", "Operator: orders, printers and stock"),
    ("admin", "Admin: everything, including users and API keys"),
];
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
pub(super) fn state_of(user: &User) -> (Tone, &'static str) {
    if user.active { (Tone::Working, "Active") } else { (Tone::Idle, "Disabled") }
}

/// Serves the staff list.
pub(super) async fn list(
    State(app): State<UserPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<UserListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.settings.config)?;
    let from = u64::from(query.from);
    let (some, total) = cut(Page { limit: USERS_PER_PAGE, offset: from }, users::newest_users(&app.users)?);
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        h1 { "Users" }
        p { a class="button" href=(NEW_PATH) { "Add user" } }
        div id="users" data-fresh="" { (table(&some)) }
        (ways(from, total, USERS_PER_PAGE, |from| address(PATH, &[("from", &from.to_string())])))
    };
    Ok(viewer.page(StaffSection::Settings, "Users", &app.settings.board.view(), &content))
}

fn table(users: &[Arc<User>]) -> Markup {
    html! {
        div class="table" tabindex="0" role="region" aria-label="Users" {
            table {
                thead {
                    tr {
                        th scope="col" { "Name" } th scope="col" { "Email address" } th scope="col" { "Role" }
                        th scope="col" { "Status" } th scope="col" { "Added" }
                    }
                }
                tbody {
                    @for user in users {
                        @let (tone, words) = state_of(user);
                        tr {
                            th scope="row" { a href={ (PATH) "/" (user.id) } { (user.name) } }
                            td { (user.email) }
                            td { (user.role.word()) }
                            td { span class=(tone.class()) { (words) } }
                            td { (time(user.created_at)) }
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
pub(super) fn password_field(label: &str) -> Markup {
    hinted_field(
        "password",
        label,
        "At least 10 characters.",
        &html! {
            input id="password" name="password" type="password" minlength="10" maxlength="1024" required
                autocomplete="new-password" aria-describedby="about-password";
        },
    )
}

fn new_page(app: &UserPageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let role = form.value("role", "operator");
    let content = html! {
        p { a href=(PATH) { "Users" } }
        h1 { "Add user" }
        (form.alert())
        form class="card form" method="post" action=(NEW_PATH) {
            (hidden())
            (field("name", "Name", &html! {
                input id="name" name="name" maxlength="200" required autocomplete="off" value=(form.value("name", ""));
            }))
            (hinted_field("email", "Email address", "Used to sign in.", &html! {
                input id="email" name="email" type="email" maxlength="254" required autocomplete="off"
                    value=(form.value("email", "")) aria-describedby="about-email";
            }))
            (field("role", "Role", &html! { select id="role" name="role" { (options(&ROLES, role)) } }))
            (password_field("Password"))
            button type="submit" { "Add user" }
        }
        p class="soft" { "Share the password in person. It is not emailed. Admins can reset it at any time." }
    };
    Ok(viewer.page(StaffSection::Settings, "Add user", &app.settings.board.view(), &content))
}

/// Adds a staff member.
pub(super) async fn add(State(app): State<UserPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    who.user()?;
    let body = json!({
        "name": sent.text("name"), "email": sent.text("email"), "role": sent.text("role"), "password": sent.raw("password"),
    });
    match users::add(&app.users, &sent.call.of_form(&body)).await {
        Ok(_) => Ok(see_other(PATH)),
        Err(error) => {
            let form = Form::submitted(&sent).with_refusal(error)?;
            Ok(form.answer(new_page(&app, who, &form)?))
        }
    }
}
