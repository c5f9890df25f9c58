//! One customer from the first sign-in link to the last credit note, over HTTP: an order that is paid, printed, shipped
//! and invoiced, a subscription, a quote from a model, a pay link, an export and a refund. At the end the shop's books
//! match the processor's.

use serde_json::{Value, json};
use simulator::processor::{Balance, SimPaymentProcessor};
use simulator::{Fleet, FleetOptions};

use super::exports::exported;
use super::invoices::sent;
use super::pages::is_sound;
use super::{link, mails_to, pay_token_of, verify};
use crate::api::checkout::{KEY, knowing, tells};
use crate::api::quotes::models::upload;
use crate::api::{id, with_cookie};
use crate::slicing::{FakeSlicer, PROFILE, profile};
use crate::support::client::http;
use crate::support::{App, Client, on_both, until, waiting::until_seen};
use crate::whole::cube;

const ANN: &str = "ann@example.org";

/// The shop, the payment processor, and the customer's client.
struct Story {
    app: App,
    processor: SimPaymentProcessor,
    ann: Client,
}

/// Signs in through an emailed link, which is opened twice beforehand, as email scanners do.
async fn signed_in(app: &App) -> Client {
    let mailed = link(app, json!({"email": ANN, "next": "/orders"})).await;
    for _ in 0..2 {
        let page = app.nobody().get(&mailed).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
    }
    let redeemed = app.nobody().get(&verify(&mailed)).await;
    assert_eq!((redeemed.status, redeemed.header("location")), (302, Some("/orders")), "{}", redeemed.text);
    let cookie = redeemed.header("set-cookie").expect("a cookie").split(';').next().unwrap().to_owned();
    assert_eq!(app.nobody().get(&verify(&mailed)).await.error(400), "invalid_or_expired", "it works once");
    with_cookie(app, &cookie)
}

/// Pays on the processor's page.
async fn pays(checkout: &Value) {
    let page = checkout["checkoutUrl"].as_str().unwrap_or_else(|| panic!("no page: {checkout}"));
    let answer = http().get(page).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200, "{page}");
    let paid = http().post(format!("{page}/pay")).send().await.unwrap();
    assert_eq!(paid.status().as_u16(), 303, "{page}");
}

impl Story {
    /// Returns one of the customer's own orders, as the customer sees it.
    async fn order(&self, order: &str) -> Value {
        self.ann.get(&format!("/api/v1/orders/{order}")).await.expect(200)["order"].clone()
    }

    /// Returns one of the customer's own invoices, as the customer sees it.
    async fn invoice(&self, invoice: &str) -> Value {
        self.ann.get(&format!("/api/v1/invoices/{invoice}")).await.expect(200)["invoice"].clone()
    }

    /// Waits until the given number of the customer's invoices are paid; returns them.
    async fn paid_invoices(&self, count: usize) -> Vec<Value> {
        until_seen(&format!("{count} paid invoices"), || async {
            let listed = self.ann.get("/api/v1/invoices?status=paid&limit=100").await.expect(200);
            let invoices = listed["invoices"].as_array().unwrap().clone();
            if invoices.len() == count { Ok(invoices) } else { Err(listed) }
        })
        .await
    }

