//! The accounting system: settled documents are posted once and in order, whatever fails; tokens are rotated; and
//! rejections, or the need to reconnect, are reported in plain language.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use simulator::accounting::AccountingSystem;
use simulator::stock::NetworkCondition;

use super::{degraded, quick};
use crate::api::{id, staff};
use crate::billing::customer;
use crate::support::app::Builder;
use crate::support::{App, Client, Db, on_both, on_sqlite, until};

/// OAuth 2.0 client secret of the shop.
pub const SECRET: &str = "of-the-shop-at-the-provider";

/// Returns the settings of a server connected to this accounting system that checks for documents to post every 0.2 s.
pub fn keeping(books: &AccountingSystem, db: Db) -> Builder {
    let builder = quick(db).env("PRINTFLOOR_ACCOUNTING__INTERVAL_SECONDS", 0.2);
    let builder = builder.env("PRINTFLOOR_ACCOUNTING__PAYMENT_ACCOUNT", "090");
    books.variables().into_iter().fold(builder, |builder, (name, value)| builder.env(name, value))
}

/// Visits the provider's page and grants or denies access; returns the path to which the browser is redirected.
pub async fn begun(books: &AccountingSystem, boss: &Client, allow: bool) -> String {
    let sent = boss.get("/api/v1/integrations/accounting/connect").await;
    assert_eq!(sent.status, 302, "{}", sent.text);
    let page = sent.header("location").expect("a page").to_owned();
    let back = books.decide(&page, allow).expect("the provider shows its page");
    back.splitn(4, '/').nth(3).map(|path| format!("/{path}")).expect("a path")
}

/// Connects the accounting system as an admin.
pub async fn connected(books: &AccountingSystem, boss: &Client) {
    let back = begun(books, boss, true).await;
    boss.get(&back).await.expect(200);
}

/// Starts a server connected to the accounting system; returns the server and the admin's client.
async fn shop(books: &AccountingSystem, db: Db) -> (App, Client) {
    let app = keeping(books, db).start().await;
    staff(&app, "boss@example.org", "admin").await;
    let boss = customer(&app, "boss@example.org").await;
    connected(books, &boss).await;
    (app, boss)
}

async fn sent(app: &App, email: &str) -> String {
    let new = json!({
        "customerName": "Ann Example", "customerEmail": email, "discountCents": 100,
        "lineItems": [{"description": "Design, one hour", "quantity": 3, "unitPriceCents": 3333, "taxRateBps": 1900}],
    });
    let invoice = id(&app.post("/api/invoices", &new).await.expect(201));
    app.act(&format!("/api/invoices/{invoice}/send")).await.expect(200);
    invoice
}

