//! Consent page on which a user allows a program to access the books.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Redirect, Response};

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn refused(words: &str) -> Response {
    (StatusCode::BAD_REQUEST, Html(format!("<!doctype html><title>Refused</title><p>{}</p>", escaped(words))))
        .into_response()
}

/// Renders the consent page, or an error page if the request is invalid.
pub(super) fn consent(request: Result<String, String>) -> Response {
    match request {
        // Without an address of its own the form goes to where the page is.
        Ok(scope) => Html(format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Simulated accounting</title>\
             <body style=\"font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto\">\
             <h1>Simulated accounting</h1><p>The shop wants to use the books of Simulated Shop Ltd: {}.</p>\
             <form method=\"post\"><button name=\"act\" value=\"allow\">Allow</button> \
             <button name=\"act\" value=\"deny\">Deny</button></form></body></html>",
            escaped(&scope)
        ))
        .into_response(),
        Err(words) => refused(&words),
    }
}

/// Redirects the browser back to the program that requested access.
pub(super) fn sent_back(to: Result<String, String>) -> Response {
    match to {
        Ok(to) => Redirect::to(&to).into_response(),
        Err(words) => refused(&words),
    }
}
