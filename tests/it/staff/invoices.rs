//! Invoices on the staff's pages: created, issued, paid in parts, refunded and voided there, with the same result in
//! the API.

use serde_json::{Value, json};

use super::{OPERATOR, done, id_on, is_sound, operator, version_on};
use crate::api::id;
use crate::billing::customer;
use crate::billing::invoices::{draft, sent};
use crate::billing::pages::{HOSTILE, ordered, send, token};
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite, until};

const ANN: &str = "ann@example.org";

async fn show(app: &App, invoice: &str) -> Value {
    app.get(&format!("/api/invoices/{invoice}")).await.expect(200)
}

/// Puts the token of the forms before the fields of one.
fn with_token<'a>(own: &'a str, fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all = vec![("form_token", own)];
    all.extend_from_slice(fields);
    all
}

/// Invoice as handled on the staff's pages.
struct InvoiceDesk<'a> {
    app: &'a App,
    sam: &'a Client,
    /// Token of the forms.
    own: String,
    invoice: String,
    /// Path of the invoice's page.
    path: String,
}

impl<'a> InvoiceDesk<'a> {
    /// Drafts an invoice after submitting invalid forms; returns its page as well.
    async fn draft(app: &'a App, sam: &'a Client) -> (Self, Answer) {
        let form = sam.get("/shop/invoices/new").await;
        is_sound(&form);
        let own = token(&form);
        let first = |price: &'static str, rate: &'static str| {
            [
                ("customerName", HOSTILE),
                ("customerEmail", ANN),
                ("description", "Design, one hour"),
                ("quantity", "1"),
                ("unitPriceCents", price),
                ("taxRateBps", rate),
                ("notes", "Thank you."),
            ]
        };
        for (price, rate) in [("much", "19"), ("100", "nineteen")] {
            let wrong = send(sam, "/shop/invoices/new", &with_token(&own, &first(price, rate))).await;
            assert_eq!(wrong.status, 400, "{}", wrong.text);
            is_sound(&wrong);
            let keeps = |input: &str| wrong.text.contains(&format!("value=\"{input}\""));
            assert!(keeps(price) && keeps(rate) && wrong.text.contains("role=\"alert\""), "{}", wrong.text);
        }
        let page = done(sam, "/shop/invoices/new", &with_token(&own, &first("100", "19"))).await;
        assert!(page.text.contains("$119.00") && page.text.contains(">Draft<"), "{}", page.text);
        let invoice = id_on(&page, "/shop/invoices/");
        let draft = show(app, &invoice).await;
        assert_eq!((&draft["status"], &draft["number"]), (&json!("draft"), &Value::Null));
        assert_eq!(draft["totalCents"], 11_900);
        assert_eq!((&draft["customerName"], &draft["lineItems"][0]["taxRateBps"]), (&json!(HOSTILE), &json!(1900)));
        let path = format!("/shop/invoices/{invoice}");
        (Self { app, sam, own, invoice, path }, page)
    }

    /// Returns the path of a form on the invoice's page.
    fn path_of(&self, form: &str) -> String {
        format!("{}/{form}", self.path)
    }

    /// Adds a second line, removes it, and gives a discount.
    async fn edit_draft(&self, page: &Answer) {
        let version = version_on(page);
        let more = [
            ("form_token", self.own.as_str()),
            ("version", version.as_str()),
            ("description", "Parts"),
            ("quantity", "2"),
            ("unitPriceCents", "5"),
            ("taxRateBps", "7.5"),
        ];
        let page = done(self.sam, &self.path_of("line"), &more).await;
        assert!(page.text.contains("7.5%"), "{}", page.text);
        let stale = send(self.sam, &self.path_of("line"), &more).await;
        assert_eq!(stale.status, 412, "{}", stale.text);
        is_sound(&stale);
        let version = version_on(&page);
        let gone = [("form_token", self.own.as_str()), ("version", version.as_str()), ("line", "1")];
        let page = done(self.sam, &self.path_of("remove-line"), &gone).await;
        let version = version_on(&page);
        let head = [
            ("form_token", self.own.as_str()),
            ("version", version.as_str()),
            ("customerName", "Ann Example"),
            ("customerEmail", ANN),
            ("discountCents", "10"),
            ("dueAt", "2030-01-31"),
            ("notes", ""),
        ];
        done(self.sam, &self.path_of("change"), &head).await;
        let changed = show(self.app, &self.invoice).await;
        assert_eq!(
            (&changed["discountCents"], &changed["notes"], &changed["totalCents"]),
            (&json!(1_000), &Value::Null, &json!(10_710))
        );
        assert_eq!(
            (&changed["dueAt"], changed["lineItems"].as_array().unwrap().len()),
            (&json!("2030-01-31T23:59:59.999Z"), 1)
        );
    }

