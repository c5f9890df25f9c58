//! Paths by audience: the billing API and the customer pages differ from the rest in access, limits and compression.

/// Path prefix of the billing API.
const BILLING_PREFIX: &str = "/api/v1/";

/// First path segments of the customer pages.
const CUSTOMER_ROOTS: [&str; 8] = ["sign-in", "sign-out", "orders", "invoices", "quotes", "models", "profile", "pay"];

/// Returns whether the path belongs to the billing API.
pub fn is_billing(path: &str) -> bool {
    path.starts_with(BILLING_PREFIX)
}

/// Returns whether the path leads to a customer page.
pub fn is_customer_page(path: &str) -> bool {
    let first = path.strip_prefix('/').and_then(|rest| rest.split('/').next());
    first.is_some_and(|first| CUSTOMER_ROOTS.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_apart() {
        for own in ["/api/v1/me", "/api/v1/nothing", "/api/v1/", "/api/v1/webhooks/payments"] {
            assert!(is_billing(own), "{own}");
        }
        for other in ["/api/orders", "/api/v1", "/api/v10/me", "/sign-in/confirm"] {
            assert!(!is_billing(other), "{other}");
        }
    }

    #[test]
    fn pages_are_told_from_all_else() {
        for page in ["/orders", "/orders/1", "/pay/abc", "/sign-in", "/sign-in/confirm"] {
            assert!(is_customer_page(page), "{page}");
        }
        // The setup is no page for customers.
        for other in ["/", "/setup", "/api/v1/orders", "/ordersx", "/docs", "orders", "/documents/1/2"] {
            assert!(!is_customer_page(other), "{other}");
        }
    }
}
