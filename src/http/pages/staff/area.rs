//! Pages of the staff that are in English for everybody.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

use http::language::EnglishOnly;
use words::Language;

/// Beginning of the paths of pages that are in English only: a reference for people who work on the pages, with
/// examples in place of texts.
const ENGLISH_ONLY: &str = "/design";

fn is_english_only(path: &str) -> bool {
    path.strip_prefix(ENGLISH_ONLY).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the language of the page at a path for a viewer who prefers the given one.
pub(crate) fn language_at(path: &str, preferred: Language) -> Language {
    if is_english_only(path) { Language::English } else { preferred }
}

/// Marks requests for pages that are in English only, so that the caller's language is English
/// ([`http::access::Caller::language`]).
pub(super) async fn mark_english_only(mut request: Request, next: Next) -> Response {
    if is_english_only(request.uri().path()) {
        request.extensions_mut().insert(EnglishOnly);
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pages_but_the_reference_are_in_the_language_of_the_viewer() {
        let german = |path: &str| language_at(path, Language::German) == Language::German;
        for path in ["/floor", "/login", "/shop/orders/1", "/to-do", "/designs", "/"] {
            assert!(german(path), "{path}");
            assert_eq!(language_at(path, Language::English), Language::English);
        }
        assert!(!german("/design") && !german("/design/icons"));
    }
}
