//! Stock: a delivery entered on the page starts waiting jobs, the ledger shows who booked it, forms keep their input,
//! and spools move between slots.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::{OPERATOR, SAM, is_sound, operator};
use crate::api::{NOTHING, PASSWORD, sign_in, staff};
use crate::billing::pages::{HOSTILE, send, token};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW};
use crate::support::browser::Browser;
use crate::support::client::Answer;
use crate::support::{App, Db, on_sqlite, until};

/// Returns the ledger on a page.
fn ledger(page: &Answer) -> &str {
    page.text.split_once("id=\"ledger-title\"").unwrap_or_else(|| panic!("{}", page.text)).1
}

async fn slot(floor: &Floor, printer: usize) -> Value {
    floor.app.get(&floor.path(printer, "")).await.expect(200)["slots"][0].clone()
}

on_sqlite! {
    async fn a_delivery_on_the_page_starts_what_waits_for_it(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let path = format!("/shop/stock/materials/{}", floor.material);
        let full = sam.get(&path).await;
        is_sound(&full);
        assert!(full.text.contains(">Enough<") && full.text.contains("class=\"chart\""), "{}", full.text);
        let own = token(&full);
        let form = |more: &[(&'static str, &'static str)]| {
            let mut fields = vec![("form_token", own.as_str())];
            fields.extend_from_slice(more);
            fields
        };
        let counted = send(&sam, &format!("{path}/count"), &form(&[("quantity", "5")])).await;
        assert!(counted.status == 200 && ledger(&counted).contains("-995"), "{}", counted.text);
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "awaiting_manual_review").await;
        let short = sam.get(&path).await;
        is_sound(&short);
        assert!(short.text.contains("Waiting jobs (1)"), "{}", short.text);
        assert!(short.text.contains(&format!("/shop/orders/{order}#job-{job}")), "{}", short.text);
        let list = sam.get("/shop/stock").await;
        is_sound(&list);
        assert!(list.text.contains("To order (1)") && list.text.contains("1 job is waiting"), "{}", list.text);

        // What is wrong is told beside the form, and what was typed is kept.
        let much = form(&[("delta", "much"), ("reason", "<b>delivery</b>")]);
        let wrong = send(&sam, &format!("{path}/receive"), &much).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        assert!(!wrong.text.contains("delta: "), "{}", wrong.text);
        assert!(wrong.text.contains("Amount received (g): must be a number."), "{}", wrong.text);
        assert!(wrong.text.contains("<span class=\"fault bad\" id=\"fault-receive-delta\">Must be a number."), "{}", wrong.text);
        assert!(wrong.text.contains("value=\"much\"") && wrong.text.contains("&lt;b&gt;delivery"), "{}", wrong.text);
        let twice = form(&[("taken", "-2"), ("reason", "x")]);
        assert_eq!(send(&sam, &format!("{path}/write-off"), &twice).await.status, 400, "a loss has no sign");
        let all = form(&[("taken", "6"), ("reason", "x")]);
        let too_much = send(&sam, &format!("{path}/write-off"), &all).await;
        assert_eq!(too_much.status, 409, "{}", too_much.text);
        is_sound(&too_much);

        let came = form(&[("delta", "100,5"), ("reason", "delivery of Monday")]);
        let received = send(&sam, &format!("{path}/receive"), &came).await;
        assert_eq!(received.status, 200, "{}", received.text);
        is_sound(&received);
        floor.app.job_is(&job, "COMPLETED").await;
        let gone = form(&[("taken", "0.5"), ("reason", "moth")]);
        send(&sam, &format!("{path}/write-off"), &gone).await;
        let after = until("what was printed to be booked", || async {
            let page = sam.get(&path).await;
            ledger(&page).contains("Printed").then_some(page)
        })
        .await;
        is_sound(&after);
        for words in ["<td>Sam</td>", "delivery of Monday", "+100.5", "Received", "Reserved for a job", "Printed", "-0.5", "moth"] {
            assert!(ledger(&after).contains(words), "{words} in {}", after.text);
        }
        assert!(!after.text.contains("Waiting jobs ("), "{}", after.text);
        floor.app.ledger_is_even(&floor.material).await;
    }

    async fn a_material_is_added_changed_and_removed_by_forms(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let empty = sam.get("/shop/stock").await;
        is_sound(&empty);
        let acts = empty.text.matches("href=\"/shop/stock/new\"").count();
        assert!(empty.text.contains("No materials yet") && acts == 2, "{}", empty.text);
        let form = sam.get("/shop/stock/new").await;
        is_sound(&form);
        let own = token(&form);
        let fields = [("form_token", &*own), ("name", ""), ("type", "resin"), ("color", "red"), ("brand", "Acme & Co")];
        let wrong = send(&sam, "/shop/stock/new", &fields).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        for part in ["role=\"alert\"", "Acme &amp; Co", "value=\"resin\" selected", "value=\"red\""] {
            assert!(wrong.text.contains(part), "{part} in {}", wrong.text);
        }
        let fields = [
            ("form_token", &*own), ("name", HOSTILE), ("type", "filament"), ("color", "#101010"), ("brand", ""),
            ("location", "Shelf A3"), ("quantity", "100"), ("reorderPoint", "500"), ("reorderQuantity", "2000"),
            ("unitCostCents", "25,00"),
        ];
        let added = send(&sam, "/shop/stock/new", &fields).await;
        assert_eq!(added.status, 200, "{}", added.text);
        is_sound(&added);
        assert!(added.text.contains(">Low<") && added.text.contains("2000 g"), "{}", added.text);
        assert!(added.text.contains("/shop/stock/bins?name=Shelf+A3") && added.text.contains("$25.00"), "{}", added.text);
        let list = app.get("/api/inventory/materials").await.expect(200);
        let material = &list["materials"][0];
        let members = ["quantity", "location", "brand", "unitCostCents"].map(|name| material[name].clone());
        assert_eq!(members, [json!(100), json!("Shelf A3"), Value::Null, json!(2.5)], "{material}");

        let path = format!("/shop/stock/materials/{}", material["id"].as_str().unwrap());
        let edit = sam.get(&format!("{path}/edit")).await;
        is_sound(&edit);
        // The cost is that of a kilogram, in the unit of the currency, as it was typed.
        let cost = edit.text.split_once("name=\"unitCostCents\"").unwrap().1.split('>').next().unwrap();
        assert!(cost.contains("value=\"25.00\"") && edit.text.contains("In USD, such as 25.00"), "{}", edit.text);
        let unread = [("form_token", &*own), ("name", "PLA"), ("type", "filament"), ("unitCostCents", "much")];
        let unread = send(&sam, "/shop/stock/new", &unread).await;
        let label = "Cost per kilogram, litre, sheet or unit: must be an amount such as 2.50";
        assert!(unread.status == 400 && unread.text.contains(label), "{}", unread.text);
        let version = edit.text.split_once("name=\"version\" value=\"").unwrap().1.split('"').next().unwrap();
        let fields = [
            ("form_token", &*own), ("version", version), ("name", "PLA black"), ("type", "filament"), ("color", ""),
            ("location", "Shelf B1"), ("reorderPoint", "50"), ("unitCostCents", ""),
        ];
        let changed = send(&sam, &format!("{path}/edit"), &fields).await;
        assert!(changed.status == 200 && changed.text.contains(">Enough<"), "{}", changed.text);
        let now = app.get(&format!("/api/inventory/materials/{}", material["id"].as_str().unwrap())).await.expect(200);
        let names = ["name", "color", "unitCostCents", "reorderPoint", "reorderQuantity"];
        let members = names.map(|name| now[name].clone());
        assert_eq!(members, [json!("PLA black"), Value::Null, Value::Null, json!(50), json!(2000)], "{now}");
        // Whoever edits what somebody else has changed meanwhile is told, and keeps what they typed.
        let late = send(&sam, &format!("{path}/edit"), &fields).await;
        assert_eq!(late.status, 412, "{}", late.text);
        is_sound(&late);
        assert!(late.text.contains("role=\"alert\"") && late.text.contains("value=\"Shelf B1\""), "{}", late.text);

        let bins = sam.get("/shop/stock/bins").await;
        is_sound(&bins);
        assert!(bins.text.contains("Shelf B1") && !bins.text.contains("Shelf A3"), "{}", bins.text);
        let bin = sam.get("/shop/stock/bins?name=Shelf+B1").await;
        is_sound(&bin);
        assert!(bin.text.contains("PLA black") && bin.text.contains("100 g on hand"), "{}", bin.text);
        let gone = send(&sam, &format!("{path}/remove"), &[("form_token", &*own)]).await;
        assert!(gone.status == 200 && gone.text.contains("No materials yet"), "{}", gone.text);
        assert_eq!(sam.get(&path).await.status, 404);
    }

    async fn a_spool_goes_from_slot_to_slot_is_weighed_and_retired(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (material, [one, two]) = (floor.material.as_str(), [0, 1].map(|n| format!("{}/0", floor.printers[n])));
        let path = |act: &str| format!("/shop/stock/spools/4711{act}?material={material}");
        let shelf = sam.get(&path("")).await;
        is_sound(&shelf);
        for words in ["Spool 4711", "On the shelf", "PLA black", &format!("value=\"{one}\""), &format!("value=\"{two}\"")] {
            assert!(shelf.text.contains(words), "{words} in {}", shelf.text);
        }
        let own = token(&shelf);
        let nowhere = send(&sam, &path("/load"), &[("form_token", &*own), ("place", "x"), ("remaining", "800")]).await;
        assert_eq!(nowhere.status, 400, "{}", nowhere.text);
        is_sound(&nowhere);
        assert!(nowhere.text.contains("value=\"800\""), "{}", nowhere.text);
        let into = |place: &str, left: &str| {
            [("form_token", own.clone()), ("materialId", material.to_owned()), ("place", place.to_owned()), ("remaining", left.to_owned())]
        };
        let load = async |place: &str, left: &str| {
            let fields = into(place, left);
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (*name, text.as_str())).collect();
            send(&sam, &path("/load"), &fields).await
        };
        let loaded = load(&one, "800").await;
        assert!(loaded.status == 200 && loaded.text.contains(">Loaded<"), "{}", loaded.text);
        is_sound(&loaded);
        let first = slot(&floor, 0).await;
        assert_eq!((&first["spoolId"], &first["remaining"], &first["materialId"]), (&json!(4711), &json!(800), &json!(material)));
        let of_material = sam.get(&format!("/shop/stock/materials/{material}")).await;
        assert!(of_material.text.contains("/shop/stock/spools/4711"), "{}", of_material.text);

        let weigh = |gross: &'static str| [("form_token", own.clone()), ("gross", gross.to_owned()), ("empty", "230,5".to_owned())];
        for (gross, status) in [("100", 400), ("1000", 200)] {
            let fields = weigh(gross);
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (*name, text.as_str())).collect();
            let weighed = send(&sam, &path("/weigh"), &fields).await;
            assert_eq!(weighed.status, status, "{}", weighed.text);
            is_sound(&weighed);
            assert!(status == 200 || weighed.text.contains("must be at least the weight of the empty spool"), "{}", weighed.text);
        }
        assert_eq!(slot(&floor, 0).await["remaining"], 769.5);

        // It is in one slot only.
        let moved = load(&two, "769.5").await;
        assert!(moved.status == 200 && moved.text.contains(">Loaded<"), "{}", moved.text);
        let (first, second) = (slot(&floor, 0).await, slot(&floor, 1).await);
        assert_eq!((&first["spoolId"], &first["materialId"]), (&Value::Null, &Value::Null), "{first}");
        assert_eq!((&second["spoolId"], &second["remaining"]), (&json!(4711), &json!(769.5)), "{second}");

        let retired = send(&sam, &path("/retire"), &[("form_token", &*own), ("writeOff", "true")]).await;
        assert!(retired.status == 200 && retired.text.contains("On the shelf"), "{}", retired.text);
        assert_eq!(slot(&floor, 1).await["spoolId"], Value::Null);
        let stock = sam.get(&format!("/shop/stock/materials/{material}")).await;
        for words in ["spool 4711 was retired", "-769.5", "<td>Sam</td>"] {
            assert!(ledger(&stock).contains(words), "{words} in {}", stock.text);
        }
        let left = floor.app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
        assert_eq!(left["quantity"], 230.5);
    }
}

