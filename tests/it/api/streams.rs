//! Event streams: read from a cursor, and followed live.

use futures::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use super::{PASSWORD, new_key, one_of, sign_in, some_sku, staff, with_cookie};
use crate::support::clock::HOUR;
use crate::support::stream::{Sent, Stream};
use crate::support::waiting::LONG;
use crate::support::{App, Client, Clock, Db, on_both, on_sqlite, until};

const PATH: &str = "/api/events/stream";
/// Lifetime, in seconds, of the key that expires while its stream is open.
const KEY_LIFE_SECONDS: i64 = 3600;

async fn place(app: &App, sku: &str) -> String {
    super::id(&app.post("/api/orders", &one_of(sku)).await.expect(201))
}

async fn all_events(app: &App) -> Vec<Value> {
    app.get("/api/events?limit=200").await.expect(200)["events"].as_array().unwrap().clone()
}

fn numbers(sent: &[Sent]) -> Vec<i64> {
    sent.iter().map(|one| one.id.unwrap()).collect()
}

on_both! {
    async fn a_reader_goes_on_after_its_last_event_and_misses_nothing(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        for _ in 0..3 {
            place(&app, &sku).await;
        }
        let events = all_events(&app).await;
        let seqs: Vec<i64> = events.iter().map(|one| one["seq"].as_i64().unwrap()).collect();
        assert!(seqs.len() >= 3 && seqs.windows(2).all(|two| two[0] < two[1]), "{seqs:?}");
        let mut stream = Stream::open(&app, &format!("{PATH}?after=0"), None).await;
        let read = stream.take(seqs.len()).await;
        assert_eq!(numbers(&read), seqs);
        assert!(read.iter().zip(&events).all(|(sent, event)| sent.data == *event && sent.event == event["event"]));
        // From the middle, over the header, which wins; and after a restart, when nothing is in memory any more.
        for _ in 0..2 {
            let mut stream = Stream::open(&app, &format!("{PATH}?after=0"), Some(&seqs[0].to_string())).await;
            assert_eq!(numbers(&stream.take(seqs.len() - 1).await), seqs[1..]);
            let order = place(&app, &sku).await;
            let next = loop {
                let next = stream.next().await.unwrap();
                if next.event == "order.created" && next.data["subject"]["id"] == json!(order) {
                    break next;
                }
            };
            assert!(next.id.unwrap() > *seqs.last().unwrap());
            app.kill_9();
            app.start().await;
        }
        // A reader without a cursor begins now.
        let mut stream = Stream::open(&app, PATH, None).await;
        let order = place(&app, &sku).await;
        assert_eq!(stream.next().await.unwrap().data["subject"]["id"], json!(order));
    }
}

on_sqlite! {
    async fn who_is_too_far_behind_or_ahead_is_told_to_begin_anew(db: Db) {
        let mut app = App::new(db).await;
        let sku = some_sku(&app).await;
        for _ in 0..4 {
            place(&app, &sku).await;
        }
        app.stop().await;
        let last = app.db.query_number(&app, "SELECT MAX(seq) FROM events").await;
        app.db.execute(&app, &format!("DELETE FROM events WHERE seq < {last}")).await;
        app.start().await;
        for wrong in [0, last - 2, last + 1000] {
            let reset = Stream::open(&app, PATH, Some(&wrong.to_string())).await.next().await.unwrap();
            assert_eq!((reset.event.as_str(), reset.id, &reset.data), ("reset", Some(last), &json!({"after": last})));
        }
        let mut begun_anew = Stream::open(&app, PATH, Some("0")).await;
        let order = place(&app, &sku).await;
        assert_eq!(begun_anew.take(2).await[1].data["subject"]["id"], json!(order));
        // What is just before the oldest that is kept has missed nothing.
        let mut stream = Stream::open(&app, PATH, Some(&(last - 1).to_string())).await;
        assert_eq!(stream.next().await.unwrap().id, Some(last));
        let no_number = app.send(app.request("GET", PATH).header("Last-Event-ID", "x")).await;
        assert_eq!(no_number.error(400), "validation_failed");
    }
}