    /// Pays an own order on the page of the processor, lets it be printed, and ships it.
    async fn paid_printed_and_shipped(&self, order: &str, tracking: &str) {
        let checkout = format!("/api/v1/orders/{order}/checkout");
        let checkout_page =
            self.ann.post(&checkout, &json!({"successPath": format!("/orders/{order}")})).await.expect(200);
        pays(&checkout_page).await;
        until_seen("the order to be printed", || async {
            let view = self.order(order).await;
            if view["status"] == "ready" { Ok(()) } else { Err(json!([view, self.app.jobs(order).await])) }
        })
        .await;
        let parcel = json!({"carrier": "DHL", "trackingNumber": tracking, "estimatedDelivery": "2026-12-01"});
        self.app.post(&format!("/api/orders/{order}/ship"), &parcel).await.expect(200);
        let view = self.order(order).await;
        assert_eq!((&view["status"], &view["shipment"]["trackingNumber"]), (&json!("shipped"), &json!(tracking)));
        assert_eq!((&view["payment"]["paidCents"], &view["payment"]["dueCents"]), (&view["totalCents"], &json!(0)));
        assert_eq!((&view["lines"][0]["good"], &view["lines"][0]["missing"]), (&json!(2), &json!(0)), "{view}");
        let steps: Vec<&str> =
            view["timeline"].as_array().unwrap().iter().map(|step| step["event"].as_str().unwrap()).collect();
        let main = ["order.created", "order.paid", "order.printing", "order.ready", "order.shipped"];
        let places: Vec<Option<usize>> = main.iter().map(|one| steps.iter().position(|step| step == one)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{steps:?}");
        until("the mail on the parcel", || async {
            mails_to(&self.app, ANN).into_iter().find(|mail| mail.text.contains(tracking))
        })
        .await;
        let page = self.ann.get(&format!("/orders/{order}")).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
    }

    /// Takes an order from draft to shipment and fetches its invoice as a PDF; returns the IDs of the order and the
    /// invoice.
    async fn an_order(&self, sku: &str) -> (String, String) {
        let address = json!({
            "kind": "shipping", "line1": "1 Main Street", "city": "Springfield", "region": "IL", "postalCode": "62701",
            "country": "US",
        });
        let change = json!({"name": "Ann Example", "addresses": [address]});
        let profile = self.ann.patch("/api/v1/profile", &change).await.expect(200)["profile"].clone();
        assert_eq!((&profile["email"], &profile["name"]), (&json!(ANN), &json!("Ann Example")));
        let catalog = self.app.nobody().get("/api/v1/store/catalog").await.expect(200);
        assert_eq!(catalog["items"][0]["skuId"], sku, "{catalog}");
        let draft = json!({"lines": [{"skuId": sku, "quantity": 2}], "notes": "in blue, please"});
        let answer = self.ann.post("/api/v1/orders/draft", &draft).await.expect(201);
        let order = answer["orderId"].as_str().unwrap().to_owned();
        let view = self.order(&order).await;
        assert_eq!((&view["status"], &view["totalCents"]), (&json!("draft"), &json!(2500)), "{view}");
        assert_eq!(view["shippingAddress"]["city"], "Springfield");
        self.paid_printed_and_shipped(&order, "JD0001").await;

        let invoice = self.paid_invoices(1).await.remove(0);
        assert_eq!((&invoice["orderId"], &invoice["totalCents"]), (&json!(order), &json!(2500)));
        let (number, invoice) = (invoice["number"].as_str().unwrap().to_owned(), id(&invoice));
        let pdf = self.ann.act(&format!("/api/v1/invoices/{invoice}/pdf")).await.expect(200);
        let file = http().get(pdf["pdfUrl"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(
            (file.status().as_u16(), file.headers()["content-type"].to_str().unwrap()),
            (200, "application/pdf")
        );
        assert!(file.bytes().await.unwrap().starts_with(b"%PDF-"));
        let receipt = until("the receipt", || async {
            mails_to(&self.app, ANN).into_iter().find(|mail| mail.subject.starts_with("Receipt for order"))
        })
        .await;
        let [(name, enclosed)] = &receipt.files[..] else { panic!("one file: {receipt:?}") };
        assert_eq!(*name, format!("{number}.pdf"));
        assert!(enclosed.starts_with(b"%PDF-"));
        (order, invoice)
    }

    /// Starts a subscription, whose first period is paid and invoiced.
    async fn a_subscription(&self, price: &str) {
        let begun = self.ann.post("/api/v1/subscriptions/checkout", &json!({"priceId": price})).await.expect(200);
        pays(&begun).await;
        let listed = self.ann.get("/api/v1/subscriptions").await.expect(200);
        let subscription = &listed["subscriptions"][0];
        assert_eq!(
            (&subscription["status"], &subscription["amountCents"]),
            (&json!("active"), &json!(1900)),
            "{listed}"
        );
        let invoices = self.paid_invoices(2).await;
        let of_it = invoices.iter().find(|one| one["orderId"].is_null()).expect("an invoice of the period");
        assert_eq!((&of_it["totalCents"], &of_it["customerName"]), (&json!(1900), &json!("Ann Example")));
    }

    /// Takes a model through pricing, quote and order to shipment; returns the order's ID.
    async fn a_quote_from_a_model(&self, material: &str) -> String {
        let (path, two) = ("/api/v1/quotes/models", [("quantity", "2")]);
        let answer = upload(&self.ann, path, "cube.stl", cube().into_bytes(), &two).await.expect(201);
        let model = answer["model"].clone();
        assert!(model["unitPriceCents"].as_i64().unwrap() > 0, "a price at once: {model}");
        until_seen("the price of the sliced model", || async {
            let now = self.ann.get(&format!("{path}/{}", id(&model))).await.expect(200)["model"].clone();
            if now["slicing"] == "done" { Ok(()) } else { Err(now) }
        })
        .await;
        let quote = id(&self.app.get("/api/quotes?status=draft").await.expect(200)["quotes"][0]);
        let lines = json!([{"quantity": 2, "modelFileId": model["id"], "materialId": material}]);
        self.app.patch(&format!("/api/quotes/{quote}"), &json!({"lines": lines})).await.expect(200);
        self.app.act(&format!("/api/quotes/{quote}/send")).await.expect(200);
        until("the quote to be mailed", || async {
            mails_to(&self.app, ANN).into_iter().find(|mail| mail.subject.contains("QUO-"))
        })
        .await;
        let offered = self.ann.get(&format!("/api/v1/quotes/{quote}")).await.expect(200)["quote"].clone();
        let accepted = self.ann.act(&format!("/api/v1/quotes/{quote}/accept")).await.expect(200)["quote"].clone();
        let order = accepted["orderId"].as_str().unwrap().to_owned();
        let view = self.order(&order).await;
        assert_eq!((&view["kind"], &view["totalCents"]), (&json!("custom"), &offered["totalCents"]));
        self.paid_printed_and_shipped(&order, "JD0002").await;
        let invoices = self.paid_invoices(3).await;
        assert!(
            invoices.iter().any(|one| one["orderId"] == order.as_str() && one["totalCents"] == offered["totalCents"])
        );
        order
    }

    /// Pays an invoice without credentials, through its pay link.
    async fn a_pay_link(&self) {
        let invoice = sent(&self.app, ANN).await;
        let token = pay_token_of(&self.app, &invoice).await;
        let stranger = self.app.nobody();
        let page = stranger.get(&format!("/pay/{token}")).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        pays(&stranger.act(&format!("/api/v1/pay/{token}/checkout")).await.expect(200)).await;
        let all = self.paid_invoices(4).await;
        assert!(all.iter().any(|one| one["id"] == invoice.as_str()), "{all:?}");
        let linked = stranger.get(&format!("/api/v1/pay/{token}")).await.expect(200);
        assert_eq!((&linked["invoice"]["status"], &linked["invoice"]["amountDueCents"]), (&json!("paid"), &json!(0)));
    }

    /// Exports a table of all payments.
    async fn an_export(&self) {
        let filter = json!({"type": "invoices", "status": "paid"});
        let link = exported(&self.app, &self.ann, ANN, filter).await;
        let table = self.app.nobody().get(&link).await;
        assert_eq!(table.status, 200, "{}", table.text);
        let rows: Vec<&str> = table.text.lines().collect();
        let paid = self.paid_invoices(4).await;
        assert_eq!(rows.len(), 1 + paid.len(), "{rows:?}");
        for invoice in &paid {
            let number = invoice["number"].as_str().unwrap();
            assert!(rows.iter().any(|row| row.starts_with(&format!("{number},paid,"))), "{number} in {rows:?}");
        }
    }

    /// Refunds part of the order's payment, and checks the credit note.
    async fn a_refund(&self, order: &str, invoice: &str) {
        let part = json!({"amountCents": 1000});
        self.app.post(&format!("/api/orders/{order}/refund"), &part).await.expect(200);
        let credited = until_seen("the credit note", || async {
            let view = self.invoice(invoice).await;
            if view["documents"].as_array().unwrap().len() == 2 { Ok(view) } else { Err(view) }
        })
        .await;
        let note = &credited["documents"][1];
        assert_eq!((&note["kind"], &note["totalCents"]), (&json!("credit_note"), &json!(1000)), "{credited}");
        assert!(note["number"].as_str().unwrap().starts_with("CN-20"), "{note}");
        assert_eq!((&credited["totalCents"], &credited["amountPaidCents"]), (&json!(2500), &json!(1500)));
        assert_eq!(self.processor.balance(order), Balance { took: 2500, gave_back: 1000, payments: 1 });
        let file = format!("/api/invoices/{invoice}/documents/{}/pdf", id(note));
        let file = self.app.open(self.app.request("GET", &file)).await;
        assert_eq!(file.status().as_u16(), 200);
        assert!(file.bytes().await.unwrap().starts_with(b"%PDF-"));
    }

    /// Checks that every cent that the processor keeps is listed exactly once, for the shop and for its customer.
    async fn the_books_agree(&self) {
        let charges = self.processor.all("charge");
        let cents = |one: &Value, member: &str| one[member].as_i64().unwrap();
        let balance: i64 = charges.iter().map(|one| cents(one, "amount") - cents(one, "amount_refunded")).sum();
        for (client, list) in [(&*self.app, "/api/payments?limit=100"), (&self.ann, "/api/v1/payments?limit=100")] {
            until_seen(&format!("{list} to have the processor's books"), || async {
                let listed = client.get(list).await.expect(200);
                let sum: i64 = listed["payments"].as_array().unwrap().iter().map(|one| cents(one, "amountCents")).sum();
                if sum == balance { Ok(()) } else { Err(listed) }
            })
            .await;
        }
        until_seen("no payment to be left over", || async {
            let unmatched = self.app.get("/api/payments/unmatched").await.expect(200);
            if unmatched["pagination"]["total"] == 0 { Ok(()) } else { Err(unmatched) }
        })
        .await;
        let numbering = self.app.get("/api/invoices/numbering").await.expect(200);
        assert_eq!(numbering["gapless"], true, "{numbering}");
    }
}

on_both! {
    async fn one_customer_from_the_first_link_to_the_last_credit_note(db: Db) {
        let processor = SimPaymentProcessor::start(KEY).await.unwrap();
        let price = processor.add_price("Filament box", 1900, "usd");
        let slicer = FakeSlicer::new(12.5);
        let app = slicer
            .slices_for(knowing(&processor, db))
            .env("PRINTFLOOR_PAYMENTS__SUBSCRIPTION_PRICES", format!("[\"{price}\"]"))
            .env("PRINTFLOOR_PRICING__SLICER_PROFILE", PROFILE)
            // The test looks more often than a person does.
            .env("PRINTFLOOR_LIMITS__CUSTOMER_REQUESTS_PER_MINUTE", 10_000_000)
            .start()
            .await;
        profile(&app, PROFILE, "layer_height = 0.2\nfilament_density = 1.24\n");
        tells(&processor, &app);
        let options = FleetOptions { speed: 300.0, seed: 12, ..FleetOptions::of_each_for_text(1) };
        let fleet = Fleet::start(options).await.unwrap();
        for sim in &fleet.printers {
            app.printer(sim).await;
        }
        let material = app.material("PLA", 1000.0).await;
        let file = app.gcode("vase", 240, 10.0).await;
        let sku = app.sku("VASE", &material, &file, 1250).await;
        app.patch(&format!("/api/skus/{sku}"), &json!({"public": true})).await.expect(200);
        let ann = signed_in(&app).await;
        let story = Story { app, processor, ann };

        let (order, invoice) = story.an_order(&sku).await;
        story.a_subscription(&price).await;
        let custom = story.a_quote_from_a_model(&material).await;
        story.a_pay_link().await;
        story.an_export().await;
        story.a_refund(&order, &invoice).await;
        story.the_books_agree().await;
        until("the last claim to be settled", || async {
            let stock = story.app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
            (stock["reserved"] == 0).then_some(())
        })
        .await;
        story.app.ledger_is_even(&material).await;
        let own = story.ann.get("/api/v1/orders?status=shipped").await.expect(200);
        let listed: Vec<String> = own["orders"].as_array().unwrap().iter().map(id).collect();
        assert_eq!(listed, [custom, order], "newest first");

        // Signed out, the browser sees nothing any more.
        story.ann.delete("/api/v1/auth/session").await.expect(200);
        assert_eq!(story.ann.get("/api/v1/me").await.error(401), "unauthorized");
    }
}
