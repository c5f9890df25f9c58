//! Messages of pages for the staff. They are organised by area of pages: each area has a module here, whose messages
//! are in `en/staff/` and `de/staff/` in a file of the same name, so that areas are translated by themselves. What
//! several areas show is in [`common`]; a message that two areas happen to share is in both.
//!
//! An area is shown in German once its pages are complete, and in English as a whole until then: the pages hold the
//! list (`TRANSLATED` in `src/http/pages/staff/area.rs`).

pub mod account;
pub mod audit;
pub mod audit_acts;
pub mod cards;
pub mod common;
pub mod printer_form;
pub mod printer_page;
pub mod refusals;
pub mod setup;
pub mod setup_fields;
pub mod shell;
pub mod sign_in;
pub mod timing;

/// Returns the modules of all areas, each with its files and its messages.
#[cfg(test)]
pub(crate) fn modules() -> Vec<crate::tests::Module> {
    vec![
        ("staff/account", &account::FILE, account::DECLARED),
        ("staff/audit", &audit::FILE, audit::DECLARED),
        ("staff/audit_acts", &audit_acts::FILE, audit_acts::DECLARED),
        ("staff/cards", &cards::FILE, cards::DECLARED),
        ("staff/common", &common::FILE, common::DECLARED),
        ("staff/printer_form", &printer_form::FILE, printer_form::DECLARED),
        ("staff/printer_page", &printer_page::FILE, printer_page::DECLARED),
        ("staff/refusals", &refusals::FILE, refusals::DECLARED),
        ("staff/setup", &setup::FILE, setup::DECLARED),
        ("staff/setup_fields", &setup_fields::FILE, setup_fields::DECLARED),
        ("staff/shell", &shell::FILE, shell::DECLARED),
        ("staff/sign_in", &sign_in::FILE, sign_in::DECLARED),
        ("staff/timing", &timing::FILE, timing::DECLARED),
    ]
}
