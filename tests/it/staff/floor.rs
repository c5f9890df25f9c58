//! The floor page: the printers shown on it, live updates, and actions at printers.

use std::io::{Read as _, Write as _};

use futures::StreamExt as _;
use serde_json::json;
use simulator::PrinterKind;

use super::{OPERATOR, is_sound, operator, print_on};
use crate::billing::pages::{posted, send, token};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::client::Answer;
use crate::support::stream::Stream;
use crate::support::waiting::LONG;
use crate::support::waiting::until_seen;
use crate::support::{Client, Db, on_sqlite, until};

/// Reads the stream until a printer shows this state, in its card or in the smaller fragment for the state alone, and
/// its card contains this text. Returns the card.
async fn card_sent(stream: &mut Stream, printer: &str, state: &str, words: &str) -> String {
    let (mut is_shown, mut card) = (false, None);
    loop {
        let sent = stream.next().await.expect("the stream goes on");
        let (id, html) = (sent.data["id"].as_str().unwrap_or_default(), sent.data["html"].as_str().unwrap_or_default());
        let is_card = id == format!("printer-{printer}");
        is_shown |= (is_card || id == format!("state-{printer}")) && html.contains(state);
        if is_card && html.contains(words) {
            card = Some(html.to_owned());
        }
        if let Some(html) = card.take_if(|_| is_shown) {
            return html;
        }
    }
}

/// Returns the page of a printer once it has the buttons for its print.
async fn page_of_print(client: &Client, path: &str) -> Answer {
    until("the buttons for the print", || async {
        let page = client.get(path).await;
        ["cancel", "pause"].iter().all(|act| page.text.contains(&format!("\"{path}/{act}\""))).then_some(page)
    })
    .await
}

/// Returns the version of the floor in a page.
fn version(page: &str) -> i64 {
    page.split_once("data-version=\"").unwrap().1.split('"').next().unwrap().parse().unwrap()
}

