//! Views of the floor: narrowed, as a plan of the rooms, from far away; what is expected next; how warm it was.

use serde_json::json;
use simulator::PrinterKind;

use super::{is_sound, operator};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::waiting::until_seen;
use crate::support::{on_sqlite, until};

/// Counts the cards of a page that are shown, and those that are hidden.
fn cards(page: &str) -> (usize, usize) {
    (page.matches("<li id=\"printer-").count(), page.matches("<li hidden id=\"printer-").count())
}

on_sqlite! {
    async fn the_floor_is_narrowed_and_shown_as_it_stands_in_its_rooms(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 3, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (_, job) = floor.one().await;
        let on = floor.app.job_is(&job, "PRINTING").await["printerId"].as_str().unwrap().to_owned();
        until("one to work", || async { (cards(&sam.get("/floor?state=working").await.text) == (1, 2)).then_some(()) }).await;
        let working = sam.get("/floor?state=working").await;
        is_sound(&working);
        assert!(working.text.contains(&format!("<li id=\"printer-{on}\"")), "{}", working.text);
        assert!(working.text.contains("<option value=\"working\" selected"), "{}", working.text);
        for (query, counts) in [
            ("?state=idle", (2, 1)), ("?state=error", (0, 3)), ("?state=purple", (3, 0)),
            ("?q=nobody%20has%20this", (0, 3)),
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
            let words = ["Column 1", "Column 2", "Row 1", "Row 3", "Nobody said where"];
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
        assert!(wall.text.contains(">Back to the floor</a>") && !wall.text.contains("Holding the red"), "{}", wall.text);
    }

    async fn a_card_says_which_layer_is_printed(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        floor.one().await;
        until("the layer", || async { sam.get("/floor").await.text.contains(" · layer 1 of ").then_some(()) }).await;
    }

    async fn a_printer_tells_what_it_is_expected_to_print_next_and_how_warm_it_was(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let order = floor.order(3).await;
        let path = format!("/floor/printers/{}", floor.printers[0]);
        let page = until("the others to be expected next", || async {
            let page = sam.get(&path).await;
            let jobs = page.text.split_once("Expected next").map_or(0, |(_, next)| next.matches("JOB-").count());
            (jobs >= 2).then_some(page)
        })
        .await;
        is_sound(&page);
        assert!(page.text.contains(&format!("/shop/orders/{order}#job-")), "{}", page.text);
        until("the card to count them", || async {
            sam.get("/floor").await.text.contains("2 jobs behind it").then_some(())
        })
        .await;
        let warm = until("temperatures", || async {
            let page = sam.get(&path).await;
            page.text.contains("Temperatures of the last half hour").then_some(page)
        })
        .await;
        is_sound(&warm);
        let drawn = warm.text.split_once("class=\"chart\"").expect("a drawing").1;
        assert!(drawn.contains("<polyline class=\"heat-tool\"") && drawn.contains(">Nozzle<"), "{drawn}");
        until("the tab to say how far it is", || async {
            let page = sam.get(&path).await.text;
            (page.contains("data-percent=\"") && page.contains("data-title=\"1 printing, ")).then_some(())
        })
        .await;
    }
}
