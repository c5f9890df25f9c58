//! Components shared by all operations: the error schema, pagination, headers, and security schemes.

use api_schema::page_example;
use serde_json::json;
use utoipa::openapi::header::Header;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};

use super::half::Half;
use super::operation::NamedSchema;
use super::shape::{list, named, object, optional, required, text, text_like, whole, word, yes_no};
use crate::access::{COOKIE, CUSTOMER_COOKIE, KEY_HEADER};
use crate::setup_desk;

/// Name of the security scheme of API keys.
pub const KEY: &str = "apiKey";
/// Name of the security scheme of API keys sent as a bearer token.
pub const BEARER_KEY: &str = "apiKeyAsBearer";
/// Name of the security scheme of staff sessions.
pub const SESSION: &str = "staffSession";
/// Name of the security scheme of setup sessions.
pub const SETUP: &str = "setupSession";
/// Name of the security scheme of customer sessions.
pub const CUSTOMER: &str = "customerSession";
/// Name of the security scheme of the agent gateway.
pub const TOKEN: &str = "gatewayToken";

/// Returns the security schemes. The document lists them by name: the API key comes first.
pub fn security_schemes(half: Half) -> Vec<(&'static str, SecurityScheme)> {
    if half == Half::Billing {
        let about = "A customer's session; following the mailed link sets the cookie, which lives 30 days.";
        let cookie = ApiKeyValue::with_description(CUSTOMER_COOKIE, about);
        return vec![(CUSTOMER, SecurityScheme::ApiKey(ApiKey::Cookie(cookie)))];
    }
    let header = ApiKeyValue::with_description("X-API-Key", "A key that an admin made. It wins over a session.");
    let cookie = ApiKeyValue::with_description(COOKIE, "A staff session; `POST /api/auth/login` sets the cookie.");
    let about =
        "Whoever showed the one-time code, until the setup is completed; `POST /api/setup/session` sets the cookie.";
    let setup = ApiKeyValue::with_description(setup_desk::COOKIE, about);
    debug_assert!("X-API-Key".eq_ignore_ascii_case(KEY_HEADER));
    let mut key = Http::new(HttpAuthScheme::Bearer);
    key.description = Some("The same key as `Authorization: Bearer`; `X-API-Key` wins.".to_owned());
    let mut bearer = Http::new(HttpAuthScheme::Bearer);
    bearer.description = Some("The server's `AGENT_TOKEN`.".to_owned());
    vec![
        (KEY, SecurityScheme::ApiKey(ApiKey::Header(header))),
        (BEARER_KEY, SecurityScheme::Http(key)),
        (SESSION, SecurityScheme::ApiKey(ApiKey::Cookie(cookie))),
        (SETUP, SecurityScheme::ApiKey(ApiKey::Cookie(setup))),
        (TOKEN, SecurityScheme::Http(bearer)),
    ]
}

/// Returns the schemas that every resource uses.
pub fn shapes(half: Half) -> Vec<NamedSchema> {
    let fault = object([
        required("path", text().about("Dotted path of the member, such as `lines.0.quantity`.")),
        required("message", text().about("What is wrong with it, in plain words.")),
    ]);
    let error = object([
        required("success", yes_no().about("Always false.")),
        required("message", text().about("What is wrong, in plain words for people.")),
        required("code", text_like("^[a-z][a-z0-9_]*$").about("A word for programs that later versions keep.")),
        optional(
            "errors",
            list(named("Fault")).about("All faults of a body or query at once; only when it is not valid."),
        ),
    ]);
    let pagination = object([
        required("limit", whole(1..=half.max_limit()).about("Most entries of the page, as they were asked for.")),
        required("offset", whole(0..).about("Entries of the whole list before the first of the page.")),
        required("total", whole(0..).about("Entries of the whole list.")),
        required("hasMore", yes_no().about("Whether there are entries after these.")),
    ])
    .about("Where a page stands in the whole list.");
    vec![
        NamedSchema {
            name: half.error_name(),
            shape: error.about("The one shape of errors."),
            example: json!({
                "success": false, "message": "lines.0.quantity: must be from 1 to 1000000", "code": "validation_failed",
                "errors": [{"path": "lines.0.quantity", "message": "must be from 1 to 1000000"}],
            }),
        },
        NamedSchema {
            name: "Fault",
            shape: fault.about("One fault of a body or query."),
            example: json!({"path": "lines.0.quantity", "message": "must be from 1 to 1000000"}),
        },
        NamedSchema {
            name: "Pagination",
            shape: pagination.about("Which part of a list this page is."),
            example: page_example(),
        },
    ]
}

/// Returns the response headers with their names in the document.
pub fn headers(half: Half) -> Vec<(&'static str, Header)> {
    let header = |shape: super::shape::Shape, about: &str| {
        let mut header = Header::new(shape);
        header.description = Some(about.to_owned());
        header
    };
    vec![
        ("X-Request-Id", header(text(), "The request's id: the caller's own, or one that was made for it.")),
        ("X-RateLimit-Limit", header(whole(0..), "How many requests the tightest window allows.")),
        ("X-RateLimit-Remaining", header(whole(0..), "How many are left in it.")),
        ("Retry-After", header(whole(0..), "Seconds until it makes sense to come again.")),
        ("ETag", header(text_like("^\".+\"$"), "The version of what is answered, for `If-Match`.")),
        ("Location", header(text(), "Where the new resource is.")),
        ("Idempotency-Replayed", header(word(["true"]), "This is the first answer to this key, given again.")),
        ("Set-Cookie", header(text(), half.cookie_words())),
        ("Allow", header(text(), "The methods that the path takes.")),
    ]
}