/// Splits a stream into the blocks, ended by a blank line, that a strict client would see as events.
fn blocks(text: &str) -> Vec<&str> {
    text.split_inclusive("\n\n").filter(|block| block.ends_with("\n\n")).collect()
}

#[tokio::test]
async fn heartbeats_are_comment_lines_that_no_client_takes_for_an_event() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let answer = app.open(app.request("GET", PATH).timeout(LONG * 3)).await;
    let mut pieces = answer.bytes_stream();
    let mut text = String::new();
    // Nothing happens until the server shows that it is still there.
    while !text.contains("\n:\n") {
        let piece = tokio::time::timeout(LONG, pieces.next()).await.expect("a heartbeat").unwrap().unwrap();
        text.push_str(std::str::from_utf8(&piece).unwrap());
    }
    assert!(text.starts_with("retry: 3000\n"), "when to come back: {text:?}");
    assert!(blocks(&text).is_empty(), "an event without content: {text:?}");
    let order = place(&app, &sku).await;
    while blocks(&text).is_empty() {
        let piece = tokio::time::timeout(LONG, pieces.next()).await.expect("an event").unwrap().unwrap();
        text.push_str(std::str::from_utf8(&piece).unwrap());
    }
    let first = blocks(&text)[0];
    assert!(first.contains("\nevent: order.created\ndata: {") && first.contains(&order), "{first:?}");
}

