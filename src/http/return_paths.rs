//! URLs to which the payment processor's page returns the customer, restricted to paths in this shop.

use api_derive::Request;
use axum::http::{HeaderMap, header};
use serde_json::json;

use crate::wire::{MaxChars, Pattern, like};
use actors::checkouts::ReturnPages;
use config::Config;

/// Maximum length of a path, in characters.
pub const MAX_PATH_CHARS: usize = 1000;

like!(
    LOCAL_PATH,
    r"^/([^/\\\u0000-\u0020\u007f-\u009f][^\\\u0000-\u0020\u007f-\u009f]*)?$",
    "must be a path in this shop, such as /orders/thanks"
);

/// Path that stays on the same site, no matter which origin it is appended to.
pub static RETURN_PATH: &Pattern = &LOCAL_PATH;

/// Paths to return to from the payment processor's page.
#[derive(Request, Debug)]
#[api(name = "CheckoutRequest", example = json!({"successPath": "/thanks", "cancelPath": "/"}))]
pub struct CheckoutBody {
    /// Path in the shop to which the customer returns after payment; defaults to `/`. It is appended to the origin of
    /// the requesting page if that origin belongs to the shop, and to this server's origin otherwise.
    #[api(RETURN_PATH, MaxChars(MAX_PATH_CHARS))]
    success_path: Option<String>,
    /// Path in the shop to which the customer returns after cancelling; defaults to `/`.
    #[api(RETURN_PATH, MaxChars(MAX_PATH_CHARS))]
    cancel_path: Option<String>,
}

impl CheckoutBody {
    /// Returns the pages to return to, for a request with the given headers.
    pub fn pages(&self, headers: &HeaderMap, config: &Config) -> ReturnPages {
        return_pages(self.success_path.as_deref(), self.cancel_path.as_deref(), headers, config)
    }
}

/// Returns the pages to return to, at the given paths; a missing path defaults to `/`.
pub fn return_pages(success: Option<&str>, cancel: Option<&str>, headers: &HeaderMap, config: &Config) -> ReturnPages {
    let page = |path: Option<&str>| return_page(path, headers, config);
    ReturnPages { success_url: page(success), cancel_url: page(cancel) }
}

/// Returns the URL of the given path: on the requesting page's origin if it is allowed, otherwise on this server.
pub fn return_page(path: Option<&str>, headers: &HeaderMap, config: &Config) -> String {
    let asking = headers.get(header::ORIGIN).and_then(|value| value.to_str().ok());
    let base = asking.filter(|origin| config.server.cors_origins.iter().any(|allowed| allowed == origin));
    let base = base.map_or_else(|| config.public_url().clone(), str::to_owned);
    format!("{}{}", base.trim_end_matches('/'), path.unwrap_or("/"))
}
