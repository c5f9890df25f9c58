//! Page of one's own account, with the language of the pages.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::password;
use super::sessions::SessionPageHandles;
use crate::faults::{alert, with_refusal};
use crate::form::PageForm;
use crate::frame::{SLOT, see_other, with_parts};
use crate::staff::filled_form::hinted_field;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use crate::staff::{ACCOUNT_PATH, SETTINGS_PATH};
use http::access::Caller;
use http::error::ApiError;
use http_api::production::auth::{change_account, own_language};
use words::Language;
use words::staff::{account, shell};

/// Path of the account page.
pub(super) const PATH: &str = ACCOUNT_PATH;
/// Value of the field for the language that the browser prefers.
const OF_BROWSER: &str = "browser";

/// Serves the account page.
pub(super) async fn show(State(app): State<SessionPageHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, None)
}

fn page(app: &SessionPageHandles, who: &Caller, wrong: Option<&Markup>) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let language = viewer.language();
    let chosen = own_language(&app.sessions, who)?;
    let title = account::account_title(language);
    let email = html! { strong { (viewer.email()) } };
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        @if let Some(wrong) = wrong { (wrong) }
        p { (with_parts(&account::signed_in_as(language, SLOT), &[&email])) }
        form class="card form" method="post" action=(PATH) {
            (hidden())
            (language_field(language, chosen))
            button type="submit" { (account::save(language)) }
        }
        p { a href=(password::PATH) { (account::password_link(language)) } }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Renders the field for the language, with each language's name in the language itself.
fn language_field(language: Language, chosen: Option<Language>) -> Markup {
    let control = html! {
        select id="language" name="language" aria-describedby="about-language" {
            option value=(OF_BROWSER) selected[chosen.is_none()] { (account::language_of_browser(language)) }
            @for one in Language::ALL {
                option value=(one.tag()) lang=[(one != language).then_some(one.tag())] selected[chosen == Some(one)] {
                    (one.own_name())
                }
            }
        }
    };
    hinted_field("language", &account::language_field(language), &account::language_hint(language), &control)
}

/// Changes the language, or serves the form again with its error.
pub(super) async fn change(State(app): State<SessionPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let body = sent.body().converted("language", |tag| (tag == OF_BROWSER).then_some(Value::Null));
    match change_account(&app.sessions, &sent.request_of(body)).await {
        Ok(_) => Ok(see_other(PATH)),
        Err(error) => {
            let page = page(&app, &sent.call.who, Some(&alert(sent.call.who.language, &error)))?;
            Ok(with_refusal(error, page))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_named_in_themselves() {
        let german = language_field(Language::German, Some(Language::German)).0;
        for part in [
            "<label for=\"language\">Sprache</label>",
            "<option value=\"browser\">Sprache des Browsers</option>",
            "<option value=\"en\" lang=\"en\">English</option>",
            "<option value=\"de\" selected>Deutsch</option>",
        ] {
            assert!(german.contains(part), "{part} in {german}");
        }
        let english = language_field(Language::English, None).0;
        assert!(english.contains("<option value=\"browser\" selected>Browser language</option>"), "{english}");
    }
}