    /// Issues the invoice: it gets its number, and can no longer be changed.
    async fn issue(&self) {
        let page = done(self.sam, &self.path_of("send"), &[("form_token", &self.own)]).await;
        let issued = show(self.app, &self.invoice).await;
        let number = issued["number"].as_str().unwrap();
        assert!(
            page.text.contains(number) && page.text.contains(">Open</span>") && issued["status"] == "open",
            "{}",
            page.text
        );
        let frozen =
            send(self.sam, &self.path_of("change"), &[("form_token", &self.own), ("customerName", "Bob")]).await;
        assert_eq!(frozen.status, 409, "{}", frozen.text);
        is_sound(&frozen);
        assert!(frozen.text.contains("role=\"alert\""), "{}", frozen.text);
        let document = issued["documents"][0]["id"].as_str().unwrap();
        for (kind, media) in [("pdf", "application/pdf"), ("xml", "application/xml")] {
            let link = format!("/api/invoices/{}/documents/{document}/{kind}", self.invoice);
            assert!(page.text.contains(&format!("href=\"{link}\"")), "{}", page.text);
            let paper = self.sam.open(self.sam.request("GET", &link)).await;
            assert_eq!((paper.status().as_u16(), paper.headers()["content-type"].to_str().unwrap()), (200, media));
        }
    }

    /// Creates a pay link for the invoice, and revokes it.
    async fn open_and_revoke_pay_link(&self) {
        let page =
            done(self.sam, &self.path_of("pay-link"), &[("form_token", &self.own), ("expiresAt", "2030-01-01")]).await;
        let link = show(self.app, &self.invoice).await["payUrl"].as_str().unwrap().to_owned();
        assert!(page.text.contains(&format!("value=\"{link}\"")) && page.text.contains("2030-01-01"), "{}", page.text);
        let page = done(self.sam, &self.path_of("revoke-link"), &[("form_token", &self.own)]).await;
        assert!(!page.text.contains(&link) && show(self.app, &self.invoice).await["payUrl"].is_null(), "{}", page.text);
    }

    /// Pays the invoice in two parts; in between, it cannot be voided.
    async fn pay_in_parts(&self) {
        for (amount, status, due) in [("much", "open", 10_710), ("7.10", "partially_paid", 10_000), ("", "paid", 0)] {
            let payment =
                with_token(&self.own, &[("method", "cash"), ("amountCents", amount), ("reference", "drawer")]);
            let answer = send(self.sam, &self.path_of("mark-paid"), &payment).await;
            assert_eq!(answer.status == 400, amount == "much", "{}", answer.text);
            let now = show(self.app, &self.invoice).await;
            assert_eq!((&now["status"], &now["amountDueCents"]), (&json!(status), &json!(due)), "{amount}");
            if status == "partially_paid" {
                let void = send(self.sam, &self.path_of("void"), &[("form_token", &self.own)]).await;
                assert_eq!(void.status, 409, "{}", void.text);
                is_sound(&void);
                assert!(void.text.contains("role=\"alert\"") && void.text.contains("Partly paid"), "{}", void.text);
            }
        }
    }

