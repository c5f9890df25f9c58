//! Order of slicing: customers' uploads delay no order.

use super::*;
use crate::api::quotes::models::upload;
use crate::billing::customer;

const MODELS: &str = "/api/v1/quotes/models";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drafts_of_customers_keep_no_order_waiting() {
    let fake = FakeSlicer::new(12.5);
    // Longer than any test waits.
    fake.does(&format!("if grep -q slow model.stl; then sleep 600; fi; {GOOD}"));
    let server = fake.shop(Db::sqlite()).env("PRINTFLOOR_PRICING__SLICER_PROFILE", PROFILE);
    let app = server.env("PRINTFLOOR_LIMITS__DRAFT_ORDERS_PER_HOUR", 1000).start().await;
    let (_, sku) = stocked(&app, 200.0).await;
    let mallory = customer(&app, "mallory@example.org").await;
    for n in 0..4 {
        let model = cube().replace("cube", &format!("slow{n}")).into_bytes();
        upload(&mallory, MODELS, "slow.stl", model, &[]).await.expect(201);
    }
    until("a draft to be sliced", || async { (fake.runs().len() == 1).then_some(()) }).await;
    let order = app.paid_order(&sku, 1).await;
    app.job_is(&only_job(&app, &order).await, "SLICED").await;
    // Once no order waits, the drafts have their turns again.
    until("a draft to be sliced", || async { (fake.runs().len() >= 3 && fake.running() > 0).then_some(()) }).await;
}
