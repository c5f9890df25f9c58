//! Error pages, which explain what to do next.

use axum::extract::{FromRef as _, Request};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::brand::Brand;
use super::faults::{error_text, fault_text, words_of};
use super::frame::{in_english, notice, page_in, see_other, shop_page};
use super::paths::{FLOOR, ORDERS};
use super::sentences::sentence;
use super::{models, setup, sign_in, staff};
use config::Config;
use domain::refusal::Fault;
use domain::sign_in_link::INVALID_OR_EXPIRED;
use http::AppState;
use http::access::{AccessHandles, Credentials};
use http::edge::{ResponseRewrite, ResponseRewriter};
use http::error::{ErrorMeta, Notice};
use http::language::accepted_language;
use http::paths::{is_billing, is_customer_page};
use http_api::billing::by_contract;
use words::staff::refusals;
use words::{Language, pages};

/// Rewriter of error responses from guards and page handlers, which become pages. A user who is not signed in is
/// redirected to the sign-in page and, after signing in, back to the requested page. Responses from the billing API
/// follow its contract.
pub struct PageRewriter(pub AppState);

impl ResponseRewriter for PageRewriter {
    fn rewrite_for(&self, request: &Request) -> Option<ResponseRewrite> {
        let path = request.uri().path();
        if is_billing(path) {
            let (config, language) = (self.0.config.clone(), accepted_language(request.headers()));
            return Some(Box::new(move |response| as_notice(&config, language, by_contract(response))));
        }
        let (of_staff, of_setup) = (staff::is_path(path), setup::is_path(path));
        let of_pages = of_staff || of_setup || is_customer_page(path);
        let lost_way = !of_pages && may_have_lost_its_way(request);
        if !of_pages && !lost_way {
            return None;
        }
        let language = accepted_language(request.headers());
        let (method, uri, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
        let page_request = PageRequest { method, uri, headers, language, of_staff, of_setup, lost_way };
        let app = self.0.clone();
        Some(Box::new(move |response| page_request.rewrite(&app, response)))
    }

    fn render_notice(&self, language: Language, response: Response) -> Response {
        as_notice(&self.0.config, language, response)
    }
}

/// Request for a page, as far as an error page depends on it.
struct PageRequest {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    /// Language that the browser prefers.
    language: Language,
    of_staff: bool,
    of_setup: bool,
    /// `true` if a browser has requested a page that may not exist.
    lost_way: bool,
}

impl PageRequest {
    /// Renders an error response as a page; returns other responses as they are.
    fn rewrite(self, app: &AppState, response: Response) -> Response {
        let Self { method, uri, headers, language, of_staff, of_setup, lost_way } = self;
        // A form that says what was wrong with it is a page already.
        if response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html")) {
            return response;
        }
        let Some(meta) = response.extensions().get::<ErrorMeta>().cloned() else { return response };
        let status = response.status();
        if lost_way && status != StatusCode::NOT_FOUND {
            return response;
        }
        let mut answer = if lost_way {
            nowhere(&Brand::new(&app.config, language))
        } else if of_setup {
            setup::refused(preferred_language(app, &headers, language), status, &meta)
        } else if status == StatusCode::UNAUTHORIZED && (!of_staff || method.is_safe()) {
            let target = (method == Method::GET).then(|| uri.path_and_query().map_or("/", |all| all.as_str()));
            see_other(&if of_staff { staff::sign_in_path(target) } else { sign_in_path(target) })
        } else if of_staff {
            refusal(preferred_language(app, &headers, language), status, &meta)
        } else {
            refusal_for_customers(&Brand::new(&app.config, language), status, &meta)
        };
        keep_headers(&mut answer, response.headers());
        answer.extensions_mut().insert(meta);
        answer
    }
}

/// Returns the language of the account that is signed in; `accepted`, which the browser prefers, if there is none.
fn preferred_language(app: &AppState, headers: &HeaderMap, accepted: Language) -> Language {
    Credentials::by(&AccessHandles::from_ref(app), headers).language().unwrap_or(accepted)
}

/// Renders the response as a page if it carries a [`Notice`]. `language` is the one that the browser prefers.
fn as_notice(config: &Config, language: Language, response: Response) -> Response {
    let Some(Notice { title, text }) = response.extensions().get::<Notice>() else { return response };
    let mut page = notice(&Brand::new(config, language), response.status(), title, text);
    keep_headers(&mut page, response.headers());
    page
}

/// Copies headers, such as the rate-limit headers, from the response that the page replaces. Content headers and
/// headers that the page sets itself are not copied.
fn keep_headers(page: &mut Response, headers: &HeaderMap) {
    let own = page.headers().clone();
    for (name, value) in headers {
        if !matches!(*name, header::CONTENT_TYPE | header::CONTENT_LENGTH) && !own.contains_key(name) {
            page.headers_mut().append(name, value.clone());
        }
    }
}

