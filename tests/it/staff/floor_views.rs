//! Views of the floor: filtered, as a plan of the rooms, and for a wall display; the upcoming events; and the
//! temperature history.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::{OPERATOR, is_sound, operator};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::stream::Stream;
use crate::support::waiting::until_seen;
use crate::support::{App, Db, on_sqlite, until};

/// Returns the numbers of visible and of hidden cards on a page.
fn cards(page: &str) -> (usize, usize) {
    (page.matches("<li id=\"printer-").count(), page.matches("<li hidden id=\"printer-").count())
}

/// Returns the part of a page with the jobs that wait.
fn up_next(page: &str) -> &str {
    let begin = page.find("<section id=\"up-next\"").unwrap_or_else(|| panic!("no jobs that wait: {page}"));
    page[begin..].split("</section>").next().unwrap()
}

/// Registers a printer at an address where nothing is listening.
async fn add(app: &App, n: usize) {
    let body = json!({
        "name": format!("Printer {n}"), "type": "fw_rest", "machineType": "fdm_standard",
        "baseUrl": format!("http://127.0.0.1:9/{n}"), "buildVolume": {"x": 220, "y": 220, "z": 250},
    });
    app.post("/api/printers", &body).await.expect(201);
}

#[tokio::test]
async fn more_than_a_dozen_printers_are_compact_unless_somebody_chose_a_size() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let has_class = |page: &str, class: &str| page.contains(&format!("<div id=\"cards\" class=\"{class}\""));
    let mut added = 0;
    for (count, class) in [(12, "floor comfortable"), (13, "floor auto")] {
        while added < count {
            add(&app, added).await;
            added += 1;
        }
        let page = until("a card of each", || async {
            let page = sam.get("/floor").await;
            (cards(&page.text) == (count, 0)).then_some(page)
        })
        .await;
        is_sound(&page);
        assert!(has_class(&page.text, class), "{count}: {}", page.text);
    }
    // Printers that are left out count as well.
    assert!(has_class(&sam.get("/floor?q=nobody%20has%20this").await.text, "floor auto"));
    for (size, class) in [
        ("medium", "floor comfortable"),
        ("small", "floor compact"),
        ("dense", "floor compact dense"),
        ("large", "floor large"),
    ] {
        let page = sam.get(&format!("/floor?size={size}")).await;
        is_sound(&page);
        assert!(has_class(&page.text, class), "{size}: {}", page.text);
        // The filters keep it, and the search.
        let choices = [
            format!("href=\"/floor?state=ready&amp;size={size}\""),
            format!("<input type=\"hidden\" name=\"size\" value=\"{size}\">"),
            format!("<option value=\"{size}\" selected>"),
        ];
        for text in &choices {
            assert!(page.text.contains(text), "{text} in {}", page.text);
        }
    }
}