pub async fn paid(app: &App, email: &str) -> String {
    let invoice = sent(app, email).await;
    app.post(&format!("/api/invoices/{invoice}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    invoice
}

/// Lists the numbers of an invoice's documents, in order.
async fn numbers(app: &App, invoice: &str) -> Vec<String> {
    let body = app.get(&format!("/api/invoices/{invoice}")).await.expect(200);
    body["documents"].as_array().unwrap().iter().map(|one| one["number"].as_str().unwrap().to_owned()).collect()
}

fn numbered(papers: &[Value], member: &str) -> Vec<String> {
    papers.iter().map(|one| one[member].as_str().unwrap().to_owned()).collect()
}

async fn all_posted(app: &App, count: u64) {
    until("all to be in the books", || async {
        let posted = app.get("/api/accounting/postings?state=posted").await.expect(200);
        (posted["pagination"]["total"].as_u64() == Some(count)).then_some(())
    })
    .await;
}

on_both! {
    async fn what_is_settled_is_in_the_books_once_and_in_order(db: Db) {
        let books = AccountingSystem::start("shop", SECRET).await.unwrap();
        let (mut app, _) = shop(&books, db).await;
        let open = sent(&app, "ann@example.org").await;
        let mut expected = Vec::new();
        for n in 0..6 {
            // In the middle of it answers are lost, and then the power.
            match n {
                2 => books.weather(NetworkCondition::LosesAnswers),
                4 => {
                    app.kill_9();
                    app.start().await;
                }
                5 => books.weather(NetworkCondition::Fair),
                _ => {}
            }
            let invoice = paid(&app, "ann@example.org").await;
            expected.extend(numbers(&app, &invoice).await);
        }
        all_posted(&app, 6).await;
        assert_eq!(numbered(&books.invoices(), "InvoiceNumber"), expected, "each once, in the order of their issue");
        assert_eq!(books.contacts().len(), 1, "one contact of the address");
        let (first, contact) = (books.invoices()[0].clone(), books.contacts()[0].clone());
        // 99.99 less 1.00, with 19 % rounded once.
        assert_eq!((&first["Total"], &first["Contact"]["ContactID"]), (&json!(117.8), &contact["ContactID"]));
        assert_eq!(contact["EmailAddress"], "ann@example.org");

        assert!(books.invoices().iter().all(|one| one["AmountDue"] == 0.0), "each is paid there, once");

        // A part goes back, and one that nobody paid is taken back as a whole.
        let invoice = paid(&app, "bob@example.org").await;
        app.post(&format!("/api/invoices/{invoice}/refund"), &json!({"amountCents": 1000})).await.expect(200);
        app.act(&format!("/api/invoices/{open}/void")).await.expect(200);
        all_posted(&app, 6 + 2 + 2).await;
        let notes = books.credit_notes();
        let mut totals: Vec<f64> = notes.iter().map(|note| note["Total"].as_f64().unwrap()).collect();
        totals.sort_by(f64::total_cmp);
        assert_eq!(totals, [10.0, 117.8]);
        let number = numbers(&app, &open).await.remove(0);
        let there = books.invoices().into_iter().find(|one| one["InvoiceNumber"] == number);
        let there = there.expect("the invoice comes with its credit note");
        assert_eq!(there["AmountDue"], 117.8, "nobody paid it");
    }
}

on_sqlite! {
    async fn tokens_replace_each_other_and_none_is_used_twice(db: Db) {
        let books = AccountingSystem::start("shop", SECRET).await.unwrap();
        books.tokens_live(Duration::from_secs(2));
        let (mut app, _) = shop(&books, db).await;
        for _ in 0..3 {
            let before = books.renewals();
            until("the next pair", || async { (books.renewals() > before).then_some(()) }).await;
            app.kill_9();
            app.start().await;
        }
        // The last pair may have been on its way when the server ended; it is asked for once more, which counts for
        // nothing.
        let before = books.renewals();
        until("a pair of the server that runs now", || async { (books.renewals() > before).then_some(()) }).await;
        // Answers of the token endpoint are lost for a while: the same token is tried again.
        let before = books.renewals();
        books.weather(NetworkCondition::LosesAnswers);
        until("a pair that never arrives", || async { (books.renewals() > before).then_some(()) }).await;
        books.weather(NetworkCondition::Fair);
        paid(&app, "ann@example.org").await;
        all_posted(&app, 1).await;
        assert_eq!(books.connected(), 1, "the connection never ended");
    }
}

#[tokio::test]
async fn a_connection_that_is_lost_is_said_in_words_and_goes_on_when_it_is_made_anew() {
    let books = AccountingSystem::start("shop", SECRET).await.unwrap();
    books.tokens_live(Duration::from_secs(2));
    books.set_lenient(false);
    let (app, boss) = shop(&books, Db::sqlite()).await;
    let before = books.renewals();
    books.weather(NetworkCondition::LosesAnswers);
    until("a pair that never arrives", || async { (books.renewals() > before).then_some(()) }).await;
    books.weather(NetworkCondition::Fair);
    let words = until("the loss to be said", || async {
        degraded(&app).await.into_iter().find(|words| words.contains("must be reconnected"))
    })
    .await;
    assert!(words.contains("(accounting)"), "{words}");
    let status = app.get("/api/integrations/accounting").await.expect(200);
    assert_eq!(status["connected"], false);
    assert!(status["lost"].as_str().unwrap().contains("must be reconnected"), "{status}");
    until("a mail to the admins", || async {
        let mails = crate::billing::mails_to(&app, "boss@example.org");
        mails.iter().any(|mail| mail.subject.contains("Reconnect the accounting system")).then_some(())
    })
    .await;
    books.tokens_live(Duration::from_secs(1_800));
    paid(&app, "ann@example.org").await;
    until("the way to be open", || async {
        let back = begun(&books, &boss, true).await;
        (boss.get(&back).await.status == 200).then_some(())
    })
    .await;
    all_posted(&app, 1).await;
    until("it to be well again", || async {
        degraded(&app).await.iter().all(|words| !words.contains("must be reconnected")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_is_refused_is_named_holds_nothing_up_and_can_be_tried_again() {
    let books = AccountingSystem::start("shop", SECRET).await.unwrap();
    let (app, _) = shop(&books, Db::sqlite()).await;
    books.refuse(Some("Account code '200' is not a valid code for this document"));
    let first = paid(&app, "ann@example.org").await;
    let refused = until("the refusal", || async {
        let list = app.get("/api/accounting/postings?state=refused").await.expect(200);
        list["postings"].as_array()?.first().cloned()
    })
    .await;
    assert_eq!((&refused["invoiceId"], &refused["kind"]), (&json!(first), &json!("invoice")));
    assert!(refused["error"].as_str().unwrap().contains("Account code '200'"), "{refused}");
    // What it takes back waits for a person too: the books would be wrong with one of both.
    app.post(&format!("/api/invoices/{first}/refund"), &json!({})).await.expect(200);
    books.refuse(None);
    paid(&app, "bob@example.org").await;
    all_posted(&app, 1).await;
    let list = until("both", || async {
        let list = app.get("/api/accounting/postings?state=refused").await.expect(200);
        (list["pagination"]["total"] == 2).then_some(list)
    })
    .await;
    until("both to be noted", || async {
        let note = app.get("/api/integrations").await.expect(200);
        note.to_string().contains("2 documents were rejected").then_some(())
    })
    .await;
    let mut all = list["postings"].as_array().unwrap().clone();
    all.sort_by_key(|one| one["kind"] == "credit_note");
    for (n, one) in all.iter().enumerate() {
        app.act(&format!("/api/accounting/postings/{}/retry", id(one))).await.expect(200);
        all_posted(&app, 2 + n as u64).await;
    }
    let again = app.act(&format!("/api/accounting/postings/{}/retry", id(&all[0]))).await;
    assert_eq!(again.error(409), "already_posted");
    assert_eq!((books.invoices().len(), books.credit_notes().len()), (2, 1));
}

#[tokio::test]
async fn a_dead_provider_slows_nobody_and_one_that_is_busy_is_left_alone() {
    let books = AccountingSystem::start("shop", SECRET).await.unwrap();
    let (app, _) = shop(&books, Db::sqlite()).await;
    books.answer_next(&[(429, Some(1)), (503, None), (500, None)]);
    let began = Instant::now();
    paid(&app, "ann@example.org").await;
    let calm = began.elapsed();
    all_posted(&app, 1).await;

    books.weather(NetworkCondition::Hangs);
    let began = Instant::now();
    for _ in 0..10 {
        paid(&app, "bob@example.org").await;
    }
    let hanging = began.elapsed();
    assert!(hanging < Duration::from_secs(8) + 10 * calm, "{hanging:?}, and one payment before in {calm:?}");
    until("it to be named", || async { degraded(&app).await.into_iter().find(|words| words.contains("(accounting)")) })
        .await;
    books.weather(NetworkCondition::Fair);
    all_posted(&app, 11).await;
    assert_eq!(books.invoices().len(), 11);
    // A person there throws the program out before its token ends.
    books.end_connections();
    paid(&app, "ann@example.org").await;
    until("it to be said", || async {
        degraded(&app).await.into_iter().find(|words| words.contains("must be reconnected"))
    })
    .await;
}
