//! Customer sign-in pages: a form for requesting a link, and the page that the emailed link opens. The page has a
//! single button, which redeems the link. Programs that follow links in emails do not press buttons, so the link is
//! still valid when the customer opens it.

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::brand::Brand;
use super::faults::alert;
use super::form::PageForm;
use super::frame::shop_page;
use super::orders;
use config::Config;
use domain::sign_in_link::INVALID_OR_EXPIRED;
use http::error::ApiError;
use http::limits::layer::ClientAddress;
use http::next_path::own_path;
use http::page::OpenQuery;
use http_api::billing::session::{SignInHandles, SignInLinkQuery, VERIFY_PATH, mail_link};

/// Path of the customer sign-in page.
pub(super) const PATH: &str = "/sign-in";

/// Query parameters of the sign-in page.
#[derive(Request, Debug)]
pub(super) struct SignInQuery {
    /// Path on this server to redirect to after sign-in. URLs on other origins are ignored.
    next: Option<String>,
    /// Error code for a link that failed.
    error: Option<String>,
}

/// Renders the sign-in form, with an error message if there is one.
fn form(config: &Config, status: StatusCode, (email, next): (&str, &str), wrong: Option<&Markup>) -> Response {
    let content = html! {
        h1 { "Sign in" }
        @if let Some(wrong) = wrong { div id="wrong" { (wrong) } }
        p { "See your orders, invoices and quotes. We send you a link by email; you need no password." }
        form method="post" action=(PATH) {
            input type="hidden" name="next" value=(next);
            div class="field" {
                label for="email" { "Email address" }
                input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value=(email)
                    aria-describedby=[wrong.map(|_| "wrong")];
            }
            button type="submit" { "Send me a link" }
        }
    };
    shop_page(&Brand::new(config), status, "Sign in", &content)
}

/// Serves the sign-in form.
pub(super) async fn show(State(config): State<Arc<Config>>, OpenQuery(query): OpenQuery<SignInQuery>) -> Response {
    let next = query.next.as_deref().and_then(|next| own_path(&config.public_url(), next));
    let failed = query.error.as_deref() == Some(INVALID_OR_EXPIRED);
    let wrong = failed.then(|| {
        html! { p class="bad" role="alert" { "This link was already used or has expired. Request a new one." } }
    });
    form(&config, StatusCode::OK, ("", next.as_deref().unwrap_or(orders::PATH)), wrong.as_ref())
}

/// Handles the sign-in form. The response is the same for every address, whether or not it belongs to a customer.
pub(super) async fn ask(
    State(app): State<SignInHandles>,
    ClientAddress(from): ClientAddress,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let (email, next) = (sent.text("email"), sent.text("next"));
    let next = own_path(&app.config.public_url(), next).unwrap_or_else(|| orders::PATH.to_owned());
    match mail_link(&app, &sent.call, from, email, Some(&next)).await {
        Ok(mailed) => {
            let answer = mailed.into_response();
            Ok(if answer.status().is_success() {
                with_limits(answer, link_sent_page(&app.config, email))
            } else {
                answer
            })
        }
        Err(error) if error.status() == StatusCode::BAD_REQUEST => {
            Ok(form(&app.config, StatusCode::BAD_REQUEST, (email, next.as_str()), Some(&alert(&error))))
        }
        Err(error) => Err(error),
    }
}

/// Returns the page with the rate-limit headers of the response that it replaces.
fn with_limits(answer: Response, mut page: Response) -> Response {
    *page.extensions_mut() = answer.extensions().clone();
    page
}

fn link_sent_page(config: &Config, email: &str) -> Response {
    let content = html! {
        h1 { "Check your email" }
        p { "A link is on its way to " strong { (email) } ". It works once, within ten minutes." }
        p class="soft" {
            "Nothing came? Look in the spam folder, check the address, and "
            a href=(PATH) { "ask again" } "."
        }
    };
    shop_page(&Brand::new(config), StatusCode::OK, "Check your email", &content)
}

/// Serves the page that an emailed link opens. No lookup is performed: the link is only checked when it is redeemed.
pub(super) async fn confirm(
    State(config): State<Arc<Config>>,
    OpenQuery(query): OpenQuery<SignInLinkQuery>,
) -> Response {
    let next = query.next.as_deref().and_then(|next| own_path(&config.public_url(), next));
    let Some(token) = query.token else {
        let content = html! {
            h1 { "This link is not complete" }
            p { "Open the whole link from the email, or ask for a new one." }
            a class="button" href=(PATH) { "Ask for a new link" }
        };
        return shop_page(&Brand::new(&config), StatusCode::BAD_REQUEST, "Sign in", &content);
    };
    let content = button(&token, next.as_deref());
    let mut response = shop_page(&Brand::new(&config), StatusCode::OK, "Sign in", &content);
    // The address of this page is the secret itself.
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn button(token: &str, next: Option<&str>) -> Markup {
    html! {
        h1 { "Sign in" }
        p { "One step is left: press the button to sign in with this browser." }
        form method="get" action=(VERIFY_PATH) {
            input type="hidden" name="token" value=(token);
            @if let Some(next) = next {
                input type="hidden" name="next" value=(next);
            }
            button type="submit" autofocus { "Sign in" }
        }
        p class="soft" { "You did not ask for this link? Close the page, and nothing happens." }
    }
}
