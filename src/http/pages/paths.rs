//! Paths of pages that pages in other modules link to: those in the customers' navigation, and the staff's first page.
//! No page is served here.

use actors::checkouts::ReturnPages;
use config::Config;
use domain::id::Id;

/// Path of the customers' order list.
pub(super) const ORDERS: &str = "/orders";
/// Path of the customers' invoice list.
pub(super) const INVOICES: &str = "/invoices";
/// Path of the customers' quote list.
pub(super) const QUOTES: &str = "/quotes";
/// Path of the form for a model to be priced.
pub(super) const MODELS: &str = "/models";
/// Path of the customers' profile page.
pub(super) const PROFILE: &str = "/profile";
/// Path of the staff's floor page, the first page after sign-in.
pub(super) const FLOOR: &str = "/floor";

/// Returns the URLs to return to after a checkout: the record's own page, whether or not the payment succeeds.
pub(super) fn back_to(config: &Config, path: &str, id: Id) -> ReturnPages {
    let page = format!("{}{path}/{id}", config.public_url().trim_end_matches('/'));
    ReturnPages { success_url: page.clone(), cancel_url: page }
}
