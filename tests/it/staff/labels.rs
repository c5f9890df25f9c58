//! Labels: the pages that their codes open, and that whoever scans one can complete the pending task with a single
//! form.

use serde_json::json;
use simulator::PrinterKind;

use super::{OPERATOR, SAM, is_sound, operator, print_on};
use crate::api::{PASSWORD, staff, with_cookie};
use crate::billing::pages::{posted, send, token};
use crate::machines::{FAST, Floor, JUDGE_LATE};
use crate::support::client::Answer;
use crate::support::{App, on_sqlite};

/// Returns the addresses in the labels of a PDF, sorted.
fn addresses(pdf: &Answer) -> Vec<&str> {
    assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")), "{}", pdf.text);
    assert!(pdf.text.starts_with("%PDF-"), "{}", pdf.text);
    let after = pdf.text.split("/URI(").skip(1).chain(pdf.text.split("/URI (").skip(1));
    let mut all: Vec<&str> = after.map(|rest| rest.split(')').next().unwrap()).collect();
    all.sort_unstable();
    all
}

on_sqlite! {
    async fn a_scanned_printer_is_cleared_after_the_sign_in(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE]).await;
        for n in 0..2 {
            floor.app.patch(&floor.path(n, ""), &json!({"autoClear": false})).await.expect(200);
        }
        let sam = operator(&floor.app).await;
        let page = sam.get("/shop/labels").await;
        is_sound(&page);
        for printer in &floor.printers {
            assert!(page.text.contains(&format!("value=\"{printer}\"")), "{}", page.text);
        }
        let (one, two) = (&floor.printers[0], &floor.printers[1]);
        for size in ["62x29", "a4"] {
            let pdf = sam.get(&format!("/shop/labels/pdf?printer={one}&printer={two}&size={size}")).await;
            let base = &floor.app.base;
            let mut expected = [one, two].map(|id| format!("{base}/floor/printers/{id}"));
            expected.sort_unstable();
            assert_eq!(addresses(&pdf), expected, "{size}");
        }
        let (_, job) = floor.one().await;
        let on = floor.app.job_is(&job, "COMPLETED").await["printerId"].as_str().unwrap().to_owned();
        let n = floor.printers.iter().position(|id| *id == on).unwrap();
        floor.attention(n, "bed_not_cleared", true).await;

        // Nobody has signed in on the phone that scans it.
        let scanned = format!("/floor/printers/{on}");
        let phone = floor.app.nobody();
        let led = phone.get(&scanned).await;
        let to = led.header("location").unwrap().to_owned();
        assert_eq!(led.status, 303);
        let form = phone.get(&to).await;
        assert!(form.text.contains(&format!("name=\"next\" value=\"{scanned}\"")), "{}", form.text);
        let credentials = [("email", SAM), ("password", PASSWORD), ("next", &*scanned)];
        let entered = posted(&phone, "/login", &credentials).await;
        assert_eq!((entered.status, entered.header("location")), (303, Some(&*scanned)), "{}", entered.text);
        let phone = with_cookie(&floor.app, entered.header("set-cookie").unwrap().split(';').next().unwrap());
        let page = phone.get(&scanned).await;
        is_sound(&page);
        assert!(page.text.contains("Bed is clear"), "{}", page.text);
        let clear = format!("{scanned}/bed-cleared");
        send(&phone, &clear, &[("form_token", &*token(&page)), ("print", &*print_on(&page, &clear))]).await;
        floor.attention(n, "bed_not_cleared", false).await;
    }
}

#[tokio::test]
async fn labels_of_spools_and_bins_lead_to_their_pages() {
    let app = App::new(crate::support::Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    // The browser of this test is on the machine of the server; a phone would not be.
    let here = sam.get("/shop/labels").await.text;
    assert!(here.contains("Phones can't open this address") && here.contains(&app.base), "{here}");
    let elsewhere = |path: &str| sam.send(sam.request("GET", path).header("host", "192.168.1.5:8787"));
    let page = elsewhere("/shop/labels").await;
    is_sound(&page);
    assert!(page.text.contains("http://192.168.1.5:8787") && !page.text.contains("Phones can't"), "{}", page.text);
    let pdf = elsewhere("/shop/labels/pdf?spool=12").await;
    assert_eq!(addresses(&pdf), ["http://192.168.1.5:8787/shop/stock/spools/12"]);
    let nothing = sam.get("/shop/labels/pdf?printer=x&spool=0&bin=").await;
    assert_eq!(nothing.status, 400, "{}", nothing.text);
    is_sound(&nothing);
    let material = app.material("PLA black", 100.0).await;
    let place = json!({"location": "Shelf A3/4"});
    app.patch(&format!("/api/inventory/materials/{material}"), &place).await.expect(200);
    let page = sam.get("/shop/labels").await;
    is_sound(&page);
    assert!(page.text.contains("value=\"Shelf A3/4\"") && page.text.contains("PLA black"), "{}", page.text);

    let bins = sam.get("/shop/labels/pdf?bin=Shelf+A3%2F4").await;
    let bins = addresses(&bins);
    assert_eq!(bins, [format!("{}/shop/stock/bins?name=Shelf+A3%2F4", app.base)]);
    let bin = sam.get(bins[0].strip_prefix(&app.base).unwrap()).await;
    assert!(bin.status == 200 && bin.text.contains("PLA black"), "{}", bin.text);

    let new = sam.get(&format!("/shop/labels/pdf?new=3&material={material}&size=a4")).await;
    let new: Vec<&str> = addresses(&new);
    assert_eq!(new.len(), 3, "{new:?}");
    let mut different = new.clone();
    different.dedup();
    assert_eq!(different.len(), 3, "{new:?}");
    for address in new {
        let path = address.strip_prefix(&app.base).unwrap();
        assert!(path.starts_with("/shop/stock/spools/") && path.ends_with(&format!("?material={material}")), "{path}");
        let spool = sam.get(path).await;
        is_sound(&spool);
        assert!(spool.text.contains("PLA black") && spool.text.contains("On the shelf"), "{}", spool.text);
    }
    assert_eq!(sam.get("/shop/labels/pdf?new=3").await.status, 400, "of nothing");
    // Admins make them too.
    staff(&app, "ada@example.org", "admin").await;
    let ada = crate::api::signed_in(&app, "ada@example.org").await;
    assert_eq!(addresses(&ada.get("/shop/labels/pdf?spool=12").await), [format!("{}/shop/stock/spools/12", app.base)]);
}

#[tokio::test]
async fn where_another_system_counts_spools_it_numbers_them() {
    let app = App::on(crate::support::Db::sqlite()).env("PRINTFLOOR_SPOOLS__URL", "http://127.0.0.1:9").start().await;
    let sam = operator(&app).await;
    let material = app.material("PLA black", 100.0).await;
    let page = sam.get("/shop/labels").await;
    is_sound(&page);
    assert!(!page.text.contains("id=\"new-count\""), "{}", page.text);
    let refused = sam.get(&format!("/shop/labels/pdf?new=1&material={material}")).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    is_sound(&refused);
}
