//! Page on which staff members change their own password.

use axum::extract::State;
use axum::http::header;
use axum::response::Response;
use maud::{Markup, html};

use super::sessions::{self, SessionPageHandles};
use crate::faults::alert_lines;
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::{field, hinted_field};
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use http::access::Caller;
use http::error::{ApiError, ErrorMeta};
use http::limits::layer::ClientAddress;
use http_api::production::auth::password_by_page;

/// Path of the password page.
pub(super) const PATH: &str = "/shop/settings/password";

/// Serves the password form.
pub(super) async fn show(State(app): State<SessionPageHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, None)
}

fn page(app: &SessionPageHandles, who: &Caller, wrong: Option<&Markup>) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        h1 { "My password" }
        @if let Some(wrong) = wrong { (wrong) }
        form class="card form" method="post" action=(PATH) {
            (hidden())
            (fields())
            button type="submit" { "Change password" }
        }
        p class="soft" { "Changing your password ends all your other sessions." }
    };
    Ok(viewer.page(StaffSection::Settings, "My password", &app.settings.board.view(), &content))
}

fn fields() -> Markup {
    html! {
        (field("current", "Current password", &html! {
            input id="current" name="current" data-member="currentPassword" type="password" maxlength="1024" required
                autocomplete="current-password";
        }))
        (hinted_field("new", "New password", "At least 10 characters.", &html! {
            input id="new" name="new" data-member="newPassword" type="password" minlength="10" maxlength="1024" required
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
    let passwords = (sent.raw("current"), sent.raw("new"));
    let answer = password_by_page(app.sessions.clone(), from, &sent.call, passwords).await;
    let mut response = if answer.status().is_success() {
        see_other(sessions::PATH)
    } else {
        let meta = answer.extensions().get::<ErrorMeta>();
        let wrong = meta.map(|meta| alert_lines(&meta.message, &meta.faults));
        let wrong = wrong.unwrap_or_else(|| alert_lines("Your password was not changed. Try again.", &[]));
        let mut page = page(&app, &sent.call.who, Some(&wrong))?;
        *page.status_mut() = answer.status();
        page
    };
    if let Some(value) = answer.headers().get(header::RETRY_AFTER) {
        response.headers_mut().insert(header::RETRY_AFTER, value.clone());
    }
    // For the audit log and the limits, which look at it behind this.
    *response.extensions_mut() = answer.extensions().clone();
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{alert, place};
    use domain::refusal::Refusal;

    #[test]
    fn refusals_name_the_fields_as_the_form_does() {
        let lines = |error: ApiError| place(html! { (alert(&error)) (fields()) }.into_string());
        let short = lines(Refusal::field("newPassword", "must have more").into());
        assert!(short.contains("href=\"#new\">New password: must have more.</a>"), "{short}");
        let wrong = lines(ApiError::forbidden("wrong_password", "the current password is incorrect"));
        assert!(wrong.contains("<p>The current password is incorrect.</p>"), "{wrong}");
    }
}
