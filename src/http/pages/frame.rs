//! Common frame of all pages: style, script, content security policy, navigation.

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};

use super::brand::Brand;
use super::faults;
use super::times::{TimeForm, mark};
use crate::design::assets::{PageAsset, SITE_SCRIPT, SITE_STYLE};
use config::Config;
use domain::currency;
use domain::time::Timestamp;
use http::access::Caller;
use http::csrf::FormToken;
use http::error::ApiError;

/// Style sheet and script of a page, with a content security policy that allows both to be loaded from this server and
/// forbids everything else.
pub(super) struct PageCode {
    style: &'static PageAsset,
    script: Option<&'static PageAsset>,
    policy: Option<HeaderValue>,
}

impl PageCode {
    /// Builds a page's code from its style sheet and an optional script. Scripts can only send requests to this server.
    /// If `pictures` is set, images and icons can be loaded, but only from this server.
    pub(super) fn new(style: &'static PageAsset, script: Option<&'static PageAsset>, pictures: bool) -> Self {
        let policy = format!(
            "default-src 'none'; style-src 'self'; font-src 'self'; {}{}form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            if script.is_some() { "script-src 'self'; connect-src 'self'; " } else { "" },
            if pictures { "img-src 'self'; " } else { "" },
        );
        Self { style, script, policy: HeaderValue::from_str(&policy).ok() }
    }
}

/// Style sheet and policy of static pages.
static STILL_PAGE: LazyLock<PageCode> = LazyLock::new(|| PageCode::new(&SITE_STYLE, None, true));
/// Style sheet, script and policy of pages with live updates.
static LIVE_PAGE: LazyLock<PageCode> = LazyLock::new(|| PageCode::new(&SITE_STYLE, Some(&*SITE_SCRIPT), true));

/// Navigation section that a page belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Orders,
    Invoices,
    Quotes,
    Profile,
}

/// Pages in the navigation.
const SECTIONS: [(Section, &str, &str); 4] = [
    (Section::Orders, super::orders::PATH, "Orders"),
    (Section::Invoices, super::invoices::PATH, "Invoices"),
    (Section::Quotes, super::quotes::PATH, "Quotes"),
    (Section::Profile, super::account::PATH, "Profile"),
];

/// Customer viewing a page.
pub(super) struct Viewer {
    /// CSRF token of the customer's session.
    pub(super) token: String,
    /// Branding of the shop that the page belongs to.
    pub(super) brand: Brand,
}

impl Viewer {
    /// Creates the viewer from the caller; fails with 401 unless the caller is a signed-in customer.
    pub(super) fn new(who: &Caller, config: &Config) -> Result<Self, ApiError> {
        who.customer()?;
        let session = who.session.ok_or_else(|| ApiError::internal("a customer without a session"))?;
        let token = FormToken::of(&config.auth.session_secret, session).masked();
        Ok(Self { token, brand: Brand::new(config) })
    }

    /// Renders the hidden CSRF token field, which every form contains.
    pub(super) fn hidden(&self) -> Markup {
        html! { input type="hidden" name=(super::form::TOKEN_FIELD) value=(self.token); }
    }

    /// Renders a customer page.
    pub(super) fn page(&self, section: Section, title: &str, content: &Markup) -> Response {
        self.around(StatusCode::OK, section, title, content, &STILL_PAGE)
    }

    /// Renders a customer page with live updates.
    pub(super) fn live_page(&self, section: Section, title: &str, content: &Markup) -> Response {
        self.around(StatusCode::OK, section, title, content, &LIVE_PAGE)
    }

    /// Renders a customer page again, with the errors in its form and status 400.
    pub(super) fn again(&self, section: Section, title: &str, content: &Markup) -> Response {
        self.around(StatusCode::BAD_REQUEST, section, title, content, &STILL_PAGE)
    }