    /// Refunds part of the first payment; a refund of more than the payment is refused.
    async fn give_back(&self) {
        let page = self.sam.get(&self.path).await;
        is_sound(&page);
        assert!(
            page.text.contains("cash, drawer") && page.text.contains("$7.10") && page.text.contains("$100.00"),
            "{}",
            page.text
        );
        let first = show(self.app, &self.invoice).await["payments"][0]["id"].as_str().unwrap().to_owned();
        let back = [
            ("form_token", self.own.as_str()),
            ("paymentId", first.as_str()),
            ("amountCents", "3.33"),
            ("method", "cheque"),
        ];
        let page = done(self.sam, &self.path_of("refund"), &back).await;
        let now = show(self.app, &self.invoice).await;
        assert_eq!(
            (&now["documents"][1]["kind"], &now["documents"][1]["totalCents"]),
            (&json!("credit_note"), &json!(333))
        );
        assert!(now["payments"].as_array().unwrap().iter().any(|one| one["method"] == "cheque"), "{now}");
        let note = now["documents"][1]["number"].as_str().unwrap();
        assert!(
            page.text.contains(note) && page.text.contains("refunded, ") && page.text.contains("$3.33"),
            "{}",
            page.text
        );
        let too_much = [("form_token", self.own.as_str()), ("paymentId", first.as_str()), ("amountCents", "100")];
        let refused = send(self.sam, &self.path_of("refund"), &too_much).await;
        assert!([400, 409].contains(&refused.status) && refused.text.contains("value=\"100\""), "{}", refused.text);
        is_sound(&refused);
    }
}

on_sqlite! {
    async fn an_invoice_is_made_issued_paid_in_parts_and_given_back_by_page(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let empty = sam.get("/shop/invoices").await;
        is_sound(&empty);
        let acts = empty.text.matches("href=\"/shop/invoices/new\"").count();
        assert!(empty.text.contains("<div class=\"empty\">") && acts == 2, "{}", empty.text);
        assert!(empty.text.contains("No invoices yet"), "{}", empty.text);
        let (desk, page) = InvoiceDesk::draft(&app, &sam).await;
        desk.edit_draft(&page).await;
        desk.issue().await;
        desk.open_and_revoke_pay_link().await;
        desk.pay_in_parts().await;
        desk.give_back().await;
    }

    async fn what_is_open_of_a_cancelled_order_is_neither_paid_nor_asked_for(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let (sam, ann) = (operator(&app).await, customer(&app, ANN).await);
        let order = ordered(&app, ANN).await;
        let part = json!({"method": "cash", "amountCents": 250});
        let paid = app.post(&format!("/api/orders/{order}/mark-paid"), &part).await.expect(200);
        let invoice = id(&app.get(&format!("/api/invoices?orderId={order}")).await.expect(200)["invoices"][0]);
        let path = format!("/shop/invoices/{invoice}");
        let own = token(&sam.get(&path).await);
        let before = done(&sam, &format!("{path}/pay-link"), &[("form_token", &own)]).await;
        let refused = ["Record payment", "Payment link for", "Replace payment link", "$22.50", ">Partly paid<"];
        for words in refused {
            assert!(before.text.contains(words), "{words}: {}", before.text);
        }
        app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        let page = sam.get(&path).await;
        is_sound(&page);
        for words in refused {
            assert!(!page.text.contains(words), "{words}: {}", page.text);
        }
        for words in [">Order cancelled<", "so nothing is due", "Refund a payment", "Revoke payment link"] {
            assert!(page.text.contains(words), "{words}: {}", page.text);
        }
        // What is sent from a page of before is refused in words.
        let late = send(&sam, &format!("{path}/mark-paid"), &[("form_token", &own), ("method", "cash")]).await;
        assert!(late.status == 409 && late.text.contains("role=\"alert\""), "{}", late.text);
        is_sound(&late);
        let matches = app.get(&format!("/api/customers?email={ANN}")).await.expect(200);
        let theirs = format!("/shop/customers/{}", id(&matches["customers"][0]));
        for (reader, list) in [(&sam, "/shop/invoices"), (&sam, &*theirs), (&ann, "/invoices")] {
            let list = reader.get(list).await;
            assert!(list.text.contains(">Order cancelled<") && !list.text.contains("$22.50"), "{}", list.text);
        }
        let revoked = done(&sam, &format!("{path}/revoke-link"), &[("form_token", &own)]).await;
        assert!(!revoked.text.contains("Revoke payment link"), "{}", revoked.text);
        let back = json!({"paymentId": paid["payments"][0]["id"]});
        app.post(&format!("/api/orders/{order}/refund"), &back).await.expect(200);
        until("the invoice to be void", || async {
            let page = sam.get(&path).await;
            (page.text.contains(">Void<") && !page.text.contains("Order cancelled")).then_some(())
        })
        .await;
    }

    async fn invoices_are_voided_and_listed_by_status_and_their_numbers_have_no_gap(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let (open, late, given_up) = (sent(&app, ANN).await, draft(&app, "bob@example.org").await, draft(&app, ANN).await);
        app.patch(&format!("/api/invoices/{late}"), &json!({"dueAt": "2020-01-01T00:00:00.000Z"})).await.expect(200);
        app.act(&format!("/api/invoices/{late}/send")).await.expect(200);
        let own = token(&sam.get("/floor").await);
        let void = done(&sam, &format!("/shop/invoices/{given_up}/void"), &[("form_token", &own)]).await;
        assert!(void.text.contains(">Void<") && void.text.contains("draft was discarded"), "{}", void.text);
        for (query, expected) in [
            ("", [true, true, true]),
            ("?status=overdue", [false, true, false]),
            ("?status=open", [true, false, false]),
            ("?status=void", [false, false, true]),
            ("?email=BOB@example.org", [false, true, false]),
            ("?status=unheard-of&email=", [true, true, true]),
        ] {
            let list = sam.get(&format!("/shop/invoices{query}")).await;
            is_sound(&list);
            let has = [&open, &late, &given_up].map(|id| list.text.contains(&format!("href=\"/shop/invoices/{id}\"")));
            assert_eq!(has, expected, "{query}: {}", list.text);
        }
        assert!(sam.get(&format!("/shop/invoices/{late}")).await.text.contains(">Overdue<"));
        // One that was issued is taken back by a credit note, and its number stays.
        let void = done(&sam, &format!("/shop/invoices/{late}/void"), &[("form_token", &own)]).await;
        let now = show(&app, &late).await;
        assert_eq!((&now["status"], &now["documents"][1]["kind"]), (&json!("void"), &json!("credit_note")));
        assert!(void.text.contains("Credit note") && void.text.contains(now["number"].as_str().unwrap()), "{}", void.text);
        let numbers = sam.get("/shop/invoices/numbering").await;
        is_sound(&numbers);
        assert!(numbers.text.contains("No numbers missing"), "{}", numbers.text);
        let numbering = app.get("/api/invoices/numbering").await.expect(200);
        for series in numbering["series"].as_array().unwrap() {
            assert!(numbers.text.contains(series["series"].as_str().unwrap()), "{}", numbers.text);
        }
    }
}

