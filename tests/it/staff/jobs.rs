//! The list of jobs: found by number, order, product, file, printer and day, and what each row shows.

use serde_json::json;
use simulator::PrinterKind;

use super::{OPERATOR, is_sound, operator};
use crate::api::{NOTHING, count, some_sku};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::clock::HOUR;
use crate::support::waiting::until_seen;
use crate::support::{App, Clock, on_sqlite, until};

/// A day, in milliseconds.
const DAY: i64 = 24 * HOUR;

/// Returns the row of a job in the list.
fn row<'a>(page: &'a str, job: &str) -> &'a str {
    let link = format!("href=\"/shop/jobs/{job}\"");
    let row = page.split("<tr>").find(|row| row.contains(&link)).unwrap_or_else(|| panic!("{job} in {page}"));
    row.split("</tr>").next().unwrap()
}

/// Returns the first words of a sentence, which have no time and nothing to escape.
fn beginning(sentence: &str) -> String {
    sentence.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

fn entries(count: usize) -> String {
    match count {
        0 => "No jobs match.".to_owned(),
        1 => ">1 entry</p>".to_owned(),
        _ => format!(">{count} entries</p>"),
    }
}

on_sqlite! {
    async fn a_job_is_found_by_its_number_order_product_file_and_day(db: Db) {
        let clock = Clock::new();
        // No day ends while the test runs.
        let noon = (12 * HOUR - clock.unix_now() * 1_000).rem_euclid(DAY);
        clock.set(noon);
        let app = App::on(db).clock(&clock).start().await;
        let material = app.material("PLA", 1_000_000.0).await;
        let (part, bracket) = (app.gcode("part", 60, 10.0).await, app.gcode("Bracket_left", 60, 10.0).await);
        let clip = app.sku("CLIP-A", &material, &part, 500).await;
        let hook = app.sku("HOOK-B", &material, &bracket, 500).await;
        for (sku, name) in [(&clip, "Cable clip"), (&hook, "Wall hanger")] {
            app.patch(&format!("/api/skus/{sku}"), &json!({"name": name})).await.expect(200);
        }
        let one_job = async |sku: &str| {
            let order = app.paid_order(sku, 1).await;
            let job = app.jobs(&order).await[0].clone();
            let text = |member: &str| job[member].as_str().unwrap().to_owned();
            (text("id"), text("number"), text("orderNumber"))
        };
        let (first, number, _) = one_job(&clip).await;
        app.job_is(&first, "SLICED").await;
        clock.set(noon + 10 * DAY);
        let (second, _, order_number) = one_job(&hook).await;
        app.job_is(&second, "SLICED").await;

        let sam = operator(&app).await;
        let digits = |number: &str| number.trim_start_matches(|c: char| !c.is_ascii_digit() || c == '0').to_owned();
        for (query, has_first, has_second) in [
            (String::new(), true, true),
            (format!("?q={number}"), true, false),
            (format!("?q={}", digits(&number)), true, false),
            (format!("?q=+{}+", order_number.to_lowercase()), false, true),
            ("?q=wall+HANGER".to_owned(), false, true),
            ("?q=clip-a".to_owned(), true, false),
            ("?q=bracket_LEFT".to_owned(), false, true),
            ("?q=nobody".to_owned(), false, false),
            ("?q=+&days=&printer=".to_owned(), true, true),
            ("?days=1".to_owned(), false, true),
            ("?days=7".to_owned(), false, true),
            ("?days=30".to_owned(), true, true),
            ("?days=2".to_owned(), true, true),
            ("?q=hook&days=7&state=SLICED".to_owned(), false, true),
            ("?q=clip&days=7".to_owned(), false, false),
            ("?q=hook&state=FAILED".to_owned(), false, false),
        ] {
            let page = sam.get(&format!("/shop/jobs{query}")).await;
            is_sound(&page);
            let is_listed = |job: &str| page.text.contains(&format!("href=\"/shop/jobs/{job}\""));
            assert_eq!((is_listed(&first), is_listed(&second)), (has_first, has_second), "{query}: {}", page.text);
            let total = usize::from(has_first) + usize::from(has_second);
            assert!(page.text.contains(&entries(total)), "{query}: {}", page.text);
            // The counts of states follow all other filters, and a state without jobs is left out.
            let of_state = if query.contains("FAILED") { 1 } else { total };
            let is_counted = page.text.contains(&format!("<b>{of_state}</b> Waiting for a printer</a>"));
            assert_eq!(is_counted, of_state > 0, "{query}: {}", page.text);
        }
        // The list follows what happens, but a search is not repeated every few seconds.
        for (query, is_fresh) in [("", true), ("?days=7&q=", true), ("?days=7&q=clip", false)] {
            let page = sam.get(&format!("/shop/jobs{query}")).await;
            assert_eq!(page.text.contains("<div id=\"jobs\" data-fresh=\"\">"), is_fresh, "{query}: {}", page.text);
        }
        // The form shows what the list is narrowed by, and keeps what it has no field for.
        let page = sam.get(&format!("/shop/jobs?q=hook&days=7&state=SLICED&sku={hook}")).await;
        for part in [
            "name=\"q\" type=\"search\" maxlength=\"200\" value=\"hook\"",
            "<option value=\"7\" selected>Last 7 days</option>",
            "<input type=\"hidden\" name=\"state\" value=\"SLICED\">",
            &format!("<input type=\"hidden\" name=\"sku\" value=\"{hook}\">"),
        ] {
            assert!(page.text.contains(part), "{part} in {}", page.text);
        }
        // Each row shows what is made.
        let picture = format!("<img class=\"mini\" src=\"/floor/pictures/{bracket}\"");
        let row = row(&page.text, &second);
        assert!(row.contains(&picture) && row.contains("width=\"64\" height=\"64\" loading=\"lazy\">"), "{row}");
    }

    async fn links_to_further_jobs_keep_all_filters(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let sku = some_sku(&app).await;
        app.paid_order(&sku, 60).await;
        until("all jobs to wait for a printer", || async {
            (count(&app, "/api/jobs?state=SLICED").await == 60).then_some(())
        })
        .await;
        let filters = format!("state=SLICED&q=part&days=7&sku={sku}");
        let rows = |text: &str| text.matches("class=\"mini\"").count();
        let address = format!("/shop/jobs?{}", filters.replace('&', "&amp;"));
        let page = sam.get(&format!("/shop/jobs?{filters}&printer=")).await;
        is_sound(&page);
        let counted = format!("href=\"{address}\" aria-current=\"true\"><b>60</b> Waiting for a printer</a>");
        for part in [">60 entries</p>", &format!("href=\"{address}&amp;from=50\">Older</a>"), &counted] {
            assert!(page.text.contains(part), "{part} in {}", page.text);
        }
        assert_eq!(rows(&page.text), 50, "{}", page.text);
        let page = sam.get(&format!("/shop/jobs?{filters}&from=50")).await;
        is_sound(&page);
        for part in [&*format!("href=\"{address}&amp;from=0\">Newer</a>"), &counted] {
            assert!(page.text.contains(part), "{part} in {}", page.text);
        }
        assert_eq!(rows(&page.text), 10, "{}", page.text);
        // Nothing is left behind the last one, and a printer that is gone has no jobs.
        for query in [format!("{filters}&from=100"), format!("{filters}&printer={NOTHING}")] {
            let page = sam.get(&format!("/shop/jobs?{query}")).await;
            is_sound(&page);
            assert!(page.text.contains("No jobs match."), "{query}: {}", page.text);
        }
    }

    async fn a_row_names_the_printer_and_the_time_left_or_the_reason_for_waiting_or_failing(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (order, printing) = floor.one().await;
        floor.app.job_is(&printing, "PRINTING").await;
        let (_, waiting) = floor.one().await;
        let waiting_reason = floor.job_until("the reason", &waiting, |job| {
            job["waitingReason"].as_str().is_some_and(|reason| reason.starts_with("Waiting for "))
        }).await;
        let link = format!("<a href=\"/floor/printers/{}\">", floor.printers[0]);
        let page = until_seen("the time left and the reason", || async {
            let page = sam.get("/shop/jobs").await;
            let (on, next) = (row(&page.text, &printing), row(&page.text, &waiting));
            let has_both = on.contains(" data-left=\"\"") && next.contains("<div class=\"soft\">Waiting for ");
            if has_both { Ok(page) } else { Err(page.text) }
        })
        .await;
        is_sound(&page);
        let (on, next) = (row(&page.text, &printing), row(&page.text, &waiting));
        assert!(on.contains(&link) && on.contains("<progress ") && !on.contains("<div class=\"soft\">"), "{on}");
        assert!(!next.contains(&link) && !next.contains("<progress "), "{next}");
        let reason = waiting_reason["waitingReason"].as_str().unwrap();
        assert!(reason.starts_with("Waiting for "), "the same sentence: {reason}");

        // So does the page of its order, whose current step says what is happening.
        let of_order = sam.get(&format!("/shop/orders/{order}")).await;
        is_sound(&of_order);
        for part in ["<p><progress class=\"in-row\"", " data-left=\"\"", "<li aria-current=\"step\">Printing<"] {
            assert!(of_order.text.contains(part), "{part} in {}", of_order.text);
        }

        // The printer is offered by its name, and has one of the two jobs.
        let name = floor.app.get(&floor.path(0, "")).await.expect(200)["name"].as_str().unwrap().to_owned();
        let page = sam.get(&format!("/shop/jobs?printer={}", floor.printers[0])).await;
        is_sound(&page);
        let chosen = format!("<option value=\"{}\" selected>{name}</option>", floor.printers[0]);
        assert!(page.text.contains(&chosen), "{chosen} in {}", page.text);
        assert!(!page.text.contains(&waiting) && page.text.contains(&printing), "{}", page.text);
        assert!(page.text.contains("<b>1</b> Printing</a>") && page.text.contains(">1 entry</p>"), "{}", page.text);

        // In the list of all jobs, it can be seen that none waits; what is listed has its number.
        let only = sam.get("/shop/jobs?state=PRINTING").await;
        assert!(only.text.contains("<b>1</b> Waiting for a printer</a>"), "{}", only.text);
        floor.app.act(&format!("/api/jobs/{waiting}/cancel")).await.expect(200);
        floor.app.job_is(&waiting, "CANCELLED").await;
        let all = sam.get("/shop/jobs").await;
        let cancelled = sam.get("/shop/jobs?state=CANCELLED").await;
        for (page, count) in [
            (&all, "<b>2</b> All</a>"),
            (&all, "<b>0</b> Waiting for a printer</a>"),
            (&cancelled, "<b>1</b> Cancelled</a>"),
            (&cancelled, "\">All</a>"),
        ] {
            assert!(page.text.contains(count), "{count} in {}", page.text);
        }

        floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200);
        let failure = floor.app.job_is(&printing, "FAILED").await;
        let page = sam.get("/shop/jobs?state=FAILED").await;
        let on = row(&page.text, &printing);
        let words = beginning(failure["error"].as_str().unwrap());
        assert!(on.contains(&link) && on.contains(&format!("<div class=\"soft\">{words}")), "{words} in {on}");
    }
}
