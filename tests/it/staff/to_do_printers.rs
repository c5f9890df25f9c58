//! The to-do list: paused printers are tasks with their reason, and jobs are tasks only if a person has to act on them.

use serde_json::json;
use simulator::PrinterKind;
use simulator::bambu::Bambu;
use simulator::printer::Machine;

use super::{OPERATOR, field_on, is_sound, operator, print_on};
use crate::billing::pages::{posted, send, token};
use crate::machines::{FAST, Floor, JUDGE_LATE, JUDGE_SOON, SLOW};
use crate::support::client::Answer;
use crate::support::stream::Stream;
use crate::support::{Client, on_sqlite, until};

/// Heading of the jobs that need a person.
const STUCK: &str = "Jobs no printer can take";

/// Waits until the page contains all of these texts; returns the page.
async fn page_with(client: &Client, words: &[&str]) -> Answer {
    until("the page to have the words", || async {
        let page = client.get("/to-do").await;
        words.iter().all(|words| page.text.contains(words)).then_some(page)
    })
    .await
}

/// Returns the section of the page with tasks of one kind.
fn kind<'a>(page: &'a Answer, id: &str) -> &'a str {
    let rest = page.text.split_once(&format!("id=\"kind-{id}\"")).unwrap_or_else(|| panic!("{id}: {}", page.text)).1;
    rest.split("</section>").next().unwrap()
}