/// Checks an invoice with text that no font covers; no default font folder is used, because one of them might contain
/// the script.
#[tokio::test]
async fn what_cannot_be_printed_is_said_on_the_page_by_check_and_in_the_log() {
    let app = App::on(Db::sqlite().with_staff(OPERATOR)).env("PRINTFLOOR_PDF__FONT_FOLDERS", "[]").start().await;
    let sam = operator(&app).await;
    for (name, unprintable) in [("王小明", Some("小 明 王")), ("محمد, Γιώργος & דוד", None)] {
        let new = json!({
            "customerName": name,
            "lineItems": [{"description": "Vase", "quantity": 1, "unitPriceCents": 100, "taxRateBps": 1900}],
        });
        let invoice = crate::api::id(&app.post("/api/invoices", &new).await.expect(201));
        app.act(&format!("/api/invoices/{invoice}/send")).await.expect(200);
        app.act(&format!("/api/invoices/{invoice}/pdf")).await.expect(200);
        let page = sam.get(&format!("/shop/invoices/{invoice}")).await;
        is_sound(&page);
        assert_eq!(page.text.contains("no installed font contains them"), unprintable.is_some(), "{}", page.text);
        assert!(unprintable.is_none_or(|characters| page.text.contains(characters)), "{}", page.text);
    }
    let warnings = || app.log().iter().filter(|line| line.contains("characters that no font contains")).count();
    until("the log to say it", || async { (warnings() > 0).then_some(()) }).await;
    assert_eq!(warnings(), 1, "{:?}", app.log());
    let checked = app.command(&["check"], "");
    assert!(checked.contains("no font for Chinese, Japanese, Korean, Bengali"), "{checked}");
}
