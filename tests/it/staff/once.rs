//! Forms that add something: a form resent from the same page, by a double click or the back button, adds nothing
//! again.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::{OPERATOR, done, operator};
use crate::billing::pages::{posted, token};
use crate::machines::{FAST, Floor, JUDGE_LATE};
use crate::support::{App, Client, on_sqlite};

/// Returns the forms on a page that are posted to this path.
fn forms_to<'a>(page: &'a str, path: &str) -> Vec<&'a str> {
    let forms = page.split("<form ").skip(1).filter_map(|form| form.split("</form>").next());
    let action = format!("action=\"{path}\"");
    forms.filter(|form| form.contains(&action)).collect()
}

/// Submits a page's form twice concurrently and then once more, as it is on the page; each submission is accepted.
async fn send_three_times(sam: &Client, page_path: &str, path: &str, fields: &[(&str, &str)]) {
    let page = sam.get(page_path).await;
    let forms = forms_to(&page.text, path);
    assert!(!forms.is_empty(), "no form to {path} in {}", page.text);
    for form in forms {
        assert!(form.contains("name=\"once\" value=\"true\""), "{form}");
    }
    let own = token(&page);
    let fields = [&[("form_token", own.as_str()), ("once", "true")][..], fields].concat();
    let (first, second) = tokio::join!(posted(sam, path, &fields), posted(sam, path, &fields));
    for answer in [first, second, posted(sam, path, &fields).await] {
        assert_eq!(answer.status, 303, "{path}: {}", answer.text);
    }
}

/// Returns the total number of entries that a list of the API reports.
async fn total(app: &App, path: &str) -> Value {
    app.get(path).await.expect(200)["pagination"]["total"].clone()
}

/// Returns the sum of the payments of an order or invoice minus its refunds, in minor units.
async fn balance(app: &App, path: &str) -> i64 {
    let payments = app.get(path).await.expect(200)["payments"].clone();
    payments.as_array().unwrap().iter().map(|payment| payment["amountCents"].as_i64().unwrap()).sum()
}

/// Records a payment and a partial refund, each exactly once.
async fn pays_and_refunds_once(app: &App, sam: &Client, page: &str, api: &str) {
    let paid = [("method", "cash"), ("currency", "usd"), ("amountCents", "1.00")];
    send_three_times(sam, page, &format!("{page}/mark-paid"), &paid).await;
    assert_eq!(balance(app, api).await, 100);
    let payment = app.get(api).await.expect(200)["payments"][0]["id"].as_str().unwrap().to_owned();
    let back = [("paymentId", &*payment), ("currency", "usd"), ("amountCents", "0.25"), ("method", "cash")];
    send_three_times(sam, page, &format!("{page}/refund"), &back).await;
    assert_eq!(balance(app, api).await, 75);
}

on_sqlite! {
    async fn what_is_received_and_written_off_is_booked_once_for_a_page(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let api = format!("/api/inventory/materials/{}", app.material("PLA black", 100.0).await);
        let page = api.replace("/api/inventory/", "/shop/stock/");
        let stock = || async { app.get(&api).await.expect(200)["quantity"].clone() };
        send_three_times(&sam, &page, &format!("{page}/receive"), &[("delta", "5,5"), ("reason", "delivery")]).await;
        assert_eq!(stock().await, json!(105.5));
        send_three_times(&sam, &page, &format!("{page}/write-off"), &[("taken", "0.5"), ("reason", "moth")]).await;
        assert_eq!(stock().await, json!(105));
        let new = [("name", "PETG"), ("type", "filament"), ("quantity", "1000")];
        send_three_times(&sam, "/shop/stock/new", "/shop/stock/new", &new).await;
        assert_eq!(total(&app, "/api/inventory/materials").await, 2);
    }

    async fn an_order_an_invoice_and_a_quote_are_made_once_and_their_money_is_booked_once(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let (material, file) = (app.material("PLA", 1_000.0).await, app.gcode("part", 60, 10.0).await);
        app.sku("PART", &material, &file, 500).await;
        let new = [("lines.0.skuId", "PART"), ("lines.0.quantity", "2")];
        send_three_times(&sam, "/shop/orders/new", "/shop/orders/new", &new).await;
        let orders = app.get("/api/orders").await.expect(200);
        assert_eq!(orders["pagination"]["total"], 1, "{orders}");
        let order = orders["orders"][0]["id"].as_str().unwrap();
        pays_and_refunds_once(&app, &sam, &format!("/shop/orders/{order}"), &format!("/api/orders/{order}")).await;

        let line = [("description", "Design"), ("quantity", "1"), ("unitPriceCents", "10")];
        let invoice = [&[("customerName", "Ann Example")][..], &line].concat();
        send_three_times(&sam, "/shop/invoices/new", "/shop/invoices/new", &invoice).await;
        let invoices = app.get("/api/invoices?status=draft").await.expect(200);
        assert_eq!(invoices["pagination"]["total"], 1, "{invoices}");
        let invoice = invoices["invoices"][0]["id"].as_str().unwrap();
        let page = format!("/shop/invoices/{invoice}");
        let own = token(&sam.get(&page).await);
        done(&sam, &format!("{page}/send"), &[("form_token", &own)]).await;
        pays_and_refunds_once(&app, &sam, &page, &format!("/api/invoices/{invoice}")).await;

        let quote = [&[("madeFrom", "none")][..], &line].concat();
        send_three_times(&sam, "/shop/quotes/new", "/shop/quotes/new", &quote).await;
        assert_eq!(total(&app, "/api/quotes").await, 1);
    }

    async fn a_part_leaves_and_a_note_is_written_once_for_a_page(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let printer = format!("/floor/printers/{}", floor.printers[0]);
        send_three_times(&sam, &printer, &format!("{printer}/note"), &[("done", "new fan")]).await;
        assert_eq!(total(&floor.app, &floor.path(0, "/maintenance-log")).await, 1);
        // The same note is a second one from a page that was opened later.
        send_three_times(&sam, &printer, &format!("{printer}/note"), &[("done", "new fan")]).await;
        assert_eq!(total(&floor.app, &floor.path(0, "/maintenance-log")).await, 2);

        let order = floor.order(3).await;
        floor.app.order_is(&order, "ready").await;
        let page = format!("/shop/orders/{order}");
        let some = [("someParts", "true"), ("part-0", "1"), ("carrier", "pickup")];
        send_three_times(&sam, &page, &format!("{page}/ship"), &some).await;
        let order = floor.app.get(&format!("/api/orders/{order}")).await.expect(200);
        assert_eq!(order["shipments"].as_array().map(Vec::len), Some(1), "{order}");
        assert_eq!(order["status"], "ready", "two parts are still here");
    }

    async fn a_form_that_was_sent_before_with_other_values_is_explained_in_words(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let own = token(&sam.get("/shop/stock/new").await);
        let page = [("form_token", own.as_str()), ("once", "true"), ("type", "resin")];
        let new = |name: &'static str| [&page[..], &[("name", name)]].concat();
        let first = posted(&sam, "/shop/stock/new", &new("Clear")).await;
        assert_eq!(first.status, 303, "{}", first.text);
        let other = posted(&sam, "/shop/stock/new", &new("Grey")).await;
        assert_eq!(other.status, 422, "{}", other.text);
        assert!(other.text.contains("already submitted") && !other.text.contains("Idempotency"), "{}", other.text);
        // What was typed is still there, on a page from which it can be sent.
        assert!(other.text.contains("value=\"Grey\"") && token(&other) != own, "{}", other.text);
        assert_eq!(total(&app, "/api/inventory/materials").await, 1);
    }
}
