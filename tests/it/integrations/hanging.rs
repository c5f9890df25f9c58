//! Integrations that all hang: the shop is unaffected, apart from reporting them.

use simulator::peers::all::AllPeers;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{degraded, quick, runs_low};
use crate::support::{Db, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_works_while_all_of_them_hang() {
    let peers = AllPeers::start().await.unwrap();
    peers.set_hanging(true);
    let app =
        peers.variables().into_iter().fold(quick(Db::sqlite()), |builder, (name, value)| builder.env(name, value));
    let app = app.start().await;
    let fleet = Fleet::start(FleetOptions { speed: 2_000.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 2) });
    let fleet = fleet.await.unwrap();
    for sim in &fleet.printers {
        app.printer(sim).await;
    }
    let material = app.material("PLA black", 1000.0).await;
    let file = app.gcode("part", 600, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    runs_low(&app, "PETG").await;
    for _ in 0..3 {
        let order = app.paid_order(&sku, 2).await;
        app.order_is(&order, "ready").await;
    }
    until("all to be named", || async {
        let words = degraded(&app).await;
        let named = ["(workflow)", "(farm_ui)", "(smart_home)", "(agent)", "(parts)", "(spools)"];
        named.iter().all(|name| words.iter().any(|words| words.contains(name))).then_some(())
    })
    .await;
    let ready = app.get("/readyz").await.expect(200);
    assert_eq!(ready["status"], "degraded");

    // Once they answer, what must not be lost has waited.
    peers.set_hanging(false);
    until("every event", || async {
        let events = peers.workflow.received();
        (events.iter().filter(|event| event["event"] == "order.ready").count() == 3).then_some(())
    })
    .await;
    let events = peers.workflow.received();
    assert_eq!(events.iter().filter(|event| event["event"] == "LOW_STOCK").count(), 1);
    until("the states", || async {
        peers.broker.retained().contains_key("homeassistant/device/printfloor_shop/config").then_some(())
    })
    .await;
}
