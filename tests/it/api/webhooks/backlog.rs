//! A backlog of held deliveries: a month of them takes rows, not memory, and any number of past events can be replayed.

use std::collections::HashSet;

use serde_json::json;
use simulator::sink::{ReceivedRequest, Sink, SinkMode};

use super::super::{id, some_sku};
use super::{QUICK, endpoint_is, happen, log, newest_is, register};
use crate::support::waiting::LONG;
use crate::support::{App, Db, until};

/// Number of held deliveries.
const MANY: usize = 100_000;

/// Returns the memory usage of the server's process, in MiB.
fn resident(app: &App) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", app.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// Returns SQL that copies the only pending delivery once for each second before its due time; the first copy is due
/// first.
fn copies(endpoint: &str) -> String {
    let at = "(d.next_at / 1000 - 200000 + n.i)";
    let text = format!("strftime('%Y-%m-%dT%H:%M:%S.000Z', {at}, 'unixepoch')");
    let [own, event] = ["01890000-0000-7000-8000-", "01890000-0000-7000-9000-"]
        .map(|head| format!("'{head}' || printf('%012x', n.i)"));
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) \
         INSERT INTO deliveries (id, schema, doc, endpoint_id, event_id, event_seq, replay, state, next_at, attempts, created_at, event) \
         SELECT {own}, d.schema, json_set(d.doc, '$.id', {own}, '$.eventId', {event}, '$.nextAt', {text}), d.endpoint_id, {event}, \
         d.event_seq, 0, 'pending', {at} * 1000, 0, d.created_at, d.event \
         FROM deliveries d, n WHERE d.endpoint_id = '{endpoint}' AND d.state = 'pending'"
    )
}

/// Returns the number of the copied delivery that a request carries; `None` for other deliveries.
fn number(one: &ReceivedRequest) -> Option<usize> {
    let id = one.header("x-service-delivery").unwrap().strip_prefix("01890000-0000-7000-8000-")?;
    usize::from_str_radix(id, 16).ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_held_deliveries_are_rows_and_are_sent_in_the_order_they_are_due() {
    let mut app = App::on(Db::sqlite()).env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", QUICK).start().await;
    let sku = some_sku(&app).await;
    let sink = Sink::start().await.unwrap();
    sink.set_mode(SinkMode::Status(500));
    let endpoint = register(&app, &sink, &["order.created"]).await;
    happen(&app, &sku).await;
    endpoint_is(&app, &endpoint, "disabled").await;
    happen(&app, &sku).await;
    until("one to be held", || async { (log(&app, &endpoint).await.len() == 2).then_some(()) }).await;
    app.stop().await;
    app.start().await;
    let before = resident(&app);
    app.stop().await;
    app.db.execute(&app, &copies(&endpoint)).await;
    app.start().await;
    let held = resident(&app);
    assert!(held < before + 40, "{before} MiB without, {held} MiB with {MANY} held deliveries");
    let pending =
        app.get(&format!("/api/webhooks/endpoints/{endpoint}/deliveries?state=pending&limit=1")).await.expect(200);
    assert_eq!(pending["pagination"]["total"], MANY + 1);

    sink.set_mode(SinkMode::Ok);
    let tried = sink.received().len();
    app.act(&format!("/api/webhooks/endpoints/{endpoint}/enable")).await.expect(200);
    sink.wait_until(|all| all.len() >= tried + 700, LONG).await.expect("the first to be sent");
    let sending = resident(&app);
    assert!(sending < before + 60, "{before} MiB without, {sending} MiB while they are sent");
    // The place in the line is in the rows: after a power cut it goes on there.
    app.kill_9();
    let cut = sink.received().len();
    app.start().await;
    sink.wait_until(|all| all.len() >= cut + 700, LONG).await.expect("the next to be sent");
    app.kill_9();
    let all = sink.received();
    let sent: Vec<usize> = all[tried..].iter().filter_map(number).collect();
    let different: HashSet<usize> = sent.iter().copied().collect();
    let first = different.len() - 100;
    assert!((1..=first).all(|n| different.contains(&n)), "one that was due early was passed over");
    assert!(sent.len() - different.len() <= 100, "only what was under way at the cut may come twice");
    let mut highest = 0;
    for (place, n) in sent.iter().enumerate() {
        assert!(*n <= place + 100, "{n} came at place {place}");
        highest = highest.max(*n);
    }
    assert!(highest < 5000, "{highest} was sent");
}

#[tokio::test]
async fn past_events_of_any_number_are_sent_again_each_once() {
    const EVENTS: usize = 450;
    let mut app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let sink = Sink::start().await.unwrap();
    let endpoint = register(&app, &sink, &["order.created", "order.paid"]).await;
    for _ in 0..EVENTS {
        happen(&app, &sku).await;
    }
    sink.wait_until(|all| all.len() == EVENTS, LONG).await.expect("all to arrive");
    until("all to be noted", || async {
        let pending =
            app.get(&format!("/api/webhooks/endpoints/{endpoint}/deliveries?state=pending")).await.expect(200);
        (pending["pagination"]["total"] == 0).then_some(())
    })
    .await;
    app.act(&format!("/api/webhooks/endpoints/{endpoint}/test")).await.expect(201);
    newest_is(&app, &endpoint, "delivered").await;
    let created_at = app.get(&format!("/api/webhooks/endpoints/{endpoint}")).await.expect(200)["createdAt"].clone();
    // More than one part; the second begins after a power cut.
    let replay = format!("/api/webhooks/endpoints/{endpoint}/replay");
    let answer = app.post_keyed(&replay, "once", &json!({"since": created_at})).await.expect(200);
    assert_eq!(answer, json!({"replayed": EVENTS}));
    app.kill_9();
    app.start().await;
    let again = |all: &[ReceivedRequest]| -> HashSet<String> {
        all[EVENTS + 1..].iter().map(|one| one.header("webhook-id").unwrap().to_owned()).collect()
    };
    let all = sink.wait_until(|all| again(all).len() == EVENTS, LONG).await.expect("all to arrive again");
    let first: HashSet<String> = all[..EVENTS].iter().map(|one| one.header("webhook-id").unwrap().to_owned()).collect();
    assert_eq!(again(&all), first, "the test event is no event of the shop");
    // The same request again is the same answer, and sends nothing.
    let repeated = app.post_keyed(&replay, "once", &json!({"since": created_at})).await;
    assert_eq!(repeated.header("idempotency-replayed"), Some("true"));
    let log = until("the replay to be noted", || async {
        let log = app
            .get(&format!("/api/webhooks/endpoints/{endpoint}/deliveries?event=order.created&limit=1"))
            .await
            .expect(200);
        (log["pagination"]["total"] == 2 * EVENTS).then_some(log)
    })
    .await;
    assert_eq!(log["deliveries"][0]["replay"], 1);
    let tests = app.get(&format!("/api/webhooks/endpoints/{endpoint}/deliveries?event=webhook.test")).await.expect(200);
    assert_eq!((&tests["pagination"]["total"], id(&tests["deliveries"][0]).is_empty()), (&json!(1), false));
}
