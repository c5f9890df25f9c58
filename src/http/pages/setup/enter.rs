//! Entry page of the setup wizard: asks for the one-time code printed by the server, or for an admin to sign in.

use api_derive::Request;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::{WizardHandles, WizardText, done};
use crate::form::PageForm;
use crate::frame::{SLOT, page_in, see_other, with_parts};
use domain::second_factor::{SECOND_FACTOR_REQUIRED, WRONG_CODE};
use http::access::{Caller, with_access};
use http::error::ApiError;
use http::limits::layer::ClientAddress;
use http::page::OpenQuery;
use http_api::production::auth::{self, SessionHandles, StaffSignIn};
use http_api::production::setup::{self, SetupHandles};
use words::Language;
use words::staff::setup as texts;

/// Path of the entry page, which asks for the one-time code.
pub(super) const PATH: &str = "/setup/enter";
/// Path to which the admin sign-in form is posted.
pub(super) const SIGN_IN_PATH: &str = "/setup/sign-in";

/// Error messages for the visitor, by error code.
const MISTAKES: [(&str, WizardText); 5] = [
    ("wrong_code", texts::wrong_code),
    ("code_spent", texts::code_spent),
    ("wrong_credentials", texts::wrong_credentials),
    (SECOND_FACTOR_REQUIRED, texts::second_factor_required),
    (WRONG_CODE, texts::wrong_factor),
];
/// Code such as the server prints.
const SAMPLE_CODE: &str = "K7QM-2XDP-9RTV";

/// Query parameters of the entry page.
#[derive(Request, Debug)]
pub(super) struct EnterQuery {
    /// Error code from the previous attempt.
    error: Option<String>,
}

/// Returns the path of the entry page, with the given error code in its query.
pub(super) fn path_after(code: &str) -> String {
    let is_known = MISTAKES.iter().any(|(mistake, _)| *mistake == code);
    if is_known { format!("{PATH}?error={code}") } else { PATH.to_owned() }
}

/// Serves the entry page.
pub(super) async fn show(
    State(app): State<WizardHandles>,
    OpenQuery(query): OpenQuery<EnterQuery>,
    who: Caller,
) -> Result<Response, ApiError> {
    let (has_admin, completed) = with_access(&app.setup.access, |access| {
        (access.admins().next().is_some(), access.setup_completed_at.is_some())
    })?;
    let language = who.language;
    let mistake = MISTAKES.iter().find(|(code, _)| query.error.as_deref() == Some(*code)).map(|(_, text)| text);
    let title = texts::enter_title(language);
    let content = html! {
        h1 { (title) }
        @if let Some(text) = mistake { p class="bad" role="alert" { (text(language)) } }
        @if !completed { (code_form(language)) }
        @if has_admin {
            @if completed {
                p { (texts::completed_note(language)) }
            } @else {
                h2 { (texts::or_sign_in(language)) }
                p { (texts::sign_in_text(language)) }
            }
            (sign_in_form(language))
        } @else if completed {
            p { (texts::no_admin(language)) }
            p { code { "printfloor user create --email you@example.com --role admin" } }
        }
    };
    Ok(page_in(language, StatusCode::OK, &title, &content))
}

/// Renders the form for the one-time code.
fn code_form(language: Language) -> Markup {
    html! {
        p { (with_parts(&texts::code_text(language, SLOT), &[&html! { code { "setup" } }])) }
        form method="post" action=(PATH) {
            div class="field" {
                label for="code" { (texts::code_field(language)) }
                input id="code" name="code" autocomplete="off" autocapitalize="characters" spellcheck="false" required
                    maxlength="100" aria-describedby="where";
                p class="hint" id="where" { (texts::code_hint(language, SAMPLE_CODE)) }
            }
            button type="submit" { (texts::open_setup(language)) }
        }
    }
}

/// Renders the form with which an admin signs in.
fn sign_in_form(language: Language) -> Markup {
    html! {
        form method="post" action=(SIGN_IN_PATH) {
            div class="field" {
                label for="email" { (texts::email_field(language)) }
                input id="email" name="email" type="email" autocomplete="username" required maxlength="254";
            }
            div class="field" {
                label for="password" { (texts::password_field(language)) }
                input id="password" name="password" type="password" autocomplete="current-password" required;
            }
            div class="field" {
                label for="factor" { (texts::factor_field(language)) }
                input id="factor" name="factor" maxlength="40" autocomplete="one-time-code" autocapitalize="none"
                    spellcheck="false" aria-describedby="factor-hint";
                p class="hint" id="factor-hint" { (texts::factor_hint(language)) }
            }
            button type="submit" { (texts::sign_in(language)) }
        }
    }
}

/// Handles the form with the one-time code.
pub(super) async fn show_code(State(app): State<SetupHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let cookie = setup::show_code(&app, sent.text("code"), super::PATH)?;
    let mut response = see_other(super::PATH);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Signs an admin in and opens the wizard.
pub(super) async fn sign_in(
    State(app): State<SessionHandles>,
    ClientAddress(from): ClientAddress,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let password = sent.raw("password").to_owned();
    let credentials = (sent.text("email"), password, sent.some("factor"));
    let reply = auth::sign_in_with(&app, from, &sent.call, credentials).await?;
    let open_wizard = |answer: Result<StaffSignIn, ApiError>| -> Result<Response, ApiError> {
        let StaffSignIn { cookie, .. } = answer?;
        let completed = with_access(&app.access, |access| access.setup_completed_at.is_some())?;
        let mut response = see_other(if completed { done::PATH } else { super::PATH });
        response.headers_mut().insert(header::SET_COOKIE, cookie);
        Ok(response)
    };
    Ok(reply.map_answer(open_wizard).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_door_says_only_what_it_knows() {
        assert_eq!(path_after("wrong_code"), "/setup/enter?error=wrong_code");
        assert_eq!(path_after("unauthorized"), "/setup/enter");
    }
}