#[tokio::test]
async fn filters_take_kinds_of_events_and_subjects() {
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let (one, two) = (place(&app, &sku).await, place(&app, &sku).await);
    for order in [&one, &two] {
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
    }
    for (query, expected) in [
        ("event=order.paid".to_owned(), vec![("order.paid", &one), ("order.paid", &two)]),
        (format!("subject={one}"), vec![("order.created", &one), ("order.paid", &one)]),
        (
            format!("subject=order:{two}&event=order.created,order.paid"),
            vec![("order.created", &two), ("order.paid", &two)],
        ),
    ] {
        let list = app.get(&format!("/api/events?{query}")).await.expect(200);
        let listed: Vec<(&str, &str)> = list["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["event"].as_str().unwrap(), one["subject"]["id"].as_str().unwrap()))
            .collect();
        let expected: Vec<(&str, &str)> = expected.into_iter().map(|(event, id)| (event, id.as_str())).collect();
        assert_eq!(listed, expected, "{query}");
        let mut stream = Stream::open(&app, &format!("{PATH}?after=0&{query}"), None).await;
        let streamed = stream.take(expected.len()).await;
        let streamed: Vec<(&str, &str)> =
            streamed.iter().map(|one| (one.event.as_str(), one.data["subject"]["id"].as_str().unwrap())).collect();
        assert_eq!(streamed, expected, "{query}");
    }
    let list = app.get("/api/events?limit=1").await.expect(200);
    let next = app.get(&format!("/api/events?limit=1&after={}", list["next"])).await.expect(200);
    assert_ne!(list["events"][0]["id"], next["events"][0]["id"]);
    assert_eq!(super::paths(&app.get("/api/events?subject=order:nobody").await.expect(400)), ["subject"]);
}

/// Opens an event stream without reading from it.
async fn sleeper(app: &App) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(app.base.trim_start_matches("http://").parse().unwrap()).await.unwrap();
    let key = app.key.as_ref().unwrap();
    let head = format!("GET {PATH}?after=0 HTTP/1.1\r\nHost: shop\r\nX-API-Key: {key}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_who_sleeps_holds_nobody_up_and_reads_it_all_later() {
    const ORDERS: usize = 400;
    let app = App::new(Db::sqlite()).await;
    let sku = some_sku(&app).await;
    let mut sleepers = Vec::new();
    for _ in 0..20 {
        sleepers.push(sleeper(&app).await);
    }
    let mut awake = Stream::open(&app, &format!("{PATH}?event=order.created"), None).await;
    let mut last = String::new();
    for _ in 0..ORDERS {
        last = place(&app, &sku).await;
    }
    assert_eq!(awake.take(ORDERS).await.last().unwrap().data["subject"]["id"], json!(last));
    let mut late = sleepers.pop().unwrap();
    let (mut text, mut piece) = (String::new(), vec![0; 65536]);
    while !text.contains(&last) {
        let many = late.read(&mut piece).await.unwrap();
        assert!(many > 0, "the stream ended");
        text.push_str(&String::from_utf8_lossy(&piece[..many]));
    }
    assert_eq!(text.matches("event: order.created").count(), ORDERS, "none is lost, none comes twice");
}

#[tokio::test]
async fn the_end_of_the_server_ends_streams() {
    let mut app = App::new(Db::sqlite()).await;
    let stream = Stream::open(&app, PATH, None).await;
    tokio::join!(app.stop(), stream.ends());
}

/// Signs an operator in and opens a stream; returns their id, their client and the stream.
async fn listening(app: &App, email: &str) -> (String, Client, Stream) {
    let id = staff(app, email, "operator").await;
    let client = with_cookie(app, &sign_in(app, email, PASSWORD).await);
    let stream = Stream::open(&client, PATH, None).await;
    (id, client, stream)
}

#[tokio::test]
async fn whatever_ends_a_session_ends_its_streams() {
    let app = App::new(Db::sqlite()).await;
    let (_, client, stream) = listening(&app, "out@example.org").await;
    client.act("/api/auth/logout").await.expect(204);
    stream.ends().await;
    let (_, client, mut stream) = listening(&app, "password@example.org").await;
    let other = with_cookie(&app, &sign_in(&app, "password@example.org", PASSWORD).await);
    let body = json!({"currentPassword": PASSWORD, "newPassword": "another long password"});
    other.post("/api/auth/password", &body).await.expect(204);
    assert!(stream.next().await.is_none());
    client.get("/api/orders").await.error(401);
    for (email, change) in [
        ("role@example.org", json!({"role": "admin"})),
        ("active@example.org", json!({"active": false})),
        ("reset@example.org", json!({"password": "another long password"})),
    ] {
        let (id, _, stream) = listening(&app, email).await;
        app.patch(&format!("/api/users/{id}"), &change).await.expect(200);
        stream.ends().await;
    }
    let (id, _, stream) = listening(&app, "gone@example.org").await;
    app.delete(&format!("/api/users/{id}")).await.expect(204);
    stream.ends().await;
    // A new name ends nothing.
    let (id, _, mut stream) = listening(&app, "kept@example.org").await;
    app.patch(&format!("/api/users/{id}"), &json!({"name": "Sammy"})).await.expect(200);
    let sku = some_sku(&app).await;
    let order = place(&app, &sku).await;
    while stream.next().await.expect("the stream goes on").data["subject"]["id"] != json!(order) {}
}

#[tokio::test]
async fn a_key_that_expires_ends_its_streams() {
    let clock = Clock::new();
    let app = App::on(Db::sqlite()).clock(&clock).start().await;
    let ends = jiff::Timestamp::from_second(clock.unix_now() + KEY_LIFE_SECONDS).unwrap().to_string();
    let body = json!({"name": "short", "role": "operator", "expiresAt": ends});
    let (_, client) = new_key(&app, &body).await;
    let stream = Stream::open(&client, PATH, None).await;
    clock.set(KEY_LIFE_SECONDS * 1000);
    stream.ends().await;
    assert_eq!(client.get("/api/orders").await.error(401), "unauthorized");
}

#[tokio::test]
async fn a_session_ends_idle_or_old_and_its_streams_with_it() {
    for (idle_hours, age_days) in [(24, 100), (10_000, 1)] {
        let clock = Clock::new();
        let app = App::on(Db::sqlite())
            .env("PRINTFLOOR_AUTH__SESSION_IDLE_TIMEOUT_HOURS", idle_hours)
            .env("PRINTFLOOR_AUTH__SESSION_MAX_AGE_DAYS", age_days)
            .clock(&clock)
            .start()
            .await;
        let (_, client, stream) = listening(&app, "ann@example.org").await;
        clock.set(24 * HOUR);
        stream.ends().await;
        let over = until("the session to be over", || async {
            Some(client.get("/api/auth/me").await).filter(|answer| answer.status == 401)
        })
        .await;
        assert_eq!(over.error(401), "unauthorized");
        with_cookie(&app, &sign_in(&app, "ann@example.org", PASSWORD).await).get("/api/auth/me").await.expect(200);
    }
}
