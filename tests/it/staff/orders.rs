//! The list of orders and the page of one.

use serde_json::json;
use simulator::PrinterKind;

use super::products::sent;
use super::{OPERATOR, arrived, is_sound, operator};
use crate::billing::pages::{HOSTILE, send, token};
use crate::machines::late::{hasten, timing_is};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW};
use crate::support::{App, Clock, Db, on_sqlite, until};

on_sqlite! {
    async fn an_order_is_paid_made_and_shipped_from_its_page(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let order = floor.app.order(&floor.sku, 2).await;
        let path = format!("/shop/orders/{order}");
        let page = sam.get(&path).await;
        is_sound(&page);
        assert!(page.text.contains(">Unpaid<") && page.text.contains("buyer@example.org"), "{}", page.text);
        // One act stands out: the one that the order waits for.
        let primary = |text: &str| -> Vec<String> {
            let acts = text.split("btn primary\">").skip(1).map(|rest| rest.split("</summary>").next().unwrap());
            acts.map(|act| act.split("</button>").next().unwrap().to_owned()).collect()
        };
        assert_eq!(primary(&page.text), ["Record payment"], "{}", page.text);
        assert!(page.text.contains("<li aria-current=\"step\">Paid"), "{}", page.text);
        let own = token(&page);
        let form = |more: &[(&'static str, &'static str)]| {
            let mut fields = vec![("form_token", own.as_str())];
            fields.extend_from_slice(more);
            fields
        };
        let pay = |amount: &'static str| form(&[("method", "cash"), ("currency", "usd"), ("amountCents", amount)]);
        let wrong = arrived(&sam, send(&sam, &format!("{path}/mark-paid"), &pay("much")).await).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        let part = arrived(&sam, send(&sam, &format!("{path}/mark-paid"), &pay("2.50")).await).await;
        assert!(part.text.contains("$2.50") && part.text.contains(">Unpaid<"), "{}", part.text);
        let paid = arrived(&sam, send(&sam, &format!("{path}/mark-paid"), &form(&[("method", "cash")])).await).await;
        assert_eq!(paid.status, 200, "{}", paid.text);
        floor.app.order_is(&order, "ready").await;
        let ready_page = sam.get(&path).await;
        is_sound(&ready_page);
        let acts = primary(&ready_page.text);
        assert!(acts.len() == 1 && acts[0].ends_with(" Ship"), "{acts:?}");
        assert!(ready_page.text.contains("<li aria-current=\"step\">Shipped"), "{}", ready_page.text);
        for words in [">Ready to ship<", "JOB-", "Print 1 finished on", "Order line 1 · ", "Order ready"] {
            assert!(ready_page.text.contains(words), "{words} in {}", ready_page.text);
        }
        assert!(!ready_page.text.contains("wholeOrder"), "nothing is missing: {}", ready_page.text);
        let parts = |count: &'static str| form(&[("someParts", "true"), ("part-0", count), ("pickedUp", "true")]);
        let some = arrived(&sam, send(&sam, &format!("{path}/ship"), &parts("1")).await).await;
        assert!(some.text.contains("Shipment 1"), "{}", some.text);
        floor.app.order_is(&order, "ready").await;
        // A page that does not know of that parcel sends no parts that have left.
        let stale = arrived(&sam, send(&sam, &format!("{path}/ship"), &parts("2")).await).await;
        assert_eq!(stale.status, 409, "{}", stale.text);
        let gone = arrived(&sam, send(&sam, &format!("{path}/ship"), &parts("1")).await).await;
        assert!(gone.text.contains(">Shipped<") && gone.text.contains("Shipment 2"), "{}", gone.text);
        let again = arrived(&sam, send(&sam, &format!("{path}/ship"), &form(&[("carrier", "pickup")])).await).await;
        assert_eq!(again.status, 409, "{}", again.text);
        is_sound(&again);
    }

    async fn the_list_is_narrowed(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let sku = crate::api::some_sku(&app).await;
        let (one, two) = (app.order(&sku, 1).await, app.paid_order(&sku, 1).await);
        let (link_one, link_two) = (format!("href=\"/shop/orders/{one}\""), format!("href=\"/shop/orders/{two}\""));
        for (query, shows_one, shows_two) in [
            ("", true, true),
            ("?status=created", true, false),
            ("?status=paid&q=buyer", false, true),
            ("?q=nobody", false, false),
            ("?status=unheard-of", true, true),
            ("?from=2", false, false),
        ] {
            let page = sam.get(&format!("/shop/orders{query}")).await;
            is_sound(&page);
            let links_there = (page.text.contains(&link_one), page.text.contains(&link_two));
            assert_eq!(links_there, (shows_one, shows_two), "{query}: {}", page.text);
        }
        let own = token(&sam.get("/floor").await);
        let change = [("form_token", &*own), ("priority", "9"), ("internalNotes", "call her")];
        let changed = arrived(&sam, send(&sam, &format!("/shop/orders/{one}/change"), &change).await).await;
        assert!(changed.text.contains("call her"), "{}", changed.text);
        let order = app.get(&format!("/api/orders/{one}")).await.expect(200);
        assert_eq!((&order["priority"], &order["internalNotes"]), (&json!(9), &json!("call her")));
    }

    async fn a_late_order_is_shown_with_when_it_is_expected(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let order = floor.order(1).await;
        timing_is(&floor, &order, "on_time").await;
        let (path, link) = (format!("/shop/orders/{order}"), format!("href=\"/shop/orders/{order}\""));
        assert!(!sam.get(&path).await.text.contains("id=\"timing\""), "nothing to say");
        hasten(&floor, &order, &Clock::new()).await;
        timing_is(&floor, &order, "late").await;
        let counted = "href=\"/shop/orders?timing=late\"><b>1</b> Late</a>";
        let list = sam.get("/shop/orders").await.text;
        assert!(list.contains(counted), "the filter has no count");
        assert!(list.contains("<div id=\"order-filters\" data-fresh=\"\"><nav "), "counts are refreshed: {list}");
        for (query, shows) in [("late", true), ("on_time", false), ("unheard-of", true)] {
            let page = sam.get(&format!("/shop/orders?timing={query}")).await;
            is_sound(&page);
            assert_eq!(page.text.contains(&link), shows, "{query}: {}", page.text);
            assert_eq!(page.text.contains("<span class=\"state error\">Late</span>"), shows, "{query}: {}", page.text);
        }
        // By default it is first, with its picture and the progress of its parts.
        let newer = format!("href=\"/shop/orders/{}\"", floor.app.order(&floor.sku, 1).await);
        for (query, is_late_first) in [("", true), ("?sort=newest", false)] {
            let list = sam.get(&format!("/shop/orders{query}")).await;
            is_sound(&list);
            let [late_at, newer_at] = [&link, &newer].map(|link| list.text.find(link).expect("both are listed"));
            assert_eq!(late_at < newer_at, is_late_first, "{query}: {}", list.text);
            for part in ["<img class=\"mini\" src=\"/floor/pictures/", ">0 of 1 good</progress>", "<b>1</b> Unpaid</a>"] {
                assert!(list.text.contains(part), "{part} in {}", list.text);
            }
        }
        let page = sam.get(&path).await;
        is_sound(&page);
        for words in ["<span class=\"state error\">Late</span>: due <time", ", now expected <time"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        let page = sam.get("/to-do").await;
        is_sound(&page);
        for words in ["Late orders (1)", &link, "<a href=\"/shop/orders?timing=late\">View 1 late order</a>"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
    }

    async fn an_order_is_written_by_the_staff(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let none = sam.get("/shop/orders").await;
        is_sound(&none);
        assert!(none.text.contains("No orders yet") && none.text.contains("href=\"/shop/orders/new\""), "{}", none.text);
        let nothing = sam.get("/shop/orders/new").await;
        is_sound(&nothing);
        assert!(nothing.text.contains("No products to order yet"), "{}", nothing.text);
        let sku = crate::api::some_sku(&app).await;
        let form = sam.get(&format!("/shop/orders/new?sku={sku}&customer=ann@example.org")).await;
        is_sound(&form);
        assert!(form.text.contains("value=\"PART\"") && form.text.contains("value=\"ann@example.org\""), "{}", form.text);
        assert!(!form.text.contains("<details open"), "what may be left empty is folded away: {}", form.text);
        let own = token(&form);
        let fields = |code: &'static str, country: &'static str| {
            [
                ("lines.0.skuId", ""), ("lines.0.quantity", "1"), ("lines.2.skuId", code), ("lines.2.quantity", "3"),
                ("customerEmail", "Ann@example.org"), ("notes", HOSTILE), ("internalNotes", "call her"), ("priority", "7"),
                ("dueAt", "2030-05-06"), ("shippingAddress.line1", "1 Main Street"), ("shippingAddress.city", "Springfield"),
                ("shippingAddress.postalCode", "62701"), ("shippingAddress.country", country),
            ]
        };
        // What is wrong stands beside its field, and what was typed stays.
        for (code, country, words) in [("NONE", "US", "No product has this name or code."), ("PART", "Utopia", "Must be a two-letter country code.")] {
            let wrong = sent(&sam, &own, "/shop/orders/new", &fields(code, country)).await;
            assert_eq!(wrong.status, 400, "{}", wrong.text);
            is_sound(&wrong);
            for part in [words, "value=\"2030-05-06\"", "&lt;script&gt;", &format!("value=\"{country}\"")] {
                assert!(wrong.text.contains(part), "{part} in {}", wrong.text);
            }
        }
        let page = sent(&sam, &own, "/shop/orders/new", &fields("PART", "us")).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        for words in ["Unpaid", "ann@example.org", "1 Main Street, 62701 Springfield, United States", "call her"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        let orders = app.get("/api/orders").await.expect(200);
        let order = &orders["orders"][0];
        assert_eq!((&order["kind"], &order["priority"], &order["lines"][0]["quantity"]), (&json!("manual"), &json!(7), &json!(3)));
        assert_eq!((&order["dueAt"], &order["internalNotes"]), (&json!("2030-05-06T23:59:59.999Z"), &json!("call her")));
        // A moment of the day that the form showed stays, whatever else is changed.
        let id = order["id"].as_str().unwrap();
        app.patch(&format!("/api/orders/{id}"), &json!({"dueAt": "2030-05-06T08:00:00.000Z"})).await.expect(200);
        let same_day = [("dayShown", "2030-05-06"), ("dueAt", "2030-05-06"), ("priority", "4")];
        assert_eq!(sent(&sam, &own, &format!("/shop/orders/{id}/change"), &same_day).await.status, 200);
        assert_eq!(app.get(&format!("/api/orders/{id}")).await.expect(200)["dueAt"], "2030-05-06T08:00:00.000Z");
        // What is emptied is taken away, and what the form does not show stays.
        let path = format!("/shop/orders/{}/change", order["id"].as_str().unwrap());
        let cleared = [("dueAt", ""), ("notes", "by hand"), ("internalNotes", ""), ("priority", "3")];
        assert_eq!(sent(&sam, &own, &path, &cleared).await.status, 200);
        let order = app.get(&format!("/api/orders/{}", order["id"].as_str().unwrap())).await.expect(200);
        assert!(order["dueAt"].is_null() && order.get("internalNotes").is_none(), "{order}");
        assert_eq!((&order["notes"], &order["shippingAddress"]["city"]), (&json!("by hand"), &json!("Springfield")));
        // A product, by its name, and how many of it are all that an order needs.
        app.patch(&format!("/api/skus/{sku}"), &json!({"name": "Cable clip"})).await.expect(200);
        let least = [("lines.0.skuId", "cable clip"), ("lines.0.quantity", "2"), ("customerEmail", ""), ("dueAt", "")];
        let page = sent(&sam, &own, "/shop/orders/new", &least).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let orders = app.get("/api/orders").await.expect(200);
        assert_eq!((&orders["orders"][0]["lines"][0]["skuId"], &orders["pagination"]["total"]), (&json!(sku), &json!(2)));
    }

    async fn a_name_means_the_product_for_sale_and_not_a_withdrawn_one(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let (material, file) = (app.material("PLA", 1_000_000.0).await, app.gcode("part", 60, 10.0).await);
        let sku = app.sku("CLIP-1", &material, &file, 500).await;
        let withdrawn = app.sku("CLIP-2", &material, &file, 500).await;
        for (id, name) in [(&sku, "Cable clip"), (&withdrawn, "Cable CLIP")] {
            app.patch(&format!("/api/skus/{id}"), &json!({"name": name})).await.expect(200);
        }
        let own = token(&sam.get("/shop/orders/new").await);
        let line = [("lines.0.skuId", "cable clip"), ("lines.0.quantity", "2")];
        let several = sent(&sam, &own, "/shop/orders/new", &line).await;
        assert!(several.status == 400 && several.text.contains("Several products have this name; enter the code."), "{}", several.text);
        app.patch(&format!("/api/skus/{withdrawn}"), &json!({"active": false})).await.expect(200);
        let page = sent(&sam, &own, "/shop/orders/new", &line).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let orders = app.get("/api/orders").await.expect(200);
        assert_eq!(orders["orders"][0]["lines"][0]["skuId"], json!(sku));
    }

    async fn parts_leave_in_shipments_of_their_own_and_money_goes_back_in_part(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let order = floor.order(2).await;
        floor.app.order_is(&order, "ready").await;
        let path = format!("/shop/orders/{order}");
        let page = sam.get(&path).await;
        is_sound(&page);
        assert!(page.text.contains("name=\"part-0\"") && page.text.contains("max=\"2\""), "{}", page.text);
        let own = token(&page);
        let ship = format!("{path}/ship");
        let some = |count: &'static str| [("someParts", "true"), ("part-0", count), ("carrier", "pickup")];
        assert_eq!(sent(&sam, &own, &ship, &some("0")).await.status, 400, "one part is wanted");
        assert_eq!(sent(&sam, &own, &ship, &some("3")).await.status, 409, "there are two");
        let first = sent(&sam, &own, &ship, &some("1")).await;
        assert!(first.text.contains("Shipment 1") && first.text.contains(">Ready to ship<"), "{}", first.text);
        let list = sam.get(&format!("{path}/shipments/1")).await;
        is_sound(&list);
        assert!(list.text.contains("Packing list 1 for order ORD-") && list.text.contains("buyer@example.org"), "{}", list.text);
        assert_eq!(sam.get(&format!("{path}/shipments/2")).await.status, 404);
        let rest = sent(&sam, &own, &ship, &some("1")).await;
        assert!(rest.text.contains("Shipment 2") && rest.text.contains(">Shipped<"), "{}", rest.text);

        let paid = floor.app.get(&format!("/api/orders/{order}")).await.expect(200)["payments"][0].clone();
        let payment = paid["id"].as_str().unwrap();
        assert!(rest.text.contains(&format!("name=\"paymentId\" value=\"{payment}\"")), "{}", rest.text);
        let refund = |amount: &'static str| {
            [("paymentId", payment), ("currency", "usd"), ("amountCents", amount), ("method", "store credit")]
        };
        let part = sent(&sam, &own, &format!("{path}/refund"), &refund("2.50")).await;
        assert!(part.text.contains("$7.50") && part.text.contains("-$2.50 refunded"), "{}", part.text);
        assert!(part.text.contains("store credit"), "{}", part.text);
        is_sound(&part);
        let too_much = sent(&sam, &own, &format!("{path}/refund"), &refund("8")).await;
        assert!((400..=409).contains(&too_much.status), "{}", too_much.text);
    }

    async fn a_job_says_what_each_printer_lacks_and_the_jobs_are_listed(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let empty = sam.get("/shop/jobs").await;
        is_sound(&empty);
        assert!(empty.text.contains("No jobs yet"), "{}", empty.text);
        floor.app.post(&floor.path(0, "/maintenance"), &json!({"on": true, "note": "new nozzle"})).await.expect(200);
        floor.app.patch(&floor.path(1, ""), &json!({"machineType": "resin_large"})).await.expect(200);
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "SLICED").await;
        let page = sam.get(&format!("/shop/jobs/{job}")).await;
        is_sound(&page);
        for words in ["Printer compatibility", ">Later<", "10 g PLA black", "reserved", "Waiting for a printer", &format!("/shop/orders/{order}")] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        assert!(page.text.contains(">No<") || page.text.contains(">No (printer is free)<"), "{}", page.text);
        for (query, is_listed) in [
            (String::new(), true),
            ("?state=SLICED".to_owned(), true),
            ("?state=PRINTING".to_owned(), false),
            (format!("?sku={}", floor.sku), true),
            (format!("?sku={}", crate::api::NOTHING), false),
            (format!("?order={order}"), true),
            (format!("?order={}", crate::api::NOTHING), false),
        ] {
            let list = sam.get(&format!("/shop/jobs{query}")).await;
            is_sound(&list);
            assert_eq!(list.text.contains(&format!("href=\"/shop/jobs/{job}\"")), is_listed, "{query}: {}", list.text);
        }
        let counted = "href=\"/shop/jobs?state=SLICED\"><b>1</b> Waiting for a printer</a>";
        let list = sam.get("/shop/jobs").await.text;
        assert!(list.contains(counted), "the filter has no count");
        assert!(list.contains("<div id=\"job-filters\" data-fresh=\"\"><nav "), "counts are refreshed: {list}");
        let own = token(&page);
        let change = format!("/shop/jobs/{job}/change");
        let dated = sent(&sam, &own, &change, &[("priority", "8"), ("dueAt", "2030-01-02")]).await;
        assert_eq!(dated.status, 200, "{}", dated.text);
        let job_view = floor.job(&job).await;
        assert_eq!((&job_view["priority"], &job_view["dueAt"]), (&json!(8), &json!("2030-01-02T23:59:59.999Z")));
        sent(&sam, &own, &change, &[("dueAt", ""), ("priority", "8")]).await;
        assert!(floor.job(&job).await["dueAt"].is_null());
        assert_eq!(sam.get(&format!("/shop/jobs/{}", crate::api::NOTHING)).await.status, 404);
    }
}

#[tokio::test]
async fn no_text_of_others_is_taken_for_a_place_of_the_token() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let sku = crate::api::some_sku(&app).await;
    let notes = "@form-token@ <form-token> <gauge>";
    let body = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": "ann@example.org", "notes": notes});
    let order = crate::api::id(&app.post("/api/orders", &body).await.expect(201));
    let page = sam.get(&format!("/shop/orders/{order}")).await;
    is_sound(&page);
    assert!(page.text.contains("@form-token@ &lt;form-token&gt; &lt;gauge&gt;"), "{}", page.text);
    let (own, in_forms) = (token(&page), "name=\"form_token\" value=\"");
    assert_eq!(
        page.text.matches(&own).count(),
        page.text.matches(&format!("{in_forms}{own}\"")).count(),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn a_print_shows_its_progress_then_its_end_and_the_history_names_its_printer() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    let list = sam.get("/shop/jobs").await;
    is_sound(&list);
    let cell = list.text.split_once("<td class=\"progress\">").expect("its progress").1;
    let cell = cell.split("</td>").next().unwrap();
    assert!(cell.contains("<progress ") && cell.contains("%</b>") && !cell.contains("ended"), "{cell}");

    floor.sim(0).handle.set_speed(FAST);
    floor.app.job_is(&job, "COMPLETED").await;
    let list = sam.get("/shop/jobs").await;
    let cell = list.text.split_once("<td class=\"progress\">").expect("its end").1;
    assert!(cell.starts_with("ended <time ") && !list.text.contains("<progress "), "{cell}");

    let page = sam.get(&format!("/shop/orders/{order}")).await;
    is_sound(&page);
    let history = page.text.split_once("id=\"happened\"").expect("its history").1;
    for event in ["started printing", "finished printing"] {
        let sentence = format!("</a> {event} on <a href=\"/floor/printers/{}\">", floor.printers[0]);
        assert!(history.contains(&sentence), "{event} in {history}");
    }
}

/// Checks that no one is asked how a print ended if its printer reports it, and that the choices are available
/// otherwise.
#[tokio::test]
async fn a_print_is_ended_by_hand_where_its_printer_does_not_respond() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    let (order, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    let path = format!("/shop/orders/{order}");
    let page = sam.get(&path).await;
    is_sound(&page);
    let (before, folded) = page.text.split_once("Edit or cancel").expect("what can be changed");
    assert!(!before.contains("Mark as finished"), "{before}");
    assert!(folded.contains("Printer not responding?") && folded.contains("Mark as finished"), "{folded}");
    floor.faults(0, |faults| faults.disconnect = true);
    let page = until("the outage to be shown", || async {
        let page = sam.get(&path).await;
        page.text.contains("No answer from ").then_some(page)
    })
    .await;
    is_sound(&page);
    let (before, folded) = page.text.split_once("Edit or cancel").expect("what can be changed");
    assert!(before.contains("Check the printer, then choose") && before.contains("Mark as finished"), "{before}");
    assert!(!folded.contains("Printer not responding?"), "{folded}");
}
