//! Where a customer is sent from a page of the payment processor: paths of this shop, and nothing else.

use api_derive::Request;
use axum::http::{HeaderMap, header};
use serde_json::json;

use crate::actors::checkouts::ReturnPages;
use crate::config::Config;
use crate::http::wire::{MaxChars, Pattern, like};

/// Most characters of a path.
pub const MAX_PATH_CHARS: usize = 1000;

like!(
    LOCAL_PATH,
    r"^/([^/\\\u0000-\u0020\u007f-\u009f][^\\\u0000-\u0020\u007f-\u009f]*)?$",
    "must be a path of this shop, such as /orders/thanks"
);

/// A path that leads nowhere else, whatever it is joined to.
pub static RETURN_PATH: &Pattern = &LOCAL_PATH;

/// Where the customer is sent from the page of the payment processor.
#[derive(Request, Debug)]
#[api(name = "CheckoutRequest", example = json!({"successPath": "/thanks", "cancelPath": "/"}))]
pub struct CheckoutBody {
    /// A path of the shop, for after paying; `/` when absent. It is joined to the origin of the page that asks, if that
    /// is one of the shop's, else to this server's.
    #[api(RETURN_PATH, MaxChars(MAX_PATH_CHARS))]
    success_path: Option<String>,
    /// A path of the shop, for who gives up; `/` when absent.
    #[api(RETURN_PATH, MaxChars(MAX_PATH_CHARS))]
    cancel_path: Option<String>,
}

impl CheckoutBody {
    /// The pages that whoever sent these headers means.
    pub fn pages(&self, headers: &HeaderMap, config: &Config) -> ReturnPages {
        return_pages(self.success_path.as_deref(), self.cancel_path.as_deref(), headers, config)
    }
}

/// The pages at these paths, `/` where there is none.
pub fn return_pages(success: Option<&str>, cancel: Option<&str>, headers: &HeaderMap, config: &Config) -> ReturnPages {
    let page = |path: Option<&str>| return_page(path, headers, config);
    ReturnPages { success_url: page(success), cancel_url: page(cancel) }
}

/// The page at this path: on the origin of the page that asks, if it is allowed to, else on this server.
pub fn return_page(path: Option<&str>, headers: &HeaderMap, config: &Config) -> String {
    let asking = headers.get(header::ORIGIN).and_then(|value| value.to_str().ok());
    let base = asking.filter(|origin| config.server.cors_origins.iter().any(|allowed| allowed == origin));
    let base = base.map_or_else(|| config.public_url().clone(), str::to_owned);
    format!("{}{}", base.trim_end_matches('/'), path.unwrap_or("/"))
}
