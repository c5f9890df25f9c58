//! Page of a staff member: name, role, account status, password reset, sessions.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::json;

use super::users::{PATH, ROLES, UserPageHandles, password_field, state_of};
use super::{password, second_factor as own_factor, sessions};
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::acts::PathAct;
use crate::staff::filled_form::{field, options};
use crate::staff::form::Form;
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use domain::access::User;
use domain::id::Id;
use domain::refusal::Refusal;
use domain::second_factor::SecondFactor;
use http::access::Caller;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::production::auth::list_sessions;
use http_api::production::{second_factor, users};

/// Serves a staff member's page.
pub(super) async fn show(
    State(app): State<UserPageHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    page(&app, id, &who, &Form::default())
}

fn page(app: &UserPageHandles, id: Id, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let user = users::present_user(&app.users, id)?;
    let (tone, words) = state_of(&user);
    let mut open = list_sessions(&app.sessions, who)?;
    open.retain(|session| session.email == user.email);
    let content = html! {
        p { a href=(PATH) { "Users" } }
        h1 id="person-title" data-fresh="" { (user.name) " " span class=(tone.class()) { (words) } }
        (form.alert())
        section class="card" aria-labelledby="account" {
            h2 id="account" { "Account" }
            p { (user.email) }
            (account(&user, form))
        }
        section class="card" aria-labelledby="access" {
            h2 id="access" { "Access" }
            div id="access-acts" data-fresh="" { (access(&user, who.user()? == id)) }
        }
        h2 id="sessions" { "Sessions" }
        div id="open-sessions" data-fresh="" {
            @if open.is_empty() { p { "Not signed in." } } @else { (sessions::table(viewer.language(), &open)) }
        }
    };
    Ok(viewer.page(StaffSection::Settings, &user.name, &app.settings.board.view(), &content))
}

fn path(user: &User, word: &str) -> String {
    format!("{PATH}/{}/{word}", user.id)
}

fn account(user: &User, form: &Form) -> Markup {
    let sheet = FormSheet::new("change", form);
    let role = sheet.value_of("role", user.role.word());
    html! {
        form class="form" method="post" action=(path(user, "change")) {
            (hidden())
            (field("name", "Name", &html! {
                input id="name" name="name" maxlength="200" required autocomplete="off" value=(sheet.value_of("name", &user.name));
            }))
            (field("role", "Role", &html! { select id="role" name="role" { (options(&ROLES, &role)) } }))
            p class="hint" { "Changing the role ends all sessions of this user." }
            button type="submit" { "Save" }
        }
    }
}

fn access(user: &User, is_own: bool) -> Markup {
    html! {
        @if user.active {
            details {
                summary { "Disable account" }
                p { (user.name) " is signed out everywhere and can't sign in. The account is kept." }
                form method="post" action=(path(user, "disable")) {
                    (hidden())
                    button class="second" type="submit" { "Disable " (user.name) }
                }
            }
        } @else {
            form method="post" action=(path(user, "enable")) {
                (hidden())
                button type="submit" { "Enable " (user.name) }
            }
        }
        @if is_own {
            p {
                "This is your own account. Use your current password to change "
                a href=(password::PATH) { "your password" } " or "
                a href=(own_factor::PATH) { "two-step sign-in" } "."
            }
        } @else {
            (others_access(user))
        }
        details {
            summary { "Remove account" }
            p { "You can't undo this. Actions by " (user.name) " stay in the audit log." }
            form method="post" action=(path(user, "remove")) {
                (hidden())
                button class="stop" type="submit" { "Remove " (user.name) }
            }
        }
    }
}

/// Renders the forms for changing another user's access.
fn others_access(user: &User) -> Markup {
    html! {
        details {
            summary { "Reset password" }
            form class="tools" method="post" action=(path(user, "password")) {
                (hidden())
                (password_field("New password"))
                button class="second" type="submit" { "Reset password" }
            }
            p class="hint" { "Resetting the password ends all sessions of this user. Share the new password in person." }
        }
        @if user.second_factor.as_ref().is_some_and(SecondFactor::is_on) {
            details {
                summary { "Turn off two-step sign-in" }
                p { "For users who have lost their app and recovery codes. " (user.name) " is signed out everywhere and can then sign in with the password alone." }
                form method="post" action=(path(user, "second-factor")) {
                    (hidden())
                    button class="second" type="submit" { "Turn off for " (user.name) }
                }
            }
        }
    }
}

/// Performs the action named in the last segment of the path.
pub(super) async fn act_on(
    State(app): State<UserPageHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    who.user()?;
    if word == "second-factor" {
        second_factor::reset(&app.sessions, id, &sent.call.of_form(&json!({}))).await?;
        return Ok(see_other(&format!("{PATH}/{id}")));
    }
    let body = match word.as_str() {
        "change" => Some(json!({"name": sent.text("name"), "role": sent.text("role")})),
        "enable" => Some(json!({"active": true})),
        "disable" => Some(json!({"active": false})),
        "password" => Some(json!({"password": sent.raw("password")})),
        "remove" => None,
        _ => return Err(Refusal::not_found("act").into()),
    };
    let done = match &body {
        Some(body) => users::change(&app.users, id, &sent.call.of_form(body)).await,
        None => users::delete(&app.users, id, &sent.call.of_form(&json!({}))).await,
    };
    match done {
        Ok(_) if body.is_none() => Ok(see_other(PATH)),
        Ok(_) => Ok(see_other(&format!("{PATH}/{id}"))),
        Err(error) => {
            let form = Form::named(&word, &sent).with_refusal(error)?;
            Ok(form.answer(page(&app, id, who, &form)?))
        }
    }
}
