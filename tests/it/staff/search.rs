//! Shop-wide search: what is found of each kind, what leads straight to a page, and what is refused.

use serde_json::json;
use simulator::PrinterKind;

use super::{OPERATOR, is_sound, operator};
use crate::api::some_sku;
use crate::billing::customer;
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite};

/// Maximum number of results of each kind.
const MAX_HITS: usize = 5;

/// Returns the page of a search.
async fn results(client: &Client, query: &str) -> Answer {
    let page = client.get(&format!("/shop/search?q={query}")).await;
    assert_eq!(page.status, 200, "{query}: {}", page.text);
    is_sound(&page);
    page
}

/// Checks that a search leads straight to a page.
async fn leads(client: &Client, query: &str, path: &str) {
    let answer = client.get(&format!("/shop/search?q={query}")).await;
    assert_eq!((answer.status, answer.header("location")), (303, Some(path)), "{query}: {}", answer.text);
}

on_sqlite! {
    async fn a_few_of_each_kind_are_found_and_one_that_is_named_is_opened(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
        let (app, sam) = (&floor.app, operator(&floor.app).await);
        for (n, name) in ["Curie", "Curie 2"].into_iter().enumerate() {
            app.patch(&floor.path(n, ""), &json!({"name": name, "location": "Hall 7"})).await.expect(200);
        }
        let spool = json!({"materialId": floor.material, "remaining": 800, "spoolId": 4711});
        app.post(&format!("{}/slots/0", floor.path(0, "")), &spool).await.expect(200);
        customer(app, "ann@example.com").await;
        let ann = app.get("/api/customers?email=ann@example.com").await.expect(200)["customers"][0]["id"].clone();
        let order = floor.order(1).await;
        let job = app.jobs(&order).await[0].clone();

        let of_order = format!("/shop/orders/{order}");
        let of_job = format!("/shop/jobs/{}", job["id"].as_str().unwrap());
        let printers = [0, 1].map(|n| format!("/floor/printers/{}", floor.printers[n]));
        let of_spool = format!("/shop/stock/spools/4711?material={}", floor.material);
        let of_material = format!("/shop/stock/materials/{}", floor.material);
        for (query, path, list, words) in [
            ("buyer", &of_order, "/shop/orders?q=buyer", "buyer@example.org"),
            ("cur", &printers[0], "/floor?q=cur", "Hall 7"),
            ("hall+7", &printers[1], "/floor?q=hall+7", "Hall 7"),
            ("%2347", &of_spool, "/shop/stock/slots", " left, in Curie"),
            ("a+b", &of_material, "/shop/stock?q=a+b", ">Enough, "),
            ("part", &format!("/shop/products/{}", floor.sku), "/shop/products?q=part", ">Offered, PART, "),
            ("ann", &format!("/shop/customers/{}", ann.as_str().unwrap()), "/shop/customers?q=ann", "ann@example.com"),
        ] {
            let page = results(&sam, query).await;
            for words in [format!("href=\"{path}\""), format!("href=\"{list}\""), words.to_owned()] {
                assert!(page.text.contains(&words), "{query}: {words} in {}", page.text);
            }
            assert!(!page.text.contains("Nothing matches"), "{query}: {}", page.text);
            // A search is not repeated whenever something happens.
            assert!(!page.text.contains("data-fresh"), "{query}: {}", page.text);
        }

        let number = job["number"].as_str().unwrap().to_owned();
        leads(&sam, "ORD-000001", &of_order).await;
        leads(&sam, "ord-1", &of_order).await;
        leads(&sam, &number, &of_job).await;
        leads(&sam, "+curie+", &printers[0]).await;
        leads(&sam, "4711", &of_spool).await;
        // The first order and the first job have the same number.
        let both = results(&sam, "1").await;
        for path in [&of_order, &of_job] {
            assert!(both.text.contains(&format!("href=\"{path}\"")), "{path} in {}", both.text);
        }
        let none = results(&sam, "ORD-000099").await;
        assert!(none.text.contains("Nothing matches “ORD-000099”."), "{}", none.text);
    }
}

#[tokio::test]
async fn more_than_a_few_are_in_the_list_and_an_exact_code_comes_first() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    some_sku(&app).await;
    let (material, file) = (app.material("PETG", 100.0).await, app.gcode("gear", 60, 10.0).await);
    let exact = app.sku("GEAR", &material, &file, 100).await;
    for n in 0..=MAX_HITS {
        app.sku(&format!("GEAR-{n}"), &material, &file, 100).await;
    }
    let page = results(&sam, "GEAR").await;
    assert_eq!(page.text.matches("<li class=\"row\"").count(), MAX_HITS, "{}", page.text);
    assert!(page.text.contains("All matching products"), "{}", page.text);
    let first = page.text.split("<li class=\"row\"").nth(1).unwrap();
    assert!(first.contains(&format!("href=\"/shop/products/{exact}\"")), "{first}");
    assert!(page.text.contains("value=\"GEAR\""), "what was typed stays: {}", page.text);
}

#[tokio::test]
async fn a_search_for_nothing_says_what_can_be_searched_and_a_long_one_is_refused() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    for query in ["", "?q=", "?q=+"] {
        let page = sam.get(&format!("/shop/search{query}")).await;
        assert_eq!(page.status, 200, "{query}: {}", page.text);
        is_sound(&page);
        assert!(page.text.contains("Search for orders, jobs and spools by number"), "{query}: {}", page.text);
        assert!(!page.text.contains("Nothing matches"), "{query}: {}", page.text);
    }
    let hostile = results(&sam, "%3Cscript%3Ealert(1)%3C/script%3E%22'%26").await;
    assert!(hostile.text.contains("Nothing matches “&lt;script&gt;"), "{}", hostile.text);
    let longest = "ä".repeat(200);
    results(&sam, &longest).await;
    let long = sam.get(&format!("/shop/search?q={longest}ä")).await;
    assert_eq!(long.status, 400, "{}", long.text);
    is_sound(&long);
}

#[tokio::test]
async fn the_search_and_the_scan_are_german() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    some_sku(&app).await;
    let german = |path: &str| sam.send(sam.request("GET", path).header("accept-language", "de"));
    for (path, texts) in [
        (
            "/shop/search?q=part",
            [">Suche</h1>", ">Alle passenden Produkte</a>", "Druckaufträge nach Produkt oder Datei"],
        ),
        (
            "/shop/search?q=zzz",
            ["Keine Treffer für „zzz“.", "Bestellungen, Druckaufträge und Spulen finden Sie", "Suchen<"],
        ),
        ("/to-do", ["Etikett scannen</button>", "Schließen</button>", "Richten Sie die Kamera auf den QR-Code"]),
    ] {
        let page = german(path).await;
        is_sound(&page);
        for text in texts {
            assert!(page.text.contains(text), "{text} in {}", page.text);
        }
    }
}
