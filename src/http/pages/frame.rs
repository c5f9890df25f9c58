//! Common frame of all pages: style, content security policy, navigation. Each page loads with a single request,
//! because its style and script are inlined.

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::times::{TimeForm, mark};
use config::Config;
use domain::currency;
use domain::time::Timestamp;
use http::access::Caller;
use http::csrf::FormToken;
use http::error::ApiError;

/// Style sheet for all pages. Colours have a contrast of at least 4.5:1 with their background, in light and dark mode.
/// Long words may break anywhere, so that no page is wider than its window. Table cells are an exception, because their
/// minimum width would be a single letter; a table that is too wide scrolls in its own region instead.
const STYLE: &str = "*{box-sizing:border-box}\
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5a6678;--paper:#f4f6f9;--card:#fff;--line:#dde3ea;--edge:#7c8899;--act:#1f5fd0;--on-act:#fff;--bad:#a3151c}\
@media(prefers-color-scheme:dark){:root{--ink:#e8ecf2;--soft:#a0abba;--paper:#12161d;--card:#1b212b;--line:#2c3542;--edge:#7f8b9c;--act:#6d9dff;--on-act:#0c1420;--bad:#ff9d97}}\
body{margin:0;min-height:100vh;background:var(--paper);color:var(--ink);font:17px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;overflow-wrap:anywhere}\
body.small{display:flex;align-items:center;justify-content:center;padding:1.5rem 1rem}\
main{width:100%}.small main{max-width:26rem;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:2.25rem 1.75rem}\
.wide main{max-width:46rem;margin:0 auto;padding:1.25rem 1rem 4rem}\
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .6rem}h2{font-size:1.1rem;line-height:1.3;margin:0 0 .6rem}p{margin:0 0 1.25rem}\
.soft{color:var(--soft);font-size:.9rem}.small .soft{margin:1.25rem 0 0}.bad{color:var(--bad)}\
a{color:var(--act)}.tall{display:inline-block;padding:.2rem 0}a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,textarea:focus-visible{outline:3px solid var(--ink);outline-offset:2px}\
button,.button{display:inline-block;font:inherit;font-weight:600;padding:.8rem 1.25rem;border:0;border-radius:9px;background:var(--act);color:var(--on-act);cursor:pointer;text-decoration:none;text-align:center}\
.small button,.small .button{width:100%}button.plain{background:none;color:var(--act);padding:.5rem;font-weight:400;text-decoration:underline}\
button.second,.button.second{background:var(--card);color:var(--act);border:1px solid var(--edge)}\
label{display:block;font-weight:600;margin:0 0 .3rem}.hint{color:var(--soft);font-size:.9rem;margin:.3rem 0 0}\
th,td{overflow-wrap:normal}\
input,select,textarea{width:100%;font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--edge);border-radius:9px;padding:.65rem .75rem}\
.field{margin:0 0 1.1rem}input[type=checkbox]{width:1.5rem;height:1.5rem;vertical-align:middle;margin:0 .5rem 0 0}.inline{display:inline;font-weight:400}\
.skip{position:absolute;left:-9999px}.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem;z-index:1}\
header{background:var(--card);border-bottom:1px solid var(--line)}nav{max-width:46rem;margin:0 auto;padding:.35rem .5rem;display:flex;flex-wrap:wrap;align-items:center;gap:.15rem}\
nav a{padding:.45rem .6rem;border-radius:7px;text-decoration:none;color:var(--ink)}nav a[aria-current]{background:var(--paper);font-weight:600}nav form{margin-left:auto}\
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.25rem;margin:0 0 1.1rem}\
ul,ol{margin:0;padding:0;list-style:none}.rows>li{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.2rem 1rem;padding:.65rem 0;border-bottom:1px solid var(--line)}\
.rows>li:last-child{border-bottom:0}.rows .full{width:100%}\
dl{display:grid;grid-template-columns:minmax(0,auto) minmax(0,1fr);gap:.35rem 1.25rem;margin:0 0 1rem}dt{color:var(--soft)}dd{margin:0;text-align:right}dl.left dd{text-align:left}\
.sum{font-weight:600;color:var(--ink)}progress{display:block;width:100%;height:.8rem;accent-color:var(--act);margin:.35rem 0}\
.acts{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center;margin:0 0 1rem}.acts form{display:inline}\
.state{border:1px solid var(--edge);border-radius:99px;padding:0 .65rem;font-size:.85rem;line-height:1.6;white-space:nowrap}";

/// Script that replaces the live part of an order page whenever the server sends a new version, and announces the
/// change to screen readers. It starts only if the page names a stream; without scripts, the page stays as loaded. A
/// rejected stream is not requested again; the page then explains what to do.
const SCRIPT: &str = "(()=>{const at=document.getElementById('live');if(!at||!window.EventSource)return;\
const said=document.getElementById('said'),stream=new EventSource(at.dataset.stream);\
stream.addEventListener('part',event=>{const part=JSON.parse(event.data);at.innerHTML=part.html;if(said.textContent!==part.said)said.textContent=part.said});\
stream.addEventListener('error',()=>{if(stream.readyState===EventSource.CLOSED)said.textContent+=' Load the page again to see how things stand.'});\
stream.addEventListener('over',()=>stream.close())})()";

