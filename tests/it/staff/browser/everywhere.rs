//! Rules for every page, with a busy shop and an empty one: no violation of the accessibility rules in light and dark
//! mode, nothing wider than a phone, no script error, no request to another server, and every state in a part of the
//! page that is kept up to date. Pages are found by following links and listed in the stored report, so a page that is
//! no longer linked is noticed.
//!
//! The accessibility check of a page takes a second per variant. Each run checks the variants that its seed selects, in
//! the language that it draws, so that successive runs cover different ones; the long profile checks every variant in
//! each language. All other rules are checked in each run.

mod round;

use std::collections::BTreeSet;

use serde_json::json;

use self::round::{ENGLISH, LookScope, Round, pattern};
use super::shop::{ADMIN, ANN, admin, filled};
use super::stored_report::{part_is, part_was};
use super::{LANGUAGES, drawn_language};
use crate::api::{NOTHING, PASSWORD, some_sku};
use crate::billing::cookie_of;
use crate::support::browser::Browser;
use crate::support::{App, Db};

/// Beginnings of the paths of pages for the staff.
const OF_STAFF: [&str; 5] = ["login", "floor", "to-do", "shop", "design"];
const OF_CUSTOMERS: [&str; 7] = ["sign-in", "orders", "invoices", "quotes", "models", "profile", "pay"];
/// The page of restores.
const RESTORES: &str = "/shop/settings/restore";

/// Returns the language in which a crawl that follows English links also checks the pages; if it is English, there is
/// no other one.
fn other_language(crawl: &str, scope: LookScope) -> &'static str {
    languages(crawl, scope).last().copied().unwrap_or(ENGLISH)
}

/// Returns the languages in which a crawl checks the pages.
fn languages(crawl: &str, scope: LookScope) -> Vec<&'static str> {
    if scope == LookScope::Full { LANGUAGES.to_vec() } else { vec![drawn_language(crawl)] }
}

fn list(pages: &BTreeSet<String>) -> String {
    let lines: Vec<String> = pages.iter().map(|page| format!("- `{page}`")).collect();
    lines.join("\n")
}

