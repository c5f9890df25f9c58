//! Parts that were rejected after they had been shipped, in the data of an older release.

use serde_json::json;

use super::{FAST, Floor, PrinterKind, REQUIRED};
use crate::support::{on_both, until};

on_both! {
    async fn what_an_older_release_shipped_and_did_not_see_rejected_is_flagged_at_the_first_start(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[REQUIRED]).await;
        let (order, job) = floor.one().await;
        let (path, sign_off) = (format!("/api/orders/{order}"), format!("/api/jobs/{job}/sign-off"));
        floor.job_until("the part to be printed", &job, |job| job["state"] == "COMPLETED").await;
        floor.app.post(&sign_off, &json!({"goodCount": 1})).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        floor.app.post(&format!("{path}/ship"), &json!({"carrier": "pickup"})).await.expect(200);
        floor.truth().await;
        floor.app.stop().await;
        // As the release before left it: the part was rejected, nobody noted that it had left, and the order rests.
        let rejected = match floor.app.db.url() {
            Some(_) => "doc = (jsonb_set(doc::jsonb, '{signOff,good}', '0') - 'departures')::text",
            None => "doc = json_remove(json_set(doc, '$.signOff.good', 0), '$.departures')",
        };
        let as_before = [
            format!("UPDATE attempts SET good = 0, {rejected}"),
            "UPDATE orders SET active = FALSE".to_owned(),
            "DELETE FROM seaql_migrations WHERE version LIKE '%_000032_%'".to_owned(),
        ];
        for sql in as_before {
            floor.app.db.execute(&floor.app, &sql).await;
        }
        floor.app.start().await;
        let flagged = until("the order to be flagged", || async {
            let body = floor.app.get(&path).await.expect(200);
            (body["flags"] == json!(["rejected_after_shipping"])).then_some(body)
        })
        .await;
        let line = &flagged["lines"][0];
        assert_eq!((&flagged["status"], &line["shipped"]), (&json!("shipped"), &json!(0)), "{flagged}");
        assert_eq!(floor.app.jobs(&order).await.len(), 1, "an order of long ago does not print by itself");
        let count = async |sql: &str| floor.app.db.query_number(&floor.app, sql).await;
        assert_eq!(count("SELECT COUNT(*) FROM orders WHERE active").await, 0, "it rests again");
        assert_eq!(count("SELECT COUNT(*) FROM attempts WHERE doc LIKE '%\"departures\":[{%'").await, 1);
        assert_eq!(count("SELECT COUNT(*) FROM events WHERE event = 'order.flagged'").await, 1, "told once");
        // Said once more, the part is made again.
        floor.app.post(&sign_off, &json!({"goodCount": 0})).await.expect(200);
        assert_eq!(floor.app.get(&path).await.expect(200)["status"], "printing");
        assert_eq!(floor.app.jobs(&order).await.len(), 2);
    }
}
