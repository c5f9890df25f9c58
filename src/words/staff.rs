//! Messages for the staff pages. They are organised by area of pages: each area has a module here, whose messages are
//! in `en/staff/` and `de/staff/` in a file of the same name. What several areas show is in [`common`]; a message that
//! two areas happen to share is in both.

pub mod access;
pub mod account;
pub mod alerts;
pub mod audit;
pub mod audit_acts;
pub mod cards;
pub mod common;
pub mod customers;
pub mod emails;
pub mod floor;
pub mod insights;
pub mod integrations;
pub mod invoices;
pub mod jobs;
pub mod labels;
pub mod orders;
pub mod payments;
pub mod printer_form;
pub mod printer_page;
pub mod products;
pub mod quotes;
pub mod refusals;
pub mod refusals_of_api;
pub mod requests;
pub mod scan;
pub mod search;
pub mod settings;
pub mod setup;
pub mod setup_fields;
pub mod shell;
pub mod sign_in;
pub mod spools;
pub mod stock;
pub mod system;
pub mod timing;
pub mod to_do;
pub mod waiting;
pub mod webhooks;

/// Returns the modules of all areas, each with its files and its messages.
#[cfg(test)]
pub(crate) fn modules() -> Vec<crate::tests::Module> {
    vec![
        ("staff/access", &access::FILE, access::DECLARED),
        ("staff/account", &account::FILE, account::DECLARED),
        ("staff/alerts", &alerts::FILE, alerts::DECLARED),
        ("staff/audit", &audit::FILE, audit::DECLARED),
        ("staff/audit_acts", &audit_acts::FILE, audit_acts::DECLARED),
        ("staff/cards", &cards::FILE, cards::DECLARED),
        ("staff/common", &common::FILE, common::DECLARED),
        ("staff/customers", &customers::FILE, customers::DECLARED),
        ("staff/emails", &emails::FILE, emails::DECLARED),
        ("staff/floor", &floor::FILE, floor::DECLARED),
        ("staff/insights", &insights::FILE, insights::DECLARED),
        ("staff/integrations", &integrations::FILE, integrations::DECLARED),
        ("staff/invoices", &invoices::FILE, invoices::DECLARED),
        ("staff/jobs", &jobs::FILE, jobs::DECLARED),
        ("staff/labels", &labels::FILE, labels::DECLARED),
        ("staff/orders", &orders::FILE, orders::DECLARED),
        ("staff/payments", &payments::FILE, payments::DECLARED),
        ("staff/printer_form", &printer_form::FILE, printer_form::DECLARED),
        ("staff/printer_page", &printer_page::FILE, printer_page::DECLARED),
        ("staff/products", &products::FILE, products::DECLARED),
        ("staff/quotes", &quotes::FILE, quotes::DECLARED),
        ("staff/refusals", &refusals::FILE, refusals::DECLARED),
        ("staff/requests", &requests::FILE, requests::DECLARED),
        ("staff/scan", &scan::FILE, scan::DECLARED),
        ("staff/search", &search::FILE, search::DECLARED),
        ("staff/settings", &settings::FILE, settings::DECLARED),
        ("staff/setup", &setup::FILE, setup::DECLARED),
        ("staff/setup_fields", &setup_fields::FILE, setup_fields::DECLARED),
        ("staff/shell", &shell::FILE, shell::DECLARED),
        ("staff/sign_in", &sign_in::FILE, sign_in::DECLARED),
        ("staff/spools", &spools::FILE, spools::DECLARED),
        ("staff/stock", &stock::FILE, stock::DECLARED),
        ("staff/system", &system::FILE, system::DECLARED),
        ("staff/timing", &timing::FILE, timing::DECLARED),
        ("staff/to_do", &to_do::FILE, to_do::DECLARED),
        ("staff/waiting", &waiting::FILE, waiting::DECLARED),
        ("staff/webhooks", &webhooks::FILE, webhooks::DECLARED),
    ]
}
