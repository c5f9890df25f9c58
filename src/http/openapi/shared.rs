//! Components shared by all operations: the error schema, pagination, headers, and security schemes.

use api_schema::page_example;
use serde_json::json;
use utoipa::openapi::header::Header;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};

use super::half::Half;
use super::shape::{list, named, object, optional, required, text, text_like, whole, word, yes_no};
use crate::access::{COOKIE, CUSTOMER_COOKIE, KEY_HEADER};
use crate::operation::NamedSchema;
use crate::setup_desk;

/// Name of the security scheme for API keys.
pub const KEY: &str = "apiKey";
/// Name of the security scheme for API keys sent as a bearer token.
pub const BEARER_KEY: &str = "apiKeyAsBearer";
/// Name of the security scheme for staff sessions.
pub const SESSION: &str = "staffSession";
/// Name of the security scheme for setup sessions.
pub const SETUP: &str = "setupSession";
/// Name of the security scheme for customer sessions.
pub const CUSTOMER: &str = "customerSession";
/// Name of the security scheme for the agent gateway.
pub const TOKEN: &str = "gatewayToken";

/// Returns the security schemes. The API key comes first, because the document lists them by name.
pub fn security_schemes(half: Half) -> Vec<(&'static str, SecurityScheme)> {
    if half == Half::Billing {
        let about = "A customer's session. Opening the emailed link sets the cookie, which is valid for 30 days.";
        let cookie = ApiKeyValue::with_description(CUSTOMER_COOKIE, about);
        return vec![(CUSTOMER, SecurityScheme::ApiKey(ApiKey::Cookie(cookie)))];
    }
    let header =
        ApiKeyValue::with_description("X-API-Key", "API key created by an admin. Takes precedence over a session.");
    let cookie = ApiKeyValue::with_description(COOKIE, "A staff session; `POST /api/auth/login` sets the cookie.");
    let about = "Setup session, which is valid until the setup is complete; `POST /api/setup/session` sets the cookie.";
    let setup = ApiKeyValue::with_description(setup_desk::COOKIE, about);
    debug_assert!("X-API-Key".eq_ignore_ascii_case(KEY_HEADER));
    let mut key = Http::new(HttpAuthScheme::Bearer);
    key.description = Some("The same key as `Authorization: Bearer`; `X-API-Key` takes precedence.".to_owned());
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
        required("path", text().about("Dotted path of the field, such as `lines.0.quantity`.")),
        required("message", text().about("Human-readable description of the error.")),
    ]);
    let error = object([
        required("success", yes_no().about("Always false.")),
        required("message", text().about("Human-readable error message.")),
        required("code", text_like("^[a-z][a-z0-9_]*$").about("Machine-readable error code, stable across versions.")),
        optional(
            "errors",
            list(named("Fault")).about("All errors in the body or query; present only if it is invalid."),
        ),
    ]);
    let pagination = object([
        required("limit", whole(1..=half.max_limit()).about("Maximum number of entries on the page, as requested.")),
        required("offset", whole(0..).about("Number of entries before the first one on the page.")),
        required("total", whole(0..).about("Total number of entries.")),
        required("hasMore", yes_no().about("`true` if there are more entries after this page.")),
    ])
    .about("Position of a page in the list.");
    vec![
        NamedSchema {
            name: half.error_name(),
            shape: error.about("Error response."),
            example: json!({
                "success": false, "message": "lines.0.quantity: must be from 1 to 1000000", "code": "validation_failed",
                "errors": [{"path": "lines.0.quantity", "message": "must be from 1 to 1000000"}],
            }),
        },
        NamedSchema {
            name: "Fault",
            shape: fault.about("Error in a body or query."),
            example: json!({"path": "lines.0.quantity", "message": "must be from 1 to 1000000"}),
        },
        NamedSchema {
            name: "Pagination",
            shape: pagination.about("Position of this page in the list."),
            example: page_example(),
        },
    ]
}

/// Returns the response headers, each with its name in the document.
pub fn headers(half: Half) -> Vec<(&'static str, Header)> {
    let header = |shape: super::shape::Shape, about: &str| {
        let mut header = Header::new(shape);
        header.description = Some(about.to_owned());
        header
    };
    vec![
        ("X-Request-Id", header(text(), "ID of the request: the one that the caller sent, or a generated one.")),
        ("X-RateLimit-Limit", header(whole(0..), "Number of requests allowed in the tightest window.")),
        ("X-RateLimit-Remaining", header(whole(0..), "Number of requests left in that window.")),
        ("Retry-After", header(whole(0..), "Number of seconds to wait before retrying.")),
        ("ETag", header(text_like("^\".+\"$"), "Version of the record, for `If-Match`.")),
        ("Location", header(text(), "URL of the new resource.")),
        ("Idempotency-Replayed", header(word(["true"]), "Present if this is the stored first response for the key.")),
        ("Set-Cookie", header(text(), half.cookie_words())),
        ("Allow", header(text(), "Methods that the path supports.")),
    ]
}