/// Style and script of a page, with the content security policy that allows both by their hashes and forbids everything
/// else.
pub(super) struct PageCode {
    style: String,
    script: Option<&'static str>,
    policy: Option<HeaderValue>,
}

impl PageCode {
    /// Builds the code of a page from the common style, additional style and an optional script. Scripts may only send
    /// requests to this server. If `pictures` is set, images may be loaded, but only from this server.
    pub(super) fn new(added_style: &str, script: Option<&'static str>, pictures: bool) -> Self {
        let style = format!("{STYLE}{added_style}");
        let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
        let runs = script.map(|script| format!("script-src 'sha256-{}'; connect-src 'self'; ", hash(script)));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; {}{}form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            hash(&style),
            runs.unwrap_or_default(),
            if pictures { "img-src 'self'; " } else { "" },
        );
        Self { style, script, policy: HeaderValue::from_str(&policy).ok() }
    }
}

/// Style and policy of static pages.
static STILL_PAGE: LazyLock<PageCode> = LazyLock::new(|| PageCode::new("", None, false));
/// Style, script and policy of customer pages with live updates.
static LIVE_PAGE: LazyLock<PageCode> = LazyLock::new(|| PageCode::new("", Some(SCRIPT), false));

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
    /// Form token of the customer's session.
    pub(super) token: String,
}

impl Viewer {
    /// Creates the viewer from the caller; returns 401 unless a customer is signed in.
    pub(super) fn new(who: &Caller, config: &Config) -> Result<Self, ApiError> {
        who.customer()?;
        let session = who.session.ok_or_else(|| ApiError::internal("a customer without a session"))?;
        Ok(Self { token: FormToken::of(&config.auth.session_secret, session).masked() })
    }

    /// Renders the hidden token field, which every form contains.
    pub(super) fn hidden(&self) -> Markup {
        html! { input type="hidden" name=(super::form::TOKEN_FIELD) value=(self.token); }
    }

    /// Renders a customer page.
    pub(super) fn page(&self, section: Section, title: &str, content: &Markup) -> Response {
        respond(StatusCode::OK, title, "wide", &self.around(section, content), &STILL_PAGE)
    }

    /// Renders a customer page with live updates.
    pub(super) fn live_page(&self, section: Section, title: &str, content: &Markup) -> Response {
        respond(StatusCode::OK, title, "wide", &self.around(section, content), &LIVE_PAGE)
    }

    /// Renders a customer page again, with a form's errors and status 400.
    pub(super) fn again(&self, section: Section, title: &str, content: &Markup) -> Response {
        respond(StatusCode::BAD_REQUEST, title, "wide", &self.around(section, content), &STILL_PAGE)
    }

    fn around(&self, section: Section, content: &Markup) -> Markup {
        html! {
            a class="skip" href="#content" { "Skip to the content" }
            header {
                nav aria-label="Pages" {
                    @for (of, path, words) in SECTIONS {
                        a href=(path) aria-current=[(of == section).then_some("page")] { (words) }
                    }
                    form method="post" action="/sign-out" {
                        (self.hidden())
                        button class="plain" type="submit" { "Sign out" }
                    }
                }
            }
            main id="content" { (content) }
        }
    }
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
pub(super) fn notice(status: StatusCode, title: &str, words: &str) -> Response {
    page(status, title, &html! { h1 { (title) } p { (words) } })
}

/// Renders a page that forwards to another site. A redirect is not possible, because browsers do not follow one to
/// another site in response to a form.
pub(super) fn lead_on(url: &str, words: &str) -> Response {
    let content = html! {
        h1 { (words) }
        p { "You are led on in a moment. If nothing happens, press the button." }
        a class="button" href=(url) rel="noreferrer" { "Go on" }
    };
    let mut response = page(StatusCode::OK, words, &content);
    // What is in the address of a page of the processor stands in the answer in any case.
    if let Ok(refresh) = HeaderValue::from_str(&format!("0; url={url}")) {
        response.headers_mut().insert(header::REFRESH, refresh);
    }
    response
}

/// Redirects the browser to another page of this server with 303.
pub(super) fn see_other(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let to = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static(super::orders::PATH));
    response.headers_mut().insert(header::LOCATION, to);
    response
}

/// Builds the response for a page. It is neither cached nor indexed by search engines, and links on it do not reveal
/// its address to other sites.
pub(super) fn respond(status: StatusCode, title: &str, width: &str, body: &Markup, code: &PageCode) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) }
                style { (PreEscaped(&code.style)) }
            }
            body class=(width) {
                (body)
                @if let Some(script) = code.script { script { (PreEscaped(script)) } }
            }
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
    let mut response = (status, headers, Body::from(page.into_string())).into_response();
    if let Some(policy) = &code.policy {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    }
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex"));
    response
}

/// Renders a time by the shop's clock ([`super::times`]): `today 17:40`.
pub(super) fn time(at: Timestamp) -> Markup {
    mark(TimeForm::Moment, at)
}

/// Renders an amount in minor units with its currency.
pub(super) fn money(cents: i64, of: &str) -> Markup {
    html! { (currency::format_amount(cents, of)) }
}
