//! Staff sign-in and sign-out, performed by the API operations.

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::{FLOOR_PATH, is_path};
use crate::faults::{alert, with_refusal};
use crate::form::PageForm;
use crate::frame::{SLOT, page_in, see_other, with_parts};
use crate::sentences::sentence;
use config::Config;
use domain::second_factor::{SECOND_FACTOR_REQUIRED, WRONG_CODE};
use http::dropped_cookie::DroppedCookie;
use http::error::ApiError;
use http::language::accepted_language;
use http::limits::layer::ClientAddress;
use http::page::OpenQuery;
use http_api::production::auth::{self, SessionHandles, StaffSignIn};
use words::Language;
use words::staff::sign_in;

/// Path of the staff sign-in page.
pub(super) const PATH: &str = "/login";

/// Query parameters of the sign-in page.
#[derive(Request, Debug)]
pub(super) struct LoginQuery {
    /// Staff page to open after signing in; all other URLs are ignored.
    next: Option<String>,
}

/// Returns the requested page if it is a staff page, and the floor page otherwise.
fn next_page(target: Option<&str>) -> &str {
    let fits = |next: &&str| is_path(next) && !next.contains(|c: char| c.is_control() || c == '\\');
    target.filter(fits).unwrap_or(FLOOR_PATH)
}

fn form(
    language: Language,
    status: StatusCode,
    dropped: Option<&DroppedCookie>,
    (email, next): (&str, &str),
    wrong: Option<&Markup>,
    asks_code: bool,
) -> Response {
    let described_by = wrong.map(|_| "wrong");
    let title = sign_in::title(language);
    let customer_link = html! { a href="/sign-in" { (sign_in::customer_link(language)) } };
    let command = html! { code { "printfloor user create --email you@example.com --role admin" } };
    let content = html! {
        h1 { (title) }
        @if let Some(dropped) = dropped {
            div class="bad" role="note" {
                p lang=[language.foreign_tag()] { (sentence(&dropped.message)) }
                @if let Some(url) = &dropped.sign_in_url { p { a href=(url) { (sign_in::sign_in_there(language)) } } }
            }
        }
        @if let Some(wrong) = wrong { div id="wrong" { (wrong) } }
        p { (sign_in::for_staff(language)) }
        form method="post" action=(PATH) {
            input type="hidden" name="next" value=(next);
            (fields(language, email, described_by, asks_code))
            button type="submit" { (sign_in::sign_in(language)) }
        }
        p class="soft" { (with_parts(&sign_in::are_you_customer(language, SLOT), &[&customer_link])) }
        p class="soft" { (with_parts(&sign_in::no_users(language, SLOT), &[&command])) }
    };
    page_in(language, status, &title, &content)
}

fn fields(language: Language, email: &str, described_by: Option<&str>, asks_code: bool) -> Markup {
    html! {
        div class="field" {
            label for="email" { (sign_in::email_field(language)) }
            input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value=(email)
                aria-describedby=[described_by];
        }
        div class="field" {
            label for="password" { (sign_in::password_field(language)) }
            input id="password" name="password" type="password" autocomplete="current-password" required
                aria-describedby=[described_by];
        }
        @if asks_code {
            div class="field" {
                label for="code" { (sign_in::code_field(language)) }
                input id="code" name="code" maxlength="40" autocomplete="one-time-code" autocapitalize="none" spellcheck="false"
                    aria-describedby="code-hint";
                p class="hint" id="code-hint" { (sign_in::code_hint(language)) }
            }
        }
    }
}

/// Serves the sign-in form.
pub(super) async fn show(
    State(config): State<Arc<Config>>,
    headers: HeaderMap,
    OpenQuery(query): OpenQuery<LoginQuery>,
) -> Response {
    let (dropped, language) = (DroppedCookie::of(&config, &headers), accepted_language(&headers));
    form(language, StatusCode::OK, dropped.as_ref(), ("", next_page(query.next.as_deref())), None, false)
}

/// Signs the user in and redirects with the session cookie, or serves the form again with its errors.
pub(super) async fn enter(
    State(app): State<SessionHandles>,
    ClientAddress(from): ClientAddress,
    sent: PageForm,
) -> Response {
    let (email, code) = (sent.text("email"), sent.text("code"));
    let next = next_page(Some(sent.text("next")));
    let (dropped, language) = (DroppedCookie::of(&app.config, &sent.call.headers), sent.call.who.language);
    let show = |answer: Result<StaffSignIn, ApiError>| match answer {
        Ok(StaffSignIn { cookie, .. }) => {
            let mut response = see_other(next);
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            response
        }
        Err(error) => {
            let asks_code = [SECOND_FACTOR_REQUIRED, WRONG_CODE].contains(&error.code()) || !code.is_empty();
            let wrong = alert(language, &error);
            let page = form(language, error.status(), dropped.as_ref(), (email, next), Some(&wrong), asks_code);
            with_refusal(error, page)
        }
    };
    let body = sent.body().with("password", sent.raw("password"));
    match auth::sign_in(&app, from, &sent.request_of(body)).await {
        Ok(reply) => reply.map_answer(|answer| Ok(show(answer))).into_response(),
        Err(error) => show(Err(error)),
    }
}

/// Signs the user out and redirects to the sign-in form.
pub(super) async fn leave(State(app): State<SessionHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let cookie = auth::sign_out(&app, &sent.call.who, &sent.call.headers).await?;
    let mut response = see_other(PATH);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_in_the_language_of_the_browser() {
        let german = fields(Language::German, "a@example.org", None, true).0;
        for label in [">Passwort<", ">Code aus Ihrer Authenticator-App oder ein "] {
            assert!(german.contains(label), "{label} in {german}");
        }
        assert!(fields(Language::English, "", None, false).0.contains(">Email address</label>"));
    }

    #[test]
    fn nobody_is_led_elsewhere() {
        assert_eq!(next_page(Some("/to-do?a=1")), "/to-do?a=1");
        for other in ["https://evil.example", "//evil.example", "/orders", "/floor\\..", "floor", ""] {
            assert_eq!(next_page(Some(other)), FLOOR_PATH, "{other}");
        }
        assert_eq!(next_page(None), FLOOR_PATH);
    }
}
