//! Page on which staff members change their own password.

use axum::extract::State;
use axum::http::header;
use axum::response::Response;
use maud::html;

use super::sessions::{self, SessionPageHandles};
use crate::form::PageForm;
use crate::frame::see_other;
use crate::refused::sentence;
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::field;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use http::access::Caller;
use http::error::{ApiError, ErrorMeta};
use http::limits::layer::ClientAddress;
use http_api::production::auth::password_by_page;

/// Path of the password page.
pub(super) const PATH: &str = "/shop/settings/password";
/// Labels of the form fields, by API field.
const LABELS: [(&str, &str); 2] = [("currentPassword", "present password"), ("newPassword", "new password")];

/// Serves the password form.
pub(super) async fn show(State(app): State<SessionPageHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, None)
}

fn page(app: &SessionPageHandles, who: &Caller, wrong: Option<&str>) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        h1 { "My password" }
        @if let Some(wrong) = wrong { p class="bad" role="alert" { (wrong) } }
        form class="card form" method="post" action=(PATH) {
            (hidden())
            (field("current", "Present password", &html! {
                input id="current" name="current" type="password" maxlength="1024" required autocomplete="current-password";
            }))
            (field("new", "New password, of at least 10 characters", &html! {
                input id="new" name="new" type="password" minlength="10" maxlength="1024" required autocomplete="new-password";
            }))
            button type="submit" { "Change it" }
        }
        p class="soft" { "Your other sessions end: whoever knew the former password is out." }
    };
    Ok(viewer.page(StaffSection::Settings, "My password", &app.settings.board.view(), &content))
}

/// Returns an error message with the names of API fields replaced by field labels.
fn words(message: &str) -> String {
    sentence(&LABELS.iter().fold(message.to_owned(), |words, (member, label)| words.replace(*member, label)))
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
        let message = answer.extensions().get::<ErrorMeta>().map(|meta| words(&meta.message));
        let mut page = page(&app, &sent.call.who, Some(message.as_deref().unwrap_or("That did not work.")))?;
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

    #[test]
    fn refusals_name_the_fields_as_the_form_does() {
        assert_eq!(words("newPassword: must have more"), "New password: must have more.");
        assert_eq!(words("the current password is incorrect"), "The current password is incorrect.");
    }
}
