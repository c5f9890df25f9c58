//! Page on which staff members change their own password.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::sessions::{self, SessionPageHandles};
use crate::faults::{alert, with_refusal};
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::{field, hinted_field};
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use http::access::Caller;
use http::error::ApiError;
use http::limits::layer::ClientAddress;
use http_api::production::auth::change_password;
use words::Language;
use words::staff::{account, shell};

/// Path of the password page.
pub(super) const PATH: &str = "/shop/settings/password";

/// Serves the password form.
pub(super) async fn show(State(app): State<SessionPageHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, None)
}

fn page(app: &SessionPageHandles, who: &Caller, wrong: Option<&Markup>) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let language = viewer.language();
    let title = account::password_title(language);
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        @if let Some(wrong) = wrong { (wrong) }
        form class="card form" method="post" action=(PATH) {
            (hidden())
            (fields(language))
            button type="submit" { (account::change_password(language)) }
        }
        p class="soft" { (account::password_note(language)) }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

fn fields(language: Language) -> Markup {
    html! {
        (field("current", &account::current_password_field(language), &html! {
            input id="current" name="currentPassword" type="password" maxlength="1024" required
                autocomplete="current-password";
        }))
        (hinted_field("new", &account::new_password_field(language), &account::new_password_hint(language), &html! {
            input id="new" name="newPassword" type="password" minlength="10" maxlength="1024" required
                autocomplete="new-password" aria-describedby="about-new";
        }))
    }
}

/// Changes the user's password, or serves the form again with its errors.
pub(super) async fn change(
    State(app): State<SessionPageHandles>,
    ClientAddress(from): ClientAddress,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let passwords = ["currentPassword", "newPassword"];
    let body = passwords.into_iter().fold(sent.body(), |body, member| body.with(member, sent.raw(member)));
    let show = |answer: Result<_, ApiError>| -> Result<Response, ApiError> {
        let Err(error) = answer else { return Ok(see_other(sessions::PATH)) };
        let page = page(&app, &sent.call.who, Some(&alert(sent.call.who.language, &error)))?;
        Ok(with_refusal(error, page))
    };
    match change_password(&app.sessions, from, &sent.request_of(body)).await {
        Ok(reply) => Ok(reply.map_answer(show).into_response()),
        Err(error) => show(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::place;
    use domain::refusal::Refusal;

    #[test]
    fn refusals_name_the_fields_as_the_form_does() {
        let lines_in = |language: Language, error: ApiError| {
            place(html! { (alert(language, &error)) (fields(language)) }.into_string())
        };
        let lines = |error: ApiError| lines_in(Language::English, error);
        let german = lines_in(Language::German, Refusal::field("newPassword", "must be at least 10 characters").into());
        let line = "href=\"#new\">Neues Passwort: muss mindestens 10 Zeichen lang sein.</a>";
        assert!(german.contains(line), "{german}");
        let short = lines(Refusal::field("newPassword", "must have more").into());
        assert!(short.contains("href=\"#new\">New password: must have more.</a>"), "{short}");
        let wrong = lines(ApiError::forbidden("wrong_password", "the current password is incorrect"));
        assert!(wrong.contains("<p>The current password is incorrect.</p>"), "{wrong}");
    }
}