/// Returns whether a browser has requested a page, so that an error page is shown if the page does not exist. Paths
/// used by programs keep the usual error format.
fn may_have_lost_its_way(request: &Request) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let roots = ["/api", "/webhooks", "/slicer", "/docs", "/assets/"];
    let of_programs = roots.iter().any(|root| request.uri().path().starts_with(root));
    request.method() == Method::GET && !of_programs && accepts.is_some_and(|kinds| kinds.contains("text/html"))
}

/// Renders the error page for an unknown path.
fn nowhere(brand: &Brand) -> Response {
    let (language, title) = (brand.language, pages::missing_title(brand.language));
    let content = html! {
        h1 { (title) }
        p { (pages::lost_text(language)) }
        p { a class="button" href=(ORDERS) { (pages::to_orders(language)) } }
        p { a class="button second" href=(FLOOR) { (pages::to_floor(language)) } }
    };
    shop_page(brand, StatusCode::NOT_FOUND, &title, &content)
}

/// Returns the path of the sign-in page, with the requested page as the redirect target. If a failed link added an
/// error code to the query, the error code is passed on.
fn sign_in_path(target: Option<&str>) -> String {
    let Some(target) = target else { return sign_in::PATH.to_owned() };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = || form_urlencoded::parse(query.as_bytes());
    let failed = pairs().any(|(name, value)| name == "error" && value == INVALID_OR_EXPIRED);
    let rest = pairs().filter(|(name, _)| name != "error");
    let rest = form_urlencoded::Serializer::new(String::new()).extend_pairs(rest).finish();
    let back = if rest.is_empty() { path.to_owned() } else { format!("{path}?{rest}") };
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", &back);
    if failed {
        query.append_pair("error", INVALID_OR_EXPIRED);
    }
    format!("{}?{}", sign_in::PATH, query.finish())
}

/// Renders the error page for the staff.
fn refusal(language: Language, status: StatusCode, meta: &ErrorMeta) -> Response {
    let signs_in = status == StatusCode::UNAUTHORIZED;
    let (title, advice) = refusal_texts(status, &meta.code);
    let title = title(language);
    let content = html! {
        h1 { (title) }
        @if !signs_in { (reason(language, meta, staff::act_label)) }
        p { (advice(language)) }
        @if signs_in {
            a class="button" href=(staff::sign_in_path(None)) { (refusals::sign_in(language)) }
        } @else {
            a class="button" href=(FLOOR) { (refusals::open_floor(language)) }
        }
    };
    page_in(language, status, &title, &content)
}

/// Text of an error page in the language of the page.
type PageText = fn(Language) -> String;

/// Returns the title of the error page for the staff, and the advice on it.
fn refusal_texts(status: StatusCode, code: &str) -> (PageText, PageText) {
    match (status.as_u16(), code) {
        // Where a form was sent no other page is led to: the script, and whoever sent it, would take that for done.
        (401, _) => (refusals::signed_out_title, refusals::signed_out_text),
        (410, "link_spent") => (refusals::spent_link_title, refusals::spent_link_text),
        (403, "other_machine") => (refusals::other_machine_title, refusals::other_machine_text),
        (404 | 410, _) => (refusals::missing_title, refusals::missing_text),
        (403, "session_required") => (refusals::programs_title, refusals::programs_text),
        (403, "insufficient_role") => (refusals::admins_title, refusals::admins_text),
        (502 | 504, _) => (refusals::printer_title, refusals::printer_text),
        (403, "own_second_factor" | "own_password") => (refusals::own_password_title, refusals::own_password_text),
        (403, "cross_site") => (refusals::cross_site_title, refusals::cross_site_text),
        (403, "form_outdated") => (refusals::outdated_title, refusals::outdated_text),
        (403, _) => (refusals::foreign_title, refusals::foreign_text),
        (409, _) => (refusals::conflict_title, refusals::conflict_text),
        (413, _) => (refusals::too_large_title, refusals::too_large_text),
        (429, _) => (refusals::too_many_title, refusals::too_many_text),
        (503, _) => (refusals::unavailable_title, refusals::unavailable_text),
        (400..=499, _) => (refusals::invalid_title, refusals::invalid_text),
        _ => (refusals::broken_title, refusals::broken_text),
    }
}

/// Renders the reason for an error. Validation errors name the label of their field, which `label_of` returns if it has
/// one in the language. API messages without a translation, and names that stand in for labels, are marked as English.
fn reason(language: Language, meta: &ErrorMeta, label_of: impl Fn(Language, &str) -> Option<String>) -> Markup {
    let foreign = language.foreign_tag();
    let line = |fault: &Fault| {
        let english_label = || label_of(Language::English, &fault.path).unwrap_or_else(|| words_of(&fault.path));
        match (label_of(language, &fault.path), fault_text(language, &fault.message)) {
            (Some(label), Some(text)) => html! { p { (label) ": " (text) "." } },
            (Some(label), None) => html! { p { (label) ": " (in_english(language, &fault.message)) "." } },
            (None, Some(text)) => html! { p { (in_english(language, &english_label())) ": " (text) "." } },
            (None, None) => html! { p lang=[foreign] { (english_label()) ": " (fault.message) "." } },
        }
    };
    html! {
        @if meta.faults.is_empty() {
            @if let Some(text) = error_text(language, &meta.code, &meta.message) { p { (text) } }
            @else { p lang=[foreign] { (sentence(&meta.message)) } }
        }
        @for fault in &meta.faults { (line(fault)) }
    }
}

