//! Many printers running concurrently.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{FAST, Floor, JUDGE_LATE, PrinterKind, register};
use crate::support::Db;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_hanging_printers_delay_neither_a_healthy_one_nor_the_api() {
    let mut floor = Floor::empty(Db::sqlite(), PrinterKind::FwRest, 51, FAST, &[JUDGE_LATE]).await;
    let healthy = floor.app.printer(floor.sim(50)).await;
    // How long a part takes without the others, on a machine as busy as this one.
    let began = Instant::now();
    let (order, _) = floor.one().await;
    floor.app.order_is(&order, "ready").await;
    let calm = began.elapsed();
    for n in 0..50 {
        floor.faults(n, |faults| faults.hang = true);
        let printer = register(&floor.app, floor.sim(n), json!({})).await;
        floor.printers.push(printer);
    }
    floor.printers.push(healthy);
    // From the start too: all are connected at the same time.
    floor.app.stop().await;
    floor.app.start().await;
    let began = Instant::now();
    floor.app.connected(&floor.printers[50]).await;
    let (order, _) = floor.one().await;
    floor.app.order_is(&order, "ready").await;
    let delayed = began.elapsed();
    assert!(delayed < Duration::from_secs(8) + 4 * calm, "took {delayed:?}, and {calm:?} without them");
    let list = floor.app.get("/api/printers?limit=200").await.expect(200);
    assert_eq!(list["pagination"]["total"], 51);
    assert_eq!(floor.started(50), 2);
    assert!((0..50).all(|n| floor.started(n) == 0));
    floor.truth().await;
}