#[tokio::test]
async fn what_is_in_a_slot_is_said_on_the_page() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    let list = sam.get("/shop/stock/slots").await;
    is_sound(&list);
    let place = format!("{}/0", floor.printers[0]);
    let page = sam.get(&format!("/shop/stock/slots?place={place}")).await;
    is_sound(&page);
    let own = token(&page);
    let say = async |material: &str, left: &str, more: &[(&'static str, &'static str)]| {
        let fields = [("form_token", &*own), ("place", &*place), ("materialId", material), ("remaining", left)];
        send(&sam, "/shop/stock/slots", &[&fields[..], more].concat()).await
    };
    let wrong = say(&floor.material, "much", &[("spoolId", "12")]).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    is_sound(&wrong);
    assert!(wrong.text.contains("value=\"much\"") && wrong.text.contains("role=\"alert\""), "{}", wrong.text);
    let right = say(&floor.material, "750,5", &[("spoolId", "12")]).await;
    assert_eq!(right.status, 200, "{}", right.text);
    is_sound(&right);
    assert!(right.text.contains("750.5 g left") && right.text.contains(">Spool 12<"), "{}", right.text);
    let slot_view = slot(&floor, 0).await;
    assert_eq!((&slot_view["materialId"], &slot_view["spoolId"]), (&json!(floor.material), &json!(12)), "{slot_view}");
    let empty = say(&floor.material, "750.5", &[("empty", "true")]).await;
    assert_eq!(empty.status, 200, "{}", empty.text);
    assert_eq!(slot(&floor, 0).await["materialId"], Value::Null);
    let nowhere = send(&sam, "/shop/stock/slots", &[("form_token", &*own), ("place", "x")]).await;
    assert_eq!(nowhere.status, 400, "{}", nowhere.text);
    is_sound(&nowhere);
}