on_sqlite! {
    async fn the_floor_says_what_prints_next_and_why_jobs_wait(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let idle = sam.get("/floor").await;
        is_sound(&idle);
        assert!(up_next(&idle.text).contains("No jobs are waiting for a printer."), "{}", idle.text);
        let mut stream = Stream::open(&sam, "/floor/live", None).await;
        let order = floor.order(4).await;
        let in_state = |jobs: &[Value], state: &str| {
            jobs.iter().filter(|job| job["state"] == state).cloned().collect::<Vec<Value>>()
        };
        let waiting = until("one to print and three to wait", || async {
            let jobs = floor.app.jobs(&order).await;
            (in_state(&jobs, "PRINTING").len() == 1).then(|| in_state(&jobs, "SLICED")).filter(|jobs| jobs.len() == 3)
        })
        .await;
        let page = until_seen("the jobs that wait, with their reasons", || async {
            let page = sam.get("/floor").await;
            let (part, jobs) = (up_next(&page.text), in_state(&floor.app.jobs(&order).await, "SLICED"));
            let is_shown = |job: &Value| {
                let [id, number, reason] = ["id", "number", "waitingReason"].map(|name| job[name].as_str().unwrap());
                let link = format!("<a href=\"/shop/orders/{order}#job-{id}\" title=\"{number} ");
                // Times are written as people read them.
                let begin = reason.split(|letter: char| letter.is_ascii_digit()).next().unwrap();
                part.contains(&link) && part.contains(begin)
            };
            let are_shown = part.contains(">3 waiting</a>") && jobs.iter().all(is_shown);
            if are_shown { Ok(page) } else { Err(page.text) }
        })
        .await;
        is_sound(&page);
        // The card names the first of them with its print time, and so does the page of the printer.
        let names_first = |page: &str| {
            let next = page.split_once("Next: </span>").map_or("", |(_, rest)| rest.split("</span>").next().unwrap());
            let is_named = waiting.iter().any(|job| next.starts_with(&format!("{} ", job["number"].as_str().unwrap())));
            is_named && next.contains(", ") && next.ends_with(" min and 2 more")
        };
        let path = format!("/floor/printers/{}", floor.printers[0]);
        for path in ["/floor", path.as_str()] {
            until_seen("the next job", || async {
                let page = sam.get(path).await;
                if names_first(&page.text) { Ok(()) } else { Err(page.text) }
            })
            .await;
        }
        let queue = sam.get(&path).await;
        assert!(queue.text.split_once("Up next").unwrap().1.contains(" min · ends <time"), "{}", queue.text);
        // Open pages are told.
        loop {
            let sent = stream.next().await.expect("the stream goes on");
            if sent.data["id"] == "up-next" && sent.data["html"].as_str().unwrap().contains(">3 waiting</a>") {
                break;
            }
        }
    }

    async fn the_floor_is_narrowed_and_shown_as_it_stands_in_its_rooms(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 3, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (_, job) = floor.one().await;
        let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
        until("one to work", || async { (cards(&sam.get("/floor?state=working").await.text) == (1, 2)).then_some(()) }).await;
        let working = sam.get("/floor?state=working").await;
        is_sound(&working);
        assert!(working.text.contains(&format!("<li id=\"printer-{on}\"")), "{}", working.text);
        let printing = sam.get("/floor?state=printing").await;
        is_sound(&printing);
        assert!(printing.text.contains("data-narrow=\"printing\" aria-current=\"true\""), "{}", printing.text);
        for (group, count) in [("", 3), ("printing", 1), ("ready", 2), ("need-you", 0), ("offline", 0)] {
            let counted = format!("<b data-count=\"{group}\">{count}</b>");
            assert!(printing.text.contains(&counted), "{group}: {}", printing.text);
        }
        for (query, counts) in [
            ("?state=idle", (2, 1)), ("?state=error", (0, 3)), ("?state=purple", (3, 0)),
            ("?q=nobody%20has%20this", (0, 3)), ("?state=printing", (1, 2)), ("?state=ready", (2, 1)),
            ("?state=need-you", (0, 3)), ("?group=place&state=ready", (2, 1)), ("?size=small", (3, 0)),
        ] {
            assert_eq!(cards(&sam.get(&format!("/floor{query}")).await.text), counts, "{query}");
        }
        for (n, place) in [json!({"row": 1, "column": 2}), json!({"row": 3, "column": 1})].into_iter().enumerate() {
            floor.app.patch(&floor.path(n, ""), &json!({"location": "Cellar", "position": place})).await.expect(200);
        }
        // Rows from the front, columns from the left; who said nothing stands below.
        let plan = until_seen("the plan of the room", || async {
            let plan = sam.get("/floor?view=plan").await;
            let room = plan.text.split_once("Cellar").map(|(_, room)| room);
            let words = ["Column 1", "Column 2", "Row 1", "Row 3", "No location"];
            if room.is_some_and(|room| words.iter().all(|words| room.contains(words))) { Ok(plan) } else { Err(plan.text) }
        })
        .await;
        is_sound(&plan);
        let room = plan.text.split_once("Cellar").unwrap().1;
        assert!(!room.contains("Row 2"), "a row without printers: {room}");
        let at = |n: usize| plan.text.find(&format!("<li id=\"printer-{}\"", floor.printers[n])).expect("a card");
        assert!(at(0) < at(1) && at(1) < at(2), "{}", plan.text);
        assert_eq!(cards(&sam.get("/floor?q=cellar").await.text), (2, 1), "found by where they stand");
        let wall = sam.get("/floor?wall=1").await;
        is_sound(&wall);
        assert!(wall.text.contains("class=\"wall\"") && !wall.text.contains("<nav"), "{}", wall.text);
        // There is a way back, and no word of buttons that are not there.
        assert!(wall.text.contains(">Back to the floor</a>") && !wall.text.contains("red octagon"), "{}", wall.text);
        // The script turns its pages, at the interval set in the URL.
        assert!(wall.text.contains(" data-turn-seconds=\"10\""), "{}", wall.text);
        let slow = sam.get("/floor?wall=1&turn=30").await;
        assert!(slow.text.contains(" data-turn-seconds=\"30\""), "{}", slow.text);
        assert!(!sam.get("/floor?turn=30").await.text.contains("data-turn-seconds"), "the floor has no pages");
    }

    async fn the_floor_stands_in_sections_by_state_place_or_model(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 3, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        floor.app.patch(&floor.path(0, ""), &json!({"location": "Cellar", "model": "X1C"})).await.expect(200);
        floor.app.patch(&floor.path(1, ""), &json!({"location": "Attic"})).await.expect(200);
        let order_of = |page: &str, words: &[&str]| {
            let places: Vec<Option<usize>> = words.iter().map(|words| page.find(words)).collect();
            places.iter().all(Option::is_some) && places.is_sorted()
        };
        let card = |n: usize| format!("<li id=\"printer-{}\"", floor.printers[n]);
        let [first, second, third] = [0, 1, 2].map(card);
        let by_place = [">Attic</h2>", second.as_str(), ">Cellar</h2>", first.as_str(), ">No location</h2>", third.as_str()];
        let by_model = [">X1C</h2>", first.as_str(), ">No model</h2>", second.as_str()];
        for (query, words) in [("?group=place", &by_place[..]), ("?group=model&size=small", &by_model[..])] {
            let page = until_seen("the sections", || async {
                let page = sam.get(&format!("/floor{query}")).await;
                if order_of(&page.text, words) { Ok(page) } else { Err(page.text) }
            })
            .await;
            is_sound(&page);
        }
        // By state all sections are there, and those in which nothing stands are hidden.
        let (_, job) = floor.one().await;
        let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
        floor.app.act(&format!("/api/printers/{on}/pause")).await.expect(200);
        let paused = floor.printers.iter().position(|id| *id == on).map(card).unwrap();
        let other = floor.printers.iter().position(|id| *id != on).map(card).unwrap();
        let page = until_seen("the paused printer to need a person", || async {
            let page = sam.get("/floor").await;
            let words =
                [">Needing attention</h2>", &*paused, ">Offline or out of service</h2>", ">Printing</h2>", ">Ready</h2>", &*other];
            if order_of(&page.text, &words) { Ok(page) } else { Err(page.text) }
        })
        .await;
        is_sound(&page);
        assert_eq!(page.text.matches("<section aria-labelledby=\"section-").count(), 4, "{}", page.text);
        for section in ["section-1", "section-2"] {
            let hidden = format!("<section aria-labelledby=\"{section}\" hidden>");
            assert!(page.text.contains(&hidden), "nothing is offline or prints: {}", page.text);
        }
    }

    async fn jobs_and_orders_say_that_their_printer_does_not_respond(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let pages = [
            "/shop/jobs".to_owned(), format!("/shop/jobs/{job}"),
            "/shop/orders".to_owned(), format!("/shop/orders/{order}"),
        ];
        let says = async |words: &str| {
            for path in &pages {
                let page = until_seen(&format!("{path} to say so"), || async {
                    let page = sam.get(path).await;
                    if page.text.contains(words) { Ok(page) } else { Err(page.text) }
                })
                .await;
                is_sound(&page);
            }
        };
        says("<span class=\"state running\">Printing</span>").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        let name = floor.app.get(&floor.path(0, "")).await.expect(200)["name"].as_str().unwrap().to_owned();
        let begin = "<span class=\"state attention\" title=\"Last known state: Printing\">";
        says(&format!("{begin}<span>No answer from {name} since <time")).await;
        floor.faults(0, |faults| faults.disconnect = false);
        says("<span class=\"state running\">Printing</span>").await;
    }

    async fn a_card_says_which_layer_is_printed(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        floor.one().await;
        until("the layer", || async { sam.get("/floor").await.text.contains("Layer </span>1/").then_some(()) }).await;
    }

    async fn a_printer_tells_what_it_is_expected_to_print_next_and_how_warm_it_was(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let order = floor.order(3).await;
        let path = format!("/floor/printers/{}", floor.printers[0]);
        let page = until("the others to be expected next", || async {
            let page = sam.get(&path).await;
            let jobs = page.text.split_once("Up next").map_or(0, |(_, next)| next.matches("JOB-").count());
            (jobs >= 2).then_some(page)
        })
        .await;
        is_sound(&page);
        assert!(page.text.contains(&format!("/shop/orders/{order}#job-")), "{}", page.text);
        until("the card to count them", || async {
            sam.get("/floor").await.text.contains(" and 1 more").then_some(())
        })
        .await;
        let warm = until("temperatures", || async {
            let page = sam.get(&path).await;
            page.text.contains("<dt class=\"heat-tool\">Nozzle</dt>").then_some(page)
        })
        .await;
        is_sound(&warm);
        let readings = warm.text.split_once("id=\"printer-readings\"").expect("readings").1;
        let readings = readings.split("</section>").next().unwrap();
        // They are read again while it prints; a chart of a few points would be almost empty.
        assert!(readings.contains(">Readings</h2>") && readings.contains("data-goes-on"), "{readings}");
        assert!(!readings.contains("<svg"), "{readings}");
        until("the tab to say how far it is", || async {
            let page = sam.get(&path).await.text;
            (page.contains("data-percent=\"") && page.contains("data-title=\"1 printing, ")).then_some(())
        })
        .await;
    }
}