    fn around(&self, status: StatusCode, section: Section, title: &str, content: &Markup, code: &PageCode) -> Response {
        let body = html! {
            (self.brand.style())
            a class="skip" href="#content" { "Skip to the content" }
            header {
                nav aria-label="Pages" {
                    a class="brand" href=(super::orders::PATH) { (self.brand.head()) }
                    @for (of, path, label) in SECTIONS {
                        a href=(path) aria-current=[(of == section).then_some("page")] { (label) }
                    }
                    form method="post" action="/sign-out" {
                        (self.hidden())
                        button class="plain" type="submit" { "Sign out" }
                    }
                }
            }
            main id="content" { (content) }
            (self.brand.foot())
        };
        respond(status, &self.brand.page_title(title), "wide shop", &body, code)
    }
}

/// Renders a page of the shop for visitors who need not be signed in: a single card, with the shop's branding at the
/// top.
pub(super) fn shop_page(brand: &Brand, status: StatusCode, title: &str, content: &Markup) -> Response {
    let body = html! {
        (brand.style())
        main { p class="brand" { (brand.head()) } (content) }
        (brand.foot())
    };
    respond(status, &brand.page_title(title), "small shop", &body, &STILL_PAGE)
}

/// Renders a page without navigation, for any visitor.
pub(super) fn page(status: StatusCode, title: &str, content: &Markup) -> Response {
    respond(status, title, "small", &html! { main { (content) } }, &STILL_PAGE)
}

/// Renders a page with its own header. If `live` is set, a script keeps the page up to date.
pub(super) fn whole_page(status: StatusCode, title: &str, body: &Markup, live: bool) -> Response {
    respond(status, title, "wide", body, if live { &LIVE_PAGE } else { &STILL_PAGE })
}

/// Renders a page with a single message, such as that a link is invalid.
pub(super) fn notice(brand: &Brand, status: StatusCode, title: &str, text: &str) -> Response {
    shop_page(brand, status, title, &html! { h1 { (title) } p { (text) } })
}

/// Renders a page that forwards to the payment processor. A redirect is not possible, because browsers do not follow
/// redirects to other sites after a form has been submitted.
pub(super) fn lead_to_payment(brand: &Brand, url: &str) -> Response {
    let title = "On to the payment";
    refreshed(url, |content| shop_page(brand, StatusCode::OK, title, content), title)
}

/// Renders a page that forwards to the given URL.
pub(super) fn lead_on(url: &str, title: &str) -> Response {
    refreshed(url, |content| page(StatusCode::OK, title, content), title)
}

fn refreshed(url: &str, render: impl FnOnce(&Markup) -> Response, title: &str) -> Response {
    let mut response = render(&html! {
        h1 { (title) }
        p { "The next page opens in a moment. If it does not, press the button." }
        a class="button" href=(url) rel="noreferrer" { "Continue" }
    });
    // What is in the address of a page of the processor stands in the answer in any case.
    if let Ok(refresh) = HeaderValue::from_str(&format!("0; url={url}")) {
        response.headers_mut().insert(header::REFRESH, refresh);
    }
    response
}

/// Redirects the browser to a different page on this server with a 303.
pub(super) fn see_other(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let to = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static(super::orders::PATH));
    response.headers_mut().insert(header::LOCATION, to);
    response
}

/// Builds the response for a page. Pages are neither cached nor indexed by search engines, and their links do not
/// reveal their URL to other sites. Form errors are placed next to their fields.
pub(super) fn respond(status: StatusCode, title: &str, width: &str, body: &Markup, code: &PageCode) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) }
                link rel="stylesheet" href=(code.style.path);
                @if let Some(script) = code.script { script src=(script.path) defer {} }
            }
            body class=(width) { (body) }
        }
    };
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        // With "no-referrer", browsers would hide from this server that a form comes from it.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    let mut response = (status, headers, Body::from(faults::place(page.into_string()))).into_response();
    if let Some(policy) = &code.policy {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    }
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex"));
    response
}

/// Renders a time in the shop's time zone ([`super::times`]): `today 17:40`.
pub(super) fn time(at: Timestamp) -> Markup {
    mark(TimeForm::Moment, at)
}

/// Renders the day of a time in the shop's time zone: `tomorrow`, `Tue 3 Nov`.
pub(super) fn day(at: Timestamp) -> Markup {
    mark(TimeForm::Day, at)
}

/// Renders an amount, in minor units, with its currency.
pub(super) fn money(cents: i64, of: &str) -> Markup {
    html! { (currency::format_amount(cents, of)) }
}