#[test]
fn pages_of_one_sort_have_one_pattern() {
    let order = format!("/shop/orders/{NOTHING}");
    for (path, is) in [
        (order.as_str(), "/shop/orders/{id}"),
        ("/shop/orders?status=paid&q=&from=50", "/shop/orders?q&status"),
        ("/floor?", "/floor"),
        ("/pay/abcdefghijklmnopqrstuvwxyzabcdefgh", "/pay/{id}"),
    ] {
        assert_eq!(pattern(path), is);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_the_staff_is_accessible() {
    look_at_pages_of_the_staff(LookScope::Drawn).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_an_empty_shop_is_accessible() {
    look_at_pages_of_an_empty_shop(LookScope::DrawnOfAll).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_review_of_a_restore_is_accessible() {
    look_at_the_review_of_a_restore(LookScope::Drawn).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_customers_is_accessible() {
    look_at_pages_of_customers(LookScope::Drawn).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_the_setup_is_accessible() {
    look_at_pages_of_the_setup(LookScope::Drawn).await;
}

mod long {
    use super::LookScope;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_page_of_the_staff_is_accessible_in_every_look() {
        super::look_at_pages_of_the_staff(LookScope::Full).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_page_of_an_empty_shop_is_accessible_in_every_look() {
        super::look_at_pages_of_an_empty_shop(LookScope::Full).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_review_of_a_restore_is_accessible_in_every_look() {
        super::look_at_the_review_of_a_restore(LookScope::Full).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_page_of_customers_is_accessible_in_every_look() {
        super::look_at_pages_of_customers(LookScope::Full).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_page_of_the_setup_is_accessible_in_every_look() {
        super::look_at_pages_of_the_setup(LookScope::Full).await;
    }
}

async fn look_at_pages_of_the_staff(scope: LookScope) {
    let Some(mut browser) = Browser::start().await else { return };
    let shop = filled().await;
    for language in languages("staff", scope) {
        let visitor = (shop.admin.as_str(), "/floor");
        let mut round = Round::new(&mut browser, &shop.floor.app, visitor, scope, language).await;
        round
            .walk(&["/floor", "/floor?wall=1", "/floor?view=plan", "/to-do", "/login", "/shop/search?q=or"], &OF_STAFF)
            .await;
        round.visit(&format!("/shop/orders/{NOTHING}"), "an order that is not there").await;
        let visits = round.end();
        let sections = ["/floor", "/to-do", "/shop/orders", "/shop/stock", "/shop/insights", "/shop/settings"];
        for section in sections.into_iter().chain([RESTORES, "/design"]) {
            assert!(visits.contains(section), "{section} is not among {visits:?}");
        }
        // The pages to which those of a living shop link change over time.
        part_was("Pages of the staff", &list(&visits));
    }
}

async fn look_at_pages_of_an_empty_shop(scope: LookScope) {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite().with_staff(ADMIN)).await;
    let (of_staff, of_ann) = (admin(&app).await, cookie_of(&app, ANN).await);
    for language in languages("empty", scope) {
        let mut round = Round::new(&mut browser, &app, (of_staff.as_str(), "/floor"), scope, language).await;
        round.walk(&["/floor", "/floor?wall=1", "/to-do", "/shop/search"], &OF_STAFF).await;
        let visits = round.end();
        assert!(visits.contains("/shop/stock") && visits.contains("/shop/orders"), "{visits:?}");
        let mut round = Round::new(&mut browser, &app, (of_ann.as_str(), "/orders"), scope, language).await;
        round.walk(&["/orders"], &OF_CUSTOMERS).await;
        round.end();
    }
}

async fn look_at_the_review_of_a_restore(scope: LookScope) {
    let Some(mut browser) = Browser::start().await else { return };
    let mut app = App::new(Db::sqlite()).await;
    let cookie = admin(&app).await;
    let sku = some_sku(&app).await;
    app.paid_order(&sku, 1).await;
    app.stop().await;
    // What is left of a backup that was unpacked by hand makes this a restored shop.
    let manifest = json!({"product": "Printfloor", "madeAt": "2026-01-02T03:04:05.000Z"});
    std::fs::write(app.data().join("manifest.json"), manifest.to_string()).unwrap();
    app.start().await;
    let mut round = Round::new(&mut browser, &app, (cookie.as_str(), "/to-do"), scope, ENGLISH).await;
    let tab = round.tab.clone();
    let other = other_language("restore", scope);
    round.look_in(other, "/to-do of a restored shop").await;
    round.browser.press(&tab, "Review restore").await;
    assert_eq!(round.browser.path(&tab).await, RESTORES);
    round.browser.sees(&tab, "Needs review").await;
    round.browser.sees(&tab, "Jobs that may already be printed (1)").await;
    round.look_in(other, RESTORES).await;
    // Numbers of orders only go up; then the shop goes on.
    for (next, words) in [("50", "because lower numbers may have been issued"), ("500", "reviewed by")] {
        round.browser.fill(&tab, "Next ORD number (last in the backup: 1)", next).await;
        round.browser.press(&tab, "Finish review and start jobs").await;
        round.browser.sees(&tab, words).await;
        round.look(RESTORES).await;
    }
    round.end();
}

async fn look_at_pages_of_customers(scope: LookScope) {
    let Some(mut browser) = Browser::start().await else { return };
    let shop = filled().await;
    for language in languages("customers", scope) {
        let visitor = (shop.customer.as_str(), "/orders");
        let mut round = Round::new(&mut browser, &shop.floor.app, visitor, scope, language).await;
        let mut begin = vec!["/orders", "/invoices", "/quotes", "/models", "/profile", "/sign-in"];
        begin.extend(shop.mailed.iter().map(String::as_str));
        round.walk(&begin, &OF_CUSTOMERS).await;
        round.visit(&format!("/orders/{NOTHING}"), "an order that is not there").await;
        let visits = round.end();
        for page in ["/orders/{id}", "/invoices/{id}", "/quotes/{id}", "/pay/{id}"] {
            assert!(visits.contains(page), "{page} is not among {visits:?}");
        }
        part_is("Pages of customers", &list(&visits));
    }
}

async fn look_at_pages_of_the_setup(scope: LookScope) {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    let code = super::first_print::code(&app).await;
    let mut round = Round::new(&mut browser, &app, ("none=none", "/"), scope, ENGLISH).await;
    let tab = round.tab.clone();
    let other = other_language("setup", scope);
    round.look_in(other, "/").await;
    round.browser.press(&tab, "The setup").await;
    round.look_in(other, "/setup/enter").await;
    round.browser.fill(&tab, "One-time code", "AAAA").await;
    round.browser.press(&tab, "Open setup").await;
    round.look("/setup/enter?error").await;
    round.browser.fill(&tab, "One-time code", &code).await;
    round.browser.press(&tab, "Open setup").await;
    round.look_in(other, "/setup").await;
    for (label, text) in [("Name", "Sam"), ("Email address", "sam@example.org"), ("Password", PASSWORD)] {
        round.browser.fill(&tab, label, text).await;
    }
    round.browser.press(&tab, "Add admin and continue").await;
    round.look_in(other, "/setup/database").await;
    round.browser.press(&tab, "Test both connections").await;
    round.look("/setup/database").await;
    round.browser.press(&tab, "Next: Printer Discovery").await;
    round.look_in(other, "/setup/printers").await;
    round.browser.press(&tab, "Search for printers").await;
    round.browser.sees(&tab, "Search complete").await;
    round.look("/setup/printers").await;
    round.browser.press(&tab, "Add a printer manually").await;
    round.look_in(other, "/setup/printers/new").await;
    round.browser.fill(&tab, "Name", "Ada").await;
    round.browser.fill(&tab, "URL", "http://127.0.0.1:9").await;
    round.browser.press(&tab, "Test and add").await;
    round.browser.sees(&tab, "Test failed.").await;
    round.look("/setup/printers/new").await;
    round.browser.press(&tab, "Cancel").await;
    for (step, page) in [
        ("Next: Integrations", "/setup/integrations"),
        ("Next: Commerce", "/setup/commerce"),
        ("Next: Review and Launch", "/setup/review"),
        ("Write .env and finish", "/setup/done"),
    ] {
        round.browser.press(&tab, step).await;
        assert_eq!(round.browser.path(&tab).await, page);
        // The last page ends the setup.
        let language = if page == "/setup/done" { ENGLISH } else { other };
        round.look_in(language, page).await;
    }
    round.end();
    let pages =
        ["", "/enter", "/database", "/printers", "/printers/new", "/integrations", "/commerce", "/review", "/done"];
    part_is("Pages of the setup", &list(&pages.iter().map(|page| format!("/setup{page}")).collect()));
}
