//! Quotes and custom requests on the staff's pages: drafted, edited, sent and answered there, with the same result in
//! the API.

use serde_json::{Value, json};

use super::{OPERATOR, SAM, done, id_on, is_sound, operator, version_on};
use crate::api::quotes::models::upload;
use crate::api::quotes::{draft, sent, show};
use crate::api::{NOTHING, PASSWORD, sign_in, some_sku, staff};
use crate::billing::customer;
use crate::billing::intake::submit_request;
use crate::billing::pages::{HOSTILE, send, token};
use crate::support::browser::Browser;
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite, until};
use crate::whole::cube;

const ANN: &str = "ann@example.org";

/// Quote being handled on the staff pages.
struct QuoteDesk<'a> {
    app: &'a App,
    sam: &'a Client,
    /// Token of the forms.
    own: String,
    /// Source of the quote's parts, as the form's option names it.
    from: String,
    quote: String,
    /// Path of the quote's page.
    path: String,
}

impl<'a> QuoteDesk<'a> {
    /// Drafts a quote after submitting an invalid form; returns its page as well.
    async fn draft(app: &'a App, sam: &'a Client, sku: &str) -> (Self, Answer) {
        let form = sam.get("/shop/quotes/new").await;
        is_sound(&form);
        let (own, from) = (token(&form), format!("sku:{sku}"));
        let with_price = |price: &'static str| {
            [
                ("form_token", own.as_str()),
                ("customerEmail", ANN),
                ("description", HOSTILE),
                ("quantity", "2"),
                ("unitPriceCents", price),
                ("madeFrom", from.as_str()),
            ]
        };
        // What was typed is still there, and what is wrong stands beside it.
        let wrong = send(sam, "/shop/quotes/new", &with_price("cheap")).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        assert!(wrong.text.contains("role=\"alert\"") && wrong.text.contains("value=\"cheap\""), "{}", wrong.text);
        let page = done(sam, "/shop/quotes/new", &with_price("18.50")).await;
        assert!(page.text.contains("$37.00") && page.text.contains(">Draft<"), "{}", page.text);
        let quote = id_on(&page, "/shop/quotes/");
        let view = show(app, &quote).await;
        assert_eq!((&view["status"], &view["customerEmail"]), (&json!("draft"), &json!(ANN)));
        assert_eq!(view["lines"][0]["skuId"], json!(sku));
        let path = format!("/shop/quotes/{quote}");
        (Self { app, sam, own, from, quote, path }, page)
    }

    /// Returns the path of a form on the quote's page.
    fn path_of(&self, form: &str) -> String {
        format!("{}/{form}", self.path)
    }

    /// Edits line by line; an edit based on an outdated version is refused.
    async fn edit(&self, page: &Answer) {
        let version = version_on(page);
        let thrice = [
            ("form_token", self.own.as_str()),
            ("version", version.as_str()),
            ("line", "0"),
            ("description", HOSTILE),
            ("quantity", "3"),
            ("unitPriceCents", "18.50"),
            ("madeFrom", self.from.as_str()),
        ];
        let page = done(self.sam, &self.path_of("line"), &thrice).await;
        assert!(page.text.contains("$55.50"), "{}", page.text);
        let stale = send(self.sam, &self.path_of("line"), &thrice).await;
        assert_eq!(stale.status, 412, "{}", stale.text);
        is_sound(&stale);
        assert!(stale.text.contains("role=\"alert\""), "{}", stale.text);
        let version = version_on(&page);
        let design = [
            ("form_token", self.own.as_str()),
            ("version", version.as_str()),
            ("description", "Design, one hour"),
            ("quantity", "1"),
            ("unitPriceCents", "60"),
            ("madeFrom", "none"),
        ];
        let page = done(self.sam, &self.path_of("line"), &design).await;
        let lines = show(self.app, &self.quote).await["lines"].clone();
        assert_eq!(
            (&lines[0]["quantity"], &lines[1]["unitPriceCents"], &lines[1]["printed"]),
            (&json!(3), &json!(6000), &json!(false))
        );
        let version = version_on(&page);
        let gone = [("form_token", self.own.as_str()), ("version", version.as_str()), ("line", "1")];
        let page = done(self.sam, &self.path_of("remove-line"), &gone).await;
        assert_eq!(show(self.app, &self.quote).await["lines"].as_array().unwrap().len(), 1);
        let version = version_on(&page);
        let head = [
            ("form_token", self.own.as_str()),
            ("version", version.as_str()),
            ("customerEmail", ANN),
            ("validUntil", "2030-12-31"),
            ("notes", "In black."),
            ("shippingAddress.line1", "1 Main Street"),
            ("shippingAddress.city", "Springfield"),
            ("shippingAddress.postalCode", "62701"),
            ("shippingAddress.country", "us"),
        ];
        done(self.sam, &self.path_of("change"), &head).await;
        let changed = show(self.app, &self.quote).await;
        assert_eq!(changed["validUntil"], "2030-12-31T23:59:59.999Z");
        assert_eq!((&changed["notes"], &changed["shippingAddress"]["country"]), (&json!("In black."), &json!("US")));
    }

    /// Sends the quote, which can no longer be changed afterwards.
    async fn send(&self) {
        let page = done(self.sam, &self.path_of("send"), &[("form_token", &self.own)]).await;
        assert!(page.text.contains(">Sent</span>") && !page.text.contains("/remove-line"), "{}", page.text);
        let frozen = send(self.sam, &self.path_of("change"), &[("form_token", &self.own), ("notes", "In red.")]).await;
        assert_eq!(frozen.status, 409, "{}", frozen.text);
        is_sound(&frozen);
        assert!(frozen.text.contains("role=\"alert\""), "{}", frozen.text);
        assert_eq!(show(self.app, &self.quote).await["notes"], "In black.");
    }

    /// Accepts the quote as its customer, which makes an order.
    async fn accept_as(&self, ann: &Client) {
        let offer = ann.get(&format!("/quotes/{}", self.quote)).await;
        let accepted = send(ann, &format!("/quotes/{}/accept", self.quote), &[("form_token", &token(&offer))]).await;
        assert!([200, 303].contains(&accepted.status), "{}", accepted.text);
        let order = show(self.app, &self.quote).await["orderId"].as_str().unwrap().to_owned();
        let page = until("the order to be made", || async {
            let page = self.sam.get(&self.path).await;
            page.text.contains(&format!("href=\"/shop/orders/{order}\"")).then_some(page)
        })
        .await;
        is_sound(&page);
        assert!(page.text.contains(">Accepted<"), "{}", page.text);
    }
}

