//! Payment events in every possible order of arrival: the result for an order, and for an invoice without one, is
//! always the same.

use serde_json::{Value, json};
use simulator::payments::{SimPayment, SimPaymentEvent as E};

use super::payments::{show, tell};
use super::{id, some_sku};
use crate::support::waiting::until_seen;
use crate::support::{App, on_both, on_sqlite, until};

const TOTAL: i64 = 5_000;
const PART: E = E::Refunded { refunded_cents: 1_900 };
const WHOLE: E = E::Refunded { refunded_cents: TOTAL };

/// Returns all orders in which these events can arrive.
fn permutations(events: &[E]) -> Vec<Vec<E>> {
    let mut all = vec![Vec::new()];
    for event in events {
        let longer =
            |one: &Vec<E>| (0..=one.len()).map(|at| [&one[..at], &[*event], &one[at..]].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Sends the events in this order, each of them twice.
async fn tell_all(app: &App, payment: &SimPayment, events: &[E], name: &str) {
    for (n, event) in events.iter().enumerate() {
        tell(app, payment, *event, &format!("evt_{name}_{n}")).await;
        tell(app, payment, *event, &format!("evt_{name}_{n}_again")).await;
    }
}

/// Returns the invoice's status, the amount due and the total of its credit notes, both in minor units.
fn in_short(invoice: &Value) -> (String, i64, i64) {
    let notes = invoice["documents"].as_array().unwrap().iter().filter(|one| one["kind"] == "credit_note");
    let credited = notes.map(|one| one["totalCents"].as_i64().unwrap()).sum();
    (invoice["status"].as_str().unwrap().to_owned(), invoice["amountDueCents"].as_i64().unwrap(), credited)
}

async fn invoice_is(app: &App, invoice: &str, expected: (&str, i64, i64)) {
    let expected = (expected.0.to_owned(), expected.1, expected.2);
    until_seen(&format!("the invoice to be {expected:?}"), || async {
        let body = app.get(&format!("/api/invoices/{invoice}")).await.expect(200);
        if in_short(&body) == expected { Ok(()) } else { Err(body) }
    })
    .await;
}

/// Creates an invoice over `TOTAL` that belongs to no order.
async fn own_invoice(app: &App) -> String {
    let line = json!({"description": "Design", "quantity": 1, "unitPriceCents": TOTAL, "taxRateBps": 0});
    let new = json!({"customerName": "Ann", "customerEmail": "ann@example.org", "lineItems": [line]});
    let invoice = id(&app.post("/api/invoices", &new).await.expect(201));
    app.act(&format!("/api/invoices/{invoice}/send")).await.expect(200);
    invoice
}

on_both! {
    async fn what_an_older_release_left_unpaid_is_paid_at_the_first_start(db: Db) {
        let mut app = App::new(db).await;
        let material = app.material("PLA", 1_000.0).await;
        // Without a file its job is CREATED and holds no material.
        let sku = json!({
            "code": "PART", "name": "Part", "priceCents": TOTAL, "materialId": material, "estimatedConsumption": 10,
            "machineType": "fdm_standard",
        });
        let sku = id(&app.post("/api/skus", &sku).await.expect(201));
        let order = app.order(&sku, 1).await;
        tell_all(&app, &SimPayment::new(order.as_str(), TOTAL, "usd"), &[PART, E::Completed], "order").await;
        let own = own_invoice(&app).await;
        tell_all(&app, &SimPayment::new(own.as_str(), TOTAL, "usd"), &[PART, E::Completed], "own").await;
        invoice_is(&app, &own, ("paid", 0, 1_900)).await;
        app.stop().await;
        // As the release before left them: unpaid, without jobs, at rest; the order's invoice loaded at every start.
        let unpaid = |status: &str| match app.db.url() {
            Some(_) => format!(
                "doc = jsonb_set(jsonb_set(doc::jsonb, '{{status}}', '\"{status}\"'), '{{paidAt}}', 'null')::text"
            ),
            None => format!("doc = json_set(doc, '$.status', '{status}', '$.paidAt', NULL)"),
        };
        let as_before = [
            format!("UPDATE orders SET status = 'created', active = FALSE, {}", unpaid("created")),
            "DELETE FROM jobs".to_owned(),
            format!("UPDATE invoices SET status = 'partially_paid', {} WHERE order_id IS NULL", unpaid("partially_paid")),
            "UPDATE invoices SET active = (order_id IS NOT NULL)".to_owned(),
            "DELETE FROM seaql_migrations WHERE version LIKE '%_000026_%'".to_owned(),
        ];
        for sql in as_before {
            app.db.execute(&app, &sql).await;
        }
        app.start().await;
        app.order_is(&order, "paid").await;
        assert_eq!(app.jobs(&order).await.len(), 1);
        invoice_is(&app, &own, ("paid", 0, 1_900)).await;
        until("no invoice to be active", || async {
            (app.db.query_number(&app, "SELECT COUNT(*) FROM invoices WHERE active").await == 0).then_some(())
        })
        .await;
    }
}

on_sqlite! {
    async fn events_in_any_order_leave_the_same_order_and_invoice(db: Db) {
        let app = App::new(db).await;
        let sku = some_sku(&app).await;
        let sets: [(&[E], &str, &str, i64); 3] = [
            (&[E::Completed, PART], "paid", "paid", 1_900),
            (&[E::Completed, PART, WHOLE], "refunded", "refunded", TOTAL),
            (&[E::Completed, PART, E::PaymentFailed], "paid", "paid", 1_900),
        ];
        for (set, (events, status, invoiced, credited)) in sets.into_iter().enumerate() {
            for (n, events) in permutations(events).iter().enumerate() {
                let name = format!("{set}_{n}");
                let order = app.order(&sku, 4).await;
                tell_all(&app, &SimPayment::new(order.as_str(), TOTAL, "usd"), events, &name).await;
                let body = show(&app, &order).await;
                assert_eq!((&body["status"], &body["flags"]), (&json!(status), &json!([])), "{events:?}: {body}");
                let jobs = app.jobs(&order).await;
                let cancelled = jobs.iter().filter(|job| job["state"] == "CANCELLED").count();
                assert_eq!((jobs.len(), cancelled), (4, if status == "paid" { 0 } else { 4 }), "{events:?}");
                let invoices = app.get(&format!("/api/invoices?orderId={order}")).await.expect(200);
                assert_eq!(invoices["pagination"]["total"], 1, "{events:?}: {invoices}");
                invoice_is(&app, &id(&invoices["invoices"][0]), (invoiced, 0, credited)).await;
                let own = own_invoice(&app).await;
                tell_all(&app, &SimPayment::new(own.as_str(), TOTAL, "usd"), events, &format!("{name}_own")).await;
                invoice_is(&app, &own, (invoiced, 0, credited)).await;
            }
        }
    }
}
