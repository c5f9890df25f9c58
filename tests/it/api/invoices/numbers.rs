//! Gapless numbers: with a hundred concurrent writers, refusals, repeated requests and kills.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};

use super::{draft, show};
use crate::api::{id, some_sku};
use crate::support::{App, Client, on_both, on_sqlite, until};

/// Number of concurrent writers.
const WRITERS: usize = 100;

/// Sends a request until it is answered, even if the server is killed meanwhile, and returns the status. Because of the
/// key, a repetition counts as the same request.
async fn insist(client: &Client, path: &str, key: &str, body: &Value) -> u16 {
    until(&format!("{path} to be answered"), || async {
        let request = client.request("POST", path).header("Idempotency-Key", key).json(body);
        let answer = client.try_send(request).await?;
        (answer.status < 500 && answer.status != 429 && answer.header("retry-after").is_none()).then_some(answer.status)
    })
    .await
}

/// Lists the numbers of the invoices and credit notes that the API shows, by series.
async fn shown_numbers(app: &App, invoices: &[String]) -> Vec<String> {
    let bodies = join_all(invoices.iter().map(|invoice| show(app, invoice))).await;
    let documents = bodies.iter().flat_map(|invoice| invoice["documents"].as_array().unwrap());
    documents.map(|document| document["number"].as_str().unwrap().to_owned()).collect()
}

/// Checks that the numbers are consecutive from 1, without a duplicate, and that the server reports no gap.
async fn no_gap(app: &App, numbers: &[String]) {
    let distinct: BTreeSet<&String> = numbers.iter().collect();
    assert_eq!(distinct.len(), numbers.len(), "no number twice");
    let numbering = app.get("/api/invoices/numbering").await.expect(200);
    assert_eq!(numbering["gapless"], true, "{numbering}");
    for series in numbering["series"].as_array().unwrap() {
        let name = series["series"].as_str().unwrap();
        let of_series: BTreeSet<i64> =
            numbers.iter().filter_map(|number| number.strip_prefix(name)?.strip_prefix('-')?.parse().ok()).collect();
        let count = series["count"].as_i64().unwrap();
        assert_eq!(of_series, (1..=count).collect(), "{name}");
        assert_eq!((&series["first"], &series["last"], &series["missing"]), (&json!(1), &json!(count), &json!([])));
    }
}

on_both! {
    async fn a_hundred_writers_at_once_leave_no_gap_though_the_server_is_killed(db: Db) {
        let mut app = App::on(db).env("PRINTFLOOR_LIMITS__STAFF_REQUESTS_PER_MINUTE", 100_000).start().await;
        let mut invoices = Vec::new();
        for n in 0..WRITERS {
            invoices.push(draft(&app, 1_000 + n as i64).await);
        }
        let invoices = Arc::new(invoices);
        let key = app.key.clone();
        let client = app.with_key(key.as_deref().unwrap());
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                let (client, invoices) = (client.clone(), invoices.clone());
                tokio::spawn(async move {
                    let path = |what: &str| format!("/api/invoices/{}/{what}", invoices[n]);
                    if n % 5 == 4 {
                        // Never issued: takes no number.
                        insist(&client, &path("void"), &format!("void-{n}"), &json!({})).await;
                        return;
                    }
                    insist(&client, &path("send"), &format!("send-{n}"), &json!({})).await;
                    // The same once more, and once more without its key: refused, and takes no number.
                    insist(&client, &path("send"), &format!("send-{n}"), &json!({})).await;
                    insist(&client, &path("send"), &format!("again-{n}"), &json!({})).await;
                    if n % 3 == 0 {
                        insist(&client, &path("void"), &format!("back-{n}"), &json!({})).await;
                    } else {
                        insist(&client, &path("mark-paid"), &format!("paid-{n}"), &json!({"method": "cash"})).await;
                        insist(&client, &path("refund"), &format!("refund-{n}"), &json!({"amountCents": 7})).await;
                    }
                })
            })
            .collect();
        for issued in [10, 40] {
            until("some numbers to be given out", || async {
                let request = client.request("GET", "/api/invoices/numbering");
                let numbering = client.try_send(request).await.filter(|answer| answer.status == 200)?.json();
                let counts = numbering["series"].as_array()?.iter().filter_map(|series| series["count"].as_i64());
                (counts.sum::<i64>() >= issued).then_some(())
            })
            .await;
            app.kill_9();
            app.start().await;
        }
        for writer in writers {
            writer.await.unwrap();
        }
        let numbers = shown_numbers(&app, &invoices).await;
        assert_eq!(numbers.len(), 160, "80 invoices, and a credit note to each");
        no_gap(&app, &numbers).await;
    }
}

on_sqlite! {
    async fn orders_paid_at_once_leave_no_gap(db: Db) {
        let app = App::on(db).env("PRINTFLOOR_LIMITS__STAFF_REQUESTS_PER_MINUTE", 100_000).start().await;
        let sku = some_sku(&app).await;
        let orders = join_all((0..WRITERS).map(|_| app.order(&sku, 1))).await;
        let pay = |order: &String| {
            let path = format!("/api/orders/{order}/mark-paid");
            let app = &app;
            async move { app.post(&path, &json!({"method": "cash"})).await.expect(200) }
        };
        join_all(orders.iter().map(pay)).await;
        let list = app.get("/api/invoices?limit=200").await.expect(200);
        let invoices: Vec<String> = list["invoices"].as_array().unwrap().iter().map(id).collect();
        assert_eq!(invoices.len(), WRITERS);
        let numbers = shown_numbers(&app, &invoices).await;
        no_gap(&app, &numbers).await;
    }
}