on_sqlite! {
    async fn a_quote_is_drafted_edited_and_sent_by_page_and_the_customer_accepts_it(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let (sam, ann) = (operator(&app).await, customer(&app, ANN).await);
        let sku = some_sku(&app).await;
        let empty = sam.get("/shop/quotes").await;
        is_sound(&empty);
        let acts = empty.text.matches("href=\"/shop/quotes/new\"").count();
        assert!(empty.text.contains("<div class=\"empty\">") && acts == 2, "{}", empty.text);
        assert!(empty.text.contains("No quotes yet"), "{}", empty.text);
        let (desk, page) = QuoteDesk::draft(&app, &sam, &sku).await;
        desk.edit(&page).await;
        desk.send().await;
        desk.accept_as(&ann).await;
    }

    async fn quotes_are_withdrawn_deleted_and_listed_by_status(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let sku = some_sku(&app).await;
        let (open, left) = (sent(&app, &sku).await, draft(&app, &sku).await);
        let own = token(&sam.get("/floor").await);
        let withdrawn = done(&sam, &format!("/shop/quotes/{open}/withdraw"), &[("form_token", &own), ("reason", "no time")]).await;
        assert!(withdrawn.text.contains(">Declined<") && withdrawn.text.contains("no time"), "{}", withdrawn.text);
        assert_eq!(show(&app, &open).await["declinedReason"], "no time");
        for (query, shows_open, shows_left) in [
            ("", true, true),
            ("?status=draft", false, true),
            ("?status=declined&email=Ann@example.org", true, false),
            ("?email=nobody@example.org", false, false),
            ("?status=unheard-of", true, true),
        ] {
            let list = sam.get(&format!("/shop/quotes{query}")).await;
            is_sound(&list);
            let has = |id: &str| list.text.contains(&format!("href=\"/shop/quotes/{id}\""));
            assert_eq!((has(&open), has(&left)), (shows_open, shows_left), "{query}: {}", list.text);
        }
        let gone = done(&sam, &format!("/shop/quotes/{left}/delete"), &[("form_token", &own)]).await;
        assert!(gone.text.contains("<h1>Quotes</h1>"), "{}", gone.text);
        assert_eq!(app.get(&format!("/api/quotes/{left}")).await.error(404), "quote_not_found");
        assert_eq!(sam.get(&format!("/shop/quotes/{left}")).await.status, 404);
        let unknown = send(&sam, &format!("/shop/quotes/{open}/explode"), &[("form_token", &own)]).await;
        assert_eq!(unknown.status, 404, "{}", unknown.text);
    }

    async fn a_model_makes_a_draft_with_its_costs_class_by_class(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let material = app.material("PETG", 1000.0).await;
        let form = sam.get("/shop/quotes/new").await;
        is_sound(&form);
        assert!(form.text.contains("/shop/quotes/models?token="), "{}", form.text);
        let own = token(&form);
        for forged in ["", "?token=x"] {
            let refused = upload(&sam, &format!("/shop/quotes/models{forged}"), "cube.stl", cube().into_bytes(), &[]).await;
            assert_eq!(refused.status, 403, "{}", refused.text);
            is_sound(&refused);
        }
        let to = format!("/shop/quotes/models?token={own}");
        let wrong = upload(&sam, &to, "cube.stl", b"not a model".to_vec(), &[("quantity", "1")]).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        assert!(wrong.text.contains("role=\"alert\""), "{}", wrong.text);
        let fields = [("quantity", "1"), ("materialId", material.as_str())];
        let answer = upload(&sam, &to, "Cube 10.stl", cube().into_bytes(), &fields).await;
        assert!([200, 303].contains(&answer.status), "{}", answer.text);
        let quote = app.get("/api/quotes").await.expect(200)["quotes"][0].clone();
        let (id, line) = (quote["id"].as_str().unwrap(), &quote["lines"][0]);
        assert_eq!((&line["description"], &line["model"]["materialId"]), (&json!("Cube 10"), &json!(material)));
        let page = sam.get(&format!("/shop/quotes/{id}")).await;
        is_sound(&page);
        let dollars = |cents: &Value| {
            let cents = cents.as_i64().unwrap();
            format!("${}.{:02}", cents / 100, cents % 100)
        };
        let costs = &line["model"]["costs"];
        for class in ["materialCents", "energyCents", "wearCents", "labourCents", "failureCents", "totalCents"] {
            assert!(page.text.contains(&dollars(&costs[class])), "{class} in {}", page.text);
        }
        let margin = json!(line["amountCents"].as_i64().unwrap() - costs["totalCents"].as_i64().unwrap());
        assert!(page.text.contains(&dollars(&margin)) && page.text.contains("10 × 10 × 10 mm"), "{}", page.text);

        // At a price of one's own, the model stays what it is.
        let (from, version) = (format!("model:{}", line["model"]["fileId"].as_str().unwrap()), version_on(&page));
        let item = [
            ("form_token", own.as_str()), ("version", version.as_str()), ("line", "0"), ("description", "Cube"),
            ("quantity", "3"), ("unitPriceCents", "7"), ("madeFrom", from.as_str()), ("materialId", material.as_str()), ("machineType", "fdm_large"),
        ];
        done(&sam, &format!("/shop/quotes/{id}/line"), &item).await;
        let line = show(&app, id).await["lines"][0].clone();
        assert_eq!((&line["unitPriceCents"], &line["model"]["pricedByHand"]), (&json!(700), &json!(true)));
        assert_eq!((&line["model"]["machineType"], &line["model"]["volumeMm3"]), (&json!("fdm_large"), &json!(1000)));
    }

    async fn the_photos_of_a_request_are_shown_to_the_staff_alone_and_it_is_answered_with_a_quote(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        assert!(sam.get("/shop/requests").await.text.contains("No custom requests yet"));
        let request = submit_request(&app).await;
        let path = format!("/shop/requests/{request}");
        for list in ["/shop/requests", "/shop/requests?status=new&q=ann"] {
            let list = sam.get(list).await;
            is_sound(&list);
            assert!(list.text.contains(&format!("href=\"{path}\"")) && list.text.contains(">New</span>"), "{}", list.text);
        }
        assert!(sam.get("/shop/quotes").await.text.contains("(1 new)"));
        let page = sam.get(&path).await;
        is_sound(&page);
        let photo = format!("/api/custom-requests/{request}/photos/1");
        for words in [format!("src=\"{photo}\"").as_str(), "Ann Example", "figurine", "cartoon", "wood", "Total"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        let picture = sam.open(sam.request("GET", &photo)).await;
        let header = |name: &str| picture.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!((picture.status().as_u16(), header("content-type").as_deref()), (200, Some("image/jpeg")));
        assert_eq!(header("x-content-type-options").as_deref(), Some("nosniff"));
        let ann = customer(&app, ANN).await;
        for stranger in [&ann, &app.nobody()] {
            assert_eq!(stranger.open(stranger.request("GET", &photo)).await.status().as_u16(), 401);
        }

        let own = token(&page);
        let note = [("form_token", own.as_str()), ("internalNotes", "wants it blue"), ("status", "")];
        let noted = done(&sam, &format!("{path}/change"), &note).await;
        assert!(noted.text.contains("wants it blue"), "{}", noted.text);
        let draft = done(&sam, &format!("{path}/quote"), &[("form_token", &own)]).await;
        let quote = show(&app, &id_on(&draft, "/shop/quotes/")).await;
        assert_eq!((&quote["customRequestId"], &quote["status"]), (&json!(request), &json!("draft")));
        let from_model = sam.get(&format!("/shop/quotes/new?request={request}")).await;
        is_sound(&from_model);
        assert!(from_model.text.contains(&format!("name=\"customRequestId\" value=\"{request}\"")), "{}", from_model.text);
        let answered = sam.get(&path).await;
        assert!(answered.text.contains(quote["number"].as_str().unwrap()), "{}", answered.text);
        let closed = done(&sam, &format!("{path}/close"), &[("form_token", &own)]).await;
        assert!(closed.text.contains(">Closed<"), "{}", closed.text);
        assert_eq!(app.get(&format!("/api/custom-requests/{request}")).await.expect(200)["status"], "closed");
        let again = send(&sam, &format!("{path}/close"), &[("form_token", &own)]).await;
        assert_eq!(again.status, 409, "{}", again.text);
        is_sound(&again);
    }
}

#[tokio::test]
async fn quotes_and_requests_are_for_people_of_the_staff() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let program = crate::api::with_role(&app, "operator").await;
    for path in ["/shop/quotes", "/shop/quotes/new", "/shop/requests", "/shop/invoices", "/shop/customers"] {
        let nobody = app.nobody();
        let led = nobody.open(nobody.request("GET", path)).await;
        let to = led.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        assert!(to.is_some_and(|to| to.starts_with("/login?next=")), "{path}");
        let refused = program.get(path).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
    }
    let sam = operator(&app).await;
    for path in ["/shop/quotes", "/shop/requests", "/shop/invoices", "/shop/customers"] {
        let page = sam.get(&format!("{path}/{NOTHING}")).await;
        assert_eq!(page.status, 404, "{path}: {}", page.text);
        is_sound(&page);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_quotes_invoices_and_customers_on_a_phone_without_a_fault() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let (quote, request) = (draft(&app, &sku).await, submit_request(&app).await);
    let invoice = crate::billing::invoices::sent(&app, ANN).await;
    customer(&app, ANN).await;
    let ann = app.get("/api/customers?email=ann@example.org").await.expect(200)["customers"][0]["id"].clone();
    staff(&app, SAM, "operator").await;
    let cookie = sign_in(&app, SAM, PASSWORD).await;
    let base = app.base.clone();
    let tab = browser.open(&base, "/shop/quotes", Some(&cookie)).await;
    browser.width(&tab, 360).await;
    for path in [
        "/shop/quotes".to_owned(),
        "/shop/quotes/new".to_owned(),
        format!("/shop/quotes/{quote}"),
        "/shop/requests".to_owned(),
        format!("/shop/requests/{request}"),
        "/shop/invoices".to_owned(),
        "/shop/invoices/new".to_owned(),
        "/shop/invoices/numbering".to_owned(),
        format!("/shop/invoices/{invoice}"),
        "/shop/customers".to_owned(),
        format!("/shop/customers/{}", ann.as_str().unwrap()),
    ] {
        browser.load(&tab, &format!("{base}{path}")).await;
        browser.until(&tab, &path, &format!("location.pathname === '{path}' && document.querySelector('h1')")).await;
        browser.eval(&tab, "document.querySelectorAll('details').forEach(one => { one.open = true; })").await;
        let fits = "document.documentElement.scrollWidth <= window.innerWidth";
        browser.until(&tab, &format!("{path} to fit a phone"), fits).await;
        browser.hold_drawn(&tab).await;
    }
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