on_sqlite! {
    async fn the_floor_follows_a_print_and_pauses_it(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let idle = sam.get("/floor").await;
        is_sound(&idle);
        assert_eq!(idle.text.matches("<li id=\"printer-").count(), 2, "{}", idle.text);
        assert!(idle.text.contains(">Ready<") && !idle.text.contains("No spool"), "{}", idle.text);

        let mut stream = Stream::open(&sam, &format!("/floor/live?after={}", version(&idle.text)), None).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let on = floor.job(&job).await["printerId"].as_str().unwrap().to_owned();
        let html = card_sent(&mut stream, &on, ">Printing<", "/pause").await;
        assert!(html.contains("JOB-") && html.contains(&format!("/shop/orders/{order}")), "{html}");
        assert!(!html.contains("<gauge>") && !html.contains("<form-token>"), "{html}");
        let page = until("the summary to count it", || async {
            let page = sam.get("/floor").await;
            (page.text.contains("<b>1</b> printer printing") && page.text.contains("<progress")).then_some(page)
        })
        .await;
        is_sound(&page);
        let own = token(&page);
        let path = format!("/floor/printers/{on}/pause");
        assert!(page.text.contains(&format!("action=\"{path}\"")), "{}", page.text);
        let print = print_on(&page, &path);
        let done = send(&sam, &path, &[("form_token", &own), ("print", &print)]).await;
        assert_eq!(done.status, 200, "{}", done.text);
        floor.app.job_is(&job, "PAUSED").await;
        let html = card_sent(&mut stream, &on, ">Paused<", "/resume").await;
        let pushed = html.split_once("name=\"form_token\" value=\"").unwrap_or_else(|| panic!("{html}")).1;
        let pushed = pushed.split('"').next().unwrap().to_owned();
        // What needs a person stands first, with the word and not the colour alone.
        until("the paused printer to stand first", || async {
            let page = sam.get("/floor").await.text;
            let first = page.split_once("<li id=\"printer-").unwrap().1;
            first.starts_with(&on).then_some(())
        })
        .await;

        // Cancelling names the printer and the job.
        let own_page = sam.get(&format!("/floor/printers/{on}")).await;
        is_sound(&own_page);
        assert!(own_page.text.contains("Cancel JOB-"), "{}", own_page.text);
        // It is asked only where a link leads to the question.
        let question = "<section class=\"ask\" id=\"cancel\" role=\"alertdialog\" aria-labelledby=\"cancel-title\"";
        let link = format!("href=\"/floor/printers/{on}#cancel\"");
        assert!(own_page.text.contains(question) && own_page.text.contains(&link), "{}", own_page.text);
        let number = floor.job(&job).await["number"].as_str().unwrap().to_owned();
        let name = floor.app.get(&format!("/api/printers/{on}")).await.expect(200)["name"].as_str().unwrap().to_owned();
        let at_order = sam.get(&format!("/shop/orders/{order}")).await;
        assert!(at_order.text.contains(&format!("Cancel {number} on {name}")), "{}", at_order.text);
        let path = format!("/floor/printers/{on}/cancel");
        let print = print_on(&own_page, &path);
        let cancelled = send(&sam, &path, &[("form_token", &pushed), ("print", &print)]).await;
        assert_eq!(cancelled.status, 200, "{}", cancelled.text);
        floor.job_until("the print to end", &job, |job| !["PAUSED", "PRINTING"].iter().any(|on| job["state"] == *on)).await;
        let none = send(&sam, &format!("/floor/printers/{on}/nonsense"), &[("form_token", &own)]).await;
        assert_eq!(none.status, 404, "{}", none.text);
        is_sound(&none);
    }

    async fn the_buttons_of_an_old_page_do_nothing_to_the_next_print(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let path = format!("/floor/printers/{}", floor.printers[0]);
        let (_, first) = floor.one().await;
        floor.app.job_is(&first, "PRINTING").await;
        let page = page_of_print(&sam, &path).await;
        let (own, old) = (token(&page), print_on(&page, &format!("{path}/cancel")));
        assert_eq!(print_on(&page, &format!("{path}/pause")), old);
        floor.hurry(0);
        floor.app.job_is(&first, "COMPLETED").await;
        floor.sim(0).handle.set_speed(SLOW);
        let (_, second) = floor.one().await;
        floor.app.job_is(&second, "PRINTING").await;
        let page = page_of_print(&sam, &path).await;
        for act in ["cancel", "pause", "resume"] {
            let refused = posted(&sam, &format!("{path}/{act}"), &[("form_token", &own), ("print", &old)]).await;
            assert_eq!(refused.status, 409, "{act}: {}", refused.text);
            assert!(refused.text.contains("Another print is in progress"), "{act}: {}", refused.text);
            is_sound(&refused);
        }
        floor.wait_for_poll(0).await;
        assert_eq!(floor.job(&second).await["state"], "PRINTING");
        let now = print_on(&page, &format!("{path}/cancel"));
        let done = send(&sam, &format!("{path}/cancel"), &[("form_token", &own), ("print", &now)]).await;
        assert_eq!(done.status, 200, "{}", done.text);
        floor.job_until("the print to end", &second, |job| job["state"] != "PRINTING").await;
    }

    async fn a_page_that_comes_back_gets_only_what_it_missed(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 3, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        // From nothing on, all cards come, and then their order.
        let mut stream = Stream::open(&sam, "/floor/live", None).await;
        let mut cards = 0;
        let order = loop {
            let sent = stream.next().await.unwrap();
            match &*sent.event {
                "part" if sent.data["id"].as_str().unwrap().starts_with("printer-") => cards += 1,
                "order" => break sent,
                _ => {}
            }
        };
        assert_eq!((cards, order.data["ids"].as_array().unwrap().len()), (3, 3));
        drop(stream);
        // Others may change by themselves meanwhile, but not always.
        let changed = [format!("printer-{}", floor.printers[1])];
        until_seen("the card that changed to come alone", || async {
            let page = sam.get("/floor").await.text;
            if page.matches("data-group=\"ready\"").count() != 3 {
                return Err(page);
            }
            let mut stream = Stream::open(&sam, &format!("/floor/live?after={}", version(&page)), None).await;
            let path = floor.path(1, "/maintenance");
            floor.app.post(&path, &json!({"on": true, "note": "new nozzle"})).await.expect(200);
            let mut ids = Vec::new();
            loop {
                let sent = stream.next().await.unwrap();
                if sent.event == "part" && sent.data["id"].as_str().unwrap().starts_with("printer-") {
                    let is_it = sent.data["html"].as_str().unwrap().contains("Out of service");
                    ids.push(sent.data["id"].as_str().unwrap().to_owned());
                    if is_it {
                        break;
                    }
                }
            }
            floor.app.post(&path, &json!({"on": false})).await.expect(200);
            if ids == changed { Ok(()) } else { Err(format!("{ids:?}")) }
        })
        .await;
    }

    async fn a_page_hears_of_each_booking_in_the_stock(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let mut stream = Stream::open(&sam, "/floor/live", None).await;
        let booked = format!("/api/inventory/materials/{}/adjustments", floor.material);
        // A booking above the reorder point is no event. More than once, as there may be other news at first.
        for round in 0..4 {
            while stream.next().await.unwrap().event != "fresh" {}
            if round < 3 {
                floor.app.post(&booked, &json!({"delta": -1, "reason": "a test print"})).await.expect(200);
            }
        }
    }
}