#[tokio::test]
async fn what_was_ordered_is_received_from_the_list_with_one_press() {
    let app = App::new(crate::support::Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let material = format!("/api/inventory/materials/{}", app.material("PLA black", 100.0).await);
    app.patch(&material, &json!({"reorderPoint": 200})).await.expect(200);
    let list = sam.get("/shop/stock").await;
    is_sound(&list);
    let path = format!("{}/receive", material.replace("/api/inventory/", "/shop/stock/"));
    assert!(list.text.contains(&format!("action=\"{path}\"")), "{}", list.text);
    assert!(list.text.contains(">Receive 1000 g</button>"), "{}", list.text);
    let own = token(&list);
    let fields = [("form_token", &*own), ("back", "/shop/stock"), ("delta", "1000"), ("reason", "delivery")];
    let received = send(&sam, &path, &fields).await;
    assert!(received.status == 200 && received.text.contains("<h1>Stock</h1>"), "{}", received.text);
    assert!(!received.text.contains("To order ("), "{}", received.text);
    assert_eq!(app.get(&material).await.expect(200)["quantity"], 1_100);
}

#[tokio::test]
async fn a_delivery_is_booked_once_for_a_page_however_often_its_button_is_pressed() {
    let app = App::new(crate::support::Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let material = format!("/api/inventory/materials/{}", app.material("PLA black", 100.0).await);
    app.patch(&material, &json!({"reorderPoint": 200})).await.expect(200);
    let page_path = material.replace("/api/inventory/", "/shop/stock/");
    let path = format!("{page_path}/receive");
    let stock = || async { app.get(&material).await.expect(200)["quantity"].clone() };
    for (times, page) in ["/shop/stock", &*page_path].into_iter().enumerate() {
        let page = sam.get(page).await;
        let (form, _) = page.text.split_once(">Receive 1000 g</button>").unwrap_or_else(|| panic!("{}", page.text));
        let (_, form) = form.rsplit_once("<form ").unwrap_or_else(|| panic!("{}", page.text));
        assert!(form.contains("name=\"once\" value=\"true\""), "{form}");
        let own = token(&page);
        let fields = [("form_token", &*own), ("once", "true"), ("delta", "1000"), ("reason", "delivery")];
        let (first, second) = tokio::join!(send(&sam, &path, &fields), send(&sam, &path, &fields));
        for received in [first, second, send(&sam, &path, &fields).await] {
            assert_eq!(received.status, 200, "{}", received.text);
        }
        assert_eq!(stock().await, 100 + 1_000 * (times + 1), "each page receives once");
    }
    // The key of a page is good for one amount only.
    let own = token(&sam.get(&page_path).await);
    for (amount, status) in [("5", 200), ("6", 422)] {
        let fields = [("form_token", &*own), ("once", "true"), ("delta", amount), ("reason", "delivery")];
        let answer = send(&sam, &path, &fields).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    assert_eq!(stock().await, 2_105);
}

#[tokio::test]
async fn stock_is_for_the_staff_alone() {
    let app = App::new(crate::support::Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let material = app.material("PLA black", 100.0).await;
    let key = crate::api::with_role(&app, "admin").await;
    for path in [
        "/shop/stock",
        "/shop/stock?q=pla&low=true&from=5",
        "/shop/stock/new",
        "/shop/stock/slots",
        "/shop/stock/slots?place=x&from=3",
        "/shop/stock/bins",
        "/shop/stock/bins?name=%3Cb%3E",
        "/shop/stock/spools/7",
        &format!("/shop/stock/materials/{material}"),
        &format!("/shop/stock/materials/{material}?from=50"),
        &format!("/shop/stock/materials/{material}/edit"),
        "/shop/labels",
    ] {
        let page = sam.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        is_sound(&page);
        let led = app.nobody().get(path).await;
        // Whoever scanned a label comes back to it after the sign-in.
        let next = url::form_urlencoded::byte_serialize(path.as_bytes()).collect::<String>();
        assert_eq!((led.status, led.header("location")), (303, Some(&*format!("/login?next={next}"))), "{path}");
        assert_eq!(key.get(path).await.status, 403, "{path}");
    }
    for path in [
        format!("/shop/stock/materials/{NOTHING}"),
        format!("/shop/stock/materials/{NOTHING}/edit"),
        "/shop/stock/spools/0".to_owned(),
        "/shop/stock/spools/x".to_owned(),
    ] {
        let page = sam.get(&path).await;
        assert_eq!(page.status, 404, "{path}: {}", page.text);
        is_sound(&page);
    }
    let forged = send(&sam, &format!("/shop/stock/materials/{material}/count"), &[("quantity", "1")]).await;
    assert_eq!(forged.status, 403, "{}", forged.text);
    assert_eq!(app.get(&format!("/api/inventory/materials/{material}")).await.expect(200)["quantity"], 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_shows_stock_and_labels_on_a_phone() {
    let Some(mut browser) = Browser::start().await else { return };
    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    staff(&floor.app, SAM, "operator").await;
    let cookie = sign_in(&floor.app, SAM, PASSWORD).await;
    let (base, material) = (floor.app.base.clone(), floor.material.as_str());
    let spool = json!({"materialId": material, "remaining": 800, "spoolId": 4711});
    floor.app.post(&format!("{}/slots/0", floor.path(0, "")), &spool).await.expect(200);
    let place = json!({"location": "Shelf A3", "reorderPoint": 2000, "reorderQuantity": 3000});
    floor.app.patch(&format!("/api/inventory/materials/{material}"), &place).await.expect(200);
    let tab = browser.open(&base, "/shop/stock", Some(&cookie)).await;
    browser.width(&tab, 360).await;
    for path in [
        "/shop/stock",
        "/shop/stock/new",
        "/shop/stock/bins",
        "/shop/stock/bins?name=Shelf+A3",
        "/shop/stock/slots",
        &format!("/shop/stock/slots?place={}/0", floor.printers[0]),
        "/shop/stock/spools/4711",
        "/shop/labels",
        &format!("/shop/stock/materials/{material}"),
    ] {
        browser.go(&tab, &format!("{base}{path}")).await;
        let there = format!("location.pathname + location.search === '{path}' && document.querySelector('h1')");
        browser.until(&tab, path, &there).await;
        browser.eval(&tab, "document.querySelectorAll('details').forEach(one => { one.open = true; })").await;
        let fits = "document.documentElement.scrollWidth <= window.innerWidth";
        browser.until(&tab, &format!("{path} to fit a phone"), fits).await;
    }
    // What is to be ordered stands on the line of its name; without bars, nothing explains them.
    browser.go(&tab, &format!("{base}/shop/stock")).await;
    let row = "document.querySelector('.to-order > li')";
    let together = format!(
        "{row} && (() => {{ const [name, order] = [0, 2].map(n => {row}.children[n].getBoundingClientRect()); \
         return Math.abs(name.top + name.bottom - order.top - order.bottom) < 8 && order.right <= innerWidth \
         && !document.querySelector('.levels-note').getClientRects().length; }})()"
    );
    browser.until(&tab, "the order beside its name", &together).await;
    browser.go(&tab, &format!("{base}/shop/stock/materials/{material}")).await;
    let bar = "document.querySelector('.level .low') && document.querySelector('.chart .line').getTotalLength() > 0";
    browser.until(&tab, "a bar and a chart", bar).await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
