//! Exports: only the customer's own records, safe for spreadsheets, emailed as a link that works anywhere for seven
//! days.

use serde_json::json;

use super::invoices::sent;
use super::{Mail, customer, mails_to};
use crate::api::{NOTHING, id, some_sku};
use crate::support::client::http;
use crate::support::clock::HOUR;
use crate::support::{App, Client, Clock, Db, on_both, until};

const PATH: &str = "/api/v1/exports/request";

/// Returns the path of the link in an email; `None` if there is no link.
fn link_of(mail: &Mail) -> Option<String> {
    let at = mail.text.find("/api/v1/exports/")?;
    let rest = &mail.text[at..];
    let end = rest.find(|c: char| c.is_whitespace() || c == '"' || c == '<').unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

/// Lists the links of all exports that were emailed to an address.
fn links_to(app: &App, email: &str) -> Vec<String> {
    mails_to(app, email).iter().filter_map(link_of).collect()
}

/// Waits for the next emailed link after the first `before` ones.
async fn mailed(app: &App, email: &str, before: usize) -> String {
    until("the link to be mailed", || async { links_to(app, email).get(before).cloned() }).await
}

/// Requests an export; returns the path of its link.
pub async fn exported(app: &App, ann: &Client, email: &str, body: serde_json::Value) -> String {
    let before = links_to(app, email).len();
    let answer = ann.post(PATH, &body).await.expect(200);
    assert_eq!(answer["success"], true);
    mailed(app, email, before).await
}

async fn table(app: &App, link: &str) -> Vec<String> {
    let answer = app.nobody().get(link).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.header("content-type").unwrap().starts_with("text/csv"));
    assert!(answer.header("content-disposition").unwrap().contains("attachment; filename=\"invoices-"));
    assert!(answer.text.ends_with("\r\n"));
    // The mark of UTF-8, which spreadsheets look for.
    let bytes = http().get(format!("{}{link}", app.base)).send().await.unwrap().bytes().await.unwrap();
    assert!(bytes.starts_with(b"\xef\xbb\xbfnumber,"), "{}", answer.text);
    answer.text.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect()
}

async fn named(app: &App, name: &str, email: &str) -> String {
    let line = json!({"description": "Design", "quantity": 1, "unitPriceCents": 5000});
    let new = json!({"customerName": name, "customerEmail": email, "lineItems": [line]});
    let invoice = id(&app.post("/api/invoices", &new).await.expect(201));
    app.act(&format!("/api/invoices/{invoice}/send")).await.expect(200);
    invoice
}

