//! Entry page of the setup wizard: asks for the one-time code printed by the server, or for an admin to sign in.

use api_derive::Request;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::html;

use super::{WizardHandles, done};
use crate::form::PageForm;
use crate::frame::{page, see_other};
use domain::access::{SECOND_FACTOR_REQUIRED, WRONG_CODE};
use http::access::with_access;
use http::error::ApiError;
use http::limits::layer::ClientAddress;
use http::page::OpenQuery;
use http_api::production::auth::{self, SessionHandles, StaffSignIn};
use http_api::production::setup::{self, SetupHandles};

/// Path of the entry page, which asks for the one-time code.
pub(super) const PATH: &str = "/setup/enter";
/// Path to which the admin sign-in form is posted.
pub(super) const SIGN_IN_PATH: &str = "/setup/sign-in";

/// Error messages for the visitor, by error code.
const MISTAKES: [(&str, &str); 5] = [
    ("wrong_code", "That code is wrong. Use the code that the server printed at its last start."),
    (
        "code_spent",
        "That code was already used, has expired or was tried too often. Restart the server to get a new one.",
    ),
    ("wrong_credentials", "The email address or password is wrong. Try again."),
    (
        SECOND_FACTOR_REQUIRED,
        "Two-step sign-in is on for this account. Enter the code from your authenticator app too.",
    ),
    (WRONG_CODE, "That code is wrong or was already used. Wait for the next one, or use a recovery code."),
];

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
) -> Result<Response, ApiError> {
    let (has_admin, completed) = with_access(&app.setup.access, |access| {
        (access.admins().next().is_some(), access.setup_completed_at.is_some())
    })?;
    let mistake = MISTAKES.iter().find(|(code, _)| query.error.as_deref() == Some(*code)).map(|(_, words)| *words);
    let content = html! {
        h1 { "Set up your shop" }
        @if let Some(words) = mistake { p class="bad" role="alert" { (words) } }
        @if !completed {
            p { "When the server started, it printed a one-time code in the line that begins with " code { "setup" } ". Enter it to show that you have access to this server." }
            form method="post" action=(PATH) {
                div class="field" {
                    label for="code" { "One-time code" }
                    input id="code" name="code" autocomplete="off" autocapitalize="characters" spellcheck="false" required
                        maxlength="100" aria-describedby="where";
                    p class="hint" id="where" { "Such as K7QM-2XDP-9RTV. To get a new code, restart the server." }
                }
                button type="submit" { "Open setup" }
            }
        }
        @if has_admin {
            @if completed {
                p { "Setup is complete. Admins can run it again." }
            } @else {
                h2 { "Or sign in" }
                p { "Already created the admin? Sign in to continue." }
            }
            form method="post" action=(SIGN_IN_PATH) {
                div class="field" {
                    label for="email" { "Email address" }
                    input id="email" name="email" type="email" autocomplete="username" required maxlength="254";
                }
                div class="field" {
                    label for="password" { "Password" }
                    input id="password" name="password" type="password" autocomplete="current-password" required;
                }
                div class="field" {
                    label for="factor" { "Code from your authenticator app, or a recovery code" }
                    input id="factor" name="factor" maxlength="40" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"
                        aria-describedby="factor-hint";
                    p class="hint" id="factor-hint" { "Only if two-step sign-in is on for your account." }
                }
                button type="submit" { "Sign in" }
            }
        } @else if completed {
            p { "Setup is complete, but no admin can sign in. Create one on the server:" }
            p { code { "printfloor user create --email you@example.com --role admin" } }
        }
    };
    Ok(page(StatusCode::OK, "Set up your shop", &content))
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
