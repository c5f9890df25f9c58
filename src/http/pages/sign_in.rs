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
use super::frame::{PageLanguage, SLOT, shop_page, with_parts};
use super::paths::ORDERS;
use config::Config;
use domain::sign_in_link::INVALID_OR_EXPIRED;
use http::error::ApiError;
use http::limits::layer::ClientAddress;
use http::next_path::own_path;
use http::page::OpenQuery;
use http_api::billing::session::{SignInHandles, SignInLinkQuery, VERIFY_PATH, mail_link};
use words::{Language, pages};

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
fn form(brand: &Brand, status: StatusCode, (email, next): (&str, &str), wrong: Option<&Markup>) -> Response {
    let language = brand.language;
    let content = html! {
        h1 { (pages::sign_in(language)) }
        @if let Some(wrong) = wrong { div id="wrong" { (wrong) } }
        p { (pages::sign_in_text(language)) }
        form method="post" action=(PATH) {
            input type="hidden" name="next" value=(next);
            div class="field" {
                label for="email" { (pages::email_field(language)) }
                input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value=(email)
                    aria-describedby=[wrong.map(|_| "wrong")];
            }
            button type="submit" { (pages::send_link(language)) }
        }
    };
    shop_page(brand, status, &pages::sign_in(language), &content)
}

/// Serves the sign-in form.
pub(super) async fn show(
    State(config): State<Arc<Config>>,
    PageLanguage(language): PageLanguage,
    OpenQuery(query): OpenQuery<SignInQuery>,
) -> Response {
    let next = query.next.as_deref().and_then(|next| own_path(&config.public_url(), next));
    let failed = query.error.as_deref() == Some(INVALID_OR_EXPIRED);
    let wrong = failed.then(|| {
        html! { p class="bad" role="alert" { (pages::link_expired(language)) } }
    });
    form(&Brand::new(&config, language), StatusCode::OK, ("", next.as_deref().unwrap_or(ORDERS)), wrong.as_ref())
}

/// Handles the sign-in form. The response is the same for every address, whether or not it belongs to a customer.
pub(super) async fn ask(
    State(app): State<SignInHandles>,
    ClientAddress(from): ClientAddress,
    PageLanguage(language): PageLanguage,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let (email, next) = (sent.text("email"), sent.text("next"));
    let brand = Brand::new(&app.config, language);
    let next = own_path(&app.config.public_url(), next).unwrap_or_else(|| ORDERS.to_owned());
    match mail_link(&app, &sent.call, from, email, Some(&next)).await {
        Ok(mailed) => {
            let answer = mailed.into_response();
            Ok(if answer.status().is_success() { with_limits(answer, link_sent_page(&brand, email)) } else { answer })
        }
        Err(error) if error.status() == StatusCode::BAD_REQUEST => {
            Ok(form(&brand, StatusCode::BAD_REQUEST, (email, next.as_str()), Some(&alert(language, &error))))
        }
        Err(error) => Err(error),
    }
}

/// Returns the page with the rate-limit headers of the response that it replaces.
fn with_limits(answer: Response, mut page: Response) -> Response {
    *page.extensions_mut() = answer.extensions().clone();
    page
}

fn link_sent_page(brand: &Brand, email: &str) -> Response {
    let (language, title) = (brand.language, pages::check_email(brand.language));
    let again = html! { a href=(PATH) { (pages::ask_again(language)) } };
    let content = html! {
        h1 { (title) }
        p { (with_parts(&pages::link_sent(language, SLOT), &[&html! { strong { (email) } }])) }
        p class="soft" { (with_parts(&pages::nothing_came(language, SLOT), &[&again])) }
    };
    shop_page(brand, StatusCode::OK, &title, &content)
}

/// Serves the page that an emailed link opens. No lookup is performed: the link is only checked when it is redeemed.
pub(super) async fn confirm(
    State(config): State<Arc<Config>>,
    PageLanguage(language): PageLanguage,
    OpenQuery(query): OpenQuery<SignInLinkQuery>,
) -> Response {
    let (brand, title) = (Brand::new(&config, language), pages::sign_in(language));
    let next = query.next.as_deref().and_then(|next| own_path(&config.public_url(), next));
    let Some(token) = query.token else {
        let content = html! {
            h1 { (pages::link_incomplete(language)) }
            p { (pages::link_incomplete_text(language)) }
            a class="button" href=(PATH) { (pages::new_link(language)) }
        };
        return shop_page(&brand, StatusCode::BAD_REQUEST, &title, &content);
    };
    let content = button(language, &token, next.as_deref());
    let mut response = shop_page(&brand, StatusCode::OK, &title, &content);
    // The address of this page is the secret itself.
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn button(language: Language, token: &str, next: Option<&str>) -> Markup {
    html! {
        h1 { (pages::sign_in(language)) }
        p { (pages::confirm_text(language)) }
        form method="get" action=(VERIFY_PATH) {
            input type="hidden" name="token" value=(token);
            @if let Some(next) = next {
                input type="hidden" name="next" value=(next);
            }
            button type="submit" autofocus { (pages::sign_in(language)) }
        }
        p class="soft" { (pages::link_unwanted(language)) }
    }
}