on_both! {
    async fn an_export_has_the_own_records_and_opens_without_a_session(db: Db) {
        let app = App::new(db).await;
        let ann = customer(&app, "ann@example.org").await;
        let formula = named(&app, "=HYPERLINK(\"http://evil\")", "ann@example.org").await;
        let paid = sent(&app, "ann@example.org").await;
        app.post(&format!("/api/invoices/{paid}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let foreign = sent(&app, "bob@example.org").await;
        let draft = json!({"customerName": "A", "customerEmail": "ann@example.org", "lineItems": [
            {"description": "x", "quantity": 1, "unitPriceCents": 1}]});
        let draft = id(&app.post("/api/invoices", &draft).await.expect(201));
        let offer = json!({"customerEmail": "ann@example.org", "lines": [{"quantity": 2, "skuId": some_sku(&app).await}]});
        let (quote, unsent) = (app.post("/api/quotes", &offer).await, app.post("/api/quotes", &offer).await);
        let (quote, unsent) = (id(&quote.expect(201)), id(&unsent.expect(201)));
        app.act(&format!("/api/quotes/{quote}/send")).await.expect(200);
        let link = exported(&app, &ann, "ann@example.org", json!({"type": "invoices"})).await;
        let rows = table(&app, &link).await;
        assert!(rows[0].starts_with("number,status,"), "{}", rows[0]);
        assert_eq!(rows.len(), 3, "{rows:?}");
        assert!(rows[1].contains(&formula) && rows[2].contains(&paid), "oldest first: {rows:?}");
        assert!(rows[1].contains(",\"'=HYPERLINK(\"\"http://evil\"\")\","), "no formula: {}", rows[1]);
        assert!(rows[2].contains(",paid,") && rows[2].contains(",USD,120.00,"), "{}", rows[2]);
        assert!(rows.iter().all(|row| !row.contains(&foreign) && !row.contains(&draft)));
        for (filter, lines) in [
            (json!({"type": "invoices", "status": "paid"}), 2),
            (json!({"type": "invoices", "to": "2020-01-01T00:00:00Z"}), 1),
            (json!({"type": "quotes"}), 2),
            (json!({"type": "quotes", "status": "accepted"}), 1),
        ] {
            let link = exported(&app, &ann, "ann@example.org", filter.clone()).await;
            let text = app.nobody().get(&link).await.text;
            assert_eq!(text.lines().count(), lines, "{filter}");
            let with_quote = lines == 2 && filter["type"] == "quotes";
            assert!(!text.contains(&unsent) && text.contains(&quote) == with_quote, "{text}");
        }
    }

    async fn an_export_survives_a_kill_and_is_mailed_once(db: Db) {
        let mut app = App::new(db).await;
        let ann = customer(&app, "ann@example.org").await;
        let mut all = Vec::new();
        for _ in 0..12 {
            all.push(sent(&app, "ann@example.org").await);
        }
        for _ in 0..3 {
            ann.post(PATH, &json!({"type": "invoices"})).await.expect(200);
        }
        app.kill_9();
        app.start().await;
        let links = until("three links", || async {
            Some(links_to(&app, "ann@example.org")).filter(|links| links.len() >= 3)
        })
        .await;
        for link in &links {
            let rows = table(&app, link).await;
            assert_eq!(rows.len(), 13);
            assert!(all.iter().zip(&rows[1..]).all(|(invoice, row)| row.ends_with(invoice.as_str())), "each once, in order");
        }
        let list = app.get("/api/exports").await.expect(200);
        assert_eq!(list["pagination"]["total"], 3);
        assert!(list["exports"].as_array().unwrap().iter().all(|one| one["state"] == "ready" && one["rows"] == 12));
        assert_eq!(links.len(), 3, "no mail twice");
    }
}

#[tokio::test]
async fn a_link_lives_seven_days_and_then_its_file_is_gone() {
    let clock = Clock::new();
    let app = App::on(Db::sqlite()).clock(&clock).start().await;
    let ann = customer(&app, "ann@example.org").await;
    sent(&app, "ann@example.org").await;
    let link = exported(&app, &ann, "ann@example.org", json!({"type": "invoices"})).await;
    clock.set(7 * 24 * HOUR - HOUR);
    assert_eq!(app.nobody().get(&link).await.status, 200);
    clock.set(7 * 24 * HOUR + HOUR);
    assert_eq!(app.nobody().get(&link).await.error(404), "export_expired");
    let page = http().get(format!("{}{link}", app.base)).header("accept", "text/html").send().await.unwrap();
    assert_eq!(page.status().as_u16(), 404);
    for name in ["x-request-id", "x-ratelimit-limit", "vary"] {
        assert!(page.headers().contains_key(name), "{name} of every answer of this API: {:?}", page.headers());
    }
    assert!(page.text().await.unwrap().contains("<h1>This link has expired</h1>"));
    for (path, title) in
        [(&*link, "Dieser Link ist abgelaufen"), ("/api/v1/exports/x", "Dieser Link funktioniert nicht")]
    {
        let request = http().get(format!("{}{path}", app.base)).header("accept", "text/html");
        let page = request.header("accept-language", "de").send().await.unwrap();
        assert_eq!(page.status().as_u16(), 404);
        let text = page.text().await.unwrap();
        for part in ["<html lang=\"de\">", &format!("<h1>{title}</h1>"), "Exporte können 7 Tage lang"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    for nothing in [NOTHING.to_owned(), "a".repeat(43), "%00".to_owned()] {
        assert_eq!(app.nobody().get(&format!("/api/v1/exports/{nothing}")).await.error(404), "export_not_found");
    }
    // The wait that was begun by the old clock is over with the next start.
    let mut app = app;
    app.kill_9();
    app.start().await;
    until("the file to be deleted", || async {
        let left = std::fs::read_dir(app.data().join("exports")).ok()?.count();
        (left == 0).then_some(())
    })
    .await;
    until("the export to be expired", || async {
        (app.get("/api/exports").await.expect(200)["exports"][0]["state"] == "expired").then_some(())
    })
    .await;
    assert_eq!(app.nobody().get(&link).await.error(404), "export_expired");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_too_much_is_limited() {
    let clock = Clock::at_full_hour();
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__EXPORTS_PER_HOUR", 2).clock(&clock).start().await;
    let ann = customer(&app, "ann@example.org").await;
    let wrong =
        json!({"type": "invoices", "status": "draft", "from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"});
    let faults = ann.post(PATH, &wrong).await.expect(400);
    let paths: Vec<&str> =
        faults["errors"].as_array().unwrap().iter().map(|fault| fault["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["status", "to"]);
    assert_eq!(ann.post(PATH, &json!({"type": "orders"})).await.status, 400);
    assert_eq!(ann.post(PATH, &json!({"type": "invoices"})).await.error(429), "rate_limited");
    assert_eq!(app.nobody().post(PATH, &json!({"type": "invoices"})).await.status, 401);
}

#[tokio::test]
async fn operators_export_what_all_customers_have() {
    let app = App::new(Db::sqlite()).await;
    let (ann, bob) = (sent(&app, "ann@example.org").await, sent(&app, "bob@example.org").await);
    let export = app.post("/api/exports", &json!({"type": "invoices"})).await.expect(201);
    let one = format!("/api/exports/{}", id(&export));
    let ready = until("the table", || async {
        let view = app.get(&one).await.expect(200);
        (view["state"] == "ready").then_some(view)
    })
    .await;
    assert_eq!((&ready["rows"], &ready["customerEmail"]), (&json!(2), &json!(null)));
    let table = app.get(&format!("{one}/file")).await;
    assert_eq!(ready["bytes"], table.text.len());
    assert!(table.text.contains(&ann) && table.text.contains(&bob));
    let of_bob = json!({"type": "invoices", "customerEmail": "Bob@Example.org"});
    let of_bob = id(&app.post("/api/exports", &of_bob).await.expect(201));
    let table = until("the table", || async {
        let answer = app.get(&format!("/api/exports/{of_bob}/file")).await;
        (answer.status != 409).then_some(answer.text)
    })
    .await;
    assert!(table.contains(&bob) && !table.contains(&ann), "{table}");
    let exports = |mail: &Mail| mail.subject.contains("export");
    assert!(!mails_to(&app, "bob@example.org").iter().any(exports), "nobody is mailed");
    assert_eq!(app.get(&format!("/api/exports/{NOTHING}")).await.error(404), "export_not_found");
}
