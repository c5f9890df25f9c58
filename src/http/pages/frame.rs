//! Common frame of all pages: style, script, content security policy, navigation.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::{FromRef as _, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::brand::Brand;
use super::faults;
use super::paths::{INVOICES, ORDERS, PROFILE, QUOTES};
use super::times::{TimeForm, mark_in};
use crate::design::assets::{PageAsset, SITE_SCRIPT, SITE_STYLE};
use config::Config;
use domain::customer::Customer;
use domain::notation;
use domain::time::Timestamp;
use http::AppState;
use http::access::{Caller, Credentials};
use http::csrf::FormToken;
use http::error::ApiError;
use http::language::accepted_language;
use kernel::directory::Directory;
use words::{Language, pages};

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

/// Variable of a message whose place markup takes ([`with_parts`]): a character that stands for nothing in any text.
pub(super) const SLOT: &str = "\u{fdd0}";
/// Variable of a message whose place a second part with markup takes.
pub(super) const NEXT_SLOT: &str = "\u{fdd1}";
/// Variable of a message whose place a third part with markup takes.
pub(super) const THIRD_SLOT: &str = "\u{fdd2}";

/// Language of a page for customers: that of the profile if the browser is signed in, also on pages that do not require
/// it, such as the page of a payment link; else the one that the browser prefers, else English.
#[derive(Clone, Copy)]
pub(super) struct PageLanguage(pub(super) Language);

impl FromRequestParts<AppState> for PageLanguage {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, ApiError> {
        let accepted = accepted_language(&parts.headers);
        let credentials = parts.extensions.get::<Credentials>();
        let of_customer = credentials.filter(|credentials| matches!(credentials, Credentials::Customer(_)));
        let Some(id) = of_customer.and_then(Credentials::id) else { return Ok(Self(accepted)) };
        // A page that needs no customer is shown even if the customer's record cannot be read.
        let state = Directory::<Customer>::from_ref(app).read(id).await.ok().flatten();
        let customer = state.as_ref().and_then(|state| state.state.as_ref());
        let locale = customer.and_then(|customer| customer.locale.as_deref());
        Ok(Self(locale.and_then(Language::of_tag).unwrap_or(accepted)))
    }
}

/// Navigation section that a page belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Orders,
    Invoices,
    Quotes,
    Profile,
}