on_sqlite! {
    async fn a_job_that_waits_for_its_turn_is_no_task_and_one_without_a_printer_is_one(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let order = floor.order(3).await;
        until("one to print and two to wait", || async {
            let jobs = floor.app.jobs(&order).await;
            let count = |state: &str| jobs.iter().filter(|job| job["state"] == state).count();
            ((count("PRINTING"), count("SLICED")) == (1, 2)).then_some(())
        })
        .await;
        let page = page_with(&sam, &["all caught up"]).await;
        is_sound(&page);
        assert!(!page.text.contains(STUCK), "{}", page.text);

        // Nobody asks for a printer that was taken out of service on purpose: its jobs do.
        floor.app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        floor.clear_bed(0).await;
        floor.app.post(&floor.path(0, "/maintenance"), &json!({"on": true})).await.expect(200);
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "SLICED").await;
        let page = page_with(&sam, &[&format!("{STUCK} (1)")]).await;
        is_sound(&page);
        let number = floor.job(&job).await["number"].as_str().unwrap().to_owned();
        assert!(kind(&page, "waiting").contains(&number), "{}", page.text);
    }

    async fn a_material_is_one_task_that_names_each_printer(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let other = floor.app.material("PETG blue", 1000.0).await;
        for printer in 0..2 {
            floor.app.post(&floor.path(printer, "/slots/0"), &json!({"materialId": other})).await.expect(200);
        }
        floor.app.patch(&floor.path(1, ""), &json!({"machineType": "fdm_large"})).await.expect(200);
        let sku = floor.app.get(&format!("/api/skus/{}", floor.sku)).await.expect(200);
        let large = floor.app.sku("LARGE", &floor.material, sku["gcodeFileId"].as_str().unwrap(), 500).await;
        floor.app.patch(&format!("/api/skus/{large}"), &json!({"machineType": "fdm_large"})).await.expect(200);
        floor.order(1).await;
        floor.app.paid_order(&large, 1).await;
        let page = page_with(&sam, &["Spools to load (1)", "2 jobs can start"]).await;
        is_sound(&page);
        let task = kind(&page, "spools");
        assert!(task.contains("</a> into <a ") && task.contains("</a> and <a "), "{task}");
        assert_eq!(task.matches("btn primary").count(), 1, "one act stands out: {task}");
        for printer in &floor.printers {
            let load = format!("/shop/stock/slots?place={printer}/0&amp;material={}", floor.material);
            let link = format!("href=\"/floor/printers/{printer}\"");
            assert!(task.matches(&link).count() == 1 && task.contains(&load), "{printer}: {task}");
        }
    }

    async fn a_paused_print_is_a_task_with_who_paused_it_and_how_it_goes_on(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        assert!(!sam.get("/to-do").await.text.contains("Paused prints"));
        floor.app.act(&floor.path(0, "/pause")).await.expect(200);
        // The navigation counts the entries: on the page itself, and on the others after it.
        let count = |tasks: u64| format!("data-task-count=\"\"><span>{tasks}</span>");
        let page = page_with(&sam, &["Paused prints (1)", "Paused by a person", ">1 task<"]).await;
        is_sound(&page);
        for text in [&page.text, &sam.get("/shop/stock").await.text] {
            assert_eq!(text.matches(&count(1)).count(), 2, "{text}");
        }
        let (printer, task) = (&floor.printers[0], kind(&page, "paused"));
        let number = floor.job(&job).await["number"].as_str().unwrap().to_owned();
        for words in [
            &*format!("/floor/printers/{printer}#cancel\""),
            &*format!("/shop/orders/{order}#job-{job}\">ORD-"),
            &*format!("aria-label=\"Resume {number} on "),
            "</a> · <span class=\"faint\"><time ",
            " data-since=\"compact\">",
            "</span> · Paused by a person · ",
        ] {
            assert!(task.contains(words), "{words} in {task}");
        }
        let path = format!("/floor/printers/{printer}/resume");
        let fields = [("form_token", &*token(&page)), ("back", "/to-do"), ("print", &*print_on(&page, &path))];
        let done = send(&sam, &path, &fields).await;
        assert!(done.status == 200 && done.text.contains("<h1>To do</h1>"), "{}", done.text);
        floor.app.job_is(&job, "PRINTING").await;
        until("the task to be done", || async {
            (!sam.get("/to-do").await.text.contains("Paused prints")).then_some(())
        })
        .await;
        floor.sim(0).handle.with(Machine::pause).unwrap();
        // Nobody has to open the page for its entries to be counted.
        let mut stream = Stream::open(&sam, "/floor/live", None).await;
        loop {
            let sent = stream.next().await.expect("the stream goes on");
            let html = sent.data["html"].as_str().unwrap_or_default();
            if sent.data["id"] == "summary" && html.contains("data-tasks=\"1\"") {
                break;
            }
        }
        let page = page_with(&sam, &["Paused prints (1)", "Paused at the printer"]).await;
        assert!(!page.text.contains("Paused by a person"), "{}", page.text);
    }

    async fn printers_out_of_service_are_counted_beside_those_to_check(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        floor.app.post(&floor.path(1, "/maintenance"), &json!({"on": true})).await.expect(200);
        floor.faults(0, |faults| faults.disk_full = true);
        floor.one().await;
        floor.attention(0, "disk_full", true).await;
        let page = page_with(&sam, &["Printers to check (1)"]).await;
        is_sound(&page);
        assert!(kind(&page, "look").contains("1 more is out of service"), "{}", page.text);
    }

    async fn an_old_page_does_not_mark_a_printer_as_checked_that_has_another_problem(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_SOON]).await;
        let sam = operator(&floor.app).await;
        floor.faults(0, |faults| faults.disk_full = true);
        let (order, _) = floor.one().await;
        let path = format!("/floor/printers/{}/clear-attention", floor.printers[0]);
        let page_with_form = async |at: &str| {
            until("the form", || async {
                let page = sam.get(at).await;
                page.text.contains(&format!("action=\"{path}\"")).then_some(page)
            })
            .await
        };
        let page = page_with_form("/to-do").await;
        is_sound(&page);
        let (own, old) = (token(&page), field_on(&page, &path, "trouble"));
        // Somebody else has checked it. The next upload fills the disk again.
        floor.app.act(&floor.path(0, "/clear-attention")).await.expect(200);
        floor.attention(0, "disk_full", true).await;
        for meant in [&*old, ""] {
            let fields = [("form_token", &*own), ("back", "/to-do"), ("trouble", meant)];
            let refused = posted(&sam, &path, &fields).await;
            assert_eq!(refused.status, 409, "{}", refused.text);
            assert!(refused.text.contains("The printer has reported another problem since"), "{}", refused.text);
            is_sound(&refused);
        }
        floor.attention(0, "disk_full", true).await;
        floor.faults(0, |faults| faults.disk_full = false);
        // The floor is rendered for all who look at it at the same moment, also a moment ago.
        let page = until("the form of the later problem", || async {
            let page = page_with_form("/floor").await;
            (field_on(&page, &path, "trouble") != old).then_some(page)
        })
        .await;
        let fields = [("form_token", &*token(&page)), ("trouble", &*field_on(&page, &path, "trouble"))];
        let done = send(&sam, &path, &fields).await;
        assert_eq!(done.status, 200, "{}", done.text);
        floor.attention(0, "disk_full", false).await;
        floor.app.order_is(&order, "ready").await;
    }

    async fn a_print_that_ran_out_of_filament_says_so(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::MqttLan, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.sim(0).handle.with(Machine::pause).unwrap();
        Bambu::of(&floor.sim(0).handle).unwrap().change(|setup| setup.print_error = 0x0300_8004);
        let page = page_with(&sam, &["Paused prints (1)", "Paused by the printer: the filament ran out"]).await;
        is_sound(&page);
    }
}