/// Renders the error page for customers, in the language that the browser prefers.
fn refusal_for_customers(brand: &Brand, status: StatusCode, meta: &ErrorMeta) -> Response {
    let language = brand.language;
    let (title, advice) = match (status.as_u16(), meta.code.as_str()) {
        (404 | 410, _) => (pages::missing_title(language), pages::missing_text(language)),
        (403, "cross_site") => (pages::cross_site_title(language), pages::cross_site_text(language)),
        (403, "form_outdated") => (pages::outdated_title(language), pages::outdated_text(language)),
        (403, _) => (pages::foreign_title(language), pages::foreign_text(language)),
        (409, _) => (pages::conflict_title(language), pages::conflict_text(language)),
        (413, _) => (pages::too_large_title(language), pages::too_large_text(language)),
        (429, _) => (pages::too_many_title(language), pages::too_many_text(language)),
        (503, _) => (pages::unavailable_title(language), pages::unavailable_text(language)),
        (400..=499, _) => (pages::invalid_title(language), pages::invalid_text(language)),
        _ => (pages::broken_title(language), pages::broken_text(language)),
    };
    let content = html! {
        h1 { (title) }
        (reason(language, meta, models::label_of))
        p { (advice) }
        a class="button" href=(ORDERS) { (pages::to_orders(language)) }
    };
    shop_page(brand, status, &title, &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_signs_in_comes_back_to_what_they_wanted() {
        assert_eq!(sign_in_path(None), "/sign-in");
        assert_eq!(sign_in_path(Some("/orders/1?a=b c")), "/sign-in?next=%2Forders%2F1%3Fa%3Db%2Bc");
        let failed = sign_in_path(Some("/orders?error=invalid_or_expired"));
        assert_eq!(failed, "/sign-in?next=%2Forders&error=invalid_or_expired");
    }

    #[test]
    fn validation_errors_name_labels() {
        let faults = [("goodCount", "must be a whole number"), ("lines.0.quantity", "must be at least 1")];
        let faults =
            faults.map(|(path, message)| Fault { path: path.to_owned(), message: message.to_owned() }).to_vec();
        let meta = ErrorMeta {
            code: String::new(),
            message: "2 fields are invalid".to_owned(),
            faults,
            facts: None,
            by: None,
        };
        let lines = "<p>Good parts: must be a whole number.</p><p>Quantity: must be at least 1.</p>";
        let of_staff = |language, meta: &ErrorMeta| reason(language, meta, staff::act_label).0;
        assert_eq!(of_staff(Language::English, &meta), lines);
        let german = "<p>Gute Teile: muss eine ganze Zahl sein.</p>\
                      <p><span lang=\"en\">Quantity</span>: muss mindestens 1 sein.</p>";
        assert_eq!(of_staff(Language::German, &meta), german, "names of fields without a label are in English");
        let faults = vec![Fault { path: "lines.0.quantity".to_owned(), message: "is odd".to_owned() }];
        let line = "<p lang=\"en\">Quantity: is odd.</p>";
        assert_eq!(of_staff(Language::German, &ErrorMeta { faults, ..meta.clone() }), line);
        let of_customers = |language, meta: &ErrorMeta| reason(language, meta, models::label_of).0;
        let faults =
            vec![Fault { path: "notes".to_owned(), message: "must be at most 1000 characters long".to_owned() }];
        let line = "<p>Notes for us: must be at most 1000 characters long.</p>";
        let meta = ErrorMeta { faults, ..meta };
        assert_eq!(of_customers(Language::English, &meta), line);
        let line = "<p>Anmerkungen für uns: <span lang=\"en\">must be at most 1000 characters long</span>.</p>";
        assert_eq!(of_customers(Language::German, &meta), line);
        let faults = vec![Fault { path: "notes".to_owned(), message: "must be at most 1000 characters".to_owned() }];
        let line = "<p>Anmerkungen für uns: darf höchstens 1.000 Zeichen lang sein.</p>";
        assert_eq!(of_customers(Language::German, &ErrorMeta { faults, ..meta.clone() }), line);
        let unknown = ErrorMeta { code: "file_not_found".to_owned(), faults: Vec::new(), ..meta };
        assert_eq!(of_customers(Language::German, &unknown), "<p>Das gibt es nicht oder nicht mehr.</p>");
    }

    #[test]
    fn error_pages_of_the_staff_have_each_language() {
        let texts = |status, code| {
            let (title, advice) = refusal_texts(status, code);
            [title(Language::English), advice(Language::English), title(Language::German)]
        };
        let missing = ["Page not found", "It may have been removed. Start from the floor.", "Seite nicht gefunden"];
        assert_eq!(texts(StatusCode::NOT_FOUND, "not_found"), missing);
        let admins = ["Admin access required", "Ask an admin for help.", "Nur für Admins"];
        assert_eq!(texts(StatusCode::FORBIDDEN, "insufficient_role"), admins);
    }
}
