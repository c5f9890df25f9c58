//! Page of a staff member: name, role, account status, password reset, sessions.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::users::{FROM_FIELD, PATH, UserPageHandles, act_path, list_path, password_field, roles, state_of};
use super::{password, second_factor as own_factor, sessions};
use crate::form::{Form, PageForm};
use crate::frame::{NEXT_SLOT, SLOT, see_other, with_parts};
use crate::staff::acts::PathAct;
use crate::staff::filled_form::field;
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
use words::Language;
use words::staff::access as texts;

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
    let language = viewer.language();
    let (tone, words) = state_of(language, &user);
    let mut open = list_sessions(&app.sessions, who)?;
    open.retain(|session| session.email == user.email);
    let content = html! {
        p { a href=(PATH) { (texts::users_title(language)) } }
        h1 id="person-title" data-fresh="" { (user.name) " " span class=(tone.class()) { (words) } }
        (form.alert())
        section class="card" aria-labelledby="account" {
            h2 id="account" { (texts::account(language)) }
            p { (user.email) }
            (account(language, &user, form))
        }
        section class="card" aria-labelledby="access" {
            h2 id="access" { (texts::access(language)) }
            div id="access-acts" data-fresh="" { (access(language, &user, who.user()? == id)) }
        }
        h2 id="sessions" { (texts::sessions(language)) }
        div id="open-sessions" data-fresh="" {
            @if open.is_empty() { p { (texts::not_signed_in(language)) } } @else { (sessions::table(language, &open)) }
        }
    };
    Ok(viewer.page(StaffSection::Settings, &user.name, &app.settings.board.view(), &content))
}

fn account(language: Language, user: &User, form: &Form) -> Markup {
    let sheet = FormSheet::new("change", form);
    let role = sheet.value_of("role", user.role.word());
    html! {
        form class="form" method="post" action=(act_path(user, "change")) {
            (hidden())
            (field("name", &texts::name(language), &html! {
                input id="name" name="name" maxlength="200" required autocomplete="off"
                    value=(sheet.value_of("name", &user.name));
            }))
            (field("role", &texts::role(language), &html! { select id="role" name="role" { (roles(language, &role)) } }))
            p class="hint" { (texts::role_hint(language)) }
            button type="submit" { (texts::save(language)) }
        }
    }
}

fn access(language: Language, user: &User, is_own: bool) -> Markup {
    let password_link = html! { a href=(password::PATH) { (texts::own_password_link(language)) } };
    let factor_link = html! { a href=(own_factor::PATH) { (texts::own_factor_link(language)) } };
    html! {
        @if user.active {
            details {
                summary { (texts::disable_account(language)) }
                p { (texts::disable_text(language, &user.name)) }
                form method="post" action=(act_path(user, "disable")) {
                    (hidden())
                    button class="second" type="submit" { (texts::disable(language, &user.name)) }
                }
            }
        } @else {
            form method="post" action=(act_path(user, "enable")) {
                (hidden())
                button type="submit" { (texts::enable(language, &user.name)) }
            }
        }
        @if is_own {
            p { (with_parts(&texts::own_account(language, SLOT, NEXT_SLOT), &[&password_link, &factor_link])) }
        } @else {
            (others_access(language, user))
        }
        details {
            summary { (texts::remove_account(language)) }
            p { (texts::remove_text(language, &user.name)) }
            form method="post" action=(act_path(user, "remove")) {
                (hidden())
                button class="stop" type="submit" { (texts::remove(language, &user.name)) }
            }
        }
    }
}

/// Renders the forms for changing another user's access.
fn others_access(language: Language, user: &User) -> Markup {
    html! {
        details {
            summary { (texts::reset_password(language)) }
            form class="tools" method="post" action=(act_path(user, "password")) {
                (hidden())
                (password_field(language, "password", &texts::new_password(language)))
                button class="second" type="submit" { (texts::reset_password(language)) }
            }
            p class="hint" { (texts::reset_password_hint(language)) }
        }
        @if user.second_factor.as_ref().is_some_and(SecondFactor::is_on) {
            details {
                summary { (texts::turn_off_factor(language)) }
                p { (texts::turn_off_factor_text(language, &user.name)) }
                form method="post" action=(act_path(user, "second-factor")) {
                    (hidden())
                    button class="second" type="submit" { (texts::turn_off_factor_for(language, &user.name)) }
                }
            }
        }
    }
}

/// Performs the action named in the last segment of the path. A refusal is shown on the user's page.
pub(super) async fn act_on(
    State(app): State<UserPageHandles>,
    PathId(id): PathId,
    PathAct(word): PathAct,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    who.user()?;
    if word == "second-factor" {
        second_factor::reset(&app.sessions, id, &sent.call).await?;
        return Ok(see_other(&format!("{PATH}/{id}")));
    }
    let body = match word.as_str() {
        "change" | "role" => Some(sent.change()),
        "enable" => Some(sent.body().with("active", true)),
        "disable" => Some(sent.body().with("active", false)),
        "password" => Some(sent.body().with("password", sent.raw("password"))),
        "remove" => None,
        _ => return Err(Refusal::not_found("act").into()),
    };
    let is_removal = body.is_none();
    let done = match body {
        Some(body) => users::change(&app.users, id, &sent.request_of(body)).await,
        None => users::delete(&app.users, id, &sent.call).await,
    };
    match done {
        Ok(_) if is_removal => Ok(see_other(PATH)),
        // The forms of the list lead back to it.
        Ok(_) => Ok(see_other(&match sent.text(FROM_FIELD).parse() {
            Ok(from) => list_path(from),
            Err(_) => format!("{PATH}/{id}"),
        })),
        Err(error) => {
            let form = Form::named(&word, &sent).with_refusal(error)?;
            Ok(form.answer(page(&app, id, who, &form)?))
        }
    }
}
