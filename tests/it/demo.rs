//! The demo, run through the real binaries: a shop that works by itself.

mod terminal;

use std::time::{Duration, Instant};

use simulator::PrinterKind;

use crate::cli::process::{Place, Running, tool};
use crate::support::waiting::LONG;

/// Interval between two checks of a condition.
const LOOK: Duration = Duration::from_millis(200);

fn started(place: &Place, more: &str) -> Running {
    tool("printfloor-demo");
    place.start(&format!("demo --data shop --listen 127.0.0.1:0 --base-port {} {more}", place.ports()))
}

/// Returns the number that follows `what` in the summary.
fn counted(summary: &str, what: &str) -> u32 {
    let rest = summary.split(what).nth(1).unwrap_or_else(|| panic!("no {what:?} in {summary:?}"));
    rest.trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Steps of an order, in sequence.
const STEPS: &[&str] = &["order.created", "order.paid", "job.printing", "job.completed", "order.shipped"];

/// Mishaps in sequence, each followed by its notification and its recovery.
const MISHAPS: &[&str] = &[
    "loses its network connection in the middle of JOB-",
    "it is not started anywhere else",
    "RESCUED",
    "fails: ",
    "printed again",
    "RESCUED",
    "receives the start of JOB-",
    "the server does not guess, and does not start it anywhere else",
    "RESCUED",
];

/// Lines about a kit of two colours, a bad part that is reprinted, and promises kept and missed, in any order.
const PARTS_AND_PROMISES: &[&str] = &[
    "x Desk set at one price, made of ",
    "staff sign it off as bad",
    "still needs the part and reprints it automatically: JOB-",
    "it replaces the bad part of ORD-",
    ": PROMISE KEPT, ",
    "its spool is tangled; ORD-",
    "the forecast warns in advance: ORD-",
    ": PROMISE MISSED by ",
];

/// Waits until each of these sequences of lines has been printed in order; lines of several sequences may be
/// interleaved.
fn all_told(demo: &mut Running, sequences: &[&[&str]]) {
    let mut missing = sequences.to_vec();
    let until = Instant::now() + 4 * LONG;
    while !missing.is_empty() {
        assert!(Instant::now() < until, "not told: {missing:?}");
        let line = demo.line("");
        for sequence in &mut missing {
            let texts = *sequence;
            if line.contains(texts[0]) {
                *sequence = &texts[1..];
            }
        }
        missing.retain(|texts| !texts.is_empty());
    }
}

/// Waits until a printer of each type has completed a job; the error names the types that have not, and the waiting
/// jobs.
async fn each_type_prints(base: &str, key: &str) -> Result<(), String> {
    let client = crate::support::client::http();
    let get = async |path: &str| -> serde_json::Value {
        client.get(format!("{base}{path}")).header("X-API-Key", key).send().await.unwrap().json().await.unwrap()
    };
    let printers = get("/api/printers").await["printers"].clone();
    let printers = printers.as_array().unwrap();
    for kind in PrinterKind::ALL {
        let of_kind = printers.iter().find(|printer| printer["type"] == kind.as_str()).unwrap();
        let path = format!("/api/jobs?state=COMPLETED&printerId={}", of_kind["id"].as_str().unwrap());
        let began = Instant::now();
        while get(&path).await["pagination"]["total"] == 0 {
            if began.elapsed() > 4 * LONG {
                let printer = get(&format!("/api/printers/{}", of_kind["id"].as_str().unwrap())).await;
                let waiting = get("/api/jobs?state=SLICED&limit=20").await;
                return Err(format!("{kind:?} made nothing: {printer}\nwaiting: {waiting}"));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
    Ok(())
}

/// Checks a demo as a newcomer sees it: orders are shipped, and everything that the README promises happens by itself:
/// something goes wrong, the server reports it, and everything ends well. Printers of each type are kept busy,
/// including those that print only packages, from the spools that they report.
#[tokio::test]
async fn printers_of_each_type_are_busy_and_orders_mishaps_and_promises_are_told_by_themselves() {
    let place = Place::new();
    let mut demo = started(&place, &format!("--printers {}", PrinterKind::ALL.len()));
    let base = demo.line("address").split_whitespace().last().unwrap().to_owned();
    let key = demo.line("key").split_whitespace().last().unwrap().to_owned();
    let mut sequences = vec![STEPS, MISHAPS];
    sequences.extend(PARTS_AND_PROMISES.chunks(1));
    all_told(&mut demo, &sequences);
    let client = crate::support::client::http();
    let shipped = client.get(format!("{base}/api/orders?status=shipped")).header("X-API-Key", &key);
    let orders: serde_json::Value = shipped.send().await.unwrap().json().await.unwrap();
    assert!(orders["orders"][0]["shipment"]["trackingNumber"].as_str().unwrap().starts_with("DEMO"), "{orders}");
    let busy = each_type_prints(&base, &key).await;
    demo.signal("INT");
    let (code, lines) = demo.end();
    assert_eq!(busy, Ok(()), "{}", lines.join("\n"));
    assert_eq!(code, Some(0), "{lines:?}");
    let says = |first: &str, then: &str| lines.iter().any(|line| line.contains(first) && line.contains(then));
    assert!(says("/docs", "press Authorize"), "it says where to go on: {lines:?}");
    for mishap in MISHAPS.iter().step_by(3) {
        assert!(lines.iter().any(|line| line.starts_with("MISHAP") && line.contains(mishap)), "{mishap}: {lines:?}");
    }
    let summary = lines.last().unwrap();
    for what in ["orders placed", "paid", "shipped", "prints finished", "webhooks received"] {
        assert!(counted(summary, what) >= 1, "{what}: {summary}");
    }
    let rescues = lines.iter().filter(|line| line.starts_with("RESCUED")).count();
    assert!(rescues >= 3, "{lines:?}");
    assert_eq!(counted(summary, "rescued"), rescues as u32, "{summary}");
    assert!(counted(summary, "promises kept") >= 1 && counted(summary, "missed") >= 1, "{summary}");
    assert!(counted(summary, "bad") >= 1, "{summary}");
    assert!(lines.iter().all(|line| !line.contains('\u{1b}')), "plain lines where there is no terminal: {lines:?}");
}

/// Checks that the printed link signs in exactly once, without a password.
#[tokio::test]
async fn the_printed_link_opens_into_the_living_floor_once() {
    let place = Place::new();
    let mut demo = started(&place, "--printers 2");
    let line = demo.line("/login/once");
    let link = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
    let client = crate::support::client::http();
    let passed_on = client.get(&link).header("X-Forwarded-For", "203.0.113.9").send().await.unwrap();
    assert_eq!(passed_on.status(), 403, "somebody elsewhere does not even use it up");
    let opened = client.get(&link).send().await.unwrap();
    assert_eq!(opened.status(), 200);
    assert_eq!(opened.headers()["refresh"], "0; url=/floor");
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let floor = format!("{}/floor", link.split("/login").next().unwrap());
    let floor = client.get(floor).header("Cookie", cookie).send().await.unwrap().text().await.unwrap();
    assert_eq!(floor.matches("<li id=\"printer-").count(), 2, "{floor}");
    let again = client.get(&link).send().await.unwrap();
    assert_eq!((again.status().as_u16(), again.headers().get("set-cookie")), (410, None));
    let words = again.text().await.unwrap();
    assert!(words.contains("Sign in with your email address"), "it says what to do next: {words}");
    demo.signal("INT");
    let (code, lines) = demo.end();
    assert_eq!(code, Some(0), "{lines:?}");
}

/// Opens the link in a browser: it shows the floor, signed in, without any input.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_opens_the_printed_link_and_sees_the_floor() {
    let Some(mut browser) = crate::support::browser::Browser::start().await else { return };
    let place = Place::new();
    let mut demo = started(&place, "--printers 2");
    let line = demo.line("/login/once");
    let link = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    let (base, _) = link.split_once("/login").unwrap();
    let tab = browser.open(base, "/login", None).await;
    // The page of the link passes on at once: the page that it leads to is held against the rules.
    browser.load(&tab, link).await;
    browser.until(&tab, "the floor", "document.querySelectorAll('#cards li[data-name]').length === 2").await;
    browser.until(&tab, "a print", "document.querySelector('#cards progress')").await;
    browser.hold(&tab).await;
    assert_eq!(browser.faults(base), Vec::<String>::new());
    demo.signal("INT");
    assert_eq!(demo.end().0, Some(0));
}

/// Checks that the shop's other systems are running too, and that each of them is used.
#[tokio::test]
async fn the_other_systems_of_a_shop_are_there_and_well() {
    let place = Place::new();
    let mut demo = started(&place, "--printers 5");
    let base = demo.line("address").split_whitespace().last().unwrap().to_owned();
    let key = demo.line("key").split_whitespace().last().unwrap().to_owned();
    let client = crate::support::client::http();
    crate::support::waiting::until_seen("every integration to be well", || async {
        let request = client.get(format!("{base}/api/integrations")).header("X-API-Key", &key);
        let body: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
        let all = body["integrations"].as_array().unwrap();
        let is_well = |one: &serde_json::Value| {
            one["configured"] == true && one["error"].is_null() && one["lastOkAt"].is_string()
        };
        // Redis and a mail server are for larger shops.
        let of_demo = |one: &&serde_json::Value| one["kind"] != "redis" && one["kind"] != "smtp";
        let well = all.iter().filter(of_demo).filter(|one| is_well(one)).count();
        if (all.len(), well) == (10, 8) { Ok(()) } else { Err(body) }
    })
    .await;
    demo.signal("INT");
    let (code, lines) = demo.end();
    assert_eq!(code, Some(0), "{lines:?}");
}

/// Lists the names in the catalogue of a demo.
async fn catalogue(demo: &mut Running) -> Vec<String> {
    let base = demo.line("address").split_whitespace().last().unwrap().to_owned();
    demo.line("order.created");
    let products = crate::support::client::http().get(format!("{base}/api/v1/store/catalog")).send().await.unwrap();
    let products: serde_json::Value = products.json().await.unwrap();
    let all = products["items"].as_array().unwrap_or_else(|| panic!("{products}"));
    all.iter().map(|product| product["title"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn only_what_a_printer_can_make_is_sold() {
    let place = Place::new();
    for (printers, hook, planter) in [(2, false, false), (4, false, true), (5, true, true)] {
        let mut demo = started(&place, &format!("--printers {printers}"));
        let sold = catalogue(&mut demo).await;
        let is_sold = |name: &str| sold.iter().any(|title| title == name);
        assert_eq!((is_sold("Wall hook"), is_sold("Planter")), (hook, planter), "{printers} printers: {sold:?}");
        assert!(is_sold("Cable clip"), "{sold:?}");
        demo.signal("INT");
        demo.end();
    }
}

#[tokio::test]
async fn more_printers_than_last_time_have_names_of_their_own() {
    let place = Place::new();
    let (code, lines) = started(&place, "--printers 4 --for 1").end();
    assert_eq!(code, Some(0), "{lines:?}");
    let mut demo = started(&place, "--printers 7");
    let base = demo.line("address").split_whitespace().last().unwrap().to_owned();
    let key = demo.line("key").split_whitespace().last().unwrap().to_owned();
    let printers = crate::support::client::http().get(format!("{base}/api/printers")).header("X-API-Key", key);
    let printers: serde_json::Value = printers.send().await.unwrap().json().await.unwrap();
    let names: Vec<_> = printers["printers"].as_array().unwrap().iter().map(|one| one["name"].to_string()).collect();
    let different: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!((names.len(), different.len()), (7, 7), "{names:?}");
}

#[test]
fn a_demo_that_was_killed_goes_on_where_it_was() {
    let place = Place::new();
    let mut first = started(&place, "--printers 2");
    first.line("job.printing");
    first.kill();
    let mut second = started(&place, "");
    second.line("2 simulated printers");
    // The order that was under way is finished, step by step: an urgent order may come between. Numbers go on.
    while !second.line("ORD-000001").contains("order.shipped") {}
    let next = second.line("order.created");
    assert!(!next.contains("ORD-000001"), "{next}");
}

#[test]
fn it_ends_by_itself_when_asked_to() {
    let place = Place::new();
    let (code, lines) = started(&place, "--printers 1 --for 1").end();
    assert_eq!(code, Some(0), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("orders placed"), "{lines:?}");
}

#[test]
fn a_real_shops_folder_is_left_alone() {
    let place = Place::new();
    place.done("key create --new --data data --name real --role admin");
    tool("printfloor-demo");
    let ended = place.run("demo --data data --for 1");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("does not belong to a demo"), "{ended:?}");
    assert!(place.done("key list --data data").contains("real"));
}