/// Returns the pages in the navigation: section, path and label.
fn sections(language: Language) -> [(Section, &'static str, String); 4] {
    [
        (Section::Orders, ORDERS, pages::orders_tab(language)),
        (Section::Invoices, INVOICES, pages::invoices_tab(language)),
        (Section::Quotes, QUOTES, pages::quotes_tab(language)),
        (Section::Profile, PROFILE, pages::profile_tab(language)),
    ]
}

/// Customer viewing a page.
pub(super) struct Viewer {
    /// CSRF token of the customer's session.
    pub(super) token: String,
    /// Branding of the shop that the page belongs to.
    pub(super) brand: Brand,
}

impl Viewer {
    /// Creates the viewer from the caller; fails with 401 unless the caller is a signed-in customer.
    pub(super) fn new(who: &Caller, config: &Config, PageLanguage(language): PageLanguage) -> Result<Self, ApiError> {
        who.customer()?;
        let session = who.session.ok_or_else(|| ApiError::internal("a customer without a session"))?;
        let token = FormToken::of(&config.auth.session_secret, session).masked();
        Ok(Self { token, brand: Brand::new(config, language) })
    }

    /// Returns the language of the page.
    pub(super) fn language(&self) -> Language {
        self.brand.language
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
        let language = self.language();
        let body = html! {
            (self.brand.style())
            a class="skip" href="#content" { (pages::skip_link(language)) }
            header {
                nav aria-label=(pages::navigation(language)) {
                    a class="brand" href=(ORDERS) { (self.brand.head()) }
                    @for (of, path, label) in sections(language) {
                        a href=(path) aria-current=[(of == section).then_some("page")] { (label) }
                    }
                    form method="post" action="/sign-out" {
                        (self.hidden())
                        button class="plain" type="submit" { (pages::sign_out(language)) }
                    }
                }
            }
            main id="content" { (content) }
            (self.brand.foot())
        };
        respond_in(language, status, &self.brand.page_title(title), "wide shop", &body, code)
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
    respond_in(brand.language, status, &brand.page_title(title), "small shop", &body, &STILL_PAGE)
}

/// Renders a page without navigation, for any visitor.
pub(super) fn page_in(language: Language, status: StatusCode, title: &str, content: &Markup) -> Response {
    respond_in(language, status, title, "small", &html! { main { (content) } }, &STILL_PAGE)
}

/// Renders a page with its own header. If `live` is set, a script keeps the page up to date.
pub(super) fn whole_page(language: Language, status: StatusCode, title: &str, body: &Markup, live: bool) -> Response {
    respond_in(language, status, title, "wide", body, if live { &LIVE_PAGE } else { &STILL_PAGE })
}

/// Renders a page with a single message, such as that a link is invalid.
pub(super) fn notice(brand: &Brand, status: StatusCode, title: &str, text: &str) -> Response {
    shop_page(brand, status, title, &html! { h1 { (title) } p { (text) } })
}

/// Renders a page that forwards to the payment processor. A redirect is not possible, because browsers do not follow
/// redirects to other sites after a form has been submitted.
pub(super) fn lead_to_payment(brand: &Brand, url: &str) -> Response {
    let title = pages::payment_title(brand.language);
    refreshed(brand.language, url, |content| shop_page(brand, StatusCode::OK, &title, content), &title)
}

/// Renders a page that forwards to the given URL.
pub(super) fn lead_on(language: Language, url: &str, title: &str) -> Response {
    refreshed(language, url, |content| page_in(language, StatusCode::OK, title, content), title)
}

fn refreshed(language: Language, url: &str, render: impl FnOnce(&Markup) -> Response, title: &str) -> Response {
    let mut response = render(&html! {
        h1 { (title) }
        p { (pages::redirect_text(language)) }
        a class="button" href=(url) rel="noreferrer" { (pages::continue_button(language)) }
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
    let to = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static(ORDERS));
    response.headers_mut().insert(header::LOCATION, to);
    response
}

/// Builds the response for a page. Pages are neither cached nor indexed by search engines, and their links do not
/// reveal their URL to other sites. Form errors are placed next to their fields.
pub(super) fn respond_in(
    language: Language,
    status: StatusCode,
    title: &str,
    width: &str,
    body: &Markup,
    code: &PageCode,
) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang=(language.tag()) {
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
pub(super) fn time(language: Language, at: Timestamp) -> Markup {
    mark_in(language, TimeForm::Moment, at)
}

/// Renders the day of a time in the shop's time zone: `tomorrow`, `Tue 3 Nov`.
pub(super) fn day_in(language: Language, at: Timestamp) -> Markup {
    mark_in(language, TimeForm::Day, at)
}

/// Renders the date of an invoice or credit note, a day in UTC as on the document.
pub(super) fn document_day(language: Language, at: Timestamp) -> Markup {
    let day = notation::document_date(language, at);
    html! { time datetime=(at.to_string().get(..10).unwrap_or_default()) { (day) } }
}

/// Renders a message with markup in place of its variables, for which [`SLOT`], [`NEXT_SLOT`] and [`THIRD_SLOT`] stand.
/// The content of the parts is not examined: a slot in them stays unchanged.
pub(super) fn with_parts(message: &str, parts: &[&Markup]) -> Markup {
    let slots = [SLOT, NEXT_SLOT, THIRD_SLOT];
    let message = html! { (message) }.into_string();
    let mut text = String::with_capacity(message.len());
    for letter in message.chars() {
        let mut bytes = [0; 4];
        let letter: &str = letter.encode_utf8(&mut bytes);
        let place = slots.iter().position(|slot| *slot == letter);
        text.push_str(place.and_then(|place| parts.get(place)).map_or(letter, |part| &part.0));
    }
    PreEscaped(text)
}

/// Renders a text that is in English only, such as a stored message, and marks it on a page in another language.
pub(super) fn in_english(language: Language, text: &str) -> Markup {
    html! {
        @if language == Language::English { (text) } @else { span lang=(Language::English.tag()) { (text) } }
    }
}

/// Renders the sentence in an empty list, with the customer's email address.
pub(super) fn none_yet(language: Language, email: &str) -> Markup {
    with_parts(&pages::none_yet(language, SLOT), &[&html! { strong { (email) } }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_take_the_places_of_a_message_and_are_not_looked_into() {
        let message = format!("{NEXT_SLOT} & {SLOT}");
        let hostile = html! { b { "<" (NEXT_SLOT) ">" } };
        let text = with_parts(&message, &[&hostile, &html! { i { "2" } }]).0;
        assert_eq!(text, format!("<i>2</i> &amp; <b>&lt;{NEXT_SLOT}&gt;</b>"));
    }
}