#[tokio::test]
async fn pages_are_compressed_for_browsers_and_so_is_their_stream_which_still_tells_at_once() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 2, SLOW, &[]).await;
    let sam = operator(&floor.app).await;
    let plain = sam.get("/floor").await;
    assert!(plain.header("content-encoding").is_none() && plain.header("vary").is_some(), "{:?}", plain.headers);
    let packed = |path: &str| sam.open(sam.request("GET", path).header("accept-encoding", "gzip, deflate, br, zstd"));
    let page = packed("/floor").await;
    assert_eq!(page.status(), 200);
    assert_eq!(page.headers()["content-encoding"], "gzip");
    let (bytes, mut text) = (page.bytes().await.unwrap(), String::new());
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    assert!(text.contains("id=\"cards\"") && bytes.len() < text.len() / 2, "{} of {}", bytes.len(), text.len());

    let stream = packed("/floor/live").await;
    assert_eq!(stream.headers()["content-encoding"], "gzip");
    let (mut pieces, mut read) = (stream.bytes_stream(), flate2::write::GzDecoder::new(Vec::new()));
    let mut wait_for = async |words: &str| {
        loop {
            let text = String::from_utf8_lossy(read.get_ref()).into_owned();
            if text.contains(words) {
                return text;
            }
            let piece = tokio::time::timeout(LONG, pieces.next()).await.expect("a piece").unwrap().unwrap();
            read.write_all(&piece).unwrap();
            read.flush().unwrap();
        }
    };
    let first = wait_for("event: order").await;
    assert_eq!(first.matches("\"id\":\"printer-").count(), 2, "{first}");
    // What happens later is told by itself, and does not wait until more of it is there.
    let body = json!({"on": true, "note": "new nozzle"});
    floor.app.post(&floor.path(1, "/maintenance"), &body).await.expect(200);
    wait_for("Out of service").await;
    // Customers' pages are small, and their cookie comes along from other sites.
    let ann = crate::billing::customer(&floor.app, "ann@example.org").await;
    let own = ann.open(ann.request("GET", "/orders").header("accept-encoding", "gzip")).await;
    assert!(own.status() == 200 && !own.headers().contains_key("content-encoding"), "{:?}", own.headers());
}

#[tokio::test]
async fn the_stream_ends_when_its_reader_signs_out() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[]).await;
    let sam = operator(&floor.app).await;
    let stream = Stream::open(&sam, "/floor/live", None).await;
    let own = token(&sam.get("/floor").await);
    send(&sam, "/logout", &[("form_token", &own)]).await;
    stream.ends().await;
}

#[tokio::test]
async fn maintenance_is_set_and_ended_on_the_page_of_the_printer() {
    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[]).await;
    let sam = operator(&floor.app).await;
    let (own, path) = (token(&sam.get("/floor").await), format!("/floor/printers/{}/maintenance", floor.printers[0]));
    let out = send(&sam, &path, &[("form_token", &own), ("on", "true"), ("note", "<b>nozzle</b>")]).await;
    assert!(out.text.contains("Out of service") && out.text.contains("&lt;b&gt;nozzle"), "{}", out.text);
    is_sound(&out);
    let by_whom = out.text.split_once("Recent activity").expect("who did it").1;
    assert!(by_whom.contains("<span>Sam took <a ") && by_whom.contains("</a> out of service"), "{}", out.text);
    floor.attention(0, "maintenance", true).await;
    let back = send(&sam, &path, &[("form_token", &own), ("on", "false")]).await;
    assert_eq!(back.status, 200, "{}", back.text);
    assert!(back.text.contains("</a> to service"), "{}", back.text);
    floor.attention(0, "maintenance", false).await;
}
