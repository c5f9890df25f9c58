//! Language that a browser prefers.

use axum::http::{HeaderMap, header};

use words::Language;

/// Returns the language that the browser prefers (`Accept-Language`); English if it prefers none of the catalogue's.
pub fn accepted_language(headers: &HeaderMap) -> Language {
    let preferences = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    preferences.and_then(Language::of_header).unwrap_or_default()
}
