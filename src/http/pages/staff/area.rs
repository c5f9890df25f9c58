//! Areas of the staff's pages that are translated. All pages of an area are converted together: until an area is in the
//! list, its pages are in English as a whole, including the frame around them, so that no page is in two languages.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

use http::language::EnglishOnly;
use words::Language;

/// Beginnings of the paths whose pages are complete in every language. `/design` is not to be one of them: it is a
/// reference for people who work on the pages, with examples in place of texts.
const TRANSLATED: [&str; 20] = [
    "/floor/printers",
    "/login",
    "/logout",
    "/shop/customers",
    "/shop/deliveries",
    "/shop/insights",
    "/shop/invoices",
    "/shop/jobs",
    "/shop/labels",
    "/shop/orders",
    "/shop/products",
    "/shop/quotes",
    "/shop/requests",
    "/shop/settings/account",
    "/shop/settings/password",
    "/shop/settings/second-factor",
    "/shop/settings/sessions",
    "/shop/stock",
    "/shop/webhooks",
    "/to-do",
];

/// Paths of single pages that are complete in every language, while those of pages below them are not.
const TRANSLATED_ALONE: [&str; 1] = ["/floor"];

/// Returns whether the page at a path is translated.
fn is_translated(path: &str) -> bool {
    let is_below = |area: &str| path.strip_prefix(area).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    TRANSLATED_ALONE.contains(&path) || TRANSLATED.iter().any(|area| is_below(area))
}

/// Returns the language of the page at a path for a viewer who prefers the given one.
pub(crate) fn language_at(path: &str, preferred: Language) -> Language {
    if is_translated(path) { preferred } else { Language::English }
}

/// Marks requests for pages that are not translated, so that the caller's language is English
/// ([`http::access::Caller::language`]).
pub(super) async fn mark_untranslated(mut request: Request, next: Next) -> Response {
    if !is_translated(request.uri().path()) {
        request.extensions_mut().insert(EnglishOnly);
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_english_until_their_area_is_translated() {
        let german = |path: &str| language_at(path, Language::German) == Language::German;
        for path in
            TRANSLATED.into_iter().chain(["/shop/settings/sessions/7/end", "/shop/settings/second-factor/confirm"])
        {
            assert!(german(path), "{path}");
            assert_eq!(language_at(path, Language::English), Language::English);
        }
        assert!(german("/floor"));
        for path in
            ["/shop/settings", "/shop/settings/sessions-of-others", "/floors", "/shop/settings/users/1", "/", "/design"]
        {
            assert!(!german(path), "{path}");
        }
    }
}
